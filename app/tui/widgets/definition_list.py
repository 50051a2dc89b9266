"""A list of terms and their explanations in two columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

Term = tuple[Content | str, str]
NOTHING = Content("")


class DefinitionList(Widget):
    """One widget for the whole list, because mounting many is slow. Wrapped texts stay in their
    column."""

    COLUMN = 13  # of the words, with the space after them
    STYLE = "bold $primary"  # below the style that a word brings along

    def __init__(self, terms: Iterable[Term]) -> None:
        super().__init__()
        self._terms = self._all = [
            (Content(name) if isinstance(name, str) else name, Content(text))
            for name, text in terms
        ]
        self._wrapped = (0, NOTHING)  # at which width

    def filter(self, words: str) -> bool:
        """Show only entries with these words; returns whether there are any."""
        self._terms = [
            entry
            for entry in self._all
            if any(words.casefold() in part.plain.casefold() for part in entry)
        ]
        self._wrapped = (0, NOTHING)
        self.refresh(layout=True)
        return bool(self._terms)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._at(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self._at(self.content_size.width)

    def _at(self, width: int) -> Content:
        if self._wrapped[0] != width:
            self._wrapped = (width, Content("\n").join(self.lines(width)))
        return self._wrapped[1]

    def lines(self, width: int) -> Iterator[Content]:
        for name, text in self._terms:
            words = name.stylize_before(self.STYLE).wrap(self.COLUMN - 1)
            texts = text.wrap(max(width - self.COLUMN, 2))
            for word, line in zip_longest(words, texts, fillvalue=NOTHING):
                yield word.pad_right(self.COLUMN - word.cell_length) + line
