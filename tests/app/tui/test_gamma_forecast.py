"""The row that says what another gamma would give the lane in focus."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.commands import SetOverrides, SetParams
from app.engine.events import Finished, Loaded, RoundFinished, RunFinished
from app.engine.metrics import metrics_of
from app.report.spread import Spread
from app.report.verdict import LaneScore, Suggestion
from app.tui.format.bars import HEIGHTS, speed_columns
from app.tui.state.app_state import AppState
from app.tui.widgets.gamma_forecast import GammaForecast, forecast_for_lane, forecast_line
from app.tui.widgets.scoreboard import suggestion
from decoding.cost.forecast import MIN_ROUNDS, Forecast
from decoding.params import Params
from decoding.stats import Stats
from tests.support.scripted import lane, metrics, prefilled, stepped
from tests.support.simulated import Machine, slower
from tests.support.stage import LANES, Play, Stage

PAYING = Machine((0.8,), level=0.2, node=0.02)
DEAR = Machine((0.5,), level=0.9)
COSTS = ((1, 1.0), (64, 1.0 + 63 * PAYING.node))


def steps(
    machine: Machine, gamma: int, count: int, name: str = "draft", *, busy: float = 1.0,
    alone: float | None = None, params: Params | None = None,
) -> list[RoundFinished]:  # fmt: skip
    """Rounds `busy` times as long as the machine's, and the figures that follow from them."""
    machine = machine.anew()
    rounds = [slower(machine.round(gamma), busy) for _ in range(count)]
    now = metrics_of(Stats.of(rounds), 60, count, alone)
    made = stepped(name, ["a"], [], "b", now, params=params)
    return [replace(made, round=each) for each in rounds]


async def load(stage: Stage) -> None:
    await stage.tell(Loaded(*("demo", "cpu", "float32", 2, 2048, LANES), pass_costs=COSTS))


def row(stage: Stage) -> str:
    return next((text for text in stage.text.splitlines() if "what if" in text), "")


def test_the_curve_stands_on_half_of_the_highest() -> None:
    assert speed_columns((50.0, 75.0, 100.0)) == "▁▅█"
    assert speed_columns((0.0, 50.0, 100.0)) == "▁▅█"
    assert speed_columns((98.0, 100.0, 99.0)) == "███"
    assert speed_columns((70.0,)) == "█"


@pytest.mark.parametrize(("strategy", "counts"), [("ar", True), ("draft-only", False)])
def test_the_forecast_uses_only_passes_of_the_same_target(strategy: str, counts: bool) -> None:
    state = AppState(Params())
    state.set_lanes((lane("draft", gamma=4), lane(strategy)))
    state.lanes["draft"].round_events = steps(PAYING, 4, 40)
    alone = forecast_for_lane(state, state.lanes["draft"])
    quick = replace(PAYING.round(0), verify_seconds=0.01, total_seconds=0.02)
    made = [replace(step, round=quick) for step in steps(PAYING, 0, 40, strategy)]
    state.lanes[strategy].round_events = made
    found = forecast_for_lane(state, state.lanes["draft"])
    assert alone and found and (found.speeds != alone.speeds) is counts


def test_the_forecast_names_best_gamma_current_gamma_and_break_even() -> None:
    found = Forecast((100.0, 150.0, 200.0, 190.0), 3, 0.377, 3)
    told = forecast_line(found, 0.86, 98)
    assert told.plain == (
        "what if γ 0▁▅█▇3 best γ2 ≈ 200 tok/s · now γ3 190 · pays from α 38% (here 86%)"
    )
    inks = {str(span.style): told.plain[span.start : span.end] for span in told.spans}
    assert inks["$warning"] == "now γ3 190" and inks["$accepted"] == "█"
    assert forecast_line(found, 0.86, 50).plain == "0▁▅█▇3 best γ2 ≈ 200 tok/s · now γ3 190"
    never = Forecast((100.0, 60.0, 40.0), 2, None, 2)
    told = forecast_line(never, None, 98)
    assert told.plain.startswith("what if γ 0█▃▁2 drafting does not pay here: γ0 ≈ 100 tok/s · ")
    assert told.plain.endswith("now γ2 40 · would not pay at any α")
    off = Forecast((100.0, 150.0), 0, 0.0, 1)
    assert forecast_line(off, None, 98).plain == "what if γ 0▃█1 best γ1 ≈ 150 tok/s · now γ0 100"


