"""The first screen, and the tour: what a newcomer is shown, and that nothing of it stays."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.css.query import NoMatches

from app.engine.commands import Run
from app.engine.events import Loaded
from app.history.parse_document import read_recording
from app.models.assets import demo_topics, examples, tour_recording
from app.models.library import demo
from app.tui.format.tour import STEPS, Moment, best_turn, rejected_round
from app.tui.format.welcome import topics_of_demo
from app.tui.screens.help import HelpScreen
from app.tui.screens.tour import TourScreen, TourStage
from tests.support.quiet import quiet
from tests.support.stage import LANES, Play, Stage

WELCOME = "typing replaces it"


async def into_the_tour(stage: Stage) -> TourStage:
    await stage.press("f1")
    await stage.until(lambda: isinstance(stage.app.screen, TourScreen))
    await quiet()  # it may have been pushed a moment ago
    shown = stage.app.screen_stack[-2]
    assert isinstance(shown, TourStage)
    return shown


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_a_newcomer_is_told_what_this_is(play: Play, size: tuple[int, int]) -> None:
    async with play(size, newcomer=True, scoreboard=True) as stage:
        words = " ".join(stage.text.replace("│", " ").replace("┃", " ").split())
        assert "One model answers in every pane" in words and WELCOME in words
        assert examples()[0].turns[0][:40] in stage.text


async def test_enter_asks_the_example(play: Play) -> None:
    async with play(newcomer=True, scoreboard=True) as stage:
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run(examples()[0].turns[0])]
        await stage.begin()
        await stage.finish()
        await stage.press("enter")
        assert len(stage.engine.asked(Run)) == 1
        assert WELCOME not in stage.text and examples()[0].turns[0] not in stage.text


async def test_what_is_typed_replaces_the_example(play: Play) -> None:
    async with play(newcomer=True) as stage:
        await stage.type("Hello")
        assert examples()[0].turns[0][:20] not in stage.text
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run("Hello")]


async def test_who_has_asked_before_gets_no_example(play: Play) -> None:
    async with play(scoreboard=True) as stage:
        assert WELCOME not in stage.text
        await stage.press("enter")
        assert not stage.engine.asked(Run)


async def test_the_demo_says_what_it_knows(play: Play) -> None:
    async with play((150, 30), scoreboard=True) as stage:
        assert "tiny model" not in stage.text
        loaded = Loaded("demo", "cpu", "float32", 2, 2048, LANES, source=str(demo().target))
        await stage.tell(loaded)
        title, *rest = stage.text.splitlines()
        assert "demo, a tiny model" in title and f"knows {demo_topics()[0]}" in title
        assert any(f"knows a little of {demo_topics()[0]}" in line for line in rest)
        named = topics_of_demo(stage.app.state).removesuffix(" and more").split(", ")
        assert named == list(demo_topics()[: len(named)])


async def test_the_first_help_is_the_tour(play: Play) -> None:
    async with play(newcomer=True) as stage:
        await into_the_tour(stage)
        await stage.press("escape")
        assert stage.app.screen is stage.app.main
        await stage.press("f1")
        assert isinstance(stage.app.screen, HelpScreen)
        await stage.press("t")
        await stage.until(lambda: isinstance(stage.app.screen, TourScreen))


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_every_step_shows_what_it_speaks_of(play: Play, size: tuple[int, int]) -> None:
    async with play(size, newcomer=True) as stage:
        shown = await into_the_tour(stage)
        for number, step in enumerate(STEPS, 1):
            assert f"{number} of {len(STEPS)} · {step.title}" in stage.text
            lit = [part for part in shown.query(step.light) if part.display and part.region]
            assert lit and not any(part.has_class("-dim") for part in lit), step
            assert shown.open == step.panel
            if step.rejected:
                lanes = shown.state.lanes.values()
                assert [lane.cursor.fate for lane in lanes if lane.cursor] == ["rejected"]
            await stage.press("enter")
        assert stage.app.screen is stage.app.main


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_what_nobody_can_scroll_has_no_scrollbar(play: Play, size: tuple[int, int]) -> None:
    async with play(size, newcomer=True) as stage:
        shown = await into_the_tour(stage)
        for step in STEPS:
            for part in shown.query("#controls, .scores"):
                hidden = part.max_scroll_y and part.region
                assert not (hidden and part.scrollbar_size_vertical), (step.title, part)
            await stage.press("enter")


async def test_steps_wait_for_panes_that_are_slow(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was due before a step was asked for must not be shown after it."""
    rebuild, calls, go_on = TourStage.rebuild, list[TourStage](), asyncio.Event()

    async def slow(stage: TourStage) -> None:
        calls.append(stage)
        if len(calls) == 2:  # once the recording plays
            await go_on.wait()
        await rebuild(stage)

    monkeypatch.setattr(TourStage, "rebuild", slow)
    monkeypatch.setattr("app.tui.screens.tour.EVENTS_SECONDS", 0.001)
    async with play(newcomer=True) as stage:
        shown = await into_the_tour(stage)
        await stage.until(lambda: len(calls) == 2)
        await stage.press("right", "right")
        go_on.set()
        await stage.until(lambda: shown.player.over)
        await quiet()
        assert STEPS[2].title in stage.text and not shown.state.running


