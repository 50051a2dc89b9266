"""One lane's part in a turn: how it begins, advances by a round and ends, here or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from app.engine.commands import AnswerSoFar
from app.engine.comparison import compare, sampling_rule
from app.engine.events import Event, Finished, Metrics, Prefilled, Reason, RoundFinished
from app.engine.metrics import concurrent_baseline_speed, metrics_of
from app.engine.out_of_memory import free_lane_caches
from app.engine.server_lane import ServerLane
from app.engine.token_events import tokens_at, tokens_in
from app.servers.protocol import Question
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop

if TYPE_CHECKING:  # these import torch, which a session with only servers does not need
    from app.engine.lane import Lane
    from decoding.prefill import PrefilledPrompt
    from decoding.stats import Stats

AnyLane: TypeAlias = "Lane | ServerLane"


@dataclass
class Task:
    """A question for all lanes of a turn. `arrived` is called for each piece of a server's
    answer."""

    prompt_ids: Sequence[int]
    question: Question
    stop: Stop
    cancelled: Callable[[], bool] = lambda: False
    arrived: Callable[[], None] = lambda: None
    shared: PrefilledPrompt | None = None  # by the first lane on the target, for the others


class LaneTurn(ABC):
    """A lane's part in a turn, and what is reported of it. A server's answer is asked for
    beforehand and arrives at its own pace."""

    lane: AnyLane

    def __init__(self, task: Task) -> None:
        self.task = task
        self.baseline: LaneTurn | None = None  # the autoregressive lane's, perhaps this one
        self.started = False
        self.passed_over = False  # a server fell silent, and the next lane of a fair turn began
        self.reason: Reason | None = None  # why it has ended
        self.message: str | None = None
        self.rules: set[SamplingParams | None] = set()  # see `sampling_rule`
        self._baseline_speed: float | None = None  # tok/s while both ran, once this one has ended

    @property
    def name(self) -> str:
        return self.lane.spec.name

    @property
    def begun(self) -> bool:
        """Whether it is at work, perhaps still before its first token."""
        return self.started

    @property
    def has_arrived(self) -> bool:
        """Whether there is something to take from a server."""
        return False

    @property
    def silent(self) -> bool:
        """Whether nothing has come from a server for long."""
        return False

    def ask(self, params: Params) -> None:  # noqa: B027
        """Send the question to a server, the first time."""

    def restore(self, answer: AnswerSoFar) -> None:  # noqa: B027
        """Go on after this answer, or only compare with it, if it is finished. A server can't: it
        answers anew."""

    def configure(self, recorded: bool, tree: str | None) -> None:  # noqa: B027
        """Set whether rounds carry probabilities and, unless it is None, the tree, both from the
        next round on. A server has neither."""

    @abstractmethod
    def advance(self, params: Params) -> Iterator[Event]:
        """Run one round, the first time with the prefill; for a server, take everything that has
        arrived. The lane's `finished` says whether that was the last."""

    @abstractmethod
    def answer(self) -> None:
        """Generate the whole answer at once, without events."""

    @abstractmethod
    def free_caches(self) -> str:
        """Free the lane's caches and return a line for the user. Call it once the error is gone, as
        its traceback holds tensors."""

    def end(self, reason: Reason, message: str | None = None) -> None:
        """End the lane's part for this `reason`."""
        self.reason, self.message = reason, message
        if self.started and (base := self._baseline_stats):
            self._baseline_speed = concurrent_baseline_speed(base, self.lane.stats)

    def report(self, texts: Mapping[int, str] | None = None) -> Finished:
        """Make the event that the lane has finished, with the `texts` of the tokens in its
        trees."""
        lane, begun = self.lane, self.started
        return Finished(
            self.name,
            self.reason or "stopped",
            self.message or (lane.note if begun else None),
            self.metrics() if begun else None,
            texts=texts or {},
            usage=lane.usage,
            **self._compared(),
        )

    def metrics(self) -> Metrics:
        """Compute the lane's metrics so far; for a server, on another machine, without a
        speedup."""
        lane, base, speed = self.lane, self._baseline_stats, self._baseline_speed
        if speed is None and base is not None:
            speed = base.tokens_per_second
        speed = None if lane.strategy.remote else speed
        return metrics_of(lane.stats, lane.tokens, lane.target_passes, speed)

    @property
    def _baseline_stats(self) -> Stats | None:
        """A lane that has not begun still holds those of its last turn."""
        begun = self.baseline is not None and self.baseline.started
        return self.baseline.lane.stats if self.baseline and begun else None

    def _compared(self) -> dict[str, Any]:
        """{} unless this and the autoregressive lane ended by themselves, and `_compare` is defined
        for them."""
        base = self.baseline
        if base is None or any(turn.reason not in ("stop", "length") for turn in (base, self)):
            return {}
        return self._compare(base)

    @abstractmethod
    def close(self) -> Mapping[int, str]:
        """End the work, and return the texts of all tokens in the answer's trees, by id."""

    @abstractmethod
    def _compare(self, base: LaneTurn) -> dict[str, Any]:
        """Compare the answer with the autoregressive lane's; {} unless one sampling rule chose all
        tokens of both."""


