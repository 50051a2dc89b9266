"""A panel below the lanes: a closer look at the lane in focus."""

from __future__ import annotations

from textual.containers import Vertical
from textual.widget import Widget

from app.tui.state.app_state import AppState
from app.tui.widgets.split_line import SplitLine


class Panel(Vertical):
    """Edges are rows of their own: a line above with the title, one below with a summary. Where it
    is narrow or low a panel takes the place of the lanes. `NEEDS_PROBABILITIES`: it wants to know
    probabilities, which cost time, so lanes are asked for them only while it is open."""

    ALLOW_MAXIMIZE = False
    MAX_ROWS = 30  # however much room there is
    NEEDS_PROBABILITIES = False

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self.top = SplitLine(ends=("╭", "╮"), fill="─")
        self.bottom = SplitLine(ends=("╰", "╯"), fill="─")
        self.top.add_class("edge")
        self.bottom.add_class("edge")

    @property
    def wanted_rows(self) -> int:
        """As many as it has a use for."""
        return self.MAX_ROWS

    @property
    def inside(self) -> Widget:
        """The widget that gets the focus."""
        raise NotImplementedError

    def show(self, state: AppState, name: str) -> None:
        """Show the lane `name`."""
        raise NotImplementedError
