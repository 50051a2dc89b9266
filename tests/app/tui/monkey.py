"""Random keys, alone and in bursts, clicks, moves of the mouse and turns of its wheel, pastes and
sizes, by a seed. For longer than the test suite has time for:

python -m tests.app.tui.monkey --minutes 60 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import tests.conftest  # noqa: F401  # leaves the user's settings and files alone

# isort: split
from textual import events as textual_events
from textual.pilot import Pilot, WaitForScreenTimeout

from app.config.presets import Presets
from app.engine.commands import (
    AddLane,
    Command,
    ComputeProbabilities,
    OpenConversation,
    Pause,
    RemoveLane,
    Run,
    RunAgain,
    SetEnabled,
    SetLanes,
    SetOverrides,
    StartAdvice,
    StartSamplingTest,
    StepRound,
    Stop,
)
from app.engine.events import (
    Advice,
    Event,
    Finished,
    LaneInfo,
    LanesChanged,
    Loaded,
    ProbabilitiesComputed,
    RunFinished,
    RunStarted,
    SamplingTest,
)
from app.history.recorder import Recorder
from app.history.session_store import SessionStore
from app.strategies.lane_spec import unique_name
from app.tui.app import SpecchatApp
from app.tui.keys.bindings import APP_KEYS, RUN_KEYS, VIEW_KEYS
from app.tui.state.startup import Startup
from app.tui.state.undo import LogPosition, Setup
from app.tui.widgets.prompt import Prompt
from tests.support.quiet import quiet
from tests.support.scripted import ScriptedEngine, lane, prefilled, stepped
from tests.support.stage import LANES, Clock

SIZES = ((100, 30), (60, 24), (170, 40), (80, 20), (40, 12))
TEXTS = ("a[b]c", "two\nlines", "日本語 e\u0301", "x" * 300, "all of it\n" * 3000)
MORE_KEYS = (
    "enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "home", "end",
    "backspace", "pagedown", "ctrl+j", "ctrl+a", "space", "A", "h", "question_mark",
)  # fmt: skip
MOUSE = (textual_events.MouseMove, textual_events.MouseScrollUp, textual_events.MouseScrollDown)
# What takes text away, of the keys in a burst.
EDITING = ("ctrl+", "backspace", "delete", "'up'", "'down'")
ROUNDS = 4
SESSION = 150  # events: fewer than can be undone


class AnsweringEngine(ScriptedEngine):
    """Answers every question with the same few rounds, one event each time that it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.lanes: tuple[LaneInfo, ...] = LANES
        self._off: set[str] = set()
        self._coming: deque[Event] = deque()
        self._run, self._turns, self._paused = 0, 0, False

    def drain(self) -> list[Event]:
        if self._coming and not self._paused:
            self.emit(self._coming.popleft())
        return super().drain()

    def send(self, command: Command) -> None:
        super().send(command)
        match command:
            case Run(prompt):
                self._turns += 1
                self._run += 1
                self._answer(prompt)
            case RunAgain():
                self._answer("again")
            case Stop():
                self._stop()
            case OpenConversation(turns):
                self._stop()
                self._turns = len(turns)
                if turns:
                    self._run = turns[-1].run
            case Pause(paused):
                self._paused = paused
            case StepRound() if self._coming:
                self.emit(self._coming.popleft())
            case SetEnabled(name, enabled):
                (self._off.discard if enabled else self._off.add)(name)
            case StartAdvice():
                self.emit(Advice("measuring", 0.5), Advice(note="nothing is measured here"))
            case StartSamplingTest(name):
                self.emit(SamplingTest(name, note="nothing is drawn here"))
            case ComputeProbabilities(name, run):
                self.emit(ProbabilitiesComputed(name, run, note="nothing is measured here"))
            case AddLane() | RemoveLane() | SetLanes() | SetOverrides():
                self._change_lanes(command)

    def _answer(self, prompt: str) -> None:
        names = [e.name for e in self.lanes if e.available and e.name not in self._off]
        turn = max(self._turns - 1, 0)
        self.emit(RunStarted(self._run, turn, prompt, 3, 42, tuple(names)))
        self._coming.extend(prefilled(name, "It") for name in names)
        for index in range(ROUNDS):
            rounds = (stepped(n, [" is"], [" so"], " it", index=index) for n in names)
            self._coming.extend(rounds)
        self._coming.extend(Finished(name, "stop") for name in names)
        self._coming.append(RunFinished(self._run, False))

    def _stop(self) -> None:
        if self._coming:
            self._coming.clear()
            self.emit(RunFinished(self._run, True))

    def _change_lanes(self, command: AddLane | RemoveLane | SetLanes | SetOverrides) -> None:
        known = {info.name: info for info in self.lanes}
        match command:
            case AddLane(spec, after):
                name = unique_name(spec.name, known)
                added = replace(lane(name, gamma=4), strategy=spec.strategy)
                place = [*known].index(after) + 1 if after in known else len(known)
                own = replace(added, overrides=spec.overrides)
                self.lanes = (*self.lanes[:place], own, *self.lanes[place:])
            case RemoveLane(name) if len(known) > 1:
                self.lanes = tuple(info for info in self.lanes if info.name != name)
            case SetOverrides(name, overrides) if name in known:
                changed = replace(known[name], overrides=overrides)
                self.lanes = tuple(changed if e.name == name else e for e in self.lanes)
            case SetLanes(specs):
                self.lanes = tuple(
                    known.get(spec.name)
                    or replace(
                        lane(spec.name, gamma=4), strategy=spec.strategy, overrides=spec.overrides
                    )
                    for spec in specs
                )
        self.lanes = tuple(replace(e, enabled=e.name not in self._off) for e in self.lanes)
        self.emit(LanesChanged(self.lanes))


