"""Divides the screen's height among the lanes and the open panels below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.containers import Vertical
from textual.message import Message

from app.tui.state.app_state import AppState
from app.tui.widgets.lane_grid import grid_rows
from app.tui.widgets.panel import Panel

PANE_ROWS = 5  # the minimum: two edges and three lines of text
PANEL_SHARE = 0.45  # the maximum share of the screen's rows
MIN_PANEL_ROWS = 8
TAB_ROWS = 1


# Whether a key, with its character, is written into the prompt
ConsumesKey = Callable[[str, str | None], bool]


class VerticalSpace(Vertical):
    class Resized(Message):
        """The size has changed."""

    def __init__(self, *, dom_id: str, consumes: ConsumesKey) -> None:
        super().__init__(id=dom_id)
        self._consumes = consumes
        self._most: dict[str, int] = {}  # most rows that each open panel has wanted so far

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        return self._consumes(key, character)

    def on_resize(self, event: events.Resize) -> None:
        self._most.clear()
        self.post_message(self.Resized())

    def allocate(self, state: AppState, panels: Sequence[Panel], alone: bool) -> bool:
        """Give the panels as many rows as leave enough for each pane, or all if they are `alone`.
        Returns whether the lanes need tabs, because there are too few rows."""
        row = self.query_one("#panels")
        row.display = bool(panels)
        if panels and alone:
            row.styles.height = None
            return True
        width, height = self.size
        opened = sum(lane.active for lane in state.lanes.values())
        needed = grid_rows(opened, width) * PANE_ROWS + len(state.lanes) - opened
        rows = self._wanted(panels)
        least = min(MIN_PANEL_ROWS, rows)
        crowded = 0 < height < needed + least
        wanted = min(round(PANEL_SHARE * self.screen.size.height), rows)
        spare = height - (TAB_ROWS + PANE_ROWS if crowded else needed)
        row.styles.height = max(min(wanted, spare), least)
        return crowded

    def _wanted(self, panels: Sequence[Panel]) -> int:
        """The wanted rows, never fewer than before while a panel is open, so that the layout does
        not change between lanes."""
        most = {str(panel.id): panel.wanted_rows for panel in panels}
        self._most = {name: max(rows, self._most.get(name, 0)) for name, rows in most.items()}
        return max(self._most.values(), default=0)
