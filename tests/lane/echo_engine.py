"""An engine that says what it was asked, for a process of its own."""

from __future__ import annotations

import os
import signal
import sys

from app.events import Event, Loaded, Loading


class EchoEngine:
    """`run` makes it print, `stop` makes it die, `again` makes it break."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def __getattr__(self, name: str) -> object:
        def asked(*arguments: object) -> None:
            self._events.append(Loading(f"{name}{arguments}", None))

        return asked

    def drain(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def run(self, prompt: str) -> None:
        if prompt == "load":
            self._events.append(Loaded("x", "cpu", "float32", 1, 9, (), ()))
            return
        print(prompt)
        print(prompt, file=sys.stderr)
        self._events.append(Loading(f"in process {os.getpid()}", None))

    def stop(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def again(self) -> None:
        raise RuntimeError("broken")
