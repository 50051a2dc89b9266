"""The list of recorded conversations: reopen, rename, delete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.binding import Binding
from textual.content import Content

from app.history.store import Entry, Store
from app.text.plural import pluralize
from app.text.terminal_text import shortened
from app.tui.screens.saved_list import SavedList

TITLE_CHARACTERS = 60
NARROW_CELLS = 60  # of the terminal


class ConversationsScreen(SavedList[Entry, Path]):
    """Returns the file of the chosen conversation. `open_now` is marked; `rename` and `delete`
    change one, or raise InputError; `undo` is the key that undoes that."""

    HEADING = "Conversations"
    ENTER = "opens"
    BINDINGS = [
        Binding("escape,f3", "leave", "Close", id="conversations.close",
                tooltip="Close without choosing"),
        Binding("slash,ctrl+f", "filter", "Filter", id="conversations.filter",
                tooltip="Show only entries with some words"),
        Binding("r", "rename", "Rename", id="conversations.rename",
                tooltip="Rename it"),
        Binding("d,delete", "delete", "Delete", id="conversations.delete",
                tooltip="Delete it; asks first"),
    ]  # fmt: skip

    def __init__(
        self,
        store: Store,
        open_now: Path | None,
        rename: Callable[[Entry, str], None],
        delete: Callable[[Entry], None],
        undo: str,
    ) -> None:
        super().__init__(undo)
        self._store, self._open_now = store, open_now
        self._rename, self._delete = rename, delete

    def entries(self) -> list[Entry]:
        return self._store.entries()

    def line(self, entry: Entry) -> Content:
        turns = f"{pluralize(entry.turns, 'turn'):<8}  "
        when = f"{entry.changed:%Y-%m-%d %H:%M}"
        if self.app.size.width < NARROW_CELLS:  # or there is no room for titles
            turns, when = "", f"{entry.changed:%m-%d %H:%M}"
        mark = "▸" if entry.path == self._open_now else " "
        return Content(f"{when} {mark} {turns}{shortened(entry.title, TITLE_CHARACTERS)}")

    def name_of(self, entry: Entry) -> str:
        return entry.title

    def result(self, entry: Entry) -> Path:
        return entry.path

    def rename(self, entry: Entry, name: str) -> None:
        self._rename(entry, name)

    def delete(self, entry: Entry) -> None:
        self._delete(entry)
