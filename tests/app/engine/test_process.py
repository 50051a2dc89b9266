"""The engine in a process of its own: everything arrives, in order, and nothing hangs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from io import StringIO
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest

from app.config.model_options import ModelOptions
from app.engine.commands import (
    AddLane,
    Command,
    OpenConversation,
    OpenModels,
    Pause,
    RecordProbabilities,
    RemoveLane,
    Run,
    RunAgain,
    SetEnabled,
    SetLeader,
    SetOverrides,
    SetParams,
    SetSchedule,
    SetTree,
    StepRound,
    Stop,
    Turn,
)
from app.engine.events import (
    EngineExited,
    Event,
    Finished,
    Loaded,
    Loading,
    RoundFinished,
    RunFinished,
    RunRejected,
)
from app.engine.process import SessionProcess
from app.engine.session_config import SessionConfig
from app.strategies.lane_spec import LaneSpec
from decoding.params import Params, SamplingParams
from tests.support.echo_engine import EchoEngine, late, stuck

PATIENCE_SECONDS = 60
SPECS = (LaneSpec("ar", "ar"), LaneSpec("lookup", "lookup"))
KILLED = "the decoding process was killed by signal 9 (out of memory?)"


@pytest.fixture
def engine() -> Iterator[SessionProcess]:
    engine = SessionProcess(EchoEngine, ModelOptions("t"), SPECS)
    yield engine
    engine.close()


def newest_process() -> BaseProcess:
    """An engine's own, once it was made: others may not have died yet."""
    children = multiprocessing.active_children()
    return max(children, key=lambda child: psutil.Process(child.pid).create_time())


def wait_for(engine: SessionProcess, enough: Callable[[list[Event]], bool]) -> list[Event]:
    events: list[Event] = []
    until = time.monotonic() + PATIENCE_SECONDS
    while not enough(events):
        assert time.monotonic() < until, events
        events += engine.drain()
        time.sleep(0.01)
    return events


def said(events: list[Event]) -> list[str]:
    return [event.what for event in events if isinstance(event, Loading)]


def steps(events: list[Event]) -> list[RoundFinished]:
    return [event for event in events if isinstance(event, RoundFinished)]


def test_every_command_arrives_in_order(engine: SessionProcess) -> None:
    spec = LaneSpec("draft", "draft", {"gamma": 2})
    commands: list[Command] = [
        Pause(True),
        StepRound(),
        OpenConversation(),
        OpenConversation((Turn("a", 0, {"ar": "b"}),), 7),
        SetParams(Params(SamplingParams(0.5), gamma=3)),
        SetEnabled("ar", False),
        SetSchedule("race"),
        RecordProbabilities(frozenset({"ar"})),
        SetTree("medusa", "chain"),
        SetLeader("ar"),
        AddLane(spec, "ar"),
        RemoveLane("ar"),
        SetOverrides("draft", {"gamma": None}),
        OpenModels(ModelOptions("x"), (spec,)),
    ]
    engine.open()
    for command in commands:
        engine.send(command)
    events = wait_for(engine, lambda seen: len(seen) >= 15)
    assert said(events) == ["for t, ['ar', 'lookup'], from run 0 on", *map(repr, commands)]


