"""Textual's insides do what the app expects of them, and how a newer version differs."""

from __future__ import annotations

import os
from errno import EIO
from io import StringIO
from queue import Queue
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.actions import SkipAction
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread
from textual.widgets import Input, Static, TextArea

from app.tui.textual_internals import (
    InputParser,
    KeepsBeforeACrash,
    forward,
    has_backlog,
    hear_escape_alone,
    keymap_of,
    lay_out_again,
    outlive_terminal,
    run_bindings,
)
from tests.support.quiet import quiet
from tests.support.scripted import prefilled
from tests.support.stage import Play


def keys(parser: XTermParser, *inputs: str) -> list[str]:
    """The keys and pastes that a driver reads from a terminal, input by input."""
    read = [message for data in inputs for message in parser.feed(data)]
    return [each.key if isinstance(each, events.Key) else each.text for each in read]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("typed", "heard"),
    [
        ("\x1b2", ["escape", "2"]),  # Textual's: ™
        ("\x1br", ["escape", "r"]),  # alt+r
        ("\x1b\x1b\x10", ["escape", "escape", "ctrl+p"]),  # without the second escape
        ("\x1br\x1b[A", ["escape", "r", "up"]),  # circumflex_accent, r, up
        ("\x1b?\x1b", ["escape", "question_mark"]),  # the last may begin a sequence
        ("\x1bé", ["escape", "é"]),
        ("\x1b[A\x1bOP\x1b[1;5C", ["up", "f1", "ctrl+right"]),
        ("\x1b\x1b[A", ["escape", "up"]),
        ("\x1bb\x1bf", ["ctrl+left", "ctrl+right"]),  # Option with an arrow
        ("a\x1b[200~\x1b2 \x1b3\x1b[201~\x1b4", ["a", "2 3", "escape", "4"]),
    ],
)
def test_escape_and_a_key_at_once_are_two_keys(typed: str, heard: list[str]) -> None:
    assert keys(InputParser(), typed) == heard
    in_pieces = keys(InputParser(), *typed)  # as a slow line sends it
    assert in_pieces == heard


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_paste_may_come_in_pieces(cut: int) -> None:
    whole = "\x1b[200~ab\x1b[31mcd\x1b[201~\x1b3"
    assert keys(InputParser(), whole[:cut], whole[cut:]) == ["ab[31mcd", "escape", "3"]


def test_an_escape_that_was_a_key_is_not_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 0.0)
    parser = InputParser()
    assert keys(parser, "\x1b") == []
    assert [message.key for message in parser.tick()] == ["escape"]  # type: ignore[attr-defined]
    assert keys(parser, "2") == ["2"]


def test_a_user_who_binds_keys_of_alt_has_them() -> None:
    class Parser(InputParser):
        keymap = {"view.ghosts": "x,alt+r"}

    parser = Parser()
    assert keys(parser, "\x1br\x1b") == ["circumflex_accent", "r"]  # as Textual reads it


