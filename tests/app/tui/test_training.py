"""A training is watched in the app, as `specchat heads watch` shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.tui.format import training
from app.tui.format.training import newest_reports, newest_training
from decoding.errors import InputError
from decoding.training.log import ANSWERS, LOG, training_log
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


def test_a_log_that_is_removed_at_this_moment_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(tmp_path / "out" / "training", 20)
    found = tmp_path / "out" / "training" / LOG
    gone = tmp_path / "gone" / "training" / LOG
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter([gone, found]))
    assert newest_training(tmp_path) == tmp_path / "out"
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter([gone]))
    assert newest_training(tmp_path) is None

    def fail(self: Path, pattern: str) -> None:
        raise FileNotFoundError(2, "no such folder", str(gone.parent))

    monkeypatch.setattr(Path, "glob", fail)
    assert newest_training(tmp_path) is None
    with pytest.raises(InputError, match="no training that has reported"):
        newest_reports(tmp_path / "out")


def test_a_log_is_read_once_a_refresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report(tmp_path / "training", 20)
    read: list[Path] = []

    def counted(work: Path) -> list[dict[str, Any]]:
        read.append(work)
        return training_log(work)

    monkeypatch.setattr(training, "training_log", counted)
    assert newest_reports(tmp_path)[-1]["step"] == 20 and len(read) == 1
    monkeypatch.setattr(training, "training_log", lambda at: training_log(at / "removed"))
    with pytest.raises(InputError, match="no training that has reported"):
        newest_reports(tmp_path)
