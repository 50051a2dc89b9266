"""F7: the screen asks for advice, shows it, copies it, and gives the best settings to a lane."""

from __future__ import annotations

from typing import Any

import pytest
from textual.screen import Screen

from app.engine.commands import EndAdvice, Run, SetOverrides, StartAdvice, StopAdvice
from app.engine.events import Advice, LoadFailed, RunFinished
from app.models.assets import examples
from app.tui.format.advice import advice_lines
from decoding.params import Params, SamplingParams
from tests.app.report.test_advice_text import ROW, entry
from tests.support.scripted import lane
from tests.support.stage import LANES, Play, Stage

BEST = {**ROW, "strategy": "draft", "checkpoint": None, "overrides": {"gamma": 4}}
AR = {
    **ROW, "name": "ar", "acceptance_rate": None, "speedup": 1.0, "tokens_per_second": 40.0,
    "speedup_low": 1.0, "speedup_high": 1.0, "batch_speedups": {}, "matches_ar": None,
}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "best": [BEST], "measured": [BEST, AR], "screened": [BEST, AR], "unavailable": {}, "failed": {},
    "prompts": 6, "first_turns_only": False, "ended_early": False, "only_screened": False,
    "batches": {"measured": False, "method": "estimated", "limits": "leaves out much"},
    "seconds": 60.0, "device": "cpu", "dtype": "float32", "kv_cache": "none",
    "threads": 1, "settings": {"seed": 5},
    "engines": [entry(0.0, "serve --one"), {**entry(0.0, "two: 2"), "engine": "SGLang"}],
}  # fmt: skip
SIZES = [(100, 30), (60, 24)]


def words(stage: Stage) -> str:
    """What stands in the window."""
    box = stage.app.screen.query_one("#advice").content_region
    lines = stage.text.splitlines()[box.y : box.bottom]
    return " ".join(" ".join(line[box.x : box.right] for line in lines).split())


@pytest.mark.parametrize("size", SIZES)
async def test_it_asks_shows_and_gives_the_settings_to_a_lane(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.press("f7")
        (asked,) = stage.engine.asked(StartAdvice)
        assert "for about a minute" in words(stage)
        assert asked.seconds == 60.0 and asked.examples[0] == examples()[0].turns[0]
        await stage.tell(Advice("screening, prompt 1 of 4: setting 3 of 9", 0.25))
        assert "25%" in stage.text and "screening, prompt 1 of 4: setting 3 of 9" in words(stage)
        await stage.press("enter")  # there is nothing to use yet
        await stage.tell(Advice(document=DOCUMENT))
        assert "→ Use draft:gamma=4: 2.00 times as fast" in words(stage)
        bars = [line.count("█") for line in stage.text.splitlines() if "█" in line]
        assert len(bars) == 2 and bars[0] > 1.8 * bars[1]
        await stage.press("enter")
        assert "2 Draft model: gamma 4" in stage.text
        assert stage.engine.asked(SetOverrides) == [SetOverrides("draft", {"gamma": 4})]
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetOverrides)[-1] == SetOverrides("draft", {})


