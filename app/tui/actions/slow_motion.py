"""Plays the last run again in slow motion, each lane at the pace of a machine of its own."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.engine.commands import Stop
from app.engine.events import Event, Loaded, RunFinished
from app.history.recording import LaneRecord, RecordedTurn, Recording
from app.history.replay import SPEEDS, ReplayEngine, side_by_side
from app.tui.state.app_state import AppState

MIN_SECONDS = 8.0  # shorter runs are slowed down
MAX_SPEED = 1.0  # at the beginning


class SlowMotion(ReplayEngine):
    """Plays the events kept by the state in a loop, until `end` returns the rest of them, so that
    the screen shows the whole run again."""

    def __init__(self, state: AppState, clock: Callable[[], float] = time.perf_counter) -> None:
        turn = side_by_side(last_turn(state))
        super().__init__(Recording("", {}, loaded=state.loaded, turns=[turn]), clock)
        self.loop = True
        self.speed = suitable_speed(self.seconds)
        self.open()

    def drain(self) -> list[Event]:
        return [event for event in super().drain() if not isinstance(event, Loaded)]

    def end(self) -> list[Event]:
        """Stop, and return the events not yet played."""
        self.loop = self.paused = False
        self.send(Stop())
        return self.drain()


def can_play(state: AppState) -> bool:
    """Return whether there is a finished run with recorded rounds."""
    lanes = state.lanes.values()
    known = state.loaded is not None and state.started is not None
    return known and not state.running and any(lane.round_events for lane in lanes)


def last_turn(state: AppState) -> RecordedTurn:
    started = state.started
    assert started is not None
    lanes = {
        name: LaneRecord(
            lane.info, lane.first, list(lane.round_events), [lane.finished] if lane.finished else []
        )
        for name, lane in state.lanes.items()
        if name in started.lanes
    }
    return RecordedTurn(started, lanes, RunFinished(started.run, False))


def suitable_speed(seconds: float) -> float:
    slow = [speed for speed in SPEEDS if speed <= MAX_SPEED and seconds / speed >= MIN_SECONDS]
    return max(slow, default=SPEEDS[0])
