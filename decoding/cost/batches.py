"""What passes of a batch cost: of several sequences at once, as a server has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from decoding.cost.curve import Curve
from decoding.cost.measure import PROMPT, SIZES, seconds, verify_cost
from decoding.model.cache import BatchRows
from decoding.model.lean import LeanForward
from decoding.model.target import Target
from decoding.trees.shape import chain

REPEATS = 3


@dataclass(frozen=True, slots=True)
class BatchCosts:
    """Seconds of a pass over a number of sequences with n nodes each. Not `measured`: taken to be
    what a pass of one sequence costs over as many nodes in all."""

    curves: Mapping[int, Curve]  # by sequences
    measured: bool

    def __call__(self, sequences: int, nodes: float) -> float:
        return self.curves[sequences](nodes)


def batch_bytes(target: Target, sequences: int, nodes: float, context: int) -> int:
    """What a pass takes, beside the weights: mostly keys and values, and logits."""
    rows = (context + nodes) * target.new_cache(1).nbytes
    return round(sequences * (rows + nodes * target.vocab_size * target.dtype.itemsize))


def batch_costs(
    target: Target,
    batches: Sequence[int],
    nodes: float,
    context: int,
    say: Callable[[str], None] = lambda text: None,
) -> BatchCosts:
    """For so many sequences, after `context` tokens, and up to `nodes` nodes. Measured where the
    passes of one sequence are those of a lean forward, too."""
    sizes = [size for before, size in zip((0, *SIZES), SIZES, strict=False) if before < nodes]
    lean = target.lean
    if lean is None:
        say("measuring passes")
        every = sorted({batch * size for batch in batches for size in sizes})
        alone = verify_cost(target, [each for each in every if PROMPT + each <= target.context])
        curves = {b: Curve(tuple((size, alone(b * size)) for size in sizes)) for b in batches}
        return BatchCosts(curves, measured=False)
    curves = {}
    context = max(min(context, target.context - sizes[-1]), 0)
    for batch in batches:
        say(f"measuring passes of {batch} at once")
        points, before = list[tuple[float, float]](), 0.0
        for size in sizes:  # never falling, as `verify_cost`
            before = max(batch_pass_seconds(target, lean, batch, size, context), before)
            points.append((size, before))
        curves[batch] = Curve(tuple(points))
    return BatchCosts(curves, measured=True)


@torch.inference_mode()
def batch_pass_seconds(
    target: Target, lean: LeanForward, sequences: int, nodes: int, context: int
) -> float:
    """Of a chain of `nodes` nodes in each of the sequences."""
    layer = lean.layers[0]
    assert layer is not None
    room = context + nodes
    # Numbers that mean nothing take as long as any.
    store = torch.zeros(
        len(lean.layers), 2, sequences, layer.kv_heads, room, layer.key_dim,
        dtype=target.dtype, device=target.device,
    )  # fmt: skip
    rows = BatchRows.of_layers(store, context, room)
    positions = torch.arange(context, room, device=target.device)
    mask = target.mask(context, chain(nodes - 1), positions)
    tokens = torch.zeros(sequences * nodes, dtype=torch.long, device=target.device)

    def work() -> None:
        lean.run(tokens, positions.repeat(sequences), mask, rows, room)

    return seconds(work, target.device, REPEATS)
