"""Other models: families by name, those in the Hugging Face cache, any folder, and public families,
which are downloaded after a question."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.config.families import PUBLIC_FAMILIES
from app.config.model_options import ModelOptions
from app.models.catalog import (
    CheckpointInfo,
    cached_checkpoints,
    drafter_status,
    fill_in_drafters,
    resolve_model_folder,
)
from app.models.hub import display_name
from app.models.library import ModelLibrary
from app.models.public_families import FamilyState, family_state, machine_memory
from app.text.terminal_text import shortened
from app.text.units import format_bytes
from app.tui.background import run_in_background
from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Choices, Dialog
from app.tui.screens.examples import MOVES
from app.tui.screens.saved_list import Complaint
from app.tui.widgets.keyed_box import KeyedBox

T = TypeVar("T")
NAME_CHARACTERS = 60
LOOK_SECONDS = 0.1  # for which an entry is highlighted before its folders are read
PATH_BEGINS = ("/", os.sep, ".", "~")


class Folders(Suggester):
    """Completes a path with the first folder whose name begins with what was typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._folder = ""
        self._names: asyncio.Future[list[str]] | None = None  # of its subfolders

    async def get_suggestion(self, value: str) -> str | None:
        before, slash, begun = value.rpartition(os.sep)
        if not begun:
            return None
        names = await self._inside(before + slash)
        name = next((each for each in names if each.startswith(begun)), None)
        return None if name is None else value + name[len(begun) :] + os.sep

    async def _inside(self, folder: str) -> list[str]:
        """The names of subfolders. One thread for each folder, not for each letter: a disk may
        hang."""
        if self._names is None or self._names.done() or folder != self._folder:
            listing = run_in_background(partial(subfolders, folder))
            self._folder, self._names = folder, asyncio.ensure_future(listing)
        return await asyncio.shield(self._names)


def subfolders(folder: str) -> list[str]:
    """Return the names of the folders in `folder`, given as typed; "" is the current one."""
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as inside:
            return sorted(each.name for each in inside if each.is_dir())
    except (OSError, ValueError):
        return []


@dataclass(frozen=True, slots=True)
class Fetch:
    """A public family to download."""

    name: str


def public_states(names: Iterable[str]) -> dict[str, FamilyState]:
    memory = machine_memory()
    return {name: family_state(PUBLIC_FAMILIES[name], memory) for name in names}


