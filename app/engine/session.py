"""The engine behind the screen: lanes on one daemon thread, events out, commands in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.config.settings import ModelOptions
from app.engine.events import Event, PastTurn, RunRejected, Schedule
from app.engine.mailbox import (
    AddLane,
    Change,
    Mailbox,
    Models,
    RemoveLane,
    SamplingTestRequest,
    SetOverrides,
    Turn,
)
from app.engine.worker import Worker
from app.strategies.registry import LaneSpec
from decoding.params import Params


class Session:
    """Implements `Engine`. Nothing here blocks the caller: commands leave a wish for the
    thread, and everything that happens is read with `drain`."""

    def __init__(
        self,
        options: ModelOptions,
        specs: tuple[LaneSpec, ...],
        params: Params,
        *,
        seed: int,
        first_run: int = 0,
        schedule: Schedule = "fair",
        system: str | None = None,
        raw: bool = False,
        stop_texts: tuple[str, ...] = (),
        ignore_eos: bool = False,
        prompts: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._mailbox = Mailbox(Models(options, specs), params, seed, schedule)
        self._work = Worker(self._mailbox, system, raw, stop_texts, ignore_eos, prompts)
        self._wake = self._mailbox.wake
        self._own_seed = seed
        self._runs = first_run  # the next one's number; with the seed it fixes what is drawn

    def open(self) -> None:
        threading.Thread(target=self._work.go, name="specchat-decode", daemon=True).start()

    def drain(self) -> list[Event]:
        return self._mailbox.drain()

    # The conversation

    def run(self, prompt: str) -> None:
        with self._wake:
            self._mailbox.turn = Turn(prompt, self._runs)
            self._mailbox.claim = None
            self._runs += 1
            self._wake.notify()

    def again(self) -> None:
        with self._wake:
            opening = self._mailbox.opening
            turns = self._work.turns if opening is None else opening
            if turns:
                last = turns[-1]
                self._mailbox.turn = Turn(last.prompt, last.run)
                self._mailbox.claim = None
                self._wake.notify()

    def stop(self) -> None:
        with self._wake:
            self._mailbox.stopping = True
            if turn := self._mailbox.turn:  # it never began; the screen waits for a word
                self._mailbox.emit(RunRejected(turn.prompt, "stopped before it began"))
                self._mailbox.turn = None
            self._wake.notify()

    def pause(self, paused: bool) -> None:
        with self._wake:
            self._mailbox.paused = paused
            self._mailbox.steps = 0
            self._wake.notify()

    def step(self) -> None:
        with self._wake:
            self._mailbox.steps += 1
            self._wake.notify()

    def new_conversation(self) -> None:
        self._begin([], self._own_seed)

    def resume(self, turns: Sequence[PastTurn], seed: int) -> None:
        self._begin([Turn(turn.prompt, turn.run, dict(turn.answers)) for turn in turns], seed)
        # no number comes twice, whichever conversation follows
        self._runs = max([self._runs, *(turn.run + 1 for turn in turns)])

    def _begin(self, turns: list[Turn], seed: int) -> None:
        with self._wake:
            self._mailbox.opening = turns
            self._mailbox.seed = seed
            self._mailbox.stopping = True
            self._mailbox.turn = None
            self._wake.notify()

    # Settings

    def set_params(self, params: Params) -> None:
        self._mailbox.params = params

    def set_enabled(self, lane: str, enabled: bool) -> None:
        with self._wake:
            if enabled:
                self._mailbox.switched_off.discard(lane)
            else:
                self._mailbox.switched_off.add(lane)
            self._mailbox.news = True
            self._wake.notify()

    def set_schedule(self, schedule: Schedule) -> None:
        self._mailbox.schedule = schedule

    def watch(self, lanes: frozenset[str]) -> None:
        self._mailbox.watched = lanes

    def set_tree(self, lane: str, tree: str) -> None:
        self._mailbox.trees[lane] = tree

    def set_leader(self, lane: str) -> None:
        self._mailbox.leader = lane

    def prove(self, lane: str, repetitions: int) -> None:
        with self._wake:
            self._mailbox.claim = SamplingTestRequest(lane, repetitions)
            self._wake.notify()

    def stop_proving(self) -> None:
        with self._wake:
            self._mailbox.claim = None

    # Lanes and models

    def add_lane(self, spec: LaneSpec, after: str | None) -> None:
        self._change(AddLane(spec, after))

    def remove_lane(self, name: str) -> None:
        self._change(RemoveLane(name))

    def pin(self, lane: str, overrides: Mapping[str, Any]) -> None:
        self._change(SetOverrides(lane, overrides))

    def _change(self, change: Change) -> None:
        with self._wake:
            self._mailbox.changes.append(change)
            self._mailbox.news = True
            self._wake.notify()

    def open_models(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        with self._wake:
            self._mailbox.models = Models(options, specs)
            self._begin([], self._own_seed)

    def close(self) -> None:
        with self._wake:
            self._mailbox.closed = self._mailbox.stopping = True
            self._wake.notify()
