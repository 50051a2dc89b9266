"""Filters everything that is drawn: text from models, files and users must not contain control
sequences."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from app.text.terminal_text import drawable


class DrawnText(LineFilter):
    """Textual applies this to every line of every widget. Lines keep their width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(drawable(text), style, control) for text, style, control in segments]
