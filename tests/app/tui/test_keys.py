"""Keys: each has a name and can be another one, and whatever speaks of it says the one it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.command import CommandList
from textual.dom import DOMNode
from textual.widgets._toast import Toast, ToastRack

from app.config.model_options import ModelOptions
from app.config.presets import Presets
from app.engine.commands import Pause, Run, Stop
from app.engine.events import RunRejected, SamplingTest
from app.models.library import ModelLibrary
from app.tui.keys.bindings import APP_KEYS, PROMPT_KEYS, RUN_KEYS, VIEW_KEYS
from app.tui.keys.key_names import compact_keys, key_label
from app.tui.palette import CommandsProvider
from app.tui.screens import models
from app.tui.screens.presets import PresetsScreen
from app.tui.state.lane_state import Phase
from app.tui.user_keymap import binding_scopes, check_keymap
from app.tui.widgets.prompt import Prompt
from tests.support.quiet import quiet
from tests.support.scripted import prefilled, stepped
from tests.support.stage import Play


def test_every_key_has_an_id_and_a_tooltip() -> None:
    bindings = [*RUN_KEYS, *VIEW_KEYS, *APP_KEYS, *PROMPT_KEYS]
    assert all(binding.id and binding.tooltip for binding in bindings)
    assert len({binding.id for binding in bindings}) == len(bindings)


def binding_ids() -> list[str]:
    bindings = (each for scope in binding_scopes().values() for each in scope)
    return list(dict.fromkeys(str(each.id) for each in bindings if isinstance(each, Binding)))


async def test_changed_keys_are_the_ones_that_are_shown(play: Play) -> None:
    keys = {"view.ghosts": "f10", "run.stop": "f8", "prompt.run": "ctrl+r", "view.lane1": "!",
            "app.quit": "f12", "app.palette": "f9"}  # fmt: skip
    async with play(keys=keys) as stage:
        await stage.type("Hi")
        await stage.press("enter")
        assert not stage.engine.asked(Run)  # it breaks the line now
        await stage.press("ctrl+r")
        assert stage.engine.asked(Run) == [Run("Hi\n")]
        await stage.begin()
        await stage.press("f5")
        assert "Still answering: F8 stops it" in stage.text and "F8 Stop" in stage.text
        await stage.press("tab", "x")
        assert stage.app.main.display_options.show_rejected
        assert stage.app.main.prompt.text == "x"  # no command any more
        await stage.press("tab", "f10", "exclamation_mark", "o")
        assert (
            not stage.app.main.display_options.show_rejected
            and "off, ! then o switches it on" in stage.text
        )
        await stage.press("f8")
        assert len(stage.engine.asked(Stop)) == 1
        await stage.press("f1")
        assert re.search("F10 +Show or hide rejected", stage.help_text)
        await stage.press("escape", "f9")
        await stage.find("ghosts")
        assert "Show or hide rejected tokens (F10)" in stage.text
        await stage.press("escape", "ctrl+q")
        assert stage.app.is_running
        await stage.press("f12")
    assert "close" in stage.engine.calls


def test_keys_have_names_in_sentences() -> None:
    keys = ("escape", "f2", "space", "ctrl+q", "left_square_bracket", "x", "delete", "shift+left")
    assert [key_label(key) for key in keys] == [
        "Esc", "F2", "Space", "Ctrl+Q", "[", "x", "Delete", "Shift+←",
    ]  # fmt: skip


def test_the_users_keys_are_checked() -> None:
    check_keymap({"view.ghosts": "c", "view.look": "x"})  # they change places
    check_keymap({"app.help": "f1, ctrl+t, ?, %"})
    for keys, words in (
        ({"view.gosts": "x"}, "there is no action 'view.gosts'; there are .*view.ghosts"),
        ({"vw.x": "x"}, "there is no action 'vw.x'; there are run.…, lane.…, replay.…"),
        ({"view.ghosts": "hyperx"}, "view.ghosts: 'hyperx' is not a key"),
        ({"view.ghosts": ""}, "'' is not a key"),
        ({"view.ghosts": "c"}, "c would be both view.ghosts and view.look"),
        ({"run.pause": "["}, "would be both run.pause and view.round_back"),
        ({"prompt.newline": "enter"}, "both prompt.run and prompt.newline"),
    ):
        with pytest.raises(ValueError, match=words):
            check_keymap(keys)


def test_every_binding_of_ours_can_be_changed() -> None:
    def below(owner: type[DOMNode]) -> Iterator[type[DOMNode]]:
        for each in owner.__subclasses__():
            yield each
            yield from below(each)

    known = binding_ids()
    for owner in below(DOMNode):
        if owner.__module__.startswith("app."):
            for binding in owner.__dict__.get("BINDINGS", ()):
                assert binding.id in known and binding.tooltip, owner


async def test_a_chosen_key_wins_over_editing_in_the_prompt(play: Play) -> None:
    async with play(keys={"view.ghosts": "ctrl+k", "run.schedule": "home"}) as stage:
        await stage.type("Hi")
        await stage.press("left", "ctrl+k")
        assert not stage.app.main.display_options.show_rejected
        await stage.press("home", "y")
        assert stage.app.state.schedule == "fair" and stage.app.main.prompt.text == "Hyi"


async def test_the_palette_has_every_action_with_its_key(play: Play) -> None:
    async with play(keys={"view.ghosts": "f10"}) as stage:
        found = {each.title: each.help for each in stage.app.get_system_commands(stage.app.screen)}
        for binding in [*RUN_KEYS, *VIEW_KEYS, *APP_KEYS]:
            if binding.id != "app.palette" and not str(binding.id).startswith("view.lane"):
                assert binding.tooltip in found[binding.description]
        assert found["Ghosts"].endswith("(F10)") and found["Prompt"].endswith("(i)")
        assert found["Lane 1: Autoregressive"].endswith("(1)")
        assert "Slider: min-p" in found and "Theme" in found


async def test_quick_clicks_beside_the_palette_close_it_once(play: Play) -> None:
    async with play() as stage:
        await stage.press("ctrl+p")
        palette = stage.app.screen
        for _ in range(2):  # the second is queued before the first one closes it
            stage.app.call_later(palette.dismiss)
        await quiet()
        assert stage.app.screen is stage.app.main


async def test_the_palette_searches_what_is_said_about_commands(play: Play) -> None:
    async with play() as stage:
        await stage.press("ctrl+p")
        await stage.find("lossy")
        assert "Exact / typical" in stage.text
        await stage.press("escape", "ctrl+p")
        await stage.find("save")
        assert "Export a picture" in stage.text and "Export the scoreboard" in stage.text
        await stage.press("escape", "ctrl+p")
        await stage.find("search")
        assert "Find" in stage.text and "/ Ctrl+F" in stage.text.replace(",", "")
        for word, title in {
            "history": "Conversations",
            "legend": "Help",
            "compare": "Scoreboard",
        }.items():
            await stage.press("escape", "ctrl+p")
            await stage.find(word)
            assert title in stage.text


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("again run", "Run again"),
        ("lane dup", "Duplicate lane"),
        ("lane copy", "Duplicate lane"),  # a word of the name, one of the description
        ("pane compare", "Scoreboard"),  # two words of the description
        ("html export", "Export the scoreboard as a page (HTML)"),
        ("prompt lookup", "Add lane: Prompt lookup"),
        ("lookup prompt add", "Add lane: Prompt lookup"),
        ("off on", "On / off"),
    ],
)
async def test_the_palette_finds_words_in_any_order(play: Play, query: str, first: str) -> None:
    async with play() as stage:
        await stage.press("ctrl+p")
        await stage.find(query)
        found = stage.app.screen.query_one(CommandList).options
        assert first in str(found[0].prompt)


async def test_the_palette_ranks_words_as_they_were_typed_first(play: Play) -> None:
    async with play() as stage:
        provider = CommandsProvider(stage.app.main)
        hits = [hit async for hit in provider.search("round back")]
        best = max(hits, key=lambda hit: hit.score)
        assert str(best.prompt) == "Round back"
        assert [hit async for hit in provider.search("lane nonsense")] == []
        assert [hit async for hit in provider.search(" ")] == []


async def test_the_key_bar_shows_what_applies_and_can_be_clicked(play: Play) -> None:
    async with play() as stage:
        assert "Pause" not in stage.text
        await stage.begin()
        await stage.press("escape")
        assert "Space Pause" in stage.text and "Esc Stop" in stage.text
        bar = stage.text.splitlines()[-1]
        await stage.pilot.click("#keys", offset=(bar.index("Pause"), 0))
        await stage.pilot.pause()
        assert stage.engine.asked(Pause) == [Pause(True)]
        await stage.finish()
        assert "Tab Next" in stage.text and "Ctrl+Q Quit" in stage.text
        await stage.press("escape")  # in a lane, too
        assert "Tab Next" in stage.text and "Ctrl+Q Quit" in stage.text


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_who_has_been_here_before_sees_how_to_open_a_conversation(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        assert "F3 Open" in stage.text.splitlines()[-1]
    async with play(size, newcomer=True) as stage:  # has none
        assert ("Tab Next" if size[0] == 60 else "F2 Examples") in stage.text.splitlines()[-1]
        await stage.begin()
        assert "F3 Open" not in stage.text


@pytest.mark.parametrize("size", [(100, 30), (60, 24), (40, 12)])
async def test_help_quit_and_stop_have_room_in_the_key_bar(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.begin()
        assert "Esc Stop" in stage.text.splitlines()[-1]
        await stage.finish()
        for keys in ((), ("escape",), ("v",), ("t",)):
            await stage.press(*keys)
            bar = stage.text.splitlines()[-1]
            assert "F1 Help" in bar and "Ctrl+Q Quit" in bar, keys
            assert bar.index("F1 Help") > 0  # after what applies here


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_with_the_cursor_on_a_token_the_key_bar_says_how_to_ask_why(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "It"), stepped("ar", [], [], " is"))
        await stage.finish()
        await stage.press("escape", "left")
        bar = stage.text.splitlines()[-1]
        assert "Esc No cursor" in bar and "w Why" in bar
        await stage.press("i")
        assert "w Why" not in stage.text.splitlines()[-1]


@pytest.mark.parametrize("size", [(60, 24), (100, 30), (160, 50)])
async def test_a_toast_leaves_prompt_and_sliders_in_sight(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.app.screen.mount(ToastRack())  # tests have none
        stage.app.notify("Saved as /somewhere/far/away/answer.svg")
        await stage.until(lambda: bool(stage.app.screen.query(Toast)))
        await stage.pilot.pause()
        toast = stage.app.screen.query_one(Toast)
        main = stage.app.main
        assert toast.region.area and not toast.region.overlaps(main.prompt.region)
        assert not toast.region.overlaps(main.query_one("#controls").region)


@pytest.mark.parametrize("page", ["pagedown", "pageup"])
@pytest.mark.parametrize("opens", ["ctrl+p", "f2", "f3", "f4"])
async def test_a_list_is_paged_in_a_burst_with_the_key_that_opens_it(
    play: Play, opens: str, page: str
) -> None:
    async with play() as stage:
        for key in (opens, page, page):
            stage.app.simulate_key(key)
        await quiet()
        await stage.press(page, "escape")
        assert stage.app.screen is stage.app.main


def test_lane_keys_are_said_in_short() -> None:
    assert compact_keys("123456789") == "1-9"
    assert compact_keys(["!", "2", "3", "F4", "5", "9"]) == "! 2-3 F4 5 9"


async def test_no_text_speaks_of_a_key_that_was_changed(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every key is another one here, all of them Armenian letters; Textual's own stay."""
    monkeypatch.setattr(models, "cached_checkpoints", lambda: [])
    ids = binding_ids()
    letters = filter(str.isalpha, map(chr, range(0x531, 0x600)))
    keys = dict(zip(map(str, ids), letters, strict=False))
    options = {
        "keys": keys,
        "presets": Presets(tmp_path / "presets.json"),
        "library": ModelLibrary({"mine": ModelOptions("/models/mine")}, ModelOptions()),
    }

    def said(text: str) -> str:
        old = re.search(r"\b(Esc|F\d|Ctrl|Space|Delete)\b|(^|\W)[a-z] (then|switches|closes)", text)
        assert not old, (old, text)
        return text

    async with play((100, 60), **options) as stage:
        app, main = stage.app, stage.app.main

        async def look(act: Callable[[], object] = lambda: None) -> str:
            act()
            await stage.pilot.pause()
            return said(stage.text)

        await stage.begin()
        await look(lambda: app.main.prompt.post_message(Prompt.Submitted("", 0)))
        await stage.tell(prefilled("draft", "The"))
        await stage.finish()
        main.action_lane(2)
        await look(app.action_sampling_test)
        done = SamplingTest("draft", tokens=3, done=400, repetitions=400)
        await stage.tell(done)
        assert f"{keys['proof.more']} 4 times" in await look()
        await look(app.pop_screen)
        for number in (1, 2, 3):
            main.action_lane(number)
            main.action_toggle_here()
        await stage.tell(RunRejected("Hi", "no lane"))
        assert f"No lane is on: {keys['run.stop']}, then {keys['view.toggle_here']}" in await look()
        for name in ("tree", "token", "figures"):
            await look(partial(main.action_panel, name))
        for show in (app.action_examples, app.action_presets, app.action_models):
            await look(show)
            if show == app.action_presets:
                assert isinstance(app.screen, PresetsScreen)
                await look(app.screen.action_save)
            await look(app.pop_screen)
        for lane in app.state.lanes.values():
            lane.phase = Phase.STOPPED
        main.action_lane(1)
        continues = f"{keys['prompt.run']} in the empty prompt continues"
        assert continues in await look(main.action_toggle_here)
        await look(app.action_help)
        lanes = " ".join(keys[f"view.lane{number}"] for number in range(1, 6))
        assert lanes in said(stage.help_text)


async def test_where_the_scoreboard_has_no_room_the_key_bar_offers_it(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.press("escape")
        assert "r Scores" not in stage.text  # nothing was measured
        await stage.press("i")
        await stage.begin()
        await stage.finish()
        await stage.press("escape")
        bar = stage.text.splitlines()[-1]
        for shown in ("i Write", "Space Slow motion", "r Scores", "F1 Help", "Ctrl+Q Quit"):
            assert shown in bar
        await stage.press("r")
        assert "r Scores" not in stage.text.splitlines()[-1]  # Esc leads back
