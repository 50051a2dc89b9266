"""Wraps a text that grows token by token.

The wrapper processes single characters, so that wrapping a stream gives the same lines as wrapping
the whole text.
Widths are Rich's (`cell_len`), because Rich measures again when the lines are drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from rich.cells import cell_len, get_character_cell_size

ZERO_WIDTH_JOINER = "\u200d"


class TokenStyle(StrEnum):
    """How a span of text is drawn; each has a component class of the token view."""

    TEXT = "text"
    ACCEPTED = "accepted"
    BONUS = "bonus"
    REJECTED = "rejected"
    DROPPED = "dropped"
    PROMPT = "prompt"
    NOTE = "note"
    ERROR = "error"
    MARK = "mark"  # a setting changed here
    GLYPH = "glyph"  # around a group of tokens
    STEP0 = "step0"  # the steps of a scale
    STEP1 = "step1"
    STEP2 = "step2"
    STEP3 = "step3"
    STEP4 = "step4"
    TINT = "tint"  # of every second round


@dataclass(frozen=True, slots=True)
class Line:
    """Runs of one style each. `hard`: the text has a line break here (not in the runs). Spaces that
    do not fit hang over the right edge, as in editors: they are in the runs but not in `cells`.
    `start` is the offset of its first character.
    """

    runs: tuple[tuple[str, TokenStyle], ...]
    cells: int
    hard: bool
    start: int

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.runs)


@dataclass(slots=True)
class Cluster:
    """A character with its combining marks, which takes one or two cells."""

    text: str
    style: TokenStyle
    cells: int  # 0 also for a space that hangs over the edge

    @property
    def joins_next(self) -> bool:
        """A joiner takes the next character, even another joiner: only an odd number joins."""
        joiners = len(self.text) - len(self.text.rstrip(ZERO_WIDTH_JOINER))
        return joiners % 2 == 1


@dataclass(slots=True)
class Wrapper:
    """Closed lines never change; the open line is the last one."""

    width: int
    closed: list[Line] = field(default_factory=list)
    fed: int = 0  # characters so far
    _start: int = 0  # of the open line
    _open: list[Cluster] = field(default_factory=list)
    _cells: int = 0
    _break_at: int = 0  # the last index where the open line may be broken; 0: nowhere

    def __post_init__(self) -> None:
        self.width = max(2, self.width)  # a wide character needs two cells

    def __len__(self) -> int:
        return len(self.closed) + 1

    def __getitem__(self, index: int) -> Line:
        return self.closed[index] if index < len(self.closed) else self.open_line

    @property
    def open_line(self) -> Line:
        return Line(merged(self._open), self._cells, False, self._start)

    def line_at(self, offset: int) -> int:
        """Return the line that has character number `offset`."""
        if offset >= self._start:
            return len(self.closed)
        return bisect_right(self.closed, offset, key=attrgetter("start")) - 1

    def feed(self, text: str, style: TokenStyle) -> None:
        self.fed += len(text)
        for char in text:
            if char == "\n":
                self._close(len(self._open), hard=True)
                continue
            cells = get_character_cell_size(char)
            if self._open and (cells == 0 or self._open[-1].joins_next):
                self._extend(char)
            else:
                self._add(Cluster(char, style, cells))

    def cut(self, offset: int) -> None:
        """Forget the characters from number `offset` on, with which a line begins."""
        del self.closed[self.line_at(offset) :]
        self.fed = self._start = offset
        self._open = []
        self._cells = self._break_at = 0

    def _add(self, cluster: Cluster) -> None:
        line = self._open
        if cluster.text == " ":
            if self._cells + 1 > self.width:
                cluster.cells = 0
            line.append(cluster)
            self._cells += cluster.cells
            self._break_at = len(line)
            return
        wide = cluster.cells > 1  # Chinese and Japanese may be broken at every character
        if wide:
            self._break_at = len(line)
        while line and self._cells + cluster.cells > self.width:
            self._close(self._break_at or len(line), hard=False)
            line = self._open
        line.append(cluster)
        self._cells += cluster.cells
        if wide:
            self._break_at = len(line)

    def _extend(self, char: str) -> None:
        """A mark joins the last cluster, which may become wider and then move to a new line."""
        last = self._open[-1]
        text = last.text + char
        cells = cell_len(text)
        if cells <= last.cells:
            last.text = text
            return
        self._open.pop()
        self._cells -= last.cells
        self._break_at = min(self._break_at, len(self._open))
        self._add(Cluster(text, last.style, cells))

    def _close(self, at: int, *, hard: bool) -> None:
        head, tail = self._open[:at], self._open[at:]
        line = Line(merged(head), sum(c.cells for c in head), hard, self._start)
        self.closed.append(line)
        self._start += sum(len(c.text) for c in head) + hard
        self._open = tail
        self._cells = sum(c.cells for c in tail)
        self._break_at = 0


def merged(clusters: list[Cluster]) -> tuple[tuple[str, TokenStyle], ...]:
    """Neighbours of one style become one run: fewer segments to draw."""
    runs: list[tuple[str, TokenStyle]] = []
    start = 0
    for index in range(1, len(clusters) + 1):
        if index == len(clusters) or clusters[index].style is not clusters[start].style:
            text = "".join(cluster.text for cluster in clusters[start:index])
            runs.append((text, clusters[start].style))
            start = index
    return tuple(runs)
