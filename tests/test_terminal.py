"""The whole thing in a real terminal: `specchat` in tmux, keys typed, the screen read."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import FamilyFolders

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0  # seconds; a loaded machine is slow, a hanging app is slower

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]


class Terminal:
    """A tmux session of its own server, so that nobody else's is touched."""

    def __init__(self, socket: Path, command: str, columns: int, rows: int) -> None:
        # -u: what the screen shows is read as UTF-8 whatever the locale is
        self._tmux = ["tmux", "-u", "-S", str(socket), "-f", os.devnull]
        self._call(
            "new-session", "-d", "-s", "app", "-x", str(columns), "-y", str(rows),
            f"{command}; echo left with $?; exec sleep {10 * PATIENCE:.0f}",
        )  # fmt: skip

    def _call(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments], capture_output=True, encoding="utf-8", check=True, cwd=ROOT
        )
        return done.stdout

    def screen(self) -> str:
        return self._call("capture-pane", "-p", "-t", "app")

    def modes(self, *names: str) -> list[str]:
        wanted = " ".join(f"#{{{name}}}" for name in names)
        return self._call("display-message", "-p", "-t", "app", wanted).split()

    def type(self, text: str) -> None:
        self._call("send-keys", "-t", "app", "-l", text)

    def press(self, *keys: str) -> None:
        self._call("send-keys", "-t", "app", *keys)

    def wait_for(self, *texts: str) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            screen = self.screen()
            if all(text in screen for text in texts):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{texts} did not appear:\n{self.screen()}")

    @property
    def app(self) -> psutil.Process:
        (shell,) = self._call("list-panes", "-t", "app", "-F", "#{pane_pid}").split()
        (app,) = psutil.Process(int(shell)).children()
        return app

    def kill(self) -> None:
        """As a crash would end it."""
        self.app.kill()
        self.wait_for("left with 137")

    def close(self) -> None:
        self._call("kill-server")


@pytest.fixture
def terminal(
    request: pytest.FixtureRequest, tmp_path: Path, family_folders: FamilyFolders
) -> Iterator[Terminal]:
    columns, rows, *flags = request.param
    home = f"XDG_CONFIG_HOME={tmp_path} XDG_DATA_HOME={tmp_path}"
    command = (
        f"env {home} {sys.executable} -m app"
        f" --target {family_folders.target} --draft {family_folders.draft} --ignore-eos"
        f" --max-new-tokens 60 --strategies ar,draft,medusa,lookup {' '.join(flags)}"
    )
    terminal = Terminal(tmp_path / "tmux", command, columns, rows)
    yield terminal
    terminal.close()


@pytest.mark.parametrize("terminal", [(100, 30)], indirect=True)
def test_ask_watch_and_leave(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("Autoregressive", "Draft model", "Prompt lookup")
    terminal.type("the quick fox")
    terminal.press("Enter")
    screen = terminal.wait_for("60 tok", "≡AR", "α ", "τ ", "tok/s", "ready")
    assert screen.count("the quick fox") >= 2  # the prompt stands in every lane
    terminal.press("Escape", "2")  # at once; to the draft lane
    terminal.wait_for("Letters are commands here")
    terminal.press("F5")
    terminal.wait_for("Autoregressive")
    terminal.press("F1")
    terminal.wait_for("accepted", "TTFT")
    terminal.press("Escape")
    terminal.press("C-q")
    screen = terminal.wait_for("left with 0")
    assert "To continue “the quick fox”: specchat, then F3" in screen
    kept = [file.suffix for file in (tmp_path / "specchat").rglob("*") if file.is_file()]
    assert kept == [".jsonl"]  # no lock is left


@pytest.mark.parametrize("terminal", [(100, 30)], indirect=True)
def test_what_is_typed_while_it_starts_stays_in_order(terminal: Terminal) -> None:
    text = "why is the sky blue? say it in ten words please and more"
    for letter in text:
        terminal.type(letter)
        time.sleep(0.005)
    terminal.press("Enter")
    screen = terminal.wait_for("60 tok", "tok/s")
    assert f"› {text[:40]}" in screen


@pytest.mark.parametrize("terminal", [(100, 30)], indirect=True)
def test_a_killed_app_has_kept_the_conversation(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("ready")
    terminal.type("the quick fox")
    terminal.press("Enter")
    terminal.wait_for("60 tok", "≡AR")
    terminal.kill()
    (kept,) = (tmp_path / "specchat" / "conversations").glob("*.jsonl")
    replay = Terminal(
        tmp_path / "replay", f"{sys.executable} -m app replay {kept} --speed 16", 100, 30
    )
    try:
        replay.wait_for("60 tok", "≡AR", "the quick fox", "16×")
        replay.press("C-q")
        replay.wait_for("left with 0")
    finally:
        replay.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("terminal", [(100, 30)], indirect=True)
def test_an_app_that_is_told_to_end_leaves_the_terminal_as_it_was(
    terminal: Terminal, tmp_path: Path, number: signal.Signals
) -> None:
    terminal.wait_for("ready")
    terminal.type("not sent yet")
    terminal.wait_for("not sent yet")
    terminal.app.send_signal(number)
    screen = terminal.wait_for(f"left with {128 + number}")
    unsent = tmp_path / "specchat" / "conversations" / "unsent.json"
    assert json.loads(unsent.read_text()) == ["not sent yet"]
    assert "Autoregressive" not in screen
    modes = ["alternate_on", "mouse_any_flag", "cursor_flag"]
    assert terminal.modes(*modes) == ["0", "0", "1"]


@pytest.mark.parametrize("terminal", [(60, 24, "--no-keep")], indirect=True)
def test_a_small_terminal_is_enough_and_may_keep_nothing(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.wait_for("Autoregressive")
    terminal.type("the dog")
    terminal.press("Enter")
    terminal.wait_for("60 tok")
    terminal.press("C-q")
    assert "To continue" not in terminal.wait_for("left with 0")
    assert not (tmp_path / "specchat").exists()


@pytest.mark.parametrize("terminal", [(100, 30)], indirect=True)
def test_leaving_while_models_load_does_not_wait(terminal: Terminal) -> None:
    terminal.wait_for("loading")
    (loader,) = (each for each in terminal.app.children() if "spawn_main" in str(each.cmdline()))
    loader.suspend()  # as if that took forever
    while loader.status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    terminal.press("C-q")
    terminal.wait_for("left with 0")
