"""Engines for a process of its own: one that says what it was asked, and others in a bad moment."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from itertools import count
from pathlib import Path
from typing import Any

from app.config.model_options import ModelOptions
from app.engine.commands import Command, Run, RunAgain, Stop
from app.engine.events import EngineExited, Event, Loading
from app.strategies.lane_spec import LaneSpec


class EchoEngine:
    """Says what it was told. `Run` makes it print or end, or say how often it was drained, `Stop`
    die, `RunAgain` raise; `open` says what it was made for."""

    def __init__(
        self, options: ModelOptions, specs: tuple[LaneSpec, ...], *, first_run: int
    ) -> None:
        names = [spec.name for spec in specs]
        self._for = f"for {options.target}, {names}, from run {first_run} on"
        self._events: deque[Event] = deque()
        self._said = threading.Event()
        self._drained = 0

    def open(self) -> None:
        self._say(self._for)

    def send(self, command: Command) -> None:
        match command:
            case Run("break"):
                self._emit(EngineExited("it broke"))
            case Run("drained"):
                self._say(f"{self._drained} times")
            case Run(prompt):
                print(prompt)
                print(prompt, file=sys.stderr)
                self._say(f"in process {os.getpid()}")
            case Stop():
                os.kill(os.getpid(), signal.SIGKILL)
            case RunAgain():
                raise RuntimeError("broken")
            case _:
                self._say(repr(command))

    def drain(self) -> list[Event]:
        self._drained += 1
        return [self._events.popleft() for _ in range(len(self._events))]

    def wait(self) -> None:
        self._said.wait()
        self._said.clear()

    def close(self) -> None: ...

    def _say(self, what: str) -> None:
        self._emit(Loading(what, None))

    def _emit(self, event: Event) -> None:
        self._events.append(event)
        self._said.set()


def late(
    begin: Path, options: ModelOptions, specs: tuple[LaneSpec, ...], *, first_run: int
) -> EchoEngine:
    """It takes no notice of anything until the file is there."""
    while not begin.exists():
        time.sleep(0.01)
    return EchoEngine(options, specs, first_run=first_run)


def stuck(options: ModelOptions, specs: tuple[LaneSpec, ...], **settings: Any) -> Any:
    """A session that never gets over the fifth round."""
    from app.engine.lane_turn import LaneTurn
    from app.engine.session import Session
    from app.engine.turn import TurnRunner
    from decoding.params import Params

    advance, rounds = TurnRunner.advance, count(1)

    def advance_or_wait(self: TurnRunner, turn: LaneTurn, params: Params) -> None:
        if next(rounds) > 5:
            threading.Event().wait()
        advance(self, turn, params)

    TurnRunner.advance = advance_or_wait  # type: ignore[method-assign]
    return Session(options, specs, **settings)
