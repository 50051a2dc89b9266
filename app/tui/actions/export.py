"""Exports, from the command palette: the screen as a picture, the conversation as JSON, Markdown or
an asciicast, the scoreboard and advice as a report."""

from __future__ import annotations

import sys
from asyncio import create_subprocess_exec, to_thread
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from textual.app import App, SystemCommand

from app.history.document import conversation_document
from app.history.export import markdown, unique_path
from app.history.recorder import Recorder
from app.history.recording import Recording
from app.report.advice_text import advice_report
from app.report.page import Report
from app.report.scoreboard import scoreboard_report
from app.text.terminal_text import as_json, shortened
from app.tui.actions.advice import Advisor
from app.tui.actions.base import AppBase
from app.tui.background import run_in_background
from app.tui.state.scores import scores
from app.tui.widgets.scoreboard import Scoreboard
from decoding.errors import InputError

TITLE_CHARACTERS = 60
REPORTS = {".md": "Markdown", ".html": "a page (HTML)"}
PLOTS = {".svg": "a plot (SVG)", ".png": "a plot (PNG)"}
PALETTE_SECONDS = 0.2  # until the command palette has closed


class Exports:
    def __init__(self, app: AppBase, advisor: Advisor) -> None:
        self.app = app
        self.advisor = advisor

    def commands(self) -> Iterator[SystemCommand]:
        """Entries of the command palette."""
        yield SystemCommand(
            "Export a picture (SVG)",
            "Save what is on the screen as an SVG file",
            self._export_picture,
        )
        for suffix, name in (REPORTS | PLOTS).items():
            yield SystemCommand(
                f"Export the scoreboard as {name}",
                "Save speeds, speedups and what they mean, to share",
                partial(self._export_scoreboard, suffix),
            )
        for suffix, name in REPORTS.items() if self.advisor.advice else ():
            yield SystemCommand(
                f"Export the advice as {name}",
                "Save what was measured, what is best, and configurations to paste",
                partial(self._export_advice, suffix),
            )
        if self.app.recorder:
            yield SystemCommand(
                "Export as JSON",
                "Save every round, for programs and for specchat replay",
                self._export_json,
            )
            yield SystemCommand(
                "Export as Markdown",
                "Save the answers, and a table of figures for each turn",
                self._export_markdown,
            )
        if self.app.store:  # another process reads its file
            yield SystemCommand(
                "Export as asciicast",
                "Render the conversation as an asciicast for asciinema players",
                self._export_asciicast,
            )

    def _export_json(self) -> None:
        self._export(".json", lambda recording: as_json(conversation_document(recording)))

    def _export_markdown(self) -> None:
        self._export(".md", partial(markdown, lanes=list(self.app.state.lanes)))

    def _export_scoreboard(self, suffix: str) -> None:
        state, found = self.app.state, scores(self.app.state)
        if not any(score.speed for score in found):
            self.app.show_notice("There is nothing to export yet: ask something first")
            return
        loaded = state.loaded
        facts = [
            *([loaded.target, loaded.hardware] if loaded else []),
            *([f"seed {state.seed}"] if state.seed is not None else []),
            f"temperature {state.params.sampling.temperature:g}",
        ]
        title = shortened(state.started.prompt, TITLE_CHARACTERS) if state.started else ""
        sentences = self.app.main.query_one(Scoreboard).sentences(state)
        report = scoreboard_report(title, found, sentences, ", ".join(facts))
        self._save_report(report, suffix, "scoreboard ")

    def _export_advice(self, suffix: str) -> None:
        if self.advisor.advice:
            self._save_report(advice_report(dict(self.advisor.advice)), suffix)

    def _save_report(self, report: Report, suffix: str, kind: str = "") -> None:
        def save() -> Path:
            return write_new(f"{kind}{report.title}", suffix, report.render(suffix))

        self.app.run_worker(self._notify_saved(to_thread(save)))

    def _export(self, suffix: str, write: Callable[[Recording], str]) -> None:
        recorder, recorded = self.app.recorder, self._recorded
        if recorder is None or recorded is None:
            return

        def save() -> Path:
            recording = recorder.store_of(recorded).open(recorded)
            return write_new(recording.title, suffix, write(recording).encode())

        self.app.run_worker(self._notify_saved(to_thread(save)))  # leaving waits for it

    @property
    def _recorded(self) -> Path | None:
        """The file of the present conversation; without one, shows a notice."""
        path = self.app.recorder.path if self.app.recorder else None
        if path is None:
            self.app.show_notice("There is nothing to export yet")
        return path

    async def _notify_saved(self, saving: Awaitable[Path]) -> None:
        try:
            path = await saving
        except (InputError, OSError) as error:
            self.app.notify(describe_error(error), severity="error", markup=False)
        else:
            self.app.notify(f"Saved as {path.name} in {path.parent}", markup=False)

    def _export_picture(self) -> None:
        async def save() -> Path:
            picture = screen_svg(self.app).encode()
            return await to_thread(write_new, "specchat", ".svg", picture)

        self.app.clear_notifications()  # they would cover the screen
        self.app.set_timer(PALETTE_SECONDS, lambda: self._notify_saved(save()))

    def _export_asciicast(self) -> None:
        recorder, path = self.app.recorder, self._recorded
        if recorder is None or path is None:
            return
        if recorder.store_of(path) is not self.app.store:
            self.app.show_notice(
                "An asciicast is made from the saved file, and this conversation is not saved"
            )
        else:
            saving = self._notify_saved(self._write_asciicast(recorder, path))
            self.app.run_worker(saving, group="asciicast", exclusive=True, exit_on_error=False)

    async def _write_asciicast(self, recorder: Recorder, recorded: Path) -> Path:
        """Runs in another process, because it is drawn by a second app, and a process can only have
        one."""
        recording = await run_in_background(partial(recorder.store.open, recorded))
        path = unique_path(recording.title, ".cast")
        recording_now = f"Recording {path.name} …"
        self.app.show_notice(recording_now, None)  # it may take a minute
        process = await create_subprocess_exec(
            # -P: don't import an app.py from the user's folder
            *(sys.executable, "-P", "-m", "app", "replay", str(recorded), "--cast", str(path)),
            *("--size", f"{self.app.size.width}x{self.app.size.height}"),
            stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE,
        )  # fmt: skip
        try:
            _, complaint = await process.communicate()
        finally:
            if process.returncode is None:  # another export was started, or the app exits
                process.kill()
            if self.app.state.notice == recording_now:
                self.app.show_notice("")
        lines = complaint.decode(errors="replace").strip().splitlines()
        if process.returncode:
            raise InputError(lines[-1] if lines else f"{path.name} could not be made")
        return path


def write_new(title: str, suffix: str, data: bytes) -> Path:
    """Write a new file to the working folder; never overwrites one. Raises OSError, then no part of
    the file is left."""
    while True:
        path = unique_path(title, suffix)
        with suppress(FileExistsError), path.open("xb") as file:
            try:
                file.write(data)
                file.flush()
            except OSError as error:
                path.unlink(missing_ok=True)
                error.filename = str(path)
                raise
            return path


def describe_error(error: InputError | OSError) -> str:
    """In one line: what, and where."""
    if isinstance(error, InputError):
        return str(error)
    file = f"{error.filename}: " if error.filename else ""
    return f"not saved: {file}{error.strerror or error}"


def screen_svg(app: App[None]) -> str:
    """Return the screen as SVG. Without xml:space some viewers (librsvg) drop the spaces at the
    ends of runs of text."""
    return app.export_screenshot().replace("<svg ", '<svg xml:space="preserve" ', 1)
