"""A list of named, saved items: choose, rename, delete."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.text.terminal_text import shortened
from app.tui.background import run_in_background
from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Choices, Dialog
from app.tui.widgets.keyed_box import KeyedBox
from decoding.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
OF_OWN = ("delete", "rename")  # actions
NAME_CHARACTERS = 30  # in what is said of an entry


class Complaint(Static):
    """A note below a list, hidden while it is empty."""

    def show(self, text: str = "") -> None:
        self.update(text)
        self.display = bool(text)


class SavedList(Dialog[Result | None], Generic[Item, Result]):
    """Returns the chosen entry's result, or None. Methods of subclasses may raise InputError or
    OSError, which are shown in a line. `undo` is the key that brings back what was deleted."""

    HEADING: ClassVar[str]
    ENTER: ClassVar[str]  # what Enter does
    KEYS: ClassVar[dict[str, str]] = {
        "filter": "filters",
        "delete": "deletes",
        "rename": "renames",
    }  # by action

    def __init__(self, undo: str) -> None:
        super().__init__()
        self._undo = undo
        self._kept: list[Item] = []  # as they were read last
        self._unread = ""  # why they could not be read
        self._entries: list[Item] = []  # as they are listed
        self._words = ""  # only entries whose lines contain these are shown
        self._filtering = False  # the filter is being typed
        self._doomed: Item | None = None  # deleted if confirmed by the same key
        self._named: Callable[[str], None] = lambda name: None  # called with the typed name

    # What is kept

    problem = ""  # with the saved items, for a line below the list

    def entries(self) -> list[Item]:
        raise NotImplementedError

    def line(self, entry: Item) -> Content:
        """Content, not str: a name may hold what looks like markup."""
        raise NotImplementedError

    def name_of(self, entry: Item) -> str:
        raise NotImplementedError

    def result(self, entry: Item) -> Result:
        raise NotImplementedError

    def rename(self, entry: Item, name: str) -> None:
        raise NotImplementedError

    def delete(self, entry: Item) -> None:
        raise NotImplementedError

    def is_own(self, entry: Item) -> bool:
        """Return whether an entry can be renamed and deleted."""
        return True

    def require_own(self, entry: Item) -> None:
        if not self.is_own(entry):
            raise InputError(f"“{self.name_of(entry)}” is built in and can't be changed")

    def deleted_notice(self, entry: Item) -> str:
        back = f"{first_key(self, 'leave')}, then {self._undo} brings it back"
        return f"“{shortened(self.name_of(entry), NAME_CHARACTERS)}” is deleted: {back}"

    # The box

    def compose(self) -> ComposeResult:
        with KeyedBox(classes="kept"):
            yield Choices()
            yield Complaint(markup=False)
            yield Input(compact=True, placeholder="A name", max_length=200)

    async def on_mount(self) -> None:
        self.query_one(KeyedBox).heading = self.HEADING
        self._field.display = False
        self.say()
        await self.fill()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _field(self) -> Input:
        return self.query_one(Input)

    @property
    def here(self) -> Item | None:
        index = self._list.highlighted
        return None if index is None or not self._entries else self._entries[index]

    async def fill(self, name: str | None = None) -> None:
        """Show the present entries; the highlight moves to `name`, or stays at its position. Keys
        pressed while files are read act on the new list."""
        try:
            self._kept, self._unread = await run_in_background(self.entries), ""
        except OSError as error:
            self._unread = str(error)
        self._show_entries(name)

    def _show_entries(self, name: str | None = None) -> None:
        index = self._list.highlighted or 0
        self._entries = [each for each in self._kept if self._has_words(each)]
        self.query_one(Complaint).show(self._unread or self.problem)
        self._list.clear_options()
        self._list.add_options([Option(self.line(entry)) for entry in self._entries])
        names = [self.name_of(entry) for entry in self._entries]
        if self._entries:
            if name in names and names[index : index + 1] != [name]:
                index = names.index(name)
            self._list.highlighted = min(index, len(names) - 1)
        else:
            none = f"No match for “{self._words}”" if self._words else "None yet"
            self._list.add_option(Option(Content(none), disabled=True))
        if not self._filtering:
            self.say()

    def _has_words(self, entry: Item) -> bool:
        return self._words.casefold() in self.line(entry).plain.casefold()

    def say(self, text: str = "") -> None:
        """Show the available keys in the edge, or a question."""
        can = [
            f"{first_key(self, action)} {what}"
            for action, what in self.KEYS.items()
            if action not in OF_OWN or self.here is None or self.is_own(self.here)
        ]
        close = f"{first_key(self, 'leave')} closes"
        can = [f"Enter {self.ENTER}", close, *can] if self._entries else [close]
        self.query_one(KeyedBox).show_keys([text] if text else can)

    def tried(self, act: Callable[[], object]) -> bool:
        """Run `act`; returns whether it succeeded, else shows the reason."""
        try:
            act()
        except (InputError, OSError) as error:
            self.query_one(Complaint).show(
                str(error) if isinstance(error, InputError) else str(error.strerror)
            )
            return False
        self.query_one(Complaint).show()
        return True

    @on(OptionList.OptionHighlighted)
    def cancel_delete(self) -> None:
        self._doomed = None
        if not self._field.display:
            self.say()

    @on(OptionList.OptionSelected)
    def choose(self) -> None:
        if (entry := self.here) is not None:
            self.tried(lambda: self.dismiss(self.result(entry)))

    def action_leave(self) -> None:
        if self._field.display:
            self._close_name()
        else:
            self.dismiss(None)

    def ask_name(self, given: str, what: str, act: Callable[[str], None]) -> None:
        """Let the user type a name; `act` gets it when Enter is pressed."""
        self._named, self._filtering = act, False
        self._field.value = given
        self._field.display = True
        self._field.focus()
        self.say(what)

    def action_filter(self) -> None:
        """Show only entries that contain the typed words."""
        self.ask_name(self._words, "Type to filter · Enter goes to the list", lambda words: None)
        self._filtering = True

    @on(Input.Changed)
    def filter(self, event: Input.Changed) -> None:
        if self._filtering:
            self._words = event.value.strip()
            self._show_entries()

    @on(Input.Submitted)
    async def submit(self, event: Input.Submitted) -> None:
        if self._filtering:
            self._close_name()
            return
        name, act = " ".join(event.value.split()), self._named
        self._close_name()
        if name and self.tried(lambda: act(name)):
            await self.fill(name)

    def _close_name(self) -> None:
        self._field.display = self._filtering = False
        self._list.focus()
        self.say()

    def action_rename(self) -> None:
        entry = self.here
        if entry is not None and self.tried(lambda: self.require_own(entry)):
            self.ask_name(
                self.name_of(entry),
                f"Enter renames · {first_key(self, 'leave')} keeps the old name",
                lambda name: self.rename(entry, name),
            )

    async def action_delete(self) -> None:
        entry = self.here
        if entry is None or not self.tried(lambda: self.require_own(entry)):
            return
        if self._doomed is not entry:
            self._doomed = entry
            key = first_key(self, "delete")
            self.say(f"{key} once more deletes “{shortened(self.name_of(entry), NAME_CHARACTERS)}”")
        elif self.tried(lambda: self.delete(entry)):
            await self.fill()
            self.query_one(Complaint).show(self.deleted_notice(entry))
