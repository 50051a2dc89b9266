"""What several measurements of one thing come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of `count` values, the lowest and the highest."""

    median: float
    low: float
    high: float
    count: int = 1


def spread(values: Iterable[float | None]) -> Spread | None:
    """Of the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(median(known), min(known), max(known), len(known))
