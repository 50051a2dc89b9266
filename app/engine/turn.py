"""One turn of the conversation: whose round is next, and how each lane ends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from app.engine.comparison import compare, rule
from app.engine.events import Event, Finished, Metrics, Prefilled, Reason, RoundFinished, Schedule
from app.engine.metrics import metrics_of
from app.engine.out_of_memory import give_back, out_of_memory
from app.engine.server_lane import ServerLane
from app.engine.token_events import tokens_at, tokens_in
from app.servers.chunks import Question
from app.text.errors import describe
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop

if TYPE_CHECKING:  # torch comes with these, and servers alone need none
    from app.engine.lane import Lane
    from decoding.prefill import PrefilledPrompt

Emit = Callable[[Event], None]
AnyLane: TypeAlias = "Lane | ServerLane"


class LaneTurn:
    """A lane's part in the turn."""

    def __init__(self, lane: AnyLane) -> None:
        self.lane = lane
        self.asked = False  # of a server: it has the question
        self.passed_over = False  # of a server: it fell silent, and the next lane began
        self.started = False
        self.reason: Reason | None = None
        self.message: str | None = None
        self.rules: set[SamplingParams | None] = set()  # that its tokens were chosen by


class TurnRunner:
    """Advances the lanes of one turn, one round at a time, and reports by `emit`.

    A prompt is prefilled once for all lanes on the target. A lane that breaks ends alone. Servers
    answer the `question` meanwhile, by their own clocks; `arrived` is called when they say more.
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
        """Whether any lane does. Those that are not `enabled` any more are stopped."""
        for turn in self._turns:
            if turn.reason is None and not enabled(turn.lane.spec.name):
                self._end(turn, "stopped")
        return bool(self._going)

    @property
    def _going(self) -> list[LaneTurn]:
        return [turn for turn in self._turns if turn.reason is None]

    def ask_servers(self, schedule: Schedule, params: Params) -> None:
        """race: all at once. fair: the one whose turn it is."""
        among = self._going if schedule == "race" else self._next_of_fair()
        for turn in among:
            if isinstance(turn.lane, ServerLane) and not turn.asked:
                turn.asked = True
                turn.lane.ask(replace(self._question, params=params), self._arrived)

    def due(
        self, schedule: Schedule, enabled: Callable[[str], bool], wanted: str | None = None
    ) -> LaneTurn | None:
        """The lane whose round is next; None where servers are waited for. One that something has
        arrived for, else race: the one that has had the least decoding time, so that all have the
        same and a disturbance meets all alike. fair: one after the other. `wanted`: this lane or
        none."""
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
        """Of lanes that answer one after the other: the one whose turn it is, if any. A server that
        falls silent has had its turn; what it still says is taken as it comes."""
        for turn in self._going:
            if isinstance(turn.lane, ServerLane) and turn.asked and turn.lane.silent:
                turn.passed_over = True
        waiting = [turn for turn in self._going if not turn.passed_over]
        begun = (turn for turn in waiting if turn.started or turn.asked)
        return [next(begun, waiting[0])] if waiting else []

    def has_arrived(self) -> bool:
        return any(map(_has_news, self._going))

    def advance(self, turn: LaneTurn, params: Params) -> None:
        """One round of a lane; before its first one, the prefill. Of a server, all that it has said
        meanwhile."""
        try:
            if isinstance(turn.lane, ServerLane):
                self._take(turn, turn.lane)
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
            self._shared = None  # what begins now needs the room more than the time
        self._end(turn, "error", message or _give_back(turn.lane))

    def end(self) -> bool:
        """Stop what still runs; returns whether there was anything."""
        open_turns = [turn for turn in self._turns if turn.reason is None]
        for turn in open_turns:
            self._end(turn, "stopped")
        return bool(open_turns)

    def answers(self) -> dict[str, str]:
        """What each lane said in this turn. One that never began still has its previous answer."""
        return {turn.lane.spec.name: turn.lane.text for turn in self._turns if turn.started}

    def unfinished(self) -> dict[str, list[int]]:
        """The ids so far of the lanes that have begun and are not done, by name."""
        going = (turn for turn in self._turns if turn.started and turn.reason in (None, "stopped"))
        return {turn.lane.spec.name: list(turn.lane.ids) for turn in going}

    def _take(self, turn: LaneTurn, lane: ServerLane) -> None:
        name = lane.spec.name
        for token, record in lane.take():
            if record is None:
                turn.started = True
                self._emit(Prefilled(name, lane.ttft_seconds, token))
            else:
                metrics = self._metrics(lane)
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
        turn.rules.add(rule(lane, lane.effective_params(params)))
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
        turn.rules.add(rule(lane, own))
        # Before `events`, which moves on: the tree follows what was committed until then.
        texts = lane.token_texts(tokens_in(record)) if record.p else {}
        tokens = lane.events(record)
        metrics = self._metrics(lane)
        self._emit(RoundFinished(lane.spec.name, record, tokens, metrics, texts, own, lane.tree))
        if lane.finished:
            self._end(turn, lane.finished)

    def _end(self, turn: LaneTurn, reason: Reason, message: str | None = None) -> None:
        turn.reason, turn.message = reason, message
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
                self._metrics(lane) if begun else None,
                texts=texts,
                usage=lane.usage if isinstance(lane, ServerLane) else None,
                **self._compare(turn, lane),
            )
        )

    def _compare(self, turn: LaneTurn, lane: AnyLane) -> dict[str, Any]:
        """Whether the lane said what the autoregressive one said, where that is defined: both ended
        by themselves, and one rule chose all their tokens."""
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

    def _metrics(self, lane: AnyLane) -> Metrics:
        """A server has its own machine: its speed over this one's would be no speedup."""
        # a baseline that has not begun still has the metrics of its last turn
        begun = self._baseline is not None and self._baseline.started
        base = self._baseline.lane.stats if self._baseline and begun else None
        base = None if lane.strategy.remote else base
        return metrics_of(lane.stats, lane.tokens, lane.target_passes, base)


def _give_back(lane: AnyLane) -> str:
    """After the error, which holds tensors of its own, is gone."""
    return "out of memory" if isinstance(lane, ServerLane) else give_back(lane)


def _has_news(turn: LaneTurn) -> bool:
    return isinstance(turn.lane, ServerLane) and turn.lane.arrived


def _spent(turn: LaneTurn) -> float:
    return turn.lane.stats.decode_seconds if turn.started else -1.0


def answer_each(
    lanes: Sequence[AnyLane], prompt_ids: Sequence[int], question: Question, stop: Stop
) -> dict[str, str]:
    """A turn without events: one lane after the other answers the prompt, which is prefilled once
    for all on the target. Returns what went wrong, by lane; the other lanes go on."""
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
    """One for each run, the same for all its lanes: with the same draws they say the same, where
    what they draft is not drawn. `use`: another one, for draws that are independent of these."""
    digest = hashlib.sha256(f"{seed}/{run}/{use}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
