"""Typing is writing: nothing that is typed or pasted is lost, and none of it acts unasked."""

from __future__ import annotations

import pytest
from textual import events

from app.engine.commands import Pause, Run, SetParams, Stop
from app.engine.events import LanesChanged, RunFinished, RunRejected
from app.tui.screens.lanes import MainScreen
from decoding.params import Params, SamplingParams
from tests.support.scripted import lane, prefilled
from tests.support.stage import LANES, Play, Stage


async def ask(stage: Stage, text: str, turn: int = 0) -> None:
    await stage.type(text)
    await stage.press("enter")
    await stage.begin(text, turn)


async def test_a_second_question_is_written_right_after_an_answer(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "Hello")
        await stage.finish()
        before, lanes = len(stage.engine.calls), stage.app.main.display_options
        await stage.type("How can I get a table")
        assert stage.app.main.prompt.text == "How can I get a table"
        assert len(stage.engine.calls) == before and stage.app.main.display_options is lanes
        assert stage.app.main.open is None
        await stage.press("enter")
        assert stage.engine.asked(Run)[-1] == Run("How can I get a table")


async def test_f5_leaves_the_prompt_in_focus(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "Hello")
        await stage.finish()
        await stage.press("f5")
        assert stage.app.main.prompt.has_focus


async def test_in_a_lane_the_screen_says_that_letters_are_commands(play: Play) -> None:
    async with play(keys={"view.prompt": "f8"}) as stage:
        assert "Letters are commands" not in stage.text
        await stage.press("escape")
        assert "Letters are commands here: F8 goes back to writing" in stage.text
        await stage.press("f8")
        assert "Letters are commands" not in stage.text


