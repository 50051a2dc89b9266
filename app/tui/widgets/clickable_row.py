"""A row of clickable labels, the base of the tabs and the key bar."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.widget import Widget


class Label(NamedTuple):
    content: Content
    value: str  # the argument of `chosen`
    tip: str = ""  # the tooltip

    def is_same(self, other: Label) -> bool:
        """Compares styles as well, which == between contents does not."""
        return self.value == other.value and self.content.is_same(other.content)


class ClickableRow(Widget):
    ALLOW_SELECT = False
    DEFAULT_CSS = "ClickableRow { height: 1; }"

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self._labels: list[Label] = []

    def set_labels(self, labels: list[Label]) -> None:
        old, self._labels = self._labels, labels
        if len(old) != len(labels) or not all(map(Label.is_same, old, labels)):
            self.refresh()

    def labels(self, width: int) -> list[Label]:
        """Return the labels that fit into `width` cells."""
        ends = accumulate(label.content.cell_length for label in self._labels)
        return [label for label, end in zip(self._labels, ends, strict=True) if end <= width]

    def chosen(self, value: str) -> None:
        """Called when the label with this value is clicked."""
        raise NotImplementedError

    def render(self) -> Content:
        return Content.assemble(*(label.content for label in self.labels(self.size.width)))

    def _label_at(self, x: int) -> Label | None:
        labels = self.labels(self.size.width)
        ends = list(accumulate(label.content.cell_length for label in labels))
        index = sum(end <= x for end in ends)
        return labels[index] if index < len(labels) else None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        label = self._label_at(event.x)
        self.tooltip = Content(label.tip) if label and label.tip else None

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if label := self._label_at(event.x):
            self.chosen(label.value)
