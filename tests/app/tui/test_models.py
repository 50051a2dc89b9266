"""Other models are chosen, and opened by the engine."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from app.config.families import PUBLIC_FAMILIES, PublicFamily
from app.config.model_options import ModelOptions
from app.engine.commands import OpenModels, Run
from app.engine.events import EngineExited, Loaded, LoadFailed, Loading, RunFinished
from app.models.assets import assets
from app.models.catalog import CheckpointInfo
from app.models.library import ModelLibrary, demo, title_of
from app.models.public_families import FamilyState
from app.progress import Progress
from app.strategies.lane_spec import LaneSpec
from app.tui.actions import lanes
from app.tui.screens import models
from app.tui.screens.models import Fetch, ModelsScreen
from decoding.errors import InputError
from tests.support.scripted import lane, prefilled
from tests.support.stage import LANES, PATIENCE, Play

MINE = ModelOptions("/models/mine", {"draft": "/models/small"}, dtype="bfloat16")
LIBRARY = ModelLibrary(
    {"demo": ModelOptions("/demo"), "mine": MINE}, ModelOptions(dtype="bfloat16")
)
SPECS = tuple(LaneSpec(each.strategy, each.name, each.overrides) for each in LANES)


@pytest.fixture(autouse=True)
def nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "cached_checkpoints", lambda: [])


def test_the_demo_is_called_so() -> None:
    assert title_of(str(demo().target)) == "demo" and title_of("/models/mine") == "mine"


async def test_opening_a_family_by_name_keeps_the_lanes(play: Play) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "Paris"), RunFinished(0, False))
        await stage.press("f6", "down")
        assert "✓ draft   small" in stage.text
        assert "specchat heads convert medusa --target /models/mine" in stage.text
        await stage.press("enter")
        assert stage.engine.asked(OpenModels) == [OpenModels(MINE, SPECS)]
        assert "New conversation with mine" in stage.text
        assert "… loading" in stage.text and "Paris" not in stage.text
        await stage.tell(Loading("target mine", 0.1))
        await stage.type("Hi")
        await stage.press("enter")
        assert not stage.engine.asked(Run)
        await stage.tell(Loaded("mine", "cpu", "bfloat16", 1, 99, LANES))
        assert stage.engine.asked(Run) == [Run("Hi")] and "mine · cpu" in stage.text


async def test_a_failed_load_is_reported_and_the_previous_models_return(play: Play) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.press("f6", "enter")
        await stage.load()
        await stage.tell(LoadFailed("no folder /demo", kept=True))
        assert "demo is loaded again: no folder /demo" in stage.text and "○ ready" in stage.text
        assert stage.app.main.grid.display
        # and where nothing is left others can still be chosen
        await stage.press("f6", "down", "enter")
        await stage.tell(LoadFailed("it broke"))
        assert "Nothing could be loaded" in stage.text and "F6 lists other models" in stage.text
        await stage.press("f6", "enter")
        assert "Nothing could be loaded" not in stage.text
        await stage.load((lane("ar"),))
        assert "○ ready" in stage.text and not stage.app.state.gone


async def test_an_engine_that_has_ended_opens_others(play: Play) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "Paris"), RunFinished(0, False), EngineExited("killed"))
        await stage.press("f6", "down", "enter")
        assert stage.engine.asked(OpenModels) == [OpenModels(MINE, SPECS)]
        assert "… loading" in stage.text and "ended" not in stage.text
        await stage.tell(EngineExited("killed"))
        assert "Nothing could be loaded" in stage.text


async def test_not_while_lanes_answer(play: Play) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.begin()
        await stage.press("f6", "enter")
        assert not stage.engine.asked(OpenModels) and "Still answering" in stage.text


async def test_drafters_beside_a_typed_folder_are_used(play: Play, tmp_path: Path) -> None:
    for name in ("target", "medusa"):
        shutil.copytree(assets() / "demo" / name, tmp_path / name)
    async with play((60, 24), library=LIBRARY) as stage:
        await stage.press("f6", "shift+tab")
        await stage.type(f"{tmp_path}/nope")
        await stage.press("enter")
        await stage.until(lambda: "no folder" in stage.text)
        await stage.press(*["backspace"] * 4)
        await stage.find("t")
        await stage.press("right", "enter")
        await stage.until(lambda: "✓ medusa  medusa" in stage.text)
        await stage.press("enter")
        [command] = stage.engine.asked(OpenModels)
        assert command.options == replace(
            LIBRARY.load_options,
            target=str(tmp_path / "target"),
            drafters={"medusa": str(tmp_path / "medusa")},
        )


async def test_a_folder_may_be_typed_in_the_list(play: Play) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.press("escape", "f6", "down", *"/no")
        field = stage.app.screen.query_one(Input)
        assert field.has_focus and field.value == "/no"
        await stage.press("tab", "x", "tab", "y")
        assert field.value == "/noxy"


async def test_enter_takes_what_is_highlighted_and_else_the_folder(play: Play) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.press("f6", "shift+tab")
        await stage.type("./nope/")
        assert "What drafts for it" not in stage.text  # no row is chosen
        await stage.press("enter")
        await stage.until(lambda: "no folder" in stage.text)
        await stage.press("down", "down")
        assert "✓ draft   small" in stage.text and "./nope/" in stage.text
        await stage.type("x")
        assert "What drafts for it" not in stage.text
        await stage.press("tab")
        assert "What drafts for it" in stage.text
        await stage.press("down", "enter")
        assert stage.engine.asked(OpenModels) == [OpenModels(MINE, SPECS)]


async def test_typing_narrows_the_list(play: Play, tmp_path: Path) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.press("f6")
        await stage.type("mi")
        assert "mine" in stage.text and "demo  a named family" not in stage.text
        await stage.press("enter")
        assert stage.engine.asked(OpenModels) == [OpenModels(MINE, SPECS)]
        await stage.load()
        await stage.press("f6")
        await stage.type("m")
        await stage.press("down")
        await stage.type("ink")
        assert "No match for “mink”: Enter opens it as a folder" in stage.text
        await stage.press("enter")
        await stage.until(lambda: "no folder" in stage.text)
        await stage.press("backspace", "backspace")
        assert "mine" in stage.text and "no folder" not in stage.text
        await stage.press("ctrl+u", "slash")  # a path: nothing is left out
        assert "mine" in stage.text and "demo  a named family" in stage.text


async def test_a_disk_that_hangs_does_not_hold_up_the_screen(
    play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "target").mkdir()
    disk, asked, gave_up = threading.Event(), list[str](), list[bool]()
    quick = models.subfolders

    def slow(folder: str) -> list[str]:
        asked.append(folder)
        if folder == "/net/":
            gave_up.append(not disk.wait(PATIENCE))
        return quick(folder)

    monkeypatch.setattr(models, "subfolders", slow)
    async with play(library=LIBRARY) as stage:
        await stage.press("f6", "shift+tab")
        await stage.type("/net/mod")
        assert "/net/mod" in stage.text and asked.count("/net/") == 1
        stage.app.screen.query_one(Input).value = f"{tmp_path}/t"  # the newest wish
        await stage.until(lambda: f"{tmp_path}/target/" in stage.text)
        disk.set()
        await stage.until(lambda: gave_up == [False])
        assert f"{tmp_path}/target/" in stage.text


async def test_the_newest_folder_counts_and_leaving_waits_for_none(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, gave_up = threading.Event(), list[bool]()

    def slow(text: str) -> CheckpointInfo:
        if text == "slow":
            gave_up.append(not disk.wait(PATIENCE))
        if text == "odd":
            raise OSError("the disk says\nno")
        return CheckpointInfo(f"/{text}", text, "model", 26_000_000, 8)

    monkeypatch.setattr(models, "resolve_model_folder", slow)
    async with play(library=LIBRARY) as stage:
        await stage.press("f6", "shift+tab")
        folder = stage.app.screen.query_one(Input)
        folder.value = "slow"
        await stage.press("enter")
        assert "Reading the folder" in stage.text
        folder.value = "odd"
        await stage.press("enter")
        await stage.until(lambda: "the disk says no" in stage.text)
        folder.value = "b"
        await stage.press("enter")
        await stage.until(lambda: "b  25 MiB" in stage.text)
        disk.set()
        await stage.until(lambda: gave_up == [False])
        disk.clear()
        await stage.press("shift+tab")
        folder.value = "c"
        await stage.press("enter")
        assert "slow  25 MiB" not in stage.text
        await stage.press("shift+tab")
        folder.value = "slow"
        await stage.press("enter")
    assert gave_up == [False]
    disk.set()


async def test_the_cache_is_read_beside_the_screen(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = threading.Event()

    def slow() -> list[CheckpointInfo]:
        disk.wait(PATIENCE)
        return [CheckpointInfo("/hub/x", "acme/[b]x[/b]", "model", 26_000_000, 8)]

    monkeypatch.setattr(models, "cached_checkpoints", slow)
    async with play(library=LIBRARY) as stage:
        await stage.press("f6", "down")
        assert "✓ draft   small" in stage.text and "acme" not in stage.text
        disk.set()
        await stage.until(lambda: "acme/[b]x[/b]  25 MiB" in stage.text)
        await stage.press("escape")
        assert not isinstance(stage.app.screen, ModelsScreen)


async def test_entries_that_are_passed_by_are_not_read(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = [CheckpointInfo(f"/hub/{name}", name, "model", 26_000_000, 8) for name in "xyz"]
    read: list[str] = []

    def completed(options: ModelOptions, elsewhere: list[CheckpointInfo]) -> ModelOptions:
        read.append(str(options.target))
        return options

    monkeypatch.setattr(models, "cached_checkpoints", lambda: there)
    monkeypatch.setattr(models, "fill_in_drafters", completed)
    monkeypatch.setattr(models, "LOOK_SECONDS", PATIENCE)
    async with play(library=LIBRARY) as stage:
        await stage.press("f6")
        await stage.until(lambda: "z  25 MiB" in stage.text)
        await stage.press("end", "up", "up", "down")
        monkeypatch.setattr(models, "LOOK_SECONDS", 0.0)
        await stage.press("end")
        await stage.until(lambda: "What drafts for it" in stage.text)
        assert read == ["/hub/z"]


async def test_enter_waits_for_the_list_of_cached_models(
    play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    shutil.copytree(assets() / "demo" / "target", target)
    disk, other = threading.Event(), CheckpointInfo("/hub/x", "acme/x", "eagle", 26_000_000, 8)
    known = {False: threading.Event(), True: threading.Event()}  # with the cache or without
    looking: dict[bool, threading.Thread] = {}

    def scanned() -> list[CheckpointInfo]:
        disk.wait(PATIENCE)
        return [other]

    def completed(options: ModelOptions, elsewhere: list[CheckpointInfo]) -> ModelOptions:
        looking[bool(elsewhere)] = threading.current_thread()
        known[bool(elsewhere)].wait(PATIENCE)
        return replace(options, drafters={"eagle": elsewhere[0].source} if elsewhere else {})

    monkeypatch.setattr(models, "cached_checkpoints", scanned)
    monkeypatch.setattr(models, "fill_in_drafters", completed)
    async with play(library=LIBRARY) as stage:
        await stage.press("f6", "shift+tab")
        stage.app.screen.query_one(Input).value = str(target)
        await stage.press("enter")
        await stage.until(lambda: False in looking)
        assert "Looking for its drafters" in stage.text
        await stage.press("enter")
        disk.set()
        await stage.until(lambda: True in looking)
        known[False].set()
        await stage.until(lambda: not looking[False].is_alive())
        assert not stage.engine.asked(OpenModels)
        known[True].set()
        await stage.until(lambda: stage.engine.asked(OpenModels))
        [command] = stage.engine.asked(OpenModels)
        options = command.options
        assert (options.target, options.source("eagle")) == (str(target), "/hub/x")


async def test_a_prompt_for_models_that_cannot_be_loaded_goes_back(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.type("Hi")
        await stage.press("enter")
        old = Loaded("old", "cpu", "float32", 2, 2048, LANES, restored=True)
        await stage.tell(old, LoadFailed("no folder", kept=True))
        assert not stage.engine.asked(Run) and stage.app.main.prompt.text == "Hi"
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run("Hi")]


async def test_what_is_loaded_has_a_mark(play: Play) -> None:
    async with play(library=LIBRARY) as stage:
        await stage.tell(Loaded("mine", "cpu", "float32", 1, 99, LANES, source="/models/mine"))
        await stage.press("tab", "f6")
        assert "● mine" in stage.text and "● demo" not in stage.text


async def test_a_public_family_is_downloaded_after_a_question_while_all_goes_on(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, arrived = threading.Event(), threading.Event()
    here = list[str]()

    def states(names: object) -> dict[str, FamilyState]:
        missing = {} if here else PUBLIC_FAMILIES["smollm2"].parts
        return {"smollm2": FamilyState(missing, "fits")}

    def slow(family: PublicFamily, progress: Progress) -> None:
        progress("SmolLM2 from the hub: 1 GiB of 3 GiB", 0.3)
        asked.set()
        assert arrived.wait(PATIENCE)
        here.append(family.sources["target"])

    monkeypatch.setattr(models, "public_states", states)
    monkeypatch.setattr(lanes, "fetch", slow)
    public = {"smollm2": ModelOptions("HuggingFaceTB/SmolLM2-1.7B-Instruct")}
    async with play(library=replace(LIBRARY, public=public)) as stage:
        await stage.load()
        await stage.press("f6")
        await stage.until(lambda: "smollm2  ↓ 3.4 GiB · fits" in stage.text)
        await stage.press("down", "down")
        assert "SmolLM2-1.7B-Instruct  3.2 GiB  Apache-2.0" in stage.text
        await stage.press("enter")
        assert "Enter again downloads 3.4 GiB" in stage.text
        await stage.press("up", "down")
        assert "once more" not in stage.text  # the question was about another line
        await stage.press("enter", "enter")
        await stage.until(lambda: asked.is_set() and "1 GiB of 3 GiB" in stage.text)
        await stage.press("f6", "down", "down", "enter", "enter")
        assert "One download at a time" in stage.text
        await stage.type("Hi")
        await stage.press("enter")
        assert stage.engine.asked(Run) == [Run("Hi")]
        arrived.set()
        await stage.until(lambda: "smollm2 is downloaded: F6 loads it" in stage.text)
        assert not stage.engine.asked(OpenModels)
        await stage.tell(RunFinished(0, False))
        await stage.press("f6", "down", "down", "enter")
        [command] = stage.engine.asked(OpenModels)
        assert command.options == public["smollm2"]


async def test_a_download_that_fails_says_so(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(family: PublicFamily, progress: Progress) -> None:
        raise InputError("https://huggingface.co can't be reached")

    monkeypatch.setattr(lanes, "fetch", broken)
    async with play(library=LIBRARY) as stage:
        await stage.load()
        stage.app._open_models(Fetch("smollm2"))
        await stage.until(lambda: "smollm2: https://huggingface.co can't be" in stage.text)
        assert not stage.app.state.download
