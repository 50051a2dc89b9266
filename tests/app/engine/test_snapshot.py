"""What another session would be told, if this one ended now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.config.settings import ModelOptions
from app.engine.events import (
    Finished,
    LaneInfo,
    LanesChanged,
    Loaded,
    LoadFailed,
    PastTurn,
    RunFinished,
    RunRejected,
    RunStarted,
    SamplingTest,
)
from app.engine.snapshot import SessionSnapshot
from app.strategies.registry import LaneSpec
from tests.support.listening import Open

MINE, OTHER = ModelOptions("mine"), ModelOptions("other")
SPECS = (LaneSpec("ar", "ar"), LaneSpec("medusa", "medusa"))


def info(name: str, **more: Any) -> LaneInfo:
    return LaneInfo(name, name, name, True, None, True, 0, **more)


def loaded(place: str, *names: str, back: bool = False) -> Loaded:
    return Loaded("t", "cpu", "float32", 1, 9, tuple(map(info, names)), place=place, back=back)


def test_the_conversation_is_what_the_lanes_said(open_session: Open) -> None:
    listener = open_session("ar,draft,lookup")
    standing = SessionSnapshot(MINE, ())
    listener.loaded()
    standing.heard(listener.turn("the quick brown fox"))
    standing.heard(listener.turn("and then"))
    standing.heard(listener.turn())  # once more
    work = listener.session._work
    (command, (turns, seed)) = list(standing.commands())[-1]
    assert (command, seed) == ("resume", 7)
    assert turns == [PastTurn(turn.prompt, turn.run, turn.answers) for turn in work.turns]
    assert len(turns) == 2 and all(turns[-1].answers.values())
    assert standing.next_run == 2
    standing.told("new_conversation")
    assert not list(standing.commands()) and standing.next_run == 2
    standing.told("resume", [PastTurn("a", 1, {})], 7)
    assert standing.next_run == 2
    standing.told("resume", [PastTurn("a", 4, {})], 7)
    assert standing.next_run == 5


def test_lanes_are_as_they_were_changed_last() -> None:
    standing = SessionSnapshot(MINE, SPECS)
    standing.told("set_tree", "medusa", "wide")
    standing.told("pin", "ar", {"temperature": 0.5})
    assert standing.specs == (
        LaneSpec("ar", "ar", {"temperature": 0.5}),
        LaneSpec("medusa", "medusa", {}, "wide"),
    )
    standing.told("set_enabled", "medusa", False)
    standing.heard([LanesChanged((info("draft", overrides={"gamma": 2}), info("lookup")))])
    assert standing.specs == (
        LaneSpec("draft", "draft", {"gamma": 2}),
        LaneSpec("lookup", "lookup"),
    )
    assert not list(standing.commands())  # that lane is gone
    standing.heard([LanesChanged((info("medusa"),))])
    assert not list(standing.commands())  # this one is another


def test_models_that_came_back_are_those_to_load() -> None:
    standing = SessionSnapshot(MINE, SPECS)
    standing.heard([loaded("mine", "ar")])
    standing.told("resume", [PastTurn("a", 0, {})], 7)
    standing.told("open_models", OTHER, SPECS)
    assert (standing.options, standing.specs) == (OTHER, SPECS) and not list(standing.commands())
    standing.heard([loaded("mine", "ar", back=True), LoadFailed("no folder", kept=True)])
    assert standing.options == MINE and [spec.name for spec in standing.specs] == ["ar"]
    standing.told("open_models", OTHER, SPECS)
    standing.heard([loaded("other", "ar", "medusa")])
    standing.told("open_models", MINE, SPECS)
    standing.heard([LoadFailed("no folder", kept=True)])
    assert standing.options == OTHER


def test_models_are_wished_for_while_others_are_loaded() -> None:
    standing = SessionSnapshot(ModelOptions(), SPECS)  # the demo
    standing.told("open_models", OTHER, SPECS)
    standing.heard([loaded("/demo", "ar")])
    assert standing.options == OTHER
    standing.told("open_models", MINE, SPECS)
    standing.heard([loaded("/demo", "ar", back=True), LoadFailed("no folder", kept=True)])
    standing.heard([loaded("mine", "ar")])
    assert standing.options == MINE
    standing.told("open_models", OTHER, SPECS)
    standing.heard([loaded("mine", "ar", back=True), LoadFailed("no folder", kept=True)])
    assert standing.options == MINE


@pytest.mark.parametrize(
    "other", [replace(MINE, draft="bad"), OTHER], ids=["another draft", "another target"]
)
@pytest.mark.parametrize("place", ["mine", "merged"])
def test_parts_of_a_target_that_did_not_go_with_it_are_not_loaded_again(
    other: ModelOptions, place: str
) -> None:
    standing = SessionSnapshot(ModelOptions(), SPECS)
    standing.heard([loaded("/demo", "ar")])
    mine = replace(MINE, medusa="merged")
    standing.told("open_models", mine, SPECS)
    standing.heard([loaded(place, "ar")])
    standing.told("open_models", other, SPECS)
    standing.heard([loaded(place, "ar", back=True), LoadFailed("other words", kept=True)])
    assert standing.options == mine


def test_what_is_still_to_be_said_is_said_once() -> None:
    standing = SessionSnapshot(MINE, SPECS)
    standing.told("run", "Hi")
    assert list(standing.last_words("x")) == [RunRejected("Hi", "x")]
    run = RunStarted(3, 0, "Hi", 2, 7, ("ar", "medusa", "lookup"), at=1.0)
    standing.heard([run, Finished("medusa", "stop", at=2.0)])
    standing.told("prove", "ar", 400)
    last = list(standing.last_words("x"))
    assert last == [
        Finished("ar", "error", "x"),
        Finished("lookup", "error", "x"),
        RunFinished(3, True),
        SamplingTest("ar", repetitions=400, note="x"),
    ]
    assert [event.at for event in last[:3]] == [2.0, 2.0, 2.0]
    standing.heard(last)
    assert not list(standing.last_words("x"))
    standing.told("prove", "ar", 400)
    standing.heard([replace(last[3], note=None, done=400)])
    assert not list(standing.last_words("x"))