async def test_from_the_first_frame_on_the_prompt_has_the_letters(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    show, said = MainScreen.show_state, list[str]()

    def watched(screen: MainScreen) -> None:
        show(screen)
        said.append(str(screen.prompt.placeholder))

    monkeypatch.setattr(MainScreen, "show_state", watched)
    async with play(load=False):
        assert said and not any("Letters are commands" in each for each in said)


async def test_what_is_no_command_is_written_from_a_lane_too(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "H", "e", "y")
        assert stage.app.main.prompt.text == "Hey"
        await stage.press("escape")
        stage.app.post_message(events.Paste(" and\npasted"))
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == "Hey and\npasted"


async def test_keys_in_a_burst_go_where_those_before_them_lead(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape")
        for key in ("t", "end", "g", "home"):
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        params = stage.engine.asked(SetParams)[-1].params
        assert params.sampling.temperature == 2.0 and params.gamma is None
        for key in ("i", "w", "h", "y"):
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == "why" and stage.app.main.open is None


async def test_a_panel_that_opens_does_not_take_the_focus_from_who_writes(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.press("escape")
        for key in ("s", "i", "w", "h", "y"):
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        await stage.type("not")
        assert stage.app.main.prompt.text == "whynot"


async def test_space_in_an_empty_prompt_pauses(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "Hello")
        await stage.press("space")
        assert stage.engine.asked(Pause) == [Pause(True)] and "Space goes on" in stage.text
        await stage.press("a", "space", "b")
        assert stage.app.main.prompt.text == "a b" and len(stage.engine.asked(Pause)) == 1


async def test_escape_in_the_prompt_stops_and_keeps_the_text(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "Hello")
        await stage.type("next")
        await stage.press("escape")
        assert len(stage.engine.asked(Stop)) == 1 and stage.app.main.prompt.text == "next"
        await stage.finish()
        assert stage.app.main.prompt.has_focus
        await stage.press("escape")
        assert not stage.app.main.prompt.has_focus


async def test_a_question_waits_for_the_answer_before_it(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "one")
        await stage.type("two")
        await stage.press("enter")
        assert "Runs when this answer is done" in stage.text
        assert stage.app.main.prompt.text == "two" and stage.engine.asked(Run) == [Run("one")]
        await stage.finish()
        assert stage.engine.asked(Run) == [Run("one"), Run("two")]
        assert stage.app.main.prompt.text == ""


async def test_a_waiting_question_is_taken_back_by_escape_or_by_changing_it(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "one")
        await stage.type("two")
        await stage.press("enter", "escape")
        assert not stage.engine.asked(Stop)
        await stage.press("enter", "s")
        assert "Taken back" in stage.text
        await stage.press("enter", "up")  # what was asked before, in its place
        assert "Taken back" in stage.text
        await stage.press("down")
        await stage.finish()
        assert stage.engine.asked(Run) == [Run("one")] and stage.app.main.prompt.text == "twos"


async def test_what_was_changed_in_the_history_is_kept_until_it_is_asked(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "one")
        await stage.finish()
        await stage.type("two")
        await stage.press("up", "s", "down")
        assert stage.app.main.prompt.text == "two"
        await stage.press("up")
        assert stage.app.main.prompt.text == "ones"
        await stage.press("enter", "up")
        assert stage.app.main.prompt.text == "ones"
        await stage.press("up")
        assert stage.app.main.prompt.text == "one"


async def test_two_questions_in_a_burst_are_both_kept(play: Play) -> None:
    async with play() as stage:
        prompt = stage.app.main.prompt
        for text in ("one", "two"):
            prompt.insert(text)
            prompt.action_submit()
        await stage.pilot.pause()
        assert stage.engine.asked(Run) == [Run("one")] and prompt.text == "two"
        assert stage.app.state.queued == "two"


async def test_enter_without_a_question_says_what_to_do(play: Play) -> None:
    async with play() as stage:
        await stage.press("enter")
        assert "Type a question; F2 has examples" in stage.text
        await ask(stage, "one")
        await stage.finish()
        await stage.press("enter")
        assert "Type the next question; F5 runs the last one again" in stage.text


async def test_ctrl_c_in_a_lane_empties_the_prompt_else_says_how_to_leave(play: Play) -> None:
    async with play() as stage:
        await stage.type("text")
        await stage.press("escape", "ctrl+c")
        assert stage.app.main.prompt.text == ""
        await stage.press("ctrl+c")
        assert "Ctrl+Q quits" in stage.text


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_what_is_said_ends_with_what_to_do_however_long(
    play: Play, size: tuple[int, int]
) -> None:
    long = (
        "the conversation has 5001 tokens, the model's context holds 4096: shorten it or "
        "begin a new one"
    )
    async with play(size) as stage:
        rows = stage.app.main.query_one("#room").size.height
        await stage.tell(RunRejected("Long", long))
        assert long in " ".join(stage.text.split())
        await stage.type("y")
        assert "shorten" not in stage.text and "accepted rejected" in stage.text
        assert stage.app.main.query_one("#room").size.height == rows


async def test_a_long_prompt_shows_its_end_after_a_resize(play: Play) -> None:
    async with play() as stage:
        await stage.type("i")
        stage.app.post_message(events.Paste("word " * 100 + "end"))
        await stage.pilot.pause()
        assert stage.text.splitlines()[-2].rstrip().endswith("end")
        for size in ((60, 24), (100, 30), (40, 12)):
            await stage.resize(*size)
            assert stage.text.splitlines()[-2].rstrip().endswith("end")


async def test_what_was_said_does_not_outlive_its_moment(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "3", "delete")
        assert "3 Prompt lookup is gone" in stage.text
        await stage.press("2")
        assert "is gone" not in stage.text
        await stage.type("i")
        await stage.type("x" * 9)
        await stage.tell(RunRejected("Long", "the prompt is too long"))
        assert "the prompt is too long" in stage.text
        await stage.type("y")
        assert "the prompt is too long" not in stage.text
        await stage.tell(RunRejected("Long", "the prompt is too long"))
        await stage.press("ctrl+c")
        assert "the prompt is too long" not in stage.text
        await ask(stage, "one")
        await stage.press("f5")
        assert "Still answering" in stage.text
        await stage.tell(RunFinished(0, False))
        assert "Still answering" not in stage.text


async def test_lossy_acceptance_takes_two_presses(play: Play) -> None:
    lanes = (*LANES[:2], lane("medusa", title="Medusa", gamma=3))
    async with play(params=Params(SamplingParams(0.8)), lanes=lanes, load=False) as stage:
        await stage.load(lanes)
        await stage.press("escape", "a")
        assert not stage.engine.asked(SetParams) and "a once more" in stage.text
        await stage.press("x", "a")  # something else in between
        assert not stage.engine.asked(SetParams)
        await stage.press("a")
        assert stage.engine.asked(SetParams)[-1].params.acceptance == "typical"


async def test_a_prompt_keeps_its_line_breaks_in_the_text(play: Play) -> None:
    async with play() as stage:
        await stage.begin("def f():\n    return 1")
        await stage.tell(prefilled("ar", "It"))
        assert stage.lines(1)[:3] == ["› def f():", "      return 1", "It"]


async def test_a_copy_is_in_focus_at_once(play: Play) -> None:
    async with play() as stage:
        copied = (*LANES[:2], lane("draft#2", title="Draft model", gamma=4), *LANES[2:])
        await stage.to_lane(2)
        await stage.press("u")
        await stage.tell(LanesChanged(copied))
        assert stage.app.focused is stage.view(3)