class ModelsScreen(Dialog[ModelOptions | Fetch | None]):
    """Returns the chosen target with its drafters, a family to download first, or None. Typed text
    filters the entries by name, or is a folder to inspect."""

    BINDINGS = [
        Binding("escape,f6", "leave", "Close", id="models.close",
                tooltip="Close without choosing"),
    ]  # fmt: skip

    def __init__(self, library: ModelLibrary, loaded: str) -> None:
        """`loaded`: the source of the loaded target, "" for none."""
        super().__init__()
        self._library = library
        self._loaded = loaded
        self._all: list[CheckpointInfo | str] = [*library.families]  # families by name, checkpoints
        self._all += library.public
        self._entries = self._all  # the shown ones
        self._public: dict[str, FamilyState] = {}  # filled in the background
        self._asked: str | None = None  # a family to be downloaded if confirmed
        self._elsewhere: list[CheckpointInfo] = []  # in the cache
        self._known: dict[str, ModelOptions] = {}  # with drafters, by target
        self._chosen: CheckpointInfo | None = None  # waits for its drafters

    def compose(self) -> ComposeResult:
        with KeyedBox(classes="kept"):
            yield Input(
                compact=True,
                placeholder="Type to filter, or a folder; → completes",
                suggester=Folders(),
                select_on_focus=False,
            )
            yield Complaint(markup=False)
            yield Choices()
            yield Static(classes="details", markup=False)

    def on_mount(self) -> None:
        box = self.query_one(KeyedBox)
        box.border_title = "Models"
        close = first_key(self, "leave")
        box.show_keys(["Enter loads", f"{close} closes", "type to filter, or a folder"])
        self._complaint.show()
        self._fill()
        self._list.focus()
        self._in_background("cache", cached_checkpoints, self._take_cached)
        read = partial(public_states, self._library.public)
        self._in_background("public", read, self._take_public_states)

    def on_key(self, event: events.Key) -> None:
        """Typed characters go to the field, and keys that move through the list to the list."""
        if self._list.has_focus and event.is_printable and event.character:
            event.stop()
            self._field.focus()
            self._field.insert_text_at_cursor(event.character)
        elif event.key in MOVES and self._field.has_focus:
            event.stop()
            getattr(self._list, MOVES[event.key])()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """In the list Enter takes an entry, also while a folder is typed."""
        if event.widget is self._list and self._here is None:
            self._list.action_first()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _field(self) -> Input:
        return self.query_one(Input)

    @property
    def _here(self) -> CheckpointInfo | str | None:
        index = self._list.highlighted
        return None if index is None else self._entries[index]

    def _in_background(
        self, group: str, act: Callable[[], T], then: Callable[[T], None], delay: float = 0.0
    ) -> None:
        """Run `act` off the screen's thread, because disks may be slow, then `then` with its
        result. A new request of a group cancels the old one; within its `delay` no thread of it has
        begun. Errors are shown in a line."""

        async def work() -> None:
            await asyncio.sleep(delay)
            try:
                result = await run_in_background(act)
            except Exception as error:
                if self.query(OptionList):  # else the screen is closing
                    self._complaint.show(" ".join(str(error).split()) or type(error).__name__)
            else:
                if self.query(OptionList):
                    then(result)

        self.run_worker(work(), group=group, exclusive=True)

    def _take_cached(self, found: list[CheckpointInfo]) -> None:
        self._elsewhere = found
        self._known.clear()
        models = [each for each in found if each.kind == "model"]
        self._all += [each for each in models if each not in self._all]
        self._fill(self._here)

    def _take_public_states(self, states: dict[str, FamilyState]) -> None:
        self._public = states
        self._fill(self._here)

    def _fill(self, here: CheckpointInfo | str | None = None) -> None:
        """Show the entries with the typed words; highlight `here`, or else the first one, unless
        Enter opens the typed folder."""
        words = self._words
        self._entries = [each for each in self._all if words in name_of(each).casefold()]
        self._list.clear_options()
        self._list.add_options([Option(self._line(entry)) for entry in self._entries])
        if here in self._entries:
            self._list.highlighted = self._entries.index(here)
        elif self._entries and not self._is_path:
            self._list.highlighted = 0
        else:
            self._chosen = None
            self.query_one(".details", Static).update("")

    @property
    def _is_path(self) -> bool:
        return self._field.value.strip().startswith(PATH_BEGINS)

    @property
    def _words(self) -> str:
        """The typed text, unless it is a path."""
        return "" if self._is_path else self._field.value.strip().casefold()

    @on(Input.Changed)
    def filter(self) -> None:
        self._asked = None
        self._fill(None if self._is_path else self._here)
        none = f"No match for “{shortened(self._words, 30)}”: Enter opens it as a folder"
        self._complaint.show("" if self._entries else none)

    def _line(self, entry: CheckpointInfo | str) -> Content:
        state = self._public.get(entry) if isinstance(entry, str) else None
        return entry_line(entry, self._is_loaded(entry), state)

    def _is_loaded(self, entry: CheckpointInfo | str) -> bool:
        if isinstance(entry, str):
            return self._family(entry).target == self._loaded
        return entry.source == self._loaded

    def _family(self, name: str) -> ModelOptions:
        return self._library.families.get(name) or self._library.public[name]

    @property
    def _complaint(self) -> Complaint:
        return self.query_one(Complaint)

    @on(Input.Submitted)
    def submit(self, event: Input.Submitted) -> None:
        if self._here is not None:
            self.choose()
            return
        text = event.value.strip()
        self._complaint.show("Reading the folder …")
        self._in_background("folder", lambda: resolve_model_folder(text), self._add_folder)

    def _add_folder(self, found: CheckpointInfo) -> None:
        self._complaint.show()
        if found not in self._all:
            self._all.insert(0, found)
        with self.prevent(Input.Changed):
            self._field.clear()
        self._fill(found)
        self._list.focus()

    @on(OptionList.OptionHighlighted)
    def look(self) -> None:
        """Show which drafters belong to the highlighted entry."""
        entry = self._here
        if entry != self._chosen:
            self._chosen = None
        if self._asked is not None and entry != self._asked:
            self._asked = None
            self._complaint.show()
        details = self.query_one(".details", Static)
        if isinstance(entry, str) and entry in self._library.public:
            details.update(part_lines(entry, self._public.get(entry)))
        elif isinstance(entry, str):
            details.update(drafter_lines(self._family(entry)))
        elif entry is not None and entry.source in self._known:
            details.update(drafter_lines(self._known[entry.source]))
        elif entry is not None:
            details.update("Looking for its drafters …")
            options = replace(self._library.load_options, target=entry.source)
            there = self._elsewhere
            self._in_background(
                "parts",
                lambda: fill_in_drafters(options, there),
                lambda found: self._show_drafters(found, there),
                LOOK_SECONDS,
            )

    def _show_drafters(self, options: ModelOptions, elsewhere: list[CheckpointInfo]) -> None:
        if elsewhere is not self._elsewhere:
            return  # outdated: requested again with more checkpoints
        self._known[str(options.target)] = options
        if self._chosen and self._chosen.source == options.target:
            self.dismiss(options)
        elif isinstance(self._here, CheckpointInfo) and self._here.source == options.target:
            self.query_one(".details", Static).update(drafter_lines(options))

    @on(OptionList.OptionSelected)
    def choose(self) -> None:
        entry = self._here
        if isinstance(entry, str) and (state := self._public.get(entry)) and state.missing:
            if self._asked == entry:
                self.dismiss(Fetch(entry))
                return
            self._asked = entry
            self._complaint.show(
                f"Enter again downloads {format_bytes(state.size)} in the background"
            )
        elif isinstance(entry, str):
            self.dismiss(self._family(entry))
        elif entry is not None and entry.source in self._known:
            self.dismiss(self._known[entry.source])
        else:
            self._chosen = entry

    def action_leave(self) -> None:
        self.dismiss(None)


