"""What stands between the screen and all text on it: no widget can send a terminal anything that it
would obey, whatever models, files or users have put into it."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from app.text.terminal_text import drawable


class DrawnText(LineFilter):
    """Textual applies it to every line of every widget. Lines keep their width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(drawable(text), style, control) for text, style, control in segments]
