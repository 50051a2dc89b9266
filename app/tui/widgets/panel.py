"""The base of the panels below the lanes, which show details of the lane in focus."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from app.tui.format.parts import Part
from app.tui.state.app_state import AppState
from app.tui.widgets.split_line import SplitLine

EDGES = 2  # rows
MIN_ROWS = 6  # inside; otherwise it would grow with the first content


class Panel(Vertical):
    """The edges are separate rows: a line above with the title, one below with a summary. On a
    narrow or low screen a panel replaces the lanes. `NEEDS_PROBABILITIES`: lanes record
    probabilities while it is open. `NEEDS_DRAFTS`: it is empty for lanes that don't draft.
    `HOLDS_LIST`: it gets the focus when it is opened, for the list's keys. To save time, the
    contents are mounted when the panel is first shown."""

    ALLOW_MAXIMIZE = False
    NEEDS_PROBABILITIES = False
    NEEDS_DRAFTS = False
    HOLDS_LIST = False

    class Filled(Message):
        """The contents have been mounted."""

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self.columns = 0  # its width, also before it is laid out
        self._unmounted: list[Widget] = []
        self.top = SplitLine(ends=("╭", "╮"), fill="─", classes="edge")
        self.bottom = SplitLine(ends=("╰", "╯"), fill="─", classes="edge")

    def compose(self) -> ComposeResult:
        yield self.top
        yield self.inside
        yield self.bottom

    async def mount_composed_widgets(self, widgets: list[Widget]) -> None:
        self._unmounted = widgets

    async def on_show(self) -> None:
        if self._unmounted:
            await self.mount_all(self._unmounted)
            self._unmounted = []
            self.post_message(self.Filled())

    @property
    def wanted_rows(self) -> int:
        """The number of rows that it can use, as far as known before it is drawn."""
        return EDGES + self.content_rows

    @property
    def content_rows(self) -> int:
        return max(MIN_ROWS, rows_of(self.inside))

    @property
    def inside(self) -> Widget:
        """The widget that gets the focus."""
        raise NotImplementedError

    def show(self, state: AppState, name: str) -> None:
        """Show the lane `name`."""
        raise NotImplementedError


def title_of(panel: str, lane: str) -> list[Part]:
    """Return the beginning of a title: what is shown, and of which lane."""
    return [Part(f"{panel} ·", "bold $primary", 1), Part(lane, "bold $foreground")]


def rows_of(scroll: Widget) -> int:
    """Return the number of rows of its contents."""
    children = (child for child in scroll.children if child.display)
    return max((child.virtual_region_with_margin.bottom for child in children), default=0)
