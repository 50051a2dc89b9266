"""What the app does with kept conversations: reopen, rename, delete, export."""

from __future__ import annotations

import json
import sys
from asyncio import create_subprocess_exec, sleep, to_thread
from asyncio.subprocess import DEVNULL, PIPE
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from app.engine.commands import Resume
from app.engine.events import Event, Finished, Prefilled, RoundFinished, RunStarted
from app.history.document import conversation_document
from app.history.export import markdown, unique_path
from app.history.recording import Recording
from app.text.terminal_text import shortened
from app.tui.background import run_in_background
from app.tui.screens.conversations import ConversationsScreen
from decoding.errors import InputError

if TYPE_CHECKING:
    from app.tui.app import SpecchatApp

TITLE_CHARACTERS = 30  # in a notice
PALETTE_SECONDS = 0.2  # until the command palette is gone from the picture


class Conversations:
    """Acts on the app's recorder. Whatever goes wrong is a line on the screen."""

    def __init__(self, app: SpecchatApp) -> None:
        self._app = app

    def commands(self) -> Iterator[SystemCommand]:
        """Entries of the command palette."""
        yield SystemCommand(
            "Save a picture (SVG)", "What is on the screen, as an SVG file", self._save_picture
        )
        if self._app.recorder:
            for name, what, act in (
                (
                    "JSON",
                    "Every round, to be read by programs and played by replay",
                    self._save_json,
                ),
                (
                    "Markdown",
                    "The answers, and a table of figures for each turn",
                    self._save_markdown,
                ),
                ("asciicast", "A film for asciinema players, recorded anew", self._save_film),
            ):
                yield SystemCommand(f"Export as {name}", what, act)

    def choose(self) -> None:
        """The list of conversations."""
        recorder = self._app.recorder
        if recorder is None:
            self._say("Conversations are not kept here")
            return

        def take(path: Path | None) -> None:
            if path is not None:
                self._app.run_worker(self.reopen(path))

        self._app.push_screen(ConversationsScreen(recorder, self._leave), take)

    def _leave(self) -> bool:
        """Begin a new conversation; False while the current one is being answered."""
        if not self._app.state.running:
            self._app.action_new_conversation()
        return not self._app.state.running

    async def reopen(self, path: Path) -> None:
        """Show a kept conversation, and go on with it. In a worker: the app, which hears all keys,
        must not wait for a disk."""
        app, recorder = self._app, self._app.recorder
        assert recorder is not None
        if app.state.busy or not app.state.loaded:
            self._say(app.state.busy or app.state.ended or "Still loading")
            return
        app.state.opening = True
        try:
            recording, happened = await run_in_background(partial(self._read, path))
            recorder.go_on(path)
        except (InputError, OSError) as error:
            app.state.opening = False
            self._say(str(error))
        else:
            app.call_later(self._show, recording, happened)

    def _read(self, path: Path) -> tuple[Recording, list[Event]]:
        recorder = self._app.recorder
        assert recorder is not None
        recording = recorder.store.open(path)
        return recording, list(known(recording, set(self._app.state.lanes)))

    async def _show(self, recording: Recording, happened: list[Event]) -> None:
        """All of it. A lane's rounds reach its pane together, which takes half the time; in
        between the screen draws and hears keys. Lanes may have been removed since."""
        app = self._app
        assert recording.loaded is not None and app.state.loaded is not None
        app.engine.send(Resume(recording.past(), recording.seed))
        app.forget_conversation()
        rounds: Counter[str] = Counter()
        for event in happened:
            if isinstance(event, RoundFinished):
                app.state.apply(event)
                rounds[event.lane] += 1
                continue
            if isinstance(event, Finished) and event.lane in app.state.lanes:
                app.main.grid.add_rounds(app.state.lanes[event.lane], rounds.pop(event.lane, 0))
                await sleep(0)
            await app.take(event)
        other = recording.loaded.target
        told = "" if other == app.state.loaded.target else f", answered by {other}"
        answered = {name for turn in recording.turns for name in turn.answers}
        if unseen := sorted(answered - set(app.state.lanes)):
            told += f"; not among the lanes now: {', '.join(unseen)}"
        app.state.opening = False
        self._say(f"“{shortened(recording.title, TITLE_CHARACTERS)}” goes on here{told}")

    # Exports

    @property
    def _kept(self) -> Path | None:
        """The file of the present conversation; without one a line says so."""
        path = self._app.recorder.path if self._app.recorder else None
        if path is None:
            self._say("There is nothing to export yet")
        return path

    def _save_json(self) -> None:
        self._save(".json", lambda made: json.dumps(conversation_document(made), allow_nan=False))

    def _save_markdown(self) -> None:
        self._save(".md", markdown)

    def _save(self, suffix: str, write: Callable[[Recording], str]) -> None:
        recorder, kept = self._app.recorder, self._kept
        if recorder is None or kept is None:
            return

        def save() -> Path:
            recording = recorder.store.open(kept)
            text = write(recording)
            while True:
                file = unique_path(recording.title, suffix)
                with suppress(FileExistsError), file.open("x", encoding="utf-8") as new:
                    new.write(text)
                    return file

        self._app.run_worker(self._tell_of(to_thread(save)))  # leaving waits for it

    async def _tell_of(self, saving: Awaitable[Path]) -> None:
        try:
            path = await saving
        except InputError as error:
            self._app.notify(str(error), severity="error", markup=False)
        except OSError as error:
            told = f"can't write {error.filename}: {error.strerror or error}"
            self._app.notify(told, severity="error", markup=False)
        else:
            self._app.notify(f"Saved here as {path.name}", markup=False)

    def _save_picture(self) -> None:
        async def save() -> Path:
            path = unique_path("specchat", ".svg")
            path.write_text(picture(self._app), encoding="utf-8")
            return path

        self._app.clear_notifications()  # they would stand before what is to be seen
        self._app.set_timer(PALETTE_SECONDS, lambda: self._tell_of(save()))

    def _save_film(self) -> None:
        if path := self._kept:
            film = self._tell_of(self._film(path))
            self._app.run_worker(film, group="film", exclusive=True, exit_on_error=False)

    async def _film(self, kept: Path) -> Path:
        """In a process of its own: the film is made of another app, and there is room for one."""
        recorder, size = self._app.recorder, self._app.size
        assert recorder is not None
        recording = await run_in_background(partial(recorder.store.open, kept))
        path = unique_path(recording.title, ".cast")
        self._app.notify(f"Recording {path.name} …", markup=False)
        process = await create_subprocess_exec(
            # -P: an app.py in the user's folder is not ours
            *(sys.executable, "-P", "-m", "app", "replay", str(kept), "--cast", str(path)),
            *("--size", f"{size.width}x{size.height}"),
            stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE,
        )  # fmt: skip
        try:
            _, complaint = await process.communicate()
        finally:
            if process.returncode is None:  # another film was asked for, or the app is left
                process.kill()
        lines = complaint.decode(errors="replace").strip().splitlines()
        if process.returncode:
            raise InputError(lines[-1] if lines else f"{path.name} could not be made")
        return path

    def _say(self, text: str, seconds: float | None = 6.0) -> None:
        self._app.state.say(text, seconds)
        self._app.main.show_state()


def picture(app: SpecchatApp) -> str:
    """The screen as SVG. Spaces at the ends of its runs of text are places in the row: without a
    word about them some viewers (librsvg) drop them."""
    return app.export_screenshot().replace("<svg ", '<svg xml:space="preserve" ', 1)


def known(recording: Recording, lanes: set[str]) -> Iterator[Event]:
    """What happened in these lanes; there may have been others."""
    for turn in recording.turns:
        for event in turn.events():
            if isinstance(event, RunStarted):
                yield replace(event, lanes=tuple(name for name in event.lanes if name in lanes))
            elif not isinstance(event, Prefilled | RoundFinished | Finished) or event.lane in lanes:
                yield event
