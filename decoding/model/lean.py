"""The forward pass of Llama-shaped models in as few operations as torch allows: their number is
what takes the time with a small model, or on a fast GPU.

Projections of the same input are fused, keys and values are written directly to the cache, and
hidden states are returned without hooks. Rows are [n, H], of one sequence or of several in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from decoding.device import upload
from decoding.model.attention import attend
from decoding.model.cache import LayerRowsAt, LayerShape, Rows, TreeCache
from decoding.model.forward import ForwardOutput, Mask
from decoding.model.kernels import kernels_for
from decoding.model.linears import Linear


@dataclass(frozen=True, slots=True)
class AttentionHeads:
    """The numbers of query heads and of key (and value) heads, and their width."""

    num_heads: int
    num_kv_heads: int
    head_dim: int


class RMSNorm:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimension; `weight` is [..., size] as
    precise as x, or float32 [size]."""

    def __init__(self, weight: Tensor, eps: float) -> None:
        self._weight, self._eps, size = weight.detach(), eps, weight.shape[-1]
        # Without a fused kernel (on CPUs) rms_norm is a dozen operations;
        # sqrt(size) * x / |(x, sqrt(size * eps))| is the same in four.
        self._by_length = weight.device.type == "cpu"
        self._kernels = kernels_for(weight) if weight.ndim == 1 else None
        self._scaled = self._weight.float() * math.sqrt(size)
        self._floor = torch.full((), math.sqrt(size * eps), device=weight.device)

    def __call__(self, x: Tensor) -> Tensor:
        if self._by_length:
            wide = x.float()
            length = torch.linalg.vector_norm(wide, 2, -1, True)
            normed = wide.div(torch.hypot(length, self._floor)).mul_(self._scaled)
            return normed if wide is x else normed.to(x.dtype)
        if self._kernels is not None and x.dtype == self._weight.dtype:
            fused: Tensor = self._kernels.rms_norm(x, self._weight, self._eps)
            return fused
        size = self._weight.shape[-1:]
        if self._weight.dtype != x.dtype:  # no fused kernel takes two
            return functional.rms_norm(x.float(), size, self._weight, self._eps).to(x.dtype)
        if self._weight.ndim == 1:
            return functional.rms_norm(x, size, self._weight, self._eps)
        return functional.rms_norm(x, size, None, self._eps).mul_(self._weight)


def qk_norm(queries: Tensor, keys: Tensor, heads: AttentionHeads, eps: float) -> RMSNorm:
    """Make one norm of all heads, from the weight [D] of a query and that of a key."""
    gains = (
        queries.detach().expand(heads.num_heads, -1),
        keys.detach().expand(heads.num_kv_heads, -1),
    )
    return RMSNorm(torch.cat(gains), eps)


# Rotates queries, keys and values [n, (H + 2K) * D] of a layer, writes keys and values to its rows
# and returns the queries [n, H, D].
Rotation = Callable[[Tensor, Rows], Tensor]


