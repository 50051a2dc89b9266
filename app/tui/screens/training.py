"""A training that runs: what `specchat heads watch` shows."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Group
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, Static

from app.tui.background import run_in_background
from app.tui.format.training import (
    REFRESH_SECONDS,
    answer_view,
    newest_reports,
    newest_training,
    view,
)
from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Dialog
from app.tui.tokens.token_text import RenderMode
from app.tui.widgets.keyed_box import KeyedScroll
from decoding.errors import InputError


class TrainingScreen(Dialog[None]):
    """Begins with the newest training in the present folder; another one's folder can be typed."""

    AUTO_FOCUS = "Input"
    BINDINGS = [
        Binding("escape", "dismiss", "Close", id="training.close", tooltip="Back to the lanes"),
    ]

    def __init__(self, mode: RenderMode) -> None:
        super().__init__()
        self._mode: RenderMode = mode
        self._out: Path | None = None
        self._shown = False  # reports of this training

    def compose(self) -> ComposeResult:
        with KeyedScroll(id="training", classes="kept") as box:
            box.border_title = "Training"
            box.show_keys([f"{first_key(self, 'dismiss')} closes", "Enter watches the folder"])
            yield Input(compact=True, placeholder="The --out of a training")
            yield Static(id="reports", markup=False)

    async def on_mount(self) -> None:
        self._out = await run_in_background(lambda: newest_training(Path.cwd()))
        if self._out is not None:
            self.query_one(Input).value = str(self._out)
        self.set_interval(REFRESH_SECONDS, self.show)
        await self.show()

    @on(Input.Submitted)
    async def choose(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self._out, self._shown = Path(event.value.strip()).expanduser(), False
            await self.show()

    async def show(self) -> None:
        out, columns = self._out, max(self.query_one(Static).size.width, 20)
        reports = self.query_one("#reports", Static)
        if out is None:
            reports.update("No training in this folder: type the --out of one.")
            return
        try:
            found = await run_in_background(lambda: self._read(out, columns))
        except (InputError, OSError) as error:
            if not self._shown:  # one that is done has removed its log: what it was stays
                reports.update(str(error))
            return
        self._shown = True
        reports.update(found)

    def _read(self, out: Path, columns: int) -> Group:
        figures = view(out, newest_reports(out), columns, time.time())
        return Group(figures, answer_view(out, columns, self._mode))
