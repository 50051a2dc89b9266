"""Snapshot of a session, rebuilt from the commands sent to it and the events it emitted. If the
decoding process dies, a new one is restored from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from app.config.model_options import ModelOptions
from app.engine import commands
from app.engine.commands import Command, Turn
from app.engine.events import (
    Advice,
    Event,
    Finished,
    LanesChanged,
    Loaded,
    LoadFailed,
    Prefilled,
    RoundFinished,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
    SamplingTest,
    Timed,
)
from app.strategies.lane_spec import LaneSpec


class SessionSnapshot:
    """`options` and `specs` are the models and lanes to load, `next_run` is the first unused run
    number."""

    def __init__(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        self.options, self.specs = options, specs
        self._requested = [options]  # every request for models, oldest first
        self._loaded = options  # reloaded if a later request fails
        self._settings: dict[type[Command], Command] = {}  # the last one of each kind
        self._enabled: dict[str, commands.SetEnabled] = {}  # by lane
        self._turns: list[Turn] = []
        self._seed: int | None = None  # of the conversation, also before its first turn
        self.next_run = 0
        self._prompt: str | None = None  # sent, but no turn has begun with it
        self._turn: Turn | None = None  # the running one
        self._texts: dict[str, list[str]] = {}  # its answers so far by lane, in pieces
        self._answering: set[str] = set()  # its lanes that have not finished
        self._test: SamplingTest | None = None  # requested or running
        self._advising = False  # requested or running
        self._at = 0.0  # time of the last event, on the session's clock

    def apply_command(self, command: Command) -> None:
        """Follow a command that is sent to the session."""
        match command:
            case commands.Run(prompt):
                self._prompt = prompt
            case (
                commands.SetParams()
                | commands.SetSchedule()
                | commands.SetLeader()
                | commands.RecordProbabilities()
            ):
                self._settings[type(command)] = command
            case commands.SetSeed(seed):
                self._seed = seed
            case commands.SetEnabled(lane):
                self._enabled[lane] = command
            case commands.SetTree(lane, tree):
                self._change_spec(lane, tree=tree)
            case commands.SetOverrides(lane, overrides):
                self._change_spec(lane, overrides=overrides)
            case commands.StartSamplingTest(lane, repetitions):
                self._test = SamplingTest(lane, repetitions=repetitions)
            case commands.StopSamplingTest():
                self._test = None
            case commands.StartAdvice():
                self._advising = True
            case commands.StopAdvice():
                self._advising = False
            case commands.OpenConversation(turns, seed):
                self._turns = list(turns)
                self._seed = self._seed if seed is None else seed
                self._use_runs(turn.run for turn in turns)
            case commands.OpenModels(options, specs):
                self.options, self.specs = options, specs
                self._requested.append(options)
                self._turns = []

    def apply_events(self, events: Iterable[Event]) -> None:
        """Follow events of the session."""
        for event in events:
            self._apply_event(event)

    def _apply_event(self, event: Event) -> None:
        if isinstance(event, Timed):
            self._at = event.at
        match event:
            case Loaded() | LanesChanged():
                self.specs = tuple(info.spec for info in event.lanes)
                there = {spec.name for spec in self.specs}
                self._enabled = {lane: on for lane, on in self._enabled.items() if lane in there}
                if isinstance(event, Loaded) and not event.restored:
                    self._set_loaded(event.source)
            case LoadFailed(kept=True):
                self.options = self._loaded
            case RunStarted():
                if self._turns and self._turns[-1].run in (event.run, event.replaces):
                    self._turns.pop()  # run again
                self._turn = Turn(event.prompt, event.run, replaces=event.replaces)
                self._turns.append(self._turn)
                self._texts = {}
                self._use_runs([event.run])
                self._seed, self._prompt = event.seed, None
                self._answering = set(event.lanes)
                self._test, self._advising = None, False  # they give way to a turn
            case RunContinued() if self._turns:
                self._test, self._advising = None, False
                self._turn = self._turns[-1]
                self._texts = {lane: [text] for lane, text in self._turn.answers.items()}
                self._answering = set(event.lanes)
            case Prefilled():
                self._texts[event.lane] = [event.first.text]
            case RoundFinished():
                self._texts[event.lane] += (t.text for t in event.tokens if not t.fate.discarded)
            case Finished():
                self._answering.discard(event.lane)
            case RunFinished():
                self._end_turn()
            case RunRejected():
                self._prompt = None
                self._end_turn()
            case SamplingTest() if event.note is not None or event.done == event.repetitions:
                self._test = None
            case Advice() if event.note is not None or event.document is not None:
                self._advising = False

    def closing_events(self, why: str) -> Iterator[Event]:
        """Yield the events that a session which has exited still owes: the running turn ends as if
        it had been stopped, a prompt without a turn is rejected, a sampling test or advice
        fails."""
        if self._turn is not None:
            for lane in sorted(self._answering):
                yield Finished(lane, "error", why, at=self._at)
            yield RunFinished(self._turn.run, True, at=self._at)
        if self._prompt is not None:
            yield RunRejected(self._prompt, why)
        if self._test is not None:
            yield replace(self._test, note=why)
        if self._advising:
            yield Advice(note=why)

    def to_commands(self) -> Iterator[Command]:
        """Yield what to send to a new session for `options` and `specs` before it is opened."""
        yield from self._settings.values()
        yield from self._enabled.values()
        if self._seed is None:  # it is that of the configuration
            return
        if self._turns:
            yield commands.OpenConversation(self._conversation(), self._seed)
        else:
            yield commands.SetSeed(self._seed)

    def _conversation(self) -> tuple[Turn, ...]:
        """All turns, the running one with its answers so far."""
        if not self._turns or self._turns[-1] is not self._turn:
            return tuple(self._turns)
        answers = {lane: "".join(texts) for lane, texts in self._texts.items()}
        return (*self._turns[:-1], replace(self._turn, answers=answers))

    def _end_turn(self) -> None:
        self._turns, self._turn = list(self._conversation()), None

    def _set_loaded(self, target: str) -> None:
        """Remember which request the loaded target belongs to: newer ones may be pending. An empty
        target is the demo, which only comes first; a merged Medusa checkpoint is its own target."""
        newest_first = reversed(self._requested)
        known = (each for each in newest_first if target in (each.target, each.source("medusa")))
        self._loaded = next(known, self._requested[0])
        if self._loaded is self._requested[-1]:
            self.options = self._loaded

    def _use_runs(self, runs: Iterable[int]) -> None:
        self.next_run = max([self.next_run, *(run + 1 for run in runs)])

    def _change_spec(self, lane: str, **changed: Any) -> None:
        self.specs = tuple(
            replace(spec, **changed) if spec.name == lane else spec for spec in self.specs
        )
