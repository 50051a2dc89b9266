"""Cross entropy to a distribution, for many rows of a large vocabulary on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_ROWS = 64  # at a time: they stay in the processor's cache


class SoftCrossEntropy(torch.autograd.Function):
    """logits [N, V], probabilities [P, V], which [N] of them belongs to each row, weights [N] ->
    the weighted sum of the rows' cross entropies, a scalar.

    The gradient, softmax less probabilities, is found along with the loss, while the rows are at
    hand: torch's own operations would go through all of them about ten times.
    """

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, probabilities: Tensor, which: Tensor, weights: Tensor
    ) -> Tensor:
        gradient = torch.empty_like(logits) if ctx.needs_input_grad[0] else None
        loss = weights.new_zeros(())
        for start in range(0, len(logits), _ROWS):
            rows = slice(start, start + _ROWS)
            z, p, w = logits[rows].float(), probabilities[which[rows]], weights[rows]
            norm = z.logsumexp(-1)
            loss += w @ (norm - (p * z).sum(-1))
            if gradient is not None:
                gradient[rows] = (z - norm[:, None]).exp_().sub_(p).mul_(w[:, None])
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[0], None, None, None
