"""The prompt: Enter runs, ctrl+j breaks the line, up and down go through the history."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

from textual import events
from textual.actions import SkipAction
from textual.dom import DOMNode
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from app.tui.keys.bindings import APP_KEYS, PROMPT_KEYS, RUN_KEYS, VIEW_KEYS
from app.tui.keys.key_names import active_bindings
from app.tui.textual_internals import Edit, EditHistory, EditResult, forward, run_bindings

UNKNOWN_TO_TEXTUAL = {"minus": "-", "plus": "+", "slash": "/"}  # which character a key types
LEAVE = "leave"
BREAK = "enter"  # breaks the line if the user has bound another key to run the prompt


async def nothing() -> None:
    """A callback's default."""


class Aside(NamedTuple):
    """A text with what can be undone and redone of it."""

    text: str
    history: EditHistory
    typed_at: list[float]
    undone_at: list[float]


class Prompt(TextArea):
    """A TextArea, because an Input keeps only the first line of a paste."""

    BINDINGS = [*PROMPT_KEYS]

    @dataclass
    class Submitted(Message):
        text: str
        taken: int  # questions before it

    class Leaving(Message):
        """Ctrl+D in an empty prompt, which leaves a shell."""

    @dataclass
    class Undone(Message):
        """What was typed last was taken back; not `back`: it was typed again."""

        back: bool

    @dataclass
    class Paged(Message):
        """The user scrolls the answer by a page, 1 down or -1 up."""

        step: int

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(
            id=dom_id, compact=True, show_line_numbers=False, highlight_cursor_line=False
        )
        self._taken: list[str] = []  # the questions that were
        self._history: list[str] = []
        self.unasked: list[str] = []  # texts of the history that were put away and not asked since
        self._index = 0  # in the history; its length for the new prompt
        self._edits: dict[int, str] = {}  # edited entries by index, until a prompt is submitted
        self.commands = " "  # characters that are commands in an empty prompt
        self.example = ""  # submitted by Enter in an empty prompt
        self._written = ""
        # when the user last changed, and undid, something else
        self.changed_at: Callable[[], float] = lambda: 0.0
        self.undone_at: Callable[[], float] = lambda: 0.0
        self._typed_at: list[float] = []  # when each entry of the undo stack was
        self._undone_at: list[float] = []  # when each entry of the redo stack was undone
        # called when a key has opened a dialog, and when those behind the key have gone there
        self.dialog_filled: Callable[[], Awaitable[object]] = nothing
        self.keys_gone: Callable[[], Awaitable[object]] = nothing
        self._away = False  # between the two
        self._aside: Aside | None = None  # while a question that was undone is shown

    def edit(self, edit: Edit) -> EditResult:
        result = super().edit(edit)
        self._aside = None
        older = max(len(self.history.undo_stack) - 1, 0)  # entries; typing goes on with the newest
        self._typed_at = [*self._typed_at[:older], time.monotonic()]
        return result

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """In an empty prompt, characters in `commands` act as elsewhere."""
        character = character or UNKNOWN_TO_TEXTUAL.get(key)
        command = not self.text and character is not None and character in self.commands
        return super().check_consume_key(key, character) and not command

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """TextArea has an F6 and an F7 of its own, which are the app's here."""
        own = ("select_line", "select_all")
        return action not in own and super().check_action(action, parameters)

    async def on_key(self, event: events.Key) -> None:
        """Act on keys in order with the letters around them. As priority bindings they would
        overtake letters that are still queued in a burst of keys; as plain ones, which act once
        they have come to the app, they would be overtaken. Keys behind one that leaves the prompt,
        as Tab does, or that opens a dialog, go where it leads."""
        if self._away:
            self._send_on(event)
            return
        focused = self.screen.focused
        if focused not in (self, None) and not self._late(event):
            event.stop()
            event.prevent_default()
            forward(event, focused)
            return
        if await self._act(event):
            event.stop()
            event.prevent_default()
        elif event.is_printable and not self.check_consume_key(event.key, event.character):
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Behind a key that has opened a dialog."""
        if self._away:
            self._send_on(event)

    def _late(self, event: events.Key) -> bool:
        """Whether a key that leaves would close a dialog that was opened since by a priority
        key."""
        found = None if event.is_printable else self.screen.active_bindings.get(event.key)
        leaves = found is not None and found.binding.action == LEAVE
        return leaves and self.app.screen is not self.screen

    async def _act(self, event: events.Key) -> bool:
        """Run what a key is bound to; return whether it was more than a letter to type."""
        before = self.app.screen
        done = await self._run_bindings(event)
        if done and before is self.screen is not self.app.screen:
            self._away = True
            try:
                await self.dialog_filled()
            finally:  # once the keys in this widget's queue have gone on
                self.call_later(self._come_back)
        return done

    async def _come_back(self) -> None:
        self._away = False
        await self.keys_gone()

    def _send_on(self, event: events.Key | events.Paste) -> None:
        event.stop()
        event.prevent_default()
        forward(event, self.app.focused or self.app.screen)

    async def _run_bindings(self, event: events.Key) -> bool:
        """Of a key with several the one of this widget, or that the user has chosen, is first."""
        for binding in active_bindings(self.app, self.BINDINGS):
            if binding.key == event.key:
                await self.run_action(binding.action)
                return True
        if not event.is_printable and (command := self._chosen_command(event.key)):
            await self.app.run_action(*command)
            return True
        consumed = event.is_printable and self.check_consume_key(event.key, event.character)
        if consumed or event.key == BREAK:  # which TextArea types
            return False
        return await run_bindings(self.screen, event.key)

    def _chosen_command(self, key: str) -> tuple[str, DOMNode] | None:
        """The action, and its node, that the user has bound to this key, which then is not an
        editing key of TextArea."""
        for node, bindings in ((self.app, [*RUN_KEYS, *APP_KEYS]), (self.screen, VIEW_KEYS)):
            usual = {each for binding in bindings for each in binding.key.split(",")}
            for binding in active_bindings(self.app, bindings):
                if binding.key == key and key not in usual:
                    return binding.action, node
        return None

    def on_resize(self) -> None:
        """Keep the cursor in view where the lines are broken anew."""
        self.call_after_refresh(self.scroll_cursor_visible)

    def remember(self, text: str) -> None:
        if text in self._history:
            self._history.remove(text)
        self._history.append(text)
        self._index = len(self._history)
        self._edits.clear()

    def recall_earlier(self, texts: Sequence[str]) -> None:
        """Put prompts of earlier sessions before those of this one."""
        new = [text for text in dict.fromkeys(reversed(texts)) if text not in self._history][::-1]
        self._history[:0] = new
        self._index += len(new)
        self._edits = {index + len(new): text for index, text in self._edits.items()}

    @property
    def edited(self) -> bool:
        """Whether the user has changed the text."""
        return self.text != self._written

    def write(self, text: str) -> None:
        """Replace the text, as an edit that can be undone."""
        self._written = text
        if text != self.text:
            self.history.checkpoint()
            self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
            self.history.checkpoint()
        self.move_cursor(self.document.end)

    def put_away(self, instead: str = "") -> None:
        """Replace the text; the up key brings it back, and so does undo."""
        if self.text.strip():
            self.remember(self.text)
            self.unasked.append(self.text)
        self.write(instead)

    def put_back(self, text: str) -> None:
        """Show a question that was undone. That is no typing, which the next undo would take
        back. Once a redo has taken it away again, typing that was undone before can be redone."""
        history = deepcopy(self.history)  # loading clears it
        aside = self._aside or Aside(self.text, history, self._typed_at, self._undone_at)
        self._index = len(self._history)
        self._load(text)
        if text == aside.text:
            self.history = aside.history
            self._typed_at, self._undone_at = aside.typed_at, aside.undone_at
        else:
            self._aside = aside

    def take(self, text: str) -> str:
        """Remove `text`, which is asked now, and return what was typed after it."""
        self._taken.append(text)
        self.remember(text)
        self.unasked = [each for each in self.unasked if each != text]
        more = self.text.removeprefix(text)
        self._load(more.lstrip())
        return more

    def asked(self, event: Submitted) -> str:
        """Return what was submitted, without questions that still stood before it and are taken by
        now, as in a burst. What was typed since may stand behind it."""
        text = event.text
        for each in self._taken[event.taken :]:
            text = text.removeprefix(each).lstrip()
        return text

    def _load(self, text: str) -> None:
        """Replace the text; undo starts anew."""
        self._aside = None
        self._written = text
        self.load_text(text)
        self.move_cursor(self.document.end)

    def action_submit(self) -> None:
        if self.example and not self.text.strip():
            self.write(self.example)
        self.post_message(self.Submitted(self.text, len(self._taken)))

    def undo(self) -> None:
        self._go_to_start()
        super().undo()

    def redo(self) -> None:
        self._go_to_start()
        super().redo()

    def _go_to_start(self) -> None:
        """TextArea draws the cursor of before where the text is shorter already, and fails."""
        self.selection = Selection.cursor((0, 0))

    def action_undo(self) -> None:
        """Undo what was typed here, unless something else was changed later."""
        typed = len(self.history.undo_stack)
        if not typed or self._typed_at[typed - 1] < self.changed_at():
            raise SkipAction
        older = len(self.history.redo_stack)
        super().action_undo()
        self._undone_at = [*self._undone_at[:older], time.monotonic()]
        self.post_message(self.Undone(True))

    def action_redo(self) -> None:
        """Type again what was undone here, unless something else was undone later."""
        undone = len(self.history.redo_stack)
        if not undone or self._undone_at[undone - 1] < self.undone_at():
            raise SkipAction
        super().action_redo()
        self.post_message(self.Undone(False))

    def action_delete_to_start_of_line(self) -> None:
        """As in a shell, of the line that was written, which may be wrapped."""
        row, column = self.selection.end
        if column:
            self.delete((row, 0), (row, column))
        else:
            super().action_delete_to_start_of_line()

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        row, column = self.selection.end
        if column < (end := len(self.document[row])):
            self.delete((row, column), (row, end))
        else:
            await super().action_delete_to_end_of_line_or_delete_line()

    def action_newline(self) -> None:
        self.insert("\n")

    def action_erase_or_leave(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.Leaving())

    def action_cursor_page_up(self) -> None:
        self._page(-1)

    def action_cursor_page_down(self) -> None:
        self._page(1)

    def _page(self, step: int) -> None:
        """Scroll the prompt if it is longer than its widget, else the answer."""
        if self.wrapped_document.height <= self.size.height:
            self.post_message(self.Paged(step))
        elif step < 0:
            super().action_cursor_page_up()
        else:
            super().action_cursor_page_down()

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.cursor_at_first_line and self._index > 0:
            same = self._index > 1 and self._place(self._index - 1) == self.text
            self._recall(self._index - 1 - same)  # a key that changes nothing would seem dead
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self.cursor_at_last_line and self._index < len(self._history):
            self._recall(self._index + 1)
        else:
            super().action_cursor_down(select)

    def _recall(self, index: int) -> None:
        self._edits[self._index] = self.text
        self._index = index
        self._load(self._place(index))

    def _place(self, index: int) -> str:
        """The text at this place of the history, as it was left."""
        return self._edits.get(index, [*self._history, ""][index])
