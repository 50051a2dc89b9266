"""The keys that matter now, at the bottom; a click presses the key."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from app.tui.widgets.clickable_row import ClickableRow, Label


class KeyBar(ClickableRow):
    """Unlike Textual's Footer it knows the state, and it leaves out the keys that would only
    type a letter while the prompt is in focus."""

    def show(self, keys: Iterable[tuple[str, str, str]]) -> None:
        """`keys`: the key's name for Textual, its name for people, what it does."""
        self.set_labels(
            [
                Label(
                    Content.assemble(" ", (display, "bold $footer-key-foreground"), f" {what} "),
                    key,
                )
                for key, display, what in keys
            ]
        )

    def chosen(self, value: str) -> None:
        self.app.simulate_key(value)
