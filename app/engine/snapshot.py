"""Snapshot of a session, rebuilt from the commands sent to it and the events it emitted. If the
decoding process dies, a new one is restored from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from app.config.settings import ModelOptions
from app.engine.commands import (
    Command,
    NewConversation,
    OpenModels,
    RecordProbabilities,
    Resume,
    Run,
    SetEnabled,
    SetLeader,
    SetOverrides,
    SetParams,
    SetSchedule,
    SetTree,
    StartSamplingTest,
    StopSamplingTest,
    Turn,
)
from app.engine.events import (
    Event,
    Finished,
    LanesChanged,
    Loaded,
    LoadFailed,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunRejected,
    RunStarted,
    SamplingTest,
    Timed,
)
from app.strategies.registry import LaneSpec


class SessionSnapshot:
    """`options` and `specs` are the models and lanes to load, `next_run` the first number that no
    run has had."""

    def __init__(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        self.options, self.specs = options, specs
        self._wished = [options]  # one after the other
        self._there = options  # those that come back where others can't be loaded
        self._settings: dict[type[Command], Command] = {}  # the last one of each kind
        self._enabled: dict[str, SetEnabled] = {}  # by lane
        self._turns: list[Turn] = []
        self._seed = 0  # of the conversation
        self.next_run = 0
        self._asked: str | None = None  # a prompt that no turn has begun with
        self._turn: Turn | None = None  # the one that is being answered
        self._texts: dict[str, list[str]] = {}  # of its lanes, one for each event
        self._answering: set[str] = set()  # the lanes that do
        self._claim: SamplingTest | None = None  # what is being proven
        self._at = 0.0  # when something was said last, on the session's clock

    def apply_command(self, command: Command) -> None:
        match command:
            case Run(prompt):
                self._asked = prompt
            case SetParams() | SetSchedule() | SetLeader() | RecordProbabilities():
                self._settings[type(command)] = command
            case SetEnabled(lane):
                self._enabled[lane] = command
            case SetTree(lane, tree):
                self._change(lane, tree=tree)
            case SetOverrides(lane, overrides):
                self._change(lane, overrides=overrides)
            case StartSamplingTest(lane, repetitions):
                self._claim = SamplingTest(lane, repetitions=repetitions)
            case StopSamplingTest():
                self._claim = None
            case NewConversation():
                self._turns = []
            case Resume(turns, seed):
                self._turns, self._seed = list(turns), seed
                self._count(turn.run for turn in turns)
            case OpenModels(options, specs):
                self.options, self.specs = options, specs
                self._wished.append(options)
                self._turns = []

    def apply_events(self, events: Iterable[Event]) -> None:
        for event in events:
            self._hear(event)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Timed):
            self._at = event.at
        match event:
            case Loaded() | LanesChanged():
                self.specs = tuple(info.spec for info in event.lanes)
                there = {spec.name for spec in self.specs}
                self._enabled = {lane: on for lane, on in self._enabled.items() if lane in there}
                if isinstance(event, Loaded) and not event.back:
                    self._are_there(event.place)
            case LoadFailed(kept=True):
                self.options = self._there
            case RunStarted():
                if self._turns and self._turns[-1].run == event.run:  # once more
                    self._turns.pop()
                self._turn = Turn(event.prompt, event.run)
                self._turns.append(self._turn)
                self._texts = {}
                self._count([event.run])
                self._seed, self._asked = event.seed, None
                self._answering = set(event.lanes)
            case Prefilled():
                self._texts[event.lane] = [event.first.text]
            case RoundFinished():
                self._texts[event.lane] += (t.text for t in event.tokens if not t.fate.ghost)
            case Finished():
                self._answering.discard(event.lane)
            case RunFinished():
                self._end_turn()
            case RunRejected():
                self._asked = None
                self._end_turn()
            case SamplingTest() if event.note is not None or event.done == event.repetitions:
                self._claim = None

    def closing_events(self, why: str) -> Iterator[Event]:
        """What is still to be said when the session has ended: a turn is as if it had been stopped,
        a prompt that none had begun with goes back, nothing is proven."""
        if self._turn is not None:
            for lane in sorted(self._answering):
                yield Finished(lane, "error", why, at=self._at)
            yield RunFinished(self._turn.run, True, at=self._at)
        if self._asked is not None:
            yield RunRejected(self._asked, why)
        if self._claim is not None:
            yield replace(self._claim, note=why)

    def to_commands(self) -> Iterator[Command]:
        """What a new session for `options` and `specs` must be told before it is opened."""
        yield from self._settings.values()
        yield from self._enabled.values()
        if self._turns:
            yield Resume(self._conversation(), self._seed)

    def _conversation(self) -> tuple[Turn, ...]:
        """All turns, the running one with what its lanes have said so far."""
        if not self._turns or self._turns[-1] is not self._turn:
            return tuple(self._turns)
        answers = {lane: "".join(texts) for lane, texts in self._texts.items()}
        return (*self._turns[:-1], replace(self._turn, answers=answers))

    def _end_turn(self) -> None:
        self._turns, self._turn = list(self._conversation()), None

    def _are_there(self, place: str) -> None:
        """Others may be wished for since. No name: the demo, which one can only begin with. Medusa
        heads in a model of their own make that the target."""
        newest_first = reversed(self._wished)
        known = (each for each in newest_first if place in (each.target, each.medusa))
        self._there = next(known, self._wished[0])
        if self._there is self._wished[-1]:
            self.options = self._there

    def _count(self, runs: Iterable[int]) -> None:
        self.next_run = max([self.next_run, *(run + 1 for run in runs)])

    def _change(self, lane: str, **changed: Any) -> None:
        self.specs = tuple(
            replace(spec, **changed) if spec.name == lane else spec for spec in self.specs
        )
