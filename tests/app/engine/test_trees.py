"""Medusa's tree, chosen while the session lives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.config.model_options import ModelOptions
from app.engine.commands import AddLane, OpenModels, SetTree
from app.engine.events import Event, LanesChanged, RoundFinished
from app.engine.lane import Lane
from app.models.load_models import load_models
from app.strategies.lane_spec import LaneSpec
from decoding.checkpoints.medusa import MedusaWeights, write_medusa
from decoding.params import Params
from decoding.tokenizing.stopping import Stop
from tests.conftest import FamilyFolders
from tests.support.listening import Open, ids_of, of

HEADS, HIDDEN = 3, 32
SPECS = (LaneSpec("ar", "ar"), LaneSpec("medusa", "medusa", tree="small"))


@pytest.fixture
def with_heads(
    options: ModelOptions, family_folders: FamilyFolders, tmp_path: Path
) -> ModelOptions:
    """Heads that guess the token which the target has just said: wrong, but that is no matter."""
    weights = MedusaWeights(
        "v2", torch.zeros(HEADS, 1, HIDDEN, HIDDEN), torch.zeros(HEADS, 1, HIDDEN), None
    )
    write_medusa(weights, tmp_path / "heads", "v2", family_folders.target)
    drafters = {**options.drafters, "medusa": str(tmp_path / "heads")}
    return replace(options, drafters=drafters, medusa_choices="chain")


def sizes(events: list[Event]) -> set[int]:
    """Drafted nodes of the rounds that had room for the whole tree."""
    rounds = [event.round for event in of(events, RoundFinished, "medusa")]
    return {record.drafted for record in rounds[:3]}


def test_another_tree_acts_at_the_next_round(with_heads: ModelOptions, open_session: Open) -> None:
    listener = open_session("ar,medusa", options=with_heads)
    (_, info) = listener.loaded().lanes
    assert info.trees == {"default": 3, "chain": 3, "small": 3, "wide": 3}
    before = listener.turn("the quick brown fox")
    listener.session.send(SetTree("medusa", "small"))
    after = listener.turn()
    listener.session.send(SetTree("medusa", "default"))
    again = listener.turn()
    assert (sizes(before), sizes(after), sizes(again)) == ({3}, {7}, {3})
    for events in (before, after, again):
        assert ids_of(events, "medusa") == ids_of(events, "ar")


def test_a_tree_stays_when_the_caches_are_freed(with_heads: ModelOptions) -> None:
    spec = LaneSpec("medusa", "medusa")
    lane = Lane(spec, load_models(with_heads, lanes=(spec,)))
    lane.set_tree("small")
    lane.free_caches()
    lane.generate([0, 2, 40], Params(max_new_tokens=12), 0, Stop())
    assert lane.tree == "small" and lane.rounds[0].drafted == 7


def test_other_lanes_have_no_trees(open_session: Open) -> None:
    listener = open_session("ar,draft")
    assert all(not info.trees for info in listener.loaded().lanes)


def test_a_new_lane_begins_with_the_tree_that_is_asked_for(
    with_heads: ModelOptions, open_session: Open
) -> None:
    listener = open_session("ar,medusa", options=with_heads)
    listener.loaded()
    listener.session.send(AddLane(LaneSpec("medusa", "medusa", tree="small"), "medusa"))
    changed = listener.wait(LanesChanged, such=lambda e: len(e.lanes) == 3)
    assert [lane.tree for lane in changed.lanes] == ["default", "default", "small"]
    turn = listener.turn("the quick brown fox")
    assert {e.tree for e in of(turn, RoundFinished, "medusa#2")} == {"small"}
    assert {e.tree for e in of(turn, RoundFinished, "medusa")} == {"default"}


def test_lanes_keep_their_trees_when_their_models_come_back(
    with_heads: ModelOptions, open_session: Open
) -> None:
    listener = open_session("ar,medusa", options=with_heads)
    listener.loaded()
    listener.session.send(SetTree("medusa", "wide"))
    listener.session.send(OpenModels(replace(with_heads, target="/no/such"), SPECS))
    assert [lane.tree for lane in listener.loaded().lanes] == ["default", "wide"]
    listener.session.send(OpenModels(with_heads, SPECS))
    assert [lane.tree for lane in listener.loaded().lanes] == ["default", "small"]
    turn = listener.turn("the quick brown fox")
    assert {e.tree for e in of(turn, RoundFinished, "medusa")} == {"small"}
