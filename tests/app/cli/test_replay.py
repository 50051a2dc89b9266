"""`specchat replay` on the command line, and the recording that comes along."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.terminal import require_terminal
from app.history.parse_document import read_recording
from app.tui.replay.app import ReplayApp
from decoding.errors import InputError
from tests.conftest import Specchat

DEMO = Path(__file__).parents[3] / "assets" / "replay" / "demo.json"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["none.json"], "can't read none.json: No such file or directory"),
        ([str(Path(__file__))], "is not JSON"),
        ([str(DEMO), "--speed", "0"], "--speed: from 0.01 to 100, not 0"),
        ([str(DEMO), "--speed", "nan"], "--speed: from 0.01 to 100, not nan"),
        ([str(DEMO), "--cast", "x", "--size", "wide"], "--size: columns x rows"),
        ([str(DEMO)], "the screen needs a terminal"),
        ([], "Missing argument"),
    ],
)
def test_wrong_input_is_one_line(specchat: Specchat, arguments: list[str], complaint: str) -> None:
    done = specchat("replay", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert complaint in done.stderr and done.stderr.count("\n") == 1


def test_a_screen_that_fails_leaves_no_cast(
    specchat: Specchat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReplayApp, "CSS_PATH", "gone.tcss")
    done = specchat("replay", str(DEMO), "--cast", str(tmp_path / "film.cast"))
    assert done.returncode == 1 and not (tmp_path / "film.cast").exists()


def test_another_version_is_refused(specchat: Specchat, tmp_path: Path) -> None:
    document = json.loads(DEMO.read_text(encoding="utf-8"))
    document["replay"]["replay_version"] = 99
    path = tmp_path / "new.json"
    path.write_text(json.dumps(document))
    done = specchat("replay", str(path))
    assert done.returncode == 2 and "in another format (1.99, this one reads 1.1)" in done.stderr


def test_the_demo_can_be_played() -> None:
    recording = read_recording(DEMO)
    assert recording.turns and recording.loaded
    for turn in recording.turns:
        assert not turn.stopped and len(set(turn.answers.values())) == 1  # greedy: all the same
        for lane in turn.lanes.values():
            assert all(record.p for record in lane.rounds if record.drafted)


def test_a_replay_works_where_there_is_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules.update(torch=None, transformers=None);"
        f"sys.argv = ['specchat', 'replay', {str(DEMO)!r}, '--cast', 'film.cast', '--speed', '16'];"
        "from app.cli.main import main; main()"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "film.cast").stat().st_size > 10_000


def test_the_demo_is_small_and_tells_nothing_of_where_it_was_made() -> None:
    text = DEMO.read_text(encoding="utf-8")
    assert len(text) < 300_000 and not re.search('"/[^"]|/(home|root|tmp|Users)/', text)
    assert json.loads(text)["settings"]["target"] is None


def test_a_terminal_that_cannot_draw_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with pytest.raises(
        InputError, match=r"can't draw a screen \(TERM is dumb\); use: specchat run"
    ):
        require_terminal("specchat run")
