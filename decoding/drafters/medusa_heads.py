"""Medusa's heads: residual blocks on the target's last hidden state, and an lm_head."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from decoding.checkpoints.medusa import MedusaWeights
from decoding.model.target import Target


class MedusaHeads:
    """k heads of L residual blocks, run together: x + SiLU(W x + b), then an lm_head."""

    def __init__(self, weights: MedusaWeights, target: Target) -> None:
        def move(tensor: Tensor) -> Tensor:
            return tensor.to(target.device, target.dtype)

        self.count = weights.heads
        self.accuracy = weights.accuracy
        self.device = target.device
        # [L][k, H, H], transposed once for baddbmm
        self._weights = [move(w.mT.contiguous()) for w in weights.weights.unbind(1)]
        self._biases = [move(b[:, None]) for b in weights.biases.unbind(1)]
        own = weights.lm_heads
        self._lm_heads = None if own is None else move(own.mT.contiguous())
        token_map = weights.token_map
        self._token_map = None if token_map is None else token_map.to(target.device).long()
        self._target = target
        self.vocab = target.vocab_size if own is None else own.shape[1]

    @property
    def nbytes(self) -> int:
        own = [] if self._lm_heads is None else [self._lm_heads]
        return sum(tensor.nbytes for tensor in (*self._weights, *self._biases, *own))

    def logits(self, hidden: Tensor, heads: int | None = None) -> Tensor:
        """Compute the logits of all k heads or the first `heads`: hidden [n, H] (after the target's
        final norm) -> [k, n, V]."""
        x = hidden.expand(heads or self.count, -1, -1)
        for weight, bias in zip(self._weights, self._biases, strict=True):
            x = x + functional.silu(torch.baddbmm(bias[:heads], x, weight[:heads]))
        if self._lm_heads is None:
            return self._target.logits(x)
        return torch.bmm(x, self._lm_heads[:heads])

    def guesses(self, hidden: Tensor, ranks: int, heads: int | None = None) -> Tensor:
        """Return the `ranks` best tokens of each head, [k, n, ranks]."""
        return self.target_ids(self.logits(hidden, heads).topk(ranks, dim=-1).indices)

    def target_ids(self, ids: Tensor) -> Tensor:
        """Map the heads' ids to the target's."""
        return ids if self._token_map is None else self._token_map[ids]