def test_it_says_up_to_which_gamma_the_best_one_is_known() -> None:
    """The best need not have been tried: longer drafts tell of shorter ones."""
    found = Forecast((100.0, 190.0, 170.0, 150.0, 140.0), 2, 0.377, 2)
    told = forecast_line(found, None, 98).plain
    assert "4 best up to γ2: γ1 ≈ 190 tok/s · now γ2 170" in told
    assert "best γ1 ≈ 190 tok/s" in forecast_line(found, None, 50).plain
    told = forecast_line(replace(found, gamma=1), None, 98).plain
    assert "now γ1 190 tok/s, the best up to γ2 · pays" in told
    assert "now γ1 190 tok/s, best" in forecast_line(replace(found, gamma=1), None, 30).plain


def test_beyond_what_was_seen_it_is_called_a_guess() -> None:
    found = Forecast((100.0, 150.0, 170.0, 190.0, 180.0), 4, 0.377, 2)
    told = forecast_line(found, 0.86, 98)
    assert "▁▅▇█▇4 γ2 ≈ 170 tok/s · now γ4? 180 · γ3? 190 is a guess · pays" in told.plain
    bold = [told.plain[s.start : s.end] for s in told.spans if "bold" in str(s.style)]
    assert bold == [" γ2 ≈ 170 tok/s"]  # nothing that was never tried
    dim = forecast_line(replace(found, gamma=1), None, 98)
    assert "now γ1 150" in dim.plain and "$quiet" in {str(span.style) for span in dim.spans}
    certain = forecast_line(replace(found, seen=4), None, 98)
    assert "?" not in certain.plain and "guess" not in certain.plain


def test_no_number_is_cut_where_the_line_is_narrow() -> None:
    found = Forecast((100.0, 150.0, 170.0, 190.0, 180.0), 1, 0.377, 4)
    whole = forecast_line(found, None, 60, 4).plain
    assert whole.endswith("best γ3 ≈ 190 tok/s · now γ1 150")
    assert forecast_line(found, None, len(whole) - 1, 4).plain.endswith("best γ3 ≈ 190 tok/s")


def test_what_busy_passes_say_has_a_question_mark_and_is_not_suggested() -> None:
    sure = Forecast((20.0, 60.0, 30.0), 2, 0.377, 2, (0.0, 1.0, 2.0))
    doubtful = replace(sure, doubtful=True)
    assert "best γ1 ≈ 60±2 tok/s · now γ2 30" in forecast_line(sure, None, 98).plain
    assert "best γ1 ≈ 60? tok/s · now γ2 30" in forecast_line(doubtful, None, 98).plain
    score = LaneScore(number=2, title="Draft model", speed=Spread(30.0, 30.0, 30.0))
    assert suggestion(sure, score) == Suggestion(1, 60.0, 2.0)
    assert suggestion(doubtful, score) is None
    plain = replace(doubtful, speeds=(70.0, 60.0, 30.0))  # γ 0 was measured
    assert suggestion(plain, score) == Suggestion(0, 70.0)


@pytest.mark.parametrize("width", [58, 78, 98])
@pytest.mark.parametrize("gamma", [16, 24, 32, 64])
def test_a_long_curve_has_columns_of_several_gammas(gamma: int, width: int) -> None:
    speeds = tuple(100.0 + each for each in range(gamma + 1))
    told = forecast_line(Forecast(speeds, gamma, 0.5, gamma), 0.86, width)
    assert told.cell_length <= width
    assert f"now γ{gamma} {100 + gamma} tok/s, the best" in told.plain
    blocks = [char for char in told.plain if char in HEIGHTS]
    assert len(blocks) <= 17 and blocks[-1] == "█"


async def test_it_comes_with_enough_rounds_and_stays(play: Play) -> None:
    async with play(load=False, params=Params(gamma=2)) as stage:
        await load(stage)
        await stage.press("tab", "tab")
        await stage.begin()
        few, more = steps(PAYING, 2, MIN_ROUNDS - 1), steps(PAYING, 2, 400)
        await stage.tell(prefilled("draft", "The"), *few)
        assert not row(stage)
        await stage.tell(*more)
        assert "now γ2 1.7±" in row(stage) and "tok/s, the best up to γ2" in row(stage)
        assert "? 1.8 is a guess" in row(stage)
        await stage.press("tab")
        assert "estimated after 8 drafts, 0 so far" in row(stage)  # of the next lane
        await stage.press("shift+tab", "shift+tab")
        assert "2: what if γ" in row(stage)  # the last one shown, as this lane does not draft


async def test_it_comes_with_the_end_of_a_run_and_not_with_a_look_at_a_lane(play: Play) -> None:
    async with play(load=False, params=Params(gamma=2)) as stage:
        await load(stage)
        await stage.to_lane(1)
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), *steps(PAYING, 2, 40))
        assert not row(stage)
        await stage.finish()
        assert "2: what if γ" in row(stage)  # of the fastest lane that drafts
        before = stage.app.main.query_one("#room").region
        await stage.press("2")
        assert "now γ2" in row(stage) and stage.app.main.query_one("#room").region == before


