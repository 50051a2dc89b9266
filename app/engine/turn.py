"""One turn of the conversation: whose round is next, and how each lane ends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from app.engine.commands import AnswerSoFar
from app.engine.events import Event, Reason, Schedule
from app.engine.lane_turn import AnyLane, LaneTurn, Task, lane_turn
from decoding.errors import describe, is_out_of_memory
from decoding.params import Params

Emit = Callable[[Event], None]


class TurnRunner:
    """Advances the lanes of one turn, one round at a time, and reports by `emit`.

    The prompt is prefilled once for all lanes on the target. A lane that fails does not end the
    others. Servers answer at their own pace.
    """

    def __init__(self, lanes: Sequence[AnyLane], task: Task, emit: Emit) -> None:
        self._turns = [lane_turn(lane, task) for lane in lanes]
        self._emit = emit
        self._baseline = next((t for t in self._turns if t.lane.strategy.is_baseline), None)
        for turn in self._turns:
            turn.baseline = self._baseline

    def restore(self, answers: Mapping[str, AnswerSoFar]) -> None:
        """Go on after these answers by lane; lanes without one begin."""
        for turn in self._turns:
            if turn.name in answers:
                turn.restore(answers[turn.name])

    @property
    def running(self) -> bool:
        """Whether any lane still runs."""
        return bool(self._going)

    def stop_disabled(self, enabled: Callable[[str], bool]) -> None:
        """Stop the lanes that are no longer `enabled`."""
        for turn in self._going:
            if not enabled(turn.name):
                self._end(turn, "stopped")

    @property
    def _going(self) -> list[LaneTurn]:
        return [turn for turn in self._turns if turn.reason is None]

    def ask_servers(self, schedule: Schedule, params: Params) -> None:
        """Send servers the question: all of them in a race, else the one whose turn it is."""
        for turn in self._going if schedule == "race" else self._next_of_fair():
            turn.ask(params)

    def due(self, schedule: Schedule, wanted: str | None = None) -> LaneTurn | None:
        """Choose the lane whose round is next; None if none runs or all wait for their servers. A
        server's lane with arrivals goes first. Otherwise, in a race, it is the lane with the least
        decoding time, so that all get the same and a disturbance slows down all; fair is one lane
        after the other. With `wanted`, only that lane."""
        going = [turn for turn in self._going if wanted in (None, turn.name)]
        if (arrived := next((turn for turn in going if turn.has_arrived), None)) is not None:
            return arrived
        if schedule == "fair" and wanted is None:
            going = self._next_of_fair()
        local = (turn for turn in going if not turn.lane.strategy.remote)
        return min(local, key=_spent, default=None)

    def _next_of_fair(self) -> list[LaneTurn]:
        """The lane whose turn it is in a fair schedule, if any. A server that falls silent loses
        its turn, but its later pieces are still taken."""
        for turn in self._going:
            turn.passed_over = turn.passed_over or turn.silent
        waiting = [turn for turn in self._going if not turn.passed_over]
        begun = (turn for turn in waiting if turn.begun)
        return [next(begun, waiting[0])] if waiting else []

    def has_arrived(self) -> bool:
        """Return whether any server's lane has arrivals."""
        return any(turn.has_arrived for turn in self._going)

    def advance(self, turn: LaneTurn, params: Params) -> None:
        """Run one round of a lane, the first time with the prefill. For a server, take everything
        that has arrived."""
        try:
            for event in turn.advance(params):
                self._emit(event)
            if turn.lane.finished:
                self._end(turn, turn.lane.finished)
            return
        except InterruptedError:
            self._end(turn, "stopped")
            return
        except Exception as error:  # the other lanes go on
            message = None if is_out_of_memory(error) else describe(error)
        self._end(turn, "error", message or turn.free_caches())

    def end(self) -> bool:
        """Stop the lanes that still run; return whether there were any."""
        going = self._going
        for turn in going:
            self._end(turn, "stopped")
        return bool(going)

    def answers(self) -> dict[str, str]:
        """Return each lane's answer in this turn. Lanes that never began still hold their previous
        one."""
        return {turn.name: turn.lane.text for turn in self._turns if turn.started}

    def unfinished(self) -> dict[str, list[int]]:
        """Return the ids so far of the lanes that have begun and not finished, by name."""
        going = (turn for turn in self._turns if turn.started and turn.reason in (None, "stopped"))
        return {turn.name: list(turn.lane.ids) for turn in going}

    def _end(self, turn: LaneTurn, reason: Reason, message: str | None = None) -> None:
        turn.end(reason, message)
        self._emit(turn.report(turn.close()))
        if turn is self._baseline:  # now the others can be compared with it
            for other in self._turns:
                if other is not turn and other.reason is not None:
                    self._emit(other.report())


def _spent(turn: LaneTurn) -> float:
    return turn.lane.stats.decode_seconds if turn.started else -1.0


def answer_each(lanes: Sequence[AnyLane], task: Task) -> dict[str, str]:
    """Answer a turn without events: the lanes answer one after the other, and the prompt is
    prefilled once for all lanes on the target. Returns errors by lane; the other lanes go on."""
    errors: dict[str, str] = {}
    for turn in (lane_turn(lane, task) for lane in lanes):
        try:
            turn.answer()
            continue
        except Exception as error:
            message = None if is_out_of_memory(error) else describe(error)
        errors[turn.name] = message or turn.free_caches()
    return errors


def answer_seed(seed: int, number: int, use: str = "") -> int:
    """Derive the seed of an answer, the same for all lanes: with equal draws they give equal
    answers, unless their drafts are sampled. `number`: which turn or prompt it answers. Another
    `use` gives independent draws."""
    digest = hashlib.sha256(f"{seed}/{number}/{use}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
