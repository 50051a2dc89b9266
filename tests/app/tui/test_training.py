"""A training is watched in the app, as `specchat heads watch` shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decoding.training.log import ANSWERS, LOG
from tests.support.stage import Play


def report(work: Path, step: int) -> None:
    work.mkdir(parents=True, exist_ok=True)
    shared = {"time": 1e9 + step, "step": step, "steps": 100}
    learned = {"loss": 4.0 - step / 50, "losses": [], "accuracy": [0.5], "tokens": 10}
    measured = {"held_out": f"right .{step}", "served": 1 + step / 100}
    with (work / LOG).open("a") as log:
        for each in (learned, measured):
            log.write(json.dumps({**shared, **each}) + "\n")


async def test_the_newest_training_here_is_watched(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    work = tmp_path / "my-heads" / "training"
    report(work, 20)
    tokens = [["It", "first"], [" sat", "accepted"]]
    (work / ANSWERS).write_text(json.dumps({"prompt": "Where?", "tokens": tokens}) + "\n")
    async with play() as stage:
        await stage.press("ctrl+p")
        await stage.find("watch a training")
        await stage.press("enter")
        await stage.until(lambda: "step 20 of 100" in stage.text)
        assert "1.20, best 1.20" in stage.text and "It sat" in stage.text
        report(work, 40)
        await stage.until(lambda: "step 40 of 100" in stage.text)
        (work / LOG).unlink()  # it is done: what was shown stays
        await stage.pilot.pause(1.5)
        assert "step 40 of 100" in stage.text
        await stage.press("escape")
        assert "step 40 of 100" not in stage.text


async def test_another_folder_can_be_typed(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report(tmp_path / "far" / "off" / "training" / "heads", 60)
    async with play() as stage:
        await stage.press("ctrl+p")
        await stage.find("watch a training")
        await stage.press("enter")
        await stage.until(lambda: "No training in this folder" in stage.text)
        await stage.type("far")
        await stage.press("enter")
        await stage.until(lambda: "holds no training that has reported yet" in stage.text)
        await stage.type("/off")
        await stage.press("enter")
        await stage.until(lambda: "step 60 of 100" in stage.text)
