"""Prove it: the screen asks, shows what comes, and says no more than the figures do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.content import Content

from app.engine.commands import StartSamplingTest, Stop, StopSamplingTest
from app.engine.events import ContinuationCount, Finished, RunFinished, SamplingTest
from app.tui.format.sampling_test import intro, table, verdict
from tests.support.scripted import prefilled
from tests.support.stage import Play, Stage

DONE = SamplingTest(
    "draft",
    tokens=3,
    done=400,
    repetitions=400,
    outcomes=(
        ContinuationCount(" Paris, a", 200, 190),
        ContinuationCount("\n[red]the[/] ", 100, 120),
    ),
    kinds=9,
    p_value=0.43,
    context="The capital of France is",
)
SIZES = [(100, 30), (60, 24)]


async def ended(stage: Stage) -> None:
    await stage.begin()
    await stage.tell(prefilled("draft", "The"), Finished("draft", "stop"), RunFinished(0, False))
    await stage.press("tab", "2")


@pytest.mark.parametrize("size", SIZES)
async def test_it_asks_and_shows_what_comes(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await ended(stage)
        await stage.press("e")
        assert stage.engine.asked(StartSamplingTest) == [StartSamplingTest("draft", 400)]
        assert "Prove it · 2 Draft model" in stage.text
        assert "Letters are commands" not in stage.text and "i Write" not in stage.text
        await stage.tell(replace(DONE, done=100, p_value=None))
        assert "25%" in stage.text and "“ Paris" in stage.text and "p =" not in stage.text
        await stage.tell(DONE)
        words = " ".join(stage.text.replace("│", " ").split())
        assert "No difference seen in 400 draws of each (p = 0.43)" in words
        assert "50.0%" in stage.text and "47.5%" in stage.text and "7 others" in stage.text
        assert "“↵[red]the[/] ”"[:12] in stage.text
        assert "“…The capital of France is”" in words
        await stage.press("escape")
        assert stage.engine.asked(StopSamplingTest) == [
            StopSamplingTest()
        ] and not stage.engine.asked(Stop)
        assert "Prove it" not in stage.text
        assert "Letters are commands" in stage.text and "i Write" in stage.text


async def test_more(play: Play) -> None:
    async with play() as stage:
        await ended(stage)
        await stage.press("e", "n")
        assert len(stage.engine.asked(StartSamplingTest)) == 1  # it has only begun
        await stage.tell(DONE)
        await stage.press("n")
        assert stage.engine.asked(StartSamplingTest)[-1] == StartSamplingTest("draft", 1600)
        await stage.tell(DONE)  # still under way when the other was asked for
        assert "p = 0.43" not in stage.text
        await stage.tell(replace(DONE, repetitions=1600, done=1600, p_value=1e-9))
        assert "1600 times" in stage.text and "The two differ (p = 1e-09)" in stage.text
        await stage.press("e")
        await stage.tell(DONE)  # nobody looks any more


async def test_why_not(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "e")
        said = "Ask something first: the test draws tokens that answer it"
        assert not stage.engine.asked(StartSamplingTest) and said in stage.text
        await stage.begin()
        await stage.press("tab", "e")
        assert not stage.engine.asked(StartSamplingTest) and "needs a pause" in stage.text
        await stage.press("space", "e")
        assert len(stage.engine.asked(StartSamplingTest)) == 1
        await stage.tell(SamplingTest("draft", repetitions=400, note="another model"))
        assert "No test: another model" in stage.text


async def test_plain_sampling_is_not_compared_with_itself(play: Play) -> None:
    async with play() as stage:
        await ended(stage)
        await stage.press("escape", "1", "e")
        assert not stage.engine.asked(StartSamplingTest)
        assert "1 Autoregressive is plain sampling itself" in stage.text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"p_value": 0.0101}, "No difference seen in 400 draws of each (p = 0.01)."),
        (
            {"p_value": 0.002},
            "They seem to differ (p = 0.002). By chance alone that happens once in 500",
        ),
        ({"p_value": 1e-20}, "The two differ (p = 1e-20): this lane does not sample"),
        ({"p_value": 1e-20, "lossy": True}, "as expected of a lossy rule"),
        (
            {"p_value": 0.5, "lossy": True},
            "No difference seen in 400 draws of each (p = 0.50). More",
        ),
        ({"p_value": None}, "Too few of 400 draws"),
        ({"p_value": None, "kinds": 1}, "the same every time"),
        ({"p_value": None, "kinds": 1, "greedy": True}, "both always say this"),
        ({"p_value": None, "kinds": 2, "greedy": True}, "yet they differ"),
    ],
)
def test_verdicts(change: dict[str, object], words: str) -> None:
    assert words in verdict(replace(DONE, **change))[0]  # type: ignore[arg-type]


def test_the_sampling_test_announces_a_lossy_lane_first() -> None:
    assert "lossy: they are expected to differ" in intro(replace(DONE, done=1, lossy=True))
    assert "the next token, once," in intro(replace(DONE, tokens=1, greedy=True))


def test_at_temperature_0_answers_stand_in_full() -> None:
    said = "It is " * 20
    (both,) = table(replace(DONE, greedy=True, outcomes=(ContinuationCount(said, 1, 1),)), 51)
    assert both.plain == f"both  “{said}”"
    two = (ContinuationCount("a", 1, 0), ContinuationCount("b", 0, 1))
    lines = table(replace(DONE, greedy=True, outcomes=two), 51)
    assert [line.plain for line in lines] == ["this lane  “a”", "plain  “b”"]


@pytest.mark.parametrize("width", [44, 51, 90])
def test_rows_fit(width: int) -> None:
    wide = replace(DONE, outcomes=(ContinuationCount("日本語" * 20, 399, 1), *DONE.outcomes))
    lines: list[Content] = table(wide, width)
    assert {line.cell_length for line in lines[1:]} == {width}
    assert lines[0].cell_length <= width and "…" in lines[1].plain
