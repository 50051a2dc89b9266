"""The tree panel: the draft tree of one round of the lane in focus, with the fate of each node."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget

from app.tui.format.pane_edges import LOSSY, why_off
from app.tui.format.parts import Part
from app.tui.format.round_labels import (
    BAR_CELLS,
    not_recorded,
    round_counts,
    round_times,
    round_total,
)
from app.tui.format.tree import tree_lines
from app.tui.state.app_state import AppState
from app.tui.state.growing import Same
from app.tui.state.lane_state import LaneState
from app.tui.widgets.panel import MIN_ROWS, Panel, title_of
from app.tui.widgets.split_line import SplitLine
from app.tui.widgets.tree_view import TreeView
from decoding.round import Round

NOTHING_YET = "No round yet: the trees appear with the answer."
DRAFTS_NOTHING = "This lane does not draft: Tab goes to one that does."
FROM_A_SERVER = "A server does not report what it drafted, at most how much of it was accepted."
TIGHT_SHARE = 4  # levels have two columns unless they take more than 1/4 of the width


class TreePanel(Panel):
    """Shows the newest round of a lane unless the user has gone back."""

    NEEDS_PROBABILITIES = True
    NEEDS_DRAFTS = True

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(dom_id=dom_id)
        self._facts = SplitLine(ends=("│", "│"), classes="edge")
        self.view = TreeView(dom_id="treeview")
        self._shown: tuple[object, ...] | None = None

    def compose(self) -> ComposeResult:
        yield self.top
        yield self._facts
        yield self.view
        yield self.bottom

    @property
    def content_rows(self) -> int:
        return max(MIN_ROWS, self.view.virtual_size.height + 1)

    @property
    def inside(self) -> Widget:
        return self.view

    def show(self, state: AppState, name: str) -> None:
        lane = state.lanes[name]
        record = lane.round_here
        title = title_of("Tree", state.label(name))
        right = []
        if record is not None:
            number = len(lane.round_events) if lane.round_index is None else lane.round_index + 1
            title.append(Part(f"· round {number} of {len(lane.round_events)}", "$foreground"))
            if record.lossy:
                right.append(LOSSY)
            if lane.round_index is None and state.moving(lane):
                right.append(Part("newest", "$quiet", 1))
        self.top.show(title, right)
        known = None if lane.strategy.remote else record
        self._facts.show(round_counts(known), round_total(known, BAR_CELLS))
        back, forth = (state.keys[each] for each in ("view.round_back", "view.round_forward"))
        arrows = "← → or " if self.view.has_focus else ""
        keys = [Part(f"{arrows}{back} {forth} round by round", "$quiet")] if record else []
        self.bottom.show(round_times(known), keys)
        self._draw(state, lane, record)

    def _draw(self, state: AppState, lane: LaneState, record: Round | None) -> None:
        """Draw the tree if it has changed."""
        width = self.columns
        unknown = not_recorded(state, lane) if record and record.drafted and not record.p else ""
        shown = (
            lane.info.name, lane.active, record and Same(record), len(lane.texts), unknown, width
        )  # fmt: skip
        if shown == self._shown:
            return
        self._shown = shown
        if record is None:
            off = why_off(lane, state.keys["view.toggle_here"])
            self.view.show([], NOTHING_YET if lane.active else off)
            return
        if lane.strategy.remote:
            self.view.show([], FROM_A_SERVER)
            return
        lines = tree_lines(
            record,
            lane.texts,
            model=lane.model,
            heads=lane.strategy.one_pass,
            tight=2 * record.shape.depth > width // TIGHT_SHARE,
        )
        self.view.show(lines, unknown if lane.strategy.drafts else DRAFTS_NOTHING)
