"""A decoder layer of an EAGLE head."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.activations import ACT2FN
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from decoding.checkpoints.eagle import EagleConfig

# queries [B, heads, n, D], keys and values [B, kv_heads, n, D] -> [B, n, heads * D]
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
# A fused parameter with the tensors that it consists of: name and rows, in order.
Parts = list[tuple[Tensor, list[tuple[str, int]]]]

_NORM_NAMES = {
    "input": "input_layernorm",
    "mlp": "post_attention_layernorm",
    "q": "self_attn.q_norm",
    "k": "self_attn.k_norm",
}


class EagleLayer(nn.Module):
    """Attention, then a gated MLP, each added to the residual stream. Projections of the same input
    are one matrix. The caller does the attention."""

    def __init__(self, config: EagleConfig, index: int) -> None:
        super().__init__()
        c = self._config = config
        self._queries, self._keys = c.heads * c.head_dim, c.kv_heads * c.head_dim
        # The first layer of EAGLE-3 reads a token and a feature, whose norms the head has.
        width = 2 * c.hidden if c.version == "eagle3" and not index else c.hidden
        self.qkv = nn.Linear(width, self._queries + 2 * self._keys, bias=c.qkv_bias)
        self.o = nn.Linear(self._queries, c.hidden, bias=c.o_bias)
        self.gate_up = nn.Linear(c.hidden, 2 * c.intermediate, bias=c.mlp_bias)
        self.down = nn.Linear(c.intermediate, c.hidden, bias=c.mlp_bias)
        self.activation = ACT2FN[c.activation]
        norms = {"mlp": c.hidden} | ({"input": c.hidden} if index else {})
        if c.qk_norm:
            norms |= {"q": c.head_dim, "k": c.head_dim}
        self.norms = nn.ParameterDict({k: nn.Parameter(torch.ones(n)) for k, n in norms.items()})

    def forward(
        self, residual: Tensor, x: Tensor | None, rotation: tuple[Tensor, Tensor], attend: Attend
    ) -> Tensor:
        """Run the layer: residual [B, n, H], the input of attention x (None: residual after the
        layer's own norm), cosines and sines -> [B, n, H]."""
        x = self._norm(residual, "input") if x is None else x
        q, k, v = (
            part.unflatten(-1, (-1, self._config.head_dim)).transpose(-2, -3)
            for part in self.qkv(x).split([self._queries, self._keys, self._keys], dim=-1)
        )
        if self._config.qk_norm:
            q, k = self._norm(q, "q"), self._norm(k, "k")
        q, k = apply_rotary_pos_emb(q, k, *rotation)
        x = residual + self.o(attend(q, k, v))
        gate, up = self.gate_up(self._norm(x, "mlp")).chunk(2, dim=-1)
        return x + self.down(self.activation(gate) * up)  # type: ignore[no-any-return]

    def parts(self) -> Parts:
        c = self._config
        attention = [("self_attn.q_proj", self._queries), ("self_attn.k_proj", self._keys)]
        return [
            *parts_of(self.qkv, [*attention, ("self_attn.v_proj", self._keys)]),
            *parts_of(self.o, [("self_attn.o_proj", c.hidden)]),
            *parts_of(
                self.gate_up, [("mlp.gate_proj", c.intermediate), ("mlp.up_proj", c.intermediate)]
            ),
            *parts_of(self.down, [("mlp.down_proj", c.hidden)]),
            *((norm, [(f"{_NORM_NAMES[n]}.weight", len(norm))]) for n, norm in self.norms.items()),
        ]

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return rms_norm(x, self.norms[name], self._config.norm_eps)


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    weight = weight.to(x.dtype)  # under autocast x can have another dtype
    return functional.rms_norm(x, weight.shape, weight, eps)


def parts_of(linear: nn.Linear | None, parts: list[tuple[str, int]]) -> Parts:
    """Return a linear's weight and, if it has one, its bias, each with its parts."""
    if linear is None:
        return []
    found: Parts = [(linear.weight, [(f"{name}.weight", size) for name, size in parts])]
    if linear.bias is not None:
        found.append((linear.bias, [(f"{name}.bias", size) for name, size in parts]))
    return found
