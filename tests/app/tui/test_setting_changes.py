"""Marks in the text: where a setting changed during an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.tui.format.pane_edges import lane_title
from app.tui.format.setting_changes import changes
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState, Phase
from app.tui.widgets.split_line import fitting
from decoding.params import Params, with_settings
from tests.support.scripted import lane, metrics, prefilled, stepped
from tests.support.stage import Play

HOT = {"temperature": 0.8, "top_p": 0.9}


def changed(strategy: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    gamma = 0 if strategy in ("ar", "draft-only") else 4
    state = LaneState(lane(strategy, gamma=gamma), True)
    return changes(state, with_settings(Params(), before), with_settings(Params(), after))


def test_only_what_acts_on_the_lane_is_marked() -> None:
    assert changed("ar", {}, {"gamma": 8, "temperature": 0.8}) == ["temp 0.80"]
    assert changed("draft", {}, {"gamma": 8}) == ["gamma 8"]
    assert changed("draft", {}, {"gamma": 4}) == []  # its own default
    assert changed("draft", {"gamma": 8}, {}) == ["gamma 4"]
    assert changed("draft", {}, {"max_new_tokens": 9, "eagle_top_k": 9, "epsilon": 0.5}) == []
    assert changed("eagle", {}, {"eagle_total_tokens": 9}) == ["nodes 9"]


def test_cuts_act_only_when_sampling() -> None:
    assert changed("ar", {}, {"top_p": 0.9, "top_k": 40, "min_p": 0.05}) == []
    assert changed("ar", {"top_p": 0.9}, HOT) == ["temp 0.80", "top-p 0.90"]
    assert changed("ar", HOT, {**HOT, "top_k": 40}) == ["top-k 40"]
    assert changed("ar", HOT, {**HOT, "top_p": 1.0}) == ["top-p 1.00"]
    assert changed("ar", HOT, {"top_p": 0.9}) == ["temp 0.00"]


def test_a_static_tree_has_its_own_nodes() -> None:
    nodes = with_settings(Params(), {"eagle_total_tokens": 9})
    for tree, words in (("dynamic", ["nodes 9"]), ("wide", [])):
        state = LaneState(lane("eagle", gamma=8), True, tree=tree)
        assert changes(state, Params(), nodes) == words


def test_the_rule_of_acceptance_is_medusas() -> None:
    typical = {**HOT, "acceptance": "typical"}
    assert changed("draft", HOT, typical) == []
    assert changed("medusa", HOT, typical) == ["typical"]
    assert changed("medusa", typical, HOT) == ["exact"]
    assert changed("medusa", {}, {"acceptance": "typical"}) == []  # greedy: they are the same
    assert changed("medusa", typical, {**typical, "epsilon": 0.2}) == ["eps 0.20"]
    assert changed("medusa", HOT, {**HOT, "epsilon": 0.2}) == []


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_a_title_says_which_settings_its_speed_belongs_to(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size, scoreboard=True) as stage:
        await stage.begin()
        for name in ("ar", "draft"):
            await stage.tell(prefilled(name, "A"), stepped(name, [], [], "b", params=Params()))
        await stage.press("tab", "2")
        stage.app.change_params({"gamma": 8})  # it acts from the next round on
        assert "2 Draft model γ8" in stage.text and "next γ" not in stage.text
        stage.app.change_params({"gamma": None})
        await stage.finish()
        stage.app.change_params({"gamma": 8})
        assert stage.text.count("next γ8") == 1  # the autoregressive lane has no gamma
        assert "Draft model γ8" not in stage.text
        assert "2 Draft model γ4 ✓ next γ8" in stage.text  # rather than who was first
        if size[0] == 100:
            assert "Scoreboard · with the settings before the change" in stage.text
        stage.app.change_params({"temperature": 0.8})
        assert "next γ8…" in stage.text
        stage.app.change_params({"gamma": None, "temperature": 0.0})
        assert "next γ" not in stage.text and "settings before" not in stage.text
        await stage.begin("Again", 1)
        stage.app.change_params({"gamma": 8})
        assert "next γ" not in stage.text


def test_a_narrow_title_keeps_what_fits() -> None:
    """What has no room does not take along what has."""
    state = AppState(Params())
    state.set_lanes((lane("ar"), lane("draft", gamma=4, title="Draft model")))
    draft = state.lanes["draft"]
    for each in state.lanes.values():
        each.metrics, each.phase = metrics(), Phase.DONE  # 19.8 tok/s 1.77×
    draft.round_events = [stepped("draft", [], [], "b", params=Params())]
    state.params = with_settings(Params(), {"temperature": 1.1, "gamma": 8})

    def title(room: int) -> str:
        left, _ = fitting(*lane_title(state, 2, draft), room)
        return " ".join(part.text for part in left)

    assert title(60) == "2 Draft model γ4 ✓ next γ8… 2nd"
    assert title(48) == "2 Draft model γ4 ✓ next γ8…"
    assert title(43) == "2 Draft model γ4 ✓ 2nd"
    assert title(40) == "2 Draft model γ4 ✓"
    state.params = with_settings(Params(), {"temperature": 1.1})
    assert title(49) == "2 Draft model γ4 ✓ next T1.1"
    assert title(48) == "2 Draft model ✓ next T1.1"


async def test_a_changed_setting_is_marked_in_the_text_but_not_in_the_answer(play: Play) -> None:
    warm = with_settings(Params(), {"temperature": 0.8})
    async with play() as stage:
        await stage.begin()
        await stage.tell(
            prefilled("draft", "The"),
            stepped("draft", [" sky"], [], " is", params=Params()),
            stepped("draft", [" so"], [], " blue", params=warm, index=1),
            stepped("draft", [], [], ".", params=warm, index=2),
        )
        assert stage.lines(2)[1].replace("\u00a0", " ") == "The sky is ⟨temp 0.80⟩ so blue."
        assert stage.view(2).answer == "The sky is so blue."
        tree = replace(stepped("draft", [], [], "!", index=3), tree="wide")
        await stage.tell(tree)
        assert stage.lines(2)[1].replace("\u00a0", " ").endswith(". ⟨tree wide⟩!")
        await stage.press("tab", "c", "c")
        assert stage.lines(2)[1] == "The sky is so blue.!"


async def test_rounds_of_one_batch_are_marked_where_settings_differ(play: Play) -> None:
    """As in a conversation that was kept."""
    warm = with_settings(Params(), {"temperature": 0.8})
    rounds = [
        stepped("draft", [" a"], [], " b", params=Params()),
        stepped("draft", [" c"], [], " d", params=warm, index=1),
        stepped("draft", [" e"], [], " f", params=warm, index=2),
    ]
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"))
        for each in rounds:
            stage.app.state.apply(each)
        stage.app.main.grid.add_rounds(stage.app.state.lanes["draft"], 3)
        text = stage.lines(2)[1].replace("\u00a0", " ")
        assert text == "The a b ⟨temp 0.80⟩ c d e f"
