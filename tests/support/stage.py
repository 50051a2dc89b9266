"""The app on a stage: the engine says what the test tells it, time passes when the test says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from rich.style import Style
from textual.pilot import Pilot

from app.engine.events import Event, Finished, LaneInfo, Loaded, RunFinished, RunStarted
from app.tui.app import SpecchatApp
from app.tui.screens.lanes_layout import LanesLayout
from app.tui.widgets.token_view import TokenView
from tests.support import parsed_css  # noqa: F401
from tests.support.quiet import FRAME, quiet
from tests.support.scripted import ScriptedEngine, lane

LANES = (
    lane("ar", title="Autoregressive"),
    lane("draft", title="Draft model", gamma=4),
    lane("lookup", title="Prompt lookup", gamma=10),
    lane("medusa", title="Medusa", gamma=3, available=False, reason="no heads: give --medusa DIR"),
)
PATIENCE = 60.0  # seconds, for other threads on a busy machine
PROMPTS = ("What is the capital of France?", "Write a haiku about [red]colours[/red].")


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Stage:
    app: SpecchatApp
    engine: ScriptedEngine
    pilot: Pilot[None]
    clock: Clock

    async def tell(self, *events: Event) -> None:
        """The engine emits `events`; a second later they are on the screen."""
        self.engine.emit(*events)
        self.clock.now += 1.0
        await self.app.pump()
        await quiet()

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await quiet()
            while not restyled(self.app.main):  # pane by pane, by a timer
                await self.pilot.pause(FRAME)

    async def type(self, text: str) -> None:
        await self.press(*({" ": "space"}.get(char, char) for char in text))

    async def find(self, text: str) -> None:
        """Types it into the palette or a line that completes, and waits for what is found."""
        await self.type(text)
        await self.app.workers.wait_for_complete()
        await quiet()

    async def until(self, done: Callable[[], object]) -> None:
        """For what another thread does in its own time."""
        deadline = time.monotonic() + PATIENCE
        while not done() and time.monotonic() < deadline:
            await self.pilot.pause(FRAME)
        assert done(), self.text

    async def resize(self, columns: int, rows: int) -> None:
        await self.pilot.resize_terminal(columns, rows)
        await quiet()

    async def load(self, lanes: tuple[LaneInfo, ...] = LANES) -> None:
        await self.tell(Loaded("demo", "cpu", "float32", 2, 2048, lanes))

    async def begin(self, prompt: str = "Hello", turn: int = 0, *names: str) -> None:
        lanes = names or tuple(each.name for each in LANES if each.available)
        at = self.clock.now  # no two runs begin at once
        await self.tell(RunStarted(turn, turn, prompt, 3, 42, lanes, at=at))

    async def finish(self, run: int = 0, *names: str) -> None:
        """All lanes are done, and the run is over."""
        lanes = names or tuple(each.name for each in LANES if each.available)
        await self.tell(*(Finished(name, "stop") for name in lanes))
        await self.tell(RunFinished(run, False))

    async def to_lane(self, number: int) -> None:
        """Out of the prompt, and by keys to a lane."""
        if self.app.main.prompt.has_focus:
            await self.press("tab")
        await self.press(str(number))

    @property
    def text(self) -> str:
        """What is on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    @property
    def help_text(self) -> str:
        """All of the help, also what is scrolled away: to draw it all would take seconds."""
        parts = self.app.screen.query_one("#help").query("Static, DefinitionList")
        return "\n".join(str(part.render()) for part in parts)

    def view(self, number: int) -> TokenView:
        pane = self.app.main.grid.pane(number)
        assert pane
        return pane.view

    def lines(self, number: int) -> list[str]:
        """A pane's text as it is drawn."""
        view = self.view(number)
        return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def restyled(screen: LanesLayout) -> bool:
    """Whether all visible panes have the current display options."""
    panes = (pane for pane in screen.grid.panes if pane.visible_text)
    return all(pane.view.display_options == screen.display_options for pane in panes)


def color_name(style: Style | None) -> str:
    return style.color.name if style and style.color else ""


Play = Callable[..., AbstractAsyncContextManager[Stage]]
