"""A recorded conversation in memory: its turns, and in each the events of every lane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.engine.commands import Turn
from app.engine.events import (
    PIECE,
    Event,
    Finished,
    LaneInfo,
    Loaded,
    Metrics,
    Prefilled,
    RoundFinished,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
    Timed,
)
from app.engine.metrics import concurrent_baseline_speed, metrics_of
from app.servers.usage import Usage, with_reported_counts
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import Strategy
from decoding.params import Params, with_settings
from decoding.round import Round
from decoding.stats import Stats

# Placeholder for rounds as they are read; `RecordedTurn.events` computes the metrics.
NO_METRICS = metrics_of(Stats(), 0, 0, None)


@dataclass(slots=True)
class LaneRecord:
    """One lane's part in a turn; implements `app.report.document.LaneResult`, as live lanes do."""

    info: LaneInfo
    prefilled: Prefilled | None = None
    steps: list[RoundFinished] = field(default_factory=list)
    finishes: list[Finished] = field(default_factory=list)  # one more when the baseline ends later

    @property
    def spec(self) -> LaneSpec:
        return self.info.spec

    @property
    def end(self) -> Finished | None:
        return self.finishes[-1] if self.finishes else None

    @property
    def cut_off(self) -> bool:
        """Whether the app ended before its answer, also where that had been stopped before."""
        if self.end is None or self.end.reason != "stopped":
            return self.end is None
        begun = [step.at - step.round.total_seconds for step in self.steps[-1:]]
        return bool(begun) and begun[0] > self.end.at

    @property
    def error(self) -> str | None:
        return (self.end.message or "") if self.end and self.end.reason == "error" else None

    @property
    def finished(self) -> str | None:
        return self.end.reason if self.end else None

    @property
    def note(self) -> str | None:
        return self.end.message if self.end else None

    @property
    def text(self) -> str:
        """The answer, without rejected tokens."""
        first = self.prefilled.first.text if self.prefilled else ""
        tokens = (token for step in self.steps for token in step.tokens)
        return first + "".join(token.text for token in tokens if not token.fate.discarded)

    @property
    def ids(self) -> list[int]:
        first = [self.prefilled.first.id] if self.prefilled else []
        found = first + [token for record in self.rounds for token in record.emitted]
        return [token for token in found if token != PIECE]

    @property
    def tokens(self) -> int:
        return bool(self.prefilled) + self.stats.emitted

    @property
    def rounds(self) -> list[Round]:
        return [step.round for step in self.steps]

    @property
    def stats(self) -> Stats:
        stats = Stats.of(self.rounds)
        if not self.strategy.remote:
            return stats
        return with_reported_counts(stats, self.usage)

    @property
    def usage(self) -> Usage | None:
        return self.end.usage if self.end else None

    @property
    def strategy(self) -> Strategy:
        return STRATEGIES[self.info.strategy]

    @property
    def target_passes(self) -> int:
        if self.strategy.remote:
            return self.stats.passes
        return len(self.steps) if self.strategy.on_target else 0

    @property
    def ttft_seconds(self) -> float:
        return self.prefilled.ttft_seconds if self.prefilled else 0.0

    @property
    def prefill_seconds(self) -> float | None:
        return self.prefilled.prefill_seconds if self.prefilled else None

    @property
    def draft_prefill_seconds(self) -> float | None:
        return self.prefilled.draft_prefill_seconds if self.prefilled else None


@dataclass(slots=True)
class RecordedTurn:
    """A prompt and its answers. `ended` is None if it was cut off, for example by a crash."""

    started: RunStarted
    lanes: dict[str, LaneRecord]
    ended: RunFinished | None = None
    off: tuple[str, ...] = ()  # lanes that were there and took no part
    shift: float = 0.0  # seconds that are added to the times of the events to come

    @property
    def stopped(self) -> bool:
        return self.ended is None or self.ended.stopped

    @property
    def answers(self) -> dict[str, str]:
        return {name: lane.text for name, lane in self.lanes.items() if lane.prefilled}

    def go_on(self, event: RunContinued) -> None:
        """Shift the events to come behind those that are there. The machine may have been started
        anew in between, and its clock with it."""
        *_, end = self.events()
        assert isinstance(end, RunFinished)
        self.shift = max(self.shift, end.at - event.at)

    def add(self, event: Prefilled | RoundFinished | Finished | RunFinished) -> None:
        """Add an event. Raises KeyError for a lane that is not in the turn."""
        event = replace(event, at=event.at + self.shift)
        match event:
            case Prefilled():
                self.lanes[event.lane].prefilled = event
            case RoundFinished():
                self.lanes[event.lane].steps.append(event)
            case Finished():
                self.lanes[event.lane].finishes.append(event)
            case RunFinished():
                self.ended = event

    def events(self) -> Iterator[Event]:
        """Yield its events in order, with the metrics of each moment."""
        own = {name: lane.info.overrides for name, lane in self.lanes.items()}
        timed: list[Event] = [replace(self.started, overrides=own)]
        for lane in self.lanes.values():
            timed += [lane.prefilled] if lane.prefilled else []
            timed += [*lane.steps, *lane.finishes]
        timed.sort(key=lambda event: event.at)  # type: ignore[union-attr]
        tally = RunningMetrics(self)
        for event in timed:
            yield tally.with_metrics(event)
        last = max(event.at for event in timed if isinstance(event, Timed))
        for name, lane in self.lanes.items():
            if lane.cut_off:
                yield Finished(name, "stopped", at=last)
        yield self.ended or RunFinished(self.started.run, True, at=last)


