"""Losses between a drafter's distribution q and the target's p, at each token of an answer.

α = Σ min(p, q) is the rate at which sampled drafts are accepted (Leviathan et al., 2211.17192).

| loss       |           |                                                                       |
|------------|-----------|-----------------------------------------------------------------------|
| kl         | KL(p, q)  | EAGLE's, and one of DistillSpec's (Zhou et al. 2023, 2310.08461). As a |
|            |           | cross entropy: more by the entropy of p, which no draft changes        |
| reverse-kl | KL(q, p)  | DistillSpec's for drafts that can't have all of p                      |
| tvd        | 1 - α     | total variation distance, DistillSpec's third                          |
| lk         | -log α    | LK^α (Samarin et al. 2026, 2602.23881): tvd's aim, but its gradient    |
|            |           | does not vanish where little is accepted                               |
| ce         | -log q(t) | t: the answer's own token. Medusa's; lk where p has no other, as in    |
|            |           | greedy decoding                                                        |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from decoding.model.output_head import logits_of
from decoding.training.shapes import pad_rows

Loss = Literal["kl", "reverse-kl", "tvd", "lk", "ce"]
_ROWS = 64  # rows at a time, which fit into a CPU's cache
_LOGITS = 2**26  # at a time on other devices, where every operation costs a launch
_KEPT_LOGITS = 2**25  # in memory at a time, of each of two models that are compared
_SMALLEST = torch.finfo(torch.float32).tiny


def token_loss(
    loss: Loss, logits: Tensor, targets: Tensor, which: Tensor, weights: Tensor
) -> Tensor:
    """Return the weighted sum of the losses of logits [N, V], a scalar. `targets` are p [P, V], or
    tokens [P] for ce; `which` [N] is the index of each row's target; weights [N]. Logits after
    those N, see `pad_rows`, don't count."""
    apply: Any = _TokenLoss.apply
    found: Tensor = apply(loss, logits, targets, which, weights)
    return found


def likeliest(logits: Tensor) -> Tensor:
    """Return the argmax over the last dimension. `argmax` takes four times as long in bfloat16 on
    CPUs."""
    return logits.max(-1).indices


class Compared(NamedTuple):
    """Of two models before n tokens: the sum of the losses; whether they have the same argmax [n];
    and, zeros in training, 1 - TVD and the KL divergence from the teacher [n]."""

    loss: Tensor
    right: Tensor
    overlap: Tensor
    kl: Tensor


def compare(
    teacher: PreTrainedModel,
    student: PreTrainedModel,
    teacher_states: Tensor,
    student_states: Tensor,
    tokens: Tensor,
    loss: Loss,
    training: bool,
) -> Compared:
    """Compare two models, of which the student learns, by their states after the final norm [n, H]
    before `tokens` [n]. If the logits are many, they are not kept for the backward pass."""

    def compare_rows(start: int) -> tuple[Tensor, ...]:
        rows = slice(start, start + size)
        own, of_teacher = pad_rows(student_states[rows]), pad_rows(teacher_states[rows])
        q, p = logits_of(student, own), logits_of(teacher, of_teacher)
        vocab = min(q.shape[-1], p.shape[-1])  # either may be padded
        q, p = q[..., :vocab], p[: len(tokens[rows]), :vocab]
        with torch.no_grad():
            right = likeliest(q)[: len(p)] == likeliest(p)
            p = p.float().softmax(-1)
            overlap = kl = p.new_zeros(len(p))
            if not training:
                log_q = q.float().log_softmax(-1)
                overlap = torch.minimum(log_q.exp(), p).sum(-1)
                kl = functional.kl_div(log_q, p, reduction="none").sum(-1).clamp_min(0)
        which, weights = torch.arange(len(p), device=p.device), p.new_ones(len(p))
        targets = tokens[rows] if loss == "ce" else p
        return token_loss(loss, q, targets, which, weights), right, overlap, kl

    size = max(_KEPT_LOGITS // student.get_output_embeddings().weight.shape[0], 1)
    starts = range(0, max(len(tokens), 1), size)
    recompute = training and len(starts) > 1
    parts = [
        checkpoint(compare_rows, start, use_reentrant=False) if recompute else compare_rows(start)
        for start in starts
    ]
    losses, *found = zip(*parts, strict=True)
    return Compared(torch.stack(losses).sum(), *map(torch.cat, found))


class _TokenLoss(torch.autograd.Function):
    """Computes the gradient together with the loss, in one pass over the rows; separate torch
    operations would make about ten."""

    @staticmethod
    def forward(
        ctx: Any, loss: Loss, logits: Tensor, targets: Tensor, which: Tensor, weights: Tensor
    ) -> Tensor:
        gradient = torch.empty_like(logits) if ctx.needs_input_grad[1] else None
        total, count = weights.new_zeros(()), len(which)
        size = _ROWS if logits.device.type == "cpu" else max(_LOGITS // logits.shape[1], 1)
        for start in range(0, count, size):
            rows = slice(start, min(start + size, count))
            log_q = logits[rows].float().log_softmax(-1)
            values, slopes = _LOSSES[loss](log_q, targets.index_select(0, which[rows]))
            total += (weights[rows] * values).sum()  # autocast makes a product of vectors bfloat16
            if gradient is not None:
                gradient[rows] = slopes.mul_(weights[rows, None])
        if gradient is not None:
            gradient[count:] = 0
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[None, Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return None, gradient * upstream[0], None, None, None


# Each: log q [n, V] (may be overwritten), p [n, V] -> losses [n], gradients by the logits [n, V].


def _kl(log_q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    values = -(p * log_q).sum(-1)
    return values, log_q.exp_().sub_(p)


def _reverse_kl(log_q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    q = log_q.exp()
    ratio = log_q.sub_(p.clamp_min(_SMALLEST).log_())
    values = (q * ratio).sum(-1)
    return values, ratio.sub_(values[:, None]).mul_(q)


def _tvd(log_q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    accepted, slopes = _acceptance(log_q, p)
    return 1 - accepted, slopes.neg_()


def _lk(log_q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    accepted, slopes = _acceptance(log_q, p)
    accepted.clamp_min_(_SMALLEST)
    return -accepted.log(), slopes.div_(-accepted[:, None])


def _acceptance(log_q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    """α = Σ min(p, q), and its gradients."""
    q = log_q.exp_()
    wanted = (q < p).float()
    share = (q * wanted).sum(-1, keepdim=True)
    return torch.minimum(p, q).sum(-1), q * (wanted - share)


def _ce(log_q: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    at = tokens[:, None]
    values = -log_q.gather(1, at)[:, 0]
    return values, log_q.exp_().scatter_add_(1, at, -torch.ones_like(at, dtype=log_q.dtype))


_LOSSES: dict[Loss, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "kl": _kl,
    "reverse-kl": _reverse_kl,
    "tvd": _tvd,
    "lk": _lk,
    "ce": _ce,
}
