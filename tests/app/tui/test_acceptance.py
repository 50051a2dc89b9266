"""Exact and typical acceptance: the switch, its sliders, and LOSSY wherever figures stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.commands import SetParams, SetTree
from app.engine.events import Finished
from decoding.params import Params, SamplingParams
from tests.support.scripted import lane, metrics, prefilled, stepped
from tests.support.stage import LANES, Play, Stage

MEDUSA = lane("medusa", title="Medusa", gamma=3, trees={"default": 3, "chain": 4})
WITH_MEDUSA = (*LANES[:3], MEDUSA)
SAMPLED = Params(SamplingParams(0.8))


async def typical(stage: Stage) -> None:
    await stage.load(WITH_MEDUSA)
    await stage.press("tab", "a", "a")


async def test_the_key_switches_the_rule_there_and_back(play: Play) -> None:
    async with play(params=SAMPLED) as stage:
        await typical(stage)
        assert stage.engine.asked(SetParams)[-1] == SetParams(
            replace(SAMPLED, acceptance="typical")
        )
        assert "Medusa lanes are lossy from their next round on" in stage.text
        assert "· typical" in stage.text.splitlines()[0]
        await stage.press("a")
        assert stage.engine.asked(SetParams)[-1] == SetParams(SAMPLED)
        assert "· typical" not in stage.text


async def test_without_a_medusa_lane_there_is_nothing_to_switch(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "a")
        assert not stage.engine.asked(SetParams)
        assert "there is no Medusa lane" in stage.text


async def test_its_sliders_are_there_while_it_is_on(play: Play) -> None:
    async with play(params=SAMPLED) as stage:
        assert "eps" not in stage.text
        await typical(stage)
        assert "eps" in stage.text and "0.09" in stage.text and "0.30" in stage.text
        stage.app.screen.query_one("#epsilon").focus()
        await stage.press("right", "tab", "left")
        params = stage.engine.asked(SetParams)[-1].params
        assert (params.epsilon, params.delta) == (0.10, 0.25)
        await stage.press("i", "tab", "4", "o")  # the Medusa lane is off
        assert "eps" not in stage.text and "· typical" not in stage.text
        await stage.press("o", "a", "a")
        assert "eps" not in stage.text


async def test_at_temperature_0_typical_acceptance_is_exact_and_sliders_idle(play: Play) -> None:
    async with play() as stage:
        await typical(stage)
        assert "exact at temperature 0" in stage.text
        slider = stage.app.screen.query_one("#delta")
        assert slider.has_class("-idle") and "plain greedy" in str(slider.tooltip)
        await stage.press("t", "right")
        assert not slider.has_class("-idle")


@pytest.mark.parametrize("size", [(100, 30), (60, 24), (80, 24)])
async def test_lossy_stands_beside_every_figure(play: Play, size: tuple[int, int]) -> None:
    event = stepped("medusa", [" sky"], [" was"], " is")
    event = replace(event, round=replace(event.round, lossy=True))
    async with play(size, params=SAMPLED) as stage:
        await typical(stage)
        await stage.begin("Hello", 0, "ar", "draft", "lookup", "medusa")
        await stage.to_lane(4)
        await stage.tell(prefilled("medusa", "The"), prefilled("draft", "The"), event)
        exact = stepped("medusa", [" sky"], [" was"], " is")
        await stage.tell(exact, stepped("draft", [" sky"], [" was"], " is"))
        await stage.tell(Finished("medusa", "stop", None, metrics(), matches_ar=True))
        lines = stage.text.splitlines()
        top = next(line for line in lines if "4 Medusa" in line and "tok/s" in line)
        assert "LOSSY" in top and stage.text.count("LOSSY") == 2  # and in the edge below
        assert "≡AR" not in stage.text
        await stage.press("left_square_bracket")
        assert stage.text.count("LOSSY") == (2 if size[0] >= 80 else 0)  # this round was exact
        await stage.press("left_square_bracket")
        assert stage.text.count("LOSSY") == (3 if size[0] >= 80 else 1)
        await stage.begin("Hello", 0, "medusa")
        assert "LOSSY" not in stage.text


async def test_the_palette_changes_medusas_tree(play: Play) -> None:
    async with play() as stage:
        await stage.load(WITH_MEDUSA)
        assert "4 Medusa γ3" in stage.text
        await stage.press("ctrl+p")
        await stage.find("tree: chain")
        assert "The same shape in every round, 4 tokens deep" in stage.text
        await stage.press("enter")
        assert stage.engine.asked(SetTree) == [SetTree("medusa", "chain")]
        assert "4 Medusa γ4 chain" in stage.text and "from the next round on" in stage.text
        stage.app.action_tree("medusa", "default")
        await stage.pilot.pause()
        assert "4 Medusa γ3 ─" in stage.text


async def test_medusa_has_no_more_gamma_than_heads(play: Play) -> None:
    async with play(params=Params(gamma=8)) as stage:
        await stage.load(WITH_MEDUSA)
        assert "2 Draft model γ8" in stage.text and "4 Medusa γ3" in stage.text
        await stage.press("tab", "g", "home", "right", "right", "right", "right")
        assert "2 Draft model γ2" in stage.text and "4 Medusa γ2" in stage.text


async def test_eagles_tree_has_sliders_while_its_lane_leads(play: Play) -> None:
    eagle = lane("eagle", title="EAGLE-3", gamma=8, trees={"default": 8, "chain": 8})
    async with play((100, 30)) as stage:
        await stage.load((*LANES[:2], eagle))
        assert "nodes" not in stage.text
        await stage.press("tab", "tab", "tab", "tab")
        assert "nodes" in stage.text and "branch" in stage.text
        stage.app.main.action_slider("eagle_total_tokens")
        await stage.press("right", "right")
        assert stage.engine.asked(SetParams)[-1].params.eagle_total_tokens == 3
        stage.app.action_tree("eagle", "chain")
        await stage.pilot.pause()
        slider = stage.app.main.query_one("#eagle_top_k")
        assert "static tree" in str(slider.tooltip)
