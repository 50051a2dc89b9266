"""The space of the lanes and of the panel that is open below them."""

from __future__ import annotations

from textual import events
from textual.containers import Vertical
from textual.message import Message

from app.tui.state.app_state import AppState
from app.tui.widgets.lane_grid import grid_rows
from app.tui.widgets.panel import Panel

PANE_ROWS = 5  # two edges and three lines of text: with fewer a pane says nothing
PANEL_SHARE = 0.45  # of the screen's rows, at most
MIN_PANEL_ROWS = 8
TAB_ROWS = 1


class VerticalSpace(Vertical):
    class Resized(Message):
        """The space has another size."""

    def on_resize(self, event: events.Resize) -> None:
        self.post_message(self.Resized())

    def allocate(self, state: AppState, panel: Panel | None, alone: bool) -> bool:
        """Give the panel as many rows as leave enough to each pane, or all of them if it stands
        `alone`; whether the lanes need tabs, as there are too few rows for them."""
        if panel and alone:
            panel.styles.height = None
            return True
        width, height = self.size
        opened = sum(lane.active for lane in state.lanes.values())
        needed = grid_rows(opened, width) * PANE_ROWS + len(state.lanes) - opened
        least = min(MIN_PANEL_ROWS, panel.wanted_rows) if panel else 0
        crowded = 0 < height < needed + least
        if panel:
            wanted = min(round(PANEL_SHARE * self.screen.size.height), panel.wanted_rows)
            spare = height - (TAB_ROWS + PANE_ROWS if crowded else needed)
            panel.styles.height = max(min(wanted, spare), least)
        return crowded
