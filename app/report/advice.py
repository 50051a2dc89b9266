"""What measured answers say: how much faster a strategy is, how sure that is, and at which batch
size it stops paying. Plain numbers, no models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from decoding.cost.model import fit_verify

FEW_PROMPTS = 5  # with fewer, repeats of one prompt are resampled on their own
FEW_ANSWERS = 5  # with fewer, only the range is given
RESAMPLES = 2000
BATCH_METHOD = (
    "estimated, not measured: a batch of B sequences is taken to cost what one pass over B times "
    "as many tokens cost here; drafting by a model or a head grows like the target's passes, "
    "other drafting with B; acceptance stays what it was"
)
BATCH_LIMITS = (
    "leaves out the reading of B caches, which grows with the context in both cases, and what an "
    "engine's scheduler and kernels do better or worse; beyond the largest pass that was measured "
    "nothing is said"
)


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer: to which prompt, the tokens after the first, and the seconds they took."""

    prompt: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio of speeds: all tokens over all seconds. `low` and `high` are a 95% bootstrap interval
    over prompts (over answers, where there are few prompts), or the range over the answers."""

    ratio: float
    low: float
    high: float
    interval: Literal["95% bootstrap", "range"]


def compare(own: Sequence[Timed], base: Sequence[Timed]) -> Estimate | None:
    """How many times as fast as `base`, whose answers are to the same prompts in the same order.
    None where nothing was decoded."""
    pairs = [(a, b) for a, b in zip(own, base, strict=True) if a.tokens and b.tokens]
    if not pairs:
        return None
    units: defaultdict[int, list[float]] = defaultdict(lambda: [0.0] * 4)
    by_prompt = len({a.prompt for a, _ in pairs}) >= FEW_PROMPTS
    for index, (a, b) in enumerate(pairs):
        unit = units[a.prompt if by_prompt else index]
        for place, value in enumerate((a.tokens, a.seconds, b.tokens, b.seconds)):
            unit[place] += value
    sums = np.array(list(units.values()))
    ratio = float(_ratio(sums.sum(axis=0)))
    if len(sums) < FEW_ANSWERS:
        each = _ratio(sums)
        return Estimate(ratio, float(each.min()), float(each.max()), "range")
    draws = np.random.default_rng(0).integers(len(sums), size=(RESAMPLES, len(sums)))
    low, high = np.quantile(_ratio(sums[draws].sum(axis=1)), (0.025, 0.975))
    return Estimate(ratio, float(low), float(high), "95% bootstrap")


def _ratio(sums: np.ndarray) -> np.ndarray:
    tokens, seconds, base_tokens, base_seconds = np.moveaxis(sums, -1, 0)
    result: np.ndarray = (tokens / seconds) / (base_tokens / base_seconds)
    return result


@dataclass(frozen=True, slots=True)
class RoundCost:
    """A mean round of one strategy at batch size 1: its tokens (τ), the nodes that its pass
    verifies (root included), and the seconds of its parts."""

    tokens: float
    nodes: float
    verify: float
    draft: float
    rest: float


def batch_speedups(
    own: RoundCost,
    plain: RoundCost,
    by_model: bool,
    passes: Callable[[float], float],
    largest: float,
) -> dict[int, float]:
    """Estimated speedup over autoregressive decoding (`plain`) at batch sizes 1, 2, 4, ..., while a
    pass is no larger than the `largest` that was measured. `passes(n)`: seconds of a target pass
    over n tokens, brought into line with what the rounds themselves took. `by_model`: a model or a
    head drafts, whose passes a batch shares."""
    cost = fit_verify([(1, plain.verify), (own.nodes, own.verify)], passes)
    found: dict[int, float] = {}
    batch = 1
    while batch == 1 or batch * own.nodes <= largest:
        growth = cost(batch) / cost(1) if by_model else batch
        round_seconds = cost(batch * own.nodes) + own.draft * growth + own.rest
        ratio = own.tokens * (cost(batch) + plain.rest) / round_seconds
        found[batch] = min(ratio, own.tokens)  # a larger pass is never the cheaper one
        batch *= 2
    return found


def stops_paying(speedups: dict[int, float]) -> int | None:
    """The smallest of the batch sizes at which drafting is no faster; None if it always is."""
    return next((batch for batch, speedup in sorted(speedups.items()) if speedup <= 1.0), None)
