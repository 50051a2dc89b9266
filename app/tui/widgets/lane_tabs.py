"""One row of tabs, a tab for each lane; a click goes to it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from app.tui.labels import MARKS
from app.tui.state import AppState
from app.tui.widgets.clickable_row import ClickableRow, Label


class LaneTabs(ClickableRow):
    @dataclass
    class Chosen(Message):
        number: int

    def show(self, state: AppState, current: int) -> None:
        self._current = str(current)
        labels = []
        for number, (name, lane) in enumerate(state.lanes.items(), 1):
            style = "bold reverse" if number == current else "" if lane.active else "$quiet strike"
            mark = MARKS[lane.phase]
            text = f"{number} {name} {mark}".rstrip()
            labels.append(Label(Content.assemble(" ", (text, style), " "), str(number)))
        self.set_labels(labels)

    def labels(self, width: int) -> list[Label]:
        """Where not all fit, only the current tab is written out."""
        if sum(label.content.cell_length for label in self._labels) <= width:
            return self._labels
        return [
            label
            if label.value == self._current
            else Label(Content(f" {label.value} "), label.value)
            for label in self._labels
        ]

    def chosen(self, value: str) -> None:
        self.post_message(self.Chosen(int(value)))
