"""Formats a lane's metrics: acceptance, time, speed, memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Self

from textual.content import Content

from app.engine.events import Memory
from app.text.plural import pluralize
from app.text.units import format_bytes
from app.tui.format.bars import TIME_GLYPHS, bar, shares, time_bar
from app.tui.format.numbers import percent, seconds
from app.tui.format.round_labels import pass_name
from decoding.round import Round
from decoding.stats import PathEnd, Position, Stats, path_end

AXIS_CELLS = 6  # narrower plots have no axis
WINDOW = 8  # rounds in a moving average


def accepted_lines(histogram: Sequence[int], drafted: int, width: int) -> Content:
    """Return how many rounds had 0, 1, 2, ... accepted tokens; `drafted`: how many tokens all of
    them drafted, of which a tree has several a level. There must be a round."""
    top, rounds = max(histogram), sum(histogram)
    cells = max(4, width - 14)
    heading = "accepted in a round"
    more = f"{heading}, of {drafted / rounds:.1f} drafted on average"
    rows = [_heading(more if len(more) <= width else heading)]
    for length, count in enumerate(histogram):
        rows.append(
            Content.assemble(
                (f"{length:2} ", "$foreground"),
                (bar(count / top, cells), "$accepted"),
                (f" {count:4}", "$foreground"),
                (f" {percent(count / rounds)}", "$quiet"),
            )
        )
    return Content("\n").join(rows)


def position_lines(positions: Sequence[Position], over: int | None, width: int) -> Content:
    """Conditional and unconditional acceptance at each draft position, side by side, each on an
    axis from 0 to 1; ± is about the 95% interval of the unconditional one. `over`: the number of
    rounds, if they are the session's and not only the last answer's."""
    cells = max(3, (width - 29) // 2)
    column = cells + 5
    given, at_all = "α if reached", "α at all"
    rows = [_heading(f"pos {given:<{column}}  {at_all:<{column + 5}} tested")]
    if over is not None:
        rows.insert(0, _heading(f"by position, over {over} rounds of the session"))
    for number, position in enumerate(positions, 1):
        conditional, unconditional = position.conditional, position.unconditional
        error = "" if unconditional is None else f"±{margin(position):.0%}"
        rows.append(
            Content.assemble(
                (f"{number:3} ", "$foreground"),
                (bar(conditional or 0.0, cells), "$accepted"),
                (f" {percent(conditional)}  ", "$foreground"),
                (bar(unconditional or 0.0, cells), "$primary"),
                (f" {percent(unconditional)}", "$foreground"),
                (f" {error:<5}{position.tested:6}", "$quiet"),
            )
        )
    if positions and cells >= AXIS_CELLS:
        axis = f"0{'1':>{cells - 1}}"
        rows.append(_heading(f"    {axis:<{column}}  {axis}"))
    return Content("\n").join(rows)


def margin(position: Position) -> float:
    """Half of the 95% interval of how many rounds accept this position, which is not 0 where all
    did so far (Agresti and Coull, 1998)."""
    rounds = position.rounds + 4
    rate = (position.accepted + 2) / rounds
    return 2 * sqrt(rate * (1 - rate) / rounds)


def time_lines(stats: Stats, drafts: bool, width: int) -> Content:
    """Return the parts of a mean round's time. `drafts`: the lane has a drafter. There must be a
    round."""
    parts = {
        "draft": stats.draft_seconds / stats.passes * drafts,
        pass_name(stats.drafted): stats.verify_seconds / stats.passes,
        "accept": stats.accept_seconds / stats.passes,
    }
    total = stats.decode_seconds / stats.passes
    parts["other"] = max(total - sum(parts.values()), 0.0)
    percents = shares(tuple(parts.values()), 100)
    named = [
        f"{glyph} {name} {seconds(value)} {share}%"
        for glyph, (name, value), share in zip(TIME_GLYPHS, parts.items(), percents, strict=True)
        if value
    ]
    rows = [
        _heading(f"a round takes {seconds(total)}"),
        Content.styled(time_bar(tuple(parts.values()), width, TIME_GLYPHS), "$primary"),
        *(Content(row) for row in flow(named, "   ", width)),
    ]
    return Content("\n").join(rows)


def flow(items: Sequence[str], between: str, width: int) -> list[str]:
    """Return the items in rows, as many in each as fit."""
    rows: list[str] = []
    for item in items:
        if rows and len(rows[-1] + between + item) <= width:
            rows[-1] += between + item
        else:
            rows.append(item)
    return rows


@dataclass(slots=True)
class Course:
    """A figure along the answer, as a moving average over `WINDOW` rounds: its points, the first of
    the first `WINDOW` rounds or of all that there are so far, with the least and the greatest."""

    points: list[float] = field(default_factory=list)
    low: float = inf
    high: float = -inf

    def add(self, value: float, first: bool) -> None:
        """Add a point; `first`: in place of the one that there may be."""
        if first:
            self.points, self.low, self.high = [], inf, -inf
        self.points.append(value)
        self.low, self.high = min(self.low, value), max(self.high, value)


@dataclass(slots=True)
class Figures:
    """What an answer's rounds add up to: their sums, the lengths of their paths, and the course of
    tokens per pass and per second."""

    stats: Stats = field(default_factory=Stats)
    deepest: int = 0  # accepted or drafted levels of a round
    ends: Counter[PathEnd] = field(default_factory=Counter)
    taus: Course = field(default_factory=Course)
    speeds: Course = field(default_factory=Course)
    newest: deque[Round] = field(default_factory=lambda: deque(maxlen=WINDOW))

    @classmethod
    def of(cls, rounds: Iterable[Round]) -> Self:
        found = cls()
        for record in rounds:
            found.add(record)
        return found

    def add(self, record: Round) -> None:
        self.stats.add(record)
        self.ends[path_end(record)] += 1
        self.deepest = max(self.deepest, len(record.accepted), record.shape.depth)
        self.newest.append(record)
        emitted = sum(len(each.emitted) for each in self.newest)
        spent = sum(each.total_seconds for each in self.newest)
        first = self.stats.passes <= WINDOW
        self.taus.add(emitted / len(self.newest), first)
        self.speeds.add(emitted / spent if spent else 0.0, first)

    @property
    def histogram(self) -> list[int]:
        """[i]: rounds with i accepted tokens, as far as anything was drafted."""
        known = self.stats.histogram
        return known + [0] * (self.deepest + 1 - len(known))


def range_line(name: str, course: Course, rounds: int, decimals: int) -> Content:
    low, high = (f"{value:.{decimals}f}" for value in (course.low, course.high))
    between = low if low == high else f"{low} to {high}"
    window = min(WINDOW, rounds)
    each = f"{pluralize(window, 'round')} per point"
    return _heading(f"{name} {between}, {each}")


def memory_lines(
    memory: Memory | None, weights: Mapping[str, int], lane: str, width: int
) -> Content:
    """Memory of the process, the models, and the lane's keys and values."""
    if memory is None:
        return Content("")
    used = f"memory: process {format_bytes(memory.process)}"
    if memory.device is not None:
        used += f", GPU {format_bytes(memory.device)}"
    models = [f"{name} {format_bytes(count)}" for name, count in weights.items()]
    caches = [f"this lane {format_bytes(memory.caches[lane])}"] if lane in memory.caches else []
    caches.append(f"all lanes {format_bytes(sum(memory.caches.values()))}")
    rows = flow(["weights:", *models], "  ", width) + flow(["keys, values:", *caches], "  ", width)
    return Content("\n").join([_heading(used), *map(Content, rows)])


def _heading(text: str) -> Content:
    return Content.styled(text, "$quiet")
