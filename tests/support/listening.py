"""Hears what a session says, and waits for it with a deadline instead of sleeping."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from app.engine.commands import Run, RunAgain
from app.engine.events import (
    Event,
    Finished,
    Loaded,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.engine.session import Session
from decoding.params import Params

E = TypeVar("E")
DEADLINE = 60.0
LONG = Params(gamma=3, max_new_tokens=90)  # lasts long enough to be interrupted


class Listener:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.heard: list[Event] = []
        self._read = 0  # events before this one belong to an earlier turn

    def wait(self, kind: type[E], count: int = 1, such: Callable[[E], bool] = lambda e: True) -> E:
        """The `count`-th event of this kind since the turn began (or the last `forget`)."""
        until = time.monotonic() + DEADLINE
        while True:
            self.heard += self.session.drain()
            found = [e for e in self.heard[self._read :] if isinstance(e, kind) and such(e)]
            if len(found) >= count:
                return found[count - 1]
            if time.monotonic() > until:
                raise TimeoutError(f"no {kind.__name__} among {self.heard[self._read :]}")
            time.sleep(0.001)

    def forget(self) -> None:
        self.heard += self.session.drain()
        self._read = len(self.heard)

    def loaded(self) -> Loaded:
        loaded = self.wait(Loaded)
        self.forget()
        return loaded

    def turn(self, prompt: str | None = None) -> list[Event]:
        """All events of one turn: of a prompt, or of the last one again."""
        self.forget()
        if prompt is None:
            self.session.send(RunAgain())
        else:
            self.session.send(Run(prompt))
        return self.rest()

    def rest(self) -> list[Event]:
        """The events until the turn ends or is refused."""
        self.wait((RunFinished, RunRejected))  # type: ignore[arg-type]
        return self.heard[self._read :]


Open = Callable[..., Listener]  # of a session: the fixture `open_session`


def of(events: Iterable[Event], kind: type[E], lane: str | None = None) -> list[E]:
    return [
        e
        for e in events
        if isinstance(e, kind) and (lane is None or e.lane == lane)  # type: ignore[union-attr]
    ]


def ids_of(events: Iterable[Event], lane: str) -> list[int]:
    """What a lane said: the prefill's token and all that its rounds emitted."""
    events = list(events)
    first = [e.first.id for e in of(events, Prefilled, lane)]
    return first + [i for e in of(events, RoundFinished, lane) for i in e.round.emitted]


def reason_of(events: Iterable[Event], lane: str) -> str:
    return of(events, Finished, lane)[-1].reason


def lanes_of(events: Iterable[Event]) -> tuple[str, ...]:
    return of(events, RunStarted)[0].lanes