async def test_a_question_can_be_typed_at_its_end(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("question_mark", "t")
        await stage.until(lambda: isinstance(stage.app.screen, TourScreen))
        await stage.press(*["enter"] * len(STEPS))
        await stage.type("what")
        assert stage.app.main.prompt.text == "what" and stage.app.main.open is None


async def test_parts_that_go_before_their_screen_are_not_missed(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise NoMatches("#scores")

    async with play(newcomer=True) as stage:
        shown = await into_the_tour(stage)
        with monkeypatch.context() as patch:
            patch.setattr(shown, "_fit_panels", gone)
            shown._fit_again()  # asked for by a timer just before the tour ended


async def test_back_and_forth(play: Play) -> None:
    async with play(newcomer=True) as stage:
        shown = await into_the_tour(stage)
        await stage.press("left")
        assert STEPS[0].title in stage.text
        await stage.press("right", "right")
        assert STEPS[2].title in stage.text and shown.player.over
        answers = {name: lane.metrics for name, lane in shown.state.lanes.items()}
        await stage.press("left", "left", "right", "right")
        assert {name: lane.metrics for name, lane in shown.state.lanes.items()} == answers
        assert stage.app.main.state.turns == 0


async def test_it_leaves_nothing_behind(play: Play) -> None:
    async with play(newcomer=True) as stage:
        state, calls = stage.app.state, len(stage.engine.calls)
        before = (state.params, state.turns, state.leader, stage.app.main.display_options)
        await into_the_tour(stage)
        await stage.press("x", "d", "o", "u", "delete", "ctrl+n", "f5", "g", "i", "1")
        await stage.press(*["enter"] * len(STEPS))
        assert stage.app.screen is stage.app.main
        after = (state.params, state.turns, state.leader, stage.app.main.display_options)
        assert after == before and len(stage.engine.calls) == calls
        assert stage.app.theme == stage.app.first_theme and len(stage.app.screen_stack) == 1
        await stage.press("enter")
        assert stage.engine.asked(Run)


async def test_without_a_recording_there_is_no_tour(
    play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("app.tui.app.tour_recording", lambda: tmp_path / "none.json")
    async with play(newcomer=True) as stage:
        await stage.press("f1")
        await stage.until(lambda: "can't read" in stage.text)
        assert stage.app.screen is stage.app.main


def test_the_recording_shows_what_the_steps_speak_of() -> None:
    """Whatever was asked in it: lanes that draft, a rejection, probabilities."""
    recording = read_recording(tour_recording())
    turn = best_turn(recording.turns)
    assert any(rejected_round(lane) is not None for lane in turn.lanes.values())
    assert all(step.round.entropies for lane in turn.lanes.values() for step in lane.steps)
    assert [step.moment for step in STEPS[:3]] == [Moment.ASKED, Moment.PLAYING, Moment.DONE]


def test_the_longest_turn_with_a_rejection_is_shown() -> None:
    recording = read_recording(tour_recording())
    found = best_turn(recording.turns)
    nothing = replace(
        found, lanes={name: lane for name, lane in found.lanes.items() if name == "ar"}
    )
    assert best_turn([nothing, found]) is found and best_turn([nothing]) is nothing
