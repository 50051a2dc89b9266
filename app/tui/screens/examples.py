"""A list of prompts to begin with."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from app.text.terminal_text import shortened
from app.tui.keys.key_names import first_key


class ExamplesScreen(ModalScreen[str | None]):
    """Returns the chosen prompt, or None."""

    BINDINGS = [
        Binding("escape,f2", "dismiss(None)", "Close", id="examples.close",
                tooltip="Back without a choice"),
    ]  # fmt: skip

    def __init__(self, prompts: tuple[str, ...]) -> None:
        super().__init__()
        self._prompts = prompts

    def compose(self) -> ComposeResult:
        # Content, not str: a prompt may hold what looks like markup.
        options = OptionList(
            *(Option(Content(shortened(prompt, 200))) for prompt in self._prompts), id="examples"
        )
        options.border_title = "Example prompts"
        close = first_key(self.app, self.BINDINGS, "dismiss(None)")
        options.border_subtitle = Content(f"Enter takes it · {close} closes")
        yield options

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._prompts[event.option_index])
