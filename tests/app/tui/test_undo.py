"""Undo and redo: whatever was changed, the engine is asked for what was before."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.config.model_options import ModelOptions
from app.engine.commands import (
    OpenConversation,
    OpenModels,
    RemoveLane,
    Run,
    SetEnabled,
    SetLanes,
    SetOverrides,
    SetParams,
    SetSchedule,
    Turn,
)
from app.engine.events import (
    EngineExited,
    Event,
    Finished,
    LaneInfo,
    LanesChanged,
    LoadFailed,
    RunContinued,
    RunFinished,
    RunRejected,
)
from app.history.log import read_log
from app.history.recording import Recording
from app.history.session_store import SessionStore
from app.history.store import Store
from app.models.library import ModelLibrary
from app.tui.actions import conversations
from app.tui.actions.conversations import events_of_lanes
from app.tui.state.undo import MERGE_SECONDS, LogPosition, Setup, UndoStack
from app.tui.widgets.slider import LABEL_CELLS
from decoding.params import Params
from tests.app.tui.test_conversations import ANSWERS, opened, reopen
from tests.support.conversation import LOADED, turn
from tests.support.scripted import lane
from tests.support.stage import LANES, PATIENCE, Play, Stage

START = Setup(ModelOptions(), Params(), "fair", (), frozenset(), LogPosition())


def test_a_slider_that_is_moved_step_by_step_is_one_step() -> None:
    steps = UndoStack()
    steps.record(START, 0.0)
    for gamma in (1, 2, 3):
        steps.record(replace(START, params=Params(gamma=gamma)), 0.1 * gamma)
    assert [each.before for each in steps.done] == [START]
    steps.record(replace(START, params=Params(gamma=4)), 1.0 + MERGE_SECONDS)
    assert len(steps.done) == 2


def test_what_is_changed_and_changed_back_at_once_is_no_step() -> None:
    steps = UndoStack()
    steps.record(START, 0.0)
    steps.record(replace(START, params=Params(acceptance="typical")), 0.2)
    steps.record(START, 0.4)
    assert not steps.done
    steps.record(replace(START, params=Params(gamma=4)), 5.0)
    assert len(steps.done) == 1


def test_what_is_undone_is_no_change_and_a_change_ends_redoing() -> None:
    steps = UndoStack()
    race = replace(START, schedule="race")
    steps.record(START, 0.0)
    steps.record(race, 1.0)
    assert steps.peek(back=True) == (race, START, "back to fair", False)
    steps.begin(True, START, 2.0)
    steps.record(race, 2.1)  # it has not arrived yet
    assert steps.waiting
    steps.record(START, 2.2)
    assert steps.peek(back=True) is None and steps.peek(back=False) == (START, race, "race", False)
    steps.record(replace(START, params=Params(gamma=4)), 9.0)
    assert steps.peek(back=False) is None


def test_settings_that_change_while_an_undo_is_in_progress_can_be_undone_too() -> None:
    steps, asked = UndoStack(), replace(START, log=LogPosition(Path("log"), 9, 1))
    warm = Params(gamma=4)
    steps.record(START, 0.0)
    steps.record(asked, 1.0)
    steps.begin(True, START, 2.0)
    steps.record(replace(asked, params=warm), 2.1)
    assert steps.waiting
    steps.record(replace(START, params=warm), 2.2)
    assert not steps.waiting
    assert steps.peek(back=True) == (
        replace(START, params=warm),
        START,
        "gamma back to each",
        False,
    )


async def test_settings_come_back_one_by_one(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "g", "end", "m")
        gamma = stage.engine.asked(SetParams)[-1].params.gamma
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetSchedule)[-1] == SetSchedule("race")
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetParams)[-1] == SetParams(Params())
        assert "Undone: gamma back to each; Ctrl+Y redoes it" in stage.text
        await stage.press("ctrl+y")
        assert stage.engine.asked(SetParams)[-1].params.gamma == gamma
        assert f"Redone: gamma each → {gamma}" in stage.text
        await stage.press("ctrl+z", "ctrl+z")
        assert "There is nothing to undo" in stage.text


async def drag(stage: Stage, *cells: int) -> AsyncIterator[None]:
    """Drag the temperature's knob, and take more time than the steps of one change may."""
    pilot = stage.pilot
    for number, cell in enumerate(cells):
        at = LABEL_CELLS + cell, 0
        await (pilot.hover if number else pilot.mouse_down)("#temperature", offset=at)
        await stage.tell()
        stage.app.undo.stack._at -= MERGE_SECONDS
        yield
    await pilot.mouse_up("#temperature", offset=at)
    await stage.tell()
    stage.app.undo.stack._at -= MERGE_SECONDS


async def test_a_slow_drag_of_a_slider_is_one_step(store: Store) -> None:
    async with opened(store) as stage:
        for begin in (5, 9):
            async for _ in drag(stage, begin, begin + 1, begin + 2):
                pass
        first, second = (stage.engine.asked(SetParams)[index].params for index in (2, 5))
        assert stage.app.state.params == second
        await stage.press("ctrl+z")
        assert stage.app.state.params == first
        await stage.press("ctrl+z")
        assert stage.app.state.params == Params()
        assert "Undone: temp back to 0.00;" in stage.text


