"""Writes a recording as an asciicast (version 2), drawn by the replay app.

https://docs.asciinema.org/manual/asciicast/v2/
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from pathlib import Path

from rich.console import Console
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from app.history.recording import Recording
from app.text.terminal_text import visible
from app.tui.replay.app import ReplayApp
from app.tui.state.startup import Startup
from decoding.errors import InputError
from decoding.files import write_atomically

FRAMES_A_SECOND = 15
PAINT_SECONDS = 0.02  # real time for Textual to draw what has changed
LAST_SECONDS = 2.0  # for which the last frame is shown
BEGIN, SHOW_CURSOR = "\x1b[?25l\x1b[2J", "\x1b[?25h"  # hide the cursor, clear the screen
SIZES = (40, 12), (400, 200)


def recording_driver(record: Callable[[str], None]) -> type[HeadlessDriver]:
    """Return a driver that passes on all output instead of writing to a terminal."""

    class RecordingDriver(HeadlessDriver):
        @property
        def is_headless(self) -> bool:
            return False  # Textual does not draw on headless drivers

        def write(self, data: str) -> None:
            record(data)

    return RecordingDriver


def parse_size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    least, most = SIZES
    if found:
        columns, rows = int(found[1]), int(found[2])
        if least[0] <= columns <= most[0] and least[1] <= rows <= most[1]:
            return columns, rows
    raise InputError(
        f"--size: columns x rows, from {least[0]}x{least[1]} to {most[0]}x{most[1]}, not {text!r}"
    )


def write_cast(recording: Recording, path: Path, size: tuple[int, int], speed: float) -> None:
    """Write a recording. Raises InputError if the file exists or has no folder, OSError if it
    can't be written, and SystemExit if the screen fails."""
    if path.exists():
        raise InputError(f"--cast {path}: the file exists, choose another name")
    if not path.parent.is_dir():
        raise InputError(f"--cast {path}: there is no folder {path.parent}")
    header = {
        "version": 2,
        "width": size[0],
        "height": size[1],
        "timestamp": int(datetime.fromisoformat(recording.created).timestamp()),
        "title": visible(recording.title),
        "env": {"TERM": "xterm-256color"},
    }
    frames = asyncio.run(render_frames(recording, size, speed))
    if not frames:
        raise SystemExit(1)  # Textual has said why
    lines = [json.dumps(header), *(json.dumps([round(at, 3), "o", data]) for at, data in frames)]
    write_atomically(path, "\n".join(lines) + "\n", private=False)


async def render_frames(
    recording: Recording, size: tuple[int, int], speed: float
) -> list[tuple[float, str]]:
    """Return the terminal output, each part with its time in seconds."""
    now = 0.0
    app = ReplayApp(recording, Startup(clock=lambda: now), timed=False)
    drawn: list[tuple[float, str]] = []
    app.driver_class = recording_driver(lambda data: drawn.append((now, data)))
    # For any player, whatever this terminal can do.
    app.console = Console(color_system="truecolor", file=StringIO(), force_terminal=True)
    app.player.speed = speed
    frames: list[tuple[float, str]] = []

    async def play(pilot: Pilot[object]) -> None:
        nonlocal now
        await pilot.pause()  # until the screen is complete
        app.player.open()
        left = LAST_SECONDS
        while left > 0:
            await app.pump()
            await pilot.pause(PAINT_SECONDS)
            now += 1 / FRAMES_A_SECOND
            if app.player.over:
                left -= 1 / FRAMES_A_SECOND
        # the last frame stays until `now`; then the cursor is shown again
        frames.extend([(0.0, BEGIN), *drawn, (now, f"\x1b[{size[1]};1H{SHOW_CURSOR}")])
        app.exit()

    await app.run_async(size=size, auto_pilot=play)
    return frames
