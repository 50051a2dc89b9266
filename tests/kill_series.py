"""Kills what writes, with SIGKILL at random moments, and looks whether anything is lost that was
reported as written, and whether everything goes on.

    python -m tests.kill_series --kills 30 --seed 1 [--only conversation,export,distill,train]

It ends with exit code 1 where anything was lost, and prints what.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from app.history.document import conversation_document
from app.history.log import complete_lines
from app.history.parse_document import read_document
from app.history.recorder import Recorder
from app.history.store import Store
from tests.support.conversation import LOADED, SETTINGS, turn

ROOT = Path(__file__).parents[1]
WRITING_SECONDS = 0.5  # the longest that a writer which never ends may write
HUNG_SECONDS = 600.0


@dataclass(frozen=True)
class Killed:
    """What a process had said when it was killed, line by line."""

    lines: tuple[str, ...]
    ended: bool  # by itself, before


def kill(command: Sequence[str], after: float, cwd: Path, begun: str = "") -> Killed:
    """Run a command and kill it so many seconds after its start, or after it has said `begun`."""
    said = cwd / "said"  # no pipe, which would hold it up when it is full
    with (
        said.open("wb") as out,
        subprocess.Popen(
            [sys.executable, *command], cwd=cwd, stdout=out, stderr=out, env=_environment()
        ) as process,
    ):
        while begun and not said.read_bytes().startswith(begun.encode()):
            assert process.poll() is None, said.read_text()
            time.sleep(0.005)
        try:
            process.wait(after)
            ended = True
        except subprocess.TimeoutExpired:
            process.kill()
            ended = False
    whole = complete_lines(said.read_bytes()).decode()  # the last line may have been cut
    return Killed(tuple(whole.removeprefix(f"{begun}\n").splitlines()), ended)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def run(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, text=True, capture_output=True,
        env=_environment(), timeout=HUNG_SECONDS,
    )  # fmt: skip


# Writers that go on until they are killed


def write_conversation(folder: Path) -> None:
    """Says after each write how many bytes are in the file."""
    recorder = Recorder(Store(folder), SETTINGS)
    recorder.take([LOADED])
    print("begun", flush=True)
    number = 0
    while True:
        for event in turn(number, f"Count to {number}!", 10.0 * number, number):
            recorder.take([event])
            assert recorder.problem is None
            print(recorder.size, flush=True)
        number += 1


def write_exports(log: Path) -> None:
    """Says after each export where it is."""
    from app.tui.actions.export import write_new

    recording = Store(log.parent).open(log)
    print("begun", flush=True)
    while True:
        data = json.dumps(conversation_document(recording)).encode()
        print(write_new("export", ".json", data), flush=True)


# What is found after a kill: problems, none where all is well


def conversation(chance: random.Random, root: Path) -> list[str]:
    command = ["-m", "tests.kill_series", "--write-conversation", str(root / "kept")]
    told = kill(command, chance.uniform(0, WRITING_SECONDS), root, "begun").lines
    store = Store(root / "kept")
    paths = list(store.folder.glob("*.jsonl"))
    if not paths:
        return [f"no file, though {told[-1]} bytes were said to be written"] if told else []
    [path] = paths
    problems = []
    size = len(complete_lines(path.read_bytes()))
    if told and size < int(told[-1]):
        problems.append(f"{size} bytes of {told[-1]} are there")
    if not told:
        return problems
    before = store.open(path)
    recorder = Recorder(store, SETTINGS)
    recorder.take([LOADED])
    recorder.go_on(path)  # whoever held it is dead
    number = len(before.turns) + 1000
    recorder.take(turn(number, "And on?", 1e6, number))
    recorder.close()
    after = store.open(path)
    prompts = [each.started.prompt for each in before.turns]
    if [each.started.prompt for each in after.turns] != [*prompts, "And on?"]:
        problems.append(f"{len(before.turns)} turns and one more became {len(after.turns)}")
    return problems


def export(chance: random.Random, root: Path) -> list[str]:
    recorder = Recorder(Store(root / "kept"), SETTINGS)
    recorder.take([LOADED, *(e for n in range(40) for e in turn(n, f"Count {n}!", 10.0 * n, n))])
    recorder.close()
    log = recorder.path
    assert log is not None
    kept, place = log.read_bytes(), root / "exports"
    place.mkdir()
    command = ["-m", "tests.kill_series", "--write-exports", str(log)]
    killed = kill(command, chance.uniform(0, WRITING_SECONDS), place, "begun")
    problems = [] if log.read_bytes() == kept else ["the conversation is another one"]
    for said in killed.lines:
        try:
            turns = read_document(json.loads((place / said).read_bytes()), place / said).turns
        except Exception as error:
            problems.append(f"{said} can't be read: {error}")
        else:
            problems += [] if len(turns) == 40 else [f"{said} has {len(turns)} turns"]
    return problems


class Heads:
    """Distilling and training on the demo's target, and what comes of them undisturbed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        prompts = (ROOT / "assets/prompts/demo.jsonl").read_text().splitlines(keepends=True)[:12]
        (root / "prompts.jsonl").write_text("".join(prompts))
        target = ("--target", str(ROOT / "assets/demo/target"))
        self._distill = (
            "-m", "app", "heads", "distill", *target, "--prompts", str(root / "prompts.jsonl"),
            "--batch-size", "2", "--max-new-tokens", "24", "--device", "cpu",
        )  # fmt: skip
        self._train = (
            "-m", "app", "heads", "train", *target, "--heads", str(root / "fresh"), "--data",
            str(root / "answers.jsonl"), "--max-steps", "6", "--evaluate-every", "1",
            "--device", "cpu",
        )  # fmt: skip
        begun = time.monotonic()
        self._done([*self._distill, "--out", str(root / "answers.jsonl")])
        self._distill_seconds = time.monotonic() - begun
        self._done(
            ["-m", "app", "heads", "convert", "eagle1", *target, "--out", str(root / "fresh")]
        )
        begun = time.monotonic()
        self._done([*self._train, "--out", str(root / "whole")])
        self._train_seconds = time.monotonic() - begun

    def _done(self, command: Sequence[str]) -> None:
        done = run(command, self._root)
        assert done.returncode == 0, done.stderr

    def distill(self, chance: random.Random, root: Path) -> list[str]:
        out, seconds = root / "answers.jsonl", self._distill_seconds
        command = [*self._distill, "--out", str(out)]
        killed = kill(command, chance.uniform(0.3, 1.0) * seconds, root)
        told = [int(line.split("/")[0]) for line in killed.lines if "conversations ·" in line]
        found = complete_lines(out.read_bytes()).count(b"\n") if out.exists() else 0
        problems = []
        if told and found < told[-1]:
            problems.append(f"{found} of {told[-1]} answers are there")
        done = run(command, root)
        if done.returncode != 0:
            problems.append(f"it does not go on: {done.stderr[-300:]}")
        elif out.read_bytes() != (self._root / "answers.jsonl").read_bytes():
            problems.append("the answers are others")
        return problems

    def train(self, chance: random.Random, root: Path) -> list[str]:
        out, seconds = root / "heads", self._train_seconds
        command = [*self._train, "--out", str(out)]
        killed = kill(command, chance.uniform(0.3, 1.0) * seconds, root)
        resume = ["--resume"] if (out / "training").is_dir() and not killed.ended else []
        if killed.ended:
            return []
        done = run([*command, *resume], root)
        if done.returncode != 0:
            return [f"it does not go on: {done.stderr[-300:]}"]
        name = "model.safetensors"
        same = (out / name).read_bytes() == (self._root / "whole" / name).read_bytes()
        return [] if same else ["the heads are others"]


