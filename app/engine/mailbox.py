"""What the screen has asked for and what happened: all that it shares with the decode thread."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import replace

from app.engine.commands import LaneChange, OpenModels, StartSamplingTest, Turn
from app.engine.events import Event, Schedule, Timed
from decoding.params import Params


class Mailbox:
    """Written by the screen, read by the thread at the start of each round. Whatever the thread
    may wait for is changed under `wake`."""

    def __init__(self, models: OpenModels, params: Params, seed: int, schedule: Schedule) -> None:
        self.wake = threading.Condition()
        self.models: OpenModels | None = models  # to be loaded
        self.params, self.seed, self.schedule = params, seed, schedule
        self.switched_off: set[str] = set()
        self.leader: str | None = None
        self.watched: frozenset[str] = frozenset()
        self.trees: dict[str, str] = {}
        self.changes: deque[LaneChange] = deque()
        self.turn: Turn | None = None  # to be answered
        self.opening: tuple[Turn, ...] | None = None  # another conversation is to begin with these
        self.claim: StartSamplingTest | None = None  # to be tested while no round is running
        self.stopping = False
        self.news = False  # something that counts during a pause as well
        self.paused = False
        self.steps = 0
        self.closed = False
        self._events: deque[Event] = deque()

    def emit(self, event: Event) -> None:
        if isinstance(event, Timed):
            event = replace(event, at=time.perf_counter())
        self._events.append(event)

    def drain(self) -> list[Event]:
        return [self._events.popleft() for _ in range(len(self._events))]

    def begin_conversation(self, turns: tuple[Turn, ...], seed: int) -> None:
        """End the running turn and drop one that waits; continue from `turns`. Holds `wake`."""
        self.opening, self.seed = turns, seed
        self.stopping, self.turn = True, None

    def enabled(self, lane: str) -> bool:
        return lane not in self.switched_off

    def wait_for_work(self) -> None:
        """Until there is anything to load, to change, to answer or to prove, or all is over."""
        with self.wake:
            while not (self.closed or self.models or self.changes or self.turn or self.claim):
                self.wake.wait()

    def may_go_on(self) -> bool:
        """Waits while paused, and wakes when lanes are changed meanwhile or something is to be
        proven; whether a round may be made now."""
        with self.wake:
            while self.paused and not (self.stopping or self.steps or self.news or self.claim):
                self.wake.wait()
            self.news = False
            allowed = not self.stopping and (not self.paused or self.steps > 0)
            self.steps = max(self.steps - 1, 0)
            return allowed

    def only(self, claim: StartSamplingTest, running: bool) -> bool:
        """Whether nothing else is asked for since; `running`: a turn is, and pauses. Changes that
        wait for its end are no news then."""
        goes_on = not self.paused or self.steps or self.news
        if goes_on if running else (self.models or self.changes or self.turn):
            return False
        return self.claim is claim and not self.stopping
