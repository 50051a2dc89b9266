"""The list of example prompts."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from app.text.prompt_file import Request
from app.text.terminal_text import shortened
from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Choices, Dialog
from app.tui.widgets.keyed_box import KeyedBox


class ExamplesScreen(Dialog[str | None]):
    """Returns the chosen prompt, or None. Prompts are grouped by category, later turns of a
    conversation below its first. Typed words filter by prompt and category."""

    BINDINGS = [
        Binding("escape,f2", "dismiss(None)", "Close", id="examples.close",
                tooltip="Close without choosing"),
    ]  # fmt: skip

    def __init__(self, requests: Sequence[Request]) -> None:
        super().__init__()
        self._requests = requests
        self._shown: list[str | None] = []  # line by line: a prompt, or None at a heading

    def compose(self) -> ComposeResult:
        with KeyedBox(id="examples", classes="kept") as box:
            box.border_title = "Example prompts"
            close = first_key(self, "dismiss(None)")
            box.show_keys(["Enter takes one", f"{close} closes", "↳ follows the question above it"])
            yield Input(compact=True, placeholder="Type to filter")
            yield Choices()

    def on_mount(self) -> None:
        self.filter("")

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @on(Input.Changed)
    def apply_filter(self, event: Input.Changed) -> None:
        self.filter(event.value)

    def filter(self, words: str) -> None:
        self._shown.clear()
        lines: list[Option] = []
        heading = None
        for request in self._requests:
            category = request.category or ""
            every = words.casefold() in category.casefold()
            found = [t for t in request.turns if every or words.casefold() in t.casefold()]
            if found and category and category != heading:
                heading = category
                self._shown.append(None)
                lines.append(Option(Content(category), disabled=True))
            for turn in found:
                self._shown.append(turn)
                mark = "" if turn == request.turns[0] else "↳ "
                # Content, not str: a prompt may hold what looks like markup.
                lines.append(Option(Content(f"  {mark}{shortened(turn, 200)}")))
        if not lines:
            self._shown.append(None)
            lines.append(Option(Content(f"No match for “{words}”"), disabled=True))
        self._list.clear_options()
        self._list.add_options(lines)
        self._list.highlighted = None
        self._list.action_first()

    def on_key(self, event: events.Key) -> None:
        """Move through the list while words are typed."""
        if event.key in ("up", "down", "pageup", "pagedown") and not self._list.has_focus:
            getattr(self._list, MOVES[event.key])()
            event.stop()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def choose(self) -> None:
        if (index := self._list.highlighted) is not None and (prompt := self._shown[index]):
            self.dismiss(prompt)


MOVES = {
    "up": "action_cursor_up",
    "down": "action_cursor_down",
    "pageup": "action_page_up",
    "pagedown": "action_page_down",
}
