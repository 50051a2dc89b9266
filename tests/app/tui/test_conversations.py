"""Conversations in the app: kept by themselves, reopened, renamed, deleted, exported."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.cli.chat import say_how_to_continue
from app.engine.commands import (
    OpenConversation,
    Run,
    SetEnabled,
    SetOverrides,
    SetParams,
    Turn,
)
from app.engine.events import (
    EngineExited,
    Event,
    LanesChanged,
    Loaded,
    LoadFailed,
    RoundFinished,
)
from app.history.next_start import THEME, UNSENT, NextStart
from app.history.parse_document import read_recording
from app.history.recorder import LogStore, Recorder
from app.history.recording import Recording
from app.history.session_store import SessionStore
from app.history.store import Entry, Store
from app.tui.actions import conversations
from app.tui.actions.conversations import events_of_lanes
from app.tui.actions.export import screen_svg
from app.tui.app import SpecchatApp
from app.tui.keys.key_names import key_labels
from app.tui.state.lane_state import LaneState
from app.tui.state.last_settings import last_settings
from app.tui.state.startup import Startup
from app.tui.widgets.prompt import Prompt
from decoding.errors import InputError
from decoding.params import Params, SamplingParams, flat
from tests.support.conversation import LOADED, SETTINGS, turn
from tests.support.quiet import quiet
from tests.support.scripted import ScriptedEngine, lane, stepped
from tests.support.stage import LANES, PATIENCE, Clock, Stage

ANSWERS = {"ar": "Four seven five", "draft:gamma=2": "Four seven five seven five"}


async def reopen(stage: Stage, *keys: str) -> None:
    """By these keys; the file is read in its own time."""
    await stage.press(*keys)
    await stage.until(lambda: not stage.app.state.opening)
    await stage.tell()


@asynccontextmanager
async def opened(
    store: LogStore, loaded: Loaded = LOADED, *, load: bool = True, newcomer: bool = False
) -> AsyncIterator[Stage]:
    engine, clock = ScriptedEngine(), Clock()
    startup = Startup(
        lanes=loaded.lanes, recorder=Recorder(store, SETTINGS), clock=clock, seed=42,
        newcomer=newcomer,
    )  # fmt: skip
    app = SpecchatApp(engine, startup)
    async with app.run_test(size=(100, 30)) as pilot:
        app.main.prompt.cursor_blink = False
        await pilot.pause()
        stage = Stage(app, engine, pilot, clock)
        if load:
            await stage.tell(loaded)
        yield stage


async def test_what_is_answered_is_kept(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0)[:5])
        assert len(store.entries()) == 1  # before the turn has ended
        await stage.tell(*turn(0, "Count!", 1.0, 0)[5:])
        await stage.press("escape", "ctrl+n")
        await stage.tell(*turn(0, "Again", 2.0, 1))
    assert {entry.title for entry in store.entries()} == {"Count!", "Again"}


async def test_keys_of_other_programs_for_files(store: Store) -> None:
    async with opened(store) as stage:
        await stage.press("ctrl+s")
        assert "Ctrl+S is not a command; F3 has the saved conversations" in stage.text
        await stage.press("ctrl+o")
        assert "Ctrl+O is not a command; F3 opens conversations, F6 other models" in stage.text


async def test_reopen_and_go_on(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Something else", 1.0, 0))
        await stage.press("f3")
        assert "1 turn    Count!" in stage.text
        titles = [entry.title for entry in store.entries()]
        await reopen(stage, *["down"] * titles.index("Count!"), "enter")
        assert stage.engine.asked(OpenConversation) == [
            OpenConversation((Turn("Count!", 0, ANSWERS),), 42)
        ]
        assert (
            "“Count!” continues here" in stage.text
            and "not among" not in stage.text
            and "Something else" not in stage.text
        )
        assert stage.lines(1)[:2] == ["› Count!", "Four seven five"]
        assert "200.0 tok/s 2.00×" in stage.text and "○ ready" in stage.text
        await stage.tell(*turn(1, "And on?", 5.0, 1))
        assert "› And on?" in stage.text
    assert len(store.open(kept).turns) == 2


async def test_settings_changed_after_the_last_run_come_back_with_it(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        stage.app.conversations.keep_for_next_time()
        (path,) = (entry.path for entry in store.entries())
        assert b'["left"' not in path.read_bytes()  # the answers tell
        await stage.press("escape", "t", "0", ".", "5", "enter", "escape", "2", "o")
        stage.app.change_overrides("draft:gamma=2", {"gamma": 5})
        stage.app.exit()
        stage.app.exit()
    assert path.read_bytes().count(b'["left"') == 1
    async with opened(store) as stage:
        assert stage.app.state.params == Params()
        await reopen(stage, "f3", "enter")
        assert "continues here, with its settings: temp 0.50, lane 2 off" in stage.text
        assert stage.app.state.params.sampling.temperature == 0.5
        assert stage.engine.asked(SetOverrides) == [SetOverrides("draft:gamma=2", {"gamma": 5})]
        assert stage.engine.asked(SetEnabled) == [SetEnabled("draft:gamma=2", False)]
        stage.app.exit()
    assert path.read_bytes().count(b'["left"') == 1  # nothing has changed
    async with opened(store) as stage:
        await reopen(stage, "f3", "enter")
        await stage.tell(*turn(1, "On", 1.0, 1))
    assert store.open(path).left is None  # there is a newer run


def test_settings_of_a_damaged_log_are_refused(store: Store, kept: Path) -> None:
    for value in ('"x"', '{"params": {"gamma": -3}, "overrides": {}, "trees": {}}'):
        with kept.open("a") as file:
            file.write(f'["left", {value}]\n')
        with pytest.raises(InputError, match="not a recorded left"):
            store.open(kept)
        store.cut(kept, kept.read_bytes().rindex(b'["left"'))


async def test_a_chosen_theme_is_kept_for_the_next_time(store: Store) -> None:
    async with opened(store) as stage:
        await stage.press("ctrl+q")
    assert store.next_start.remembered(THEME) == ""  # none was chosen
    async with opened(store) as stage:
        await stage.press("escape", "d", "ctrl+q")
    assert store.next_start.remembered(THEME) == "specchat-light"


async def test_what_was_not_sent_is_in_the_prompt_the_next_time(store: Store) -> None:
    async with opened(store) as stage:
        await stage.type("Unsent")
        stage.app.exit()
    assert not store.entries()
    async with opened(store) as stage:
        prompt = stage.app.main.prompt
        await stage.until(lambda: prompt.text == "Unsent")
        await stage.press("ctrl+c")
        assert not prompt.text
        stage.app.exit()
    async with opened(store) as stage:
        await stage.app.workers.wait_for_complete()
        assert not stage.app.main.prompt.text


async def test_what_is_typed_while_it_starts_is_not_glued_to_an_old_text(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.next_start.keep_unsent(["unfinished "])
    there, read = threading.Event(), NextStart.unsent

    def late(kept: NextStart) -> list[str]:
        there.wait(PATIENCE)
        return read(kept)

    monkeypatch.setattr(NextStart, "unsent", late)
    async with opened(store, load=False) as stage:
        stage.app._typed_ahead = []
        await stage.press(*"Why?", "enter")
        there.set()
        await stage.until(lambda: "Not sent last time: ↑" in stage.text)
        assert stage.app.main.prompt.text == ""
        await stage.app._send_typed_ahead()
        await stage.until(lambda: stage.app.state.queued == ["Why?"])
        await stage.press("up", "up")
        assert stage.app.main.prompt.text == "unfinished "
        await stage.press("down", "down")
        stage.app.exit()
    assert store.next_start.unsent() == ["unfinished ", "Why?"]


async def test_a_text_that_was_put_away_is_in_the_history_the_next_time(store: Store) -> None:
    async with opened(store) as stage:
        for text in ("one", "two"):
            await stage.type(text)
            await stage.press("ctrl+c")
        await stage.type("two")
        await stage.press("enter")
        await stage.tell(*turn(0, "two", 0.0, 0))
        stage.app.exit()
    async with opened(store) as stage:
        await stage.app.workers.wait_for_complete()
        assert stage.app.main.prompt.text == ""
        await stage.press("up")
        assert stage.app.main.prompt.text == "one"


async def test_a_newcomers_unsent_text_is_no_example(store: Store) -> None:
    store.next_start.keep_unsent(["Unsent"])
    async with opened(store, newcomer=True) as stage:
        await stage.until(lambda: stage.app.main.prompt.text == "Unsent")
        await stage.until(lambda: "typing replaces it" not in stage.text)
        await stage.press("ctrl+c")
        assert not stage.app.main.prompt.example


async def test_a_question_that_was_sent_and_not_begun_is_in_the_prompt_the_next_time(
    store: Store,
) -> None:
    async with opened(store) as stage:
        await stage.type("Why so soon?")
        await stage.press("enter")
        assert stage.engine.asked(Run) and not stage.app.main.prompt.text
        stage.app.exit()
    assert store.next_start.unsent() == ["Why so soon?"]


async def test_an_error_of_the_app_does_not_lose_what_was_written(store: Store) -> None:
    def broken() -> None:
        raise RuntimeError("an error of the app")

    with pytest.raises(RuntimeError, match="an error of the app"):
        async with opened(store) as stage:
            await stage.type("Why so soon?")
            stage.app.call_later(broken)
            await quiet()
    assert store.next_start.unsent() == ["Why so soon?"]


async def test_questions_that_waited_come_back_one_by_one(store: Store) -> None:
    async with opened(store) as stage:
        for question in ("Why so soon?", "And then?"):
            await stage.type(question)
            await stage.press("enter")
        stage.app.main.prompt.write("Two\nlines")
        stage.app.exit()
    async with opened(store) as stage:
        prompt = stage.app.main.prompt
        await stage.until(lambda: prompt.text == "Two\nlines")
        assert "2 more" in stage.app.state.notice
        await stage.press("ctrl+c")
        found: list[str] = []
        for _ in range(4):  # one of them to the upper line
            await stage.press("up")
            found.append(prompt.text)
        assert list(dict.fromkeys(found)) == ["Two\nlines", "And then?", "Why so soon?"]


@pytest.mark.parametrize("text", ["not JSON", '{"a": 1}', "[1]"])
async def test_unsent_questions_that_cannot_be_read_are_none(store: Store, text: str) -> None:
    store.next_start.remember(UNSENT, text)
    async with opened(store) as stage:
        await stage.app.workers.wait_for_complete()
        assert not stage.app.main.prompt.text


async def test_another_windows_text_that_was_not_sent_stays(store: Store) -> None:
    async with opened(store) as stage:
        await stage.app.workers.wait_for_complete()
        store.next_start.keep_unsent(["of another window"])
        stage.app.exit()
    assert store.next_start.unsent() == ["of another window"]
    assert (store.folder / UNSENT).stat().st_mode & 0o077 == 0


async def test_a_conversation_that_waited_for_models_that_never_came(
    store: Store, kept: Path
) -> None:
    async with opened(store, load=False) as stage:
        await stage.press("f3")
        await stage.until(lambda: stage.app.screen is not stage.app.main)
        await stage.press("enter")
        assert stage.app.state.opening
        await stage.tell(EngineExited("killed"))
        assert not stage.app.state.opening and not stage.app.state.busy


async def test_its_settings_come_back_with_it(store: Store) -> None:
    used = Params(SamplingParams(0.9), gamma=3)
    async with opened(store) as stage:
        assert "opens an earlier conversation" not in stage.text
        await stage.tell(*(
            replace(
                event, tree="default", params=replace(used, gamma=2 if "=2" in event.lane else 3)
            )
            if isinstance(event, RoundFinished) else event
            for event in turn(0, "Count!", 1.0, 0)
        ))  # fmt: skip
    async with opened(store) as stage:
        assert "F3 opens an earlier conversation, with its settings" in stage.text
        await reopen(stage, "f3", "enter")
        assert "“Count!” continues here, with its settings: temp 0.90, gamma 3" in stage.text
        assert stage.app.state.params == used
        assert stage.engine.asked(SetParams) == [SetParams(used)]
        assert not stage.engine.asked(SetOverrides)  # the lane has gamma 2 as it is
        assert "next temp" not in stage.text and "next γ" not in stage.text
        assert "before the change" not in stage.text
        await reopen(stage, "ctrl+z")
        assert "Undone: opening “Count!”" in stage.text and stage.app.state.params == Params()
        await reopen(stage, "ctrl+y")
        assert stage.app.state.params == used and stage.lines(1)[0] == "› Count!"


async def test_lanes_lose_the_settings_of_their_own_that_it_did_not_have(store: Store) -> None:
    answers = [
        replace(each, params=Params(gamma=2), tree="default")
        if isinstance(each, RoundFinished) else each
        for each in turn(0, "Count!", 1.0, 0)
    ]  # fmt: skip
    async with opened(store) as stage:
        await stage.tell(*answers)
        await stage.press("escape", "ctrl+n", "2")
        kept = {"gamma": 2, "temperature": 0.7}
        stage.app.change_overrides("ar", {"temperature": 0.7})
        stage.app.change_overrides("draft:gamma=2", kept)
        infos = LOADED.lanes[0], replace(LOADED.lanes[1], overrides=kept)
        await stage.tell(LanesChanged(infos))
        assert "T0.7*" in stage.text
        await reopen(stage, "f3", "enter")
        assert stage.app.state.lanes["ar"].info.overrides == {}
        assert stage.app.state.lanes["draft:gamma=2"].info.overrides == {"gamma": 2}  # recorded
        assert "T0.7*" not in stage.text
        asked = {each.lane: each.overrides for each in stage.engine.asked(SetOverrides)[2:]}
        assert asked == {"ar": {}, "draft:gamma=2": {"gamma": 2}}
        await reopen(stage, "ctrl+z")
        assert stage.app.state.lanes["draft:gamma=2"].info.overrides == kept


def test_what_only_one_lane_had_was_its_own() -> None:
    lanes = {each.name: LaneState(each, True) for each in (lane("ar"), *LANES[1:3])}
    hot, own = Params(SamplingParams(0.9)), Params(SamplingParams(0.9), gamma=2)
    for name, first, last in (
        ("ar", Params(), Params()),  # it was done when the temperature was changed
        ("draft", Params(gamma=2), own),
        ("lookup", Params(), hot),
    ):
        rounds = (stepped(name, [], [], "a", params=each) for each in (first, last))
        lanes[name].round_events = [replace(each, at=float(name != "ar")) for each in rounds]
    run, overrides = last_settings(lanes.values(), Params(gamma=7))
    assert run == flat(hot)
    assert overrides == {"ar": {}, "draft": {"gamma": 2}, "lookup": {}}
    lanes["draft"].set_overrides({"top_p": 0.5})  # those of the present lane don't tell
    lanes["draft"].recorded_overrides = {"gamma": 5, "top_k": 3}
    assert last_settings(lanes.values(), Params())[1]["draft"] == {"gamma": 2, "top_k": 0}


async def test_other_lanes_may_go_on_with_it(store: Store, kept: Path) -> None:
    other = Loaded("other", "cpu", "float32", 1, 64, LOADED.lanes[:1])
    async with opened(store, other) as stage:
        await reopen(stage, "f3", "enter")
        assert "continues here, answered by demo" in stage.text
        assert "without the lanes that it had: Draft model" in stage.text
        assert "Four seven five" in stage.text


async def test_not_while_a_run_goes_on(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Busy", 1.0, 0)[:3])
        await reopen(stage, "f3", "end", "enter")
        assert not stage.engine.asked(OpenConversation) and "Still answering" in stage.text


@pytest.mark.parametrize("there", [True, False])
async def test_one_chosen_while_models_are_loaded_opens_then(
    store: Store, kept: Path, there: bool
) -> None:
    async with opened(store, load=False) as stage:
        await stage.press("f3", "enter")
        assert "then the conversation opens" in stage.text
        await stage.type("And on?")
        await stage.press("enter")
        assert "then “And on?” is answered" in stage.text
        if not there:
            kept.unlink()
        await stage.tell(LOADED)
        await stage.until(lambda: not stage.app.state.opening)
        await stage.tell()
        if there:
            assert stage.lines(1)[:2] == ["› Count!", "Four seven five"]
            kinds = [
                call for call in stage.engine.calls if isinstance(call, OpenConversation | Run)
            ]
            assert kinds == [OpenConversation((Turn("Count!", 0, ANSWERS),), 42), Run("And on?")]
        else:
            assert "No such file" in stage.text and not stage.engine.asked(Run)
            assert stage.app.main.prompt.text == "And on?"


async def test_one_chosen_for_models_that_cannot_be_loaded_is_forgotten(
    store: Store, kept: Path
) -> None:
    async with opened(store, load=False) as stage:
        await stage.press("f3", "enter")
        await stage.tell(LoadFailed("no such model", False))
        assert not stage.app.state.opening
        await stage.press("f3", "enter")
        assert "no such model" in stage.app.state.notice
        await stage.press("f5")
        await stage.tell(LOADED)
        assert not stage.engine.asked(OpenConversation)


async def test_the_up_key_has_the_prompts_of_earlier_sessions(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        prompt = stage.app.main.prompt
        await stage.app.workers.wait_for_complete()
        await stage.type("Hello")
        await stage.press("enter", "up", "up")
        assert prompt.text == "Count!"
        await stage.press("up", "down", "down")
        assert prompt._history == ["Count!", "Hello"] and prompt.text == ""


def test_what_is_written_meanwhile_stays_where_it_is() -> None:
    prompt = Prompt(dom_id="prompt")
    prompt.remember("b")
    prompt.remember("d")
    prompt.recall_earlier(["a", "b", "c", "a"])
    assert prompt._history == ["c", "a", "b", "d"] and prompt._index == 4


@pytest.mark.usefixtures("kept")
async def test_in_a_narrow_terminal_the_list_says_how_to_delete_and_rename(store: Store) -> None:
    async with opened(store) as stage:
        await stage.resize(60, 24)
        await stage.press("f3")
        assert "Esc closes" in stage.text and "d deletes" in stage.text
        assert "─ Conversations · r renames ─" in stage.text
        await stage.press("r")
        assert "─ Conversations ─" in stage.text
        await stage.press("escape")
        await stage.resize(100, 30)
        assert "─ Conversations ─" in stage.text and "d deletes · r renames" in stage.text


@pytest.mark.usefixtures("kept")
async def test_in_the_smallest_terminal_the_list_has_room_for_titles(store: Store) -> None:
    (entry,) = store.entries()
    async with opened(store) as stage:
        await stage.resize(40, 12)
        await stage.press("f3")
        assert f"{entry.changed:%m-%d %H:%M}   {entry.title}"[:30] in stage.text


async def left(store: LogStore, *keys: str) -> SpecchatApp:
    """An app that was left after an answer, and these keys."""
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.press(*keys)
        return stage.app


async def test_the_terminal_says_how_to_continue(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    app = await left(store)
    say_how_to_continue(app)
    app.state.keys = key_labels({"app.conversations": "f9"})
    say_how_to_continue(app)
    told = [f"To continue “Count!”: specchat, then {key}" for key in ("F3", "F9")]
    assert capsys.readouterr().err.splitlines() == told


async def test_it_says_nothing_where_there_is_nothing_to_continue(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    say_how_to_continue(await left(SessionStore()))  # is not kept
    say_how_to_continue(await left(store, "ctrl+n"))
    app = await left(store)
    for entry in store.entries():
        store.delete(entry.path)
    say_how_to_continue(app)
    assert capsys.readouterr().err == ""


async def test_rename(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        await stage.press("f3", "r")
        assert "Enter renames" in stage.text
        await stage.press("escape")
        assert "d deletes" in stage.text  # nothing happened
        await stage.press("r", "ctrl+u")
        await stage.type("[b]Numbers")
        await stage.press("enter")
        assert "1 turn    [b]Numbers" in stage.text
    assert store.open(kept).title == "[b]Numbers"


async def test_the_list_is_filtered(store: Store) -> None:
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.press("ctrl+n")
        await stage.tell(*turn(0, "Something else", 2.0, 1))
        await stage.press("f3", "slash")
        await stage.type("count")
        await stage.tell()
        assert "turn    Count!" in stage.text and "turn    Something" not in stage.text
        assert "Enter goes to the list" in stage.text
        await stage.type("s")
        await stage.tell()
        assert "No match for “counts”" in stage.text
        await reopen(stage, "backspace", "enter", "enter")
        assert stage.lines(1)[0] == "› Count!"


async def test_filtering_reads_no_file_again(
    store: Store, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[Entry]] = []
    entries = store.entries

    def counted() -> list[Entry]:
        read.append(entries())
        return read[-1]

    monkeypatch.setattr(store, "entries", counted)
    async with opened(store) as stage:
        await stage.press("f3", "slash")
        await stage.type("count")
        assert "turn    Count!" in stage.text
        await stage.type("s")
        assert "No match for “counts”" in stage.text and len(read) == 1
        await stage.press("backspace", "enter", "r", "ctrl+u")
        await stage.type("Counting")
        await stage.press("enter")  # what has changed is read, and filtered as before
        assert "turn    Counting" in stage.text and len(read) == 2
        await stage.press("d", "d")
        assert "No match for “count”" in stage.text and len(read) == 3


async def test_delete_asks_once_more(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        await stage.press("f3", "d")
        assert "d once more deletes “Count!”" in stage.text and kept.exists()
        await stage.press("d")
        assert "None yet" in stage.text and not kept.exists()
        assert "“Count!” is deleted" in stage.text
        await stage.press("d", "r", "enter", "escape")
        assert "None yet" not in stage.text


async def test_the_current_conversation_may_be_deleted_once_answered(store: Store) -> None:
    async with opened(store) as stage:
        events = turn(0, "Count!", 1.0, 0)
        await stage.tell(*events[:3])
        await stage.press("f3", "d", "d")
        assert "It is still being answered" in stage.text and len(store.entries()) == 1
        await stage.tell(*events[3:])
        await stage.press("d", "d", "escape")
        assert store.entries() == [] and "Four" not in stage.text
        assert stage.engine.asked(OpenConversation) == [OpenConversation()]
        await stage.tell(*turn(0, "Another", 2.0, 1))
    assert [entry.title for entry in store.entries()] == ["Another"]


async def test_a_file_that_is_gone(store: Store, kept: Path) -> None:
    async with opened(store) as stage:
        await stage.press("f3")
        kept.unlink()
        await reopen(stage, "enter")
        assert "No such file" in stage.text


async def test_keys_before_the_first_frame_go_to_the_list_that_they_open(
    store: Store, kept: Path
) -> None:
    async with opened(store) as stage:
        stage.app._typed_ahead = []
        await stage.press("h", "i", "f3", "enter", "!")
        assert stage.app.screen is stage.app.main and stage.app.main.prompt.text == ""
        await stage.app._send_typed_ahead()
        await stage.until(lambda: stage.app.state.opening or "continues here" in stage.text)
        await reopen(stage)
        assert "“Count!” continues here" in stage.text and not stage.engine.asked(Run)
        assert stage.app.main.prompt.text in ("hi", "hi!")  # the last one may close with the list


async def test_a_disk_that_hangs_leaves_the_keys_alone(
    store: Store, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = threading.Event()

    def late(recording: Recording, lanes: set[str]) -> Iterator[Event]:
        there.wait(PATIENCE)
        return events_of_lanes(recording, lanes)

    monkeypatch.setattr(conversations, "events_of_lanes", late)
    async with opened(store) as stage:
        await stage.press("f3", "enter")
        assert "Opening the conversation" in stage.text and "… opening" in stage.text
        await stage.press("f1")
        assert "Tokens" in stage.text and not there.is_set()
        await stage.press("escape", "h", "enter")
        assert "“h” runs when the conversation is open" in stage.text
        assert not stage.engine.asked(Run)
        await stage.tell(LanesChanged(LOADED.lanes[:1]))  # one was removed meanwhile
        there.set()
        await reopen(stage)
        assert "“Count!” continues here" in stage.text and stage.lines(1)[1] == "Four seven five"
        assert stage.engine.asked(Run) == [Run("h")]


async def test_keys_are_handled_while_a_conversation_is_shown(
    store: Store, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()

    async def late(seconds: float) -> None:
        await asyncio.wait_for(go_on.wait(), PATIENCE)

    content = kept.read_bytes()
    async with opened(store) as stage:
        monkeypatch.setattr(conversations, "sleep", late)
        await stage.press("f3", "enter")
        await stage.until(lambda: stage.app.state.turns)
        async with asyncio.timeout(PATIENCE / 2):
            await stage.press("f1")
        assert "Tokens" in stage.text and stage.app.state.opening
        await stage.tell(LanesChanged(LOADED.lanes[:1]))  # which waits
        assert len(stage.app.state.lanes) == 3
        with pytest.raises(InputError, match="still being opened"):
            stage.app.conversations.delete(store.entries()[0])
        stage.app.conversations.keep_for_next_time()
        assert kept.read_bytes() == content  # its settings are not those of the screen yet
        go_on.set()
        await reopen(stage)
        assert len(stage.app.state.lanes) == 1


async def test_exports(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(store) as stage:
        commands = {each.title: each.callback for each in stage.app.exports.commands()}
        assert all(title.startswith("Export ") for title in commands)  # the palette finds them all
        commands["Export as JSON"]()
        await stage.tell()
        assert "There is nothing to export yet" in stage.text
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        commands["Export as JSON"]()
        commands["Export as JSON"]()
        commands["Export as Markdown"]()
        await stage.app.workers.wait_for_complete()
        toasts = {toast.message for toast in stage.app._notifications}
        assert toasts == {
            f"Saved as {name} in {tmp_path}" for name in ("count.json", "count-2.json", "count.md")
        }
    assert "Four seven five" in (tmp_path / "count.md").read_text(encoding="utf-8")
    assert read_recording(tmp_path / "count-2.json").turns[0].answers == ANSWERS
    assert json.loads((tmp_path / "count.json").read_text())["runs"][0]["prompt"] == "Count!"


async def test_a_picture_keeps_its_spaces(store: Store) -> None:
    async with opened(store) as stage:
        drawn = ElementTree.fromstring(screen_svg(stage.app))
        assert drawn.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
        assert "\xa0Palette\xa0" in "".join(drawn.itertext())


async def test_notifications_do_not_cover_an_exported_picture(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(store) as stage:
        stage.app.notify("Beforehand")
        await stage.tell()
        assert stage.app._notifications
        commands = {each.title: each.callback for each in stage.app.exports.commands()}
        commands["Export a picture (SVG)"]()
        assert not stage.app._notifications


async def test_what_is_not_kept_can_be_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(SessionStore()) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        await stage.press("f3")
        assert (
            "Conversations are not saved (--no-keep)" in stage.text
            and list(tmp_path.iterdir()) == []
        )
        commands = {each.title: each.callback for each in stage.app.exports.commands()}
        assert "Export as asciicast" not in commands
        commands["Export as JSON"]()
        await stage.app.workers.wait_for_complete()
    assert read_recording(tmp_path / "count.json").turns[0].answers == ANSWERS


async def test_while_an_asciicast_is_made_it_says_so(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes longer than a notification stays."""
    monkeypatch.chdir(tmp_path)
    drawn = asyncio.Event()

    class Drawing:
        returncode: int | None = None

        async def communicate(self) -> tuple[bytes, bytes]:
            await drawn.wait()
            self.returncode = 0
            return b"", b""

    async def draw(*_: object, **__: object) -> Drawing:
        return Drawing()

    monkeypatch.setattr("app.tui.actions.export.create_subprocess_exec", draw)
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        commands = {each.title: each.callback for each in stage.app.exports.commands()}
        commands["Export as asciicast"]()
        await stage.until(lambda: "Recording count.cast …" in stage.text)
        for _ in range(60):
            await stage.tell()
        assert "Recording count.cast …" in stage.text
        drawn.set()
        await stage.app.workers.wait_for_complete()
        await stage.tell()
        assert "Recording" not in stage.text
        assert [each.message for each in stage.app._notifications] == [
            f"Saved as count.cast in {tmp_path}"
        ]


async def test_a_full_disk_is_said_once(store: Store) -> None:
    store.folder.parent.joinpath("conversations").write_text("in the way")
    async with opened(store) as stage:
        await stage.tell(*turn(0, "Count!", 1.0, 0))
        assert "This conversation is not saved" in stage.text
        for _ in range(8):
            await stage.tell()
        assert "This conversation is not saved" not in stage.text
