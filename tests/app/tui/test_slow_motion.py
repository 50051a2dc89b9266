"""The last run once more in slow motion, rounds of chosen lanes, and the view for a projector."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import Digits

from app.engine.commands import Run, StepRound, Stop
from app.engine.events import Finished, RoundFinished, RunFinished
from app.history.recording import RecordedTurn
from app.history.replay import LOOP_SECONDS, side_by_side
from app.tui.actions.slow_motion import last_turn, suitable_speed
from app.tui.state.scores import scores
from decoding.params import Params
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import Play, Stage


def made(name: str, text: str, seconds: float, at: float) -> RoundFinished:
    """A round that took so long, and came when others had had their time as well."""
    event = stepped(name, [text], [], ".", replace(metrics(), decode_seconds=seconds))
    timed = replace(event.round, total_seconds=seconds)
    return replace(event, round=timed, at=at)


async def raced(stage: Stage) -> None:
    """The draft lane is done after 1 second of its own, the autoregressive one after 3."""
    await stage.begin("Hello", 0, "ar", "draft")
    await stage.tell(prefilled("ar", "One"), prefilled("draft", "One"))
    await stage.tell(made("ar", " two", 2.0, 2.0), made("draft", " two", 1.0, 3.0))
    await stage.tell(Finished("draft", "stop", None, metrics(), True, at=3.0))
    await stage.tell(made("ar", " three", 1.0, 4.0))
    await stage.tell(Finished("ar", "stop", None, metrics(), at=4.0), RunFinished(0, False, at=4.0))


def events(turn: RecordedTurn) -> list[tuple[str, float]]:
    return [(event.lane, event.at) for lane in turn.lanes.values() for event in lane.steps]


async def test_every_lane_has_a_machine_for_itself(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        turn = side_by_side(last_turn(stage.app.state))
        assert events(turn) == [("ar", 2.0), ("ar", 3.0), ("draft", 1.0)]
        assert turn.ended is not None and turn.ended.at == 3.0
        assert [lane.finishes[-1].at for lane in turn.lanes.values()] == [3.0, 1.0]


def test_it_is_slow_enough_to_be_followed() -> None:
    times = (0.01, 0.3, 1.0, 2.0, 5.0, 60.0)
    assert [suitable_speed(each) for each in times] == [0.01, 0.02, 0.1, 0.25, 0.5, 1.0]


async def test_it_is_the_run_that_was(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        state = stage.app.state
        state.foreign, state.next_seed = True, 7  # of another model's, and chosen since
        await stage.press("escape", "space")
        await stage.tell()
        assert "slow motion" in stage.text and "seed 42, then 7" in stage.text
        assert not state.can_compute


async def test_a_new_conversation_does_not_begin_paused_as_it_was(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        await stage.press("space", "space")
        await stage.tell()
        assert stage.app.state.paused
        await stage.press("ctrl+n")
        assert not stage.app.state.paused


async def test_spaces_before_a_question_leave_no_slow_motion(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        before = stage.lines(1)
        await stage.press("space", "space")
        await stage.tell()
        assert "slow motion" in stage.text and stage.lines(1) != before
        await stage.type("Why")
        await stage.tell()
        assert "slow motion" not in stage.text and stage.lines(1) == before
        assert stage.app.main.prompt.text == "Why" and not stage.app.state.paused
        await stage.press("ctrl+c", "space")  # once more, and nothing written: Esc ends it
        await stage.tell()
        for size in ((60, 24), (100, 30)):
            await stage.resize(*size)
            assert "× loops; Esc ends it" in " ".join(stage.text.split())
        await stage.press("escape")
        assert stage.lines(1) == before


async def test_titles_have_the_settings_of_the_run_that_is_played(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hello", 0, "draft")
        first, second = (
            replace(made("draft", text, 1.0, at), params=Params(gamma=4))
            for text, at in ((" two", 1.0), (" three", 2.0))
        )
        await stage.tell(prefilled("draft", "One"), first, second)
        await stage.tell(Finished("draft", "stop", at=2.0), RunFinished(0, False, at=2.0))
        stage.app.change_params({"gamma": 2})
        await stage.press("space")
        await stage.tell()
        draft = stage.app.state.lanes["draft"]
        assert draft.going and not draft.round_events and "2 Draft model γ4" in stage.text


async def test_space_plays_the_last_run_again_in_a_loop(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        before = stage.text
        await stage.press("escape", "space")
        await stage.tell()
        assert "● slow motion" in stage.text and "· 0.25×" in stage.text
        stage.clock.now += 4.0  # a second and a quarter of it
        await stage.tell()
        assert stage.lines(2)[1] == "One two." and stage.lines(1)[1] == "One"
        assert "1st" in stage.text and not stage.app.state.running
        stage.clock.now += 10.0
        await stage.tell()
        assert stage.lines(1)[1] == "One two. three."
        stage.clock.now += LOOP_SECONDS
        await stage.tell()
        await stage.tell()
        assert stage.lines(1)[1] == "One"
        await stage.press("escape")
        assert stage.lines(1)[1] == "One two. three." and "● slow motion" not in stage.text
        assert stage.text.splitlines()[2:5] == before.splitlines()[2:5]
        state = stage.app.state
        assert len(state.runs.like(state.lanes["ar"])) == 1  # counted once
        assert {each.speed.count for each in scores(state) if each.speed} == {1}
        assert not stage.engine.asked(Stop)


async def test_its_speed_and_its_steps(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        await stage.press("escape", "space", "minus")
        await stage.tell()
        assert "· 0.1×" in stage.text
        await stage.press("plus", "plus", "n")
        await stage.tell()
        assert "‖ " in stage.text and "· 0.5×" in stage.text
        assert stage.lines(1)[1] == "One two."  # the round of the lane in focus
        stage.clock.now += 60.0
        await stage.tell()
        assert stage.lines(1)[1] == "One two."
        await stage.press("space")
        await stage.tell()
        stage.clock.now += 60.0
        await stage.tell()
        assert stage.lines(1)[1] == "One two. three."


async def test_a_step_when_nothing_runs_says_how(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.begin("Hello", 0, "ar", "draft")
        await stage.finish(0, "ar", "draft")
        for key in ("n", "N"):
            await stage.press("escape", "1", key)
            assert "Nothing is running: Space replays the last run, then n" in stage.text


async def test_slower_and_faster_say_what_they_are_for(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hello", 0, "ar", "draft")
        for key in ("minus", "equals_sign"):
            await stage.press("escape", "tab", "1", key)
            assert "For slow motion: Space replays a finished run" in stage.text


async def test_a_round_of_every_lane_in_slow_motion(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        await stage.press("escape", "space")
        await stage.tell()
        assert "N A round each" in stage.text
        await stage.press("N")
        await stage.tell()
        assert [stage.lines(number)[1] for number in (1, 2)] == ["One two.", "One two."]
        assert "2 Draft model γ4 ✓ 1st" in stage.text and "‖ " in stage.text
        await stage.press("2", "n")
        assert "2 Draft model is done: N steps all others one round" in stage.text
        await stage.press("N")
        await stage.tell()
        assert stage.lines(1)[1] == "One two. three." and "1 Autoregressive ✓ 2nd" in stage.text


async def test_a_new_question_ends_it(play: Play) -> None:
    async with play() as stage:
        await raced(stage)
        await stage.press("escape", "space")
        await stage.tell()
        await stage.press("i")
        await stage.type("Hi")
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run("Hi")]
        assert stage.app.slow_motion is None and stage.lines(1)[1] == "One two. three."


async def test_without_a_run_there_is_nothing_to_play(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "space")
        await stage.tell()
        assert "slow motion" not in stage.text.lower() and "Slow motion" not in stage.text


async def test_a_round_of_the_lane_in_focus_and_one_of_each(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hello", 0, "ar", "draft")
        await stage.press("tab", "tab", "n")
        assert stage.engine.asked(StepRound) == [StepRound("draft")]
        await stage.press("N")
        assert stage.engine.asked(StepRound)[1:] == [StepRound("ar"), StepRound("draft")]
        await stage.tell(Finished("draft", "stop", None, metrics()))
        await stage.press("n")
        assert len(stage.engine.asked(StepRound)) == 3
        assert "2 Draft model is done: N steps all others one round" in stage.text


async def test_the_projector_shows_the_number_and_the_speeds_in_digits(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "Z")
        assert "Ask something first" in stage.text
        await stage.press("Z")
        await stage.begin("Hello", 0, "ar", "draft")
        await stage.press("Z")
        assert "Too early for a comparison" in stage.text
        assert "Ask something first" not in stage.text
        await stage.press("Z")
        for name, times in (("ar", 1.0), ("draft", 2.3)):
            now = replace(metrics(), speedup=times, tokens_per_second=60 * times)
            await stage.tell(prefilled(name, "A"), stepped(name, ["b"], [], "c", now))
            await stage.tell(Finished(name, "stop", None, now, True if name == "draft" else None))
        await stage.tell(RunFinished(0, False))
        await stage.press("Z")
        await stage.pilot.pause()
        values = [digits.value for digits in stage.app.screen.query(Digits) if digits.display]
        assert values[:3] == ["2.3x", "60", "138"]
        assert "Draft model is 2.3 times as fast" in stage.text
        assert stage.text.count("tok/s") == 2 and "Esc closes" in stage.text
        await stage.press("escape")
        assert "╭ 1 Autoregressive" in stage.text


async def test_the_projector_says_what_its_numbers_are_worth(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hello", 0, "ar", "draft")
        for name, speed, times in (("ar", 57.0, 1.0), ("draft", 336.0, 2.4)):
            now = replace(metrics(), speedup=times, tokens_per_second=speed)
            await stage.tell(prefilled(name, "A"), stepped(name, ["b"], [], "c", now))
        await stage.tell(Finished("draft", "stop"), Finished("ar", "stopped"))
        await stage.tell(RunFinished(0, True))
        await stage.press("escape", "Z")
        await stage.pilot.pause()
        assert "trust × more than tok/s" in " ".join(stage.text.split())
        assert stage.text.count("tok/s, stopped") == 1
