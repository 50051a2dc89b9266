"""Sliders by keys and by mouse; what they change reaches the engine."""

from __future__ import annotations

import pytest
from scripted import lane
from stage import Play, Stage
from textual import events

from app.tui.widgets.slider import LABEL_CELLS, Scale, Slider
from decoding.params import Params

GAMMA = Scale(0, 16, 1, None, unset="each")
TOP_P = Scale(0.05, 1.0, 0.05, 1.0, decimals=2)


def test_the_place_before_the_first_is_none() -> None:
    assert [GAMMA.value(p) for p in (-3, 0, 1, 2, 17, 99)] == [None, None, 0, 1, 16, 16]
    assert [GAMMA.position(v) for v in (None, 0, 16, 40)] == [0, 1, 17, 17]
    assert GAMMA.text(None) == "each"


def test_every_place_of_a_broken_scale_is_a_round_number() -> None:
    values = [TOP_P.value(p) for p in range(TOP_P.last + 1)]
    assert values == [round(0.05 * n, 2) for n in range(1, 21)]
    assert [TOP_P.position(v) for v in values] == list(range(TOP_P.last + 1))


def last_params(stage: Stage) -> Params:
    return stage.engine.asked("set_params")[-1][0]


@pytest.mark.asyncio
async def test_keys_move_the_slider_and_the_engine_hears(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "g", "right", "right")
        assert last_params(stage).gamma == 1
        await stage.press("shift+right")
        assert last_params(stage).gamma == 11
        await stage.press("end")
        assert last_params(stage).gamma == 16
        await stage.press("backspace")
        assert last_params(stage).gamma is None
        assert "each" in stage.text
        await stage.press("escape", "t", "right")
        assert last_params(stage).sampling.temperature == 0.05
        await stage.press("p", "left")
        assert last_params(stage).sampling.top_p == 0.95
        assert last_params(stage).max_new_tokens == Params().max_new_tokens


@pytest.mark.asyncio
async def test_gamma_in_the_title_follows_the_slider_but_not_where_it_is_pinned(play: Play) -> None:
    lanes = (lane("draft", gamma=4), lane("draft:gamma=2", gamma=4, pins={"gamma": 2}))
    async with play(lanes=lanes, load=False) as stage:
        await stage.load(lanes)
        assert "γ4" in stage.text and "γ2" in stage.text
        await stage.press("escape", "g", "home", "shift+right")
        assert "γ9" in stage.text and "γ2" in stage.text and "γ4" not in stage.text


@pytest.mark.asyncio
async def test_mouse_click_drag_and_wheel(play: Play) -> None:
    async with play() as stage:
        slider = stage.app.main.query_one("#temperature", Slider)
        track = slider.size.width - LABEL_CELLS - 5 - 2
        last = (LABEL_CELLS + track, 0)
        await stage.pilot.click(slider, offset=last)
        await stage.pilot.pause()
        assert last_params(stage).sampling.temperature == 2.0
        await stage.pilot.mouse_down(slider, offset=last)
        await stage.pilot.hover(slider, offset=(LABEL_CELLS + 1, 0))
        await stage.pilot.pause()
        assert last_params(stage).sampling.temperature == 0.0
        await stage.pilot.mouse_up(slider, offset=(LABEL_CELLS + 1, 0))
        await stage.pilot.hover(slider, offset=last)
        await stage.pilot.pause()
        assert last_params(stage).sampling.temperature == 0.0
        await stage.pilot._post_mouse_events([events.MouseScrollUp], slider)
        await stage.pilot.pause()
        assert last_params(stage).sampling.temperature == 0.05


@pytest.mark.asyncio
async def test_a_slider_that_acts_on_nothing_is_dimmed(play: Play) -> None:
    async with play() as stage:
        gamma, top_p = (stage.app.main.query_one(f"#{n}", Slider) for n in ("gamma", "top_p"))
        assert not gamma.has_class("-idle") and top_p.has_class("-idle")
        await stage.press("escape", "2", "3", "t", "right")
        assert gamma.has_class("-idle") and not top_p.has_class("-idle")
