"""The bar with the keys that apply now; a click presses the key."""

from __future__ import annotations

from collections.abc import Container

from textual.content import Content

from app.tui.keys.bindings import KEY_BAR, BarState
from app.tui.widgets.clickable_row import ClickableRow, Label


class KeyBar(ClickableRow):
    """Unlike Textual's Footer it depends on the state, and leaves out keys that would only type a
    letter while the prompt has focus."""

    _needed: Container[str] = ()

    def show(self, state: BarState) -> None:
        """Show the active keys."""
        keys: dict[str, Label] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.action not in state.hidden:
                what = state.names.get(binding.action, binding.description)
                display = (self.app.get_key_display(binding), "bold $footer-key-foreground")
                text = Content.assemble(" ", display, f" {what} ")
                keys.setdefault(binding.action, Label(text, binding.key, binding.tooltip))
        self._needed = {keys[action].value for action in state.needed if action in keys}
        self.set_labels([keys[action] for action in KEY_BAR if action in keys])

    def labels(self, width: int) -> list[Label]:
        fitting: list[Label] = []
        for label in sorted(self._labels, key=lambda label: label.value not in self._needed):
            if label.content.cell_length <= width:
                fitting.append(label)
                width -= label.content.cell_length
        return [label for label in self._labels if label in fitting]

    def chosen(self, value: str) -> None:
        self.app.simulate_key(value)