async def test_an_answer_is_undone_after_what_was_changed_while_it_ran(store: Store) -> None:
    async with opened(store) as stage:
        *events, end = turn(0, "Count!", 1.0, 0)
        await stage.tell(*events)
        ends: list[Event] = [end]
        async for _ in drag(stage, 5, 6):
            if ends:
                early = stage.app.state.params
                await stage.tell(ends.pop())
        await stage.press("ctrl+z")
        assert "Undone: temp " in stage.text and stage.app.state.params == early
        await stage.press("ctrl+z")
        assert "Undone: temp back to 0.00" in stage.text
        assert stage.app.state.params == Params() and stage.app.state.turns == 1
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text and not stage.app.state.turns


async def test_each_number_that_is_typed_is_a_step_of_its_own(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "t")
        for number in ("0.5", "1.5"):
            await stage.type(number)
            await stage.press("enter")
        await stage.press("right", "right")
        for value in (1.5, 0.5, 0.0):
            await stage.press("ctrl+z")
            assert stage.app.state.params.sampling.temperature == value


async def test_what_was_done_last_is_undone_first(play: Play) -> None:
    async with play() as stage:
        prompt = stage.app.main.prompt
        await stage.type("Hi")
        await stage.press("escape", "m", "i")
        assert stage.engine.asked(SetSchedule) == [SetSchedule("fair")]
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetSchedule)[-1] == SetSchedule("race") and prompt.text == "Hi"
        assert "Undone: back to race" in stage.text
        await stage.press("ctrl+z")
        assert prompt.text == ""


async def test_what_was_undone_last_is_done_again_first(play: Play) -> None:
    async with play() as stage:
        prompt = stage.app.main.prompt
        await stage.press("escape", "m", "i")
        await stage.type("Hi")
        await stage.press("ctrl+z", "ctrl+z")
        assert prompt.text == "" and stage.engine.asked(SetSchedule)[-1] == SetSchedule("race")
        await stage.press("ctrl+y")
        assert prompt.text == "" and stage.engine.asked(SetSchedule)[-1] == SetSchedule("fair")
        await stage.press("ctrl+y")
        assert prompt.text == "Hi" and "Redone: typing" in stage.text
        await stage.press("ctrl+z")
        assert "Undone: typing; Ctrl+Y redoes it" in stage.text
        assert prompt.text == "" and stage.engine.asked(SetSchedule)[-1] == SetSchedule("fair")


async def test_a_new_conversation_after_the_prompt_was_emptied(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.type("r")
        await stage.press("ctrl+u", "ctrl+n")
        await reopen(stage, "ctrl+z")
        assert stage.lines(1)[0] == "› Count!" and stage.app.main.prompt.text == ""
        await stage.press("ctrl+z")
        assert stage.app.main.prompt.text == "r"


async def test_an_answer_that_ends_meanwhile_leaves_ctrl_z_to_the_prompt(store: Store) -> None:
    async with opened(store) as stage:
        *events, end = turn(0, "Count!", 1.0, 0)
        await stage.tell(*events)
        await stage.type("next")
        await stage.tell(end)
        await stage.press("ctrl+z")
        assert stage.app.main.prompt.text == "" and stage.lines(1)[0] == "› Count!"


async def test_a_question_that_was_refused_is_undone_first(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "m", "i")
        await stage.type("Too long")
        await stage.press("enter")
        await stage.tell(RunRejected("Too long", "The prompt has 9 tokens"))
        prompt = stage.app.main.prompt
        assert prompt.text == "Too long"
        await stage.press("ctrl+z")
        assert prompt.text == "" and "Undone: typing" in stage.text
        await stage.press("ctrl+y")
        assert prompt.text == "Too long"
        await stage.press("ctrl+z", "ctrl+z")
        assert prompt.text == "" and "Undone: back to race" in stage.text


async def test_an_example_gives_way_to_what_it_replaced(play: Play) -> None:
    async with play() as stage:
        prompt = stage.app.main.prompt
        await stage.press("escape", "m", "i")
        await stage.type("Half")
        await stage.press("f2", "enter")
        example = prompt.text
        assert example not in ("", "Half")
        await stage.press("ctrl+z")
        assert prompt.text == "Half" and len(stage.engine.asked(SetSchedule)) == 1
        await stage.press("ctrl+y")
        assert prompt.text == example
        await stage.press("up")
        assert prompt.text == "Half"


async def test_undo_does_not_take_back_what_was_asked(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "m", "i")
        await stage.type("Hi")
        await stage.press("enter", "ctrl+z")
        assert stage.app.main.prompt.text == "" and stage.engine.asked(SetSchedule)


async def test_what_was_typed_comes_first(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "m", "i")
        await stage.type("Hi")
        await stage.press("ctrl+z")
        assert stage.app.main.prompt.text == "" and len(stage.engine.asked(SetSchedule)) == 1
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetSchedule)[-1] == SetSchedule("race")