def name_of(entry: CheckpointInfo | str) -> str:
    return entry if isinstance(entry, str) else entry.name


def entry_line(
    entry: CheckpointInfo | str, loaded: bool, public: FamilyState | None = None
) -> Content:
    """Content, not str: a name may hold what looks like markup."""
    mark = ("● ", "$accepted") if loaded else "  "
    if public is not None and public.missing:
        here = f"  ↓ {format_bytes(public.size)} · {public.fits}"
        return Content.assemble(mark, (str(entry), "bold"), (here, "$quiet"))
    if isinstance(entry, str):
        return Content.assemble(mark, (entry, "bold"), "  a named family")
    name = shortened(entry.name, NAME_CHARACTERS)
    return Content.assemble(mark, (name, "bold"), f"  {format_bytes(entry.size)}")


def drafter_lines(options: ModelOptions) -> Content:
    """Return a line for each lane that needs more than the target."""
    lines = [Content.styled("What drafts for it:", "$quiet")]
    for part in drafter_status(options):
        name = f"{part.strategy:<7}"
        if part.source:
            lines.append(Content(f"✓ {name} {display_name(part.source)}"))
        else:
            lines.append(Content.styled(f"· {name} {part.advice}", "$quiet"))
    return Content("\n").join(lines)


def part_lines(name: str, state: FamilyState | None) -> Content:
    """Return a line for each part of a public family."""
    lines = [Content.styled("Its parts, ✓ if they are here:", "$quiet")]
    for role, part in PUBLIC_FAMILIES[name].parts.items():
        line = f"{role:<7} {part.source}  {format_bytes(part.size)}  {part.licence}"
        here = state is not None and role not in state.missing
        lines.append(Content(f"✓ {line}") if here else Content.styled(f"· {line}", "$quiet"))
    return Content("\n").join(lines)
