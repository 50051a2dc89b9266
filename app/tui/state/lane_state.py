"""The state of one lane on the screen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from app.engine.commands import AnswerSoFar
from app.engine.events import (
    Finished,
    LaneInfo,
    Metrics,
    Prefilled,
    ProbabilitiesComputed,
    RoundFinished,
    Schedule,
)
from app.report.rejections import DraftOutcomes, LevelReader
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import DEFAULT_TREE, DYNAMIC_TREE, Strategy
from app.text.token_event import TokenEvent
from app.tui.state.growing import Growing, Same
from decoding.cost.round_statistics import RoundStatistics
from decoding.params import Gamma, Params, flat
from decoding.round import Round

Settings = tuple[Any, ...]  # a tree and the values of a strategy's settings
NEWEST = 16  # rounds over which gamma "auto" is summarized


class Phase(StrEnum):
    """What a lane does in the current run."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    ERROR = "error"


PHASE_AT_END = {
    "stop": Phase.DONE,
    "length": Phase.DONE,
    "stopped": Phase.STOPPED,
    "error": Phase.ERROR,
}


def _statistics() -> Growing[RoundFinished, RoundStatistics]:
    return Growing(RoundStatistics, lambda found, event: found.add(event.round))


def _complete() -> Growing[RoundFinished, set[bool]]:
    return Growing(set, lambda found, event: found.add(bool(event.round.entropies)))


def _draft_length(record: Round) -> int:
    """How many tokens a round drafted in a row; where it found none, how many were asked for."""
    return record.shape.depth or record.gamma


