"""The pane of a lane: its text, with name and speed in the top edge and figures in the bottom
one."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from app.tui.format.pane_edges import folded, lane_metrics, lane_title, why_off
from app.tui.format.parts import Part
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState
from app.tui.state.scores import same_text
from app.tui.widgets.split_line import SplitLine
from app.tui.widgets.token_view import TokenView


class LanePane(Vertical):
    """Shows a lane's state; `folded` panes are one row."""

    ALLOW_MAXIMIZE = False

    @dataclass
    class RowClicked(Message):
        """The row of a folded pane was clicked: the user wants the lane on."""

        pane: LanePane

    @dataclass
    class EdgeClicked(Message):
        """An edge of a pane was clicked."""

        pane: LanePane

    def __init__(self, number: int, lane: LaneState) -> None:
        super().__init__()
        self.number = number
        self.name_of_lane = lane.info.name
        self.folded = not lane.active
        self._top = SplitLine(ends=("╭", "╮"), fill="─", classes="edge")
        self._row = SplitLine(classes="row")
        self.view = TokenView()
        self._bottom = SplitLine(ends=("╰", "╯"), fill="─", classes="edge")

    def compose(self) -> ComposeResult:
        yield self._row
        yield self._top
        yield self.view
        yield self._bottom

    def on_click(self, event: events.Click) -> None:
        if self.folded:
            self.post_message(self.RowClicked(self))
        elif event.widget is not self.view:
            self.view.focus(scroll_visible=False)
            self.post_message(self.EdgeClicked(self))

    @property
    def visible_text(self) -> bool:
        """Whether the pane's text is on the screen."""
        return self.display and not self.folded

    def fold(self, folded: bool) -> None:
        self.folded = folded
        self.set_class(folded, "-folded")

    def show(self, state: AppState) -> None:
        lane, here = state.lanes[self.name_of_lane], state.keys["view.toggle_here"]
        self.set_class(not lane.active, "-off")
        to_it = state.keys.get(f"view.lane{self.number}")
        self._row.show(folded(self.number, lane, f"{to_it} then {here}" if to_it else here))
        self._top.show(*lane_title(state, self.number, lane))
        if lane.active:
            again = Part(f"✗ ended: {state.keys['run.again']} restarts it", "bold $error")
            metrics = lane_metrics(lane, same_text(state, lane))
            self._bottom.show(metrics, [again] if state.gone else ())
        else:  # seen with tabs
            self._bottom.show([Part(why_off(lane, here))])
