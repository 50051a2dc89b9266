"""A scroll bar in place of a pane's right border: a thin line with a thick thumb."""

from __future__ import annotations

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.containers import VerticalScroll
from textual.scrollbar import ScrollBarRender


class EdgeScrollBarRender(ScrollBarRender):
    """Costs no column: it replaces the border."""

    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Color = Color.parse("#555555"),  # noqa: B008 - the signature of the base
        bar_color: Color = Color.parse("bright_magenta"),  # noqa: B008
    ) -> Segments:
        if not (window_size and virtual_size > window_size):
            edge = Segment("│", Style(color=bar_color, bgcolor=back_color))
            return Segments([edge] * size, new_lines=True)
        length = max(1, round(size * window_size / virtual_size))
        start = round((size - length) * position / (virtual_size - window_size))

        def part(text: str, action: str) -> Segment:
            meta = {"@mouse.down": action}
            return Segment(text, Style(color=bar_color, bgcolor=back_color, meta=meta))

        return Segments(
            [part("│", "scroll_up")] * start
            + [part("┃", "grab")] * length
            + [part("│", "scroll_down")] * (size - start - length),
            new_lines=True,
        )


class EdgeScroll(VerticalScroll):
    """The contents of a panel, with that scroll bar."""

    def on_mount(self) -> None:
        self.vertical_scrollbar.renderer = EdgeScrollBarRender  # type: ignore[misc]
