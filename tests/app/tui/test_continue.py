"""A stopped answer goes on: the line says how, Enter in the empty prompt does it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.commands import ResumeAnswer, Run
from app.engine.events import Finished, RunContinued, RunFinished, RunStarted
from app.tui.state.scores import scores
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import Play, Stage

LANES = ("ar", "draft", "lookup")


async def stopped(stage: Stage) -> None:
    """The autoregressive lane is done, another one half way, the last one has not begun."""
    await stage.tell(RunStarted(0, 0, "Hello", 3, 42, LANES, prompt_ids=(1, 2, 3)))
    done = Finished("ar", "stop", metrics=metrics())
    await stage.tell(prefilled("ar", "A"), stepped("ar", [], [], " fox"), done)
    await stage.tell(prefilled("draft", "A"), stepped("draft", [" b"], [], "c", metrics(3)))
    await stage.tell(
        Finished("draft", "stopped", metrics=metrics(3)), Finished("lookup", "stopped")
    )
    await stage.tell(RunFinished(0, True))


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_the_line_on_a_stopped_answer_says_how_it_goes_on(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stopped(stage)
        assert "Stopped: Enter in the empty prompt continues" in stage.text
        assert "Ask the next question; Enter continues this one" in stage.text
        await stage.press("escape")
        assert "Stopped: Enter in the empty prompt continues" in stage.text
        assert "i goes back to writing" in stage.text


async def test_enter_goes_on_and_the_text_grows_where_it_was(play: Play) -> None:
    async with play() as stage:
        await stopped(stage)
        await stage.press("enter", "enter")  # the second one is too late
        (asked,) = stage.engine.asked(ResumeAnswer)
        assert asked.prompt_ids == (1, 2, 3) and asked.lanes == ("draft", "lookup")
        draft, plain = asked.answers["draft"], asked.answers["ar"]
        assert (len(draft.rounds), draft.finished) == (1, None)
        assert plain.finished == "stop" and plain.speedup == 1.77 and "lookup" not in asked.answers
        assert stage.app.state.running and "Stopped" not in stage.text

        await stage.tell(RunContinued(0, asked.lanes))
        marks = [lane.phase for lane in stage.app.state.lanes.values()][:3]
        assert marks == ["done", "running", "waiting"]
        await stage.tell(stepped("draft", [], [], " and more", metrics(4), index=1))
        await stage.tell(prefilled("lookup", "A"))
        ends = (Finished(name, "stop", metrics=metrics(4)) for name in asked.lanes)
        await stage.tell(*ends, RunFinished(0, False))
        assert stage.lines(2)[:2] == ["› Hello", "A bc and more"]
        assert stage.lines(3)[:2] == ["› Hello", "A"]
        assert stage.app.state.turns == 1 and "Stopped" not in stage.text
        await stage.press("enter")
        assert len(stage.engine.asked(ResumeAnswer)) == 1 and "Type the next question" in stage.text


async def test_the_next_question_may_be_asked_instead(play: Play) -> None:
    async with play() as stage:
        await stopped(stage)
        await stage.type("next")
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run("next")] and not stage.engine.asked(ResumeAnswer)
        await stage.begin("next", 1)
        await stage.finish(1)
        assert "Stopped" not in stage.text


async def test_a_lane_that_was_switched_off_stays_stopped(play: Play) -> None:
    async with play() as stage:
        await stopped(stage)
        await stage.to_lane(2)
        await stage.press("o", "i", "enter")
        (asked,) = stage.engine.asked(ResumeAnswer)
        assert asked.lanes == ("lookup",) and set(asked.answers) == {"ar"}


async def test_answers_of_another_model_do_not_go_on(play: Play) -> None:
    async with play() as stage:
        await stopped(stage)
        stage.app.state.foreign = True
        await stage.press("enter")
        assert not stage.engine.asked(ResumeAnswer) and "Stopped" not in stage.text


async def test_the_palette_has_it_by_name(play: Play) -> None:
    async with play() as stage:
        await stopped(stage)
        await stage.press("ctrl+p")
        await stage.find("continue stopped")
        await stage.press("enter")
        await stage.until(lambda: stage.engine.asked(ResumeAnswer))


async def test_one_answer_counts_once_on_the_scoreboard(play: Play) -> None:
    async with play() as stage:
        await stopped(stage)
        await stage.press("enter")
        await stage.tell(RunContinued(0, ("draft", "lookup")))
        assert all(not each.speed or each.speed.count == 1 for each in scores(stage.app.state))
        faster = replace(metrics(4), speedup=3.0, tokens=80)
        await stage.tell(stepped("draft", [], [], " d", faster, index=1))
        await stage.tell(Finished("draft", "stop", metrics=faster), RunFinished(0, False))
        plain, draft, *_ = scores(stage.app.state)
        assert plain.speedup and plain.speedup.count == 1
        assert draft.speedup and (draft.speedup.count, draft.speedup.median) == (1, 3.0)
        assert draft.tokens == 80 and not draft.stopped
