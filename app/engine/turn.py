"""One turn of the conversation: whose round is next, and how each lane ends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.engine.comparison import compare, rule
from app.engine.events import Event, Finished, Metrics, Prefilled, Reason, RoundFinished, Schedule
from app.engine.lane import Lane
from app.engine.metrics import metrics_of
from app.engine.token_events import tokens_at, tokens_in
from app.text.errors import describe
from decoding.params import Params, SamplingParams
from decoding.prefill import PrefilledPrompt
from decoding.tokenizing.stopping import Stop

Emit = Callable[[Event], None]


class LaneTurn:
    """A lane's part in the turn."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.started = False
        self.reason: Reason | None = None
        self.message: str | None = None
        self.rules: set[SamplingParams | None] = set()  # that its tokens were chosen by


class TurnRunner:
    """Advances the lanes of one turn, one round at a time, and reports by `emit`.

    A prompt is prefilled once for all lanes on the target. A lane that breaks ends alone.
    """

    def __init__(
        self,
        lanes: Sequence[Lane],
        prompt_ids: Sequence[int],
        seed: int,
        run: int,
        stop: Stop,
        emit: Emit,
        cancelled: Callable[[], bool],
    ) -> None:
        self._turns = [LaneTurn(lane) for lane in lanes]
        self._prompt_ids, self._seed, self._run = prompt_ids, seed, run
        self._stop, self._emit, self._cancelled = stop, emit, cancelled
        self._shared: PrefilledPrompt | None = None
        self._baseline = next((t for t in self._turns if t.lane.strategy.is_baseline), None)

    def due(
        self, schedule: Schedule, enabled: Callable[[str], bool], wanted: str | None = None
    ) -> LaneTurn | None:
        """The lane whose round is next, None when all have ended. race: the one that has had the
        least decoding time, so that all have the same and a disturbance meets all alike. fair: one
        after the other. `wanted`: this lane or none."""
        for turn in self._turns:
            if turn.reason is None and not enabled(turn.lane.spec.name):
                self._end(turn, "stopped")
        going = [turn for turn in self._turns if turn.reason is None]
        if wanted is not None:
            return next((turn for turn in going if turn.lane.spec.name == wanted), None)
        if not going:
            return None
        if schedule == "fair":
            return next((turn for turn in going if turn.started), going[0])
        return min(going, key=lambda t: t.lane.stats.decode_seconds if t.started else -1.0)

    def advance(self, turn: LaneTurn, params: Params) -> None:
        """One round of a lane; before its first one, the prefill."""
        try:
            if not turn.started:
                self._start(turn, params)
            if turn.reason is None:
                self._step(turn, params)
        except InterruptedError:
            self._end(turn, "stopped")
        except Exception as error:  # the other lanes go on
            self._end(turn, "error", describe(error))

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

    def _start(self, turn: LaneTurn, params: Params) -> None:
        lane = turn.lane
        seed = answer_seed(self._seed, self._run)
        first = lane.start(
            self._prompt_ids, params, seed, self._stop, self._shared, self._cancelled
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

    def _step(self, turn: LaneTurn, params: Params) -> None:
        lane = turn.lane
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
        self._report(turn, turn.lane.tree_texts() if turn.started else {})
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
                **self._compare(turn),
            )
        )

    def _compare(self, turn: LaneTurn) -> dict[str, Any]:
        """Whether the lane said what the autoregressive one said, where that is defined: both ended
        by themselves, and one rule chose all their tokens."""
        base = self._baseline
        if base is None or not turn.lane.strategy.drafts:
            return {}
        if any(t.reason not in ("stop", "length") for t in (base, turn)):
            return {}
        if base.rules != turn.rules or len(base.rules) > 1 or None in base.rules:
            return {}
        greedy = base.rules == {SamplingParams()}
        return compare(turn.lane, base.lane, self._prompt_ids, self._cancelled, greedy)

    def _metrics(self, lane: Lane) -> Metrics:
        # a baseline that has not begun still has the metrics of its last turn
        begun = self._baseline is not None and self._baseline.started
        base = self._baseline.lane.stats if self._baseline and begun else None
        return metrics_of(lane.stats, len(lane.ids), lane.target_passes, base)


def answer_each(
    lanes: Sequence[Lane], prompt_ids: Sequence[int], params: Params, seed: int, stop: Stop
) -> dict[str, str]:
    """A turn without events: one lane after the other answers the prompt, which is prefilled once
    for all on the target. Returns what went wrong, by lane; the other lanes go on."""
    shared: PrefilledPrompt | None = None
    errors: dict[str, str] = {}
    for lane in lanes:
        try:
            lane.generate(prompt_ids, params, seed, stop, shared)
        except Exception as error:
            errors[lane.spec.name] = describe(error)
        else:
            shared = shared or (lane.prompt if lane.strategy.on_target else None)
    return errors


def answer_seed(seed: int, run: int, use: str = "") -> int:
    """One for each run, the same for all its lanes: with the same draws they say the same, where
    what they draft is not drawn. `use`: another one, for draws that are independent of these."""
    digest = hashlib.sha256(f"{seed}/{run}/{use}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
