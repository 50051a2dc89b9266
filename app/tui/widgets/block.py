"""A widget drawn for the available width."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

Drawing = Callable[[int], Content]  # in so many columns


class Block(Widget):
    """Its height is that of its drawing."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._draw: Drawing = lambda width: Content("")

    def show(self, draw: Drawing) -> None:
        self._draw = draw
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._draw(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self._draw(self.size.width)
