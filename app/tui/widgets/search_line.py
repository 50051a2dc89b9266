"""The input line of a search."""

from __future__ import annotations

from textual.binding import Binding
from textual.widgets import Input


class SearchLine(Input):
    """Hidden unless the user is typing a search."""

    BINDINGS = [
        Binding("enter", "submit", "Find", id="search.find",
                tooltip="To the first match; n or Enter goes to the next, N to the previous"),
        Binding("escape", "screen.end_search", "Close", id="search.close",
                tooltip="Back to the lane, and clear the marks"),
    ]  # fmt: skip

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id, compact=True, placeholder="Find in the text of this lane")
        self.display = False
