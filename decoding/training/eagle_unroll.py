"""Training-time test: EAGLE drafting along a text, from all its positions at once.

EAGLE-3, 2503.01840, section 3. A draft that begins at row i has the target's true features up to
row i only. Its step 0 reads the true feature of row i; step k the draft's own output of step k-1,
at position i + k, with token t_{i+k+1}. It sees the keys of true features up to row i, as the
draft's cache holds them when served, and those of its own steps 1 to k.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from decoding.drafters.eagle_head import EagleHead


def unroll(head: EagleHead, ids: Tensor, hidden: Tensor, steps: int) -> Iterator[Tensor]:
    """ids [B, n] of the text, hidden [B, n, H] of its true features -> for each step k the outputs
    [B, n, H]: row i guesses what follows t_{i+k+1}, so the last k + 1 rows mean nothing."""
    attend = UnrolledAttention()
    rows = torch.arange(ids.shape[1], device=ids.device)
    head.reserve(ids.shape[1] + steps)
    for k in range(steps):
        hidden = head(ids.roll(-k - 1, dims=1), hidden, rows + k, attend)
        yield hidden


class UnrolledAttention:
    """The attention of step 0, 1, ... in its first, second, ... call; row i is the draft from i."""

    def __init__(self) -> None:
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """q [B, heads, n, D], k and v [B, kv_heads, n, D] -> [B, n, heads * D]."""
        if not self._keys:
            self._keys, self._values = [k], [v]
            grouped = q.shape[1] != k.shape[1]
            out = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)
            return out.transpose(1, 2).flatten(2)
        self._keys.append(k[:, :, None])
        self._values.append(v[:, :, None])
        n, dim = q.shape[-2:]
        q = q.unflatten(1, (k.shape[1], -1)) * dim**-0.5  # [B, kv_heads, group, n, D]
        true = (q.flatten(2, 3) @ self._keys[0].mT).unflatten(2, (-1, n))
        future = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
        true = true.masked_fill(future, float("-inf"))
        own = [(q * key).sum(-1, keepdim=True) for key in self._keys[1:]]
        weights = torch.cat([true, *own], dim=-1).softmax(-1)
        true, own = weights[..., :n], weights[..., n:].split(1, dim=-1)
        out = (true.flatten(2, 3) @ self._values[0]).unflatten(2, (-1, n))
        for weight, value in zip(own, self._values[1:], strict=True):
            out = out + weight * value
        return out.flatten(1, 2).transpose(1, 2).flatten(2)
