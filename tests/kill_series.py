"""Kills what writes, with SIGKILL at random moments, and looks whether anything is lost that was
reported as written, and whether everything goes on.

    python -m tests.kill_series --kills 30 --seed 1 [--only conversation,export]

Of a conversation, an export, a distillation by the target or by a server (`served`), a training.

It ends with exit code 1 where anything was lost, and prints what.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from app.history.document import conversation_document
from app.history.log import complete_lines
from app.history.parse_document import read_document
from app.history.recorder import Recorder
from app.history.store import Store
from tests.support.conversation import LOADED, SETTINGS, turn
from tests.support.processes import fake_server

ROOT = Path(__file__).parents[1]
NAMES = ("conversation", "export", "distill", "served", "train")
KINDS = ("medusa", "eagle1", "eagle3", "draft")
HEADS = ["app.cli.main", "app.cli.heads.server_answers"]
HEADS += [f"app.cli.heads.{kind}" for kind in ("draft", "eagle", "medusa")]
HEADS += ["decoding.training.distill", "transformers.models.llama.modeling_llama"]
SERVED = 600  # prompts, which take a second or two
CONCURRENCY = 4
WRITING_SECONDS = 0.5  # the longest that a writer which never ends may write
HUNG_SECONDS = 600.0


# Processes are copies of one that has imported what they need, and computed nothing.
FORKS = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Said:
    """What a process said until it ended or was killed, line by line."""

    lines: tuple[str, ...]
    exit_code: int | None  # None: killed


def run(
    work: Callable[..., None], given: Sequence[object], said: Path,
    after: float = HUNG_SECONDS, begun: str = "",
) -> Said:  # fmt: skip
    """Do some work in a process of its own that writes to the file `said`, and kill it so many
    seconds after its start, or after it has said `begun`."""
    process = FORKS.Process(target=_redirected, args=(said, work, *given))
    said.touch()
    process.start()
    while begun and not said.read_bytes().startswith(begun.encode()):
        assert process.is_alive(), said.read_text()
        time.sleep(0.005)
    process.join(after)
    exit_code = process.exitcode
    process.kill()
    process.join()
    whole = complete_lines(said.read_bytes()).decode()  # the last line may have been cut
    said.unlink()
    return Said(tuple(whole.removeprefix(f"{begun}\n").splitlines()), exit_code)


def _redirected(said: Path, work: Callable[..., None], *given: object) -> None:
    """To a file: a pipe would hold it up when it is full."""
    with said.open("wb") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    work(*given)


def specchat(*arguments: str) -> None:
    from app.cli.main import main

    sys.argv = ["specchat", *arguments]
    main()


# Writers that go on until they are killed


def write_conversation(folder: Path) -> None:
    """Says after each write how many bytes are in the file."""
    recorder = Recorder(Store(folder), SETTINGS)
    recorder.record([LOADED])
    print("begun", flush=True)
    number = 0
    while True:
        for event in turn(number, f"Count to {number}!", 10.0 * number, number):
            recorder.record([event])
            assert recorder.problem is None
            print(recorder.size, flush=True)
        number += 1


def write_exports(log: Path, folder: Path) -> None:
    """Says after each export where it is."""
    from app.tui.actions.export import write_new

    os.chdir(folder)
    recording = Store(log.parent).open(log)
    print("begun", flush=True)
    while True:
        data = json.dumps(conversation_document(recording)).encode()
        print(write_new("export", ".json", data), flush=True)


# What is found after a kill: problems, none where all is well


def conversation(chance: random.Random, root: Path) -> list[str]:
    seconds = chance.uniform(0, WRITING_SECONDS)
    told = run(write_conversation, [root / "kept"], root / "said", seconds, "begun").lines
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
    recorder.record([LOADED])
    recorder.go_on(path, store.size(path))  # whoever held it is dead
    number = len(before.turns) + 1000
    recorder.record(turn(number, "And on?", 1e6, number))
    recorder.close()
    after = store.open(path)
    prompts = [each.started.prompt for each in before.turns]
    if [each.started.prompt for each in after.turns] != [*prompts, "And on?"]:
        problems.append(f"{len(before.turns)} turns and one more became {len(after.turns)}")
    return problems


def export(chance: random.Random, root: Path) -> list[str]:
    recorder = Recorder(Store(root / "kept"), SETTINGS)
    recorder.record([LOADED, *(e for n in range(40) for e in turn(n, f"Count {n}!", 10.0 * n, n))])
    recorder.close()
    log = recorder.path
    assert log is not None
    kept, place = log.read_bytes(), root / "exports"
    place.mkdir()
    seconds = chance.uniform(0, WRITING_SECONDS)
    killed = run(write_exports, [log, place], root / "said", seconds, "begun")
    problems = [] if log.read_bytes() == kept else ["the conversation is another one"]
    for said in killed.lines:
        try:
            turns = read_document(json.loads((place / said).read_bytes()), place / said).turns
        except Exception as error:
            problems.append(f"{said} can't be read: {error}")
        else:
            problems += [] if len(turns) == 40 else [f"{said} has {len(turns)} turns"]
    return problems


def timed(said: Path, *arguments: str) -> float:
    """The seconds that a command takes undisturbed."""
    begun = time.monotonic()
    done = run(specchat, arguments, said)
    assert done.exit_code == 0, done.lines
    return time.monotonic() - begun


def distill_killed(command: Sequence[str], out: Path, said: Path, after: float) -> list[str]:
    """Kill a distillation, and find out whether what it counted is in the file."""
    killed = run(specchat, command, said, after)
    told = [int(line.split("/")[0]) for line in killed.lines if "conversations ·" in line]
    found = answers_in(out)
    return [f"{found} of {told[-1]} answers are there"] if told and found < told[-1] else []


def answers_in(out: Path) -> int:
    return complete_lines(out.read_bytes()).count(b"\n") if out.exists() else 0


class Heads:
    """Distilling and training on the demo's target, and what comes of them undisturbed."""

    def __init__(self, root: Path) -> None:
        self._answers = root / "answers.jsonl"
        self._root = root
        prompts = (ROOT / "assets/prompts/demo.jsonl").read_text().splitlines(keepends=True)[:12]
        (root / "prompts.jsonl").write_text("".join(prompts))
        self._options = ("--target", str(ROOT / "assets/demo/target"), "--device", "cpu")
        self._distill = (
            "heads", "distill", *self._options, "--prompts", str(root / "prompts.jsonl"),
            "--batch-size", "2", "--max-new-tokens", "24", "--out",
        )  # fmt: skip
        self._distill_seconds = timed(root / "said", *self._distill, str(self._answers))
        self._train_seconds: dict[str, float] = {}

    def _training(self, kind: str, out: Path) -> tuple[str, ...]:
        return (
            "heads", "train", *self._options, "--data", str(self._answers), "--max-steps", "6",
            "--evaluate-every", "1", "--heads", str(self._root / f"{kind}-fresh"),
            "--out", str(out),
        )  # fmt: skip

    def _seconds_to_train(self, kind: str) -> float:
        if kind not in self._train_seconds:
            said, fresh = self._root / "said", self._root / f"{kind}-fresh"
            timed(said, "heads", "convert", kind, *self._options, "--out", str(fresh))
            self._train_seconds[kind] = timed(said, *self._training(kind, self._root / kind))
        return self._train_seconds[kind]

    def distill(self, chance: random.Random, root: Path) -> list[str]:
        out, said = root / "answers.jsonl", root / "said"
        command = (*self._distill, str(out))
        problems = distill_killed(command, out, said, chance.random() * self._distill_seconds)
        done = run(specchat, command, said)
        if done.exit_code != 0:
            problems.append(f"it does not go on: {done.lines[-1:]}")
        elif out.read_bytes() != self._answers.read_bytes():
            problems.append("the answers are others")
        return problems

    def train(self, chance: random.Random, root: Path) -> list[str]:
        kind = chance.choice(KINDS)
        seconds = self._seconds_to_train(kind)
        out, said = root / kind, root / "said"
        command = self._training(kind, out)
        run(specchat, command, said, chance.random() * seconds)
        # It was done where its checkpoints are removed and the heads are there.
        if (out / "training").is_dir() or not (out / "config.json").is_file():
            resume = ["--resume"] if (out / "training").is_dir() else []
            done = run(specchat, [*command, *resume], said)
            if done.exit_code != 0:
                return [f"{kind} does not go on: {done.lines[-1:]}"]
        found, whole = contents(out), contents(self._root / kind)
        others = sorted(name for name in found | whole if found.get(name) != whole.get(name))
        return [f"{kind}: {', '.join(others)} are others"] if others else []


