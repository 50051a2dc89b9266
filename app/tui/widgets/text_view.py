"""A text that grows at its end, drawn from cached strips."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from app.engine.events import Prefilled, RoundFinished
from app.tui.tokens.token_text import DisplayOptions, TokenText
from app.tui.tokens.wrapping import Line, TokenStyle
from app.tui.widgets.edge_scrollbar import EdgeScrollBarRender

COLOURLESS = (
    TokenStyle.PROMPT,
    TokenStyle.NOTE,
    TokenStyle.ERROR,
    TokenStyle.MARK,
)  # keep their own style in every mode
Runs = list[tuple[str, Style]]


class TextView(ScrollView, can_focus=True):
    """Refreshes only what has changed. Follows the end of the text unless the user has scrolled
    away from it."""

    def __init__(self) -> None:
        super().__init__()
        self.body = TokenText()
        self._strips: dict[int, Strip] = {}
        self._styles: dict[str, Style] = {}
        self._base: Style | None = None  # cached: `rich_style` takes longer than drawing a line
        self._follow = True
        self.searched = ""
        self._hits: list[tuple[int, int]] = []  # offsets of the hits, end excluded
        self._hit = -1  # index of the current hit

    def on_mount(self) -> None:
        self.vertical_scrollbar.renderer = EdgeScrollBarRender  # type: ignore[misc]

    # What comes in

    def begin_turn(self, turn: int, prompt: str, follows: str | None = None) -> None:
        """Start turn number `turn`, replacing it and later ones. `follows` is the lane whose answer
        it continues, if that is another one."""
        self.body.begin_turn(turn, prompt, follows)
        self._follow = True
        self._rewrap_turn()

    def add_first(self, event: Prefilled) -> None:
        before = len(self.body.wrapper)
        self.body.add_first(event)
        self._refresh_end(before)

    def add_rounds(self, rounds: Iterable[tuple[RoundFinished, Sequence[str]]]) -> None:
        """Rounds, each with the settings that changed before it, in words."""
        before = len(self.body.wrapper)
        for event, changes in rounds:
            self.body.add_round(event, changes)
        self._refresh_end(before)

    def renew_sources(self, first: Prefilled, rounds: Sequence[RoundFinished]) -> None:
        """Replace the last turn's events by those with probabilities."""
        self.body.renew_sources(first, rounds)
        self._rewrap_turn()

    def add_note(self, text: str, *, error: bool = False) -> None:
        before = len(self.body.wrapper)
        self.body.add_note(text, error)
        self._refresh_end(before)

    def end_turn(self) -> None:
        """End the turn: close an open group of glyphs."""
        before = len(self.body.wrapper)
        self.body.end_turn()
        self._refresh_end(before)

    def clear(self) -> None:
        self.body.clear()
        self.rewrap()

    def set_hint(self, hint: str) -> None:
        changed, self.body.hint = hint != self.body.hint, hint
        if changed and not self.body.spans:
            self.rewrap()

    @property
    def display_options(self) -> DisplayOptions:
        return self.body.options

    def set_display_options(self, options: DisplayOptions) -> None:
        self.body.options = options
        self._styles.clear()
        self.rewrap()

    @property
    def answer(self) -> str:
        """The last turn's answer as the model wrote it."""
        return self.body.answer

    # Wrapping

    def _refresh_end(self, before: int) -> None:
        """Repaint the lines that changed since there were `before` of them, including the one that
        was open then."""
        if self.body.stale:
            self._rewrap_turn()
            return
        lines = len(self.body.wrapper)
        if lines == before:
            self.refresh_line(before - 1)
        else:
            self.refresh_lines(before - 1, lines - before + 1)
            self._grown()

    @property
    def _columns(self) -> int:
        """The width to wrap at; a view on a hidden tab keeps its last one."""
        return self.scrollable_content_region.width or self.body.wrapper.width

    def rewrap(self) -> None:
        """Wrap everything again: the width or the display options have changed."""
        self._wrap(partial(self.body.rewrap, self._columns))

    def _rewrap_turn(self) -> None:
        self._wrap(self.body.rewrap_turn)

    def _wrap(self, wrap: Callable[[], None]) -> None:
        """The text at the top stays there, unless the end is followed."""
        wrapper = self.body.wrapper
        top = wrapper[min(self.scroll_offset.y, len(wrapper) - 1)].start
        span = self.body.span_at(top)
        within = 0 if span is None else top - self.body.range_of(span)[0]
        wrap()
        self._strips.clear()
        self._find()
        self._grown()
        if not self.follows:
            if span is not None and span < len(self.body.spans):  # text before it may have come
                start, end = self.body.range_of(span)
                top = min(start + within, max(end - 1, start))
            y = self.body.wrapper.line_at(top)
            self.scroll_to(y=y, animate=False, force=True)
        self.refresh()

    @property
    def follows(self) -> bool:
        return self._follow

    # Searching

    def search(self, words: str) -> None:
        """Highlight all places with these words; "" clears them."""
        self.searched, self._hit = words, -1
        self._find()
        self._strips.clear()
        self.refresh()

    def _find(self) -> None:
        text, offsets = self.body.kept_text() if self.searched else ("", [])
        found = re.finditer(re.escape(self.searched), text, re.IGNORECASE) if text else ()
        self._hits = [(offsets[each.start()], offsets[each.end() - 1] + 1) for each in found]

    def to_hit(self, step: int) -> tuple[int, int]:
        """Go to the next or previous hit, at first to the first one. Returns its number and the
        number of hits, 0 without any."""
        self._find()
        count = len(self._hits)
        if count:
            self._hit = (self._hit + step) % count if self._hit >= 0 else 0
            self._strips.clear()
            self.show_lines(*(self.body.wrapper.line_at(at) for at in self._hits[self._hit]))
            self.refresh()
        return self._hit + 1, count

    def missing(self, words: str) -> bool:
        """Return whether it was searched for these words and has none of them."""
        return bool(words) and words == self.searched and not self._hits

    def show_lines(self, first: int, last: int) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        y = min(first, max(top, last - height + 1))
        if y != top:
            self.scroll_to(y=y, animate=False, force=True, immediate=True)

    def _grown(self) -> None:
        self.virtual_size = Size(self.body.wrapper.width, len(self.body.wrapper))
        self._to_end()

    def _to_end(self) -> None:
        if self.follows:
            self.scroll_end(animate=False, immediate=True, x_axis=False)

    def on_resize(self, event: events.Resize) -> None:
        if self._columns != self.body.wrapper.width:
            self.rewrap()
        else:
            self._to_end()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._follow = new_value >= self.max_scroll_y - 0.5

    # Drawing

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._base = None
        self._styles.clear()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        wrapper = self.body.wrapper
        index = self.scroll_offset.y + y
        if self._base is None:
            self._base = self.rich_style
        if index >= len(wrapper):
            # without offsets Textual would select all of the text
            return Strip.blank(wrapper.width, self._base).apply_offsets(0, index)
        special = self.special(index)
        cached = None if special else self._strips.get(index)
        if cached is not None:
            return cached
        line = wrapper[index]
        runs: Runs = [(text, self._rich_style(style)) for text, style in line.runs]
        if special:
            runs = self.decorated(runs, index, line)
        strip = Strip([Segment(text, style) for text, style in runs])
        strip = strip.adjust_cell_length(wrapper.width, self._base).apply_offsets(0, index)
        if not special and index < len(wrapper.closed):
            self._strips[index] = strip
        return strip

    def special(self, index: int) -> bool:
        """Return whether a line must not be cached, because it has a selection or the like."""
        return self.text_selection is not None or bool(self._hits)

    def decorated(self, runs: Runs, index: int, line: Line) -> Runs:
        """Return the runs of line `index` with highlights for hits, selection and cursor."""
        end = line.start + len(line.text)
        for number, (first, last) in enumerate(self._hits):
            if first < end and last > line.start:
                style = self.style_of("here" if number == self._hit else "hit")
                cells = (max(first, line.start) - line.start, min(last, end) - line.start)
                runs = highlighted(runs, cells, style)
        selection = self.text_selection
        if selection and (span := selection.get_span(index)):
            return highlighted(runs, span, self.selection_style)
        return runs

    def _rich_style(self, name: TokenStyle) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self.style_of(name)
            if self.display_options.mode == "glyphs" and name not in COLOURLESS:
                style = self.rich_style + Style(
                    bold=style.bold, underline=style.underline, strike=style.strike
                )
            elif self.display_options.mode == "plain" and name not in COLOURLESS:
                style = self.rich_style
            self._styles[name] = style
        return style

    def style_of(self, name: str) -> Style:
        return self.get_component_rich_style(f"token-view--{name}")

    # Selecting with the mouse

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, without the breaks of wrapped lines."""
        parts: list[str] = []
        for index in range(len(self.body.wrapper)):
            if (span := selection.get_span(index)) is None:
                continue
            line = self.body.wrapper[index]
            start, end = span
            parts.append(line.text[start:] if end == -1 else line.text[start:end])
            if line.hard and end == -1:
                parts.append("\n")
        return "".join(parts), "\n"


def highlighted(runs: Runs, span: tuple[int, int], style: Style) -> Runs:
    """`runs` with `style` added to the characters of `span` (end -1: to the end)."""
    start, end = span
    out: Runs = []
    position = 0
    for text, own in runs:
        a = min(max(start - position, 0), len(text))
        b = len(text) if end == -1 else min(max(end - position, a), len(text))
        parts = ((text[:a], own), (text[a:b], own + style), (text[b:], own))
        out.extend(part for part in parts if part[0])
        position += len(text)
    return out
