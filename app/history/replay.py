"""An engine that only remembers: it gives out a recording's events when their time has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.config.settings import ModelOptions
from app.engine.events import (
    Event,
    PastTurn,
    Prefilled,
    RoundFinished,
    RunFinished,
    Schedule,
    Timed,
)
from app.history.recording import Recording, Turn
from app.strategies.registry import LaneSpec
from decoding.params import Params

LONGEST_IDLE = 1.0  # seconds in which nothing was computed: a pause, or somebody thinking
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


class ReplayEngine:
    """Implements `app.engine.protocol.Engine` without a model. It begins to play when it is opened.

    Its time is the recording's, idle time cut short. `step` plays exactly one round, `stop` plays
    the rest of the turn at once, `again` begins from the start; nothing else changes anything.
    """

    def __init__(
        self, recording: Recording, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        assert recording.loaded is not None
        self._loaded = replace(recording.loaded, lanes=recording.lanes)
        self._timeline = timeline(recording.turns)
        self._clock, self._last = clock, clock()
        self._place = 0  # in the timeline
        self._ready: list[Event] = []
        self._opened = False
        self.turns = len(recording.turns)
        self.position = 0.0  # in seconds
        self.paused = False
        self.speed = 1.0

    @property
    def seconds(self) -> float:
        """How long it plays at the speed it was recorded at."""
        return self._timeline[-1][0]

    @property
    def over(self) -> bool:
        return self._place == len(self._timeline)

    def open(self) -> None:
        self._ready.append(self._loaded)
        self._opened, self._last = True, self._clock()

    def drain(self) -> list[Event]:
        now = self._clock()
        if self._opened and not self.paused and not self.over:
            self._play_until(self.position + (now - self._last) * self.speed)
        self._last = now
        events, self._ready = self._ready, []
        return events

    def again(self) -> None:
        self._place, self.position = 0, 0.0

    def stop(self) -> None:
        self._play_through(RunFinished)

    def pause(self, paused: bool) -> None:
        self.paused = paused

    def step(self) -> None:
        self._play_through(RoundFinished)

    def change_speed(self, direction: int) -> None:
        """To the next one of `SPEEDS`, up or down; it may have begun at one between them."""
        others = [each for each in SPEEDS if (each - self.speed) * direction > 0]
        if others:
            self.speed = min(others, key=lambda each: abs(each - self.speed))

    def _play_until(self, position: float) -> None:
        self.position = min(position, self.seconds)
        while not self.over and self._timeline[self._place][0] <= self.position:
            self._play_one()

    def _play_through(self, kind: type[Event]) -> None:
        """Up to the next event of a kind, and the clock with it."""
        while not self.over:
            self.position = self._timeline[self._place][0]
            if isinstance(self._play_one(), kind):
                return

    def _play_one(self) -> Event:
        event = self._timeline[self._place][1]
        self._place += 1
        self._ready.append(event)
        return event

    # What was recorded cannot be changed.

    def run(self, prompt: str) -> None: ...

    def new_conversation(self) -> None: ...

    def resume(self, turns: Sequence[PastTurn], seed: int) -> None: ...

    def set_params(self, params: Params) -> None: ...

    def set_enabled(self, lane: str, enabled: bool) -> None: ...

    def set_schedule(self, schedule: Schedule) -> None: ...

    def watch(self, lanes: frozenset[str]) -> None: ...

    def set_tree(self, lane: str, tree: str) -> None: ...

    def prove(self, lane: str, repetitions: int) -> None: ...

    def stop_proving(self) -> None: ...

    def set_leader(self, lane: str) -> None: ...

    def add_lane(self, spec: LaneSpec, after: str | None) -> None: ...

    def remove_lane(self, name: str) -> None: ...

    def pin(self, lane: str, overrides: Mapping[str, Any]) -> None: ...

    def open_models(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None: ...

    def close(self) -> None: ...


def timeline(turns: Sequence[Turn]) -> list[tuple[float, Event]]:
    """When each event is due, in seconds from the start."""
    found: list[tuple[float, Event]] = []
    now = 0.0
    for turn in turns:
        before: float | None = None
        for event in turn.events():
            assert isinstance(event, Timed)
            # Nothing is known of the time between two turns, which may be of different days.
            passed = LONGEST_IDLE if before is None else max(event.at - before, 0.0)
            now += min(passed, worked(event) + LONGEST_IDLE) if found else 0.0
            before = event.at
            found.append((now, event))
    return found


def worked(event: Event) -> float:
    """Seconds that the event itself took."""
    if isinstance(event, RoundFinished):
        return event.round.total_seconds
    return event.ttft_seconds if isinstance(event, Prefilled) else 0.0