async def test_it_is_for_the_present_gamma_but_in_slow_motion(play: Play) -> None:
    async with play(load=False, params=Params(gamma=2)) as stage:
        await load(stage)
        await stage.press("tab", "tab")
        await stage.begin()
        made = (replace(each, params=Params(gamma=2)) for each in steps(PAYING, 2, 40))
        await stage.tell(prefilled("draft", "The"), *made)
        await stage.finish()
        assert "now γ2" in row(stage)
        stage.app.change_params({"gamma": 5})
        await stage.tell()
        assert "now γ5" in row(stage)
        await stage.press("space")
        stage.clock.now += 1e6
        await stage.tell()
        assert "slow motion" in stage.text and "now γ2" in row(stage)


async def test_the_rounds_of_all_answers_with_these_settings_count(play: Play) -> None:
    async with play(load=False, params=Params(gamma=2)) as stage:
        await load(stage)
        await stage.press("tab", "tab")
        for prompt in ("One", "Two"):
            await stage.begin(prompt)
            await stage.tell(prefilled("draft", "The"), *steps(PAYING, 2, MIN_ROUNDS // 2))
            assert ("best" in row(stage)) == (prompt == "Two")
            await stage.finish()
        assert "now γ2" in row(stage)


async def test_a_lane_that_does_not_draft_shows_that_of_another_in_every_run(play: Play) -> None:
    """Of the fastest after a run, whenever its end is told, and of the same one in the next run."""
    async with play(load=False, params=Params(gamma=4)) as stage:
        await load(stage)
        await stage.press("tab")
        for prompt in ("One", "Two"):
            await stage.begin(prompt)
            await stage.tell(prefilled("ar", "The"), prefilled("draft", "The"))
            assert ("2: what if γ" in row(stage)) == (prompt == "Two")
            made = steps(PAYING, 0, 20, "ar"), steps(PAYING, 4, 20)
            await stage.tell(*made[0], *made[1])
            await stage.tell(*(Finished(each[0].lane, "stop", None, each[0].metrics)
                               for each in made))  # fmt: skip
            await stage.tell(RunFinished(0, False))
            assert "2: what if γ 0" in row(stage)
            assert stage.app.main.query_one(GammaForecast).forecast
        stage.app.state.lanes["draft"].enabled = False
        await stage.begin("Three")
        await stage.tell(prefilled("ar", "The"))
        assert "the lane in focus does not draft" in row(stage)


async def test_it_agrees_with_the_scoreboard(play: Play) -> None:
    """Also where the machine was busier before, or while the target ran alone."""
    async with play(load=False, scoreboard=True, params=Params(gamma=4)) as stage:
        await load(stage)
        await stage.press("tab", "tab")
        for prompt, busy, gamma in (("One", 0.1, 2), ("Two", 9.0, 2), ("Three", 1.0, 4)):
            used = Params(gamma=gamma)
            plain = steps(PAYING, 0, 60, "ar", busy=6.0, params=used)
            rounds = steps(PAYING, gamma, 60, busy=busy, alone=PAYING.speed(0), params=used)
            await stage.begin(prompt)
            await stage.tell(prefilled("ar", "The"), prefilled("draft", "The"), *plain, *rounds)
            await stage.tell(*(Finished(made[0].lane, "stop", None, made[0].metrics)
                               for made in (plain, rounds)), RunFinished(0, False))  # fmt: skip
        speed = rounds[0].metrics.tokens_per_second
        assert speed and speed == pytest.approx(PAYING.speed(4), rel=0.1)
        assert f"now γ4 {speed:.1f}" in row(stage)
        whatif = stage.app.main.query_one(GammaForecast).forecast
        assert whatif and whatif.speeds[0] == pytest.approx(PAYING.speed(0))
        assert "should give" not in stage.text and "does not pay" not in stage.text


async def test_it_says_plainly_that_drafting_does_not_pay(play: Play) -> None:
    async with play(load=False) as stage:
        await load(stage)
        await stage.press("tab", "tab")
        await stage.begin()
        plain = steps(DEAR, 0, 20, "ar")
        await stage.tell(prefilled("draft", "The"), *plain, *steps(DEAR, 4, 100))
        assert "drafting does not pay here: γ0 ≈ 1.0 tok/s" in row(stage)


async def test_gamma_now_is_the_setting_and_with_auto_the_usual_one(play: Play) -> None:
    lanes = (lane("draft", gamma=4, overrides={"gamma": "auto"}), lane("lookup", gamma=6))
    async with play(lanes=lanes, load=False, params=Params(gamma=2)) as stage:
        await stage.load(lanes)
        await stage.press("escape")
        await stage.begin("Hello", 0, "draft", "lookup")
        rounds = [*steps(PAYING, 5, 30), *steps(PAYING, 1, 2)]  # cut short by the answer's end
        await stage.tell(*rounds, *steps(PAYING, 3, 30, "lookup"))
        assert "now γ5 " in row(stage)
        await stage.press("tab")
        assert "now γ2 " in row(stage)


async def test_medusas_curve_ends_with_its_heads(play: Play) -> None:
    info = lane("medusa", gamma=3, trees={"default": 3})
    async with play(lanes=(info,), load=False) as stage:
        await stage.load((info,))
        await stage.press("escape")
        await stage.begin("Hello", 0, "medusa")
        await stage.tell(*steps(PAYING, 3, 30, "medusa"))
        assert sum(char in HEIGHTS for char in row(stage)) == 4


async def test_the_forecast_is_not_recomputed_without_new_rounds(play: Play) -> None:
    async with play(load=False) as stage:
        await load(stage)
        await stage.press("tab", "tab")
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), *steps(PAYING, 3, 30))
        whatif = stage.app.main.query_one(GammaForecast)
        before = whatif.forecast
        await stage.press("x", "x")
        assert whatif.forecast is before is not None
        await stage.tell(*steps(PAYING, 3, 1))
        assert whatif.forecast is not before


