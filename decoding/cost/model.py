"""What a round costs: the one model behind gamma "auto", tree sizes and the forecast.

    seconds = d(levels drafted) + v(nodes verified) + r

d is a line, v a curve that was measured or a line through past passes, r all else in a round. Who
chooses a draft length or a tree estimates the tokens tau that a round emits with it, and takes the
one with the largest tau / seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from decoding.cost.curve import Line, robust_line
from decoding.round import Round

Cost = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class CostModel:
    """`draft` seconds by levels, `verify` seconds by nodes (root included), `rest` in seconds."""

    draft: Line
    verify: Cost
    rest: float = 0.0

    def seconds(self, levels: float, nodes: float, drafting: float = 1.0) -> float:
        """Of a round; or the mean of many, of which the share `drafting` drafts anything."""
        draft = drafting * self.draft.start + levels * self.draft.slope
        return draft + self.verify(nodes) + self.rest


def rest_seconds(record: Round) -> float:
    return record.total_seconds - record.draft_seconds - record.verify_seconds


def fit_verify(passes: Sequence[tuple[float, float]], measured: Cost | None) -> Cost:
    """v(nodes) from `passes` (nodes, seconds): what was `measured`, corrected by what passes of
    about that size took; without a measurement the line through them."""
    if measured is None:
        return robust_line(passes)
    known = cache(measured)
    ratio = robust_line(((n, seconds / known(n)) for n, seconds in passes), rising=False)
    smallest, largest = min(n for n, _ in passes), max(n for n, _ in passes)
    return cache(lambda nodes: known(nodes) * ratio(min(max(nodes, smallest), largest)))
