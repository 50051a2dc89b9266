"""The engine behind the screen: lanes on one daemon thread, events out, commands in."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.events import (
    Event,
    Loaded,
    LoadFailed,
    Loading,
    PastTurn,
    RunFinished,
    RunRefused,
    RunStarted,
    Schedule,
    Timed,
)
from app.settings import ModelOptions
from app.strategies import LaneSpec
from decoding.errors import InputError
from decoding.params import Params

if TYPE_CHECKING:  # torch comes with these; they are imported on the session's own thread
    from app.family import Family
    from app.lane import Lane


@dataclass(slots=True)
class Turn:
    """A prompt and what each lane answered."""

    prompt: str
    run: int
    answers: dict[str, str] = field(default_factory=dict)


class Session:
    """Implements `app.events.Engine`. Nothing here blocks the caller: commands leave a note for the
    thread, and everything that happens is read with `drain`."""

    def __init__(
        self,
        options: ModelOptions,
        specs: tuple[LaneSpec, ...],
        params: Params,
        *,
        seed: int,
        schedule: Schedule = "fair",
        system: str | None = None,
        raw: bool = False,
        stop_texts: tuple[str, ...] = (),
        ignore_eos: bool = False,
        prompts: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._options, self._specs, self._params = options, specs, params
        self._seed = self._own_seed = seed
        self._schedule = schedule
        self._system, self._raw = system, raw
        self._stop_texts, self._ignore_eos = stop_texts, ignore_eos
        self._prompts = prompts
        self._events: deque[Event] = deque()
        self._enabled = {spec.name: True for spec in specs}
        self._leader: str | None = None
        self._watched: frozenset[str] = frozenset()
        self._trees: dict[str, str] = {}
        self._turns: list[Turn] = []
        self._runs = 0
        # What the thread waits for: a turn to begin, the end of a pause, a single step.
        self._wake = threading.Condition()
        self._wanted: Turn | None = None
        self._opening: list[Turn] | None = None  # another conversation is to begin with these
        self._stopping = False
        self._switched = False
        self._paused = False
        self._steps = 0
        self._closed = False

    # --- called from the screen -------------------------------------------------------------

    def open(self) -> None:
        threading.Thread(target=self._work, name="specchat-decode", daemon=True).start()

    def drain(self) -> list[Event]:
        return [self._events.popleft() for _ in range(len(self._events))]

    def run(self, prompt: str) -> None:
        with self._wake:
            self._wanted = Turn(prompt, self._runs)
            self._runs += 1
            self._wake.notify()

    def again(self) -> None:
        with self._wake:
            turns = self._turns if self._opening is None else self._opening
            if turns:
                last = turns[-1]
                self._wanted = Turn(last.prompt, last.run)
                self._wake.notify()

    def stop(self) -> None:
        with self._wake:
            self._stopping = True
            if self._wanted is not None:  # it never began; the screen waits for a word
                self._emit(RunRefused(self._wanted.prompt, "stopped before it began"))
                self._wanted = None
            self._wake.notify()

    def pause(self, paused: bool) -> None:
        with self._wake:
            self._paused = paused
            self._steps = 0
            self._wake.notify()

    def step(self) -> None:
        with self._wake:
            self._steps += 1
            self._wake.notify()

    def new_conversation(self) -> None:
        self._begin([])
        self._seed = self._own_seed

    def resume(self, turns: Sequence[PastTurn], seed: int) -> None:
        self._begin([Turn(turn.prompt, turn.run, dict(turn.answers)) for turn in turns])
        self._seed = seed
        self._runs = max((turn.run + 1 for turn in turns), default=self._runs)

    def _begin(self, turns: list[Turn]) -> None:
        with self._wake:
            self._opening = turns
            self._stopping = True
            self._wanted = None
            self._wake.notify()

    def set_params(self, params: Params) -> None:
        self._params = params

    def set_enabled(self, lane: str, enabled: bool) -> None:
        with self._wake:
            self._enabled[lane] = enabled
            self._switched = True
            self._wake.notify()

    def set_schedule(self, schedule: Schedule) -> None:
        self._schedule = schedule

    def watch(self, lanes: frozenset[str]) -> None:
        self._watched = lanes

    def set_tree(self, lane: str, tree: str) -> None:
        self._trees[lane] = tree

    def set_leader(self, lane: str) -> None:
        self._leader = lane

    def close(self) -> None:
        with self._wake:
            self._closed = self._stopping = True
            self._wake.notify()

    # --- the thread -------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._emit(Loading("torch and transformers", None))
            lanes, family = self._load()
        except InputError as error:
            self._emit(LoadFailed(str(error)))
            return
        except Exception as error:  # whatever it is, the screen must be able to show it
            self._emit(LoadFailed(f"loading broke: {type(error).__name__}: {error}"))
            return
        while turn := self._next_turn():
            try:
                self._answer(turn, lanes, family)
            except Exception as error:  # the thread lives on; the prompt goes back to the user
                self._emit(RunRefused(turn.prompt, str(error) or type(error).__name__))

    def _load(self) -> tuple[list[Lane], Family]:
        from app.family import load_family
        from app.lane import Lane
        from app.memory import memory, weights

        family = load_family(
            self._options,
            lambda what, part: self._emit(Loading(what, part)),
            {spec.strategy for spec in self._specs},
        )
        lanes = [Lane(spec, family) for spec in self._specs]
        self._emit(Loading("warming up", 0.95))
        for lane in lanes:
            with suppress(Exception):  # a lane that breaks will say so when it answers
                lane.warm_up()
        self._emit(
            Loaded(
                target=family.title,
                device=family.device,
                dtype=family.dtype,
                threads=family.threads,
                context=family.context,
                lanes=tuple(lane.info(self._enabled[lane.spec.name]) for lane in lanes),
                prompts=self._prompts(),
                ignored=family.ignored,
                weights=weights(family),
                memory=memory(family, lanes),
                pass_costs=family.pass_costs,
            )
        )
        return lanes, family

    def _next_turn(self) -> Turn | None:
        with self._wake:
            while not self._closed:
                if self._opening is not None:
                    self._turns, self._opening = self._opening, None
                if self._wanted is not None:
                    turn, self._wanted = self._wanted, None
                    self._stopping = False  # that was meant for the turn before
                    return turn
                self._wake.wait()
        return None

    def _answer(self, turn: Turn, lanes: list[Lane], family: Family) -> None:
        from app.memory import memory
        from app.turn import TurnRunner
        from decoding.stopping import Stop

        before = self._turns
        if before and before[-1].run == turn.run:  # once more: its old answers go
            before = before[:-1]
        ids = family.encode(self._messages(before, turn.prompt), self._raw)
        if len(ids) > family.context:
            raise InputError(
                f"the conversation has {len(ids)} tokens, the model's context holds "
                f"{family.context}: shorten the prompt or begin a new conversation"
            )
        running = [lane for lane in lanes if lane.available and self._enabled[lane.spec.name]]
        if not running:
            raise InputError("no lane is switched on: press Esc, then its number")
        self._turns = [*before, turn]
        self._emit(
            RunStarted(
                turn.run,
                len(before),
                turn.prompt,
                len(ids),
                self._seed,
                tuple(lane.spec.name for lane in running),
                tuple(ids),
                self._schedule,
                self._leader,
            )
        )
        eos = frozenset() if self._ignore_eos else family.eos
        stop = Stop(eos, self._stop_texts, family.decode)
        runner = TurnRunner(
            running, ids, self._seed, turn.run, stop, self._emit, lambda: self._stopping
        )
        while runner.due(self._schedule, self._enabled) and not self._stopping:
            # what is due may have changed during a pause
            if self._may_go_on() and (due := runner.due(self._schedule, self._enabled)):
                name = due.lane.spec.name
                due.lane.watch(name in self._watched)
                if name in self._trees:
                    due.lane.set_tree(self._trees[name])
                runner.advance(due, self._params)
        stopped = runner.end()
        turn.answers = runner.answers()
        self._emit(RunFinished(turn.run, stopped, memory(family, lanes)))

    def _messages(self, before: list[Turn], prompt: str) -> list[dict[str, str]]:
        """The conversation so far, as the leading lane answered it, and the new prompt."""
        messages = [{"role": "system", "content": self._system}] if self._system else []
        for turn in before:
            answer = turn.answers.get(self._leader or "") or next(iter(turn.answers.values()), "")
            if not answer:  # stopped before anybody said a word
                continue
            messages.append({"role": "user", "content": turn.prompt})
            messages.append({"role": "assistant", "content": answer})
        return [*messages, {"role": "user", "content": prompt}]

    def _emit(self, event: Event) -> None:
        if isinstance(event, Timed):
            event = replace(event, at=time.perf_counter())
        self._events.append(event)

    def _may_go_on(self) -> bool:
        """Waits while paused, and wakes when lanes are switched meanwhile; whether a round may be
        made now."""
        with self._wake:
            self._switched = False
            while self._paused and not (self._stopping or self._steps or self._switched):
                self._wake.wait()
            allowed = not self._stopping and (not self._paused or self._steps > 0)
            self._steps = max(self._steps - 1, 0)
            return allowed