class Rope:
    """Rotary embedding of whole rows of queries, keys and values, in three operations:
    qkv * cos + partner(qkv) * sin, with cos 1 and sin 0 for values and unrotated dimensions."""

    def __init__(
        self, rotary: nn.Module, heads: AttentionHeads, context: int, like: Tensor
    ) -> None:
        """`rotary` is transformers' module; its frequencies must not depend on the length of a
        sequence up to `context`."""
        self._rotary, self.context, self._like = rotary, context, like
        self._table = self._tabulated(min(256, context))
        self._heads, self._kernels = heads, kernels_for(like)
        size, rotated = heads.head_dim, self._width
        dims = torch.arange(size)
        partner = torch.where(dims < rotated, (dims + rotated // 2) % rotated, dims)
        first = torch.arange(heads.num_heads + heads.num_kv_heads)[:, None] * size
        own = torch.arange(heads.num_kv_heads * size) + first.numel() * size
        self._partner = upload(torch.cat([(first + partner).flatten(), own]), like.device)
        columns = torch.where(dims < rotated, dims, rotated).repeat(len(first))
        self._columns = upload(torch.cat([columns, torch.full_like(own, rotated)]), like.device)

    def at(self, positions: Tensor, end: int) -> tuple[Tensor, Tensor]:
        """Look up cosines and sines [n, width of a qkv row] for positions [n], all below `end`."""
        table = self.table_up_to(end)
        cos, sin = table.index_select(0, positions).index_select(2, self._columns).unbind(1)
        return cos, sin

    def table_up_to(self, end: int) -> Tensor:
        """Return the table for at least the positions below `end`, limited to the context."""
        end = min(end, self.context)
        if end > len(self._table):
            self._table = self._tabulated(min(max(end, 2 * len(self._table)), self.context))
        return self._table

    def rotation(self, positions: Tensor, end: int) -> Rotation:
        """Make the rotation for rows at positions [n], or [1] for all of them, all below `end`."""
        cos, sin = self.at(positions, end)
        heads, dim = self._heads, self._heads.head_dim
        sizes = heads.num_heads, 2 * heads.num_kv_heads
        every = sum(sizes)
        kernels, partner = self._kernels, self._partner

        def rotate(qkv: Tensor, rows: Rows) -> Tensor:
            if kernels is not None and isinstance(rows, LayerRowsAt):
                fused: Tensor = kernels.rotate(
                    qkv,
                    partner,
                    cos.expand_as(qkv),
                    sin.expand_as(qkv),
                    rows.store,
                    rows.at,
                    sizes[0],
                )
                return fused
            turned = torch.addcmul(qkv * cos, qkv.index_select(1, partner), sin)
            queries, kv = turned.view(-1, every, dim).split_with_sizes(sizes, 1)
            rows.write(kv)
            return queries

        return rotate

    def _tabulated(self, positions: int) -> Tensor:
        """[positions, 2, rotated + 1]: cosines and sines, with those of no rotation at the end. The
        sines of the first half are negative."""
        every = torch.arange(positions, device=self._like.device)[None]
        cos, sin = (part[0] for part in self._rotary(self._like, every))
        self._width = cos.shape[-1]
        sin = torch.cat([-sin[:, : self._width // 2], sin[:, self._width // 2 :]], -1)
        still = torch.stack([torch.ones_like(cos[:, :1]), torch.zeros_like(cos[:, :1])], 1)
        return torch.cat([torch.stack([cos, sin], 1), still], -1)


def gated(
    name: str, activation: Callable[[Tensor], Tensor], like: Tensor
) -> Callable[[Tensor], Tensor]:
    """Make the function activation(gate) * up, of [n, 2I], gates first, for tensors such as `like`.
    `name`: that of the activation in configs."""
    kernels = kernels_for(like)
    if kernels is not None and name == "silu":
        fused: Callable[[Tensor], Tensor] = kernels.silu_times
        return fused

    def separately(gate_up: Tensor) -> Tensor:
        gate, up = gate_up.chunk(2, -1)
        return activation(gate).mul_(up)

    return separately


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Attention, then a gated MLP, each added to the hidden states."""

    heads: AttentionHeads
    qkv: Linear
    qk_norm: RMSNorm | None
    scale: float
    o: Linear
    mlp_norm: RMSNorm
    gate_up: Linear
    gated: Callable[[Tensor], Tensor]
    down: Linear

    def add_to(
        self,
        x: Tensor,
        normed: Tensor,
        rotate: Rotation,
        rows: Rows,
        mask: Tensor | None,
    ) -> None:
        """Change x [n, H] to the layer's output, in place. `normed` [n, in] is the input of
        attention, in most models x after a norm."""
        heads = self.heads
        queries, keys, dim = heads.num_heads, heads.num_kv_heads, heads.head_dim
        qkv = self.qkv(normed)
        if self.qk_norm is not None:
            qk = qkv[:, : (queries + keys) * dim].unflatten(1, (-1, dim))
            qk.copy_(self.qk_norm(qk))
        q = rotate(qkv, rows)
        k, v = rows.keys, rows.values
        q = q.view(k.shape[0], -1, queries, dim).transpose(1, 2)
        attended = attend(q, k, v, mask, self.scale)
        self.o.add_to(x, attended.view(-1, queries * dim))
        self.down.add_to(x, self.gated(self.gate_up(self.mlp_norm(x))))

    @property
    def linears(self) -> list[tuple[str, Linear]]:
        """The linears in the order of a pass, each with its kind."""
        return [("qkv", self.qkv), ("o", self.o), ("gate_up", self.gate_up), ("down", self.down)]


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A decoder layer. `window` is the name of its mask, if layers differ."""

    norm: RMSNorm
    block: Block
    window: str


class LeanForward:
    """The forward pass of a Llama-shaped model; implements `decoding.model.forward.Forward`."""

    states: Mapping[int, int] = {}

    def __init__(
        self,
        embedding: nn.Module,
        layers: Sequence[Layer],
        rope: Rope,
        norm: RMSNorm,
        lm_head: Linear,
        device: torch.device,
        vocab_size: int,
    ) -> None:
        self._embedding = embedding
        self._layers = layers
        self.rope = rope
        self._norm = norm
        self._lm_head = lm_head
        self._aux_layers: tuple[int, ...] = ()
        heads = [layer.block.heads for layer in layers]
        self.layers: Sequence[LayerShape | None] = [
            LayerShape(each.num_kv_heads, each.head_dim, each.head_dim) for each in heads
        ]
        self.devices = [device] * len(layers)
        self.vocab_size = vocab_size

    def __call__(
        self, tokens: Tensor, positions: Tensor, mask: Mask, cache: TreeCache, last_only: bool
    ) -> ForwardOutput:
        count = len(tokens)
        rows = cache.append(count)
        return self.run(tokens, positions, mask, rows, cache.length + count, last_only)

    def run(
        self,
        tokens: Tensor,
        positions: Tensor,
        mask: Mask,
        rows_of_layers: Iterable[Rows],
        end: int,
        last_only: bool = False,
    ) -> ForwardOutput:
        """Run a pass that writes to `rows_of_layers`; positions are below `end`."""
        x: Tensor = self._embedding(tokens)
        rotate = self.rope.rotation(positions, end)
        captured: dict[int, Tensor] = {}
        for index, (layer, rows) in enumerate(zip(self._layers, rows_of_layers, strict=True)):
            if index in self._aux_layers:
                captured[index] = x.clone()
            own = mask[layer.window] if isinstance(mask, dict) else mask
            layer.block.add_to(x, layer.norm(x), rotate, rows, own)
        features = self._norm(x)
        logits = self._lm_head(features[-1:] if last_only else features)
        if not captured:
            return ForwardOutput(logits, features)
        aux = torch.cat([captured[layer] for layer in self._aux_layers], dim=-1)
        return ForwardOutput(logits, features, aux)

    @property
    def linears(self) -> list[tuple[str, Linear]]:
        """The linears in the order of a pass, each with its kind."""
        found = [pair for layer in self._layers for pair in layer.block.linears]
        return [*found, ("lm_head", self._lm_head)]

    def capture_layers(self, layers: Sequence[int]) -> None:
        self._aux_layers = tuple(layers)

    def lm_head(self, features: Tensor) -> Tensor:
        logits = self._lm_head(features.reshape(-1, features.shape[-1]))
        return logits.view(*features.shape[:-1], -1)
