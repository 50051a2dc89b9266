"""One turn of the conversation: whose round is next, and how each lane ends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from app.engine.comparison import compare, sampling_rule
from app.engine.events import Event, Finished, Metrics, Prefilled, Reason, RoundFinished, Schedule
from app.engine.metrics import metrics_of, speed_beside
from app.engine.out_of_memory import give_back, out_of_memory
from app.engine.server_lane import ServerLane
from app.engine.token_events import tokens_at, tokens_in
from app.servers.chunks import Question
from app.text.errors import describe
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop

if TYPE_CHECKING:  # these import torch, which a session with only servers does not need
    from app.engine.lane import Lane
    from decoding.prefill import PrefilledPrompt
    from decoding.stats import Stats

Emit = Callable[[Event], None]
AnyLane: TypeAlias = "Lane | ServerLane"


class LaneTurn:
    """A lane's part in the turn."""

    def __init__(self, lane: AnyLane) -> None:
        self.lane = lane
        self.asked = False  # a server has got the question
        self.passed_over = False  # a server fell silent, and the next lane began
        self.started = False
        self.reason: Reason | None = None
        self.message: str | None = None
        self.baseline_speed: float | None = None  # tok/s while both ran, once this one has ended
        self.rules: set[SamplingParams | None] = set()  # see `sampling_rule`


