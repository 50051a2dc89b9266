"""The session in a process of its own.

Screen and decoding would otherwise take turns under one interpreter lock: importing torch freezes
the screen, and drawing costs the decoder a tenth of its speed. Events and commands are plain data,
so a pipe is all that is between them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from app.engine import Engine
from app.events import Event, Loaded, LoadFailed, PastTurn, RunRefused, Schedule
from app.settings import ModelOptions
from app.strategies import LaneSpec
from decoding.params import Params

POLL_SECONDS = 0.02  # how long an event or a command may wait in the other process


class SessionProcess:
    """Implements `app.engine.Engine` by the engine that `make` (which must be picklable) makes in
    another process. It dies with this one, and `close` waits for nothing.

    Make it before the screen takes over the terminal: a process can't be started without a real
    stderr."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._connection: Connection | None = ours
        self._process: BaseProcess = context.Process(
            target=serve, args=(theirs, make), name="specchat-decode", daemon=True
        )
        self._loaded = False
        self._prompt = ""  # the last one
        self._ended = ""  # how the other process did, once it has
        self._refused: list[str] = []  # prompts that it will not answer
        self._process.start()
        theirs.close()  # the other process has its own: when that one ends, reading here says so

    def open(self) -> None:
        self._send("open")

    def drain(self) -> list[Event]:
        events: list[Event] = []
        try:
            while self._connection is not None and self._connection.poll():
                events += self._connection.recv()
        except (EOFError, OSError):
            self._connection = None
            self._ended = self._last_words()
            if self._loaded:
                self._refused.append(self._prompt)
            else:
                events.append(LoadFailed(self._ended))
        self._loaded = self._loaded or any(isinstance(event, Loaded) for event in events)
        events += [RunRefused(prompt, self._ended, ended=True) for prompt in self._refused]
        self._refused = []
        return events

    def run(self, prompt: str) -> None:
        self._prompt = prompt
        self._ask("run", prompt)

    def again(self) -> None:
        self._ask("again")

    def stop(self) -> None:
        self._send("stop")

    def pause(self, paused: bool) -> None:
        self._send("pause", paused)

    def step(self) -> None:
        self._send("step")

    def new_conversation(self) -> None:
        self._send("new_conversation")

    def resume(self, turns: Sequence[PastTurn], seed: int) -> None:
        self._send("resume", turns, seed)

    def set_params(self, params: Params) -> None:
        self._send("set_params", params)

    def set_enabled(self, lane: str, enabled: bool) -> None:
        self._send("set_enabled", lane, enabled)

    def set_schedule(self, schedule: Schedule) -> None:
        self._send("set_schedule", schedule)

    def watch(self, lanes: frozenset[str]) -> None:
        self._send("watch", lanes)

    def set_tree(self, lane: str, tree: str) -> None:
        self._send("set_tree", lane, tree)

    def prove(self, lane: str, repetitions: int) -> None:
        self._send("prove", lane, repetitions)

    def stop_proving(self) -> None:
        self._send("stop_proving")

    def set_leader(self, lane: str) -> None:
        self._send("set_leader", lane)

    def add_lane(self, spec: LaneSpec, after: str | None) -> None:
        self._send("add_lane", spec, after)

    def remove_lane(self, name: str) -> None:
        self._send("remove_lane", name)

    def pin(self, lane: str, pins: Mapping[str, Any]) -> None:
        self._send("pin", lane, dict(pins))

    def open_models(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        self._loaded = False
        self._send("open_models", options, specs)

    def close(self) -> None:
        self._process.kill()  # it may be deep inside torch, and has nothing to save
        self._connection = None

    def _ask(self, name: str, *arguments: object) -> None:
        """As `_send`, for what would be answered."""
        if self._ended:
            self._refused.append(self._prompt)
        self._send(name, *arguments)

    def _send(self, name: str, *arguments: object) -> None:
        if self._connection is not None:
            with suppress(OSError):  # it has died: `drain` finds that out and says so
                self._connection.send((name, arguments))

    def _last_words(self) -> str:
        self._process.join(1.0)
        code = self._process.exitcode
        killed = f" by signal {-code}" if code is not None and code < 0 else f" with code {code}"
        hint = " (too little memory?)" if code == -signal.SIGKILL else ""
        return f"the decoding process ended{killed}{hint}: leave, and start specchat again"


def serve(connection: Connection, make: Callable[[], Engine]) -> None:
    """The other process: carry out commands, send events. Ends with the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl+c is the screen's
    _leave_the_terminal()
    engine = make()
    try:
        while True:
            if connection.poll(POLL_SECONDS):
                name, arguments = connection.recv()
                getattr(engine, name)(*arguments)
            if events := engine.drain():
                connection.send(events)
    except (EOFError, OSError):
        os._exit(0)  # without waiting for the decode thread


def _leave_the_terminal() -> None:
    """Whatever a model's own code or a library prints would be drawn over the screen."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
