"""Typing is writing: nothing that is typed or pasted is lost, and none of it acts unasked."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input

from app.engine.commands import Pause, Run, SetEnabled, SetParams, SetSchedule, Stop
from app.engine.events import Finished, LanesChanged, LoadFailed, RunFinished, RunRejected
from app.tui.palette import Palette
from app.tui.screens.lanes import MainScreen
from app.tui.widgets.search_line import SearchLine
from app.tui.widgets.slider import Slider
from decoding.params import Params, SamplingParams
from tests.support.quiet import quiet
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


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
@pytest.mark.parametrize("clicked", ["TokenView", "#gamma"])
async def test_after_a_click_typing_is_still_writing(
    play: Play, size: tuple[int, int], clicked: str
) -> None:
    async with play(size) as stage:
        await ask(stage, "Hello")
        await stage.finish()
        main, before = stage.app.main, len(stage.engine.calls)
        await stage.pilot.click(clicked, offset=(2, 0))
        await stage.pilot.click(clicked, offset=(3, 0))
        assert main.focused is main.query(clicked).first()
        assert "Letters are commands" not in stage.text and "Esc Commands" in stage.text
        assert "v Tree" not in stage.text and "Enter Write" not in stage.text
        if clicked == "TokenView":
            assert "Typing goes here; Esc makes letters commands" in stage.text
        await stage.type("what is 2 + 2?")
        assert main.prompt.text == "what is 2 + 2?" and main.prompt.has_focus
        assert len(stage.engine.calls) == before and main.open is None


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
@pytest.mark.parametrize("at", ["track", "number"])
async def test_a_text_that_begins_with_a_number_after_a_click_on_a_slider(
    play: Play, size: tuple[int, int], at: str
) -> None:
    async with play(size) as stage:
        gamma, prompt = stage.app.main.query_one("#gamma"), stage.app.main.prompt
        x = 2 if at == "track" else gamma.size.width - 2
        await stage.pilot.click(gamma, offset=(x, 0))
        await stage.pilot.pause()
        hint = "Digits set gamma; letters go to the prompt"
        assert (hint if at == "track" else "Enter sets the number") in stage.text
        await stage.type("5, 7 dogs walk")
        assert prompt.text == "5, 7 dogs walk" and prompt.has_focus
        assert not stage.engine.asked(SetParams) and "▏" not in stage.text
        await stage.pilot.click(gamma, offset=(2, 0))
        await stage.press("3", "enter")
        assert stage.engine.asked(SetParams)[-1].params.gamma == 3


async def test_a_burst_of_keys_after_a_click_on_a_slider_keeps_its_order(play: Play) -> None:
    async with play() as stage:
        await stage.pilot.click("#gamma", offset=(2, 0))
        for char in "5 dogs, 3 cats":
            stage.app.post_message(events.Key({" ": "space"}.get(char, char), char))
        await stage.until(lambda: stage.app.main.prompt.text == "5 dogs, 3 cats")
        assert not stage.engine.asked(SetParams)


async def test_after_a_click_keys_lead_to_commands(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "Hello")
        await stage.tell(prefilled("draft", "It is"))
        await stage.finish()
        for key in ("escape", "tab"):
            await stage.pilot.click(stage.view(2), offset=(2, 1))
            await stage.press("left")
            assert "Typing goes here; Esc, then w explains this token" in stage.text
            await stage.press(key)
            assert "Letters are commands here" in stage.text and stage.view(2).cursor is not None
            await stage.press("x")
            assert stage.app.main.prompt.text == ""
            await stage.pilot.click(stage.view(1), offset=(2, 1))  # they stay
            assert "Letters are commands here" in stage.text
            await stage.press("enter")
        await stage.pilot.click(stage.view(1), offset=(2, 1))
        gamma = stage.app.main.query_one("#gamma")
        await stage.pilot.click(gamma, offset=(gamma.size.width - 2, 0))
        await stage.press("3", "enter")
        assert stage.engine.asked(SetParams)[-1].params.gamma == 3


@pytest.mark.parametrize("letters", ["commands", "text"])
async def test_a_click_on_a_title_gives_the_lane_the_focus(play: Play, letters: str) -> None:
    async with play() as stage:
        if letters == "commands":
            await stage.to_lane(1)
        title = stage.app.main.grid.pane(2)
        assert title
        await stage.pilot.click(title, offset=(10, 0))
        assert stage.view(2).has_focus
        await stage.press("o")
        off = {SetEnabled("draft", False)} if letters == "commands" else set()
        assert {*stage.engine.asked(SetEnabled)} == off


async def test_a_click_on_a_tab_leaves_letters_to_the_prompt(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.pilot.click(stage.view(1), offset=(2, 1))
        await stage.pilot.click("#tabs", offset=(10, 0))
        assert stage.view(2).has_focus
        await stage.type("what")
        assert stage.app.main.prompt.text == "what"


async def test_enter_asks_the_offered_question_from_a_lane_too(play: Play) -> None:
    async with play((100, 30), newcomer=True, scoreboard=True) as stage:
        example = stage.app.state.example
        await stage.press("escape")
        assert "Enter asks the question below" in stage.text and f"› {example}" in stage.text
        assert "Letters are commands here: i goes back to writing" in stage.text
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run(example)]


@pytest.mark.parametrize("place", ["i", "escape", "g"])
async def test_a_key_of_other_programs_is_led_to_the_list_of_commands(
    play: Play, place: str
) -> None:
    """Ctrl+S, to save, from the prompt, a lane and a slider."""
    async with play() as stage:
        await stage.press("escape", place)
        for key, name in {"ctrl+s": "Ctrl+S", "f9": "F9"}.items():
            await stage.press(key)
            assert f"{name} is not a command; Ctrl+P lists all commands" in stage.text
        await stage.press("ctrl+home", "ctrl+right", "shift+f9")
        assert "F9 is not a command" in stage.text  # for these nothing is said


async def test_commands_of_other_chats_lead_to_the_key(play: Play) -> None:
    said = {"/model llama": "F6 lists other models", "/undo": "Ctrl+Z takes the last change back"}
    async with play((100, 30)) as stage:
        for command, words in said.items():
            await stage.type(command)
            await stage.press("enter")
            assert words in stage.text and not stage.engine.asked(Run)
            await stage.press("ctrl+c")


async def test_what_is_no_command_is_written_from_a_lane_too(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "H")
        assert "“H” is not a command, so it is typed: Esc goes back" in stage.text
        await stage.press("e", "y")
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


@pytest.mark.parametrize("leaving", ["tab", "escape"])
async def test_letters_right_behind_tab_or_escape_are_commands(play: Play, leaving: str) -> None:
    async with play() as stage:
        for key in (leaving, "v"):
            stage.app.simulate_key(key)
        await quiet()
        assert (stage.app.main.open, stage.app.main.prompt.text) == ("tree", "")
        await stage.press("i")
        for key in ("h", "i", "shift+tab", "home", "i", "!"):
            stage.app.simulate_key(key)
        await quiet()
        assert stage.app.main.prompt.text == "hi!"


async def test_escapes_do_not_close_the_palette_that_comes_behind_them(play: Play) -> None:
    """Its key acts at once, before those that are on their way to the prompt."""
    async with play() as stage:
        for key in ("escape", "escape", "ctrl+p"):
            stage.app.simulate_key(key)
        await quiet()
        assert isinstance(stage.app.screen, Palette) and not stage.app.main.writing


@pytest.mark.parametrize("lane", [0, 2])
async def test_digits_in_a_burst_behind_the_key_of_a_slider_are_its_own(
    play: Play, lane: int
) -> None:
    """Not the keys of lanes."""
    async with play() as stage:
        await stage.press("escape")
        if lane:
            await stage.to_lane(lane)
        for key in ("g", "1", "2", "enter"):
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        assert stage.engine.asked(SetParams)[-1].params.gamma == 12
        assert isinstance(stage.app.focused, Slider) and stage.app.focused.typed is None


async def test_letters_right_behind_the_key_of_an_input_line_are_its_own(play: Play) -> None:
    async with play() as stage:
        await stage.press("f1")
        for key in ("slash", "t", "e", "a"):
            stage.app.simulate_key(key)
        await quiet()
        assert stage.app.screen.query_one(Input).value == "tea"
        await stage.press("escape", "escape")  # out of the filter, then out of the help
        await stage.to_lane(2)
        for key in ("slash", "h", "w", "y"):
            stage.app.simulate_key(key)
        await quiet()
        main = stage.app.main
        assert main.query_one(SearchLine).value == "hwy" and not (main.prompt.text or main.open)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("ctrl+u", "d"), "d"),
        (("ctrl+w", "d"), "d"),
        (("backspace", "d"), "abd"),
        (("home", "d"), "dabc"),
        (("left", "d"), "abdc"),
    ],
)
async def test_editing_keys_in_a_burst_keep_their_place(
    play: Play, keys: tuple[str, ...], text: str
) -> None:
    async with play() as stage:
        await stage.type("abc")
        for key in keys:
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == text


async def test_what_comes_right_behind_a_command_is_not_taken_for_what_was_before_it(
    play: Play,
) -> None:
    """Ctrl+C, which empties the prompt, and what is typed and pasted behind it in a burst."""
    async with play() as stage:
        prompt = stage.app.main.prompt
        await stage.type("abcdef")
        stage.app.simulate_key("ctrl+c")
        for char in "hello":
            stage.app.post_message(events.Key(char, char))
        stage.app.post_message(events.Paste(" world"))
        await quiet()
        assert prompt.text == "hello world"
        await stage.press("up")
        assert prompt.text == "abcdef"


async def test_ctrl_c_in_a_burst_still_copies_what_is_selected(play: Play) -> None:
    async with play() as stage:
        await stage.type("abc")
        for key in ("ctrl+shift+home", "shift+home", "ctrl+c", "end", "d"):
            stage.app.simulate_key(key)
        await quiet()
        assert stage.app.clipboard == "abc" and stage.app.main.prompt.text == "abcd"


async def test_a_space_right_before_letters_pauses(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        for key in ("space", "h", "i"):
            stage.app.post_message(events.Key(key, {"space": " "}.get(key, key)))
        await quiet()
        assert stage.engine.asked(Pause) == [Pause(True)] and stage.app.main.prompt.text == "hi"


async def test_a_key_with_another_use_is_acted_on_once_in_a_burst(play: Play) -> None:
    async with play(keys={"run.schedule": "ctrl+k,f8"}) as stage:
        await stage.type("a")
        for key in ("f8", "b", "ctrl+k", "c", "f8"):
            stage.app.simulate_key(key)
        await quiet()
        assert stage.app.main.prompt.text == "abc" and len(stage.engine.asked(SetSchedule)) == 3


@pytest.mark.parametrize("late", [False, True])
async def test_keys_right_behind_one_that_opens_a_dialog_are_the_dialogs(
    play: Play, late: bool
) -> None:
    """Some of them come while the dialog is being drawn."""
    async with play() as stage:
        for key in ("h", "i", "f2", *"EAG"):
            stage.app.simulate_key(key)
        if late:
            await stage.until(lambda: stage.app.screen is not stage.app.main)
        for char in "LE":
            stage.app.post_message(events.Key(char, char))
        stage.app.post_message(events.Paste(" 3"))
        stage.app.post_message(events.Key("x", "x"))
        await quiet()
        await stage.until(lambda: stage.app.screen.query_one(Input).value == "EAGLE 3x")
        assert stage.app.main.prompt.text == "hi"
        await stage.press("escape", "!")
        assert stage.app.main.prompt.text == "hi!"


async def test_deleting_to_an_end_of_the_line_means_the_written_one(play: Play) -> None:
    async with play((60, 24)) as stage:
        prompt = stage.app.main.prompt
        prompt.write("kept\n" + "many words " * 20)
        assert prompt.wrapped_document.height > 3
        await stage.press("ctrl+u")
        assert prompt.text == "kept\n"
        await stage.press("ctrl+z", "up", "up", "ctrl+k")
        row, column = prompt.cursor_location
        assert row == 1 and prompt.text == "kept\n" + ("many words " * 20)[:column]
        await stage.press("ctrl+u", "ctrl+u")
        assert prompt.text == "kept"


async def test_a_panel_that_opens_does_not_take_the_focus_from_who_writes(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.press("escape")
        for key in ("s", "i", "w", "h", "y"):
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        await stage.type("not")
        assert stage.app.main.prompt.text == "whynot"


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_the_key_bar_knows_whether_space_is_text(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.begin("Hi")
        await stage.press("space")
        assert "Space Resume" in stage.text
        await stage.type("x")
        assert "Space Resume" not in stage.text
        await stage.press("backspace")
        assert "Space Resume" in stage.text


async def test_space_in_an_empty_prompt_pauses(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "Hello")
        await stage.press("space")
        assert stage.engine.asked(Pause) == [Pause(True)] and "Space resumes" in stage.text
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


async def test_questions_wait_for_the_answer_before_them(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "one")
        await stage.type("two")
        await stage.press("enter")
        assert "“two” runs when this answer is done (Esc takes it back)" in stage.text
        assert "Space pauses, Esc takes one back" in stage.text
        await stage.type("three")
        await stage.press("enter")
        assert "“three” runs when this answer is done, after 1 question" in stage.text
        await stage.type("four")
        assert stage.engine.asked(Run) == [Run("one")]
        await stage.finish()
        assert stage.engine.asked(Run) == [Run("one"), Run("two")]
        assert "“three” runs when this answer is done" in stage.text
        await stage.finish(1)
        assert stage.engine.asked(Run)[2:] == [Run("three")]
        assert stage.app.main.prompt.text == "four"


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_a_second_question_while_models_are_loaded_is_another_one(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size, load=False, newcomer=True) as stage:
        await stage.press("enter", "enter")  # the example, once
        asked = stage.app.state.queued[0]
        assert len(stage.app.state.queued) == 1 and stage.app.main.prompt.text == ""
        assert asked not in stage.text.splitlines()[-2]
        await stage.type("What next")
        await stage.load()
        assert stage.engine.asked(Run) == [Run(asked)]
        assert stage.app.main.prompt.text == "What next"
        await stage.press("enter")
        await stage.finish()
        assert stage.engine.asked(Run) == [Run(asked), Run("What next")]


async def test_a_waiting_question_is_taken_back_by_escape(play: Play) -> None:
    async with play() as stage:
        await ask(stage, "one")
        await stage.type("two")
        await stage.press("enter", "escape")
        assert not stage.engine.asked(Stop) and stage.app.main.prompt.text == "two"
        await stage.press("enter")
        await stage.type("three")
        await stage.press("escape")
        assert (
            "Taken back: press ↑ in the prompt to get it" in stage.text
            and "waits" not in stage.text
        )
        assert stage.app.main.prompt.text == "three"
        await stage.press("enter", "up", "up", "enter", "down")
        await stage.type("four")
        await stage.press("escape")
        assert "Taken back: press ↑ in the prompt to get it; “three” still waits" in stage.text
        await stage.press("escape")
        await stage.finish()
        assert stage.engine.asked(Run) == [Run("one")]
        await stage.press("up")
        assert stage.app.main.prompt.text == "two"


async def test_ctrl_c_stops_and_begins_no_waiting_question(play: Play) -> None:
    async with play() as stage:
        prompt = stage.app.main.prompt
        await ask(stage, "one")
        await stage.type("two")
        await stage.press("enter", "ctrl+c")
        assert len(stage.engine.asked(Stop)) == 1 and prompt.text == "two"
        await stage.finish()
        assert stage.engine.asked(Run) == [Run("one")]
        back = "The question that waited is in the prompt: Enter sends it"
        assert f"Stopped. {back}" in stage.text
        await stage.press("enter")
        assert stage.engine.asked(Run)[1:] == [Run("two")]


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_ctrl_c_loses_no_waiting_question(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        prompt = stage.app.main.prompt
        await ask(stage, "one")
        for text in ("two", "three"):
            await stage.type(text)
            await stage.press("enter")
        await stage.press("tab", "ctrl+c")
        assert prompt.text == "three" and prompt.has_focus and not stage.app.state.queued
        said = " ".join(stage.text.split())
        assert (
            "The last of the 2 questions that waited is in the prompt, ↑ brings the other" in said
        )
        await stage.press("up")
        assert prompt.text == "two"
        await stage.press("enter")
        await stage.type("four")
        await stage.press("ctrl+c")
        said = " ".join(stage.text.split())
        assert "Stopped. ↑ in the prompt brings back the question that waited" in said
        assert prompt.text == "four"
        await stage.press("up")
        assert prompt.text == "two"


async def test_ctrl_c_takes_a_question_back_that_waits_for_the_models(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.type("early")
        await stage.press("enter", "ctrl+c")
        assert stage.app.main.prompt.text == "early" and not stage.engine.asked(Stop)
        assert "The question that waited is in the prompt" in stage.text
        assert "Stopped" not in stage.text


@pytest.mark.parametrize("event", [LoadFailed("no", False), RunRejected("one", "no")])
async def test_waiting_questions_return_when_they_cannot_be_answered(
    play: Play, event: LoadFailed | RunRejected
) -> None:
    async with play(load=isinstance(event, RunRejected)) as stage:
        if isinstance(event, RunRejected):
            await ask(stage, "one")
        for text in ("two", "three"):
            await stage.type(text)
            await stage.press("enter")
        await stage.tell(event)
        prompt = stage.app.main.prompt
        assert not stage.app.state.queued and not stage.engine.asked(Run)[1:]
        assert {"two", "three"} <= {prompt.text, *prompt._history}


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
        assert stage.engine.asked(Run) == [Run("one")] and prompt.text == ""
        assert stage.app.state.queued == ["two"]


async def test_a_third_question_being_written_takes_no_enter_of_the_second(play: Play) -> None:
    async with play() as stage:
        prompt = stage.app.main.prompt
        for text in ("one", "two"):
            prompt.insert(text)
            prompt.action_submit()
        prompt.insert("thr")
        await stage.pilot.pause()
        assert stage.engine.asked(Run) == [Run("one")] and prompt.text == "thr"
        assert stage.app.state.queued == ["two"]


async def test_a_question_is_asked_though_another_is_recalled_at_once(play: Play) -> None:
    async with play() as stage:
        await stage.type("first")
        await stage.press("enter")
        for key in ("n", "e", "w", "enter", "up"):
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        assert stage.engine.asked(Run) == [Run("first")] and stage.app.state.queued == ["new"]
        assert stage.app.main.prompt.text == "first"


async def test_a_space_in_a_burst_with_enter_pauses(play: Play) -> None:
    async with play() as stage:
        prompt = stage.app.main.prompt
        prompt.insert("one")
        prompt.action_submit()
        prompt.insert(" ")
        await stage.pilot.pause()
        assert stage.engine.asked(Run) == [Run("one")] and prompt.text == ""
        assert stage.engine.asked(Pause) == [Pause(True)]
        await stage.press("space")
        assert stage.engine.asked(Pause) == [Pause(True), Pause(False)]


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


TOO_LONG = (
    "the conversation has 5001 tokens, the model's context holds 4096: shorten it or begin a new "
    "one"
)


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_what_is_said_ends_with_what_to_do_however_long(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        rows = stage.app.main.query_one("#room").size.height
        await stage.tell(RunRejected("Long", TOO_LONG, suggests_new_conversation=True))
        assert f"{TOO_LONG} (Ctrl+N)" in " ".join(stage.text.split())
        assert size == (100, 30) or "\n holds 4096: shorten" in stage.text
        await stage.type("y")
        assert "shorten" not in stage.text and "accepted rejected" in stage.text
        assert stage.app.main.query_one("#room").size.height == rows


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_waiting_questions_are_spoken_of_where_the_context_is_full(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        for text in ("one", "two", "three"):
            await stage.type(text)
            await stage.press("enter")
        await stage.tell(RunRejected("one", TOO_LONG, suggests_new_conversation=True))
        said = f"{TOO_LONG} (Ctrl+N) · Taken back: press ↑ in the prompt to get them"
        assert said in " ".join(stage.text.split())
        assert stage.app.main.prompt.text == "one"
        await stage.resize(40, 12)
        assert "…" in stage.text.splitlines()[-3]  # two rows, as the lanes need the others


async def test_a_question_that_is_asked_again_stays_out_of_the_prompt(play: Play) -> None:
    """It is in the lanes already."""
    async with play() as stage:
        await stage.begin("Hi")
        await stage.finish()
        for number in ("1", "2", "3"):
            await stage.to_lane(int(number))
            await stage.press("o")
        await stage.press("f5")
        await stage.tell(RunRejected("Hi", "no lane"))
        assert "No lane is on: Esc, then o switches one on" in stage.text
        assert stage.app.main.prompt.text == ""
        await stage.press("i")
        await stage.type("New")
        await stage.press("enter")
        await stage.tell(RunRejected("New", "no lane"))
        assert stage.app.main.prompt.text == "New"


async def test_a_lane_that_reports_its_end_again_says_why_once(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"))
        for same in (None, True):  # compared once the autoregressive lane is done
            await stage.tell(Finished("draft", "length", "the context is full", None, same))
        assert sum("the context is full" in line for line in stage.lines(2)) == 1


async def test_a_notice_has_the_rows_that_the_present_width_needs(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.tell(RunRejected("Long", "the context is full: 1,024 of 1,024 used"))
        status = stage.app.main.query_one("#status")
        for size, rows in (((20, 5), 2), ((60, 24), 1), ((40, 24), 2), ((44, 24), 1)):
            await stage.resize(*size)
            assert status.size.height == rows


async def test_a_long_prompt_shows_its_end_after_a_resize(play: Play) -> None:
    async with play() as stage:
        await stage.type("i")
        stage.app.post_message(events.Paste("word " * 100 + "end"))
        await stage.pilot.pause()
        assert stage.text.splitlines()[-2].rstrip().endswith("end")
        for size in ((60, 24), (100, 30), (40, 12)):
            await stage.resize(*size)
            assert stage.text.splitlines()[-2].rstrip().endswith("end")


@pytest.mark.parametrize("lines", [6, 60])  # a scroll bar comes and goes
async def test_a_long_paste_is_undone_and_redone(play: Play, lines: int) -> None:
    text = "".join(f"line {n}\n" for n in range(lines))
    async with play(size=(60, 24)) as stage:
        prompt = stage.app.main.prompt
        stage.app.post_message(events.Paste(text))
        await quiet()
        assert prompt.text == text
        await stage.press("ctrl+z")
        assert not prompt.text
        await stage.press("ctrl+y")
        assert prompt.text == text and prompt.selection.end == (lines, 0)


async def test_what_was_said_does_not_outlive_its_moment(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "3", "delete")
        assert "3 Prompt lookup is removed" in stage.text
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
        await stage.tell(RunRejected("Long", "the prompt is too long"))
        await stage.press("ctrl+n")
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
        assert not stage.engine.asked(SetParams) and "a again: typical acceptance" in stage.text
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
