"""A dialog for the seed of the next answers."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, Static

from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Dialog
from app.tui.widgets.keyed_box import KeyedBox

MOST_DIGITS = 18  # of a seed


class SeedScreen(Dialog[int | None]):
    """Returns the seed, None if it stays."""

    AUTO_FOCUS = "Input"
    BINDINGS = [
        Binding("escape", "dismiss", "Close", id="seed.close", tooltip="Back to the lanes"),
    ]

    def __init__(self, seed: int | None) -> None:
        super().__init__()
        self._seed = seed

    def compose(self) -> ComposeResult:
        with KeyedBox(classes="kept") as box:
            box.border_title = "Seed"
            box.show_keys([f"{first_key(self, 'dismiss')} closes", "Enter sets it"])
            yield Static(
                "Of the random draws above temperature 0. The same seed, questions and settings "
                "give the same tokens.",
                classes="hint",
            )
            shown = "" if self._seed is None else str(self._seed)
            yield Input(
                shown, "A whole number", restrict=r"\d*", max_length=MOST_DIGITS, compact=True
            )

    @on(Input.Submitted)
    def choose(self, event: Input.Submitted) -> None:
        self.dismiss(int(event.value) if event.value else None)
