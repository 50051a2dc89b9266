"""The list of kept conversations: reopen, rename, delete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from app.history.recorder import Recorder
from app.history.store import Entry
from app.tui.safe_text import shortened
from decoding.errors import InputError

TITLE_CHARACTERS = 60


class ConversationsScreen(ModalScreen[Path | None]):
    """Gives the file of the chosen conversation back, None when it was left. `leave` ends the
    current one, if that is possible now: only then it can be deleted."""

    BINDINGS = [
        Binding("escape,f3", "leave", "Close", id="conversations.close",
                tooltip="Back without a choice"),
        Binding("r", "rename", "Rename", id="conversations.rename",
                tooltip="Give it another name"),
        Binding("d,delete", "delete", "Delete", id="conversations.delete",
                tooltip="Delete it; asks once more"),
    ]  # fmt: skip

    def __init__(self, recorder: Recorder, leave: Callable[[], bool]) -> None:
        super().__init__()
        self._recorder, self._leave = recorder, leave
        self._entries: list[Entry] = []
        self._doomed: Path | None = None  # asked for once; the second time deletes it

    def compose(self) -> ComposeResult:
        with Vertical(id="conversations"):
            yield OptionList(id="kept")
            yield Input(id="name", compact=True, placeholder="Another name", max_length=200)

    def on_mount(self) -> None:
        self.query_one("#conversations").border_title = "Conversations"
        self._field.display = False
        self._fill()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _field(self) -> Input:
        return self.query_one(Input)

    @property
    def _here(self) -> Entry | None:
        place = self._list.highlighted
        return None if place is None or not self._entries else self._entries[place]

    def _fill(self, place: int = 0) -> None:
        self._entries = self._recorder.store.entries()
        self._list.clear_options()
        self._list.add_options([Option(described(entry)) for entry in self._entries])
        if self._entries:
            self._list.highlighted = min(place, len(self._entries) - 1)
        else:
            self._list.add_option(Option(Content("None yet"), disabled=True))
        self._say()

    def _say(self, text: str = "") -> None:
        keys = "Enter opens · r renames · d deletes · Esc closes" if self._entries else "Esc closes"
        self.query_one("#conversations").border_subtitle = Content(text or keys)

    @on(OptionList.OptionHighlighted)
    def look_elsewhere(self) -> None:
        self._doomed = None
        if not self._field.display:
            self._say()

    @on(OptionList.OptionSelected)
    def choose(self) -> None:
        if entry := self._here:
            self.dismiss(entry.path)

    def action_leave(self) -> None:
        if self._field.display:
            self._close_name()
        else:
            self.dismiss(None)

    def action_rename(self) -> None:
        if entry := self._here:
            self._field.value = entry.title
            self._field.display = True
            self._field.focus()
            self._say("Enter renames · Esc leaves the name as it is")

    @on(Input.Submitted)
    def rename(self, event: Input.Submitted) -> None:
        entry, name = self._here, " ".join(event.value.split())
        place = self._list.highlighted or 0
        self._close_name()
        if entry and name and self._tried(lambda: self._recorder.store.rename(entry.path, name)):
            self._fill(place)

    def _close_name(self) -> None:
        self._field.display = False
        self._list.focus()
        self._say()

    def action_delete(self) -> None:
        if not (entry := self._here):
            return
        if self._doomed != entry.path:
            self._doomed = entry.path
            self._say(f"d once more deletes “{shortened(entry.title, 30)}”")
            return
        place = self._list.highlighted or 0
        if entry.path == self._recorder.path and not self._leave():
            self._say("It is being answered")
        elif self._tried(lambda: self._recorder.store.delete(entry.path)):
            self._fill(place)

    def _tried(self, act: Callable[[], None]) -> bool:
        try:
            act()
        except OSError as error:
            self._say(str(error.strerror or error))
            return False
        except InputError as error:
            self._say(str(error))
            return False
        return True


def described(entry: Entry) -> Content:
    """A conversation in one line. Content, not str: a title may hold what looks like markup."""
    turns = f"{entry.turns} turn{'s' * (entry.turns != 1)}"
    when = f"{entry.changed:%Y-%m-%d %H:%M}"
    return Content(f"{when}  {turns:<8}  {shortened(entry.title, TITLE_CHARACTERS)}")
