"""The last run, played again in slow motion: every lane at its own pace, as if it had had a machine
for itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.engine.commands import Stop
from app.engine.events import Event, Loaded, RunFinished
from app.history.recording import LaneRecord, RecordedTurn, Recording
from app.history.replay import SPEEDS, ReplayEngine, side_by_side
from app.tui.format.bars import progress_bar
from app.tui.state.app_state import AppState

SECONDS = 8.0  # that it shall take at least, to be followed
BAR_CELLS = 20
FASTEST = 1.0  # it begins no faster
SHORT_SECONDS = 10.0


class SlowMotion:
    """Plays from the events that the state has kept, in a loop. It is over when it has been ended;
    what is left then comes at once, so that the screen is as it was."""

    def __init__(self, state: AppState, clock: Callable[[], float] = time.perf_counter) -> None:
        recording = Recording("", {}, loaded=state.loaded, turns=[side_by_side(last_turn(state))])
        self.player = ReplayEngine(recording, clock)
        self.player.loop = True
        self.player.speed = suitable_speed(self.player.seconds)
        self.player.open()

    def drain(self) -> list[Event]:
        return [event for event in self.player.drain() if not isinstance(event, Loaded)]

    def end(self) -> list[Event]:
        """What was still to come."""
        self.player.loop = self.player.paused = False
        self.player.send(Stop())
        return self.drain()


def can_play(state: AppState) -> bool:
    """Whether there is a run that has ended and of which something is known."""
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
    slow = [speed for speed in SPEEDS if speed <= FASTEST and seconds / speed >= SECONDS]
    return max(slow, default=SPEEDS[0])


def progress_line(player: ReplayEngine) -> str:
    """The status line of what is played: position and speed."""
    bar = progress_bar(player.position / player.seconds if player.seconds else 1.0, BAR_CELLS)
    mark = "‖" if player.paused else "■" if player.over else "▶"
    return f"{mark} {bar} {_place(player.position, player.seconds)} · {player.speed:g}×"


def _place(position: float, seconds: float) -> str:
    """A whole answer may take less than a second."""
    if seconds < SHORT_SECONDS:
        return f"{position:.2f} of {seconds:.2f} s"
    now, end = (f"{int(each) // 60}:{int(each) % 60:02}" for each in (position, seconds))
    return f"{now} of {end}"