@pytest.mark.parametrize("lane", [False, True])
async def test_a_prompt_that_was_emptied(play: Play, lane: bool) -> None:
    async with play() as stage:
        await stage.press("escape", "m", "i")
        await stage.type("Hi")
        await stage.press(*["escape"] * lane, "ctrl+c")
        assert stage.app.main.prompt.text == ""
        await stage.press("ctrl+z")
        assert stage.app.main.prompt.text == "Hi" and len(stage.engine.asked(SetSchedule)) == 1


async def test_a_lane_that_was_switched_off_or_given_settings(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("f", "o", "ctrl+z")
        assert stage.engine.asked(SetEnabled)[-1] == SetEnabled("draft", True)
        assert "Undone: switching lane 2 off;" in stage.text
        await stage.press("ctrl+z")
        assert "Undone: lane 2's own settings;" in stage.text
        assert stage.engine.asked(SetOverrides)[-1] == SetOverrides("draft", {})


@pytest.mark.parametrize("added", [False, True])
async def test_a_lane_that_was_removed_or_added(play: Play, added: bool) -> None:
    async with play() as stage:
        specs = tuple(each.spec for each in LANES)
        await stage.to_lane(2)
        if added:
            changed: tuple[LaneInfo, ...] = (*LANES, lane("draft#2"))
            await stage.press("u")
        else:
            changed = (LANES[0], *LANES[2:])
            await stage.press("delete")
            assert stage.engine.asked(RemoveLane) == [RemoveLane("draft")]
        await stage.tell(LanesChanged(changed))
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetLanes) == [SetLanes(specs)]
        assert f"Undone: {'adding lane 5' if added else 'removing lane 2'};" in stage.text
        await stage.press("ctrl+z")
        assert "An undo waits for the one before it" in stage.text
        await stage.tell(LanesChanged(LANES))
        assert "There is nothing to undo" in stage.text
        await stage.press("ctrl+y")
        assert stage.engine.asked(SetLanes)[-1] == SetLanes(tuple(e.spec for e in changed))


