"""The seed, chosen on the screen."""

from __future__ import annotations

from dataclasses import replace

from app.engine.commands import SetSeed
from app.engine.events import RunStarted
from app.history.store import Store
from tests.app.tui.test_conversations import opened, reopen
from tests.support.conversation import turn
from tests.support.stage import Play, Stage


async def choose(stage: Stage, digits: str) -> None:
    await stage.press("ctrl+p")
    await stage.find("set the seed")
    await stage.press("enter", "home", "ctrl+k", *digits, "enter")
    await stage.tell()


async def test_it_is_set_from_the_palette_and_undone(play: Play) -> None:
    async with play(seed=42) as stage:
        await choose(stage, "7")
        assert stage.engine.asked(SetSeed) == [SetSeed(7)]
        assert "Seed 7 from the next answer on" in stage.text and "seed 42, then 7" in stage.text
        await choose(stage, "81")
        assert "seed 42, then 81" in stage.text
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetSeed)[-1] == SetSeed(7)
        assert "Undone: seed back to 7" in stage.text and "seed 42, then 7" in stage.text
        await stage.press("ctrl+z")
        assert stage.engine.asked(SetSeed)[-1] == SetSeed(42) and ", then" not in stage.text
        await stage.press("ctrl+y")
        assert stage.engine.asked(SetSeed)[-1] == SetSeed(7) and "Redone: seed 7" in stage.text


async def test_it_is_that_of_the_answer_once_that_begins(play: Play) -> None:
    async with play(seed=3) as stage:
        await choose(stage, "42")
        await stage.begin("Hi")  # the script's engine has 42
        assert "seed 42" in stage.text and ", then" not in stage.text


async def test_only_a_whole_number_is_one(play: Play) -> None:
    async with play(seed=42) as stage:
        await choose(stage, "-x")
        await choose(stage, "x5-")
        assert stage.engine.asked(SetSeed) == [SetSeed(5)]
        await stage.press("ctrl+p")
        await stage.find("set the seed")
        await stage.press("enter", "escape")
        assert stage.app.screen is stage.app.main and stage.engine.asked(SetSeed) == [SetSeed(5)]


async def test_an_undo_of_something_else_keeps_it(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await choose(stage, "7")
        started, *rest = turn(1, "And on?", 20.0, 1)
        assert isinstance(started, RunStarted)
        await stage.tell(replace(started, seed=7), *rest)
        await choose(stage, "8")
        await reopen(stage, "ctrl+z")  # the seed
        await reopen(stage, "ctrl+z")  # the question
        assert stage.engine.asked(SetSeed)[-1] == SetSeed(7) and "seed 42, then 7" in stage.text
        assert not stage.app.undo.stack.waiting


async def test_without_answers_it_is_told_alone(store: Store) -> None:
    """Undoing the opening of a conversation leaves nothing that has that conversation's seed."""
    async with opened(store) as stage:
        started, *rest = turn(0, "Count!", 1.0, 0)
        assert isinstance(started, RunStarted)
        await stage.tell(replace(started, seed=7), *rest)
    async with opened(store) as stage:
        await stage.press("f3")
        await reopen(stage, "enter")
        assert "seed 7" in stage.text
        await reopen(stage, "ctrl+z")
        assert "Undone: opening" in stage.text
        assert stage.engine.asked(SetSeed)[-1] == SetSeed(42)
        assert "seed 42" in stage.text and ", then" not in stage.text and "seed 7" not in stage.text
