"""What a drafter needs to be trained: a loss whose parts are means over the tokens of a whole step,
over all processes, and counts to report."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, distributed, nn


class TrainingModel(nn.Module):
    """A drafter's loss has parts, each a mean over tokens of answers. In training it is one over
    all batches of a step: else tokens in batches of short answers would weigh more."""

    def __init__(self) -> None:
        super().__init__()
        self._divisors: Tensor | None = None  # of the current step

    def counts(self, labels: Tensor) -> Tensor:
        """Return how many tokens of a batch with these labels each part of the loss is over
        [parts]."""
        raise NotImplementedError

    def begin_step(self, batches: Sequence[Tensor]) -> None:
        """Take the labels of the batches that make up the next step."""
        total = torch.stack([self.counts(labels) for labels in batches]).sum(0)
        # The Trainer divides each batch's loss by the number of batches.
        self._divisors = per_process(total) / len(batches)

    def divisors_for(self, labels: Tensor) -> Tensor:
        """Return the divisors of the sums of a batch, [parts]: the step's, or out of training its
        own."""
        if self.training and self._divisors is not None:
            return self._divisors.to(labels.device)
        return per_process(self.counts(labels))


class RunningCounts:
    """Counts on the device how often each head or drafting step was right, its losses, and the
    tokens read, since the last `collect`."""

    def __init__(self, heads: int, device: torch.device) -> None:
        self._hits = torch.zeros(heads, device=device)
        self._total = torch.zeros(heads, device=device)
        self._losses = torch.zeros(heads, device=device)
        self._batches = torch.zeros(heads, device=device)
        self._tokens = torch.zeros(1, device=device)

    @torch.no_grad()
    def add(self, head: int, right: Tensor, loss: Tensor) -> None:
        """`loss` is the batch's sum by a divisor of `TrainingModel`."""
        self._hits[head] += right.sum()
        self._total[head] += right.numel()
        self._losses[head] += loss.detach()
        self._batches[head] += 1

    def count_tokens(self, attention_mask: Tensor) -> None:
        self._tokens += attention_mask.sum()

    def collect(self) -> dict[str, float]:
        """`accuracy_1` and `loss_1` of the first head or step, and so on, and the number of
        `tokens`, over all processes; resets the counts."""
        by_head = (self._hits, self._total, self._losses, self._batches)
        counts = torch.cat([*by_head, self._tokens])
        for count in (*by_head, self._tokens):
            count.zero_()
        if distributed.is_initialized():
            distributed.all_reduce(counts)
        means: dict[str, float] = {"tokens": int(counts[-1])}
        rows = counts[:-1].view(4, -1).T.tolist()
        for head, (right, total, loss, batches) in enumerate(rows, 1):
            if total:
                means[f"accuracy_{head}"] = round(right / total, 3)
                means[f"loss_{head}"] = round(loss / batches, 4)
        return means


def per_process(count: Tensor) -> Tensor:
    """Return the divisor of a process's sum, such that the mean of all processes' gradients equals
    that of one process with the whole batch."""
    if distributed.is_initialized():
        count = count.clone().float()
        distributed.all_reduce(count)
        return count.clamp_min(1) / distributed.get_world_size()
    return count.clamp_min(1)