@dataclass(slots=True)
class LaneState:
    info: LaneInfo
    enabled: bool
    tree: str = DEFAULT_TREE
    phase: Phase = Phase.IDLE
    ttft_seconds: float | None = None
    metrics: Metrics | None = None
    begun_at: float = 0.0  # the last run, on the engine's clock
    schedule: Schedule = "fair"  # of the last run
    # when the last run began, if that is a recording's; its present ones are in `info`
    recorded_overrides: Mapping[str, Any] = field(default_factory=dict)
    finished: Finished | None = None
    first: Prefilled | None = None  # of the last run, like the rounds
    round_events: list[RoundFinished] = field(default_factory=list)
    used: set[tuple[Params | None, str]] = field(default_factory=set)  # settings, tree of a round
    last_params: Params | None = None  # of the newest round, also of an earlier run
    texts: dict[int, str] = field(default_factory=dict)  # of the tokens in its trees, by id
    lossy: bool = False  # a round of the last run was lossy
    round_index: int | None = None  # of the round looked at; None: always the newest
    computing: bool = False  # its answer's probabilities have been asked for
    no_probabilities: str | None = None  # why there are none
    cursor: TokenEvent | None = None  # the token looked at, if any
    # of the last run
    _statistics: Growing[RoundFinished, RoundStatistics] = field(
        default_factory=_statistics, compare=False
    )
    _complete: Growing[RoundFinished, set[bool]] = field(default_factory=_complete, compare=False)
    _drafts: Growing[RoundFinished, DraftOutcomes] = field(init=False, compare=False)
    # what it depends on, and the text
    _answer: tuple[object, str] = field(default=(None, ""), compare=False)

    def __post_init__(self) -> None:
        self._drafts = Growing(
            lambda: DraftOutcomes(LevelReader(self.begun)),
            lambda found, event: found.add(event.round, event.tokens),
        )

    @property
    def sampled(self) -> bool:
        """Whether its answer was drawn, or part of it, at a temperature above 0."""
        used = (params for params, _ in self.used)
        return any(params and not params.sampling.greedy for params in used)

    @property
    def strategy(self) -> Strategy:
        return STRATEGIES[self.info.strategy]

    @property
    def static_tree(self) -> bool:
        """Whether the lane drafts the same tree every round."""
        return self.tree not in (DEFAULT_TREE, DYNAMIC_TREE)

    @property
    def going(self) -> bool:
        """Whether it is in a run and not done."""
        return self.phase in (Phase.WAITING, Phase.RUNNING)

    @property
    def decode_seconds(self) -> float:
        """The lane's decoding time in this run so far."""
        return self.metrics.decode_seconds if self.metrics else 0.0

    @property
    def speedup(self) -> float | None:
        """Over the autoregressive lane, while both ran."""
        return self.metrics.speedup if self.metrics else None

    @property
    def active(self) -> bool:
        """Whether the lane takes part in the next run."""
        return self.enabled and self.info.available

    @property
    def model(self) -> str:
        """The model that decides on each token, and whose probabilities are recorded."""
        return "target" if self.strategy.on_target else "draft model"

    def set_overrides(self, overrides: Mapping[str, Any]) -> None:
        self.info = replace(self.info, overrides=overrides)

    def effective_params(self, params: Params) -> Params:
        """Return the run's settings as they act on the lane."""
        return self.info.spec.effective_params(params)

    def gamma(self, effective: Params) -> Gamma:
        """Return the gamma that the lane's `effective` settings give, limited by the depth of a
        static tree; None for a strategy that does not draft."""
        if not self.info.default_gamma:
            return None
        if effective.gamma is None:
            return self.info.trees.get(self.tree, self.info.default_gamma)
        return "auto" if effective.gamma == "auto" else self._reachable(effective.gamma)

    @property
    def draft_length(self) -> int | None:
        """The length of the newest round's draft; after the run the most frequent one, because the
        last rounds are cut short. None before the first round."""
        if not self.round_events:
            return None
        if self.phase is Phase.RUNNING:
            before, newest = self.round_events[-2:][0].round, self.round_events[-1].round
            # The last may have had no room.
            return self._reachable(_draft_length(newest) or _draft_length(before))
        return self._most_frequent(_draft_length)

    def _reachable(self, gamma: int) -> int:
        """No larger gamma makes a difference to a drafter of one pass, which has so many heads, or
        a tree of so many levels."""
        deepest = self.info.trees.get(self.tree, self.info.default_gamma)
        return min(gamma, deepest) if self.strategy.one_pass else gamma

    def usual_gamma(self, params: Params) -> int:
        """Return the gamma in force as a number; for "auto" the most frequent one of the newest
        rounds."""
        gamma = self.gamma(self.effective_params(params))
        if gamma != "auto":
            return gamma or 0
        return self._most_frequent(lambda record: record.gamma)

    def _most_frequent(self, length: Callable[[Round], int]) -> int:
        """The most frequent `length` of the newest rounds."""
        newest = [length(event.round) for event in self.round_events[-NEWEST:]]
        return self._reachable(max(newest, key=newest.count, default=self.info.default_gamma))

    def settings_of_rounds(self, ignored: Collection[str]) -> Settings | None:
        """Return the settings that acted on the lane in its last run, without the `ignored` ones.
        None if they changed during the run."""
        names = [name for name in self.strategy.settings if name not in ignored]
        used: set[Settings] = set()
        for params, tree in self.used:
            values = flat(params) if params else {}
            used.add((tree, *(values.get(name) for name in names)))
        return used.pop() if len(used) == 1 else None

    @property
    def rounds(self) -> list[Round]:
        return [event.round for event in self.round_events]

    @property
    def statistics(self) -> RoundStatistics:
        """What the rounds tell of speeds with another gamma."""
        return self._statistics.of(self.round_events)

    @property
    def drafts(self) -> DraftOutcomes:
        """What became of the drafts that were tested."""
        return self._drafts.of(self.round_events)

    @property
    def begun(self) -> str:
        """The text before the rounds."""
        return self.first.first.text if self.first else ""

    @property
    def answer(self) -> str:
        """The text of the last run."""
        key = Same(self.first), Same(self.round_events), len(self.round_events)
        if key != self._answer[0]:
            self._answer = key, self._text()
        return self._answer[1]

    def _text(self) -> str:
        tokens = [token for event in self.round_events for token in event.tokens]
        kept = [token.text for token in tokens if not token.fate.discarded]
        return "".join([self.begun, *kept])

    def answer_so_far(self, first: Prefilled) -> AnswerSoFar:
        """For the engine, which may have forgotten it."""
        reason = self.finished.reason if self.finished else None
        return AnswerSoFar(
            first.first.id,
            tuple(self.rounds),
            tuple(event.params or Params() for event in self.round_events),
            reason if reason == "stop" or reason == "length" else None,
            self.speedup,
            first.sampled,
        )

    @property
    def lacks_probabilities(self) -> bool:
        """Whether tokens lack recorded probabilities that can be computed."""
        if self.strategy.remote:
            return False
        if self.first and not self.first.probs:
            return True
        return False in self._complete.of(self.round_events)

    @property
    def round_event_here(self) -> RoundFinished | None:
        """The round shown in the panels."""
        if not self.round_events:
            return None
        return self.round_events[-1 if self.round_index is None else self.round_index]

    @property
    def round_here(self) -> Round | None:
        return self.round_event_here.round if self.round_event_here else None

    def add_probabilities(self, event: ProbabilitiesComputed) -> None:
        """Add probabilities that were computed after the answer."""
        self.computing, self.no_probabilities = False, event.note
        if self.first and event.note is None and len(event.rounds) == len(self.round_events):
            self.first = replace(self.first, probs=event.first)
            pairs = zip(self.round_events, event.rounds, strict=True)
            self.round_events = [replace(known, round=record) for known, record in pairs]
            self.texts = {**event.texts, **self.texts}

    def begin(self, at: float, schedule: Schedule) -> None:
        self.phase, self.begun_at, self.schedule = Phase.WAITING, at, schedule
        self.clear_metrics()

    def clear_metrics(self) -> None:
        self.ttft_seconds = self.metrics = self.finished = None
        self.first, self.round_events, self.used, self.texts = None, [], set(), {}
        self.lossy, self.round_index, self.cursor = False, None, None
        self.computing, self.no_probabilities = False, None

    def add(self, event: RoundFinished) -> None:
        self.metrics = event.metrics
        self.round_events.append(event)
        self.used.add((event.params, event.tree))
        self.last_params = event.params
        self.round_index = None  # show the new round
        self.lossy = self.lossy or event.round.lossy
        # Texts of single tokens are better here than what a token added to the answer.
        self.texts.update({each.id: each.text for each in event.tokens if each.text})
        self.texts.update(event.texts)
