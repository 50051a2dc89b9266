"""Boxes with the keys that apply in their lower edge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rich.cells import cell_len
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget

CORNERS_CELLS = 6  # of the edge, beside the keys
BETWEEN = " · "


class KeyedEdge(Widget):
    """Keys for which the edge is too narrow are left out, the last ones first, but never all. With
    a heading they stand behind that, as far as there is room."""

    heading = ""
    _keys: Sequence[str] = ()

    def show_keys(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._fit_keys()

    def on_resize(self) -> None:
        self._fit_keys()

    def _fit_keys(self) -> None:
        width = self.outer_size.width or self.app.size.width  # before it is laid out
        room = width - CORNERS_CELLS
        count = max(1, fitting(self._keys, room))
        self.border_subtitle = Content(BETWEEN.join(self._keys[:count]))
        if self.heading:
            above = [self.heading, *self._keys[count:]]
            self.border_title = Content(BETWEEN.join(above[: max(1, fitting(above, room))]))


def fitting(parts: Sequence[str], room: int) -> int:
    """Return how many of the parts have room in so many cells, with what is between them."""
    ends = accumulate(cell_len(part) + len(BETWEEN) for part in parts)
    return sum(end <= room + len(BETWEEN) for end in ends)


class KeyedBox(Vertical, KeyedEdge):
    pass


class KeyedScroll(VerticalScroll, KeyedEdge):
    pass
