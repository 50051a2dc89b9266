"""Finding words in the text of a lane."""

from __future__ import annotations

import pytest

from app.engine.commands import StepRound
from app.tui.tokens.token_text import DisplayOptions, RenderMode
from tests.support.conversation import LOADED, turn
from tests.support.scripted import prefilled
from tests.support.stage import Play, Stage

TEXT = "The cat. " + "word " * 200 + "A CAT again.\n" + "more " * 200


async def answered(stage: Stage) -> None:
    await stage.begin("Hi")
    await stage.tell(prefilled("ar", TEXT), prefilled("draft", "A cat"))
    await stage.finish()
    await stage.press("tab")


async def test_places_are_gone_to_one_by_one(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("slash")
        await stage.type("cat")
        await stage.press("enter")
        assert stage.app.focused is stage.view(1)
        assert "1 of 2; n next, N previous" in stage.text
        assert any("The cat." in line for line in stage.lines(1))
        await stage.resize(60, 24)
        bar = stage.text.splitlines()[-1]
        assert bar.startswith(" Esc End search  n Next match  N Previous match  F1 Help")
        await stage.resize(100, 30)
        await stage.press("n")
        assert "2 of 2" in stage.text and any("A CAT again" in line for line in stage.lines(1))
        await stage.press("N")
        assert "1 of 2" in stage.text and not stage.engine.asked(StepRound)
        await stage.press("enter")
        assert "2 of 2" in stage.text and stage.app.focused is stage.view(1)
        await stage.press("escape", "n")
        assert "of 2" not in stage.text and stage.app.focused is stage.view(1)


async def test_after_a_click_on_another_lane_its_places_are_found(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("slash")
        await stage.type("cat")
        await stage.press("enter")
        assert "n Next match" in stage.text and "Esc End search" in stage.text
        await stage.pilot.click(stage.view(2), offset=(1, 0))
        await stage.press("n")
        assert "1 of 1" in stage.text and "n Next match" in stage.text
        await stage.press("escape")
        assert "Next match" not in stage.text and "End search" not in stage.text
        assert not any(stage.view(number).searched for number in (1, 2))


async def test_words_that_are_broken_over_two_lines_are_found(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.tell(prefilled("ar", "x" * 40 + " one two three four five"))
        await stage.press("tab", "slash")
        await stage.type("one two three")
        view = stage.view(1)
        marked = [
            text
            for y in range(view.size.height)
            for text, style, _ in view.render_line(y)
            if style and style.underline and style.bold
        ]
        assert "".join(marked).split() == ["one", "twothree"]  # the space hangs over the edge


@pytest.mark.parametrize("mode", ["colour", "glyphs", "plain"])
async def test_rejected_drafts_and_marks_within_the_words_do_not_hide_them(
    play: Play, mode: RenderMode
) -> None:
    async with play(lanes=LOADED.lanes, load=False) as stage:
        await stage.tell(LOADED, *turn(0, "Count!", 1.0, 0))
        stage.app.main.display_options = DisplayOptions(mode)
        await stage.to_lane(2)
        for words, said in (("five seven", "1 of 1"), ("n FIVE", "1 of 2"), ("eight", "Not found")):
            await stage.press("slash", "ctrl+u")
            await stage.type(words)
            await stage.press("enter")
            assert said in stage.text
        await stage.press("slash", "ctrl+u")
        await stage.type("n five")
        view = stage.view(2)
        (line,) = [
            view.render_line(y)
            for y in range(view.size.height)
            if "seven" in view.render_line(y).text
        ]
        marked = "".join(
            part for part, style, _ in line if style and style.underline and style.bold
        )
        seen = {"colour": "n eight five", "glyphs": "n› ~eight~ five", "plain": "n five"}[mode]
        assert marked.startswith(seen)


async def test_what_is_not_there_is_said_and_escape_closes_the_line(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("slash")
        await stage.type("dog")
        assert "Enter Find" in stage.text and "Esc Close" in stage.text
        await stage.press("enter")
        assert "Not found" in stage.text
        bar = stage.text.splitlines()[-1]
        assert "End search" in bar and "Next match" not in bar and "Previous match" not in bar
        await stage.press("slash", "escape")
        assert stage.app.focused is stage.view(1) and "Find in" not in stage.text
