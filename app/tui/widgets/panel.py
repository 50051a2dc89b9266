"""A panel below the lanes: a closer look at the lane in focus."""

from __future__ import annotations

from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from app.tui.state.app_state import AppState
from app.tui.widgets.split_line import SplitLine

EDGES = 2  # rows
LEAST_ROWS = 6  # inside: with fewer it would grow as soon as there is anything to show


class Panel(Vertical):
    """Edges are rows of their own: a line above with the title, one below with a summary. Where it
    is narrow or low a panel takes the place of the lanes. `NEEDS_PROBABILITIES`: it wants to know
    probabilities, which cost time, so lanes are asked for them only while it is open. For its time
    too, what is inside is mounted when the panel is first on the screen."""

    ALLOW_MAXIMIZE = False
    NEEDS_PROBABILITIES = False

    class Filled(Message):
        """What is inside has been mounted."""

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self.columns = 0  # that it has or will have
        self._unmounted: list[Widget] = []
        self.top = SplitLine(ends=("╭", "╮"), fill="─")
        self.bottom = SplitLine(ends=("╰", "╯"), fill="─")
        self.top.add_class("edge")
        self.bottom.add_class("edge")

    async def mount_composed_widgets(self, widgets: list[Widget]) -> None:
        self._unmounted = widgets

    async def on_show(self) -> None:
        if self._unmounted:
            await self.mount_all(self._unmounted)
            self._unmounted = []
            self.post_message(self.Filled())

    @property
    def wanted_rows(self) -> int:
        """As many as it has a use for, so far as that is known before it is drawn again."""
        return EDGES + self.content_rows

    @property
    def content_rows(self) -> int:
        raise NotImplementedError

    @property
    def inside(self) -> Widget:
        """The widget that gets the focus."""
        raise NotImplementedError

    def show(self, state: AppState, name: str) -> None:
        """Show the lane `name`."""
        raise NotImplementedError


def rows_of(scroll: Widget) -> int:
    """As many as what is in it takes up."""
    children = (child for child in scroll.children if child.display)
    return max((child.virtual_region_with_margin.bottom for child in children), default=0)
