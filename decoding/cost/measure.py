"""Measures what a pass takes on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

from decoding.cost.curve import Curve, monotone
from decoding.model.clock import synchronize
from decoding.model.target import Target
from decoding.trees.draft import DraftTree
from decoding.trees.shape import chain

PROMPT = 64  # tokens before the nodes
SIZES = (1, 4, 8, 16, 32, 64)
REPEATS = 5
LARGEST_READ = 1 << 30  # bytes, more than any cache holds


def seconds(work: Callable[[], object], device: torch.device, repeats: int = REPEATS) -> float:
    """Measure the least time of `work` in `repeats` synchronized runs after a warm-up: disturbances
    only add to it."""
    times = []
    for repeat in range(repeats + 1):
        begun = time.perf_counter()
        work()
        synchronize(device)
        if repeat:
            times.append(time.perf_counter() - begun)
    return min(times)


def reading_seconds(nbytes: int, device: torch.device) -> float:
    """Measure the time to read so many bytes once, from memory or a cache that holds them: a lower
    bound for a pass over weights of that size. Beside a large model there may be no room for as
    much again, so no more than `LARGEST_READ` are read, several times."""
    times = -(-nbytes // LARGEST_READ) or 1
    numbers = torch.ones(max(nbytes // times // 4, 1), device=device)

    def work() -> None:
        for _ in range(times):
            numbers.sum()

    return seconds(work, device)


def pass_seconds(target: Target, nodes: int) -> float:
    """Measure a pass over `nodes` nodes, or as many as the context holds, after a short prompt."""
    cache = target.new_cache()
    nodes = min(nodes, target.context - REPEATS - 1)
    # Every pass commits its root: the last one begins at PROMPT.
    target.prefill(cache, [0] * (min(PROMPT, target.context - nodes) - REPEATS))
    tree = DraftTree(chain(nodes - 1), torch.zeros(nodes, dtype=torch.long, device=target.device))

    def work() -> None:
        target.forward(cache, tree)
        cache.commit(1)

    return seconds(work, target.device)


def verify_cost(
    target: Target, sizes: Sequence[int] = SIZES, max_pass_seconds: float = float("inf")
) -> Curve:
    """Measure v(n) in seconds, at `sizes` that the context holds, up to the first pass that takes
    longer than `max_pass_seconds`."""
    measured: list[tuple[float, float]] = []
    for nodes in (size for size in sizes if size + REPEATS < target.context):
        measured.append((nodes, pass_seconds(target, nodes)))
        if measured[-1][1] > max_pass_seconds:
            break
    return Curve(monotone(measured))
