"""What another session would be told, if this one ended now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.config.model_options import ModelOptions
from app.engine.commands import (
    OpenConversation,
    OpenModels,
    Run,
    SetEnabled,
    SetOverrides,
    SetSeed,
    SetTree,
    StartAdvice,
    StartSamplingTest,
    Turn,
)
from app.engine.events import (
    Event,
    Finished,
    LaneInfo,
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
)
from app.engine.snapshot import SessionSnapshot
from app.strategies.lane_spec import LaneSpec
from tests.support.listening import Open, of

MINE, OTHER = ModelOptions("mine"), ModelOptions("other")
SPECS = (LaneSpec("ar", "ar"), LaneSpec("medusa", "medusa"))


def info(name: str, **more: Any) -> LaneInfo:
    return LaneInfo(name, name, name, True, None, True, 0, **more)


def loaded(source: str, *names: str, restored: bool = False) -> Loaded:
    return Loaded(
        "t", "cpu", "float32", 1, 9, tuple(map(info, names)), source=source, restored=restored
    )


def said(turn: list[Event]) -> dict[str, str]:
    """What each lane answered."""
    texts = {event.lane: event.first.text for event in of(turn, Prefilled)}
    for event in of(turn, RoundFinished):
        texts[event.lane] += "".join(t.text for t in event.tokens if not t.fate.discarded)
    return texts


def test_the_conversation_is_what_the_lanes_said(open_session: Open) -> None:
    listener = open_session("ar,draft,lookup")
    snapshot = SessionSnapshot(MINE, ())
    listener.loaded()
    turns = [listener.turn(prompt) for prompt in ("the quick brown fox", "and then", None)]
    for events in turns:
        snapshot.apply_events(events)
    first, _, again = turns
    assert list(snapshot.to_commands()) == [
        OpenConversation(
            (Turn("the quick brown fox", 0, said(first)), Turn("and then", 1, said(again))), 7
        )
    ]
    assert snapshot.next_run == 2
    snapshot.apply_command(OpenConversation())
    assert list(snapshot.to_commands()) == [SetSeed(7)] and snapshot.next_run == 2
    snapshot.apply_command(OpenConversation((Turn("a", 1, {}),), 7))
    assert snapshot.next_run == 2
    snapshot.apply_command(OpenConversation((Turn("a", 4, {}),), 7))
    assert snapshot.next_run == 5


def test_an_answer_that_goes_on_is_told_to_its_end(open_session: Open) -> None:
    whole = open_session("ar,draft,lookup")
    whole.loaded()
    turn = whole.turn("the quick brown fox")
    at = turn.index(of(turn, RoundFinished, "lookup")[1])
    other = SessionSnapshot(MINE, ())
    part = [*turn[:at], Finished("lookup", "stopped"), RunFinished(0, True)]
    other.apply_events([*part, RunContinued(0, ("lookup",)), turn[at]])
    (until,) = list(other.to_commands())
    assert isinstance(until, OpenConversation) and until.turns[0].answers == said(turn[: at + 1])
    assert [type(event) for event in other.closing_events("gone")] == [Finished, RunFinished]
    other.apply_events(turn[at + 1 :])
    assert list(other.to_commands()) == [
        OpenConversation((Turn("the quick brown fox", 0, said(turn)),), 7)
    ]
    assert not list(other.closing_events("gone"))


def test_lanes_are_as_they_were_changed_last() -> None:
    snapshot = SessionSnapshot(MINE, SPECS)
    snapshot.apply_command(SetTree("medusa", "wide"))
    snapshot.apply_command(SetOverrides("ar", {"temperature": 0.5}))
    assert snapshot.specs == (
        LaneSpec("ar", "ar", {"temperature": 0.5}),
        LaneSpec("medusa", "medusa", {}, "wide"),
    )
    snapshot.apply_command(SetEnabled("medusa", False))
    snapshot.apply_events([LanesChanged((info("draft", overrides={"gamma": 2}), info("lookup")))])
    assert snapshot.specs == (
        LaneSpec("draft", "draft", {"gamma": 2}),
        LaneSpec("lookup", "lookup"),
    )
    assert not list(snapshot.to_commands())  # that lane is gone
    snapshot.apply_events([LanesChanged((info("medusa"),))])
    assert not list(snapshot.to_commands())  # this one is another


def test_a_chosen_seed_is_that_of_the_conversation_and_of_new_ones() -> None:
    snapshot = SessionSnapshot(MINE, SPECS)
    snapshot.apply_command(OpenConversation((Turn("a", 0, {}),), 7))
    snapshot.apply_command(SetSeed(8))
    assert list(snapshot.to_commands()) == [OpenConversation((Turn("a", 0, {}),), 8)]
    snapshot.apply_command(OpenConversation())
    assert list(snapshot.to_commands()) == [SetSeed(8)]
    snapshot.apply_command(OpenConversation((Turn("b", 1, {}),), 7))
    assert list(snapshot.to_commands()) == [OpenConversation((Turn("b", 1, {}),), 7)]
    snapshot.apply_command(OpenConversation())
    assert list(snapshot.to_commands()) == [SetSeed(7)]


def test_models_that_came_back_are_those_to_load() -> None:
    snapshot = SessionSnapshot(MINE, SPECS)
    snapshot.apply_events([loaded("mine", "ar")])
    snapshot.apply_command(OpenConversation((Turn("a", 0, {}),), 7))
    snapshot.apply_command(OpenModels(OTHER, SPECS))
    assert (snapshot.options, snapshot.specs) == (OTHER, SPECS)
    assert list(snapshot.to_commands()) == [SetSeed(7)]  # without the conversation
    snapshot.apply_events([loaded("mine", "ar", restored=True), LoadFailed("no folder", kept=True)])
    assert snapshot.options == MINE and [spec.name for spec in snapshot.specs] == ["ar"]
    snapshot.apply_command(OpenModels(OTHER, SPECS))
    snapshot.apply_events([loaded("other", "ar", "medusa")])
    snapshot.apply_command(OpenModels(MINE, SPECS))
    snapshot.apply_events([LoadFailed("no folder", kept=True)])
    assert snapshot.options == OTHER


def test_models_are_wished_for_while_others_are_loaded() -> None:
    snapshot = SessionSnapshot(ModelOptions(), SPECS)  # the demo
    snapshot.apply_command(OpenModels(OTHER, SPECS))
    snapshot.apply_events([loaded("/demo", "ar")])
    assert snapshot.options == OTHER
    snapshot.apply_command(OpenModels(MINE, SPECS))
    snapshot.apply_events(
        [loaded("/demo", "ar", restored=True), LoadFailed("no folder", kept=True)]
    )
    snapshot.apply_events([loaded("mine", "ar")])
    assert snapshot.options == MINE
    snapshot.apply_command(OpenModels(OTHER, SPECS))
    snapshot.apply_events([loaded("mine", "ar", restored=True), LoadFailed("no folder", kept=True)])
    assert snapshot.options == MINE


@pytest.mark.parametrize(
    "other",
    [replace(MINE, drafters={"draft": "bad"}), OTHER],
    ids=["another draft", "another target"],
)
@pytest.mark.parametrize("source", ["mine", "merged"])
def test_parts_of_a_target_that_did_not_go_with_it_are_not_loaded_again(
    other: ModelOptions, source: str
) -> None:
    snapshot = SessionSnapshot(ModelOptions(), SPECS)
    snapshot.apply_events([loaded("/demo", "ar")])
    mine = replace(MINE, drafters={"medusa": "merged"})
    snapshot.apply_command(OpenModels(mine, SPECS))
    snapshot.apply_events([loaded(source, "ar")])
    snapshot.apply_command(OpenModels(other, SPECS))
    snapshot.apply_events(
        [loaded(source, "ar", restored=True), LoadFailed("other words", kept=True)]
    )
    assert snapshot.options == mine


def test_what_is_still_to_be_said_is_said_once() -> None:
    snapshot = SessionSnapshot(MINE, SPECS)
    snapshot.apply_command(Run("Hi"))
    assert list(snapshot.closing_events("x")) == [RunRejected("Hi", "x")]
    run = RunStarted(3, 0, "Hi", 2, 7, ("ar", "medusa", "lookup"), at=1.0)
    snapshot.apply_events([run, Finished("medusa", "stop", at=2.0)])
    snapshot.apply_command(StartSamplingTest("ar", 400))
    last: list[Any] = list(snapshot.closing_events("x"))
    assert last == [
        Finished("ar", "error", "x"),
        Finished("lookup", "error", "x"),
        RunFinished(3, True),
        SamplingTest("ar", repetitions=400, note="x"),
    ]
    assert [event.at for event in last[:3]] == [2.0, 2.0, 2.0]
    snapshot.apply_events(last)
    assert not list(snapshot.closing_events("x"))
    snapshot.apply_command(StartSamplingTest("ar", 400))
    snapshot.apply_events([replace(last[3], note=None, done=400)])
    assert not list(snapshot.closing_events("x"))
    for begun in (StartSamplingTest("ar", 400), StartAdvice(45.0)):  # which a turn ends
        snapshot.apply_command(begun)
        assert len(list(snapshot.closing_events("x"))) == 1
        snapshot.apply_events([run, RunFinished(3, False)])
        assert not list(snapshot.closing_events("x"))
