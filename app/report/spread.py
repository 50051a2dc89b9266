"""The median and range of repeated measurements."""

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
    """Return the spread of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(median(known), min(known), max(known), len(known))