@pytest.mark.parametrize("size", SIZES)
async def test_it_says_how_long_it_takes_and_ends_with_what_is_known(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.press("f7")
        assert "Esc stops" in stage.text and "left" not in words(stage)
        await stage.tell(Advice("screening, prompt 1 of 4: setting 3 of 9", 0.25))
        assert "25% about 45 s left · screening, prompt 1 of 4" in words(stage)
        assert "Esc stops" in stage.text
        await stage.tell(Advice("measuring, answer 9 of at most 9: setting 1 of 4", 1.0, True))
        assert "100% soon done · measuring" in words(stage)
        assert "Esc ends with what is known" in stage.text
        await stage.press("escape")
        assert len(stage.engine.asked(EndAdvice)) == 1 and not stage.engine.asked(StopAdvice)
        assert "ending with what was measured" in words(stage)
        await stage.tell(Advice(document={**DOCUMENT, "ended_early": True}))
        assert "→ Use draft:gamma=4: 2.00 times as fast" in words(stage)
        assert "What is fastest here? (so far)" in stage.text and "Esc closes" in stage.text
        await stage.press("n")
        assert "(so far)" not in stage.text and "Esc stops" in stage.text
        await stage.tell(Advice("screening", 0.0, True))
        assert "about 3 minutes left" in words(stage)
        await stage.press("escape", "escape")  # the second does not wait for the result
        assert len(stage.engine.asked(EndAdvice)) == 2 and len(stage.engine.asked(StopAdvice)) == 1
        assert stage.app.screen is stage.app.main


async def test_a_lane_keeps_its_own_sampling(play: Play) -> None:
    own = {"gamma": 7, "temperature": 1.0}
    warm = (LANES[0], lane("draft", title="Draft model", gamma=4, overrides=own))
    async with play(lanes=warm, load=False) as stage:
        await stage.load(warm)
        await stage.press("f7")
        await stage.tell(Advice(document=DOCUMENT))
        await stage.press("enter")
        kept = {"gamma": 4, "temperature": 1.0}
        assert stage.engine.asked(SetOverrides) == [SetOverrides("draft", kept)]


async def test_settings_that_a_lane_has_already_are_no_change(play: Play) -> None:
    same = (LANES[0], lane("draft", title="Draft model", gamma=4, overrides={"gamma": 4}))
    async with play(lanes=same, load=False) as stage:
        await stage.load(same)
        await stage.press("f7")
        await stage.tell(Advice(document=DOCUMENT))
        await stage.press("enter")
        assert not stage.engine.asked(SetOverrides)
        assert "2 Draft model has these settings already: gamma 4" in stage.text


async def test_usual_settings_are_those_of_the_sliders(play: Play) -> None:
    best = [{**row, "overrides": {}} for row in DOCUMENT["best"]]
    async with play(params=Params(gamma="auto")) as stage:
        await stage.press("f7")
        await stage.tell(Advice(document={**DOCUMENT, "best": best}))
        await stage.press("enter")
        assert "2 Draft model has these settings already: gamma auto" in stage.text


async def test_what_is_copied(play: Play) -> None:
    async with play() as stage:
        await stage.press("f7")
        await stage.press("1", "y")
        assert stage.app.clipboard == ""
        await stage.tell(Advice(document=DOCUMENT))
        await stage.press("2")
        assert stage.app.clipboard == "two: 2" and "Copied: SGLang" in stage.text
        await stage.press("3")
        assert stage.app.clipboard == "two: 2"
        await stage.press("y")
        assert "→ Use draft:gamma=4" in stage.app.clipboard


@pytest.mark.parametrize("change", [("t", "1", "enter"), ("2", "o")])
async def test_what_was_found_with_other_settings_is_measured_anew(
    play: Play, change: tuple[str, ...]
) -> None:
    async with play() as stage:
        await stage.press("f7")
        await stage.tell(Advice(document=DOCUMENT))
        await stage.press("escape", "escape", *change, "f7")
        assert "→ Use draft" not in stage.text
        assert len(stage.engine.asked(StartAdvice)) == 2


async def test_what_was_found_is_there_until_something_is_asked(play: Play) -> None:
    async with play() as stage:
        await stage.press("f7")
        await stage.tell(Advice(document=DOCUMENT))
        await stage.press("escape", "f7")
        assert "→ Use draft" in stage.text
        assert len(stage.engine.asked(StartAdvice)) == 1
        await stage.press("n")
        assert stage.engine.asked(StartAdvice)[-1].seconds == 180.0
        assert "for about 3 minutes" in words(stage)
        await stage.press("escape")
        assert len(stage.engine.asked(StopAdvice)) == 2
        await stage.begin()
        await stage.tell(RunFinished(0, False))
        await stage.press("f7")
        assert len(stage.engine.asked(StartAdvice)) == 3
        assert "the prompt of this conversation" in words(stage)


@pytest.mark.parametrize("size", SIZES)
async def test_other_temperatures(play: Play, size: tuple[int, int]) -> None:
    warm = {"temperature": 0.7, "overrides": {"gamma": 2, "temperature": 0.7}}
    rows = [BEST | warm, AR | {"temperature": 0.7}]
    several = {**DOCUMENT, "best": [BEST, rows[0]], "measured": [*DOCUMENT["measured"], *rows]}
    async with play(size, params=Params(SamplingParams(temperature=0.6))) as stage:
        await stage.press("f7")
        assert "at temperature 0.6, for about a minute" in words(stage)
        assert "t temperatures" in stage.text
        await stage.press("t", "ctrl+u")
        await stage.type("0,warm")
        await stage.press("enter")
        assert "temperature: " in stage.text and len(stage.engine.asked(StartAdvice)) == 1
        await stage.press("ctrl+u")
        await stage.type("0, 0.7")
        await stage.press("enter")
        asked = stage.engine.asked(StartAdvice)[-1]
        assert (asked.seconds, asked.temperatures) == (120.0, (0.0, 0.7))
        assert "at temperatures 0 and 0.7, for about 2 minutes" in words(stage)
        await stage.tell(Advice(document=several))
        assert "│ temperature 0  " in stage.text and "Esc closes" in stage.text
        await stage.press("enter")  # that of the temperature next to the present one
        assert stage.engine.asked(SetOverrides) == [SetOverrides("draft", {"gamma": 2})]
        await stage.press("f7", "n")  # what holds is gone on with
        assert stage.engine.asked(StartAdvice)[-1].temperatures == (0.0, 0.7)
        await stage.press("t", "escape", "escape")
        assert stage.app.screen is stage.app.main


async def test_leaving_before_the_end_says_that_it_was_stopped(play: Play) -> None:
    async with play() as stage:
        await stage.press("f7", "escape")
        assert "Measurement stopped; F7 starts it again" in stage.text


async def test_it_is_not_disturbed_by_the_palette_or_a_screen_above_it(play: Play) -> None:
    async with play() as stage:
        await stage.press("f7")
        advice = stage.app.screen
        await stage.press("ctrl+p")
        assert stage.app.screen is advice
        await stage.app.push_screen(Screen())
        await stage.tell(Advice(document=DOCUMENT))
        stage.app.pop_screen()
        await stage.tell()
        assert "→ Use draft" in stage.text


async def test_not_while_something_is_answered(play: Play) -> None:
    async with play() as stage:
        await stage.type("Hi")
        await stage.press("enter")
        assert stage.engine.asked(Run)
        await stage.press("f7")
        assert "Still answering" in stage.text and not stage.engine.asked(StartAdvice)


async def test_not_while_nothing_is_loaded(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.press("f7")
        assert stage.app.state.notice == "Still loading"
        await stage.tell(LoadFailed("no such folder"))
        await stage.press("f7")
        assert stage.app.state.notice == "no such folder"
        assert not stage.engine.asked(StartAdvice)


async def test_why_there_is_none(play: Play) -> None:
    async with play() as stage:
        await stage.press("f7")
        await stage.tell(Advice(note="no lane drafts"))
        assert "No result: no lane drafts" in words(stage)
        await stage.press("n")
        assert len(stage.engine.asked(StartAdvice)) == 2
        await stage.tell(Advice(note="no lane drafts"))
        await stage.press("escape")
        assert "Measurement failed; F7 starts it again" in stage.text


@pytest.mark.parametrize("width", [44, 60, 90])
def test_lines_fit(width: int) -> None:
    long = {**BEST, "name": "eagle:gamma=8:eagle_top_k=10:eagle_total_tokens=60"}
    lines = advice_lines({**DOCUMENT, "measured": [long, BEST, AR]}, width)
    assert max(line.cell_length for line in lines) <= width
