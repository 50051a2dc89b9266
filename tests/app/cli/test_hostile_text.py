"""Whatever models, files and users say: no command sends a terminal what it would obey."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FamilyFolders, Specchat
from tests.support.hostile import HOSTILE, obeyed

POINTER = "\x1b]22;default\x07"  # Textual's own: the mouse's shape
ROOT = Path(__file__).parents[3]
DEMO = ROOT / "assets" / "replay" / "demo.json"

COMMANDS = {
    "strategies": ["run", "--prompt", "a", "--strategies", HOSTILE],
    "preset": ["run", "--prompt", "a", "--preset", HOSTILE],
    "a number": ["run", "--prompt", "a", "--temperature", HOSTILE],
    "family": ["run", "--prompt", "a", "--family", HOSTILE],
    "target": ["run", "--prompt", "a", "--target", f"./{HOSTILE}"],
    "option": ["run", f"--{HOSTILE}"],
    "replay": ["replay", HOSTILE],
    "models": ["models", HOSTILE],
    "prompts": ["run", "--prompts", HOSTILE],
    "choices": ["run", "--prompt", "a", "--medusa-choices", HOSTILE],
    "heads": ["heads", "convert", "medusa", "--target", f"./{HOSTILE}", "--out", HOSTILE],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_complaints(command: str, specchat: Specchat) -> None:
    done = specchat(*COMMANDS[command])
    assert done.returncode == 2 and done.stderr.startswith("specchat: ")
    assert not obeyed(done.stderr) and not obeyed(done.stdout)


def test_an_id_of_a_prompt(specchat: Specchat, family_folders: FamilyFolders) -> None:
    record = json.dumps({"input_ids": [99999], "id": HOSTILE})
    done = specchat("run", "--prompts", "-", "--target", family_folders.target, stdin=record)
    assert done.returncode == 2 and "id 99999" in done.stderr and not obeyed(done.stderr)


def test_a_template_that_complains(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(family_folders.target, folder)
    template = "{{ raise_exception('" + HOSTILE + "') }}"
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    done = specchat("run", "--prompt", "a", "--target", str(folder))
    assert done.returncode == 2 and "chat template" in done.stderr and not obeyed(done.stderr)


def test_a_template_that_writes_what_is_no_text(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    template = tmp_path / "template.jinja"
    template.write_text("{{ '\\ud800' }}")
    target = ("--target", family_folders.target, "--chat-template", str(template))
    done = specchat("run", "--prompt", "a", *target)
    assert done.returncode == 2 and "chat template" in done.stderr and "Unicode" in done.stderr


WARNED = """
import logging, sys, warnings
from app.cli.terminal import guard_stderr
guard_stderr()
warnings.warn(sys.argv[1])
logging.getLogger("some.library").warning("logged %s", sys.argv[1])
"""


def test_what_libraries_log_and_warn_of() -> None:
    command = [sys.executable, "-c", WARNED, HOSTILE]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT)
    assert done.returncode == 0 and done.stderr.startswith("logged a")
    assert not obeyed(done.stderr) and "UserWarning" not in done.stderr


@pytest.mark.slow
def test_a_config_that_transformers_warns_of(family_folders: FamilyFolders, tmp_path: Path) -> None:
    """In a process of its own: what this one has loaded has made transformers silent."""
    folder = tmp_path / "model"
    shutil.copytree(family_folders.target, folder)
    config = json.loads((folder / "config.json").read_text())
    config["rope_parameters"] = {"rope_type": HOSTILE}
    (folder / "config.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "app", "run", "--prompt", "a", "--target", str(folder)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT)
    assert done.returncode == 2 and not obeyed(done.stderr) and done.stderr.count("\n") == 1


def test_a_folder_of_such_a_name(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    folder = tmp_path / HOSTILE
    shutil.copytree(family_folders.target, folder)
    for arguments in (
        ["models", str(folder)],
        ["models", str(folder), "--json"],
        ["run", "--prompt", f"the {HOSTILE}", "--max-new-tokens", "4", "--target", str(folder)],
        ["run", "--prompt", f"the {HOSTILE}", "--json", "--ignore-eos", "--target", str(folder)],
    ):
        done = specchat(*arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout and not obeyed(done.stdout + done.stderr)


def test_a_film_of_a_recording(specchat: Specchat, tmp_path: Path) -> None:
    document = json.loads(DEMO.read_text(encoding="utf-8"))
    document["replay"]["name"] = HOSTILE
    for name in ("target", "device", "dtype"):
        document[name] = HOSTILE
    for lane in document["replay"]["lanes"]:
        lane["title"] = HOSTILE
    for lane in (lane for run in document["runs"] for lane in run["lanes"]):
        for record in lane.get("rounds") or ():
            record["tree"] = HOSTILE
    recording, film = tmp_path / "hostile.json", tmp_path / "film.cast"
    recording.write_text(json.dumps(document), encoding="utf-8")
    done = specchat("replay", str(recording), "--cast", str(film), "--speed", "50")
    assert done.returncode == 0, done.stderr
    header, *frames = map(json.loads, film.read_text(encoding="utf-8").splitlines())
    drawn = "".join(data for _, _, data in frames).replace(POINTER, "")
    assert not obeyed(header["title"])
    assert "PWN" in drawn  # it is shown, as text
    for sequence in ("\x1b]", "\x07", "\x9b", "\x1b[31mb", "\x7f", "\u202e"):
        assert sequence not in drawn


@pytest.mark.parametrize("there", ["the recording itself", "another file"])
def test_a_film_overwrites_nothing(specchat: Specchat, tmp_path: Path, there: str) -> None:
    recording = tmp_path / "talk.json"
    shutil.copy(DEMO, recording)
    film = recording if there == "the recording itself" else tmp_path / "notes.txt"
    film.touch()
    before = film.read_bytes()
    done = specchat("replay", str(recording), "--cast", str(film))
    assert done.returncode == 2 and "the file exists" in done.stderr
    assert film.read_bytes() == before
