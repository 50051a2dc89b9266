"""The streaming text of one lane: every token in the ink that tells what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Literal

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from app.tui.safe_text import one_line, shortened, visible
from app.tui.widgets.edge_scrollbar import EdgeScrollBarRender
from app.tui.wrapping import Ink, Wrapper
from decoding.round import Fate, TokenEvent

Look = Literal["colour", "glyphs", "plain"]

INKS = {
    Fate.FIRST: Ink.TEXT,
    Fate.PLAIN: Ink.TEXT,
    Fate.ACCEPTED: Ink.ACCEPTED,
    Fate.REJECTED: Ink.REJECTED,
    Fate.DROPPED: Ink.DROPPED,
    Fate.BONUS: Ink.BONUS,
    Fate.CORRECTION: Ink.BONUS,
}
GHOSTS = (Ink.REJECTED, Ink.DROPPED)
GLYPHS = {Ink.ACCEPTED: "‹›", Ink.REJECTED: "~~", Ink.DROPPED: "~~"}
ANSWER = (Ink.TEXT, Ink.ACCEPTED, Ink.BONUS)
COLOURLESS = (Ink.PROMPT, Ink.NOTE, Ink.ERROR)  # keep their own style in every look


class TokenView(ScrollView, can_focus=True):
    """Keeps all pieces, wraps them as they come, draws from cached strips.

    It follows the end of the text until the user scrolls away, and again from when they come
    back to it.
    """

    COMPONENT_CLASSES = {f"token-view--{ink}" for ink in Ink}

    def __init__(self, hint: str = "", dom_id: str | None = None) -> None:
        super().__init__(id=dom_id)
        self.look: Look = "colour"
        self.ghosts = True
        self.hint = hint
        self._pieces: list[tuple[str, Ink]] = []
        self._turns: list[int] = []  # where in the pieces each turn begins
        self._wrapper = Wrapper(80)
        self._glyphs = ""  # the pair of glyphs that is open
        self._held = ""  # spaces that may turn out to be the last of the group
        self._strips: dict[int, Strip] = {}
        self._styles: dict[Ink, Style] = {}
        self._base: Style | None = None  # asking for `rich_style` costs more than drawing a line
        self._follow = True

    def on_mount(self) -> None:
        self.vertical_scrollbar.renderer = EdgeScrollBarRender  # type: ignore[misc]

    # What comes in

    def begin_turn(self, turn: int, prompt: str, follows: str | None = None) -> None:
        """Start turn number `turn`; what stood there and after it goes. `follows` names the lane
        whose answer came before, where it is not this lane's."""
        if turn < len(self._turns):
            del self._pieces[self._turns[turn] :]
            del self._turns[turn:]
        self._turns.append(len(self._pieces))
        head = "\n\n" if self._pieces else ""
        after = f"  (after {follows})" if follows else ""
        self._pieces.append((f"{head}› {shortened(prompt, 300)}{after}\n", Ink.PROMPT))
        self._follow = True
        self.rewrap()

    def add_tokens(self, tokens: Iterable[TokenEvent]) -> None:
        self._append([(token.text, INKS[token.fate]) for token in tokens if token.text])

    def add_note(self, text: str, *, error: bool = False) -> None:
        mark, ink = ("✗ ", Ink.ERROR) if error else ("· ", Ink.NOTE)
        self._append([(f"\n{mark}{visible(text)}", ink)])

    def end_turn(self) -> None:
        """Nothing follows: a group of glyphs that is still open ends here."""
        self._append([("", Ink.TEXT)])

    def clear(self) -> None:
        self._pieces.clear()
        self._turns.clear()
        self.rewrap()

    def set_hint(self, hint: str) -> None:
        self.hint = hint
        if not self._pieces:
            self.rewrap()

    def set_look(self, look: Look, ghosts: bool) -> None:
        self.look, self.ghosts = look, ghosts
        self._styles.clear()
        self.rewrap()

    @property
    def answer(self) -> str:
        """The last turn's answer as the model wrote it."""
        start = self._turns[-1] if self._turns else 0
        return "".join(text for text, ink in self._pieces[start:] if ink in ANSWER)

    # Wrapping

    def _append(self, pieces: list[tuple[str, Ink]]) -> None:
        if not pieces:
            return
        self._pieces.extend(pieces)
        before = len(self._wrapper)
        for text, ink in pieces:
            self._flow(text, ink)
        # The open line is never cached; one that was open may have been closed.
        if len(self._wrapper) == before:
            self.refresh_line(before - 1)
        else:
            self.refresh_lines(before - 1, len(self._wrapper) - before + 1)
            self._grown()

    def _flow(self, text: str, ink: Ink) -> None:
        if ink in GHOSTS:
            if not self.ghosts or self.look == "plain":
                return
            text = one_line(text)
        elif ink is not Ink.PROMPT:
            text = visible(text)
        if self.look == "glyphs":
            self._flow_with_glyphs(text, ink)
        else:
            self._wrapper.feed(text, ink)

    def _flow_with_glyphs(self, text: str, ink: Ink) -> None:
        """Glyphs stand around the words of a group, the spaces at its ends stay outside."""
        glyphs = GLYPHS.get(ink, "")
        if glyphs != self._glyphs:
            if self._glyphs:
                self._wrapper.feed(self._glyphs[1], Ink.TEXT)
            self._wrapper.feed(self._held, Ink.TEXT)
            self._held = ""
            if glyphs:
                words = text.lstrip()
                self._wrapper.feed(text[: len(text) - len(words)] + glyphs[0], Ink.TEXT)
                text = words
            self._glyphs = glyphs
        text = self._held + text
        words = text.rstrip() if glyphs else text
        self._held = text[len(words) :]
        self._wrapper.feed(words, ink)

    @property
    def _columns(self) -> int:
        """A view behind another tab has no size; it keeps the one that it had."""
        return self.scrollable_content_region.width or self._wrapper.width

    def rewrap(self) -> None:
        """Wrap everything again: the width or the look has changed."""
        top = self._text_offset(self.scroll_offset.y)
        self._wrapper = Wrapper(self._columns)
        self._glyphs = self._held = ""
        self._strips.clear()
        for text, ink in self._pieces or [(self.hint, Ink.NOTE)]:
            self._flow(text, ink)
        self._grown()
        if not self._follow:
            self.scroll_to(y=self._line_at(top), animate=False, force=True)
        self.refresh()

    def _text_offset(self, line: int) -> int:
        return sum(len(each.text) for each in self._wrapper.closed[:line])

    def _line_at(self, offset: int) -> int:
        ends = accumulate(len(each.text) for each in self._wrapper.closed)
        return sum(end <= offset for end in ends)

    def _grown(self) -> None:
        self.virtual_size = Size(self._wrapper.width, len(self._wrapper))
        if self._follow:
            self.scroll_end(animate=False, immediate=True, x_axis=False)

    def on_resize(self, event: events.Resize) -> None:
        if self._columns != self._wrapper.width:
            self.rewrap()
        elif self._follow:
            self.scroll_end(animate=False, immediate=True, x_axis=False)

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
        index = self.scroll_offset.y + y
        width = self._wrapper.width
        if self._base is None:
            self._base = self.rich_style
        base = self._base
        if index >= len(self._wrapper):
            return Strip.blank(width, base)
        selection = self.text_selection
        cached = None if selection else self._strips.get(index)
        if cached is not None:
            return cached
        line = self._wrapper[index]
        runs: list[tuple[str, Style]] = [(text, self._style(ink)) for text, ink in line.runs]
        if selection and (span := selection.get_span(index)):
            runs = highlighted(runs, span, self.selection_style)
        strip = Strip([Segment(text, style) for text, style in runs])
        strip = strip.adjust_cell_length(width, base).apply_offsets(0, index)
        if selection is None and index < len(self._wrapper.closed):
            self._strips[index] = strip
        return strip

    def _style(self, ink: Ink) -> Style:
        style = self._styles.get(ink)
        if style is None:
            style = self.get_component_rich_style(f"token-view--{ink}")
            base = self.rich_style
            if self.look == "glyphs" and ink not in COLOURLESS:
                style = base + Style(
                    bold=style.bold, underline=style.underline, strike=style.strike
                )
            elif self.look == "plain" and ink not in COLOURLESS:
                style = base
            self._styles[ink] = style
        return style

    # Selecting with the mouse

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text; lines that were only wrapped are joined again."""
        parts: list[str] = []
        for index in range(len(self._wrapper)):
            if (span := selection.get_span(index)) is None:
                continue
            line = self._wrapper[index]
            start, end = span
            parts.append(line.text[start:] if end == -1 else line.text[start:end])
            if line.hard and end == -1:
                parts.append("\n")
        return "".join(parts), "\n"


def highlighted(
    runs: list[tuple[str, Style]], span: tuple[int, int], style: Style
) -> list[tuple[str, Style]]:
    """`runs` with `style` laid over the characters of `span` (end -1: to the end)."""
    start, end = span
    out: list[tuple[str, Style]] = []
    position = 0
    for text, own in runs:
        a = min(max(start - position, 0), len(text))
        b = len(text) if end == -1 else min(max(end - position, a), len(text))
        parts = ((text[:a], own), (text[a:b], own + style), (text[b:], own))
        out.extend(part for part in parts if part[0])
        position += len(text)
    return out
