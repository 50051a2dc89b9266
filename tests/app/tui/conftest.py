from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.tui.app import SpecchatApp
from app.tui.state.startup import Startup
from tests.support.scripted import ScriptedEngine
from tests.support.stage import LANES, Clock, Play, Stage


@pytest.fixture
def play() -> Play:
    @asynccontextmanager
    async def start(
        size: tuple[int, int] = (100, 30),
        *,
        load: bool = True,
        scoreboard: bool = False,
        **options: Any,
    ) -> AsyncIterator[Stage]:
        engine, clock = ScriptedEngine(), Clock()
        app = SpecchatApp(engine, Startup(clock=clock, **{"lanes": LANES, "seed": 42, **options}))
        app.main.scores_shown = scoreboard  # most tests look at the panes
        async with app.run_test(size=size) as pilot:
            app.main.prompt.cursor_blink = False
            await pilot.pause()
            stage = Stage(app, engine, pilot, clock)
            if load:
                await stage.load()
            yield stage

    return start