async def test_the_driver_uses_the_apps_parser(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    async with play() as stage:
        monkeypatch.setattr(linux_driver, "XTermParser", XTermParser)
        stage.app.driver_class = linux_driver.LinuxDriver
        hear_escape_alone(stage.app)
        parser = vars(linux_driver)["XTermParser"]
        assert keys(parser(), "\x1b2") == ["escape", "2"]
        stage.app.set_keymap({"view.ghosts": "alt+2"})
        assert keys(parser(), "\x1b2") != ["escape", "2"]


async def test_keys_behind_one_that_leaves_a_widget_can_be_forwarded() -> None:
    class Two(App[None]):
        def compose(self) -> ComposeResult:
            yield Input(id="first")
            yield Input(id="second")

    app = Two()
    async with app.run_test():
        second = app.query_one("#second", Input)
        forward(events.Key("x", "x"), second)
        forward(events.Paste("yz"), second)
        await quiet()
        assert second.value == "xyz" and app.query_one("#first", Input).value == ""


async def test_what_a_key_does_can_be_done_at_once() -> None:
    class Skipping(Input):
        BINDINGS = [("f2", "skip"), ("f3", "app.add('input')")]

        def action_skip(self) -> None:
            raise SkipAction

    class Adding(App[None]):
        BINDINGS = [
            ("f2,f3,x", "add('app')"),
            Binding("f4", "add('first')", priority=True),
        ]

        def compose(self) -> ComposeResult:
            yield Skipping()

        def action_add(self, what: str) -> None:
            self.added = [*getattr(self, "added", ()), what]

    app = Adding()
    async with app.run_test():
        done = [await run_bindings(app.screen, key) for key in ("f2", "f3", "f4", "x")]
        assert done == [True, True, False, False] and app.added == ["app", "input"]


async def test_the_keymap_is_in_textuals_names(play: Play) -> None:
    async with play() as stage:
        stage.app.set_keymap({"app.help": "f1,?"})
        assert keymap_of(stage.app) == {"app.help": "f1,question_mark"}


async def test_an_app_keeps_what_it_must_before_it_ends_with_an_error() -> None:
    class Failing(KeepsBeforeACrash[None]):
        kept = ""

        def compose(self) -> ComposeResult:
            yield TextArea("written")

        def keep(self) -> None:
            self.kept = self.query_one(TextArea).text

        def on_key(self) -> None:
            raise ValueError("an error")

    app = Failing()
    with pytest.raises(ValueError, match="an error"):
        async with app.run_test() as pilot:
            await pilot.press("f5")
    assert app.kept == "written"


async def test_a_text_that_changes_twice_gets_the_height_of_the_second() -> None:
    class OneText(App[None]):
        CSS = "Static { height: auto }"

        def compose(self) -> ComposeResult:
            yield Static("one line")

    app = OneText()
    async with app.run_test():
        text = app.query_one(Static)
        text.update("two\nlines")
        app.screen._refresh_layout()  # between two changes
        text.update("now\nthree\nlines")
        lay_out_again(text)
        await quiet()
        assert text.size.height == 3


async def test_events_wait_until_the_terminal_has_drawn(play: Play) -> None:
    """A slow line gets fewer, larger pieces, so that keys act soon."""
    async with play() as stage:
        await stage.begin()
        queue: Queue[str] = Queue()
        setattr(stage.app._driver, "_writer_thread", SimpleNamespace(_queue=queue))  # noqa: B010
        queue.put("a frame")
        await stage.tell(prefilled("ar", "Paris"))
        assert "Paris" not in stage.text
        queue.get()
        await stage.tell()
        assert "Paris" in stage.text


def test_textuals_own_queue_is_found() -> None:
    with open(os.devnull, "w") as nowhere:
        thread = WriterThread(nowhere)  # not started: it takes nothing
        app = SimpleNamespace(_driver=SimpleNamespace(_writer_thread=thread))
        assert not has_backlog(app)  # type: ignore[arg-type]
        thread.write("a frame")
        assert has_backlog(app)  # type: ignore[arg-type]
    assert not has_backlog(SimpleNamespace(_driver=None))  # type: ignore[arg-type]


def test_a_closed_terminal_keeps_nobody_waiting() -> None:
    """The thread of a driver that writes must not end before it is told to."""

    class Closed(StringIO):
        def flush(self) -> None:
            raise OSError(EIO, "Input/output error")

    app = App[None]()
    app.driver_class = type("Driver", (), {"_file": Closed()})
    outlive_terminal(app)
    driver: Any = app.driver_class()  # type: ignore[call-arg]
    writer = WriterThread(driver._file)
    writer.start()

    def leave() -> None:
        for _ in range(100):
            writer.write("x")
        writer.stop()

    leaving = Thread(target=leave, daemon=True)
    leaving.start()
    leaving.join(10)
    assert not leaving.is_alive() and not writer.is_alive()
