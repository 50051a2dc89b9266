"""Measures passes over a batch: several sequences at once, as in a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch

from decoding.cost.curve import BatchCosts, Curve, monotone
from decoding.cost.measure import SIZES, seconds, verify_cost
from decoding.model.cache import BatchCache
from decoding.model.kv_precision import KV_QUANTIZERS
from decoding.model.lean import LeanForward
from decoding.model.target import Target
from decoding.trees.draft import DraftTree
from decoding.trees.shape import chain

REPEATS = 3


def batch_bytes(target: Target, sequences: int, nodes: float, context: int) -> int:
    """Estimate the memory of a pass without the weights: mostly keys and values, and logits."""
    rows = (context + nodes) * target.new_cache(1).nbytes
    return round(sequences * (rows + nodes * target.vocab_size * target.dtype.itemsize))


def batch_costs(
    target: Target,
    batches: Sequence[int],
    nodes: float,
    context: int,
    progress: Callable[[str], None] = lambda text: None,
    max_pass_seconds: float = float("inf"),
) -> BatchCosts:
    """Time passes over each of `batches` (numbers of sequences, ascending), after `context` tokens
    and with up to `nodes` nodes per sequence. The times are measured on a lean forward, else
    estimated from one sequence. After a pass longer than `max_pass_seconds` no larger ones are
    measured; batches without all sizes are left out, except for the first. Sizes beyond the context
    are left out as well."""
    within = [size for size in SIZES if size <= target.context]
    sizes = [size for before, size in zip((0, *within), within, strict=False) if before < nodes]
    lean = target.lean
    if lean is None:
        progress("measuring passes")
        every = sorted({batch * size for batch in batches for size in sizes})
        alone = verify_cost(target, every, max_pass_seconds)
        largest = alone.points[-1][0]
        seen = [n for n in batches if n == batches[0] or n * nodes <= largest]
        curves = {n: Curve(tuple((size, alone(n * size)) for size in sizes)) for n in seen}
        return BatchCosts(curves, measured=False)
    curves = {}
    context = max(min(context, target.context - sizes[-1]), 0)
    for batch in batches:
        progress(f"measuring passes of {batch} at once")
        points = list[tuple[float, float]]()
        for size in sizes:
            points.append((size, batch_pass_seconds(target, lean, batch, size, context)))
            if points[-1][1] > max_pass_seconds:
                break
        if len(points) == len(sizes) or not curves:
            curves[batch] = Curve(monotone(points))
        if points[-1][1] > max_pass_seconds:
            break
    for more, fewer in pairwise(sorted(curves, reverse=True)):  # nor are more sequences cheaper
        known = zip(curves[fewer].points, curves[more].points, strict=False)
        curves[fewer] = Curve(tuple((size, min(cost, above)) for (size, cost), (_, above) in known))
    return BatchCosts(curves, measured=True)


@torch.inference_mode()
def batch_pass_seconds(
    target: Target, lean: LeanForward, sequences: int, nodes: int, context: int
) -> float:
    """Measure a pass over a chain of `nodes` nodes in each sequence, in seconds."""
    room = context + nodes
    # the values in the cache do not matter
    quantizer = KV_QUANTIZERS[target.kv_cache]
    cache = BatchCache(lean.layers, sequences, room, target.dtype, target.device, quantizer)
    positions = torch.arange(context, room, device=target.device)
    tokens = torch.zeros(sequences * nodes, dtype=torch.long, device=target.device)
    mask = target.mask(context, DraftTree(chain(nodes - 1), tokens[:nodes]), positions)

    def work() -> None:
        lean.run(tokens, positions.repeat(sequences), mask, cache.rows(context, room), room)

    return seconds(work, target.device, REPEATS)