async def test_the_forecast_is_short_when_narrow_and_hidden_with_the_lanes(play: Play) -> None:
    async with play((60, 24), load=False, params=Params(gamma=3)) as stage:
        await load(stage)
        await stage.press("tab", "2")
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), *steps(PAYING, 3, 300))
        short = next(text for text in stage.text.splitlines() if "now γ3" in text)
        assert "what if" not in short and "tok/s" in short and "pays" not in short
        await stage.tell(Finished("draft", "stop", None, metrics()))
        await stage.press("s")
        assert "now γ3" not in stage.text


async def click(stage: Stage, gamma: int) -> None:
    """On the gamma's column, where each has one."""
    whatif = stage.app.main.query_one(GammaForecast)
    drawn = str(whatif.render())
    first = next(at for at, char in enumerate(drawn) if char in HEIGHTS)
    left = whatif.styles.padding.left
    await stage.pilot.click(whatif, offset=(left + first + gamma, 0))
    await stage.tell()


def gamma_now(stage: Stage) -> object:
    return stage.app.state.params.gamma


async def test_a_click_on_a_column_sets_that_gamma_and_can_be_undone(play: Play) -> None:
    async with play(load=False, params=Params(gamma=2)) as stage:
        await load(stage)
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), *steps(PAYING, 2, 40))
        await stage.finish()
        await click(stage, 5)
        assert stage.engine.asked(SetParams)[-1].params.gamma == 5
        assert "now γ5" in row(stage) and stage.app.main.prompt.has_focus
        await click(stage, 0)
        assert gamma_now(stage) == 0
        await stage.press("ctrl+z")
        assert gamma_now(stage) == 5  # two clicks are two changes
        whatif = stage.app.main.query_one(GammaForecast)
        left, drawn = whatif.styles.padding.left, str(whatif.render())
        await stage.pilot.click(whatif, offset=(left + drawn.index("γ2 ≈"), 0))
        await stage.tell()
        assert gamma_now(stage) == 2
        await stage.press("ctrl+z")
        assert gamma_now(stage) == 5
        await stage.press("ctrl+z")
        assert gamma_now(stage) == 2
        before = len(stage.engine.asked(SetParams))
        await stage.pilot.click(whatif, offset=(left, 0))  # no gamma
        assert len(stage.engine.asked(SetParams)) == before


async def test_a_click_sets_a_lanes_own_gamma(play: Play) -> None:
    lanes = (lane("ar"), lane("draft", gamma=4, overrides={"gamma": 2}))
    async with play(lanes=lanes, load=False) as stage:
        await stage.load(lanes)
        await stage.begin("Hello", 0, "ar", "draft")
        await stage.tell(prefilled("draft", "The"), *steps(PAYING, 2, 40))
        await stage.finish(0, "ar", "draft")
        assert "2: what if γ" in row(stage)  # with lane 1 in focus
        await click(stage, 7)
        asked = stage.engine.asked(SetOverrides)[-1]
        assert (asked.lane, asked.overrides) == ("draft", {"gamma": 7})
        assert not stage.engine.asked(SetParams) and "now γ7" in row(stage)


def test_a_column_of_several_gammas_stands_for_the_fastest() -> None:
    speeds = tuple(float(each) for each in [*range(20), *range(13, 0, -1)])  # 0 to 32
    told = forecast_line(Forecast(speeds, 2, 0.5, 32), None, 98)
    clicked = [span.style.meta.get("gamma") for span in told.spans if hasattr(span.style, "meta")]
    assert clicked[:3] == [1, 3, 5] and clicked[9:11] == [19, 20] and clicked[-2:] == [32, 19]
