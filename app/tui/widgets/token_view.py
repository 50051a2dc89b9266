"""The streaming text of one lane, with a style for the fate of each token."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message

from app.text.token_event import TokenEvent
from app.tui.keys.bindings import CURSOR_KEYS, SEARCH_KEYS
from app.tui.tokens.token_text import DisplayOptions
from app.tui.tokens.wrapping import Line, TokenStyle
from app.tui.widgets.text_view import Runs, TextView, highlighted


class TokenView(TextView):
    """Has a cursor that moves from token to token; with a cursor the view does not follow the end
    of the text."""

    BINDINGS = [*CURSOR_KEYS, *SEARCH_KEYS]
    COMPONENT_CLASSES = {
        *(f"token-view--{style}" for style in TokenStyle),
        *("token-view--cursor", "token-view--hit", "token-view--here"),
    }

    @dataclass
    class CursorMoved(Message):
        """The cursor moved to `token`; None: it was removed."""

        view: TokenView
        token: TokenEvent | None

    @dataclass
    class Hovered(Message):
        """The mouse moved to another token; a handler may call `explain`."""

        view: TokenView
        token: TokenEvent

    class OlderClicked(Message):
        """A token of an older answer was clicked, which can't have the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.cursor: int | None = None  # the index of a span
        self._hovered: int | None = None

    def begin_turn(self, turn: int, prompt: str, follows: str | None = None) -> None:
        self.cursor = None
        super().begin_turn(turn, prompt, follows)

    def clear(self) -> None:
        self.cursor = None
        super().clear()

    def set_display_options(self, options: DisplayOptions) -> None:
        super().set_display_options(options)
        if self.cursor is None:
            return
        if self.body.is_shown(self.cursor):
            self._show_cursor(self.cursor)
        else:
            self.move_cursor(None)

    @property
    def follows(self) -> bool:
        return super().follows and self.cursor is None

    # The cursor

    def step_cursor(self, step: int) -> None:
        """Move to the next token or the one before; without a cursor to the last one."""
        begin = len(self.body.spans) if self.cursor is None else self.cursor
        found = self.body.next_token(begin, -1 if self.cursor is None else step)
        if found is not None:
            self.move_cursor(found)

    def cursor_to(self, token: TokenEvent) -> bool:
        """Move to this token; returns whether it is shown."""
        found = self.body.index_of(token)
        if found is not None:
            self.move_cursor(found)
        return found is not None

    def cursor_to_edge(self, last: bool) -> None:
        """Move to the first or the last token of the answer."""
        found = self.body.next_token(*(len(self.body.spans), -1) if last else (-1, 1))
        if found is not None:
            self.move_cursor(found)

    def move_cursor(self, index: int | None) -> None:
        """Move to span number `index`, and bring it into view."""
        self.cursor = index
        self.refresh()
        if index is None:
            self._to_end()
        else:
            self._show_cursor(index)
        token = None if index is None else self.body.spans[index].token
        self.post_message(self.CursorMoved(self, token))

    def on_resize(self, event: events.Resize) -> None:
        """Keep the token under the cursor in view."""
        super().on_resize(event)
        if self.cursor is not None:
            self._show_cursor(self.cursor)

    def _show_cursor(self, index: int) -> None:
        start, end = self.body.range_of(index)
        line_at = self.body.wrapper.line_at
        self.show_lines(line_at(start), line_at(max(start, end - 1)))

    def to_round(self, number: int) -> None:
        """Move the cursor, if there is one, to the first token of a round."""
        if self.cursor is None:
            return
        found = self.body.first_of_round(number)
        if found is not None:
            self.move_cursor(found)

    def to_rejected(self, number: int) -> None:
        """Move the cursor to the rejected draft of a round."""
        found = self.body.rejected_in(number)
        if found is not None:
            self.move_cursor(found)

    # The mouse

    def _span_under(self, event: events.MouseEvent) -> int | None:
        """The text under the mouse."""
        widget, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        if widget is not self or offset is None or offset.y >= len(self.body.wrapper):
            return None
        return self._span_at(offset)

    def _span_at(self, offset: Offset) -> int | None:
        line = self.body.wrapper[offset.y]
        if offset.x >= len(line.text):
            return None
        return self.body.span_at(line.start + offset.x)

    def on_click(self, event: events.Click) -> None:
        found = self._span_under(event)
        if self.text_selection is not None or found is None:
            return
        if self.body.is_shown(found):
            self.move_cursor(found)
        elif self.body.spans[found].token:
            self.post_message(self.OlderClicked())

    def on_mouse_move(self, event: events.MouseMove) -> None:
        found = self._span_under(event)
        if found is not None and not self.body.is_shown(found):
            found = None
        if found == self._hovered:
            return
        self._hovered = found
        self.tooltip = None
        token = None if found is None else self.body.spans[found].token
        if token is not None:
            self.post_message(self.Hovered(self, token))

    def explain(self, text: str) -> None:
        """Set the tooltip for the token under the mouse."""
        self.tooltip = Content(text)

    # Drawing

    def special(self, index: int) -> bool:
        return super().special(index) or self._has_cursor(index)

    def _has_cursor(self, index: int) -> bool:
        if self.cursor is None:
            return False
        start, end = self.body.range_of(self.cursor)
        line_at = self.body.wrapper.line_at
        return line_at(start) <= index <= line_at(max(start, end - 1))

    def decorated(self, runs: Runs, index: int, line: Line) -> Runs:
        """Highlight the token; a line break or the end is shown as a cell at the end of its line,
        a part of a character by the character."""
        runs = super().decorated(runs, index, line)
        if self.cursor is None or not self._has_cursor(index):
            return runs
        start, end = (offset - line.start for offset in self.body.range_of(self.cursor))
        style = self.style_of("cursor")
        if start >= len(line.text):
            return [*runs, (" ", style)]
        return highlighted(runs, (max(start, 0), max(end, start + 1, 0)), style)
