"""An engine without models that emits a recording's events when they are due."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from app.engine.commands import Command, Pause, RunAgain, StepRound, Stop
from app.engine.events import Event, Prefilled, RoundFinished, RunFinished, Timed
from app.history.recording import LaneRecord, RecordedTurn, Recording

LONGEST_IDLE = 1.0  # seconds without computation, such as a pause, that are played at most
LOOP_SECONDS = 2.0  # for which the end is shown before it starts again
SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


class ReplayEngine:
    """Implements `app.engine.protocol.Engine`. It starts to play when it is opened.

    Its time is the recording's with idle time shortened. `StepRound` plays exactly one round,
    `Stop` plays the rest of the turn at once, `RunAgain` starts from the beginning; other commands
    have no effect. With `loop` it starts again by itself.
    """

    def __init__(
        self, recording: Recording, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        assert recording.loaded is not None
        self._loaded = replace(recording.loaded, lanes=recording.lanes)
        self._timeline = timeline(recording.turns)
        self._clock, self._last = clock, clock()
        self._next = 0  # index in the timeline
        self._ready: list[Event] = []
        self._opened = False
        self.turns = len(recording.turns)
        self.position = 0.0  # in seconds
        self.paused = False
        self.speed = 1.0
        self.loop = False
        self._over_for = 0.0  # seconds

    @property
    def seconds(self) -> float:
        """Its length at the recorded speed."""
        return self._timeline[-1][0]

    @property
    def over(self) -> bool:
        return self._next == len(self._timeline)

    def open(self) -> None:
        self._ready.append(self._loaded)
        self._opened, self._last = True, self._clock()

    def drain(self) -> list[Event]:
        now = self._clock()
        passed = now - self._last
        if self._opened and not self.paused:
            if not self.over:
                self._play_until(self.position + passed * self.speed)
            elif self.loop:
                self._over_for += passed
                if self._over_for >= LOOP_SECONDS:
                    self.send(RunAgain())
        self._last = now
        events, self._ready = self._ready, []
        return events

    def send(self, command: Command) -> None:
        match command:
            case RunAgain():
                self._next, self.position, self._over_for = 0, 0.0, 0.0
                self._last = self._clock()  # time passed before does not count
            case Stop():
                self._play_through(RunFinished)
            case Pause(paused):
                self.paused = paused
            case StepRound():
                self._play_through(RoundFinished)

    def change_speed(self, direction: int) -> None:
        """Change to the next of `SPEEDS`, up or down. The first speed may lie between two of
        them."""
        others = [each for each in SPEEDS if (each - self.speed) * direction > 0]
        if others:
            self.speed = min(others, key=lambda each: abs(each - self.speed))

    def step_lanes(self, names: Collection[str]) -> None:
        """Play until each of these lanes has had its next round, if there is one, and everything
        that is due by then."""
        rest = (event for _, event in self._timeline[self._next :])
        waiting = {e.lane for e in rest if isinstance(e, RoundFinished)} & set(names)
        while waiting:
            self.position = self._timeline[self._next][0]
            event = self._play_one()
            if isinstance(event, RoundFinished):
                waiting.discard(event.lane)
        self._play_until(self.position)

    def _play_until(self, position: float) -> None:
        self.position = min(position, self.seconds)
        while not self.over and self._timeline[self._next][0] <= self.position:
            self._play_one()

    def _play_through(self, kind: type[Event]) -> None:
        """Play up to the next event of a kind, and set the clock to it."""
        while not self.over:
            self.position = self._timeline[self._next][0]
            if isinstance(self._play_one(), kind):
                return

    def _play_one(self) -> Event:
        event = self._timeline[self._next][1]
        self._next += 1
        self._ready.append(event)
        return event

    def close(self) -> None: ...


def timeline(turns: Sequence[RecordedTurn]) -> list[tuple[float, Event]]:
    """Compute when each event is due, in seconds from the start."""
    found: list[tuple[float, Event]] = []
    now = 0.0
    for turn in turns:
        before: float | None = None
        for event in turn.events():
            assert isinstance(event, Timed)
            # The time between two turns is not known: they may be from different days.
            passed = LONGEST_IDLE if before is None else max(event.at - before, 0.0)
            now += min(passed, worked(event) + LONGEST_IDLE) if found else 0.0
            before = event.at
            found.append((now, event))
    return found


def side_by_side(turn: RecordedTurn) -> RecordedTurn:
    """Make the turn as if each lane had a machine of its own: all start decoding at once, and each
    round is due at the lane's own decoding time."""
    lanes, last = {}, 0.0
    for name, lane in turn.lanes.items():
        now, steps = 0.0, []
        for step in lane.steps:
            now += step.round.total_seconds
            steps.append(replace(step, at=now))
        first = lane.prefilled and replace(lane.prefilled, at=0.0)
        ends = [replace(end, at=now) for end in lane.finishes[-1:]]
        lanes[name] = LaneRecord(lane.info, first, steps, ends)
        last = max(last, now)
    ended = turn.ended and replace(turn.ended, at=last)
    return RecordedTurn(replace(turn.started, at=0.0), lanes, ended)


def worked(event: Event) -> float:
    """Return the seconds that the event itself took."""
    if isinstance(event, RoundFinished):
        return event.round.total_seconds
    return event.ttft_seconds if isinstance(event, Prefilled) else 0.0
