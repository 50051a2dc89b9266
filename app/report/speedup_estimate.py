"""Speedups from measured answers, with confidence intervals. Imports no models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.report.answer import Timing

TEMPERATURES = (0.0, 0.7)  # by default: greedy, and a usual one for chats
FEW_PROMPTS = 5  # with fewer, repeats of one prompt are resampled on their own
FEW_ANSWERS = 5  # with fewer, only the range is given
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio of speeds: all tokens over all seconds. `low` and `high` are a 95% bootstrap interval
    over prompts (over answers, where there are few prompts), or the range over the answers."""

    ratio: float
    low: float
    high: float
    interval: Literal["95% bootstrap", "range"]


def estimate_speedup(own: Sequence[Timing], base: Sequence[Timing]) -> Estimate | None:
    """Return the speedup over `base`, which answered the same prompts in the same order. None if
    nothing was decoded."""
    pairs = [(a, b) for a, b in zip(own, base, strict=True) if a.tokens and b.tokens]
    if not pairs:
        return None
    units: defaultdict[int, list[float]] = defaultdict(lambda: [0.0] * 4)
    by_prompt = len({a.prompt for a, _ in pairs}) >= FEW_PROMPTS
    for index, (a, b) in enumerate(pairs):
        unit = units[a.prompt if by_prompt else index]
        for column, value in enumerate((a.tokens, a.seconds, b.tokens, b.seconds)):
            unit[column] += value
    sums = np.array(list(units.values()))
    ratio = float(_ratio(sums.sum(axis=0)))
    if len(sums) < FEW_ANSWERS:
        each = _ratio(sums)
        return Estimate(ratio, float(each.min()), float(each.max()), "range")
    draws = np.random.default_rng(0).integers(len(sums), size=(RESAMPLES, len(sums)))
    low, high = np.quantile(_ratio(sums[draws].sum(axis=1)), (0.025, 0.975))
    return Estimate(ratio, float(low), float(high), "95% bootstrap")


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    tokens, seconds, base_tokens, base_seconds = np.moveaxis(sums, -1, 0)
    result: NDArray[np.float64] = (tokens / seconds) / (base_tokens / base_seconds)
    return result
