"""Prompts, turns, stop, pause, single rounds: what the app asks of the engine."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from rich.style import Style
from textual import events

from app.engine.commands import (
    AddLane,
    OpenConversation,
    Pause,
    RemoveLane,
    Run,
    RunAgain,
    SetEnabled,
    SetLeader,
    SetSchedule,
    StartSamplingTest,
    StepRound,
    Stop,
)
from app.engine.events import (
    EngineExited,
    Event,
    Finished,
    LoadFailed,
    Loading,
    ProbabilitiesComputed,
    RoundFinished,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.text.prompt_file import Request
from app.tui.refresh import AWAKE_SECONDS, EVENTS_SECONDS
from app.tui.screens.dialog import Choices
from app.tui.screens.examples import ExamplesScreen
from decoding.params import Params, SamplingParams
from tests.support.contrast import contrast_of
from tests.support.quiet import quiet
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import PROMPTS, Play, Stage


async def test_enter_runs_the_prompt(play: Play) -> None:
    async with play() as stage:
        await stage.type("Hi there")
        await stage.press("ctrl+j")
        await stage.type("you")
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run("Hi there\nyou")]
        assert stage.app.main.prompt.text == ""
        await stage.press("enter")
        assert len(stage.engine.asked(Run)) == 1


async def test_no_second_run_while_one_is_going_on(play: Play) -> None:
    async with play() as stage:
        await stage.type("one")
        await stage.press("enter", "f5")
        assert stage.engine.asked(Run) == [Run("one")] and not stage.engine.asked(RunAgain)
        assert "Still answering" in stage.text


async def test_text_typed_while_a_prompt_is_submitted_stays(play: Play) -> None:
    async with play() as stage:
        await stage.type("one")
        prompt = stage.app.main.prompt
        prompt.action_submit()
        prompt.insert("two")
        await stage.pilot.pause()
        assert stage.engine.asked(Run) == [Run("one")] and prompt.text == "two"


async def test_history(play: Play) -> None:
    async with play() as stage:
        for turn, prompt in enumerate(("one", "two")):
            await stage.type(prompt)
            await stage.press("enter")
            await stage.begin(prompt, turn)
            await stage.finish(turn)
        await stage.type("dr")
        await stage.press("up")
        assert stage.app.main.prompt.text == "two"
        await stage.press("up", "up")
        assert stage.app.main.prompt.text == "one"
        await stage.press("down", "down")
        assert stage.app.main.prompt.text == "dr"


async def test_stop_pause_step_again(play: Play) -> None:
    async with play(schedule="fair") as stage:
        await stage.type("Hi")
        await stage.press("enter")
        await stage.begin("Hi")
        await stage.tell(prefilled("ar", "A"))
        assert "● 1 ar running 0/3" in stage.text
        await stage.press("space")
        assert stage.engine.asked(Pause) == [Pause(True)] and "paused" in stage.text
        await stage.press("tab", "n", "n")
        assert len(stage.engine.asked(StepRound)) == 2
        await stage.press("space", "n")
        assert stage.engine.asked(Pause) == [Pause(True), Pause(False), Pause(True)]
        await stage.press("escape")
        assert len(stage.engine.asked(Stop)) == 1
        await stage.tell(Finished("ar", "stopped"), RunFinished(0, True))
        assert stage.engine.asked(Pause)[-1] == Pause(False)  # the next run begins unpaused
        await stage.press("f5")
        assert len(stage.engine.asked(RunAgain)) == 1
        await stage.begin("Hi")
        assert stage.lines(1)[0] == "› Hi" and stage.lines(1)[1] == ""


async def test_another_answer_is_drawn_only_where_there_is_another(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.tell(*(Finished(name, "stop") for name in ("ar", "draft", "lookup")))
        await stage.tell(RunFinished(0, False))
        await stage.press("ctrl+r")
        assert (
            not stage.engine.asked(RunAgain)
            and "the answer is always the same: Esc, then t goes to the temperature" in stage.text
        )
        stage.app.change_params({"temperature": 0.8})
        await stage.press("ctrl+r")
        assert stage.engine.asked(RunAgain) == [RunAgain(redraw=True)]
        again = RunStarted(1, 0, "Hi", 3, 42, ("ar", "draft", "lookup"), replaces=0)
        await stage.tell(again)
        assert "seed 42, drawn anew" in stage.text
        await stage.finish(1)
        await stage.tell(again)  # the same draws once more, or played again
        assert "seed 42, drawn anew" in stage.text
        await stage.finish(1)
        await stage.begin("Next", 2)
        assert "seed 42" in stage.text and "anew" not in stage.text


async def test_keys_of_a_run_do_nothing_without_one(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "space", "n", "escape", "ctrl+c", "f5")
        assert all(call == "open" or isinstance(call, SetLeader) for call in stage.engine.calls)


async def test_escape_in_a_lane_shows_all_panes_then_stops(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.press("tab", "z")
        assert not stage.app.main.prompt.has_focus and stage.app.main.zoomed
        await stage.press("escape")
        assert not stage.app.main.zoomed and not stage.engine.asked(Stop)
        await stage.press("escape")
        assert len(stage.engine.asked(Stop)) == 1


async def test_blank_rows_have_nothing_to_copy(play: Play) -> None:
    async with play() as stage:
        for row in (4, 0):  # below the introduction of the lane, and on it
            for post, column in (("mouse_down", 1), ("hover", 9), ("mouse_up", 9)):
                await getattr(stage.pilot, post)(stage.view(2), offset=(column, row))
            await stage.press("ctrl+c")
            assert ("Copied" in stage.text) == (row == 0)


async def test_a_lane_without_an_answer_has_nothing_to_copy(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(1)
        await stage.press("y")
        assert "1 Autoregressive has no answer" in stage.text and "Copied" not in stage.text


async def test_ctrl_c_copies_a_selection_else_stops(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.tell(prefilled("ar", "first words\nsecond"))
        view = stage.view(1)
        await stage.pilot.mouse_down(view, offset=(1, 1))
        await stage.pilot.hover(view, offset=(6, 1))
        await stage.pilot.mouse_up(view, offset=(6, 1))
        await stage.pilot.pause()
        marked = next(part.style for part in view.render_line(1) if part.text.startswith("first"))
        assert marked and marked.reverse and contrast_of(marked) >= 4.5
        await stage.press("ctrl+c")
        assert "Copied 6 characters" in stage.text
        assert stage.app.clipboard.startswith("first") and not stage.engine.asked(Stop)
        stage.app.main.clear_selection()
        await stage.press("ctrl+c")
        assert len(stage.engine.asked(Stop)) == 1


async def test_ctrl_c_empties_the_prompt(play: Play) -> None:
    async with play() as stage:
        await stage.type("too long")
        await stage.press("ctrl+c")
        assert stage.app.main.prompt.text == "" and not stage.engine.asked(Stop)
        await stage.press("up")
        assert stage.app.main.prompt.text == "too long"
        await stage.begin("Hi")
        await stage.press("ctrl+c")  # a run is stopped before
        assert stage.app.main.prompt.text == "too long" and stage.engine.asked(Stop)


async def test_a_conversation_goes_on_from_a_lane_that_has_answered(play: Play) -> None:
    async with play() as stage:
        await stage.begin("One")
        await stage.tell(prefilled("draft", "an answer"))
        await stage.finish()
        assert stage.app.state.goes_on_from == "draft"


async def test_the_next_turn_continues_from_the_leader_while_it_waits(
    play: Play,
) -> None:
    async with play() as stage:
        await stage.begin("One")
        await stage.press("tab", "tab")
        await stage.tell(prefilled("ar", "an answer"))
        assert stage.app.state.leader == "draft"
        await stage.finish()  # stopped before it said anything
        assert stage.app.state.goes_on_from == "ar"


async def test_lanes_that_said_the_same_all_go_on_from_it(play: Play) -> None:
    async with play() as stage:
        await stage.begin("One")
        await stage.tell(prefilled("ar", "an answer"), prefilled("draft", "an answer"))
        await stage.finish()
        await stage.begin("Two", 1)
        assert "› Two" in stage.lines(2) and "(after" not in stage.text


async def test_a_conversation_goes_on_from_the_lane_in_focus(play: Play) -> None:
    async with play() as stage:
        assert stage.engine.asked(SetLeader) == [SetLeader("ar")]
        await stage.begin("One")
        await stage.tell(prefilled("ar", "first answer"), prefilled("draft", "other answer"))
        await stage.finish()
        await stage.press("tab", "tab")
        assert stage.engine.asked(SetLeader)[-1] == SetLeader("draft")
        assert "2 Draft model γ4 ✓ next turn continues here" in stage.text
        await stage.press("i")
        assert "The next turn continues from 2 Draft model" in stage.text
        await stage.begin("Two", 1)
        assert stage.lines(1)[:4] == [
            "› One", "first answer", "", "› Two  (after 2 Draft model)",
        ]  # fmt: skip
        assert stage.lines(2)[3] == "› Two"
        await stage.tell(prefilled("draft", "second answer"))
        await stage.finish()
        await stage.press("tab", "tab", "y")
        assert stage.app.clipboard == "second answer"
        await stage.begin("Two", 1)  # run again: only the last turn is replaced
        assert stage.lines(2)[:5] == ["› One", "other answer", "", "› Two", ""]
        await stage.finish()
        await stage.press("ctrl+n")
        assert len(stage.engine.asked(OpenConversation)) == 1
        assert "One" not in stage.text and "continues here" not in stage.text
        await stage.press(*"Two")
        assert stage.app.main.prompt.text == "Two"


async def test_a_refused_prompt_comes_back(play: Play) -> None:
    async with play() as stage:
        await stage.type("Too long")
        await stage.press("enter")
        await stage.tell(RunRejected("Too long", "the prompt has 4096 tokens, 2048 are the limit"))
        assert stage.app.main.prompt.text == "Too long" and stage.app.main.prompt.has_focus
        assert "the prompt has 4096 tokens, 2048 are the limit" in stage.text
        await stage.press("enter")
        assert len(stage.engine.asked(Run)) == 2


async def die(stage: Stage, *names: str) -> None:
    """What an engine says when it ends in the middle of a turn."""
    cut = (Finished(name, "error", "killed") for name in names)
    await stage.tell(*cut, RunFinished(0, True), EngineExited("killed"))


async def test_how_to_get_another_sample(play: Play) -> None:
    async with play((100, 30)) as stage:
        await stage.begin()
        await stage.tell(RunFinished(0, False))
        said = "F5 answers again with the same seed, Ctrl+R with another"
        assert said not in stage.text  # at temperature 0 there is no other
        await stage.press("escape", "t", *"1", "enter", "i")
        await stage.begin(turn=1)
        assert said not in stage.text
        await stage.tell(RunFinished(1, False))
        assert said in stage.text


async def test_answers_stay_after_the_engine_exits_and_f5_restarts_it(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape")
        await stage.begin("Hi")
        await stage.tell(prefilled("ar", "The"), stepped("ar", [" end"], [], "."))
        await stage.press("space")
        await die(stage, "ar", "draft", "lookup")
        assert "✗ ended" in stage.text and "killed: F5 restarts it" in stage.text
        assert stage.text.count("✗ ended: F5 restarts it") == 3 and "F5 Restart" in stage.text
        assert stage.lines(1)[:3] == ["› Hi", "The end.", "✗ killed"]
        await stage.press("e", "u", "delete")
        for kind in (StartSamplingTest, AddLane, RemoveLane):
            assert not stage.engine.asked(kind)
        assert stage.engine.opened == 1
        await stage.press("2", "o", "m", "f5", "f5")
        assert stage.engine.calls[-2:] == ["open", RunAgain()]
        assert "… loading" in stage.text and "ended" not in stage.text
        assert stage.lines(1)[:2] == ["› Hi", "The end."]
        await stage.load()
        assert stage.lines(1)[:2] == ["› Hi", "The end."] and "2 Draft model · off" in stage.text
        assert stage.app.state.lanes["ar"].round_events
        await stage.begin("Hi", 0, "ar", "lookup")
        assert stage.lines(1)[:2] == ["› Hi", ""] and "● prefill" in stage.text


async def test_enter_sends_a_new_prompt_to_a_restarted_engine(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await die(stage, "ar", "draft", "lookup")
        await stage.type("Go on")
        await stage.press("enter")
        assert stage.engine.opened == 2 and not stage.engine.asked(Run)
        assert "then “Go on” is answered" in stage.text
        await stage.tell(
            EngineExited("killed again")
        )  # once more, while it loads: nothing by itself
        assert "killed again: F5" in stage.text and stage.app.main.prompt.text == "Go on"
        assert stage.engine.opened == 2 and stage.lines(1)[0] == "› Hi"
        await stage.press("enter")
        await stage.tell(LoadFailed("the disk is gone"))  # what can be looked at stays
        assert "the disk is gone: F5" in stage.text and stage.lines(1)[0] == "› Hi"
        await stage.press("enter")
        await stage.load()
        assert stage.engine.asked(Run) == [Run("Go on")]
        assert stage.engine.opened == 4


async def test_an_engine_that_has_ended_between_two_turns(play: Play) -> None:
    async with play() as stage:
        await stage.tell(EngineExited("killed"))
        assert "killed: F5" in stage.text
        await stage.press("enter")
        assert stage.engine.opened == 2
        await stage.load()
        assert "○ ready" in stage.text and not stage.engine.asked(Run)
        await stage.begin("Hi")
        await stage.finish()
        await stage.tell(EngineExited("killed"))
        await stage.press("ctrl+n")
        assert stage.engine.asked(OpenConversation) and "Hi" not in stage.lines(1)[0]
        await stage.press("f5")
        assert stage.engine.opened == 3 and not stage.engine.asked(RunAgain)


async def test_loading_is_shown_and_a_prompt_waits_for_it(play: Play) -> None:
    async with play(load=False) as stage:
        assert stage.engine.opened == 1
        assert "1 Autoregressive" in stage.text and "… loading" in stage.text
        await stage.tell(Loading("target model", 0.5))
        assert "━━━━━━━━━━──────────  50% target model" in stage.text
        await stage.type("Early")
        await stage.press("enter")
        assert not stage.engine.asked(Run) and "then “Early” is answered" in stage.text
        await stage.load()
        assert stage.engine.asked(Run) == [Run("Early")]


async def test_waiting_prompts_come_back_from_an_engine_that_ended_with_its_answer(
    play: Play,
) -> None:
    async with play() as stage:
        await stage.begin("one")
        for question in ("two", "three"):
            await stage.type(question)
            await stage.press("enter")
        await stage.tell(RunFinished(0, True), EngineExited("killed"))
        assert not stage.engine.asked(Run) and not stage.app.state.queued
        assert stage.app.main.prompt.text == "three"
        await stage.press("ctrl+c", "up", "up")
        assert stage.app.main.prompt.text == "two"


async def test_why_waiting_prompts_came_back_is_said(play: Play) -> None:
    async with play(load=False) as stage:
        for question in ("one", "two"):
            await stage.type(question)
            await stage.press("enter")
        await stage.tell(LoadFailed("no folder /mine", kept=True))
        assert "no folder /mine" in stage.text and "Taken back" in stage.app.state.notice


async def test_a_step_of_a_lane_that_is_off_does_not_pause(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi", 0, "ar", "draft")
        stage.app.state.lanes["lookup"].enabled = False
        await stage.to_lane(3)
        await stage.press("n")
        assert not stage.engine.asked(Pause) and "is off: N steps" in stage.text


async def test_a_waiting_prompt_can_be_taken_back(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.type("Early")
        await stage.press("enter", "escape")
        assert stage.app.main.prompt.text == "Early"
        await stage.load()
        assert not stage.engine.asked(Run)


async def test_lanes_are_not_known_before_loading(play: Play) -> None:
    async with play(load=False, lanes=()) as stage:
        assert "Autoregressive" not in stage.text
        await stage.load()
        assert "1 Autoregressive" in stage.text and "4 Medusa" in stage.text


async def test_a_load_failure_can_be_read_and_the_app_lives_on(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.type("Early")
        await stage.press("enter")
        await stage.tell(LoadFailed("/models/none: no config.json\nGive --target a folder."))
        assert "/models/none: no config.json" in stage.text
        assert "Give --target a folder." in stage.text and "Ctrl+Q quits" in stage.text
        assert stage.app.main.prompt.text == "Early" and "F5 tries again" in stage.text
        await stage.press("enter")
        assert stage.engine.opened == 2 and "Nothing could" not in stage.text
        assert "Loading the models again, then “Early” is answered" in stage.text
        await stage.tell(EngineExited("killed"))
        assert "Nothing could be loaded" in stage.text and "killed" in stage.text
        assert stage.app.main.prompt.text == "Early"
        await stage.press("f1")
        assert "drafted, and the target agreed" in stage.text
        await stage.press("escape", "ctrl+q")
    assert "close" in stage.engine.calls


async def test_examples(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [
        Request((PROMPTS[0],), category="facts"),
        Request((PROMPTS[1], "Another, please."), category="verse: short"),
    ]
    monkeypatch.setattr("app.tui.app.examples", lambda: requests)
    async with play() as stage:
        assert "F2 has examples" in stage.text
        await stage.press("f2")
        assert PROMPTS[1] in stage.text  # its brackets are no markup
        for line in ("│ facts  ", "│ verse: short  ", "│   ↳ Another, please.  "):
            assert line in stage.text
        await stage.press("down", "enter")  # over the heading
        assert stage.app.main.prompt.text == PROMPTS[1]
        await stage.press("f2")
        await stage.type("VERSE")
        await stage.press("down", "enter")
        assert stage.app.main.prompt.text == "Another, please."
        await stage.press("f2")
        await stage.type("CAPITAL")
        assert PROMPTS[0] in stage.text and "verse" not in stage.text
        await stage.press("enter")
        assert stage.app.main.prompt.text == PROMPTS[0] and stage.app.main.prompt.has_focus
        await stage.press("up")  # what stood there is not lost
        assert stage.app.main.prompt.text == "Another, please."


async def test_of_two_quick_enters_in_a_list_one_chooses(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.tui.app.examples", lambda: [Request((PROMPTS[0],))])
    async with play() as stage:
        await stage.press("f2")
        for _ in range(2):  # both are sent to the list before it handles the first
            stage.app.post_message(events.Key("enter", "\r"))
        await quiet()
        assert stage.app.screen is stage.app.main
        assert stage.app.main.prompt.text == PROMPTS[0] and not stage.engine.asked(Run)


async def test_a_dialog_over_another_closes_alone(play: Play) -> None:
    async with play() as stage:
        below, above = ExamplesScreen([]), ExamplesScreen([])
        await stage.app.push_screen(below)
        await stage.app.push_screen(above)
        for _ in range(2):
            above.dismiss()
        await quiet()
        assert stage.app.screen is below


async def test_a_click_on_an_option_that_has_gone_chooses_nothing(play: Play) -> None:
    async with play() as stage:
        await stage.app.push_screen(ExamplesScreen([Request((PROMPTS[0],))]))
        options = stage.app.screen.query_one(Choices)
        style = Style.from_meta({"option": 7})
        options.post_message(
            events.Click(options, 1, 1, 0, 0, 1, False, False, False, 1, 1, style=style)
        )
        await quiet()
        assert isinstance(stage.app.screen, ExamplesScreen)


async def test_fair_and_race(play: Play) -> None:
    async with play(schedule="race", params=Params(gamma=3)) as stage:
        assert "race" in stage.text
        await stage.press("tab", "m")
        assert stage.engine.asked(SetSchedule) == [SetSchedule("fair")] and "· fair" in stage.text


async def test_in_a_race_nobody_is_said_to_be_running(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "The"))
        assert "● running 0/3" in stage.text  # the names would flicker
        await stage.press("tab", "m")
        assert "● 1 ar running 0/3" in stage.text


async def test_long_loading_says_for_how_long(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.tell(Loading("torch and transformers", None))
        assert "Loading torch and transformers " in stage.text and " s " not in stage.text
        for _ in range(7):
            await stage.tell()
        assert "Loading torch and transformers · 8 s" in stage.text
        await stage.load()
        assert "Loading" not in stage.text


async def test_a_lane_that_is_switched_says_so(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("o")
        assert "2 Draft model is off" in stage.text
        await stage.press("o")
        assert "2 Draft model is on" in stage.text


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_a_pause_is_seen_and_says_how_to_go_on(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "The"), stepped("ar", [], [], "a"))
        await stage.press("space")
        assert "Space resumes; Tab, n: one round; Esc stops" in stage.text
        marks = stage.text.splitlines()[1]
        assert "‖" in marks and "▶" not in marks  # the tabs, or the first pane
        await stage.press("tab")
        assert "n One round" in stage.text


async def test_who_was_done_first_goes_by_its_own_time(play: Play) -> None:
    """And not by whose last round came first; it is said when nobody can be faster any more."""

    def spent(name: str, seconds: float) -> tuple[RoundFinished, Finished]:
        now = replace(metrics(), decode_seconds=seconds)
        return stepped(name, ["a"], [], "b", now), Finished(name, "stop", None, now)

    async with play() as stage:
        await stage.begin()
        await stage.tell(*(prefilled(name, "The") for name in ("ar", "draft", "lookup")))
        draft, draft_ends = spent("draft", 1.2)
        lookup, lookup_ends = spent("lookup", 1.1)
        ar, ar_ends = spent("ar", 1.0)
        await stage.tell(ar, draft, lookup, draft_ends)
        assert "1st" not in stage.text
        await stage.tell(lookup_ends)
        assert "1st" not in stage.text  # the autoregressive lane has had less time
        ar, ar_ends = spent("ar", 2.0)
        await stage.tell(ar)
        titles = [
            next(row for row in stage.text.splitlines() if title in row)
            for title in ("3 Prompt lookup", "2 Draft model")
        ]
        assert "3 Prompt lookup γ10 ✓ 1st" in titles[0] and "2 Draft model γ4 ✓ 2nd" in titles[1]
        assert "3rd" not in stage.text
        await stage.tell(ar_ends)
        assert "1 Autoregressive ✓ 3rd" in stage.text


async def test_an_answer_of_one_token_is_no_race(play: Play) -> None:
    now = replace(metrics(), tokens=1, passes=0, decode_seconds=0.0, speedup=None)
    async with play() as stage:
        await stage.begin("Hello", 0, "ar", "draft")
        for name in ("ar", "draft"):
            event = Finished(name, "length", None, replace(now, tokens_per_second=None))
            await stage.tell(prefilled(name, "The"), event)
        await stage.tell(RunFinished(0, False))
        assert "2 Draft model γ4 ✓" in stage.text and "1st" not in stage.text
        assert "one token, nothing to draft" in stage.text


async def test_where_tokens_are_drawn_nobody_is_first(play: Play) -> None:
    """It may only have said less."""
    async with play(params=Params(SamplingParams(0.8))) as stage:
        await stage.begin("Hello", 0, "ar", "draft")
        for name in ("ar", "draft"):
            sampled = stepped(name, ["a"], [], "b", params=Params(SamplingParams(0.8)))
            await stage.tell(prefilled(name, "The"), sampled, Finished(name, "stop"))
        await stage.tell(RunFinished(0, False))
        assert "Draft model γ4 ✓" in stage.text and "1st" not in stage.text


async def test_a_notice_goes_away(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "m")
        assert "fair: one lane after the other" in stage.text
        for _ in range(7):
            await stage.tell()
        assert "fair: one lane after the other" not in stage.text


async def test_a_lane_that_is_on_again_says_how_it_goes_on(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.to_lane(2)
        await stage.press("o")
        assert "2 Draft model is off" in stage.text
        await stage.tell(Finished("draft", "stopped"))
        await stage.press("o")
        assert "Enter in the empty prompt continues it when the others are done" in stage.text


async def test_events_after_a_lane_is_switched_off(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"))
        await stage.press("tab", "2", "o")
        assert stage.engine.asked(SetEnabled) == [SetEnabled("draft", False)]
        await stage.tell(stepped("draft", [" end"], [], "."), Finished("draft", "stopped"))
        await stage.press("o")
        assert stage.lines(2)[1] == "The end."


async def test_decoding_that_hangs_is_restarted(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.tell(prefilled("ar", "The"))
        await stage.press("f5")
        assert "Still answering" in stage.text and stage.engine.opened == 1
        stage.clock.now += 61
        await stage.tell()
        assert "No output from the decoding process for a minute: F5 restarts it" in stage.text
        await stage.tell(stepped("ar", [" end"], [], "."))
        assert "No output from the decoding process" not in stage.text  # it was only slow
        stage.clock.now += 61
        await stage.tell()
        await stage.press("f5")
        assert stage.engine.opened == 2 and len(stage.engine.asked(RunAgain)) == 1
        assert "No output from the decoding process" not in stage.text


async def test_waiting_for_the_user_is_no_silence(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.tell(prefilled("ar", "The"))
        await stage.press("tab", "space")
        stage.clock.now += 600
        await stage.tell()
        assert "No output from the decoding process" not in stage.text
        await stage.press("space")
        await stage.tell(RunFinished(0, False))
        stage.clock.now += 600
        await stage.tell()
        assert "No output from the decoding process" not in stage.text


async def test_loading_that_hangs_is_restarted(play: Play) -> None:
    async with play() as stage:
        await stage.tell(Loading("target x", 0.1))
        assert "should it hang" not in stage.text
        stage.clock.now += 61
        await stage.tell()
        assert "10% target x" in stage.text and "F5 restarts it, should it hang" in stage.text
        assert "No output from the decoding process" not in stage.text
        await stage.press("f5")
        assert stage.engine.opened == 2 and not stage.engine.asked(RunAgain)


async def test_time_in_which_the_shell_had_stopped_it_is_no_silence(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.tell(prefilled("ar", "The"))
        stage.clock.now += 600
        stage.app.app_resume_signal.publish(stage.app)
        await stage.pilot.pause()
        await stage.tell()
        assert "No output from the decoding process" not in stage.text


async def test_before_the_first_token_the_state_is_prefill(play: Play) -> None:
    async with play() as stage:
        await stage.type("Hello")
        await stage.press("enter")
        await stage.tell()
        assert "● prefill" in stage.text and "running 0/0" not in stage.text
        await stage.begin()
        await stage.tell(prefilled("ar", "It"))
        assert "● running 0/3" in stage.text


async def test_a_conversation_that_fills_half_of_the_context_says_how_much(play: Play) -> None:
    async with play() as stage:
        await stage.load()
        state = stage.app.state
        assert state.loaded is not None
        context = state.loaded.context
        await stage.begin("Hi")
        assert state.started is not None
        assert "context" not in stage.text
        await stage.finish()
        await stage.tell(replace(state.started, run=1, prompt_tokens=context // 2 + 1))
        assert "context 5" in stage.text.splitlines()[0]
        state.foreign = True
        stage.app.main.show_state()
        await stage.pilot.pause()
        assert "context" not in stage.text  # counted in another model's tokens


@pytest.mark.parametrize(
    "job", [*(pytest.param(job, marks=pytest.mark.slow) for job in ("e", "f7")), "w"]
)
async def test_an_app_looks_for_events_often_while_something_is_computed(
    play: Play, monkeypatch: pytest.MonkeyPatch, job: str
) -> None:
    monkeypatch.setattr("app.tui.app.IDLE_SECONDS", 1000.0)
    async with play() as stage:
        await stage.to_lane(2)
        run = RunStarted(0, 0, "Hello", 3, 42, ("draft",), prompt_ids=(1,), at=0.0)
        rounds = (stepped("draft", [" is"], [], " it"), stepped("draft", [], [], "!", index=1))
        await stage.tell(run, prefilled("draft", "The"), *rounds)
        await stage.finish(0, "draft")
        await stage.press(job)
        begun, idle = time.monotonic(), AWAKE_SECONDS + 10 * EVENTS_SECONDS
        looks, drain = [begun], stage.engine.drain

        def counted() -> list[Event]:
            looks.append(time.monotonic())
            return drain()

        monkeypatch.setattr(stage.engine, "drain", counted)
        await stage.until(lambda: looks[-1] > begun + idle)
        if job == "w":
            stage.engine.emit(ProbabilitiesComputed("draft", 0, note="nothing is measured here"))
        else:
            await stage.press("escape")
        await stage.until(lambda: time.monotonic() > looks[-1] + idle)


async def test_an_idle_app_looks_for_events_rarely_until_something_happens(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.tui.app.IDLE_SECONDS", 1000.0)
    async with play() as stage:
        looks, drain = [time.monotonic()], stage.engine.drain

        def counted() -> list[Event]:
            looks.append(time.monotonic())
            return drain()

        monkeypatch.setattr(stage.engine, "drain", counted)
        idle = AWAKE_SECONDS + 10 * EVENTS_SECONDS
        await stage.until(lambda: time.monotonic() > looks[-1] + idle)
        await stage.type("Hello")
        await stage.press("enter")
        stage.engine.emit(RunStarted(0, 0, "Hello", 3, 42, ("ar",)))
        await stage.until(lambda: "› Hello" in stage.text)
        begun = time.monotonic()  # nothing else comes for a while, but may at any time
        await stage.until(lambda: looks[-1] > begun + idle)
