from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import pytest  # noqa: E402
from scripted import ScriptedEngine  # noqa: E402
from stage import LANES, Clock, Play, Stage  # noqa: E402

from app.tui.app import SpecchatApp  # noqa: E402
from decoding.params import Params  # noqa: E402


@pytest.fixture
def play() -> Play:
    @asynccontextmanager
    async def start(
        size: tuple[int, int] = (100, 30), *, load: bool = True, **options: Any
    ) -> AsyncIterator[Stage]:
        engine, clock = ScriptedEngine(), Clock()
        options = {"params": Params(), "lanes": LANES, **options}
        app = SpecchatApp(engine, clock=clock, **options)
        async with app.run_test(size=size) as pilot:
            app.main.prompt.cursor_blink = False
            await pilot.pause()
            stage = Stage(app, engine, pilot, clock)
            if load:
                await stage.load()
            yield stage

    return start
