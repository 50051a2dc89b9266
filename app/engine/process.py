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
from contextlib import redirect_stderr, suppress
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol

from app.config.settings import ModelOptions
from app.engine.events import EngineExited, Event, PastTurn, Schedule
from app.engine.protocol import Engine
from app.engine.snapshot import Command, SessionSnapshot
from app.strategies.registry import LaneSpec
from decoding.params import Params

POLL_SECONDS = 0.02  # how long an event or a command may wait in the other process
LAST_MOMENT_SECONDS = 0.1  # between the end of the pipe and that of the process


class EngineFactory(Protocol):
    def __call__(
        self, options: ModelOptions, specs: tuple[LaneSpec, ...], *, first_run: int
    ) -> Engine: ...


class SessionProcess:
    """Implements `Engine` by the engine that `make` (which must be picklable) makes for some models
    and lanes in another process. It dies with this one, and `close` waits for nothing.

    When it ends before that, `open` begins another one, which goes on where this one stood. The
    first one starts at once: there is a screen to be painted meanwhile.
    """

    def __init__(
        self, make: EngineFactory, options: ModelOptions, specs: tuple[LaneSpec, ...]
    ) -> None:
        self._make = make
        self._standing = SessionSnapshot(options, specs)
        self._opened = False
        self._ended: str | None = None  # how it did
        self._told = False  # that it has ended
        self._connection: Connection | None = None
        self._outbox: SimpleQueue[Command | None] = SimpleQueue()
        self._process: BaseProcess | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        stands = self._standing
        make = partial(self._make, stands.options, stands.specs, first_run=stands.next_run)
        try:
            ours, theirs = context.Pipe()
            process = context.Process(
                target=run_engine, args=(theirs, make), name="specchat-decode", daemon=True
            )
            # The first start of all begins a resource tracker as well, and so does any other where
            # that has died. It wants a stderr that is a file; what Textual puts there is none.
            with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
                process.start()
        except OSError as error:
            self._ended = f"the decoding process can't be started: {error.strerror or error}"
            return
        theirs.close()  # the other process has its own: when that one ends, reading here says so
        self._process, self._connection, self._outbox = process, ours, SimpleQueue()
        Thread(target=sender_loop, args=(self._outbox, ours), daemon=True).start()

    def open(self) -> None:
        if self._opened:
            self.close()
            self._start()
            for name, arguments in self._standing.commands():
                self._post(name, *arguments)
        self._opened = True
        self._post("open")

    def drain(self) -> list[Event]:
        events: list[Event] = []
        try:
            while self._connection is not None and self._connection.poll():
                events += self._connection.recv()
        except (EOFError, OSError):
            self._hang_up()
            self._ended = self._how_it_ended()
        for end in [event for event in events if isinstance(event, EngineExited)]:
            events.remove(end)
            self.close()  # there is still a process, though nobody in it who would answer
            self._ended = end.message
        self._standing.heard(events)
        if self._ended is not None:
            last = [*self._standing.last_words(self._ended)]
            self._standing.heard(last)
            events += last if self._told else [*last, EngineExited(self._ended)]
            self._told = True
        return events

    def run(self, prompt: str) -> None:
        self._send("run", prompt)

    def again(self) -> None:
        self._send("again")

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

    def pin(self, lane: str, overrides: Mapping[str, Any]) -> None:
        self._send("pin", lane, dict(overrides))

    def open_models(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        self._send("open_models", options, specs)
        if self._connection is None:
            self.open()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()  # it may be deep inside torch, and has nothing to save
        self._hang_up()
        self._ended, self._told = None, False

    def _hang_up(self) -> None:
        self._connection = None
        self._outbox.put(None)

    def _send(self, name: str, *arguments: object) -> None:
        self._standing.told(name, *arguments)
        self._post(name, *arguments)

    def _post(self, name: str, *arguments: object) -> None:
        if self._connection is not None:
            self._outbox.put((name, arguments))

    def _how_it_ended(self) -> str:
        assert self._process is not None
        self._process.join(LAST_MOMENT_SECONDS)
        code = self._process.exitcode
        if code is None:  # a driver takes its time, or a debugger
            how = ""
        elif code < 0:
            how = f" by signal {-code}{' (too little memory?)' * (code == -signal.SIGKILL)}"
        else:
            how = f" with code {code}"
        return f"the decoding process ended{how}"


def sender_loop(outbox: SimpleQueue[Command | None], connection: Connection) -> None:
    """Send commands, in order. A process that only begins, or that has much to say itself, hears
    them late: that must not hold up the screen. Ends with a None, or with the process."""
    with suppress(OSError):  # it has died: `drain` finds that out and says so
        while command := outbox.get():
            connection.send(command)


def run_engine(connection: Connection, make: Callable[[], Engine]) -> None:
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
