"""The session in a process of its own.

In one process, screen and decoding would share the interpreter lock: importing torch would freeze
the screen, and drawing would cost the decoder a tenth of its speed. Events and commands are plain
data, so that a pipe can connect the two processes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Lock, Thread
from typing import NoReturn, Protocol

from app.config.model_options import ModelOptions
from app.engine.commands import Command, OpenModels
from app.engine.events import EngineExited, Event
from app.engine.protocol import Engine
from app.engine.snapshot import SessionSnapshot
from app.strategies.lane_spec import LaneSpec
from decoding.errors import describe

BATCH_SECONDS = 0.02  # events of this time are sent together
LAST_MOMENT_SECONDS = 0.1  # between the end of the pipe and that of the process


@dataclass(frozen=True, slots=True)
class Open:
    """`Engine.open`, between the commands that came before and those after it."""


class WaitingEngine(Engine, Protocol):
    def wait(self) -> None:
        """Block until there are events. Called on a thread of its own."""


class EngineFactory(Protocol):
    def __call__(
        self, options: ModelOptions, specs: tuple[LaneSpec, ...], *, first_run: int
    ) -> WaitingEngine: ...


class SessionProcess:
    """Implements `Engine` by running the engine that `make` (which must be picklable) creates in
    another process. That process dies with this one, and `close` waits for nothing.

    If it exits earlier, or hangs, `open` starts another one, restored from the snapshot. The
    constructor starts the first one, which imports its modules while the screen is painted.
    """

    def __init__(
        self, make: EngineFactory, options: ModelOptions, specs: tuple[LaneSpec, ...]
    ) -> None:
        self._make = make
        self._snapshot = SessionSnapshot(options, specs)
        self._opened = False
        self._ended: str | None = None  # why the process is gone
        self._reported = False  # EngineExited was emitted
        self._closing: list[Event] = []  # closing events of a process that hung and was killed
        self._connection: Connection | None = None
        self._outbox: SimpleQueue[Command | Open | None] = SimpleQueue()
        self._process: BaseProcess | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        snapshot = self._snapshot
        make = partial(self._make, snapshot.options, snapshot.specs, first_run=snapshot.next_run)
        try:
            parent_end, child_end = context.Pipe()
            process = context.Process(
                target=run_engine, args=(child_end, make), name="specchat-decode", daemon=True
            )
            # The first start also starts multiprocessing's resource tracker, and so does a later
            # one if that has died. It needs a stderr with a file descriptor; Textual's has none.
            with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
                process.start()
        except OSError as error:
            self._ended = f"the decoding process can't be started: {error.strerror or error}"
            return
        child_end.close()  # only the child may hold it, so that its end closes the pipe
        self._process, self._connection, self._outbox = process, parent_end, SimpleQueue()
        Thread(target=sender_loop, args=(self._outbox, parent_end), daemon=True).start()

    def open(self) -> None:
        if self._opened:
            self._closing = [*self._snapshot.closing_events("decoding was restarted")]
            self._snapshot.apply_events(self._closing)
            self.close()
            self._start()
            for command in self._snapshot.to_commands():
                self._post(command)
        self._opened = True
        self._post(Open())

    def drain(self) -> list[Event]:
        events, self._closing = self._closing, []
        try:
            while self._connection is not None and self._connection.poll():
                events += self._connection.recv()
        except (EOFError, OSError):
            self._hang_up()
            self._ended = self._how_it_ended()
        for end in [event for event in events if isinstance(event, EngineExited)]:
            events.remove(end)
            self.close()  # the process is still there, but its worker is not
            self._ended = end.message
        self._snapshot.apply_events(events)
        if self._ended is not None:
            last = [*self._snapshot.closing_events(self._ended)]
            self._snapshot.apply_events(last)
            events += last if self._reported else [*last, EngineExited(self._ended)]
            self._reported = True
        return events

    def send(self, command: Command) -> None:
        self._snapshot.apply_command(command)
        self._post(command)
        if isinstance(command, OpenModels) and self._connection is None:
            self.open()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()  # it may be deep inside torch, and has nothing to save
        self._hang_up()
        self._ended, self._reported = None, False

    def _hang_up(self) -> None:
        self._connection = None
        self._outbox.put(None)

    def _post(self, message: Command | Open) -> None:
        if self._connection is not None:
            self._outbox.put(message)

    def _how_it_ended(self) -> str:
        assert self._process is not None
        self._process.join(LAST_MOMENT_SECONDS)
        code = self._process.exitcode
        if code is None:  # a driver or debugger delays its end
            how = "ended"
        elif code < 0:
            perhaps = " (out of memory?)" if code == -signal.SIGKILL else ""
            how = f"was killed by signal {-code}{perhaps}"
        else:
            how = f"ended with code {code}"
        return f"the decoding process {how}"


def sender_loop(outbox: SimpleQueue[Command | Open | None], connection: Connection) -> None:
    """Send commands in order. Runs on a thread of its own: the screen must not wait for a process
    that is still starting or busy. Ends with a None, or with the process."""
    with suppress(OSError):  # the process has died: `drain` reports that
        while command := outbox.get():
            connection.send(command)


def run_engine(connection: Connection, make: Callable[[], WaitingEngine]) -> None:
    """Main function of the decoding process: forward commands and events until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl+c is the screen's
    _leave_the_terminal()
    sending = Lock()
    try:
        engine = make()
        Thread(target=_forward_events, args=(engine, connection, sending), daemon=True).start()
        while True:
            message: Command | Open = connection.recv()
            if isinstance(message, Open):
                engine.open()
            else:
                engine.send(message)
    except BaseException as error:
        _end(error, connection, sending)


def _forward_events(engine: WaitingEngine, connection: Connection, sending: Lock) -> None:
    """Send events as they come, the first of them at once. Without any, nothing wakes up."""
    try:
        while True:
            engine.wait()
            if events := engine.drain():
                with sending:
                    connection.send(events)
            time.sleep(BATCH_SECONDS)
    except BaseException as error:
        _end(error, connection, sending)


def _end(error: BaseException, connection: Connection, sending: Lock) -> NoReturn:
    """Report the error, unless the pipe has ended, and end the process without waiting for the
    worker. At once: the pipe must not end long before there is an exit code to read."""
    if not isinstance(error, EOFError):
        with suppress(Exception), sending:  # the other end may be gone
            connection.send([EngineExited(f"decoding failed: {describe(error)}")])
    os._exit(0 if isinstance(error, EOFError | OSError) else 1)


def _leave_the_terminal() -> None:
    """Detach the standard streams: prints of models or libraries would be drawn over the screen."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
