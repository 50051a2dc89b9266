"""What newcomers to a chat in a terminal try in their first minutes, in this order, at the usual
size and at a small one: each works without a manual. What did not is told in one list."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from textual import events
from textual.widget import Widget

from app.engine.commands import (
    OpenConversation,
    Pause,
    Run,
    RunAgain,
    SetEnabled,
    SetParams,
    SetSchedule,
    StepRound,
    Stop,
)
from app.engine.events import Finished, RunFinished
from app.tui.state.app_state import AppState
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.token_view import TokenView
from decoding.params import Params, SamplingParams
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import Play, Stage

Deed = str | Callable[[Stage], Awaitable[object]]  # a key, or what the mouse and others do


@dataclass(frozen=True)
class Trial:
    """All deeds are done, and then `works`."""

    what: str
    deeds: Sequence[Deed]
    works: Callable[[Stage], object]


def paste(text: str) -> Deed:
    async def do(stage: Stage) -> None:
        stage.app.post_message(events.Paste(text))
        await stage.pilot.pause()

    return do


def click(selector: str, x: int = 0, y: int = 0) -> Deed:
    """`x` from the right where it is negative."""

    async def do(stage: Stage) -> None:
        width = stage.app.main.query_one(selector).size.width
        await stage.pilot.click(selector, offset=(x % width, y))

    return do


def resize(columns: int, rows: int) -> Deed:
    return lambda stage: stage.resize(columns, rows)


def here(stage: Stage) -> TokenView:
    """The text of the pane that is or was in focus."""
    return stage.view(stage.app.main.grid.current)


def gamma(stage: Stage) -> Widget:
    return stage.app.main.query_one("#gamma")


def key_bar(stage: Stage) -> str:
    """Also what stands there under another screen."""
    return stage.app.main.query_one(KeyBar).render().plain


async def wheel_up(stage: Stage) -> None:
    await stage.pilot._post_mouse_events(
        [events.MouseScrollUp], widget=here(stage), offset=(2, 1), button=0
    )


async def shown(stage: Stage) -> None:
    """What is not shown at once."""
    await stage.tell()


def says(text: str) -> Callable[[Stage], bool]:
    """Anywhere on the screen, whatever lines it is broken into."""
    return lambda stage: text in " ".join(re.sub("[│┃╭╮╰╯─]", " ", stage.text).split())


def zoomed_or_no_room(stage: Stage) -> bool:
    return stage.app.main.zoomed or says("There is room for one lane only")(stage)


def screen(name: str) -> Callable[[Stage], bool]:
    return lambda stage: type(stage.app.screen).__name__ == name


def prompt(text: str) -> Callable[[Stage], bool]:
    return lambda stage: bool(
        stage.app.main.prompt.text == text and stage.app.main.prompt.has_focus
    )


def state(holds: Callable[[AppState], object]) -> Callable[[Stage], object]:
    return lambda stage: holds(stage.app.state)


def last(command: Any) -> Callable[[Stage], bool]:
    return lambda stage: stage.engine.asked(type(command))[-1:] == [command]


def lane(number: int) -> Callable[[Stage], bool]:
    return lambda stage: stage.app.main.grid.current == number


def main_screen(stage: Stage) -> bool:
    return stage.app.screen is stage.app.main


def closed(stage: Stage) -> bool:
    return main_screen(stage) and stage.app.main.open is None


async def tour(stage: Stage) -> None:
    await stage.until(lambda: screen("TourScreen")(stage))


BEFORE = (
    Trial("what is this?", (), says("One model answers in every pane")),
    Trial("what do I do?", (), says("Enter asks the question below")),
    Trial("help", ("f1", tour), says("1 of 8")),
    Trial("out of the tour", ("escape",), main_screen),
    Trial("help again", ("f1",), screen("HelpScreen")),
    Trial("out of help", ("escape",), main_screen),
    Trial("/help", (*"/help", "enter"), says("Ctrl+Q quits, F1 opens help")),
    Trial("empty the prompt", ("ctrl+c",), prompt("")),
    Trial("/new", (*"/new", "enter"), says("Ctrl+N begins a new conversation")),
    Trial("empty it again", ("ctrl+c",), prompt("")),
    Trial("exit", (*"exit", "enter"), says("Ctrl+Q quits, F1 opens help")),
    Trial("what I wrote before", ("ctrl+c", "up"), prompt("exit")),
    Trial("leave by ctrl+c", ("ctrl+c", "ctrl+c"), says("Ctrl+Q quits")),
    Trial("leave by ctrl+d", ("ctrl+d",), says("Ctrl+Q quits")),
    Trial("q writes a q", ("q", "backspace"), prompt("")),
    Trial("paste lines", (paste("one\ntwo"), "ctrl+j", "x"), prompt("one\ntwo\nx")),
    Trial("undo typing", ("ctrl+z", "ctrl+z"), lambda s: "x" not in s.app.main.prompt.text),
    Trial("make the window tiny", (resize(40, 12),), lambda s: "one" in s.app.main.prompt.text),
    Trial("all commands", ("ctrl+p",), screen("Palette")),
    Trial("none of them", ("escape",), main_screen),
    Trial("old conversations", ("f3",), says("Conversations are not saved (--no-keep)")),
    Trial("presets", ("f4",), screen("PresetsScreen")),
    Trial("how to get out", (), says("Esc closes")),
    Trial("none of them", ("escape",), main_screen),
    Trial("what is fastest?", ("f7",), screen("AdviceScreen")),
    Trial("not now", ("escape",), main_screen),
    Trial("examples", ("f2",), screen("ExamplesScreen")),
    Trial("one of them", ("enter",), lambda stage: stage.app.main.prompt.has_focus),
    Trial("leave the prompt", ("ctrl+c", "escape"), says("Letters are commands here")),
    Trial("to a lane by its number", ("2",), lane(2)),
    Trial("the next lane", ("3",), lane(3)),
    Trial("switch it off", ("o",), last(SetEnabled("lookup", False))),
    Trial("undo", ("ctrl+z",), last(SetEnabled("lookup", True))),
    Trial("redo", ("ctrl+y",), last(SetEnabled("lookup", False))),
    Trial("undo again", ("ctrl+z",), last(SetEnabled("lookup", True))),
    Trial("maximize", ("2", "z"), zoomed_or_no_room),
    Trial("all panes again", ("escape",), lambda stage: not stage.app.main.zoomed),
    Trial("the tree, too early", ("v",), says("the trees appear with the answer")),
    Trial("close it", ("v",), closed),
    Trial("rejections, too early", ("R",), says("rejections appear with the answer")),
    Trial("close it", ("R",), closed),
    Trial("a slider", ("t", "end"), state(lambda it: it.params.sampling.temperature == 2.0)),
    Trial("take it back", ("ctrl+z",), last(SetParams(Params()))),
    Trial("type a number", ("t", *"0.7"), says("Enter sets the number, Esc cancels")),
    Trial("take it", ("enter",), last(SetParams(Params(SamplingParams(0.7))))),
    Trial("no, greedy", ("backspace",), last(SetParams(Params()))),
    Trial("click a word", (click("#gamma"),), lambda s: s.app.focused is gamma(s)),
    Trial("click a track", (click("#gamma", 12),), state(lambda it: it.params.gamma is not None)),
    Trial("click a number", (click("#gamma", -1), "3", "enter"), last(SetParams(Params(gamma=3)))),
    Trial("as it was", ("backspace",), last(SetParams(Params()))),
    Trial("fair", ("escape", "m"), last(SetSchedule("fair"))),
    Trial("race", ("m",), last(SetSchedule("race"))),
    Trial("light", ("d",), lambda stage: not stage.app.current_theme.dark),
    Trial("dark", ("d",), lambda stage: stage.app.current_theme.dark),
    Trial("write from a lane", ("H", "i"), prompt("Hi")),
    Trial("a long word", ("ctrl+c", paste("x" * 300)), prompt("x" * 300)),
    Trial("ask it", ("ctrl+c", *"Hello", "enter"), last(Run("Hello"))),
)
ANSWERING = (
    Trial("what is going on?", (shown,), says("running 0/3")),
    Trial("type the next question", ("H", "i"), prompt("Hi")),
    Trial("enter it", ("enter",), state(lambda it: it.queued == ["Hi"])),
    Trial("take it back", ("escape",), state(lambda it: not it.queued)),
    Trial("still there", (), prompt("Hi")),
    Trial("to a lane, and pause", ("tab", "space"), last(Pause(True))),
    Trial("one round of each", ("N",), lambda stage: len(stage.engine.asked(StepRound)) == 3),
    Trial("go on", ("space",), last(Pause(False))),
    Trial("hide a lane now", ("3", "o"), last(SetEnabled("lookup", False))),
    Trial("and back", ("o",), last(SetEnabled("lookup", True))),
    Trial("change gamma now", ("g", "end"), lambda s: s.engine.asked(SetParams)[-1].params.gamma),
    Trial("help now", ("question_mark", shown), screen("HelpScreen")),
    Trial("nothing strange under it", (), lambda stage: "Next match" not in key_bar(stage)),
    Trial("stop", ("escape", "escape"), lambda stage: stage.engine.asked(Stop)),
    Trial("the question is there", ("i",), prompt("Hi")),
)
ANSWERED = (
    Trial("who won?", ("ctrl+c", shown), says("2.3")),
    Trial("scroll back", ("pageup",), lambda s: not here(s).follows),
    Trial("and on", ("pagedown",), lambda s: here(s).follows),
    Trial("by the wheel", (wheel_up,), lambda s: not here(s).follows),
    Trial("bars", ("escape", "r", "r", shown), main_screen),
    Trial("the tree", ("2", "v"), says("round 1")),
    Trial("close it", ("v",), closed),
    Trial("why this token", ("w",), says("proposed by")),
    Trial("close it", ("w",), closed),
    Trial("figures", ("s",), says("accepted in a round")),
    Trial("close it", ("s",), closed),
    Trial("copy", ("y",), says("Copied the answer of 2 Draft model")),
    Trial("find", ("slash", *"so", "enter"), says("1 of")),
    Trial("slow motion", ("escape", "i", "space", shown), says("slow motion")),
    Trial("slower", ("minus", shown), says("0.01×")),
    Trial("faster", ("plus", "plus", shown), says("0.05×")),
    Trial("enough", ("escape",), lambda stage: stage.app.slow_motion is None),
    Trial("once more", ("f5",), lambda stage: len(stage.engine.asked(RunAgain)) == 1),
)
AFTER = (
    Trial("a new conversation", ("ctrl+n",), lambda stage: stage.engine.asked(OpenConversation)),
    Trial("and a question", (*"How?",), prompt("How?")),
)


async def answer(stage: Stage) -> None:
    """All lanes, each with a speed of its own."""
    await stage.begin("Hello")
    for name, times in {"ar": 1.0, "draft": 1.5, "lookup": 2.3}.items():
        now = replace(metrics(), speedup=times, tokens_per_second=20 * times)
        await stage.tell(prefilled(name, "It is a long story. " * 60))
        await stage.tell(stepped(name, [" is"], [" no"], " so", now))
        await stage.tell(Finished(name, "stop", None, now, None if name == "ar" else True))
    await stage.tell(RunFinished(0, False))


async def attempt(stage: Stage, trials: tuple[Trial, ...]) -> list[str]:
    """What did not work."""
    wrong = []
    for trial in trials:
        for deed in trial.deeds:
            await (stage.press(deed) if isinstance(deed, str) else deed(stage))
        if not trial.works(stage):
            keys = " ".join(deed if isinstance(deed, str) else "…" for deed in trial.deeds)
            wrong.append(f"{trial.what} ({keys}):\n{stage.text}")
    return wrong


@pytest.mark.parametrize(
    "size", [(100, 30), pytest.param((60, 24), marks=pytest.mark.slow)], ids=str
)
async def test_what_newcomers_try(play: Play, size: tuple[int, int]) -> None:
    async with play(size, newcomer=True, scoreboard=True) as stage:
        wrong = await attempt(stage, BEFORE[:18])
        await stage.resize(*size)
        wrong += await attempt(stage, BEFORE[18:])
        await stage.begin("Hello")
        await stage.tell(prefilled("draft", "It"), stepped("draft", [" is"], [" so"], " it"))
        wrong += await attempt(stage, ANSWERING)
        await stage.finish()
        await answer(stage)
        wrong += await attempt(stage, ANSWERED)
        await stage.finish()
        wrong += await attempt(stage, AFTER)
    assert not wrong, "\n\n".join(wrong)
