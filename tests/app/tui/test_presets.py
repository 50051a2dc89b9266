"""Presets on the screen: used, saved, renamed, deleted; a broken file is a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import OptionList

from app.config.presets import Presets
from app.engine.commands import SetParams
from app.engine.events import Loaded
from app.tui.widgets.slider import Slider
from decoding.params import Params, SamplingParams
from tests.support.contrast import contrast_of
from tests.support.stage import LANES, Play, Stage


@pytest.fixture
def presets(tmp_path: Path) -> Presets:
    return Presets(tmp_path / "presets.json")


def asked(stage: Stage) -> Params:
    return stage.engine.asked(SetParams)[-1].params


async def test_one_that_comes_along_is_used(play: Play, presets: Presets) -> None:
    async with play(presets=presets, params=Params(gamma=3, max_new_tokens=100)) as stage:
        await stage.press("f4")
        assert "● greedy" in stage.text and "temp 0.00" in stage.text
        assert "d deletes" not in stage.text  # it is built in
        highlighted = stage.app.screen.query_one(OptionList).render_line(0)
        assert all(contrast_of(part.style) >= 4.5 for part in highlighted if part.text.strip())
        await stage.press("down", "enter")
        assert asked(stage) == Params(SamplingParams(0.7, 0, 0.95), gamma=3, max_new_tokens=100)
        slider = stage.app.main.query_one("#temperature", Slider)
        assert slider.value == 0.7 and not slider.has_class("-idle")
        assert "The settings are those of “usual sampling”" in stage.text
        await stage.press("f4")
        assert "● usual sampling" in stage.text and "● greedy" not in stage.text
        await stage.press("f4")
        assert "● usual sampling" not in stage.text


async def test_the_models_own_sampling(play: Play, presets: Presets) -> None:
    sampling = {"temperature": 0.6, "top_p": 0.9, "top_k": 20, "min_p": 0.0}
    async with play(presets=presets) as stage:
        await stage.press("f4")
        assert "temp 0.60" not in stage.text
        await stage.press("escape")
        await stage.tell(Loaded("m", "cpu", "float32", 1, 99, LANES, sampling=sampling))
        await stage.press("f4")
        assert "temp 0.60 · top-p 0.90 · top-k 20" in stage.text
        await stage.press("d", "d")
        assert "“model” is built in and can't be changed" in stage.text
        await stage.press("enter")
        assert asked(stage).sampling == SamplingParams(0.6, 20, 0.9)


async def test_save_rename_delete(play: Play, presets: Presets) -> None:
    async with play(presets=presets, params=Params(SamplingParams(0.333, 30))) as stage:
        await stage.press("f4", "s")
        await stage.type("mine [red]")
        await stage.press("enter")
        assert "● mine [red]" in stage.text and "temp 0.333 · top-k 30" in stage.text
        await stage.press("r")  # its name is selected: typing replaces it
        await stage.type("mine")
        await stage.press("enter")
        assert presets.get("mine")["top_k"] == 30 and "mine [red]" not in stage.text
        await stage.press("d")
        assert "d once more deletes “mine”" in stage.text and "mine" in presets.all()
        await stage.press("d")
        assert "mine" not in presets.all() and "● mine" not in stage.text
        for key in ("d", "r"):  # now one that is built in is highlighted
            await stage.press(key)
            assert "is built in and can't be" in stage.text and "once more" not in stage.text


async def save(stage: Stage, name: str) -> None:
    await stage.press("f4", "s", "ctrl+u")
    await stage.type(name)
    await stage.press("enter", "escape")


async def test_changes_of_presets_are_undone_and_redone(play: Play, presets: Presets) -> None:
    async with play(presets=presets, params=Params(SamplingParams(0.333))) as stage:
        await save(stage, "mine")
        await save(stage, "other")
        own = presets.path.read_bytes()
        await stage.press("f4", *["down"] * 5, "r", "ctrl+u")
        await stage.type("yours")
        await stage.press("enter", "d", "d")
        assert "“yours” is deleted: Esc, then Ctrl+Z brings it back" in words(stage)
        await stage.press("escape", "ctrl+z")
        assert "Undone: deleting the preset “yours”; Ctrl+Y redoes it" in stage.text
        await stage.press("ctrl+z")
        assert "Undone: renaming the preset to “yours”" in stage.text
        assert presets.path.read_bytes() == own
        await stage.press("ctrl+z")
        assert "Undone: saving the preset “other”" in stage.text and "other" not in presets.all()
        await stage.press("ctrl+y", "ctrl+y", "ctrl+y")
        assert "Redone: deleting the preset “yours”" in stage.text
        assert "yours" not in presets.all() and "other" in presets.all()
        presets.path.write_text("{")
        await stage.press("ctrl+z")
        assert "The presets can't be changed" in stage.text and presets.path.read_text() == "{"


async def test_only_the_preset_that_says_most_of_the_settings_is_marked(
    play: Play, presets: Presets
) -> None:
    async with play(presets=presets, params=Params(gamma=3)) as stage:
        await stage.press("f4")
        assert "● greedy" in stage.text
        await stage.press("s")
        await stage.type("mine")
        await stage.press("enter")  # it says the temperature, as “greedy” does, and the rest
        assert "● mine" in stage.text and "● greedy" not in stage.text
        assert "d deletes" in stage.text


def words(stage: Stage) -> str:
    """What is said in a box, on one line: a long path is wrapped anywhere."""
    return " ".join(stage.text.replace("│", " ").split())


async def test_a_broken_preset_is_reported_and_the_others_work(
    play: Play, presets: Presets
) -> None:
    presets.path.write_text("{")
    async with play(presets=presets) as stage:
        await stage.press("f4")
        assert "is not JSON" in words(stage) and "creative" in stage.text
        await stage.press("s")
        await stage.type("x")
        await stage.press("enter")
        assert presets.path.read_text() == "{"
        assert "is not JSON" in words(stage)
        presets.path.write_text(json.dumps({"odd": {"new": 1}}))
        await stage.press("escape", "f4", "end")
        assert "✗ odd" in stage.text and "there is no setting 'new'" in words(stage)
        await stage.press("enter")
        assert "the preset “odd”" in stage.text and not stage.engine.asked(SetParams)
