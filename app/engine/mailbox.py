"""Pending commands and unread events: the state that the two threads of a session share."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from app.engine.commands import (
    ComputeProbabilities,
    LaneChange,
    OpenModels,
    ResumeAnswer,
    StartAdvice,
    StartSamplingTest,
    Turn,
)
from app.engine.events import Event, Timed
from app.engine.session_config import SessionConfig

ARRIVAL_SECONDS = 0.05  # a worker that waits for servers checks for other work this often


class Mailbox:
    """Pending commands, shared by the caller's thread and the worker, which removes what it carries
    out. The caller holds `wake` while it changes anything, so that a worker that waits misses
    nothing; the worker holds it where it must see several of them at one moment."""

    def __init__(self, models: OpenModels, config: SessionConfig) -> None:
        self.wake = threading.Condition()
        self.models: OpenModels | None = models  # to be loaded
        self.params, self.seed = config.params, config.seed
        self.schedule = config.schedule
        self.switched_off: set[str] = set()
        self.leader: str | None = None
        self.recorded_lanes: frozenset[str] = frozenset()  # their rounds carry probabilities
        self.trees: dict[str, str] = {}  # by lane
        self.lane_changes: deque[LaneChange] = deque()
        self.next_turn: Turn | ResumeAnswer | None = None  # to be answered
        self.next_conversation: tuple[Turn, ...] | None = None  # instead of this one
        self.sampling_test: StartSamplingTest | None = None  # to be run while no round is
        self.advice: StartAdvice | None = None  # to be measured while no turn is running
        self.advice_ends = False  # with what was measured so far
        # for when nothing else is to be done
        self.probabilities: deque[ComputeProbabilities] = deque()
        self.stopping = False
        self.lanes_changed = False  # counts during a pause as well
        self.paused = False
        self.steps: deque[str | None] = deque()  # rounds to be made, of a lane or whichever is due
        self.stepped: str | None = None  # the lane of the one that is made now
        self.closed = False
        self.events: deque[Event] = deque()  # to be read
        self._arrived = threading.Event()  # there are new ones since the last look

    def emit(self, event: Event) -> None:
        """Add an event for the caller, with the time if it has one."""
        if isinstance(event, Timed):
            event = replace(event, at=time.perf_counter())
        self.events.append(event)
        self._arrived.set()

    def wait_for_events(self) -> None:
        """Block until there are events to drain; there may be none if they were drained already."""
        self._arrived.wait()
        self._arrived.clear()

    def drain(self) -> list[Event]:
        """Return all events since the last call, oldest first."""
        return [self.events.popleft() for _ in range(len(self.events))]

    def begin_turn(self, turn: Turn | ResumeAnswer) -> None:
        """Answer this next; work done between turns ends. The caller holds `wake`."""
        self.next_turn, self.sampling_test, self.advice = turn, None, None
        self.probabilities.clear()

    def open_conversation(self, turns: tuple[Turn, ...] = (), seed: int | None = None) -> None:
        """End the running turn, drop a pending one, and continue from `turns`, with another seed
        unless it is None. The caller holds `wake`."""
        self.next_conversation = turns
        self.seed = self.seed if seed is None else seed
        self.stopping, self.next_turn, self.advice = True, None, None
        self.probabilities.clear()

    def enabled(self, lane: str) -> bool:
        return lane not in self.switched_off

    def wait_for_work(self) -> None:
        """Block until there is any work, or the session is closed."""
        with self.wake:
            while not (self.closed or self.has_urgent_work or self.probabilities):
                self.wake.wait()

    @property
    def has_urgent_work(self) -> bool:
        """Whether there is work that goes before computing probabilities."""
        return self._waiting() or self.sampling_test is not None or self.advice is not None

    def _waiting(self) -> bool:
        return bool(self.models or self.lane_changes or self.next_turn)

    def wait_for_round(self) -> bool:
        """Block while paused, unless lanes are changed or a sampling test is requested. Returns
        whether a round may be made now."""
        with self.wake:
            while self.paused and not (
                self.stopping or self.steps or self.lanes_changed or self.sampling_test
            ):
                self.wake.wait()
            self.lanes_changed = False
            allowed = not self.stopping and (not self.paused or bool(self.steps))
            self.stepped = self.steps.popleft() if self.steps else None
            return allowed

    def wait_for_arrival(self, there: Callable[[], bool]) -> None:
        """Block until more of a server's answer has arrived, or other work may be pending."""
        with self.wake:
            if not (there() or self.stopping or self.paused or self.lanes_changed):
                self.wake.wait(ARRIVAL_SECONDS)

    def notify(self) -> None:
        """Wake the worker: more of a server's answer has arrived. Called on any thread."""
        with self.wake:
            self.wake.notify()

    def is_advising(self, request: StartAdvice) -> bool:
        """Return whether `request` is still pending and no other work is."""
        return self.advice is request and not (self.closed or self._waiting())

    def is_computing(self, request: ComputeProbabilities) -> bool:
        """Return whether `request` is the first of `probabilities`, and there is no other work."""
        return self.is_first(request) and not (self.closed or self.has_urgent_work)

    def is_first(self, request: ComputeProbabilities) -> bool:
        """Return whether `request` has not been dropped: new ones are put behind it. Answers are
        too large to be compared."""
        with self.wake:
            return bool(self.probabilities) and self.probabilities[0] is request

    def is_sole_request(self, request: StartSamplingTest, running: bool) -> bool:
        """Return whether `request` is still the only pending work. During a paused turn (`running`)
        lane changes that are queued for its end do not count."""
        goes_on = not self.paused or self.steps or self.lanes_changed
        if goes_on if running else self._waiting():
            return False
        return self.sampling_test is request and not self.stopping
