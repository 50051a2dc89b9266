"""Measures passes over batches on the target's device, as far as they fit into its memory."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from app.engine.out_of_memory import free_memory
from app.models.loaded import LoadedModels
from app.report.answer import Answer
from decoding.cost.batches import batch_bytes, batch_costs
from decoding.cost.curve import BatchCosts

MEMORY_SHARE = 0.5  # of what is free, for the caches of a batch


def mean_context(prompts: Iterable[Sequence[int]], answers: Iterable[Answer]) -> int:
    """Return the mean number of tokens before a round."""
    before = statistics.mean(map(len, prompts))
    return round(before + statistics.mean(len(answer.ids) for answer in answers) / 2)


def costs_that_fit(
    models: LoadedModels,
    sizes: Iterable[int],
    nodes: float,
    context: int,
    say: Callable[[str], None],
    patience: float = float("inf"),
) -> BatchCosts:
    """Measure `batch_costs` of one sequence, and of those of the `sizes` that fit into free
    memory."""
    target, room = models.target, MEMORY_SHARE * free_memory(models)
    fit = (size for size in sizes if batch_bytes(target, size, nodes, context) <= room)
    return batch_costs(target, sorted({1, *fit}), nodes, context, say, patience)
