"""The undo stack: what the screen has asked of the engine, before and after each change."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from app.config.model_options import ModelOptions
from app.config.presets import PresetChange
from app.engine.events import Schedule
from app.history.store import Entry, Renaming
from app.strategies.lane_spec import LaneSpec
from app.text.terminal_text import shortened
from app.tui.state.app_state import AppState
from app.tui.state.session_runs import LaneRun
from app.tui.state.sliders import SLIDERS
from decoding.params import Params, flat

MERGE_SECONDS = 1.0  # a slider that is moved step by step is one change
TIMEOUT_SECONDS = 30.0  # for an undo that loads a drafter or a conversation
MAX_CHANGES = 200
TITLE_CHARACTERS = 30  # in a message


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A conversation: its file, and the bytes of it that count; the number of its turns, its title
    if it was opened, the session's runs that count, and the last question."""

    path: Path | None = None
    size: int = 0
    turns: int = field(default=0, compare=False)
    opened: str = field(default="", compare=False)
    runs: tuple[LaneRun, ...] = field(default=(), compare=False, repr=False)
    question: str = field(default="", compare=False)

    def changed_to(self, after: LogPosition) -> str:
        """Return what has happened, for a message."""
        if after.path is None:
            return "the new conversation"
        return "the last question" if after.turns != self.turns else "the last run"


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that can be undone, as the screen has asked for it."""

    models: ModelOptions
    params: Params
    schedule: Schedule
    lanes: tuple[LaneSpec, ...]
    off: frozenset[str]  # lanes that are switched off
    log: LogPosition
    deleted: frozenset[Entry] = frozenset()  # conversations
    seed: int | None = None  # of the next run
    renamed: tuple[Renaming, ...] = ()  # in order
    presets: tuple[PresetChange, ...] = ()  # what was done to them, in order

    @classmethod
    def of(
        cls,
        state: AppState,
        log: LogPosition,
        deleted: Iterable[Entry] = (),
        renamed: Iterable[Renaming] = (),
        presets: Iterable[PresetChange] = (),
    ) -> Setup:
        return cls(
            state.models,
            state.params,
            state.schedule,
            tuple(replace(lane.info.spec, tree=lane.tree) for lane in state.lanes.values()),
            frozenset(name for name, lane in state.lanes.items() if not lane.enabled),
            log,
            frozenset(deleted),
            state.chosen_seed,
            tuple(renamed),
            tuple(presets),
        )

    def differences(self, other: Setup) -> dict[str, Any]:
        """Return the parts of `other` that are not the same here."""
        names = (each.name for each in fields(self))
        return {
            name: getattr(other, name)
            for name in names
            if getattr(other, name) != getattr(self, name)
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.lanes)


def describe(before: Setup, after: Setup, back: bool = False) -> str:
    """Return what differs between two setups, for a message: what is done, or is undone
    (`back`)."""
    if before.log.path != after.log.path and after.log.opened:
        return f"opening “{shortened(after.log.opened, TITLE_CHARACTERS)}”"  # with its settings
    changes = changed_params(before.params, after.params, back)
    if before.schedule != after.schedule:
        changes.append(f"back to {before.schedule}" if back else after.schedule)
    if before.seed != after.seed and before.log == after.log:
        changes.append(f"seed back to {before.seed}" if back else f"seed {after.seed}")
    if before.models != after.models:
        changes.append("the models")
    changes += changed_lanes(before, after)
    gone = sorted(entry.title for entry in after.deleted - before.deleted)
    changes += [f"deleting “{shortened(title, TITLE_CHARACTERS)}”" for title in gone]
    given = after.renamed[len(before.renamed) :]
    changes += [f"renaming to “{shortened(each.after, TITLE_CHARACTERS)}”" for each in given]
    changes += [each.what for each in after.presets[len(before.presets) :]]
    if before.log != after.log and not changes:  # else it follows from the others
        changes.append(before.log.changed_to(after.log))
    return ", ".join(changes)


def changed_params(before: Params, after: Params, back: bool) -> list[str]:
    """Return the settings that have changed, with both values: temp 0.00 → 0.70. If that is undone
    (`back`), with the one that is in force again."""
    old, new = flat(before), flat(after)
    specs = {spec.name: spec for spec in SLIDERS}

    def change(name: str) -> str:
        known = specs.get(name)
        label = known.label if known else name.replace("_", " ")
        was, now = ((known.scale.text if known else str)(each[name]) for each in (old, new))
        return f"{label} back to {was}" if back else f"{label} {was} → {now}"

    return [change(name) for name in new if new[name] != old[name]]


def changed_lanes(before: Setup, after: Setup) -> list[str]:
    """Return what has happened to the lanes, by their numbers on the screen."""
    then, now = ({s.name: (n, s) for n, s in enumerate(x.lanes, 1)} for x in (before, after))
    changes = [f"removing lane {n}" for name, (n, _) in then.items() if name not in now]
    for name, (number, spec) in now.items():
        if name not in then:
            changes.append(f"adding lane {number}")
            continue
        _, old = then[name]
        if (name in before.off) != (name in after.off):
            changes.append(f"switching lane {number} {'off' if name in after.off else 'on'}")
        if old.overrides != spec.overrides:
            changes.append(f"lane {number}'s own settings")
        if old.tree != spec.tree:
            changes.append(f"lane {number}'s tree")
    return changes


class Change(NamedTuple):
    """The setup before and after a change, when it was made, and when undone."""

    before: Setup
    after: Setup
    at: float
    undone_at: float = 0.0

    @property
    def subjects(self) -> list[str]:
        """The settings that it changes, and what it does to the lanes."""
        old, new = flat(self.before.params), flat(self.after.params)
        changed = [name for name in new if new[name] != old[name]]
        return changed + changed_lanes(self.before, self.after)

    @property
    def is_turn(self) -> bool:
        """Whether it is an answer that has come to its end."""
        old, new = self.before.log, self.after.log
        only = self.before.differences(self.after).keys() - {"seed"} == {"log"}
        grown = old.path == new.path or (old.path is None and not new.opened)
        return only and grown and old.size < new.size

    @property
    def question(self) -> str:
        """What was asked; empty if this is no turn, or an answer to the question before."""
        old, new = self.before.log, self.after.log
        return new.question if self.is_turn and old.turns < new.turns else ""


class UndoStack:
    """Changes to undo and to redo, each with the setup before and after it. They are found by
    comparing setups. The engine carries out an undo or redo later: until its events have arrived,
    only a change of the settings is recorded."""

    def __init__(self) -> None:
        self.undone: list[Change] = []
        self.done: list[Change] = []
        self._present: Setup | None = None
        self._expected: Setup | None = None
        self._until = self._at = 0.0
        self._apart = False  # the next change is not merged with others

    def record(self, present: Setup, now: float, asked_at: float = math.inf) -> None:
        """Record what has changed since the last call. `asked_at`: when the turn that has ended was
        begun, which is then undone after what was changed during it."""
        # nothing else can be undone before loading
        first = replace(present, deleted=frozenset(), renamed=(), presets=())
        before, self._present = self._present or first, present
        if self._expected is not None:
            if present.params != self._expected.params:  # those of an undo are there at once
                merged = replace(self._expected, params=present.params)
                self._add(self._expected, merged, now)
                self._expected = merged
            if present == self._expected or now > self._until:
                self._expected = None
        elif before != present:
            self.undone.clear()
            self._add(before, present, now, asked_at)

    def _add(self, before: Setup, after: Setup, now: float, asked_at: float = math.inf) -> None:
        moved = before.names == after.names
        moved = moved and before.differences(after).keys() <= {"params", "lanes"}
        if moved and self.done and not self._apart and now - self._at < MERGE_SECONDS:
            last = self.done[-1]
            same = last.subjects == Change(before, after, now).subjects
            if same and last.after.differences(before).keys() <= {"log"}:  # of a turn meanwhile
                before = replace(self.done.pop().before, log=before.log)
                if before == after:  # changed and changed back
                    return
        change = Change(before, after, now)
        at = len(self.done)
        while change.is_turn and at and self.done[at - 1].at > asked_at:
            at -= 1
        self.done.insert(at, change)
        del self.done[:-MAX_CHANGES]
        self._at = -math.inf if self._apart else now
        self._apart = False

    def change(self, before: LogPosition, after: LogPosition, now: float) -> Change:
        """Return a change of nothing but the conversation."""
        assert self._present is not None
        present = self._present
        return Change(replace(present, log=before), replace(present, log=after), now, now)

    def separate(self) -> None:
        """The next change is one of its own, however soon it and others come."""
        self._apart = True

    def extend_timeout(self, now: float) -> None:
        """Give the undo or redo in progress its whole time again, because models are being loaded,
        which may take long."""
        self._until = now + TIMEOUT_SECONDS

    def cancel(self) -> None:
        """The undo or redo in progress has failed."""
        self._expected = None

    @property
    def last(self) -> Change | None:
        """The change that is undone next."""
        return self.done[-1] if self.done else None

    @property
    def changed_at(self) -> float:
        """When the user made the change that is undone next; 0 for a turn, which ends by itself."""
        return self.done[-1].at if self.done and not self.done[-1].is_turn else 0.0

    @property
    def undone_at(self) -> float:
        """When the change that is done again next was undone; 0 if there is none."""
        return self.undone[-1].undone_at if self.undone else 0.0

    @property
    def next_question(self) -> str:
        """Of the questions that were undone, the one that is asked again first."""
        return next((each.question for each in reversed(self.undone) if each.question), "")

    @property
    def waiting(self) -> bool:
        """Whether an undo or redo is in progress."""
        return self._expected is not None

    def peek(self, back: bool) -> tuple[Setup, Setup, str, bool] | None:
        """Return the setup now, and after one undo (`back`) or redo, the change in words, and
        whether it is a turn; None if there is nothing to do."""
        steps = self.done if back else self.undone
        if not steps or self._present is None:
            return None
        change = steps[-1]
        before, after, *_ = change
        now, then = (after, before) if back else (before, after)
        what = describe(before, after, back)
        return self._present, replace(self._present, **now.differences(then)), what, change.is_turn

    def begin(self, back: bool, then: Setup, now: float) -> None:
        """An undo (`back`) or redo that leads to `then` begins."""
        steps, others = (self.done, self.undone) if back else (self.undone, self.done)
        others.append(steps.pop()._replace(undone_at=now))
        self._expected, self._until, self._at = then, now + TIMEOUT_SECONDS, -math.inf