async def test_lanes_stay_while_they_answer(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("delete")
        await stage.tell(LanesChanged((LANES[0], *LANES[2:])))
        await stage.begin("Hi", 0, "ar", "lookup")
        await stage.press("ctrl+z")
        assert not stage.engine.asked(SetLanes) and "Still answering" in stage.text


async def test_a_lane_removed_during_a_run_comes_back_after_it(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hi")
        await stage.to_lane(2)
        await stage.press("delete")
        assert "2 Draft model is removed; Ctrl+Z brings it back after the run" in stage.text
        await stage.tell(LanesChanged((LANES[0], *LANES[2:])))
        await stage.finish(0, "ar", "lookup")
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetLanes) == [SetLanes(tuple(each.spec for each in LANES))]


async def test_a_removed_lane_comes_back_with_its_answer(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        loaded = stage.app.state.loaded
        assert loaded
        await stage.to_lane(2)
        await stage.press("delete")
        await stage.tell(LanesChanged((loaded.lanes[0], loaded.lanes[2])))
        await stage.press("ctrl+z")
        await stage.tell(LanesChanged(loaded.lanes))
        await stage.until(lambda: not stage.app.state.opening)
        await stage.tell()
        assert stage.lines(2)[0] == "› Count!" and "Four seven" in stage.lines(2)[1]


@pytest.mark.parametrize("redone", [False, True])
async def test_an_undo_waits_while_the_one_before_it_fills_a_lane(
    store: Store, monkeypatch: pytest.MonkeyPatch, redone: bool
) -> None:
    """Of two lanes that were removed; or a redo, of two that were added."""
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        loaded = stage.app.state.loaded
        assert loaded
        all_lanes = loaded.lanes
        await stage.to_lane(1)
        if redone:
            more = lane("lookup#2"), lane("lookup#3")
            lanes = [all_lanes, (*all_lanes, more[0]), (*all_lanes, *more)]
            for after in lanes[1:]:
                await stage.press("u")
                await stage.tell(LanesChanged(after))
            for after in lanes[1::-1]:
                await stage.press("ctrl+z")
                await stage.tell(LanesChanged(after))
        else:
            lanes = [all_lanes[2:], all_lanes[1:], all_lanes]
            for after in lanes[1::-1]:
                await stage.press("1", "delete")
                await stage.tell(LanesChanged(after))
        asked = len(stage.engine.asked(SetLanes))
        there = slow_disk(monkeypatch)
        key = "ctrl+y" if redone else "ctrl+z"
        await stage.press(key)
        await stage.tell(LanesChanged(lanes[1]))
        await stage.press(key)
        what = "A redo" if redone else "An undo"
        assert f"{what} waits for the one before it" in stage.text
        assert len(stage.engine.asked(SetLanes)) == asked + 1
        there.set()
        await stage.until(lambda: len(stage.engine.asked(SetLanes)) == asked + 2)
        assert stage.engine.asked(SetLanes)[-1] == SetLanes(tuple(e.spec for e in lanes[2]))


async def test_a_lane_that_came_after_an_answer_comes_back_without_it(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        loaded = stage.app.state.loaded
        assert loaded
        more = (*loaded.lanes, lane("lookup", title="Prompt lookup", gamma=10))
        await stage.tell(LanesChanged(more))
        number = len(more)
        before = stage.lines(number)
        assert "off in this turn" not in before[0] + before[1]
        await stage.to_lane(number)
        await stage.press("delete")
        await stage.tell(LanesChanged(loaded.lanes))
        await stage.press("ctrl+z")
        await stage.tell(LanesChanged(more))
        await stage.until(lambda: not stage.app.state.opening)
        await stage.tell()
        assert stage.lines(number) == before and stage.lines(1)[0] == "› Count!"


async def test_a_conversation_that_was_left(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.press("ctrl+n")
        assert "Count!" not in stage.text and "Ctrl+Z brings the last one back" in stage.text
        await reopen(stage, "ctrl+z")
        opened_again = OpenConversation((Turn("Count!", 0, ANSWERS),), 42)
        assert stage.engine.asked(OpenConversation) == [OpenConversation(), opened_again]
        assert stage.lines(1)[0] == "› Count!" and "Undone: the new conversation" in stage.text
        await stage.press("ctrl+y")
        assert "Redone: the new conversation" in stage.text
        assert stage.engine.asked(OpenConversation)[2:] == [OpenConversation()]
        assert "Count!" not in stage.lines(1)[0]


async def test_a_run_that_replaced_an_answer(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        path = stage.app.recorder and stage.app.recorder.path
        assert isinstance(path, Path)
        before = path.read_bytes()
        await stage.tell(*turn(0, "Count!", 9.0, 0))
        after = path.read_bytes()
        assert len(after) > len(before)
        await reopen(stage, "ctrl+z")
        assert path.read_bytes() == before and len(stage.engine.asked(OpenConversation)) == 1
        assert "Undone: the last run" in stage.text
        await reopen(stage, "ctrl+y")
        assert path.read_bytes() == after
        await stage.tell(*turn(1, "And on?", 20.0, 1))
    assert len(store.open(path).turns) == 2


async def test_runs_count_while_they_are_not_undone(store: Store) -> None:
    async with opened(store) as stage:
        state, ar = stage.app.state, stage.app.state.lanes["ar"]

        def known() -> tuple[list[float], bool]:
            return [run.at for run in state.runs.like(ar)], state.runs.has(ar)

        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        assert known() == ([1.0, 20.0], True)
        await reopen(stage, "ctrl+z")
        await stage.until(lambda: state.turns == 1)
        assert known() == ([1.0], True)
        await reopen(stage, "ctrl+y")
        await stage.until(lambda: state.turns == 2)
        assert known() == ([1.0, 20.0], True)
        await reopen(stage, "ctrl+z")
        await stage.tell(*turn(0, "Count!", 30.0, 0))
        assert known() == ([1.0, 30.0], True)
        await stage.press("ctrl+n")
        await stage.tell(*turn(0, "Hello", 40.0, 0))
        await reopen(stage, "ctrl+z")
        assert known()[0] == []  # nothing is there to compare with
        assert [run.at for run in state.runs.all if run.lane == "ar"] == [1.0, 30.0]
        await reopen(stage, "ctrl+y")
        assert known() == ([1.0, 30.0, 40.0], True)


async def test_a_stop_counts_again_when_going_on_is_undone(store: Store) -> None:
    async with opened(store) as stage:
        state, ar = stage.app.state, stage.app.state.lanes["ar"]
        whole = turn(0, "Count!", 1.0, 0)[:5]
        end = RunFinished(0, False, at=1.1)
        await stage.tell(*whole[:3], Finished("ar", "stopped", at=1.04), end)
        await stage.tell(RunContinued(0, ("ar",), at=2.0), *whole[3:], end)
        assert [(run.stopped, len(run.rounds)) for run in state.runs.like(ar)] == [(False, 2)]
        await reopen(stage, "ctrl+z")
        assert [(run.stopped, len(run.rounds)) for run in state.runs.like(ar)] == [(True, 1)]
        await reopen(stage, "ctrl+y")
        assert [(run.stopped, len(run.rounds)) for run in state.runs.like(ar)] == [(False, 2)]


async def test_questions_that_are_undone_are_in_the_prompt_again(store: Store) -> None:
    async with opened(store) as stage:
        prompt = stage.app.main.prompt
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        for text in ("Count!", "And on?"):
            prompt.remember(text)
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        await stage.tell(*turn(1, "And on?", 30.0, 1))  # once more
        await reopen(stage, "ctrl+z")
        assert "Undone: the last run" in stage.text and prompt.text == ""
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text and prompt.text == "And on?"
        await reopen(stage, "ctrl+z")
        assert prompt.text == "Count!" and stage.app.state.turns == 0
        await reopen(stage, "ctrl+y")
        assert prompt.text == "And on?" and stage.app.state.turns == 1
        await stage.press("up")
        assert prompt.text == "Count!"
        await stage.press("down", "enter")
        assert stage.engine.asked(Run)[-1] == Run("And on?") and prompt.text == ""


async def test_a_question_that_is_redone_leaves_the_prompt(store: Store) -> None:
    async with opened(store) as stage:
        prompt = stage.app.main.prompt
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await reopen(stage, "ctrl+z")
        assert prompt.text == "Count!"
        await reopen(stage, "ctrl+y")
        assert prompt.text == "" and stage.lines(1)[0] == "› Count!"


async def test_an_undone_question_leaves_what_is_being_written(store: Store) -> None:
    async with opened(store) as stage:
        prompt = stage.app.main.prompt
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.type("Half")
        await reopen(stage, "escape", "ctrl+z")
        assert prompt.text == "Half" and "Undone: the last question" in stage.text
        await reopen(stage, "ctrl+y")
        assert prompt.text == "Half"


async def test_an_only_question_that_is_undone_is_not_listed(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        (entry,) = store.entries()
        content = entry.path.read_bytes()
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text
        assert store.entries() == [] and store.empty
        await reopen(stage, "ctrl+y")
        assert stage.lines(1)[0] == "› Count!" and entry.path.read_bytes() == content
        assert entry.path.stat().st_mode & 0o077 == 0  # it is private
        await reopen(stage, "ctrl+z")
        await stage.tell(*turn(0, "Hello", 9.0, 0))
        assert [each.title for each in store.entries()] == ["Hello"]
        await stage.press("ctrl+n")
        await reopen(stage, "ctrl+z")
        await reopen(stage, "ctrl+y")  # a new conversation once more: nothing is cut
        assert [each.title for each in store.entries()] == ["Hello"]


async def test_a_turn_that_can_t_be_cut_off_is_still_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))

        def refused(*_: object) -> bytes:
            raise OSError(30, "Read-only file system")

        with monkeypatch.context() as patch:
            patch.setattr(Store, "cut", refused)
            await reopen(stage, "ctrl+z")
        assert "can't be changed: Read-only file system" in stage.text
        await stage.press("ctrl+y")
        assert "There is nothing" in stage.text
        await reopen(stage, "ctrl+z")
        assert store.entries() == []


async def test_a_turn_stays_once_the_engine_has_ended(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        (entry,) = store.entries()
        before = entry.path.read_bytes()
        await stage.tell(EngineExited("killed"))
        await reopen(stage, "ctrl+z")
        assert "Undone" not in stage.text and "killed" in stage.text
        assert entry.path.read_bytes() == before and stage.app.state.turns == 2
        await stage.press("enter")  # loads the models again
        await stage.tell(LOADED)
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text and stage.app.state.turns == 1
        recorder = stage.app.recorder
        assert recorder and recorder.size == entry.path.stat().st_size < len(before)


async def test_a_lane_that_was_added_stays_once_the_engine_has_ended(play: Play) -> None:
    async with play() as stage:
        more = (*LANES, lane("eagle", title="EAGLE"))
        await stage.tell(LanesChanged(more), EngineExited("killed"))
        await stage.press("escape", "g", "end")
        await stage.press("ctrl+z")
        assert stage.app.state.params == Params() and "Undone: gamma" in stage.text
        await stage.press("ctrl+z")
        assert not stage.engine.asked(SetLanes) and "Undone: adding" not in stage.text


async def test_undo_where_nothing_could_be_loaded(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.tell(LoadFailed("no such folder"))
        await stage.press("ctrl+z")
        assert "Still loading" not in stage.text


async def test_a_name_that_was_given_meanwhile_stays(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        (entry,) = store.entries()
        store.rename(entry.path, "Numbers")
        await stage.tell(*turn(1, "And on?", 2.0, 1))
        await reopen(stage, "ctrl+z")
        found = store.open(entry.path)
        assert (found.title, len(found.turns)) == ("Numbers", 1)
        await reopen(stage, "ctrl+y")
        found = store.open(entry.path)
        assert (found.title, len(found.turns)) == ("Numbers", 2)


async def test_typing_that_was_undone_before_an_answer(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        prompt = stage.app.main.prompt
        prompt.insert("more")
        await stage.press("ctrl+z")
        assert "Undone: typing; Ctrl+Y redoes it" in stage.text and prompt.text == ""
        await reopen(stage, "ctrl+z")
        await reopen(stage, "ctrl+z")
        assert prompt.text == "Count!"
        await reopen(stage, "ctrl+y")
        await reopen(stage, "ctrl+y")
        assert prompt.text == ""
        await stage.press("ctrl+y")
        assert "Redone: typing" in stage.text and prompt.text == "more"


async def test_answers_that_were_undone_before_the_app_was_left(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        await stage.tell(*turn(2, "Further", 40.0, 2))
        (entry,) = store.entries()
        whole = entry.path.read_bytes()
        await reopen(stage, "ctrl+z")
        await reopen(stage, "ctrl+z")
        stage.app.conversations._known_settings = None
        stage.app.exit()  # which adds the settings to the log
    assert b'["left"' in entry.path.read_bytes()
    for turns in (1, 2):
        async with opened(store) as stage:
            await stage.press("f3")
            await reopen(stage, "enter")
            assert "Ctrl+Y brings back what was undone" in stage.text
            assert len(store.open(entry.path).turns) == turns
            await reopen(stage, "ctrl+y")
            assert "Redone: the last question" in stage.text
    assert store.open(entry.path).turns == read_log(whole, entry.path).turns


async def test_opening_is_redone_with_all_that_was_undone_before_it(store: Store) -> None:
    """Also what is no turn: a redo that opens a conversation goes on with its own changes, not with
    those that the file keeps for a later start."""
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
    async with opened(store) as stage:
        await stage.press("f3")
        await reopen(stage, "enter")
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        await stage.press("escape", "t", "right", "i")
        chosen = stage.app.state.params
        for _ in range(3):
            await reopen(stage, "ctrl+z")
        assert "Undone: opening" in stage.text and stage.app.state.turns == 0
        await reopen(stage, "ctrl+y")
        assert "Redone: opening" in stage.text and "brings back" not in stage.text
        await reopen(stage, "ctrl+y")
        assert "Redone: the last question" in stage.text and stage.app.state.turns == 2
        assert stage.app.state.params != chosen
        await reopen(stage, "ctrl+y")
        assert "Redone: temp" in stage.text and stage.app.state.params == chosen


async def test_a_setting_undone_before_an_answer_is_no_second_answer_later(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        (entry,) = store.entries()
        await stage.press("escape", "g", "end", "escape", "ctrl+z")
        assert "Undone: gamma" in stage.text
        await reopen(stage, "ctrl+z")
        stage.app.exit()
    assert [turn.question for turn in store.undone.of(entry.path)] == ["And on?"]


def slow_disk(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A conversation is opened once this is set."""
    there = threading.Event()

    def late(recording: Recording, lanes: set[str]) -> Iterator[Event]:
        there.wait(PATIENCE)
        return events_of_lanes(recording, lanes)

    monkeypatch.setattr(conversations, "events_of_lanes", late)
    return there


async def test_keys_pressed_during_a_slow_undo_are_steps_of_their_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store) as stage:
        for number, question in enumerate(("Count!", "And on?", "Further")):
            await stage.tell(*turn(number, question, 20.0 * number, number))
        there = slow_disk(monkeypatch)
        await stage.type("Next")
        await stage.press("escape", *["ctrl+z"] * 4, "ctrl+y")  # one more than there are
        assert "A redo waits for the one before it" in stage.text
        await stage.press("i", "enter")  # asked after all of them
        there.set()
        await stage.until(lambda: stage.engine.asked(Run))
        one, two = Turn("Count!", 0, ANSWERS), Turn("And on?", 1, ANSWERS)
        calls = [e for e in stage.engine.calls if isinstance(e, OpenConversation | Run)]
        assert calls == [
            OpenConversation((one, two), 42),
            OpenConversation((one,), 42),
            OpenConversation(),
            OpenConversation((one,), 42),
            Run("Next"),
        ]


async def test_a_question_comes_after_an_undo_that_waits_for_lanes(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape", "g", "end", "escape")
        await stage.to_lane(2)
        await stage.press("delete")
        await stage.tell(LanesChanged((LANES[0], *LANES[2:])))
        await stage.press("ctrl+z", "ctrl+z")
        assert "An undo waits for the one before it" in stage.text
        await stage.press("i")
        await stage.type("Next")
        await stage.press("enter")
        await stage.tell(LanesChanged(LANES))
        await stage.until(lambda: stage.engine.asked(Run))
        calls = [e for e in stage.engine.calls if isinstance(e, SetLanes | SetParams | Run)][-3:]
        assert [type(e) for e in calls] == [SetLanes, SetParams, Run]


async def test_a_setting_changed_during_a_slow_undo_is_not_what_was_to_be_undone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store) as stage:
        for number, question in enumerate(("Count!", "And on?", "Further")):
            await stage.tell(*turn(number, question, 20.0 * number, number))
        there = slow_disk(monkeypatch)
        await stage.press("escape", "ctrl+z", "ctrl+z", "g", "end")
        chosen = stage.app.state.params
        there.set()
        await reopen(stage)
        assert stage.app.state.turns == 2 and stage.app.state.params == chosen != Params()


async def undo_all_and_leave(store: Store) -> tuple[Path, bytes]:
    """Two answers of a conversation that has a name; its log, and what was in it."""
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        (entry,) = store.entries()
        store.rename(entry.path, "Numbers")
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        whole = entry.path.read_bytes()
        await reopen(stage, "ctrl+z")
        await reopen(stage, "ctrl+z")
        stage.app.exit()
    assert not store.entries()
    return entry.path, whole


async def test_a_conversation_that_was_undone_whole_before_the_app_was_left(store: Store) -> None:
    assert store.unused
    path, whole = await undo_all_and_leave(store)
    assert not store.unused  # its user is no newcomer
    async with opened(store) as stage:
        prompt = stage.app.main.prompt
        assert "opens an earlier conversation" not in stage.text  # none is listed
        await stage.until(lambda: "Ctrl+Y brings back what was undone" in stage.text)
        await stage.until(lambda: prompt.text == "Count!")
        await reopen(stage, "ctrl+y")
        assert stage.lines(1)[0] == "› Count!" and prompt.text == "And on?"
        await reopen(stage, "ctrl+y")
        assert stage.app.state.turns == 2 and prompt.text == ""
        await stage.press("ctrl+y")
        assert "There is nothing to redo" in stage.text
        stage.app.exit()
    found = store.open(path)
    assert found.title == "Numbers" and found.turns == read_log(whole, path).turns
    assert not path.with_suffix(".undone").exists()


async def test_what_could_not_be_saved_is_not_kept_for_later(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store.folder.write_text("in the way")
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        assert "This conversation is not saved" in stage.text
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text
        stage.app.exit()
    assert [each.name for each in tmp_path.iterdir()] == [store.folder.name]


async def test_undone_whole_and_redone_once_the_disk_has_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path, _ = await undo_all_and_leave(store)
    async with opened(store) as stage:
        await stage.until(lambda: "Ctrl+Y brings back" in stage.text)
        with monkeypatch.context() as full:
            full.setattr(os, "fsync", full_disk)
            await stage.press("ctrl+y")
            assert "can't be changed: No space left on device" in stage.text
        assert not path.exists()
        await reopen(stage, "ctrl+y")
        assert stage.app.state.turns == 1 == len(store.open(path).turns)


async def test_what_was_undone_whole_comes_back_once(store: Store) -> None:
    path, whole = await undo_all_and_leave(store)
    async with opened(store) as stage:
        await stage.until(lambda: "Ctrl+Y brings back" in stage.text)
        path.write_bytes(whole)  # as another window did
        await stage.press("ctrl+y")
        assert "can't be changed: another window has brought it back" in stage.text
        assert path.read_bytes() == whole
        await stage.tell(*turn(0, "Something else", 40.0, 0))
        assert not path.with_suffix(".undone").exists()
        stage.app.exit()
    async with opened(store) as stage:
        await stage.app.workers.wait_for_complete()
        await stage.tell()
        await stage.press("ctrl+y")
        assert "There is nothing to redo" in stage.text


async def test_another_answer_ends_what_a_later_start_could_redo(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        (entry,) = store.entries()
        await reopen(stage, "ctrl+z")
        (undone,) = store.undone.of(entry.path)
        assert (undone.question, undone.turns) == ("And on?", 2)
        kept = entry.path.with_suffix(".undone").read_bytes()
        await stage.tell(*turn(1, "Something else", 40.0, 1))
        assert not entry.path.with_suffix(".undone").exists()
    entry.path.with_suffix(".undone").write_bytes(kept)  # as if it had crashed before
    async with opened(store) as stage:
        await stage.press("f3")
        await reopen(stage, "enter")
        await stage.press("ctrl+y")
        assert "There is nothing to redo" in stage.text


async def test_conversations_that_are_not_kept() -> None:
    async with opened(SessionStore()) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.press("ctrl+n")
        await stage.tell(*turn(0, "Hello", 2.0, 0))
        await stage.tell(*turn(0, "Hello", 9.0, 0))  # once more
        await reopen(stage, "ctrl+z")
        assert stage.lines(1)[0] == "› Hello" and "Undone: the last run" in stage.text
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text
        assert "Hello" not in stage.lines(1)[0]
        await reopen(stage, "ctrl+z")
        assert stage.lines(1)[0] == "› Count!"
        assert stage.engine.asked(OpenConversation)[-1] == OpenConversation(
            (Turn("Count!", 0, ANSWERS),), 42
        )
        for _ in range(3):
            await reopen(stage, "ctrl+y")
        assert stage.lines(1)[0] == "› Hello"
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        recorder = stage.app.recorder
        assert recorder and recorder.path and len(recorder.store.open(recorder.path).turns) == 2


async def test_a_conversation_that_was_opened(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Hello", 1.0, 0))
        await stage.press("f3")
        titles = [entry.title for entry in store.entries()]
        await reopen(stage, *["down"] * titles.index("Count!"), "enter")
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text and stage.lines(1)[0] == "› Count!"
        await reopen(stage, "ctrl+z")
        assert "Undone: opening “Count!”" in stage.text and stage.lines(1)[0] == "› Hello"
        await reopen(stage, "ctrl+z")
        assert "Undone: the last question" in stage.text and "Hello" not in stage.lines(1)[0]


async def test_opening_a_conversation_of_another_seed_is_one_change(
    store: Store, kept: Path
) -> None:
    async with opened(store) as stage:
        stage.app.state.seed = 7
        await stage.tell()
        known = len(stage.app.undo.stack.done)
        await stage.press("f3")
        await reopen(stage, "enter")
        assert stage.app.state.chosen_seed == 42 and len(stage.app.undo.stack.done) == known + 1
        await reopen(stage, "ctrl+z")
        assert "Undone: opening “Count!”" in stage.text and stage.app.state.chosen_seed == 7


async def rename(stage: Stage, name: str) -> None:
    await stage.press("f3", "r", "ctrl+u")
    await stage.type(name)
    await stage.press("enter")
    await stage.until(lambda: f"1 turn    {name}" in stage.text)
    await stage.press("escape")


async def test_a_conversation_that_was_renamed(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        changed = store.entries()[0].changed
        await rename(stage, "Numbers")
        await rename(stage, "Figures")
        await stage.press("ctrl+z")
        assert "Undone: renaming to “Figures”; Ctrl+Y redoes it" in stage.text
        assert store.entries()[0].title == "Numbers"
        await stage.press("ctrl+z")
        (entry,) = store.entries()
        assert (entry.title, entry.name, entry.changed) == ("Count!", "", changed)
        await stage.press("ctrl+y", "ctrl+y")
        assert "Redone: renaming to “Figures”" in stage.text
        assert store.entries()[0].title == "Figures"
        kept.unlink()
        await stage.press("ctrl+z")
        assert "can't be renamed: No such file or directory" in stage.text and not kept.exists()


@pytest.mark.parametrize("load", [True, False])
async def test_a_conversation_that_was_deleted(store: Store, kept: Path, load: bool) -> None:
    content, (entry,) = kept.read_bytes(), store.entries()
    async with opened(store, load=load) as stage:
        await stage.press("f3", "d", "d")
        assert not kept.exists()
        assert "“Count!” is deleted: Esc, then Ctrl+Z brings it back" in stage.text
        await stage.press("escape")
        if not load:
            await stage.press("ctrl+z")
            assert "Still loading" in stage.text
            await stage.tell(LOADED)
        await stage.press("ctrl+z")
        assert "Undone: deleting “Count!”; Ctrl+Y redoes it" in stage.text
        assert kept.read_bytes() == content and store.entries() == [entry]
        assert kept.stat().st_mode & 0o077 == 0  # it is private
        await stage.press("ctrl+y")
        assert "Redone: deleting “Count!”" in stage.text and not kept.exists()
        kept.write_bytes(b"another")
        await stage.press("ctrl+z")
        assert "can't be restored: another window has brought it back" in stage.text
        assert kept.read_bytes() == b"another"
        kept.unlink()
        await stage.press("ctrl+z")
        assert store.entries() == [entry]


async def test_the_present_conversation_deleted(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.press("f3", "d", "d", "escape")
        assert store.entries() == [] and "Count!" not in stage.lines(1)[0]
        await reopen(stage, "ctrl+z")
        assert "Undone: deleting “Count!”; " in stage.text and stage.lines(1)[0] == "› Count!"
        await reopen(stage, "ctrl+y")
        assert store.entries() == [] and "Count!" not in stage.lines(1)[0]
        assert stage.engine.asked(OpenConversation).count(OpenConversation()) == 2
        await reopen(stage, "ctrl+z")
        await stage.tell(*turn(1, "And on?", 20.0, 1))
        (entry,) = store.entries()
        assert entry.turns == 2


async def test_where_the_disk_is_full(store: Store) -> None:
    store.folder.parent.joinpath("conversations").write_text("in the way")
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.press("ctrl+n")
        await stage.tell(*turn(0, "Hello", 2.0, 0))
        await reopen(stage, "ctrl+z")
        await reopen(stage, "ctrl+z")
        assert stage.lines(1)[0] == "› Count!" and "Undone: the new conversation" in stage.text
        await reopen(stage, "ctrl+y")
        await reopen(stage, "ctrl+y")
        assert stage.lines(1)[0] == "› Hello"


OTHERS = ModelOptions("/models/mine")
LIBRARY = ModelLibrary({"demo": ModelOptions("/demo"), "mine": OTHERS}, ModelOptions())


async def open_others(stage: Stage) -> None:
    stage.app.library = LIBRARY
    await stage.press("f6", "down", "enter")
    assert stage.engine.asked(OpenModels)[-1].options == OTHERS
    await stage.press("ctrl+z")
    assert "Still loading" in stage.text


async def test_other_models_with_the_conversation_on_those_before(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        specs = tuple(info.spec for info in LOADED.lanes)
        await open_others(stage)
        await stage.tell(replace(LOADED, target="mine"))
        assert "Count!" not in stage.text and "mine · cpu" in stage.text
        await stage.press("ctrl+z")
        assert stage.engine.asked(OpenModels)[-1] == OpenModels(ModelOptions(), specs)
        assert "Undone: the models; " in stage.text
        await stage.tell(LOADED)
        await stage.until(lambda: stage.lines(1)[0] == "› Count!")
        await stage.tell()
        assert stage.engine.asked(OpenConversation) == [
            OpenConversation((Turn("Count!", 0, ANSWERS),), 42)
        ]
        assert stage.app.recorder and stage.app.recorder.path == store.entries()[0].path
        await stage.press("ctrl+y")
        assert stage.engine.asked(OpenModels)[-1].options == OTHERS
        await stage.tell(replace(LOADED, target="mine"))
        assert "Count!" not in stage.text and len(stage.engine.asked(OpenConversation)) == 1


async def test_models_that_can_t_be_had_back(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await open_others(stage)
        await stage.tell(replace(LOADED, target="mine"))
        await stage.tell(*turn(0, "Hello", 9.0, 0))
        await stage.press("ctrl+z", "ctrl+z")
        assert stage.engine.asked(OpenModels)[-1].options == ModelOptions()
        await stage.tell(
            replace(LOADED, target="mine", restored=True), LoadFailed("no such folder", kept=True)
        )
        assert "mine is loaded again: no such folder" in stage.text
        assert stage.engine.asked(OpenConversation) == [OpenConversation()]
        assert not stage.app.undo.stack.waiting
