"""A list of prompts to begin with."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from app.text.terminal_text import shortened
from app.tui.keys.key_names import first_key


class ExamplesScreen(ModalScreen[str | None]):
    """Returns the chosen prompt, or None. Typing leaves those that have these words."""

    BINDINGS = [
        Binding("escape,f2", "dismiss(None)", "Close", id="examples.close",
                tooltip="Back without a choice"),
    ]  # fmt: skip

    def __init__(self, prompts: tuple[str, ...]) -> None:
        super().__init__()
        self._prompts = self._shown = prompts

    def compose(self) -> ComposeResult:
        with Vertical(id="examples", classes="kept") as box:
            box.border_title = "Example prompts"
            close = first_key(self.app, self.BINDINGS, "dismiss(None)")
            box.border_subtitle = Content(f"Enter takes it · {close} closes")
            yield Input(compact=True, placeholder="Type to filter")
            yield OptionList()

    def on_mount(self) -> None:
        self.filter("")

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @on(Input.Changed)
    def take_words(self, event: Input.Changed) -> None:
        self.filter(event.value)

    def filter(self, words: str) -> None:
        found = (each for each in self._prompts if words.casefold() in each.casefold())
        self._shown = tuple(found)
        self._list.clear_options()
        # Content, not str: a prompt may hold what looks like markup.
        self._list.add_options(Option(Content(shortened(each, 200))) for each in self._shown)
        self._list.highlighted = 0 if self._shown else None

    def on_key(self, event: events.Key) -> None:
        """The list is moved through while words are typed."""
        if event.key in ("up", "down", "pageup", "pagedown") and not self._list.has_focus:
            getattr(self._list, MOVES[event.key])()
            event.stop()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def choose(self) -> None:
        if (index := self._list.highlighted) is not None:
            self.dismiss(self._shown[index])


MOVES = {
    "up": "action_cursor_up",
    "down": "action_cursor_down",
    "pageup": "action_page_up",
    "pagedown": "action_page_down",
}
