"""A tab for each lane; a click shows it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from app.tui.format.pane_edges import phase_mark
from app.tui.state.app_state import AppState
from app.tui.themes import lane_color
from app.tui.widgets.clickable_row import ClickableRow, Label


class LaneTabs(ClickableRow):
    @dataclass
    class Chosen(Message):
        number: int

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(dom_id=dom_id)
        self._forms: list[list[Label]] = [[]]  # from the longest to the shortest

    def show(self, state: AppState, current: int) -> None:
        self._forms = [[], [], [], [], []]
        for number, (name, lane) in enumerate(state.lanes.items(), 1):
            style = lane_color(number) if lane.active else "$quiet strike"
            style = f"bold reverse {style}" if number == current else style
            mark = phase_mark(state, lane)
            full = f"{number} {name} {mark}".rstrip()
            speed = lane.metrics.tokens_per_second if lane.metrics else None
            speed_label = f" {speed:.0f}" if speed is not None else ""
            if number == current:
                speed_label += " tok/s" if speed_label else ""
                forms = (full + speed_label, full + speed_label, full, full, full)
            else:
                marked = f"{number}{mark}"
                forms = (full + speed_label, marked + speed_label, full, marked, str(number))
            for form, text in zip(self._forms, forms, strict=True):
                form.append(Label(Content.assemble(" ", (text, style), " "), str(number)))
        self.set_labels(self._forms[0])

    def labels(self, width: int) -> list[Label]:
        """Return the longest form that fits: names and speeds; then only the current tab's name;
        names without speeds; only the current tab's name, with marks; the others as bare
        numbers."""
        for form in self._forms:
            if sum(label.content.cell_length for label in form) <= width:
                return form
        return self._forms[-1]

    def chosen(self, value: str) -> None:
        self.post_message(self.Chosen(int(value)))
