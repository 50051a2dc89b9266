"""The forward pass of an EAGLE head for drafting: one sequence, no gradients, and few operations,
as in the target's lean forward, whose block it shares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from decoding.model.architecture import UNLIMITED
from decoding.model.cache import Rows, TreeCache
from decoding.model.lean import AttentionHeads, Block, RMSNorm, Rope, gated, qk_norm
from decoding.model.linears import Linear

if TYPE_CHECKING:
    from decoding.drafters.eagle_head import EagleHead
    from decoding.drafters.eagle_layer import EagleLayer


class EagleForward:
    """Computes the same as `EagleHead.forward` and `logits`. The head's linears become views of the
    fused ones here."""

    def __init__(self, head: EagleHead, rotary: nn.Module) -> None:
        c = head.config

        def norm(name: str) -> RMSNorm | None:
            return RMSNorm(head.norms[name], c.norm_eps) if name in head.norms else None

        self._head = head
        self._heads = AttentionHeads(c.heads, c.kv_heads, c.head_dim)
        self._layers = [self._layer(layer) for layer in head.layers]
        self._fc = None if head.fc is None else Linear([head.fc])
        self._lm_head = None if head.lm_head is None else Linear([head.lm_head])
        self._embedding_norm, self._hidden_norm = norm("embedding"), norm("hidden")
        self._output_norm = norm("output")
        like = head.layers[0].qkv.weight.detach()
        self.rope = Rope(rotary, self._heads, UNLIMITED, like)

    def _layer(self, layer: EagleLayer) -> tuple[RMSNorm | None, Block]:
        """The norm of its input, unless the head does it, and the rest."""
        norms, eps = layer.norms, self._head.config.norm_eps
        gains = (norms["q"], norms["k"]) if "q" in norms else None
        block = Block(
            self._heads,
            Linear([layer.qkv]),
            None if gains is None else qk_norm(*gains, self._heads, eps),
            self._heads.head_dim**-0.5,
            Linear([layer.o]),
            RMSNorm(norms["mlp"], eps),
            Linear([layer.gate_up]),
            gated(self._head.config.activation, layer.activation, layer.qkv.weight),
            Linear([layer.down]),
        )
        return RMSNorm(norms["input"], eps) if "input" in norms else None, block

    def hidden(self, features: Tensor) -> Tensor:
        """Compute the same as `EagleHead.hidden`, [n, F] -> [n, H]."""
        return self._head.hidden(features, self._fc)

    def __call__(
        self,
        tokens: Tensor,
        hidden: Tensor,
        positions: Tensor,
        mask: Tensor | None,
        cache: TreeCache,
    ) -> Tensor:
        """Run tokens [n] (each the one *after* its feature) and hidden [n, H] (from `hidden` or
        from this method) at `positions` [n], or [1] for all of them -> the next hidden [n, H].
        Their rows are written after those of `cache`, but not committed."""
        count = len(tokens)
        end = cache.length + count
        return self.run(tokens, hidden, positions, mask, cache.append(count), end)

    def run(
        self,
        tokens: Tensor,
        hidden: Tensor,
        positions: Tensor,
        mask: Tensor | None,
        rows_of_layers: Iterable[Rows],
        end: int,
    ) -> Tensor:
        """Run as `__call__` does, but write to `rows_of_layers`; positions are below `end`."""
        embedded = functional.embedding(tokens, self._head.embedding)
        if self._hidden_norm is None or self._embedding_norm is None:  # EAGLE-1
            assert self._fc is not None
            x = normed = self._fc(torch.cat([embedded, hidden], -1))
        else:
            of_hidden = self._hidden_norm(hidden)
            normed = torch.cat([self._embedding_norm(embedded), of_hidden], -1)
            x = of_hidden if self._head.config.norm_before_residual else hidden.clone()
        rotate = self.rope.rotation(positions, end)
        for (norm, block), rows in zip(self._layers, rows_of_layers, strict=True):
            block.add_to(x, normed if norm is None else norm(x), rotate, rows, mask)
        if self._output_norm is not None and self._head.config.norm_output:
            return self._output_norm(x)
        return x

    def logits(self, hidden: Tensor) -> Tensor:
        """Compute the logits of draft ids, [n, H] -> [n, draft_vocab]."""
        if self._lm_head is None or self._output_norm is None:
            return self._head.logits(hidden)
        normed = hidden if self._head.config.norm_output else self._output_norm(hidden)
        return self._lm_head(normed)

    @property
    def linears(self) -> list[tuple[str, Linear]]:
        """The linears in the order of a pass, each with its kind."""
        inner = [pair for _, block in self._layers for pair in block.linears]
        named = ("fc", self._fc), *inner, ("lm_head", self._lm_head)
        return [(kind, linear) for kind, linear in named if linear is not None]
