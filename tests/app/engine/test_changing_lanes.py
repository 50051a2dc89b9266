"""Lanes that come, go and get settings of their own; other models."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import torch

from app.config.model_options import ModelOptions
from app.config.overrides import parse_strategies
from app.engine import lanes as lanes_module
from app.engine.commands import (
    AddLane,
    OpenModels,
    Pause,
    RemoveLane,
    Run,
    SetEnabled,
    SetLanes,
    SetOverrides,
    SetTree,
)
from app.engine.events import (
    EngineExited,
    LanesChanged,
    Loaded,
    LoadFailed,
    Loading,
    RoundFinished,
    RunFinished,
    RunRejected,
)
from app.engine.lane import Lane
from app.models.load_models import load_models
from app.strategies.lane_spec import LaneSpec
from decoding.errors import InputError
from tests.support.listening import LONG, Listener, Open, ids_of, lanes_of, of, reason_of


def names_of(event: LanesChanged | Loaded) -> list[str]:
    return [lane.name for lane in event.lanes]


def racing(open_session: Open) -> Listener:
    """Two lanes on their long way; lookup has begun."""
    listener = open_session("ar,lookup", params=LONG, schedule="race")
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished, such=lambda e: e.lane == "lookup")
    return listener


def test_a_lane_is_added_behind_another_under_a_name_of_its_own(open_session: Open) -> None:
    listener = open_session("ar,draft,lookup")
    listener.loaded()
    for _ in range(2):
        listener.session.send(AddLane(LaneSpec("draft", "draft", {"gamma": 1}), "draft"))
    changed = listener.wait(LanesChanged, such=lambda e: len(e.lanes) == 5)
    assert names_of(changed) == ["ar", "draft", "draft#3", "draft#2", "lookup"]
    assert changed.lanes[2].overrides == {"gamma": 1}
    turn = listener.turn("the fox")
    assert lanes_of(turn) == ("ar", "draft", "draft#3", "draft#2", "lookup")
    assert ids_of(turn, "draft#2") == ids_of(turn, "ar")
    assert all(e.round.drafted <= 1 for e in of(turn, RoundFinished, "draft#2"))
    assert any(e.round.drafted > 1 for e in of(turn, RoundFinished, "draft"))


def test_what_a_new_lane_drafts_with_is_loaded_when_it_comes(open_session: Open) -> None:
    listener = open_session("ar")
    listener.loaded()
    listener.session.send(AddLane(LaneSpec("draft", "draft"), None))
    listener.session.send(AddLane(LaneSpec("medusa", "medusa"), "ar"))
    changed = listener.wait(LanesChanged, such=lambda e: len(e.lanes) == 3)
    assert any(e.what.startswith("draft model") for e in listener.heard if isinstance(e, Loading))
    assert [(lane.name, lane.available) for lane in changed.lanes] == [
        ("ar", True),
        ("medusa", False),
        ("draft", True),
    ]
    assert changed.lanes[1].reason == "no Medusa heads: --medusa DIR, or make some: specchat heads"
    assert set(changed.weights) == {"target", "draft"}
    assert changed.memory and set(changed.memory.caches) == {"ar", "draft"}
    assert lanes_of(listener.turn("the fox")) == ("ar", "draft")


def test_what_only_a_removed_lane_drafted_with_is_freed(
    open_session: Open, options: ModelOptions
) -> None:
    source = str(options.drafters["draft"])
    own = LaneSpec("draft", "own", checkpoint=source)
    listener = open_session("ar,draft,draft-only,lookup")
    listener.loaded()
    listener.session.send(AddLane(own, None))
    changed = listener.wait(LanesChanged)
    assert list(changed.weights)[:2] == ["target", "draft"] and len(changed.weights) == 3
    for count, name in enumerate(("draft", "own", "draft-only"), 2):
        listener.session.send(RemoveLane(name))
        changed = listener.wait(LanesChanged, count)
        left = {"draft": 3, "own": 2, "draft-only": 1}[name]
        assert len(changed.weights) == left
    listener.session.send(AddLane(LaneSpec("draft", "draft"), None))
    assert set(listener.wait(LanesChanged, count + 1).weights) == {"target", "draft"}
    assert lanes_of(listener.turn("the fox")) == ("ar", "lookup", "draft")


def test_what_a_lane_drafted_with_that_was_removed_in_a_turn_is_freed_before_the_next(
    open_session: Open, lockstep: None
) -> None:
    listener = open_session("ar,draft", params=LONG, schedule="race")
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished, such=lambda e: e.lane == "draft")
    listener.session.send(RemoveLane("draft"))
    assert reason_of(listener.rest(), "draft") == "stopped"
    (changed,) = of(listener.turn("and more"), LanesChanged)
    assert set(changed.weights) == {"target"}


def test_a_draft_that_breaks_leaves_its_reason_and_the_others(
    open_session: Open, options: ModelOptions, tmp_path: Path
) -> None:
    listener = open_session("ar", options=replace(options, drafters={"draft": str(tmp_path)}))
    listener.loaded()
    listener.session.send(AddLane(LaneSpec("draft", "draft"), "ar"))
    changed = listener.wait(LanesChanged)
    assert "no config.json" in str(changed.lanes[1].reason)
    assert lanes_of(listener.turn("the fox")) == ("ar",)


def test_a_lane_that_cannot_even_be_made_leaves_its_reason(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Lane) -> None:
        raise RuntimeError("out of memory")

    listener = open_session("ar")
    listener.loaded()
    monkeypatch.setattr(Lane, "_make_decoder", broken)
    listener.session.send(AddLane(LaneSpec("lookup", "lookup"), None))
    changed = listener.wait(LanesChanged)
    assert changed.lanes[1].reason == "loading failed: RuntimeError: out of memory"
    assert lanes_of(listener.turn("the fox")) == ("ar",)


def test_a_draft_that_did_not_fit_into_memory_is_loaded_when_its_lane_comes_again(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(*_: object) -> None:
        raise MemoryError("no room")

    listener = open_session("ar")
    listener.loaded()
    with monkeypatch.context() as patch:
        patch.setattr(lanes_module, "load_drafter", too_large)
        listener.session.send(AddLane(LaneSpec("draft", "draft"), None))
        failed = listener.wait(LanesChanged)
        assert "no room" in str(failed.lanes[1].reason)
    listener.session.send(AddLane(LaneSpec("draft", "draft"), None))
    again = listener.wait(LanesChanged, 2)
    assert [lane.available for lane in again.lanes] == [True, False, True]
    assert lanes_of(listener.turn("the fox")) == ("ar", "draft#2")


def test_a_new_lane_is_not_taken_for_one_that_was_just_removed(
    open_session: Open, lockstep: None
) -> None:
    listener = racing(open_session)
    listener.session.send(RemoveLane("lookup"))
    listener.session.send(AddLane(LaneSpec("lookup", "lookup"), None))
    changed = listener.wait(LanesChanged, such=lambda e: len(e.lanes) == 2)
    assert names_of(changed) == ["ar", "lookup#2"]
    assert reason_of(listener.rest(), "lookup") == "stopped"
    listener.session.send(RemoveLane("lookup#2"))
    listener.wait(LanesChanged, such=lambda e: len(e.lanes) == 1)
    listener.forget()
    listener.session.send(AddLane(LaneSpec("lookup", "lookup"), None))
    assert names_of(listener.wait(LanesChanged)) == ["ar", "lookup"]


def test_a_lane_that_comes_back_is_as_new(open_session: Open) -> None:
    listener = open_session("ar,lookup")
    listener.loaded()
    listener.session.send(SetEnabled("lookup", False))
    listener.session.send(SetTree("lookup", "wide"))
    listener.session.send(RemoveLane("lookup"))
    listener.wait(LanesChanged)
    listener.session.send(AddLane(LaneSpec("lookup", "lookup"), None))
    assert listener.wait(LanesChanged, 2).lanes[1].enabled
    turn = listener.turn("the fox")
    assert {event.tree for event in of(turn, RoundFinished, "lookup")} == {"default"}


def test_all_lanes_are_set_at_once(open_session: Open) -> None:
    listener = open_session("ar,draft,lookup")
    specs = tuple(info.spec for info in listener.loaded().lanes)
    listener.session.send(RemoveLane("ar"))
    listener.session.send(AddLane(LaneSpec("lookup", "lookup"), None))
    changed = listener.wait(LanesChanged, such=lambda e: len(e.lanes) == 3)
    assert names_of(changed) == ["draft", "lookup", "lookup#2"]
    listener.session.send(SetEnabled("ar", False))
    listener.session.send(SetLanes(specs))
    changed = listener.wait(LanesChanged, such=lambda e: e.lanes[0].name == "ar")
    assert names_of(changed) == ["ar", "draft", "lookup"]
    assert [info.enabled for info in changed.lanes] == [False, True, True]


def test_a_running_lane_that_is_removed_stops_and_the_last_one_stays(
    open_session: Open, lockstep: None
) -> None:
    listener = racing(open_session)
    listener.session.send(RemoveLane("lookup"))
    listener.session.send(AddLane(LaneSpec("draft", "draft"), "ar"))  # must load: waits for the end
    listener.session.send(RemoveLane("nobody"))
    assert names_of(listener.wait(LanesChanged)) == ["ar"]
    listener.session.send(RemoveLane("ar"))
    turn = listener.rest()
    assert reason_of(turn, "lookup") == "stopped" and reason_of(turn, "ar") == "length"
    kinds = [type(event) for event in turn]
    assert not [e for e in turn[: kinds.index(RunFinished)] if isinstance(e, Loading)]
    later = listener.wait(LanesChanged, such=lambda e: len(e.lanes) == 2)
    assert names_of(later) == ["ar", "draft"]


def test_pins_act_at_the_next_round_and_leave_the_name(open_session: Open, lockstep: None) -> None:
    listener = open_session("draft", params=LONG)
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished)
    listener.session.send(SetOverrides("draft", {"gamma": 1}))
    changed = listener.wait(LanesChanged)
    assert names_of(changed) == ["draft"] and changed.lanes[0].overrides == {"gamma": 1}
    turn = listener.rest()
    after = turn[turn.index(changed) :]
    assert {e.params.gamma for e in of(after, RoundFinished) if e.params} == {1}
    assert all(e.round.drafted <= 1 for e in of(after, RoundFinished))


def test_lanes_change_during_a_pause(open_session: Open, lockstep: None) -> None:
    listener = open_session("ar,lookup", params=LONG)
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished)
    listener.session.send(Pause(True))
    listener.session.send(RemoveLane("lookup"))
    assert names_of(listener.wait(LanesChanged)) == ["ar"]
    listener.session.send(Pause(False))
    listener.wait(RunFinished)


@pytest.fixture
def families(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Any]]:
    """All models that sessions load."""
    seen: list[weakref.ref[Any]] = []
    load = load_models

    def noting(*arguments: Any) -> Any:
        family = load(*arguments)
        models = [each.model for each in (family.target, *family.drafters.values())]
        seen.extend(map(weakref.ref, [family, *models, next(models[0].parameters())]))
        return family

    monkeypatch.setattr(lanes_module, "load_models", noting)
    return seen


def test_other_models_take_the_place_of_the_first(
    open_session: Open, options: ModelOptions, families: list[weakref.ref[Any]]
) -> None:
    listener = open_session("ar,draft")
    listener.loaded()
    listener.turn("the fox")
    first = list(families)
    assert len(first) == 4 and all(ref() is not None for ref in first)
    other = ModelOptions(options.source("draft"), device="cpu", dtype="float32", threads=1)
    listener.session.send(OpenModels(other, parse_strategies("lookup,ar,draft")))
    loaded = listener.wait(Loaded)
    assert names_of(loaded) == ["lookup", "ar", "draft"] and loaded.target == "draft"
    assert [lane.available for lane in loaded.lanes] == [True, True, False]
    assert all(lane.enabled for lane in loaded.lanes)  # the next models may have what is missing
    gc.collect()
    assert [ref() for ref in first] == [None] * 4
    turn = listener.turn("the fox")
    assert lanes_of(turn) == ("lookup", "ar")
    assert turn[0].turn == 0  # type: ignore[union-attr]


def test_the_first_are_freed_before_the_others_are_loaded(
    open_session: Open,
    options: ModelOptions,
    families: list[weakref.ref[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listener = open_session("ar,draft")
    listener.loaded()
    listener.turn("the fox")
    alive: list[bool] = []
    load: Any = vars(lanes_module)["load_models"]  # the one that notes

    def looking(*arguments: Any) -> Any:
        alive.extend(ref() is not None for ref in families)
        return load(*arguments)

    monkeypatch.setattr(lanes_module, "load_models", looking)
    listener.session.send(OpenModels(options, parse_strategies("ar")))
    listener.wait(Loaded)
    assert alive == [False] * 4


def test_what_was_loaded_in_vain_is_freed_before_the_first_are_loaded_again(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = open_session("ar")
    listener.loaded()
    load: Any = vars(lanes_module)["load_models"]
    in_vain: list[weakref.ref[Any]] = []
    alive: list[bool] = []

    def failing(options: ModelOptions, *rest: Any) -> Any:
        if options.target != "/too/large":
            alive.extend(ref() is not None for ref in in_vain)
            return load(options, *rest)
        module = torch.nn.Linear(1, 1)
        module.register_forward_hook(lambda *_: module)  # hooks hold models, which hold hooks
        in_vain.append(weakref.ref(module))
        raise InputError("/too/large does not fit into the memory of cuda")

    monkeypatch.setattr(lanes_module, "load_models", failing)
    listener.session.send(OpenModels(ModelOptions("/too/large"), parse_strategies("ar")))
    assert listener.wait(LoadFailed).kept
    assert alive == [False]


def test_a_thread_that_breaks_says_so(open_session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: lanes_module.Lanes) -> None:
        raise RuntimeError("CUDA error: device-side assert triggered\nand much more")

    monkeypatch.setattr(lanes_module.Lanes, "release", lost)
    listener = open_session("ar")
    listener.loaded()
    listener.session.send(OpenModels(ModelOptions("/x"), (LaneSpec("ar", "ar"),)))
    why = "decoding failed: RuntimeError: CUDA error: device-side assert triggered"
    assert listener.wait(EngineExited).message == why


def test_models_that_cannot_be_loaded_bring_the_first_ones_back(open_session: Open) -> None:
    listener = open_session("ar,draft")
    listener.loaded()
    listener.session.send(AddLane(LaneSpec("draft", "draft", {"gamma": 2}), "draft"))
    listener.wait(LanesChanged)
    listener.forget()
    listener.session.send(OpenModels(ModelOptions("/no/such/folder"), parse_strategies("ar")))
    failed = listener.wait(LoadFailed)
    assert failed.kept and "no folder /no/such/folder" in failed.message
    loaded = listener.wait(Loaded)
    assert loaded.restored
    assert names_of(loaded) == ["ar", "draft", "draft#2"] and loaded.lanes[2].overrides == {
        "gamma": 2
    }
    assert lanes_of(listener.turn("the fox")) == ("ar", "draft", "draft#2")


def test_after_a_load_that_failed_other_models_can_be_opened(
    open_session: Open, options: ModelOptions
) -> None:
    listener = open_session("ar", options=ModelOptions("/no/such/folder"))
    assert not listener.wait(LoadFailed).kept
    listener.session.send(OpenModels(options, parse_strategies("ar")))
    assert listener.wait(Loaded).target == "target"
    assert lanes_of(listener.turn("the fox")) == ("ar",)


def test_a_load_that_fails_after_others_were_asked_for_is_not_told(
    open_session: Open, options: ModelOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question asked meanwhile waits for the others."""
    begun, go = Event(), Event()
    real = lanes_module.Lanes.__init__

    def slow(lanes: lanes_module.Lanes, request: OpenModels, *rest: Any) -> None:
        if request.options.target == "/no/such/folder":
            begun.set()
            assert go.wait(20)
        real(lanes, request, *rest)

    monkeypatch.setattr(lanes_module.Lanes, "__init__", slow)
    listener = open_session("ar", options=ModelOptions("/no/such/folder"))
    assert begun.wait(20)
    listener.session.send(OpenModels(options, parse_strategies("ar")))
    listener.session.send(Run("the fox"))
    go.set()
    events = listener.rest()
    assert not [each for each in events if isinstance(each, LoadFailed | RunRejected)]
    assert reason_of(events, "ar") == "length"