class TurnRunner:
    """Advances the lanes of one turn, one round at a time, and reports by `emit`.

    The prompt is prefilled once for all lanes on the target. A lane that fails does not end the
    others. Servers answer the `question` at their own pace; `arrived` is called for each piece.
    """

    def __init__(
        self,
        lanes: Sequence[AnyLane],
        prompt_ids: Sequence[int],
        question: Question,
        stop: Stop,
        emit: Emit,
        cancelled: Callable[[], bool],
        arrived: Callable[[], None] = lambda: None,
    ) -> None:
        self._turns = [LaneTurn(lane) for lane in lanes]
        self._prompt_ids, self._question, self._arrived = prompt_ids, question, arrived
        self._stop, self._emit, self._cancelled = stop, emit, cancelled
        self._shared: PrefilledPrompt | None = None
        self._baseline = next((t for t in self._turns if t.lane.strategy.is_baseline), None)

    def goes_on(self, enabled: Callable[[str], bool]) -> bool:
        """Stop the lanes that are no longer `enabled`; return whether any is left."""
        for turn in self._turns:
            if turn.reason is None and not enabled(turn.lane.spec.name):
                self._end(turn, "stopped")
        return bool(self._going)

    @property
    def _going(self) -> list[LaneTurn]:
        return [turn for turn in self._turns if turn.reason is None]

    def ask_servers(self, schedule: Schedule, params: Params) -> None:
        """Send servers the question: all of them in a race, else the one whose turn it is."""
        among = self._going if schedule == "race" else self._next_of_fair()
        for turn in among:
            if isinstance(turn.lane, ServerLane) and not turn.asked:
                turn.asked = True
                turn.lane.ask(replace(self._question, params=params), self._arrived)

    def due(
        self, schedule: Schedule, enabled: Callable[[str], bool], wanted: str | None = None
    ) -> LaneTurn | None:
        """The lane whose round is next; None while waiting for servers. A server's lane with
        arrivals goes first. Otherwise, in a race, it is the lane with the least decoding time, so
        that all get the same and a disturbance slows down all; fair is one lane after the other.
        With `wanted`, only that lane."""
        if not self.goes_on(enabled):
            return None
        going = self._going
        if wanted is not None:
            going = [turn for turn in going if turn.lane.spec.name == wanted]
        if (arrived := next(filter(_has_news, going), None)) is not None:
            return arrived
        if schedule == "fair" and wanted is None:
            going = self._next_of_fair()
        local = [turn for turn in going if not isinstance(turn.lane, ServerLane)]
        return min(local, key=_spent, default=None)

    def _next_of_fair(self) -> list[LaneTurn]:
        """The lane whose turn it is in a fair schedule, if any. A server that falls silent loses
        its turn, but its later pieces are still taken."""
        for turn in self._going:
            if isinstance(turn.lane, ServerLane) and turn.asked and turn.lane.silent:
                turn.passed_over = True
        waiting = [turn for turn in self._going if not turn.passed_over]
        begun = (turn for turn in waiting if turn.started or turn.asked)
        return [next(begun, waiting[0])] if waiting else []

    def has_arrived(self) -> bool:
        return any(map(_has_news, self._going))

    def advance(self, turn: LaneTurn, params: Params) -> None:
        """Run one round of a lane, the first time with the prefill. For a server, take everything
        that has arrived."""
        try:
            if isinstance(turn.lane, ServerLane):
                self._receive(turn, turn.lane)
                return
            if not turn.started:
                self._start(turn, turn.lane, params)
            if turn.reason is None:
                self._step(turn, turn.lane, params)
            return
        except InterruptedError:
            self._end(turn, "stopped")
            return
        except Exception as error:  # the other lanes go on
            message = None if out_of_memory(error) else describe(error)
        if message is None:
            self._shared = None  # memory is short: later lanes prefill for themselves
        self._end(turn, "error", message or _give_back(turn.lane))

    def end(self) -> bool:
        """Stop the lanes that still run; return whether there were any."""
        going = self._going
        for turn in going:
            self._end(turn, "stopped")
        return bool(going)

    def answers(self) -> dict[str, str]:
        """Each lane's answer in this turn. Lanes that never began still hold their previous one."""
        return {turn.lane.spec.name: turn.lane.text for turn in self._turns if turn.started}

    def unfinished(self) -> dict[str, list[int]]:
        """The ids so far of the lanes that have begun and not finished, by name."""
        going = (turn for turn in self._turns if turn.started and turn.reason in (None, "stopped"))
        return {turn.lane.spec.name: list(turn.lane.ids) for turn in going}

    def _receive(self, turn: LaneTurn, lane: ServerLane) -> None:
        name = lane.spec.name
        for token, record in lane.receive():
            if record is None:
                turn.started = True
                self._emit(Prefilled(name, lane.ttft_seconds, token))
            else:
                metrics = self._metrics(turn)
                self._emit(RoundFinished(name, record, (token,), metrics, params=lane.params))
        if lane.finished:
            self._end(turn, lane.finished)

    def _start(self, turn: LaneTurn, lane: Lane, params: Params) -> None:
        first = lane.start(
            self._prompt_ids,
            params,
            self._question.seed,
            self._stop,
            self._shared,
            self._cancelled,
        )
        if self._shared is None and lane.strategy.on_target:
            self._shared = lane.prompt
        turn.started = True
        turn.rules.add(sampling_rule(lane, lane.effective_params(params)))
        self._emit(
            Prefilled(
                lane.spec.name,
                lane.ttft_seconds,
                first,
                lane.prefill_seconds,
                lane.draft_prefill_seconds,
                lane.probs,
                lane.token_texts(tokens_at(lane.probs)),
            )
        )
        if lane.finished:
            self._end(turn, lane.finished)

    def _step(self, turn: LaneTurn, lane: Lane, params: Params) -> None:
        record = lane.step(params)
        own = lane.effective_params(params)
        turn.rules.add(sampling_rule(lane, own))
        # Before `events`, which advances the text: the tree continues from the one before.
        texts = lane.token_texts(tokens_in(record)) if record.p else {}
        tokens = lane.events(record)
        metrics = self._metrics(turn)
        self._emit(RoundFinished(lane.spec.name, record, tokens, metrics, texts, own, lane.tree))
        if lane.finished:
            self._end(turn, lane.finished)

    def _end(self, turn: LaneTurn, reason: Reason, message: str | None = None) -> None:
        turn.reason, turn.message = reason, message
        if turn.started and (base := self._baseline_stats):
            turn.baseline_speed = speed_beside(base, turn.lane.stats)
        texts: Mapping[int, str] = {}
        if isinstance(turn.lane, ServerLane):
            turn.lane.close()
        elif turn.started:
            texts = turn.lane.tree_texts()
        self._report(turn, texts)
        if turn is self._baseline:  # now the others can be compared with it
            for other in self._turns:
                if other is not turn and other.reason is not None:
                    self._report(other, {})

    def _report(self, turn: LaneTurn, texts: Mapping[int, str]) -> None:
        lane = turn.lane
        begun = turn.started
        self._emit(
            Finished(
                lane.spec.name,
                turn.reason or "stopped",
                turn.message or (lane.note if begun else None),
                self._metrics(turn) if begun else None,
                texts=texts,
                usage=lane.usage if isinstance(lane, ServerLane) else None,
                **self._compare(turn, lane),
            )
        )

    def _compare(self, turn: LaneTurn, lane: AnyLane) -> dict[str, Any]:
        """Compare with the autoregressive lane; {} unless both ended by themselves and one sampling
        rule chose all their tokens."""
        base = self._baseline
        if base is None or any(t.reason not in ("stop", "length") for t in (base, turn)):
            return {}
        if isinstance(lane, ServerLane):
            greedy = base.rules == {SamplingParams()} and lane.params.sampling.greedy
            return {"same_text": lane.text == base.lane.text} if greedy else {}
        if not lane.strategy.drafts or isinstance(base.lane, ServerLane):
            return {}
        if base.rules != turn.rules or len(base.rules) > 1 or None in base.rules:
            return {}
        greedy = base.rules == {SamplingParams()}
        return compare(lane, base.lane, self._prompt_ids, self._cancelled, greedy)

    def _metrics(self, turn: LaneTurn) -> Metrics:
        """A server runs on another machine: no speedup is computed for it."""
        lane, base, speed = turn.lane, self._baseline_stats, turn.baseline_speed
        if speed is None and base is not None:
            speed = base.tokens_per_second
        speed = None if lane.strategy.remote else speed
        return metrics_of(lane.stats, lane.tokens, lane.target_passes, speed)

    @property
    def _baseline_stats(self) -> Stats | None:
        """One that has not begun still holds those of its last turn."""
        begun = self._baseline is not None and self._baseline.started
        return self._baseline.lane.stats if self._baseline and begun else None