class RunningMetrics:
    """Running metrics of a turn's lanes, recomputed from the rounds instead of stored."""

    def __init__(self, turn: RecordedTurn) -> None:
        self._lanes = turn.lanes
        self._sums = {name: Stats() for name in turn.lanes}
        lanes = turn.lanes.items()
        plain = (name for name, lane in lanes if lane.strategy.is_baseline)
        self._baseline = next(plain, None)
        self._speeds: dict[str, float | None] = {}  # of the baseline beside each lane that ended

    def with_metrics(self, event: Event) -> Event:
        """Add the metrics of its moment to an event, in order."""
        if isinstance(event, RoundFinished):
            self._sums[event.lane].add(event.round)
            self._speeds.pop(event.lane, None)  # it goes on after a stop
            return replace(event, metrics=self._metrics(event.lane))
        if isinstance(event, Finished) and self._lanes[event.lane].prefilled:
            if event.lane not in self._speeds and self._baseline:
                base, sums = self._sums[self._baseline], self._sums[event.lane]
                self._speeds[event.lane] = concurrent_baseline_speed(base, sums)
            metrics = self._metrics(event.lane, event.usage)
            if event.metrics:  # side by side, one of a fair schedule would come out differently
                metrics = replace(metrics, speedup=event.metrics.speedup)
            return replace(event, metrics=metrics)
        return event

    def _metrics(self, name: str, usage: Usage | None = None) -> Metrics:
        sums, strategy = self._sums[name], self._lanes[name].strategy
        if strategy.remote:
            totals = with_reported_counts(sums, usage)
            return metrics_of(totals, 1 + totals.emitted, totals.passes, None)
        passes = sums.passes if strategy.on_target else 0
        speed = self._speeds.get(name)
        if speed is None and self._baseline:
            speed = self._sums[self._baseline].tokens_per_second
        return metrics_of(sums, 1 + sums.emitted, passes, speed)


@dataclass(frozen=True, slots=True)
class LeftWith:
    """The settings that a conversation was left with: the run's, and by lane its overrides and its
    tree; and the lanes that were off."""

    params: Params
    overrides: Mapping[str, Mapping[str, Any]]
    trees: Mapping[str, str]
    off: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for own in self.overrides.values():
            with_settings(self.params, own)  # raises for what no lane can have


@dataclass(slots=True)
class Recording:
    """A conversation, built from its events. `settings` are those at its beginning; `left` are the
    last ones, if they were changed after the last run."""

    created: str  # ISO 8601
    settings: dict[str, Any]
    name: str = ""  # given by the user
    loaded: Loaded | None = None  # the models of the newest turn
    turns: list[RecordedTurn] = field(default_factory=list)
    left: LeftWith | None = None

    @property
    def title(self) -> str:
        return self.name or (self.turns[0].started.prompt if self.turns else "")

    @property
    def lanes(self) -> tuple[LaneInfo, ...]:
        """Every lane that took part: they may differ after a conversation was resumed."""
        infos = {name: lane.info for turn in self.turns for name, lane in turn.lanes.items()}
        infos.update({info.name: info for info in self.loaded.lanes} if self.loaded else {})
        return tuple(infos.values())

    @property
    def seed(self) -> int:
        return self.turns[-1].started.seed

    def add(self, event: Event) -> None:
        """Add an event. Raises KeyError for a lane that is not in the turn, and IndexError outside
        of any turn, which no engine emits."""
        match event:
            case Loaded():
                self.loaded = event
            case RunStarted():
                self.left = None
                if self.turns and self.turns[-1].started.run in (event.run, event.replaces):
                    self.turns.pop()  # run again: the old answers are replaced
                started = replace(event, turn=len(self.turns))  # a rejected turn may be missing
                there = [info.name for info in self.loaded.lanes] if self.loaded else []
                off = tuple(name for name in there if name not in event.lanes)
                self.turns.append(RecordedTurn(started, self._lanes(event.lanes), off=off))
            case RunContinued():
                self.turns[-1].go_on(event)
            case Prefilled() | RoundFinished() | Finished() | RunFinished():
                self.turns[-1].add(event)
            case RunRejected() if self.turns and self.turns[-1].ended is None:
                self.turns.pop()

    def _lanes(self, names: Sequence[str]) -> dict[str, LaneRecord]:
        infos = {info.name: info for info in self.loaded.lanes} if self.loaded else {}
        return {name: LaneRecord(infos[name]) for name in names}

    def past(self) -> tuple[Turn, ...]:
        """Return the conversation for an engine that is to continue it."""
        return tuple(
            Turn(each.started.prompt, each.started.run, each.answers, each.started.replaces)
            for each in self.turns
        )
