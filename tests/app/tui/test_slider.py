"""Sliders by keys and by mouse; what they change reaches the engine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events

from app.engine.commands import SetOverrides, SetParams, Stop
from app.engine.events import Finished
from app.strategies.settings import SETTINGS
from app.tui.state.scale import Scale, evenly
from app.tui.state.sliders import SLIDERS, token_stops
from app.tui.widgets.slider import LABEL_CELLS, Slider
from app.tui.widgets.sliders_panel import SlidersPanel
from decoding.params import Params, SamplingParams, flat
from tests.support.scripted import lane, stepped
from tests.support.stage import LANES, Play, Stage

GAMMA = Scale((None, "auto", *range(17)), {None: "each"})
TOP_P = Scale(evenly(0.05, 1.0, 0.05), decimals=2)


def test_words_stand_before_the_numbers() -> None:
    assert [GAMMA.value(p) for p in (-3, 0, 1, 2, 18, 99)] == [None, None, "auto", 0, 16, 16]
    assert [GAMMA.position(v) for v in (None, "auto", 0, 16, 40)] == [0, 1, 2, 18, 18]
    assert [GAMMA.text(v) for v in (None, "auto", 7)] == ["each", "auto", "7"]


def test_every_stop_of_a_decimal_scale_is_a_round_number() -> None:
    values = [TOP_P.value(p) for p in range(TOP_P.last + 1)]
    assert values == [round(0.05 * n, 2) for n in range(1, 21)]
    assert [TOP_P.position(v) for v in values] == list(range(TOP_P.last + 1))


@pytest.mark.parametrize(
    ("value", "moves"),
    [
        (0.333, {1: 0.35, 2: 0.4, -1: 0.3, -2: 0.25, 10: 0.8, 99: 1.0, -99: 0.05}),
        (0.35, {1: 0.4, -1: 0.3}),
        (0.01, {-1: 0.01, 1: 0.05}),
    ],
)
def test_a_value_between_two_stops_steps_to_the_next(value: float, moves: dict[int, float]) -> None:
    assert {step: TOP_P.beside(value, step) for step in moves} == moves


def test_a_value_beyond_the_end_is_not_pulled_back_by_stepping_on() -> None:
    assert [GAMMA.beside(40, step) for step in (1, -1, -2)] == [40, 16, 15]
    assert GAMMA.beside(0, -1) == "auto" and GAMMA.beside("auto", -1) is None


def test_a_value_between_two_stops_is_shown_in_full() -> None:
    assert TOP_P.text(0.333) == "0.333" and TOP_P.text(0.3) == "0.30"
    assert TOP_P.position(0.333) == TOP_P.position(0.35)


@pytest.mark.parametrize("context", [10, 100, 2048, 40960])
def test_the_longest_answer_is_as_long_as_the_context(context: int) -> None:
    places = token_stops(context)
    assert places[-1] == context and list(places) == sorted(set(places))
    assert len(places) < 30


def test_every_setting_that_has_a_slider_is_one() -> None:
    defaults = flat(Params())
    assert all(spec.scale.value(spec.scale.position(defaults[spec.name])) == defaults[spec.name]
               for spec in SLIDERS)  # fmt: skip


def last_params(stage: Stage) -> Params:
    return stage.engine.asked(SetParams)[-1].params


async def test_keys_move_the_slider_and_the_engine_hears(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "g", "right")
        assert last_params(stage).gamma == "auto"
        await stage.press("right", "right")
        assert last_params(stage).gamma == 1
        await stage.press("up", "up", "down")  # as the arrows of other sliders
        assert last_params(stage).gamma == 2
        await stage.press("left", "shift+right")
        assert last_params(stage).gamma == 11
        await stage.press("end")
        assert last_params(stage).gamma == SETTINGS["gamma"].bounds.most == 64
        await stage.press("backspace")
        assert last_params(stage).gamma is None
        assert "each" in stage.text
        await stage.press("tab", "t", "right")
        assert last_params(stage).sampling.temperature == 0.05
        await stage.press("p", "left")
        assert last_params(stage).sampling.top_p == 0.95
        assert last_params(stage).max_new_tokens == Params().max_new_tokens


async def test_a_setting_of_a_lane_that_is_gone_is_dropped(play: Play) -> None:
    async with play() as stage:
        changed = SlidersPanel.Changed({"gamma": 3}, "removed", step=False)
        stage.app.main.query_one(SlidersPanel).post_message(changed)
        await stage.tell()
        assert not stage.engine.asked(SetOverrides) and not stage.engine.asked(SetParams)


async def test_escape_goes_back_to_the_lanes(play: Play) -> None:
    """And only there digits are lanes again; a run is stopped first."""
    async with play() as stage:
        await stage.press("escape", "g", "4", "escape")
        assert isinstance(stage.app.focused, Slider) and "Esc Lanes" in stage.text
        await stage.press("escape")
        assert stage.view(1).has_focus and "Digits set it" not in stage.text
        await stage.press("2")
        assert stage.view(2).has_focus and not stage.engine.asked(SetParams)
        await stage.begin()
        await stage.press("g", "escape")
        assert stage.engine.asked(Stop) and isinstance(stage.app.focused, Slider)


async def test_the_tip_does_not_cover_what_the_mouse_does(play: Play) -> None:
    async with play() as stage:
        slider = stage.app.main.query_one("#temperature", Slider)
        assert slider.tooltip
        await stage.pilot.hover(slider)
        await stage.pilot.click(slider, offset=(LABEL_CELLS + 4, 0))
        await stage.tell()
        assert slider.tooltip is None and last_params(stage).sampling.temperature > 0
        await stage.pilot.hover(stage.view(1))
        await stage.tell()
        assert "0 is greedy" in str(slider.tooltip)


async def test_gamma_in_the_title_follows_the_slider_unless_overridden(play: Play) -> None:
    lanes = (lane("draft", gamma=4), lane("draft:gamma=2", gamma=4, overrides={"gamma": 2}))
    async with play(lanes=lanes, load=False) as stage:
        await stage.load(lanes)
        assert "γ4" in stage.text and "γ2" in stage.text
        await stage.press("tab", "g", "home", "shift+right")
        assert "γ8" in stage.text and "γ2" in stage.text and "γ4" not in stage.text


async def test_a_gamma_that_is_chosen_round_by_round_shows_the_newest_one(play: Play) -> None:
    lanes = (lane("draft", gamma=4, overrides={"gamma": "auto"}),)
    async with play(lanes=lanes, load=False, params=Params(gamma="auto")) as stage:
        await stage.load(lanes)
        assert "γauto" in stage.text
        await stage.begin("Hello", 0, "draft")
        steps = [stepped("draft", ["sky"] * drafts, [], "is") for drafts in (5, 5, 3)]
        # At most so many: the draft model ends its drafts where going on does not pay.
        await stage.tell(*(replace(s, round=replace(s.round, gamma=16)) for s in steps))
        assert "γa3" in stage.text and "γauto" not in stage.text
        await stage.tell(Finished("draft", "length"))  # its last round may have had no room
        assert "γa5" in stage.text


async def test_an_automatic_gamma_says_when_it_drafts_nothing_and_ends_with_the_heads(
    play: Play,
) -> None:
    lanes = (lane("medusa", gamma=4, trees={"default": 4}),)
    async with play(lanes=lanes, load=False, params=Params(gamma="auto")) as stage:
        await stage.load(lanes)
        await stage.begin("Hello", 0, "medusa")
        deep, none = stepped("medusa", ["sky"] * 6, [], "is"), stepped("medusa", [], [], "is")
        none = replace(none, round=replace(none.round, gamma=0))
        await stage.tell(deep)
        assert "γa4" in stage.text  # it has four heads
        await stage.tell(none, none)
        assert "γa off" in stage.text
        await stage.tell(Finished("medusa", "length"))
        assert "γa off" in stage.text


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


async def test_a_slider_that_acts_on_nothing_is_dimmed(play: Play) -> None:
    async with play() as stage:
        gamma, top_p = (stage.app.main.query_one(f"#{n}", Slider) for n in ("gamma", "top_p"))
        assert not gamma.has_class("-idle") and top_p.has_class("-idle")
        await stage.press("tab", "2", "o", "3", "o", "t", "right")
        assert gamma.has_class("-idle") and not top_p.has_class("-idle")
        assert "no lane that is on" in str(gamma.tooltip)


async def test_a_slider_is_dimmed_where_every_lane_has_a_value_of_its_own(play: Play) -> None:
    lanes = (lane("ar"), lane("draft:gamma=2", gamma=4, overrides={"gamma": 2}))
    async with play(lanes=lanes, load=False) as stage:
        await stage.load(lanes)
        gamma = stage.app.main.query_one("#gamma", Slider)
        assert gamma.has_class("-idle") and "has its own value" in str(gamma.tooltip)


async def test_top_k_and_the_longest_answer(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "k", "right", "right", "right")
        assert last_params(stage).sampling.top_k == 5
        await stage.press("b", "right")
        assert last_params(stage).max_new_tokens == 384
        await stage.press("end")
        assert last_params(stage).max_new_tokens == 2048  # all of the context
        assert "2048" in stage.text


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_a_value_that_was_given_stays_until_it_is_moved(
    play: Play, size: tuple[int, int]
) -> None:
    given = Params(SamplingParams(0.333, 30, 0.975, 0.07), max_new_tokens=100, gamma=40)
    async with play(size, params=given) as stage:
        for name, text in (("temperature", "0.333"), ("gamma", "40"), ("max_new_tokens", "100")):
            stage.app.main.action_slider(name)
            await stage.pilot.pause()
            assert text in stage.text
        assert not stage.engine.asked(SetParams)
        await stage.press("left")
        assert last_params(stage) == replace(given, max_new_tokens=96)


@pytest.mark.parametrize(("size", "rows"), [((100, 30), 2), ((60, 24), 2), ((40, 12), 1)])
async def test_sliders_without_room_come_with_the_focus(
    play: Play, size: tuple[int, int], rows: int
) -> None:
    async with play(size) as stage:
        controls = stage.app.main.query_one("#controls")
        assert controls.size.height == rows
        for key, label in (("b", "tokens"), ("g", "gamma"), ("k", "top-k")):
            await stage.press("escape", key)
            assert any(label in line and "●" in line for line in stage.text.splitlines())
        await stage.resize(60, 12)
        assert "top-k" in stage.text


async def test_a_click_on_the_word_gives_the_focus_and_on_the_number_begins_one(play: Play) -> None:
    async with play() as stage:
        slider = stage.app.main.query_one("#max_new_tokens", Slider)
        await stage.pilot.click(slider, offset=(1, 0))
        await stage.pilot.pause()
        assert stage.app.focused is slider and not stage.engine.asked(SetParams)
        await stage.pilot.click(slider, offset=(slider.size.width - 2, 0))
        await stage.pilot.pause()
        assert not stage.engine.asked(SetParams)
        await stage.press("7", "7", "0", "backspace", "enter")
        assert last_params(stage).max_new_tokens == 77
        await stage.press("9", "escape")
        assert last_params(stage).max_new_tokens == 77 and "77" in slider.render().plain


@pytest.mark.parametrize(
    ("key", "typed", "why"),
    [
        ("b", "0.8", "tokens takes whole numbers from 16 to 2048, not 0.8"),
        ("b", "20.5", "tokens takes whole numbers from 16 to 2048, not 20.5"),
        ("t", "9", "temp takes numbers from 0.00 to 2.00, not 9"),
        ("t", ".", "temp takes numbers from 0.00 to 2.00, not ."),
    ],
)
@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_a_number_outside_the_scale_is_refused_and_can_be_corrected(
    play: Play, key: str, typed: str, why: str, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.press("escape", key, *typed, "enter")
        assert why in stage.text and not stage.engine.asked(SetParams)
        await stage.press(*["backspace"] * len(typed), *"100"[: 3 if key == "b" else 1], "enter")
        assert why not in stage.text
        params = last_params(stage)
        assert params.max_new_tokens == 100 or params.sampling.temperature == 1.0


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_a_letter_in_a_number_is_refused(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.press("escape", "t", "1", "v", "space")
        assert stage.app.main.open is None and "1▏" in stage.text
        await stage.press("v")
        assert "“v” is not a digit: Enter sets the number, Esc cancels" in stage.text
        await stage.press("enter")
        assert last_params(stage).sampling.temperature == 1.0


async def test_a_number_below_0_is_typed_where_there_are_some(play: Play) -> None:
    async with play(params=Params(SamplingParams(presence_penalty=0.5))) as stage:
        stage.app.main.action_slider("presence_penalty")
        await stage.press("minus", *"1.5", "enter")
        assert last_params(stage).sampling.presence_penalty == -1.5
        await stage.press("t", "minus", "1", "enter")
        assert "temp takes numbers from 0.00 to 2.00, not -1" in stage.text
        assert last_params(stage).sampling.temperature == 0.0


async def test_a_refused_number_is_typed_over(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "g", "9", "9", "enter")
        assert "not 99" in stage.text
        await stage.press("minus", "1", "enter")
        assert "not -1" in stage.text
        await stage.press("5", "enter")
        assert last_params(stage).gamma == 5


async def test_a_refused_number_is_no_part_of_the_question(play: Play) -> None:
    async with play() as stage:
        await stage.pilot.click("#gamma", offset=(0, 0))
        await stage.press("9", "9", "enter")
        assert "not 99" in stage.text
        await stage.type("Hi")
        assert stage.app.main.prompt.text == "Hi"


async def test_a_setting_without_effect_says_so_when_it_is_changed(play: Play) -> None:
    async with play() as stage:
        slider = stage.app.main.query_one("#min_p", Slider)
        await stage.pilot.click(slider, offset=(slider.size.width // 2, 0))
        assert "min-p has no effect now: it acts only above temperature 0" in stage.text
        await stage.pilot.click("#temperature", offset=(slider.size.width // 2, 0))
        assert "no effect" not in stage.text
        await stage.press("escape", "t")
        assert "Digits set it; letters are commands: i writes" in stage.text


async def test_the_key_bar_has_the_keys_of_a_slider(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "t")
        assert "← Less  → More" in stage.text and "Backspace Default" in stage.text


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_leaving_a_slider_sets_the_number_and_escape_drops_it(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.press("escape", "t", "1", "tab")
        assert last_params(stage).sampling.temperature == 1.0
        await stage.press("t", "2", "escape", "tab")
        assert last_params(stage).sampling.temperature == 1.0
        await stage.press("p", "0", "comma", "5", "tab")
        assert last_params(stage).sampling.top_p == 0.5
        await stage.press("t", "9", "tab")
        assert "temp takes numbers from 0.00 to 2.00, not 9: 1.00 stays" in " ".join(
            stage.text.split()
        )
        await stage.press("g", "5")
        await stage.pilot.click("#prompt")
        assert last_params(stage).gamma == 5
        await stage.press("escape", "g", "7", "left")  # a step from there
        assert last_params(stage).gamma == 6


async def test_an_undo_takes_back_a_number_that_is_being_typed_before_a_change(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "t", "1", "tab")
        before = last_params(stage)
        await stage.press("g", "5", "ctrl+z", "tab")
        assert last_params(stage) == before and before.sampling.temperature == 1.0
        await stage.press("ctrl+z")
        assert last_params(stage).sampling.temperature == 0.0


async def test_a_number_goes_to_the_lane_whose_slider_it_was_typed_on(play: Play) -> None:
    own = (LANES[0], lane("draft", title="Draft model", gamma=4, overrides={"gamma": 2}))
    async with play(lanes=own, load=False) as stage:
        await stage.load(own)
        await stage.to_lane(2)
        await stage.press("g", "3")
        await stage.pilot.click(stage.view(1))
        assert stage.engine.asked(SetOverrides)[-1] == SetOverrides("draft", {"gamma": 3})


async def test_a_number_that_is_typed_waits_while_another_window_is_looked_at(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "b", "7")
        stage.app.post_message(events.AppBlur())
        await stage.pilot.pause()
        stage.app.post_message(events.AppFocus())
        await stage.pilot.pause()
        assert not stage.engine.asked(SetParams)
        await stage.press("7", "enter")
        assert last_params(stage).max_new_tokens == 77


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_the_key_bar_says_how_a_typed_number_ends(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.begin()
        await stage.finish()
        await stage.press("escape", "g", "5")
        bar = stage.text.splitlines()[-1]
        assert bar.startswith(" Enter Set  Esc Drop  Backspace Erase")
        assert "Write" not in bar and "Slow motion" not in bar and "Tree" not in bar
        await stage.press("backspace", "3", "enter")
        bar = stage.text.splitlines()[-1]
        assert last_params(stage).gamma == 3 and "Drop" not in bar and "i Write" in bar


async def test_delete_on_a_slider_is_its_default_and_no_end_of_a_lane(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "g", "end", "delete")
        assert stage.engine.asked(SetParams)[-1].params.gamma is None
        await stage.press("4", "delete", "2", "enter")  # of what is typed it leaves nothing
        assert stage.engine.asked(SetParams)[-1].params.gamma == 2
        assert len(stage.app.state.lanes) == len(LANES)