async def session(seed: int, events: int = SESSION) -> int:
    """How many events there were until the app was left. Raises what the app raises, and an
    AssertionError where a prompt is lost or a change can't be undone."""
    chance, engine, clock = random.Random(seed), AnsweringEngine(), Clock()
    with TemporaryDirectory() as folder:
        presets = Presets(Path(folder) / "presets.json")
        recorder = Recorder(SessionStore(), {})
        app = SpecchatApp(
            engine, Startup(lanes=LANES, presets=presets, recorder=recorder, clock=clock, seed=42)
        )
        async with app.run_test(size=chance.choice(SIZES)) as pilot:
            engine.emit(Loaded("demo", "cpu", "float32", 2, 2048, LANES))
            await app.pump()
            begun, done = Setup.of(app.state, LogPosition()), 0
            last: deque[str] = deque(maxlen=8)  # events
            while done < events and app.is_running:
                before = app.main.prompt.text
                try:
                    what = await _act(chance, app, pilot)
                except WaitForScreenTimeout:  # others keep the processor: `quiet` has no limit
                    what = "something slow"
                last.append(what)
                clock.now += 0.3
                await app.pump()
                await quiet()
                where = f"seed {seed}, event {done}, after {', '.join(last)}"
                assert app._exception is None, where
                edits = "burst" in what and any(key in what for key in EDITING)
                assert edits or not _lost(before, app, engine), where
                done += 1
            if app.is_running:
                await _undo_all(app, clock)
                ended = Setup.of(app.state, LogPosition(recorder.path, recorder.size))
                assert ended == begun, f"seed {seed}: {ended.differences(begun)}"
    return done


async def _act(chance: random.Random, app: SpecchatApp, pilot: Pilot[None]) -> str:
    kind = chance.random()
    place = chance.randrange(app.size.width), chance.randrange(app.size.height)
    if kind < 0.55:
        key = chance.choice(KEYS)
        await pilot.press(key)
        return key
    if kind < 0.70:  # as a paste through the terminal, or held keys: nothing waits in between
        keys = chance.choices(KEYS, k=chance.randrange(2, 6))
        for key in keys:
            app.simulate_key(key)
        await pilot.pause()
        return f"burst {keys}"
    if kind < 0.82:
        times = chance.choice((1, 1, 2))
        await pilot.click(offset=place, times=times)
        return f"click {place} {times}x"
    if kind < 0.90:
        kind_of_event = chance.choice(MOUSE)
        x, y = place
        app.post_message(kind_of_event(None, x, y, 0, 0, 0, False, False, False, x, y))
        await pilot.pause()
        return f"{kind_of_event.__name__} {place}"
    if kind < 0.97:
        text = chance.choice(TEXTS)
        app.post_message(textual_events.Paste(text))
        await pilot.pause()
        return f"paste {text[:40]!r}"
    size = chance.choice(SIZES)
    await pilot.resize_terminal(*size)
    return f"resize {size}"


def _lost(before: str, app: SpecchatApp, engine: AnsweringEngine) -> bool:
    """Whether what stood in the prompt is nowhere any more, also not with letters of a burst."""
    prompt: Prompt = app.main.prompt
    if not before.strip() or prompt.text:
        return False
    asked = any(_within(before, run.prompt) for run in engine.asked(Run))
    kept = any(_within(before, text) for text in (*prompt._history, *prompt._edits.values()))
    kept = kept or bool(prompt.history.undo_stack or prompt.history.redo_stack)
    return not (asked or kept or app.state.queued)


def _within(part: str, text: str) -> bool:
    """Whether `text` is `part` with other characters in between."""
    left = iter(text)
    return all(character in left for character in part.strip())


async def _undo_all(app: SpecchatApp, clock: Clock) -> None:
    while app.screen is not app.main:
        app.pop_screen()
        await quiet()
    app.action_stop()
    for _ in range(3 * SESSION):
        clock.now += 0.3
        await app.pump()
        if app.state.running or app.state.busy:
            await quiet()
            continue
        app.action_undo()
        await app.pump()
        await quiet()
        if app.state.notice == "There is nothing to undo":
            return


KEYS = [
    key
    for binding in (*RUN_KEYS, *VIEW_KEYS, *APP_KEYS)
    for key in binding.key.split(",")
    if binding.action != "quit"
] + 3 * [*MORE_KEYS]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    until, seed, events = time.monotonic() + 60 * given.minutes, given.seed, 0
    with TemporaryDirectory() as folder:
        os.chdir(folder)  # exports go there
        while time.monotonic() < until:
            try:
                events += asyncio.run(session(seed))
            except Exception as error:
                error.add_note(f"seed {seed}")
                raise
            seed += 1
    print(f"{events} events, seeds {given.seed} to {seed - 1}: nothing broke")


if __name__ == "__main__":
    main()