Scenario = Callable[[random.Random, Path], list[str]]


def series(scenarios: Mapping[str, Scenario], kills: int, seed: int) -> list[str]:
    """So many kills of each; the problems."""
    problems = []
    for name, scenario in scenarios.items():
        for number in range(kills):
            with TemporaryDirectory(prefix="specchat-kill-") as root:
                chance = random.Random(f"{seed}/{name}/{number}")
                found = scenario(chance, Path(root))
            problems += [f"{name}, seed {seed}, kill {number}: {each}" for each in found]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="conversation,export,distill,train")
    parser.add_argument("--write-conversation", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write-exports", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write_conversation:
        write_conversation(arguments.write_conversation)
    if arguments.write_exports:
        write_exports(arguments.write_exports)
    names = arguments.only.split(",")
    with TemporaryDirectory(prefix="specchat-kill-heads-") as root:
        scenarios: dict[str, Scenario] = {"conversation": conversation, "export": export}
        if {"distill", "train"} & set(names):
            heads = Heads(Path(root))
            scenarios |= {"distill": heads.distill, "train": heads.train}
        problems = series(
            {name: scenarios[name] for name in names}, arguments.kills, arguments.seed
        )
    print("\n".join([*problems, f"{arguments.kills} kills of each of {', '.join(names)}"]))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