class LocalTurn(LaneTurn):
    """The turn of a lane on the loaded models."""

    def __init__(self, lane: Lane, task: Task) -> None:
        super().__init__(task)
        self.lane: Lane = lane
        self._to_resume: AnswerSoFar | None = None

    def restore(self, answer: AnswerSoFar) -> None:
        lane = self.lane
        lane.restore(self.task.prompt_ids, answer, self.task.stop)
        self.started, self.reason = True, answer.finished
        self.rules = {sampling_rule(lane, own) for own in answer.params}
        if answer.finished is None:
            self._to_resume = answer
        elif (speed := lane.stats.tokens_per_second) and answer.speedup:
            self._baseline_speed = speed / answer.speedup

    def configure(self, recorded: bool, tree: str | None) -> None:
        self.lane.record_probabilities(recorded)
        if tree is not None:
            self.lane.set_tree(tree)

    def advance(self, params: Params) -> Iterator[Event]:
        if not self.started:
            yield self._start(params)
        elif self._to_resume is not None:
            task, drawn = self.task, self._to_resume.drawn
            self._to_resume = None
            self.lane.resume(task.question.seed, drawn, task.cancelled)
        if not self.lane.finished:
            yield self._step(params)

    def _start(self, params: Params) -> Prefilled:
        lane, task = self.lane, self.task
        first = lane.start(
            task.prompt_ids, params, task.question.seed, task.stop, task.shared, task.cancelled
        )
        self._share_prefill()
        self.started = True
        self.rules.add(sampling_rule(lane, lane.params))
        return Prefilled(
            self.name,
            lane.ttft_seconds,
            first,
            lane.prefill_seconds,
            lane.draft_prefill_seconds,
            lane.probs,
            lane.token_texts(tokens_at(lane.probs)),
            not lane.params.sampling.greedy,
            lane.params,
        )

    def _step(self, params: Params) -> RoundFinished:
        lane = self.lane
        record = lane.step(params)
        self.rules.add(sampling_rule(lane, lane.params))
        # Before `events`, which advances the text: the tree continues from the one before.
        texts = lane.token_texts(tokens_in(record)) if record.p else {}
        tokens = lane.events(record)
        metrics = self.metrics()
        return RoundFinished(self.name, record, tokens, metrics, texts, lane.params, lane.tree)

    def answer(self) -> None:
        task = self.task
        question = task.question
        self.lane.generate(task.prompt_ids, question.params, question.seed, task.stop, task.shared)
        self._share_prefill()

    def _share_prefill(self) -> None:
        if self.task.shared is None and self.lane.strategy.on_target:
            self.task.shared = self.lane.prompt

    def free_caches(self) -> str:
        self.task.shared = None  # memory is short: later lanes prefill for themselves
        return free_lane_caches(self.lane)

    def close(self) -> Mapping[int, str]:
        return self.lane.tree_texts() if self.started else {}

    def _compare(self, base: LaneTurn) -> dict[str, Any]:
        if not self.lane.strategy.drafts or not isinstance(base, LocalTurn):
            return {}
        if base.rules != self.rules or len(base.rules) > 1 or None in base.rules:
            return {}
        greedy = base.rules == {SamplingParams()}
        return compare(self.lane, base.lane, self.task.prompt_ids, self.task.cancelled, greedy)


class ServerTurn(LaneTurn):
    """The turn of a server's lane."""

    def __init__(self, lane: ServerLane, task: Task) -> None:
        super().__init__(task)
        self.lane: ServerLane = lane
        self._asked = False

    @property
    def begun(self) -> bool:
        return self._asked

    @property
    def has_arrived(self) -> bool:
        return self.lane.arrived

    @property
    def silent(self) -> bool:
        return self._asked and self.lane.silent

    def ask(self, params: Params) -> None:
        if not self._asked:
            self._asked = True
            self.lane.ask(replace(self.task.question, params=params), self.task.arrived)

    def advance(self, params: Params) -> Iterator[Event]:
        lane = self.lane
        for token, record in lane.receive():
            if record is None:
                self.started = True
                yield Prefilled(self.name, lane.ttft_seconds, token)
            else:
                yield RoundFinished(self.name, record, (token,), self.metrics(), params=lane.params)

    def answer(self) -> None:
        self.lane.generate(self.task.question)

    def free_caches(self) -> str:
        return "out of memory"

    def close(self) -> Mapping[int, str]:
        self.lane.close()
        return {}

    def _compare(self, base: LaneTurn) -> dict[str, Any]:
        rule = self.lane.params.sampling.greedy_rule
        if rule is None or base.rules != {rule}:
            return {}
        return {"same_text": self.lane.text == base.lane.text}


def lane_turn(lane: AnyLane, task: Task) -> LaneTurn:
    """Make the part of a lane in a turn, by its kind."""
    return ServerTurn(lane, task) if isinstance(lane, ServerLane) else LocalTurn(lane, task)
