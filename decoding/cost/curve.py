"""Interpolates costs that were measured at a few sizes."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

FEW = 3  # medians of fewer points are ignored if there are others
Median = tuple[float, float, int]  # x, the median of y there, of so many points


@dataclass(frozen=True, slots=True)
class Curve:
    """Piecewise linear through `points` (size, cost), sizes ascending; constant before the first,
    extrapolated after the last."""

    points: tuple[tuple[float, float], ...]

    def __call__(self, size: float) -> float:
        right = bisect_left(self.points, size, key=lambda point: point[0])
        right = min(right, len(self.points) - 1)
        x, y = self.points[right]
        if right == 0:
            return y
        before_x, before_y = self.points[right - 1]
        return before_y + (size - before_x) / (x - before_x) * (y - before_y)


def monotone(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Lower measured points (size, cost), sizes ascending, to the cost of any larger size: a larger
    pass is never cheaper, and what disturbs the machine only adds."""
    costs = accumulate((cost for _, cost in reversed(points)), min)
    return tuple(zip((size for size, _ in points), reversed([*costs]), strict=True))


@dataclass(frozen=True, slots=True)
class BatchCosts:
    """Seconds of a pass over a number of sequences with n nodes each. If not `measured`, they are
    those of one sequence with as many nodes in total."""

    curves: Mapping[int, Curve]  # by sequences
    measured: bool

    def __call__(self, sequences: int, nodes: float) -> float:
        return self.curves[sequences](nodes)


@dataclass(frozen=True, slots=True)
class Line:
    """The line start + slope * x."""

    start: float
    slope: float

    def __call__(self, x: float) -> float:
        return self.start + self.slope * x


def medians(points: Iterable[tuple[float, float]]) -> list[Median]:
    """Return the median y of each x among the points (x, y)."""
    groups: defaultdict[float, list[float]] = defaultdict(list)
    for x, y in points:
        groups[x].append(y)
    return [(x, median(ys), len(ys)) for x, ys in groups.items()]


def robust_line(points: Iterable[tuple[float, float]], *, proportional: bool = False) -> Line:
    """Fit the least-squares line through the median y of each x, weighted by its number of `points`
    (x, y); medians because interruptions of the machine are outliers. Raises ValueError without
    points."""
    return line_through(medians(points), proportional=proportional)


def line_through(
    found: Sequence[Median], *, proportional: bool = False, rising: bool = True
) -> Line:
    """Fit the least-squares line through medians, each weighted by its number of points. `rising`:
    the slope is not negative, nor y at 0; otherwise no y between the points is below the lowest of
    the medians. With a single x, y is constant, or `proportional` to x. Raises ValueError without
    medians."""
    if not found:
        raise ValueError("a line needs points")
    known = [each for each in found if each[2] >= FEW] or found
    weight = sum(n for _, _, n in known)
    mean_x = sum(n * x for x, _, n in known) / weight
    mean_y = sum(n * y for _, y, n in known) / weight
    steepest = mean_y / mean_x if mean_x else 0.0
    spread = sum(n * (x - mean_x) ** 2 for x, _, n in known)
    if spread:
        slope = sum(n * (x - mean_x) * (y - mean_y) for x, y, n in known) / spread
    else:
        slope = steepest if proportional else 0.0
    if rising:
        slope = min(max(slope, 0.0), steepest)
    elif spread:
        above = mean_y - min(y for _, y, _ in known)
        left, right = (mean_x - edge(x for x, _, _ in known) for edge in (min, max))
        slope = min(max(slope, above / right), above / left)
    return Line(mean_y - slope * mean_x, slope)
