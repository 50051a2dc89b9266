"""A training is watched by the log that it writes."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from app.cli.heads.watch import watch
from app.tui.format.training import sparkline, view
from decoding.training.log import ANSWERS, LOG, training_log
from tests.conftest import Specchat

WORDS = "right .71 .64 · served τ 1.90"


def entry(step: int, **more: Any) -> dict[str, Any]:
    return {"time": 1000.0 + step, "step": step, "steps": 100, **more}


def learned(step: int, loss: float) -> dict[str, Any]:
    return entry(step, loss=loss, losses=[loss, 2 * loss], accuracy=[0.5, 0.25], tokens=10)


ENTRIES = [
    learned(10, 4.0),
    learned(20, 3.0),
    entry(20, held_out=WORDS, served=1.9),
    learned(30, 1.0),
]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    work = tmp_path / "out" / "training"
    work.mkdir(parents=True)
    (work / LOG).write_text("".join(json.dumps(each) + "\n" for each in ENTRIES))
    return work.parent


def test_where_there_is_no_terminal_it_is_printed_once(specchat: Specchat, out: Path) -> None:
    done = specchat("heads", "watch", str(out))
    assert done.returncode == 0, done.stderr
    assert "step 30 of 100" in done.stdout and "silent for" in done.stdout
    assert "1.90, best 1.90" in done.stdout and f"step     20 held out · {WORDS}" in done.stdout


def test_of_a_training_that_is_done_the_log_is_gone(specchat: Specchat, tmp_path: Path) -> None:
    done = specchat("heads", "watch", str(tmp_path))
    assert done.returncode == 2 and "holds no training that has reported yet" in done.stderr
    (tmp_path / "config.json").write_text("{}")
    done = specchat("heads", "watch", str(tmp_path))
    assert done.returncode == 2 and "train --keep-checkpoints keeps it" in done.stderr


def test_an_answer_shows_what_was_drafted_of_it(specchat: Specchat, out: Path) -> None:
    first = [["It", "first"], [" sat", "plain"]]
    later = [["It", "first"], [" sat\x1b", "accepted"], [" off", "rejected"], [" on", "correction"]]
    with (out / "training" / ANSWERS).open("w") as file:
        for tokens in (first, later):
            file.write(json.dumps({"prompt": "Where?", "tokens": tokens}) + "\n")
        file.write('{"prompt": "W')  # being written
    done = specchat("heads", "watch", str(out))
    assert "drafted in one answer: ▁█  33% of its tokens" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["› Where?", "It ‹sat␛› on"]


def test_what_is_left_goes_by_the_last_reports(out: Path) -> None:
    console = Console(width=100)
    with console.capture() as text:
        console.print(view(out, ENTRIES, 100, now=1031.0))
    assert "step 30 of 100, 69 s left\n" in text.get()
    with console.capture() as text:
        staged = [each | {"stage": "1 of 2"} for each in ENTRIES]
        console.print(view(out, staged, 100, now=1031.0))
    assert "step 30 of 100, 69 s left in stage 1 of 2\n" in text.get()
    assert "█▆▁" in text.get()


def test_in_a_narrow_terminal_curves_leave_room_for_the_figures() -> None:
    console = Console(width=51)
    with console.capture() as text:
        console.print(view(Path("out"), [learned(step, 3.0) for step in range(60)], 51, now=1059.0))
    lines = text.get().splitlines()
    for whole in ("step 59 of 100, 41 s left", "3.000 (3.00 6.00)", ".50 .25"):
        assert any(line.rstrip().endswith(whole) for line in lines)


def test_a_resumed_training_goes_back(out: Path) -> None:
    again = [learned(20, 2.0), entry(20, held_out=WORDS, served=2.1)]
    with (out / "training" / LOG).open("a") as file:
        file.write("".join(json.dumps(each) + "\n" for each in again) + '{"time": 10')
    assert training_log(out / "training") == [ENTRIES[0], *again]


def test_a_file_of_another_form_is_no_training(specchat: Specchat, out: Path) -> None:
    odd = [3, [1], {"a": 1}, {"step": "x", "steps": 3, "time": 1}, entry(1, loss="x", accuracy=3)]
    (out / "training" / LOG).write_text("".join(json.dumps(each) + "\n" for each in odd))
    done = specchat("heads", "watch", str(out))
    assert done.returncode == 2 and "holds no training that has reported yet" in done.stderr
    (out / "training" / LOG).write_text(json.dumps(ENTRIES[0]) + "\n")
    wrong = [[1], {"prompt": 3, "tokens": []}, {"prompt": "a", "tokens": [["b", "lost"], 3]}]
    (out / "training" / ANSWERS).write_text("".join(json.dumps(each) + "\n" for each in wrong))
    done = specchat("heads", "watch", str(out))
    assert done.returncode == 0 and "drafted in one answer" not in done.stdout


def test_it_is_watched_until_it_is_written(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its last step, its last evaluation and the first of several stages."""
    now, later = time.time(), []
    log = out / "training" / LOG
    (out / "config.json").touch()  # of a training that has been resumed since
    os.utime(out / "config.json", (now - 99, now - 99))

    def report(step: int, to: Path = log, **more: Any) -> None:
        to.parent.mkdir(exist_ok=True)
        line = {**learned(step, 1.0), "time": now, **more}
        with to.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def wait(seconds: float) -> None:
        later.append(log.read_text())
        if len(later) == 3:
            os.utime(out / "config.json", (now + 1, now + 1))
        else:
            report(100)

    monkeypatch.setattr("app.cli.heads.watch.time.sleep", wait)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    report(100)
    watch(out)
    assert len(later) == 3


def test_curves_are_as_wide_as_there_is_room_for() -> None:
    assert sparkline([1.0, math.nan, 2.0, math.inf]) == "▁×█×"  # a training that diverges
    assert sparkline([]) == "" and sparkline([1.0]) == "▁" and sparkline([0, 7]) == "▁█"
    assert len(sparkline(list(range(1000)))) == 40


def test_a_folder_without_a_training_is_one_line(specchat: Specchat, tmp_path: Path) -> None:
    done = specchat("heads", "watch", str(tmp_path))
    assert done.returncode == 2 and "no training that has reported" in done.stderr
    assert done.stderr.count("\n") == 1
