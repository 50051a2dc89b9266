"""How a session stands, by what it was told and what it said: all that another one must be told to
go on in its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from app.config.settings import ModelOptions
from app.engine.events import (
    Event,
    Finished,
    LanesChanged,
    Loaded,
    LoadFailed,
    PastTurn,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunRejected,
    RunStarted,
    SamplingTest,
    Timed,
)
from app.engine.mailbox import Turn
from app.strategies.registry import LaneSpec

Command = tuple[str, tuple[Any, ...]]


class SessionSnapshot:
    """`options` and `specs` are the models and lanes to load, `next_run` the first number that no
    run has had."""

    def __init__(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        self.options, self.specs = options, specs
        self._wished = [options]  # one after the other
        self._there = options  # those that come back where others can't be loaded
        self._settings: dict[str, tuple[Any, ...]] = {}  # by command
        self._enabled: dict[str, bool] = {}  # by lane
        self._turns: list[Turn] = []
        self._seed = 0  # of the conversation
        self.next_run = 0
        self._asked: str | None = None  # a prompt that no turn has begun with
        self._turn: Turn | None = None  # the one that is being answered
        self._answering: set[str] = set()  # the lanes that do
        self._claim: SamplingTest | None = None  # what is being proven
        self._at = 0.0  # when something was said last, on the session's clock

    def told(self, command: str, *arguments: Any) -> None:
        match command, *arguments:
            case ["run", prompt]:
                self._asked = prompt
            case ["set_params" | "set_schedule" | "set_leader" | "watch", _]:
                self._settings[command] = arguments
            case ["set_enabled", lane, enabled]:
                self._enabled[lane] = enabled
            case ["set_tree", lane, tree]:
                self._change(lane, tree=tree)
            case ["pin", lane, overrides]:
                self._change(lane, overrides=overrides)
            case ["prove", lane, repetitions]:
                self._claim = SamplingTest(lane, repetitions=repetitions)
            case ["stop_proving"]:
                self._claim = None
            case ["new_conversation"]:
                self._turns = []
            case ["resume", turns, seed]:
                self._turns = [Turn(each.prompt, each.run, dict(each.answers)) for each in turns]
                self._seed = seed
                self._count(turn.run for turn in self._turns)
            case ["open_models", options, specs]:
                self.options, self.specs = options, specs
                self._wished.append(options)
                self._turns = []

    def heard(self, events: Iterable[Event]) -> None:
        for event in events:
            self._hear(event)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Timed):
            self._at = event.at
        match event:
            case Loaded() | LanesChanged():
                self.specs = tuple(
                    LaneSpec(info.strategy, info.name, info.overrides, info.tree)
                    for info in event.lanes
                )
                there = {spec.name for spec in self.specs}
                self._enabled = {name: on for name, on in self._enabled.items() if name in there}
                if isinstance(event, Loaded) and not event.back:
                    self._are_there(event.place)
            case LoadFailed(kept=True):
                self.options = self._there
            case RunStarted():
                if self._turns and self._turns[-1].run == event.run:  # once more
                    self._turns.pop()
                self._turn = Turn(event.prompt, event.run)
                self._turns.append(self._turn)
                self._count([event.run])
                self._seed, self._asked = event.seed, None
                self._answering = set(event.lanes)
            case Prefilled():
                self._say(event.lane, event.first.text)
            case RoundFinished():
                self._say(event.lane, "".join(t.text for t in event.tokens if not t.fate.ghost))
            case Finished():
                self._answering.discard(event.lane)
            case RunFinished():
                self._turn = None
            case RunRejected():
                self._asked = self._turn = None
            case SamplingTest() if event.note is not None or event.done == event.repetitions:
                self._claim = None

    def last_words(self, why: str) -> Iterator[Event]:
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

    def commands(self) -> Iterator[Command]:
        """What a new session for `options` and `specs` must be told before it is opened."""
        yield from self._settings.items()
        for item in self._enabled.items():
            yield "set_enabled", item
        if self._turns:
            turns = [PastTurn(turn.prompt, turn.run, dict(turn.answers)) for turn in self._turns]
            yield "resume", (turns, self._seed)

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

    def _say(self, lane: str, text: str) -> None:
        if self._turn is not None:
            answers = self._turn.answers
            answers[lane] = answers.get(lane, "") + text
