"""What a round costs: the one model behind gamma "auto", tree sizes and the forecast.

    seconds = d(levels drafted) + v(nodes verified) + r

d is a line, v a measured curve or a line through past passes, r the overhead of a round: the rest
of its time. Of several draft lengths or trees the one with the largest tau / seconds is chosen,
where tau is the expected number of tokens that a round emits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from decoding.cost.curve import Line, Median, line_through, medians
from decoding.round import Round

Cost = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class CostModel:
    """The cost of a round in seconds: `draft` by levels, `verify` by nodes (root included), and the
    `overhead`."""

    draft: Line
    verify: Cost
    overhead: float = 0.0

    def seconds(self, levels: float, nodes: float, drafting: float = 1.0) -> float:
        """Return the mean time of a round, if the share `drafting` of the rounds drafts
        anything."""
        draft = drafting * self.draft.start + levels * self.draft.slope
        return draft + self.verify(nodes) + self.overhead


def overhead_seconds(record: Round) -> float:
    """Return the time of a round that is neither drafting nor verifying."""
    return record.total_seconds - record.draft_seconds - record.verify_seconds


def fit_verify(passes: Iterable[tuple[float, float]], measured: Cost | None) -> Cost:
    """Fit v(nodes) to the `passes` (nodes, seconds), as `verify_through` does to medians."""
    return verify_through(medians(passes), measured)


def verify_through(passes: Sequence[Median], measured: Cost | None) -> Cost:
    """Fit v(nodes) to medians of passes by nodes: the `measured` curve, corrected by what passes of
    about the same size took; the line through these without a measurement."""
    if measured is None:
        return line_through(passes)
    known = cache(measured)
    ratio = line_through([(n, took / known(n), count) for n, took, count in passes], rising=False)
    smallest, largest = min(n for n, _, _ in passes), max(n for n, _, _ in passes)
    return cache(lambda nodes: known(nodes) * ratio(min(max(nodes, smallest), largest)))
