"""What is there is never written over, and a killed training goes on."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest
from transformers import AutoTokenizer

from app.cli.heads.training_job import remove_checkpoints
from decoding.files import Claim
from decoding.training.train_config import newest_checkpoint
from tests.conftest import FamilyFolders, Specchat


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    said = {"role": "assistant", "content": "the quick brown fox"}
    asked = [{"messages": [{"role": "user", "content": f"the {n}"}, said]} for n in range(40)]
    path = tmp_path / "lesson.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in asked))
    return path


@pytest.mark.parametrize("kind", ["medusa", "eagle1"])
def test_training_writes_over_nothing(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, lesson: Path, kind: str
) -> None:
    target, fresh = tmp_path / "target", tmp_path / "fresh"
    shutil.copytree(family_folders.target, target)
    options = ("--target", str(target))
    assert specchat("heads", "convert", kind, *options, "--out", str(fresh)).returncode == 0
    for out in (target, fresh):
        before = contents(out)
        train = ("heads", "train", *options, "--heads", str(fresh), "--data", str(lesson))
        done = specchat(*train, "--out", str(out))
        assert done.returncode == 2 and "is not empty: choose a new folder" in done.stderr
        done = specchat(*train, "--out", str(out), "--resume")
        assert done.returncode == 2 and "no training to go on with" in done.stderr
        assert contents(out) == before


def test_a_training_goes_on_from_the_newest_whole_checkpoint(tmp_path: Path) -> None:
    assert newest_checkpoint(tmp_path) is None
    for step, state in ((20, "{}"), (100, "{}"), (120, '{"best'), (140, None)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "model.safetensors").touch()
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
    assert newest_checkpoint(tmp_path) == str(tmp_path / "checkpoint-100")


def test_nothing_goes_on_from_a_checkpoint_that_is_half_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = tmp_path / "checkpoint-20"
    checkpoint.mkdir()
    (checkpoint / "trainer_state.json").write_text("{}")
    monkeypatch.setattr(shutil, "rmtree", lambda folder: None)  # killed
    remove_checkpoints(tmp_path)
    assert checkpoint.is_dir() and newest_checkpoint(tmp_path) is None


def test_after_ctrl_c_a_training_says_how_to_continue(
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    lesson: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh, out = tmp_path / "fresh", tmp_path / "trained"
    target = ("--target", family_folders.target)
    specchat("heads", "convert", "medusa", *target, "--out", str(fresh), "--heads", "1")

    def interrupted(*arguments: object) -> NoReturn:
        if saved:
            checkpoint = out / "training" / "checkpoint-2"
            checkpoint.mkdir()
            (checkpoint / "trainer_state.json").write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.heads.medusa.train_medusa", interrupted)
    data = ("--heads", str(fresh), "--data", str(lesson), "--out", str(out))
    for saved in (False, True):
        shutil.rmtree(out, ignore_errors=True)
        done = specchat("heads", "train", *target, *data)
        assert done.returncode == 130
        how = "interrupted: the same command with --resume continues from the newest checkpoint"
        assert (how in done.stderr) == saved


def test_after_ctrl_c_a_distillation_says_how_to_continue(
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    lesson: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from decoding.training import distill, generation

    def generated(*given: Any) -> Any:
        yield from itertools.islice(generation.generate(*given), 30)
        raise KeyboardInterrupt

    monkeypatch.setattr(distill, "generate", generated)
    out = tmp_path / "answers.jsonl"
    done = specchat(
        "heads", "distill", "--target", family_folders.target, "--prompts", str(lesson),
        "--out", str(out), "--max-new-tokens", "2", "--batch-size", "20",
    )  # fmt: skip
    assert done.returncode == 130 and len(out.read_text().splitlines()) == 30
    assert f"interrupted: the same command continues after the answers in {out}" in done.stderr


def test_questions_need_a_chat_template(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, lesson: Path
) -> None:
    target, out = tmp_path / "target", tmp_path / "answers.jsonl"
    shutil.copytree(family_folders.target, target)
    (target / "chat_template.jinja").unlink()
    prompts = ("--prompts", str(lesson), "--out", str(out))
    done = specchat("heads", "distill", "--target", str(target), *prompts)
    assert done.returncode == 2 and "its tokenizer has no chat template" in done.stderr
    assert done.stderr.count("\n") == 1 and not out.exists()


def test_a_template_of_a_file_for_a_target_that_has_none(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target, out, file = tmp_path / "target", tmp_path / "answers.jsonl", tmp_path / "own.jinja"
    shutil.copytree(family_folders.target, target)
    (target / "chat_template.jinja").unlink()
    file.write_text("{% for m in messages %}{{ '<' + m.role + '>' + m.content }}{% endfor %}")
    question = {"role": "user", "content": "the dog"}
    asked = [[{"role": "system", "content": "a fox"}, question], [question]]
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join(json.dumps({"messages": each}) + "\n" for each in asked))
    distill = (
        "heads", "distill", "--target", str(target), "--prompts", str(prompts), "--out", str(out),
        "--system", "lazy", "--max-new-tokens", "4", "--device", "cpu",
    )  # fmt: skip
    done = specchat(*distill, "--chat-template", str(file))
    assert done.returncode == 0, done.stderr
    tokenizer = AutoTokenizer.from_pretrained(target)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    prompted = {tokenizer.decode(each["ids"][: each["answers"][0][0]]) for each in records}
    assert prompted == {"<system>a fox<user>the dog", "<system>lazy<user>the dog"}

    file.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    refused = specchat(*distill, "--chat-template", str(file))
    assert refused.returncode == 2 and "with these settings" in refused.stderr
    missing = specchat(*distill, "--chat-template", str(tmp_path / "none"))
    assert missing.returncode == 2 and missing.stderr.count("\n") == 1
    assert "--chat-template: can't read" in missing.stderr

    heads = ("--target", str(target), "--out", str(tmp_path / "eagle"))
    own = ("--aux-layers", "0,1", "--draft-vocab", "90", "--data", str(out))
    convert = ("heads", "convert", "eagle3", *heads, *own)
    assert specchat(*convert, "--chat-template", str(file)).returncode == 0
    measured = specchat(
        "heads", "eval", *heads[:2], "--heads", heads[3], "--prompts", str(prompts), "--json",
        "--max-new-tokens", "4", "--chat-template", str(file), "--device", "cpu",
    )  # fmt: skip
    assert measured.returncode == 0, measured.stderr
    train = (
        "heads", "train", *heads[:2], "--heads", heads[3], "--data", str(out), "--out",
        str(tmp_path / "trained"), "--max-steps", "1", "--unroll", "1", "--device", "cpu",
    )  # fmt: skip
    bare = specchat(*train)
    assert bare.returncode == 2 and "no chat template" in bare.stderr
    trained = specchat(*train, "--chat-template", str(file))
    assert trained.returncode == 0, trained.stderr


def test_a_full_disk_is_named(
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    lesson: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*given: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("decoding.training.distill.answer", full)
    out = tmp_path / "answers.jsonl"
    done = specchat(
        "heads", "distill", "--target", family_folders.target, "--prompts", str(lesson),
        "--out", str(out),
    )  # fmt: skip
    assert done.returncode == 1 and done.stderr == f"specchat: {out}: No space left on device\n"


@pytest.mark.slow
def test_a_training_that_was_killed_while_it_wrote(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, lesson: Path
) -> None:
    fresh, out = tmp_path / "fresh", tmp_path / "trained"
    target = ("--target", family_folders.target)
    specchat("heads", "convert", "eagle1", *target, "--out", str(fresh))
    train = (
        "heads", "train", *target, "--heads", str(fresh), "--data", str(lesson), "--out", str(out),
        "--max-steps", "4", "--evaluate-every", "2", "--device", "cpu", "--keep-checkpoints",
    )  # fmt: skip
    assert specchat(*train).returncode == 0
    whole = (out / "model.safetensors").read_bytes()
    again = specchat(*train)
    assert again.returncode == 2 and "holds a training: add --resume" in again.stderr
    (out / "config.json").unlink()
    # in the order of writing: the tensors, the optimizer, the state
    for lost in (["trainer_state.json"], ["trainer_state.json", "optimizer.pt"], None):
        checkpoint = out / "training" / "checkpoint-4"
        for file in lost or [path.name for path in checkpoint.iterdir()]:
            (checkpoint / file).unlink()
        assert specchat(*train, "--resume").returncode == 0
        assert (out / "model.safetensors").read_bytes() == whole
    shutil.rmtree(out / "training")
    (out / "training").mkdir()  # killed before its first checkpoint
    assert specchat(*train, "--resume").returncode == 0


def test_a_training_goes_on_only_with_what_it_began_with(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, lesson: Path
) -> None:
    fresh, out, target = (
        tmp_path / "fresh",
        tmp_path / "trained",
        ("--target", family_folders.target),
    )
    specchat("heads", "convert", "medusa", *target, "--out", str(fresh), "--heads", "1")
    moved = lesson.with_name("moved.jsonl")
    shutil.copy(lesson, moved)
    train = (
        "heads", "train", *target, "--heads", str(fresh), "--out", str(out), "--device", "cpu",
        "--keep-checkpoints", "--evaluate-every",
    )  # fmt: skip
    begun = ("2", "--data", str(lesson), "--max-steps", "2", "--lr", "1e-3")
    assert specchat(*train, *begun).returncode == 0
    goes_on = ("1", "--data", str(moved), "--max-steps", "3", "--lr", "1e-3", "--resume")
    done = specchat(*train, *goes_on)
    assert done.returncode == 0 and "step 3/3" in done.stderr, done.stderr

    for changed, complaint in (
        (("--lr", "5e-3"), "--lr is 0.005, the training in .* began with 0.001: give the same"),
        (("--seed", "7"), "--seed is 7, .* began with 0"),
        (("--batch-size", "4"), "--batch-size is 4, .* began with 8"),
        (("--loss", "kl"), "--loss is kl, .* began with not given"),
        (("--held-out", str(lesson)), f"--held-out is {lesson}, .* began with not given"),
    ):
        done = specchat(*train, *goes_on, *changed)
        assert done.returncode == 2 and re.search(complaint, done.stderr), done.stderr
        assert done.stderr.count("\n") == 1
    done = specchat(*train, *goes_on, "--loss", "ce")  # the default by its name
    assert done.returncode == 0, done.stderr

    other = tmp_path / "other"
    specchat("heads", "convert", "medusa", *target, "--out", str(other), "--heads", "2")
    again, options = ("--heads", str(other)), out / "training" / "options.json"
    done = specchat(*train, *goes_on, *again)
    complaint = f"--heads is {other}, .* began with {fresh}: give the same"
    assert done.returncode == 2 and re.search(complaint, done.stderr), done.stderr
    done = specchat(*train, *goes_on, "--target", family_folders.draft)
    complaint = f"--target is {family_folders.draft}, .* began with {family_folders.target}"
    assert done.returncode == 2 and re.search(complaint, done.stderr), done.stderr
    copied = tmp_path / "copied"
    shutil.copytree(fresh, copied)
    assert specchat(*train, *goes_on, "--heads", str(copied)).returncode == 0
    noted = json.loads(options.read_text())
    options.write_text(json.dumps({name: noted[name] for name in noted if name != "--heads"}))
    done = specchat(*train, *goes_on)
    assert done.returncode == 2 and "began with not given" in done.stderr
    options.write_text(json.dumps(noted))

    with lesson.open("a") as file:
        file.write(json.dumps({"text": "the lazy dog"}) + "\n")
    done = specchat(*train, *begun, "--resume")
    assert done.returncode == 2 and "began when it had another content" in done.stderr


@pytest.mark.parametrize(
    "there",
    [
        b"my notes\nin two lines\n",
        b"one line without an end",
        b'{"prompt": "the fox"}\n' * 3,
        b'{"messages": [{"role": "user", "content": "the dog"}], "finish_reason": "stop"}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_distilling_writes_over_nothing(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, there: bytes
) -> None:
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "notes"
    prompts.write_text('{"prompt": "the fox"}\n' * 3)
    out.write_bytes(there)
    distill = ("heads", "distill", "--target", family_folders.target, "--prompts", str(prompts))
    for file in (out, prompts):
        before = file.read_bytes()
        done = specchat(*distill, "--out", str(file), "--max-new-tokens", "2")
        assert done.returncode == 2 and "other than answers to these prompts" in done.stderr
        assert file.read_bytes() == before


BAD = {
    "messages of numbers": '{"messages": [1, 2]}',
    "messages that are text": '{"messages": "abc"}',
    "no messages": '{"messages": []}',
    "content of numbers": '{"messages": [{"role": "user", "content": 5}]}',
    "half a character": '{"messages": [{"role": "user", "content": "\\ud800"}]}',
    "text of numbers": '{"text": 5}',
    "half a character of text": '{"text": "\\ud800"}',
    "a prompt": '{"prompt": "the fox"}',
    "no object": "[1]",
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("record", BAD.values(), ids=BAD)
def test_what_cannot_be_learned_from_is_named_by_its_line(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, lesson: Path, record: str
) -> None:
    fresh, target = tmp_path / "fresh", ("--target", family_folders.target)
    specchat("heads", "convert", "medusa", *target, "--out", str(fresh), "--heads", "1")
    with lesson.open("a") as file:
        file.write(record + "\n")
    done = specchat(
        "heads", "train", *target, "--heads", str(fresh), "--data", str(lesson), "--out",
        str(tmp_path / "out"), "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 2 and f"{lesson}:41" in done.stderr
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 400


@pytest.mark.parametrize("option", ["--epochs", "--lr", "--muon-lr"])
@pytest.mark.parametrize("value", ["inf", "nan"])
def test_numbers_that_are_none(specchat: Specchat, tmp_path: Path, option: str, value: str) -> None:
    here = str(tmp_path)
    options = ("--target", here, "--heads", here, "--data", here, "--out", here, option, value)
    done = specchat("heads", "train", *options)
    assert done.returncode == 2 and f"'{option}'" in done.stderr and "than or equal" in done.stderr


@pytest.mark.parametrize("out", ["/proc/heads", "/dev/full/heads"])
def test_folders_that_cannot_be_written(
    specchat: Specchat, family_folders: FamilyFolders, out: str
) -> None:
    done = specchat("heads", "convert", "medusa", "--target", family_folders.target, "--out", out)
    assert done.returncode == 2 and f"can't write to {out}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_answers_go_to_no_device(specchat: Specchat, tmp_path: Path) -> None:
    """Reading one for the answers so far would have no end."""
    (tmp_path / "p.jsonl").write_text('{"prompt": "Hi"}\n')
    given = ("--prompts", tmp_path / "p.jsonl", "--server", "http://127.0.0.1:9")
    done = specchat("heads", "distill", *given, "--out", "/dev/null")
    assert done.returncode == 2 and "--out /dev/null is no ordinary file" in done.stderr
    assert done.stderr.count("\n") == 1


def test_two_commands_write_to_two_places(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, lesson: Path
) -> None:
    """They would mix their answers, or remove each other's checkpoints."""
    target, fresh, out = ("--target", family_folders.target), tmp_path / "fresh", tmp_path / "out"
    assert specchat("heads", "convert", "medusa", *target, "--out", str(fresh)).returncode == 0
    train = ("heads", "train", *target, "--heads", str(fresh), "--data", str(lesson))
    distill = ("heads", "distill", *target, "--prompts", str(lesson), "--max-new-tokens", "2")
    for command in (
        (*train, "--max-steps", "1", "--out", str(out)),
        (*distill, "--out", f"{out}s"),
    ):
        with Claim(tmp_path / f".{Path(command[-1]).name}.lock"):
            done = specchat(*command)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert f"another command is writing to {command[-1]}" in done.stderr
        done = specchat(*command)
        assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob(".*.lock"))


def test_what_is_measured_on_has_an_answer(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, lesson: Path
) -> None:
    """The first prompt of twenty is kept for it, unless it is longer than what is read."""
    target, fresh = ("--target", family_folders.target), tmp_path / "fresh"
    assert specchat("heads", "convert", "medusa", *target, "--out", str(fresh)).returncode == 0
    first, *others = lesson.read_text().splitlines()[:13]
    long = json.loads(first)
    long["messages"][0]["content"] *= 100
    train = ("heads", "train", *target, "--heads", str(fresh), "--data", str(lesson))
    options = ("--length", "64", "--max-steps", "1", "--batch-size", "2")
    lesson.write_text("\n".join([json.dumps(long), *others]))
    done = specchat(*train, *options, "--out", str(tmp_path / "out"))
    assert done.returncode == 0 and "1 of 12 conversations hold no answer" in done.stderr
    lesson.write_text(others[0])
    done = specchat(*train, *options, "--out", str(tmp_path / "other"))
    assert done.returncode == 2 and "give --held-out FILE" in done.stderr