def test_it_is_another_process_and_prints_nothing_here(
    engine: SessionProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    engine.send(Run("hello"))
    (event,) = wait_for(engine, bool)
    assert isinstance(event, Loading) and event.what != f"in process {os.getpid()}"
    assert capfd.readouterr() == ("", "")


def test_an_idle_one_sleeps(engine: SessionProcess) -> None:
    engine.open()
    wait_for(engine, bool)
    time.sleep(1.0)
    engine.send(Run("drained"))
    (times,) = said(wait_for(engine, bool))
    assert int(times.split()[0]) <= 2


@pytest.mark.parametrize(
    ("what", "says"), [(Stop(), KILLED), (RunAgain(), "decoding failed: RuntimeError: broken")]
)
def test_its_death_is_told_once(engine: SessionProcess, what: Command, says: str) -> None:
    engine.send(what)
    assert wait_for(engine, bool) == [EngineExited(says)]
    assert engine.drain() == []


def test_a_prompt_that_nobody_heard_comes_back(engine: SessionProcess) -> None:
    engine.send(Stop())
    engine.send(Run("hello"))
    assert wait_for(engine, bool) == [RunRejected("hello", KILLED), EngineExited(KILLED)]
    engine.send(Run("once more"))
    assert engine.drain() == [RunRejected("once more", KILLED)]


def test_another_one_goes_on_with_all_that_was_told(engine: SessionProcess) -> None:
    engine.open()
    engine.send(SetParams(Params(gamma=2)))
    engine.send(SetParams(Params(gamma=3)))
    engine.send(SetEnabled("lookup", False))
    engine.send(OpenConversation((Turn("a", 4, {"ar": "b"}),), 7))
    engine.send(Stop())
    wait_for(engine, lambda seen: EngineExited(KILLED) in seen)
    engine.send(RecordProbabilities(frozenset({"ar"})))
    engine.open()
    assert said(wait_for(engine, lambda seen: len(seen) >= 5)) == [
        repr(SetParams(Params(gamma=3))),
        repr(RecordProbabilities(frozenset({"ar"}))),
        repr(SetEnabled("lookup", False)),
        repr(OpenConversation((Turn("a", 4, {"ar": "b"}),), 7)),
        "for t, ['ar', 'lookup'], from run 5 on",
    ]
    engine.send(Stop())
    assert wait_for(engine, bool) == [EngineExited(KILLED)]
    assert engine.drain() == []


def test_nothing_of_those_that_ended_stays(engine: SessionProcess) -> None:
    there = set(threading.enumerate())
    for _ in range(3):
        engine.open()
        wait_for(engine, bool)
    until = time.monotonic() + PATIENCE_SECONDS
    while len(set(threading.enumerate()) - there) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(set(threading.enumerate()) - there) == 1


def test_one_that_has_said_that_it_ended_is_no_more(engine: SessionProcess) -> None:
    process = newest_process()
    engine.open()
    engine.send(Run("break"))
    events = wait_for(engine, lambda seen: EngineExited("it broke") in seen)
    assert events[-2:] == [RunRejected("break", "it broke"), EngineExited("it broke")]
    process.join(PATIENCE_SECONDS)
    assert not process.is_alive() and engine.drain() == []
    engine.open()
    assert said(wait_for(engine, bool)) == ["for t, ['ar', 'lookup'], from run 0 on"]


def test_a_long_conversation_does_not_hold_up_who_sends_it(tmp_path: Path) -> None:
    """More than fits into a pipe, to a process that only begins."""
    begin = tmp_path / "begin"
    begin.touch()
    engine = SessionProcess(partial(late, begin), ModelOptions("t"), SPECS)
    engine.open()
    engine.send(OpenConversation((Turn("a", 0, {"ar": "x" * 1_000_000}),), 7))
    engine.send(Stop())
    wait_for(engine, lambda seen: EngineExited(KILLED) in seen)
    begin.unlink()
    at_last = threading.Timer(PATIENCE_SECONDS / 2, begin.touch)
    at_last.start()
    engine.open()
    assert not begin.exists()
    at_last.cancel()
    begin.touch()
    assert len(said(wait_for(engine, bool))[0]) > 1_000_000
    engine.close()


def test_other_models_are_opened_by_another_one(engine: SessionProcess) -> None:
    engine.open()
    engine.send(OpenConversation((Turn("a", 0, {}),), 7))
    engine.send(Stop())
    wait_for(engine, lambda seen: EngineExited(KILLED) in seen)
    engine.send(OpenModels(ModelOptions("x"), SPECS[:1]))
    seen = wait_for(engine, lambda seen: len(said(seen)) > 1)
    assert said(seen) == ["SetSeed(seed=7)", "for x, ['ar'], from run 1 on"]


@pytest.mark.filterwarnings("ignore:resource_tracker")
def test_another_one_begins_where_stderr_is_no_file(
    engine: SessionProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on the screen, and though the resource tracker has died as well."""
    engine.open()
    engine.send(Stop())
    wait_for(engine, lambda seen: EngineExited(KILLED) in seen)
    tracker = resource_tracker._resource_tracker._pid  # type: ignore[attr-defined]
    os.kill(tracker, signal.SIGKILL)
    os.waitid(os.P_PID, tracker, os.WEXITED | os.WNOWAIT)
    nowhere = StringIO()
    monkeypatch.setattr(nowhere, "fileno", lambda: -1)
    monkeypatch.setattr(sys, "stderr", nowhere)
    engine.open()
    assert said(wait_for(engine, bool)) == ["for t, ['ar', 'lookup'], from run 0 on"]


@pytest.mark.parametrize("what", [(SpawnProcess, "start"), (SpawnContext, "Pipe")])
def test_one_that_cannot_be_started_is_told_as_such(
    engine: SessionProcess, monkeypatch: pytest.MonkeyPatch, what: tuple[type, str]
) -> None:
    engine.open()

    def fails(self: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr(*what, fails)
        engine.open()
    why = "the decoding process can't be started: Cannot allocate memory"
    assert engine.drain() == [EngineExited(why)] and engine.drain() == []
    engine.open()
    assert said(wait_for(engine, bool)) == ["for t, ['ar', 'lookup'], from run 0 on"]


@pytest.mark.slow
def test_a_turn_that_was_cut_off_is_answered_again(options: ModelOptions) -> None:
    """On real models, by a process that is killed in the middle of it."""
    make = partial(
        stuck,
        config=SessionConfig(
            Params(max_new_tokens=400), seed=3, schedule="fair", ignore_eos=True, raw=True
        ),
    )  # in a race the order of the rounds would be that of the clock
    engine = SessionProcess(make, options, SPECS)
    process = newest_process()
    engine.open()
    engine.send(SetOverrides("lookup", {"gamma": 2}))
    engine.send(Run("the fox"))
    begun = wait_for(engine, lambda seen: sum(isinstance(e, RoundFinished) for e in seen) >= 3)
    process.kill()
    end = wait_for(engine, lambda seen: EngineExited(KILLED) in seen)
    done = steps([*begun, *end])
    last = done[-1]
    assert [event for event in end if not isinstance(event, RoundFinished)] == [
        Finished("ar", "error", KILLED, at=last.at),
        Finished("lookup", "error", KILLED, at=last.at),
        RunFinished(0, True, at=last.at),
        EngineExited(KILLED),
    ]
    engine.open()
    engine.send(RunAgain())
    again = wait_for(engine, lambda seen: len(steps(seen)) >= len(done))
    assert [step.round.emitted for step in steps(again)][: len(done)] == [
        step.round.emitted for step in done
    ]
    [loaded] = [event for event in again if isinstance(event, Loaded)]
    assert [info.overrides for info in loaded.lanes] == [{}, {"gamma": 2}]
    engine.close()


def test_closing_ends_it_and_waits_for_nothing() -> None:
    engine = SessionProcess(EchoEngine, ModelOptions("t"), SPECS)
    process = newest_process()
    engine.send(Run("hello"))
    (event,) = wait_for(engine, bool)
    assert isinstance(event, Loading)
    other = psutil.Process(int(event.what.split()[-1]))
    other.suspend()  # it can't do anything for its end
    while other.status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    at_last = threading.Timer(PATIENCE_SECONDS / 2, other.kill)
    at_last.start()
    engine.close()
    assert at_last.is_alive()
    process.join(PATIENCE_SECONDS)
    assert at_last.is_alive() and not other.is_running()
    at_last.cancel()
    assert engine.drain() == []


def test_one_that_hangs_is_given_up_with_the_turn_that_it_had() -> None:
    engine = SessionProcess(EchoEngine, ModelOptions("t"), SPECS)
    engine.open()
    engine.send(Run("hello"))
    wait_for(engine, lambda seen: len(seen) >= 2)
    hung = newest_process()
    psutil.Process(hung.pid).suspend()
    engine.open()
    events = wait_for(engine, lambda seen: len(seen) >= 2)
    assert events[0] == RunRejected("hello", "decoding was restarted")
    assert said(events) == ["for t, ['ar', 'lookup'], from run 0 on"]
    hung.join(PATIENCE_SECONDS)
    assert hung.exitcode is not None
    engine.close()
