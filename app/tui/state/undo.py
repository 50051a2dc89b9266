"""Undo: what the screen has asked of the engine, before and after each change."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from app.config.model_options import ModelOptions
from app.engine.events import Schedule
from app.strategies.lane_spec import LaneSpec
from app.tui.state.app_state import AppState
from decoding.params import Params, flat

TOGETHER_SECONDS = 1.0  # a slider that is dragged is one change
PATIENCE_SECONDS = 30.0  # for a lane whose drafter, or a conversation, has to be loaded again
MAX_STEPS = 200


@dataclass(frozen=True, slots=True)
class Log:
    """A conversation as its file and how much of it counts."""

    path: Path | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Setup:
    models: ModelOptions
    params: Params
    schedule: Schedule
    lanes: tuple[LaneSpec, ...]
    off: frozenset[str]  # lanes that are switched off
    log: Log

    @classmethod
    def of(cls, state: AppState, log: Log) -> Setup:
        return cls(
            state.models,
            state.params,
            state.schedule,
            tuple(replace(lane.info.spec, tree=lane.tree) for lane in state.lanes.values()),
            frozenset(name for name, lane in state.lanes.items() if not lane.enabled),
            log,
        )

    def differences(self, other: Setup) -> dict[str, Any]:
        """The parts of `other` that are not the same here."""
        names = (field.name for field in fields(self))
        return {
            name: getattr(other, name)
            for name in names
            if getattr(other, name) != getattr(self, name)
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.lanes)


def words(before: Setup, after: Setup) -> str:
    """What has changed between the two, in words."""
    old, new = flat(before.params), flat(after.params)
    said = [name.replace("_", " ") for name in new if new[name] != old[name]]
    if before.schedule != after.schedule:
        said.append("the order of the lanes' turns")
    if before.models != after.models:
        said.append("the models")
    if (before.lanes, before.off) != (after.lanes, after.off):
        said.append("the lanes")
    if before.log != after.log:
        said.append("the conversation")
    return ", ".join(said)


class Steps:
    """The changes so far, found by comparing; a step holds what was before and what came after.
    What is undone, and done again, arrives later: until then nothing else is a change."""

    def __init__(self) -> None:
        self.undone: list[tuple[Setup, Setup]] = []
        self.done: list[tuple[Setup, Setup]] = []
        self._present: Setup | None = None
        self._expected: Setup | None = None
        self._until = self._at = 0.0

    def note(self, present: Setup, now: float) -> None:
        before, self._present = self._present, present
        if self._expected is not None:
            if present == self._expected or now > self._until:
                self._expected = None
        elif before is not None and before != present:
            self.undone.clear()
            self._add(before, present, now)

    def _add(self, before: Setup, after: Setup, now: float) -> None:
        moved = before.names == after.names
        moved = moved and before.differences(after).keys() <= {"params", "lanes"}
        if moved and self.done and now - self._at < TOGETHER_SECONDS:
            first, last = self.done[-1]
            if last == before and words(first, last) == words(before, after):
                before, _ = self.done.pop()
        self.done.append((before, after))
        del self.done[:-MAX_STEPS]
        self._at = now

    def wait(self, now: float) -> None:
        """Models are being loaded, which may take long."""
        self._until = now + PATIENCE_SECONDS

    def give_up(self) -> None:
        """What was undone last can't be had."""
        self._expected = None

    @property
    def waiting(self) -> bool:
        """What was undone last has not arrived yet."""
        return self._expected is not None

    def goal(self, back: bool) -> tuple[Setup, Setup] | None:
        """The step that would be undone or done again: how it looks now and then."""
        steps = self.done if back else self.undone
        if not steps or self._present is None:
            return None
        step = steps[-1] if back else steps[-1][::-1]
        return self._present, replace(self._present, **step[1].differences(step[0]))

    def take(self, back: bool, goal: Setup, now: float) -> None:
        """The step was begun."""
        steps, others = (self.done, self.undone) if back else (self.undone, self.done)
        others.append(steps.pop())
        self._expected, self._until, self._at = goal, now + PATIENCE_SECONDS, 0.0
