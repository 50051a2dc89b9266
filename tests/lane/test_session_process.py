"""The engine in a process of its own: everything arrives, in order, and nothing hangs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

from app.events import Event, Loaded, LoadFailed, Loading, PastTurn, RunRefused
from app.session_process import SessionProcess
from app.settings import ModelOptions
from app.strategies import LaneSpec
from decoding.params import Params, SamplingParams
from tests.lane.echo_engine import EchoEngine

PATIENCE_SECONDS = 60


@pytest.fixture
def engine() -> Iterator[SessionProcess]:
    engine = SessionProcess(EchoEngine)
    yield engine
    engine.close()


def wait_for(engine: SessionProcess, enough: Callable[[list[Event]], bool]) -> list[Event]:
    events: list[Event] = []
    until = time.monotonic() + PATIENCE_SECONDS
    while not enough(events):
        assert time.monotonic() < until, events
        events += engine.drain()
        time.sleep(0.01)
    return events


def test_every_command_arrives_in_order(engine: SessionProcess) -> None:
    params = Params(SamplingParams(0.5), gamma=3)
    turns = (PastTurn("a", 0, {"ar": "b"}),)
    engine.open()
    engine.pause(True)
    engine.step()
    engine.new_conversation()
    engine.resume(turns, 7)
    engine.set_params(params)
    engine.set_enabled("ar", False)
    engine.set_schedule("race")
    engine.watch(frozenset({"ar"}))
    engine.set_tree("medusa", "chain")
    engine.set_leader("ar")
    spec = LaneSpec("draft", "draft", {"gamma": 2})
    engine.add_lane(spec, "ar")
    engine.remove_lane("ar")
    engine.pin("draft", {"gamma": None})
    engine.open_models(ModelOptions("x"), (spec,))
    events = wait_for(engine, lambda seen: len(seen) >= 15)
    assert [event.what for event in events if isinstance(event, Loading)] == [
        "open()",
        "pause(True,)",
        "step()",
        "new_conversation()",
        f"resume({turns}, 7)",
        f"set_params({params},)",
        "set_enabled('ar', False)",
        "set_schedule('race',)",
        "watch(frozenset({'ar'}),)",
        "set_tree('medusa', 'chain')",
        "set_leader('ar',)",
        f"add_lane({spec}, 'ar')",
        "remove_lane('ar',)",
        "pin('draft', {'gamma': None})",
        f"open_models({ModelOptions('x')}, ({spec},))",
    ]


def test_it_is_another_process_and_prints_nothing_here(
    engine: SessionProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    engine.run("hello")
    (event,) = wait_for(engine, bool)
    assert isinstance(event, Loading) and event.what != f"in process {os.getpid()}"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "how,says", [("stop", "by signal 9 (too little memory?)"), ("again", "with code 1")]
)
def test_its_death_is_told(engine: SessionProcess, how: str, says: str) -> None:
    getattr(engine, how)()
    events = wait_for(engine, bool)
    words = f"the decoding process ended {says}: leave, and start specchat again"
    assert events == [LoadFailed(words)]
    assert engine.drain() == []


def test_after_its_death_prompts_come_back(engine: SessionProcess) -> None:
    """What was answered before stays on the screen."""
    engine.run("load")
    wait_for(engine, lambda events: any(isinstance(event, Loaded) for event in events))
    engine.run("hello")
    engine.stop()
    events = wait_for(engine, lambda events: any(isinstance(e, RunRefused) for e in events))
    refused = [event for event in events if isinstance(event, RunRefused)]
    assert [event.prompt for event in refused] == ["hello"]
    assert refused[0].message.startswith("the decoding process ended by signal 9")
    assert not any(isinstance(event, LoadFailed) for event in events)
    engine.run("once more")
    assert engine.drain() == [RunRefused("once more", refused[0].message, ended=True)]
    engine.again()
    assert engine.drain() == [RunRefused("once more", refused[0].message, ended=True)]


def test_its_death_while_other_models_are_loaded_is_told_as_such(engine: SessionProcess) -> None:
    engine.run("load")
    wait_for(engine, lambda events: any(isinstance(event, Loaded) for event in events))
    engine.open_models(ModelOptions("x"), ())
    engine.stop()
    events = wait_for(engine, lambda events: any(not isinstance(e, Loading) for e in events))
    assert isinstance(events[-1], LoadFailed) and "by signal 9" in events[-1].message


def test_closing_ends_it_at_once() -> None:
    engine = SessionProcess(EchoEngine)
    engine.run("hello")
    (event,) = wait_for(engine, bool)
    assert isinstance(event, Loading)
    pid = int(event.what.split()[-1])
    begun = time.monotonic()
    engine.close()
    assert time.monotonic() - begun < 0.1
    engine._process.join(5)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert engine.drain() == []