def _give_back(lane: AnyLane) -> str:
    """Must be called after the error is gone, whose traceback holds tensors."""
    return "out of memory" if isinstance(lane, ServerLane) else give_back(lane)


def _has_news(turn: LaneTurn) -> bool:
    return isinstance(turn.lane, ServerLane) and turn.lane.arrived


def _spent(turn: LaneTurn) -> float:
    return turn.lane.stats.decode_seconds if turn.started else -1.0


def answer_each(
    lanes: Sequence[AnyLane], prompt_ids: Sequence[int], question: Question, stop: Stop
) -> dict[str, str]:
    """A turn without events: the lanes answer one after the other; the prompt is prefilled once for
    all lanes on the target. Returns errors by lane; the other lanes go on."""
    shared: PrefilledPrompt | None = None
    errors: dict[str, str] = {}
    for lane in lanes:
        try:
            if isinstance(lane, ServerLane):
                lane.generate(question)
            else:
                lane.generate(prompt_ids, question.params, question.seed, stop, shared)
                shared = shared or (lane.prompt if lane.strategy.on_target else None)
            continue
        except Exception as error:
            message = None if out_of_memory(error) else describe(error)
        errors[lane.spec.name] = message or _give_back(lane)
    return errors


def answer_seed(seed: int, run: int, use: str = "") -> int:
    """The seed of a run, the same for all its lanes: with equal draws they give equal answers,
    unless their drafts are sampled. Another `use` gives independent draws."""
    digest = hashlib.sha256(f"{seed}/{run}/{use}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
