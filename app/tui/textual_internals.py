"""All that the app uses of Textual's insides, where it has no public access. Each is tested in
`tests/app/tui/test_textual_internals.py`, which fails if another version of Textual differs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.document._history import EditHistory
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

__all__ = [
    "Edit",
    "EditHistory",
    "EditResult",
    "KeepsBeforeACrash",
    "forward",
    "has_backlog",
    "hear_escape_alone",
    "keymap_of",
    "lay_out_again",
    "outlive_terminal",
    "run_bindings",
]

Result = TypeVar("Result")

ESCAPE = "\x1b"
ESCAPE_KEY = "[27u"  # after ESC: the Escape key in the kitty protocol, which is never ambiguous
# Before these, an escape is left to Textual: they continue a sequence, or are an escape, or Option
# with ←, →, Enter or Backspace on macOS.
JOINED = "[O]P_^X\\" + "\x1b" + "bf\r\n\x7f\x08"
ALONE = re.compile(rf"{ESCAPE}(?=[^{re.escape(JOINED)}])")
PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"
UNFINISHED = re.compile(r"\x1b(?:\[(?:2(?:0[01]?)?)?)?\Z")  # one of them, perhaps
MARKS = re.compile(rf"(\x1b\[20[01]~|{UNFINISHED.pattern})")


class InputParser(XTermParser):
    """Reads Escape and a key that come at once as these two keys, as vi does. Textual makes one of
    them, Alt with that key, or loses or types the escape. People do not type as fast, but a busy
    machine reads late, and macros are."""

    keymap: Mapping[str, str] = {}
    """The user's own keys. With one of Alt among them, all is left to Textual."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._sent = ""  # the beginning of a sequence, or an escape key
        self._held = ""  # the beginning of a paste's end, perhaps

    def feed(self, data: str) -> Iterable[Message]:
        alt = any("alt+" in keys for keys in self.keymap.values())
        if data and not alt and not constants.DISABLE_KITTY_KEY:
            data = self._told_apart(data)
            if not data:  # which would be the end of all input
                return ()
        return super().feed(data)

    def tick(self) -> Iterable[Message]:
        for message in super().tick():
            self._sent = ""  # it was a key
            yield message

    def _told_apart(self, data: str) -> str:
        sent, held, self._sent, self._held = self._sent, self._held, "", ""
        told = []
        for part in filter(None, MARKS.split(sent + held + data)):
            unfinished = UNFINISHED.match(part)
            if part in (PASTE_BEGINS, PASTE_ENDS):
                self._pasting = part == PASTE_BEGINS
                told.append(part)
            elif not self._pasting:
                self._sent = part if unfinished else ""
                told.append(ALONE.sub(ESCAPE + ESCAPE_KEY, part))
            elif unfinished:
                self._held = part
            else:
                told.append(part.replace(ESCAPE, ""))  # Textual would lose what follows it
        return "".join(told).removeprefix(sent)


def hear_escape_alone(app: App[Any]) -> None:
    """Make the app's driver read its input with `InputParser`."""
    module = sys.modules[app.driver_class.__module__]
    if hasattr(module, "XTermParser"):  # headless drivers read nothing
        own = {"keymap": property(lambda _: keymap_of(app))}
        setattr(module, "XTermParser", type("AppInputParser", (InputParser,), own))  # noqa: B010


class KeepsBeforeACrash(App[Result]):
    """An app that keeps what it must before Textual closes it because of an exception."""

    def keep(self) -> None:
        """Called while the widgets are still there."""

    def _handle_exception(self, error: Exception) -> None:
        with suppress(Exception):
            self.keep()
        super()._handle_exception(error)


def keymap_of(app: App[Any]) -> Mapping[str, str]:
    """Return the user's keys by the ids of bindings."""
    return app._keymap


def forward(event: events.Key | events.Paste, widget: Widget) -> None:
    """Send a key or a paste to another widget than the one that got it."""
    if isinstance(event, events.Key):
        widget._forward_event(events.Key(event.key, event.character))
    else:
        widget._forward_event(events.Paste(event.text))


async def run_bindings(screen: Screen[Any], key: str) -> bool:
    """Do at once what a key does on a screen, as Textual does once the key has come to the app;
    return whether there was anything to do. Keys with priority, which never come to a widget, are
    left out."""
    for node, bindings in screen._modal_binding_chain:
        for binding in bindings.key_to_bindings.get(key, ()):
            if not binding.priority and await screen.app.run_action(binding.action, node):
                return True
    return False


def has_backlog(app: App[Any]) -> bool:
    """Return whether earlier output is still queued for a slow terminal. Drawing is then paused,
    because keys would seem dead until the queue has been drawn. Drivers without a queue have no
    backlog."""
    writer = getattr(app._driver, "_writer_thread", None)
    queue = getattr(writer, "_queue", None)
    return queue is not None and queue.qsize() > 0


class Lossy:
    """A terminal to write to, that may be closed: what is written then is lost, without an
    error."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._file.flush()


def outlive_terminal(app: App[Any]) -> None:
    """Let the app end by itself when its terminal is closed. The thread that writes would end with
    an error, and the app wait for ever for room in its queue, with the models in memory."""

    class Driver(app.driver_class):  # type: ignore[misc, name-defined]
        _file: Any

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            if file := getattr(self, "_file", None):
                self._file = Lossy(file)

    Driver.__module__ = app.driver_class.__module__  # where the parser is looked for
    app.driver_class = Driver


def lay_out_again(widget: Widget) -> None:
    """Forget a widget's height, although it is going to be laid out: a layout between two changes
    of its text would fix the first text's height for the second."""
    widget._layout_updates += 1
