"""One row with a left and a right side; parts that do not fit are left out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from app.tui.format.glossary import explain
from app.tui.format.parts import Part

ROWS_FOR_THREE = 18  # of the screen, below which a notice has two rows at most


class SplitLine(Widget):
    """Redraws only if its parts have changed."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "SplitLine { height: 1; }"

    def __init__(
        self,
        *,
        ends: tuple[str, str] = ("", ""),
        fill: str = " ",
        dom_id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=dom_id, classes=classes)
        self._ends = ends
        self._fill = fill
        self._left: tuple[Part, ...] = ()
        self._right: tuple[Part, ...] = ()

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        sides = tuple(left), tuple(right)
        if sides != (self._left, self._right):
            self._left, self._right = sides
            self.refresh()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Explain the figure under the mouse."""
        part = self.part_at(event.x)
        text = explain(part.text) if part else None
        self.tooltip = None if text is None else Content(text)

    def part_at(self, x: int) -> Part | None:
        room = self._room
        left, right = fitting(self._left, self._right, room)
        start = len(self._ends[0])
        for parts, left_edge in ((left, start), (right, start + room - joined(right).cell_length)):
            for part in parts:
                left_edge += 1  # the space before it
                if left_edge <= x < left_edge + cell_len(part.text):
                    return part
                left_edge += cell_len(part.text)
        return None

    @property
    def _room(self) -> int:
        return self.size.width - sum(map(len, self._ends))

    def render(self) -> Content:
        left, right = fitting(self._left, self._right, self._room)
        return self._one_row(left, right, self._room)

    def _one_row(self, left: Sequence[Part], right: Sequence[Part], room: int) -> Content:
        head, tail = joined(left), joined(right)
        head = head.truncate(max(0, room - tail.cell_length), ellipsis=True)
        tail = tail.truncate(room)
        gap = self._fill * (room - head.cell_length - tail.cell_length)
        return Content.assemble(self._ends[0], head, gap, tail, self._ends[1])


class StatusLine(SplitLine):
    """Gets a second row where one is too short for the left side, which mostly ends with what to
    do, or for both; a third for a left side that needs it, unless the screen is low."""

    DEFAULT_CSS = "StatusLine { height: auto; }"

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        height = len(self._rows(self._room))
        super().show(left, right)
        if height != len(self._rows(self._room)):
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(width))

    def render(self) -> Content:
        return Content("\n").join(self._rows(self._room))

    def _rows(self, room: int) -> list[Content]:
        """One row to three."""
        left, right = fitting(self._left, self._right, room)
        head, tail = joined(left), joined(right)
        if head.cell_length + tail.cell_length <= room:
            return [self._one_row(left, right, room)]
        if head.cell_length <= room:
            return [head, self._one_row((), right, room)]
        first, *rest = joined(self._left).wrap(max(room - 1, 2))
        more = 1 if self.screen.size.height < ROWS_FOR_THREE else 2
        parts = [[part] for part in rest[: more - 1]] + [rest[more - 1 :]]
        rows = (Content(" ").join([Content(""), *part]) for part in parts if part)
        return [first, *(row.truncate(room, ellipsis=True) for row in rows)]


def fitting(
    left: Sequence[Part], right: Sequence[Part], room: int
) -> tuple[list[Part], list[Part]]:
    """Drop the parts with the highest rank until both sides fit with a gap between them, and put
    those back that may stand alone and still fit."""
    parts = [*left, *right]

    def sides(kept: set[int]) -> tuple[list[Part], list[Part]]:
        there = [part for at, part in enumerate(left) if at in kept]
        if there:  # there is nothing left of it to be separated from
            there[0] = there[0]._replace(text=there[0].text.removeprefix("· "))
        return there, [part for at, part in enumerate(right, len(left)) if at in kept]

    def fit(kept: set[int]) -> bool:
        return sum(joined(side).cell_length for side in sides(kept)) + 1 <= room

    kept = set(range(len(parts)))
    while not fit(kept) and (worst := max((parts[at].rank for at in kept), default=0)):
        kept = {at for at in kept if parts[at].rank < worst}
    for at, part in sorted(enumerate(parts), key=lambda each: each[1].rank):
        if part.alone and fit({*kept, at}):
            kept.add(at)
    return sides(kept)


def joined(parts: Sequence[Part]) -> Content:
    """Return the parts with a space around each."""
    if not parts:
        return Content("")
    spaced: list[Content] = [Content(" ")]
    for part in parts:
        spaced += [Content.styled(part.text, part.style), Content(" ")]
    return Content.assemble(*spaced)