class Served:
    """Distilling by the answers of a server that repeats the question."""

    def __init__(self, root: Path, server: str) -> None:
        self._server = f"{server}/echo"
        prompts = root / "served.jsonl"
        prompts.write_text("".join(f'{{"prompt": "Count to {n}!"}}\n' for n in range(SERVED)))
        self._distill = (
            "heads", "distill", "--server", self._server, "--prompts", str(prompts),
            "--concurrency", str(CONCURRENCY), "--out",
        )  # fmt: skip
        out = root / "served-answers.jsonl"
        self._seconds = timed(root / "said", *self._distill, str(out))
        self._answers = sorted(out.read_bytes().splitlines())

    def _asked(self) -> int:
        with urlopen(f"{self._server}/asked") as reply:
            return int(reply.read())

    def distill(self, chance: random.Random, root: Path) -> list[str]:
        out, said = root / "answers.jsonl", root / "said"
        command = (*self._distill, str(out))
        problems = distill_killed(command, out, said, chance.random() * self._seconds)
        before, missing = self._asked(), SERVED - answers_in(out)
        done = run(specchat, command, said)
        if done.exit_code != 0:
            problems.append(f"it does not go on: {done.lines[-1:]}")
        elif sorted(out.read_bytes().splitlines()) != self._answers:
            problems.append("the answers are others")
        # The server may count what was on its way when its client died.
        elif not 0 <= (asked := self._asked() - before) - missing <= CONCURRENCY:
            problems.append(f"{asked} were asked for where {missing} were missing")
        return problems


def contents(folder: Path) -> dict[str, bytes]:
    """The files by their names; a recipe says where it was made, which is left out."""
    files = (path for path in folder.rglob("*") if path.is_file())
    out = b"out: " + os.fsencode(folder)
    return {str(path.relative_to(folder)): path.read_bytes().replace(out, b"") for path in files}


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


def series_of(names: Sequence[str], kills: int, seed: int) -> list[str]:
    """The series by the scenarios' names; only what they need is prepared."""
    scenarios: dict[str, Scenario] = {"conversation": conversation, "export": export}
    FORKS.set_forkserver_preload(HEADS)
    with TemporaryDirectory(prefix="specchat-kill-heads-") as folder, ExitStack() as stack:
        root = Path(folder)
        if {"distill", "train"} & set(names):
            heads = Heads(root)
            scenarios |= {"distill": heads.distill, "train": heads.train}
        if "served" in names:
            scenarios["served"] = Served(root, stack.enter_context(fake_server())).distill
        return series({name: scenarios[name] for name in names}, kills, seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(NAMES))
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    problems = series_of(names, arguments.kills, arguments.seed)
    print("\n".join([*problems, f"{arguments.kills} kills of each of {', '.join(names)}"]))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
