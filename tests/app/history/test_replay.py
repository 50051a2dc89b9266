"""The engine that plays a recording: in its own time, faster, paused, step by step."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.commands import Pause, RunAgain, StepRound, Stop
from app.engine.events import (
    Event,
    Finished,
    Loaded,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunStarted,
)
from app.history.recording import Recording
from app.history.replay import SPEEDS, ReplayEngine
from tests.support.conversation import LOADED, recording

ROOT = Path(__file__).parents[3]


class Play:
    def __init__(self, made: Recording) -> None:
        self.now = 50.0
        self.engine = ReplayEngine(made, clock=lambda: self.now)
        self.engine.open()

    def after(self, seconds: float) -> list[Event]:
        self.now += seconds
        return self.engine.drain()


@pytest.fixture
def play() -> Play:
    return Play(recording())


def kinds(events: list[Event]) -> list[type]:
    return [type(event) for event in events]


def test_it_plays_in_the_time_that_it_took(play: Play) -> None:
    assert play.after(0.0) == [LOADED, recording().turns[0].started]
    assert kinds(play.after(0.025)) == [Prefilled]
    assert kinds(play.after(0.01)) == [RoundFinished]
    assert kinds(play.after(0.01)) == []
    assert kinds(play.after(0.006)) == [RoundFinished, Finished]
    rest = play.after(0.05)
    assert kinds(rest) == [Prefilled, RoundFinished, RoundFinished, Finished, RunFinished]
    assert kinds(play.after(0.9)) == []  # nobody waits for a day between two turns
    assert kinds(play.after(0.1)) == [RunStarted]
    assert not play.engine.over
    play.after(0.2)
    assert play.engine.over and play.engine.seconds == pytest.approx(1.2)
    assert play.after(5.0) == []


def test_rounds_carry_the_figures_of_their_moment(play: Play) -> None:
    steps = [event for event in play.after(10.0) if isinstance(event, RoundFinished)]
    assert [step.metrics.tokens for step in steps] == [2, 3, 3, 5] * 2


def test_a_long_pause_is_cut_short() -> None:
    made = recording()
    lane = made.turns[0].lanes["draft:gamma=2"]
    late = [replace(step, at=step.at + 600.0) for step in lane.steps]
    lane.steps[:] = late
    engine = ReplayEngine(made)
    assert engine.seconds < 5.0


def test_pause_and_single_rounds(play: Play) -> None:
    play.after(0.001)
    play.engine.send(Pause(True))
    assert play.after(9.0) == []
    play.engine.send(StepRound())
    assert kinds(play.after(0.0)) == [Prefilled, RoundFinished]
    play.engine.send(StepRound())
    play.engine.send(StepRound())
    assert kinds(play.after(9.0)) == [RoundFinished, Finished, Prefilled, RoundFinished]
    play.engine.send(Pause(False))
    assert kinds(play.after(0.019)) == []  # it goes on from there
    assert kinds(play.after(0.002)) == [RoundFinished, Finished, RunFinished]


def test_speed(play: Play) -> None:
    play.after(0.0)
    play.engine.change_speed(1)
    assert play.engine.speed == 2.0
    assert kinds(play.after(0.0125)) == [Prefilled]
    for _ in range(20):
        play.engine.change_speed(-1)
    assert play.engine.speed == SPEEDS[0]
    play.engine.speed = 3.0  # from the command line
    play.engine.change_speed(1)
    assert play.engine.speed == 4.0


def test_to_the_end_of_the_turn_and_from_the_start(play: Play) -> None:
    play.after(0.03)
    play.engine.send(Stop())
    assert kinds(play.after(0.0))[-1] is RunFinished and not play.engine.over
    play.engine.send(Stop())
    play.engine.send(Stop())
    play.engine.send(StepRound())
    play.after(0.0)
    assert play.engine.over
    play.now += 9.0  # not a part of what begins now
    play.engine.send(RunAgain())
    assert kinds(play.after(0.0)) == [RunStarted]


def test_lanes_of_all_turns_are_announced() -> None:
    made = recording()
    made.loaded = type(LOADED)("other", "cpu", "float32", 1, 64, LOADED.lanes[:1])
    (loaded,) = [e for e in Play(made).after(0.0) if isinstance(e, Loaded)]
    assert {lane.name for lane in loaded.lanes} == {"ar", "draft:gamma=2"}


def test_nothing_of_a_replay_needs_torch() -> None:
    code = (
        "import sys, app.tui.replay.app, app.tui.replay.asciicast, app.history.parse_document;"
        "print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
