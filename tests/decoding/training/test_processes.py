"""Two processes learn what one does, also when each has only a part of the target."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from app.cli.heads.serving import ServedSample
from app.cli.main import main
from decoding.checkpoints.medusa import read_medusa
from decoding.errors import InputError
from decoding.training.processes import is_first_process, local_rank, process_count
from decoding.training.train_config import TrainConfig
from decoding.training.trainer import HeadTrainer
from tests.conftest import FamilyFolders, Specchat
from tests.support.processes import in_two_processes

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")


@pytest.fixture
def data(tmp_path: Path) -> str:
    """Conversations with answers of many lengths."""
    path = tmp_path / "data.jsonl"
    records = [
        {"messages": [{"role": "user", "content": a}, {"role": "assistant", "content": b * n}]}
        for a in WORDS for n, b in enumerate(WORDS, 1)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, records)))
    return str(path)


def test_what_the_launcher_says_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert is_first_process() and process_count() == 1 and local_rank() is None
    for name, value in (("RANK", "5"), ("LOCAL_RANK", "1"), ("WORLD_SIZE", "8")):
        monkeypatch.setenv(name, value)
    assert not is_first_process() and process_count() == 8 and local_rank() == 1


def test_a_batch_that_can_not_be_shared_is_refused(tmp_path: Path) -> None:
    def configure() -> None:
        with pytest.raises(InputError, match="^batch_size 3: .* give a multiple of 2"):
            TrainConfig(batch_size=3).arguments(tmp_path, torch.device("cpu"))

    in_two_processes(configure, tmp_path)


def test_too_few_conversations_for_a_batch_are_refused(
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"role": "assistant", "content": "the quick brown fox"}
    few = tmp_path / "few.jsonl"
    few.write_text(
        "".join(
            json.dumps({"messages": [{"role": "user", "content": word}, said]}) + "\n"
            for word in WORDS[:5]
        )
    )
    train = (
        *training(specchat, family_folders.target, str(few), tmp_path, heads=1),
        "--held-out", str(few), "--max-steps", "1", "--out", str(tmp_path / "out"),
    )  # fmt: skip

    def refused() -> None:
        with pytest.raises(SystemExit) as error:
            main()
        assert error.value.code == 2

    monkeypatch.setattr(sys, "argv", ["specchat", *train])
    for said_by_one in in_two_processes(refused, tmp_path):
        assert "--batch-size 8: there are only 5 conversations for 2 processes" in said_by_one
    assert not (tmp_path / "out").exists()
    assert specchat(*train).returncode == 0  # one process learns them all in each step


def training(
    specchat: Specchat, target: str, data: str, folder: Path, heads: int | None = None
) -> tuple[str, ...]:
    """The command that trains new Medusa heads, or else a draft model of one layer, without its
    end."""
    fresh, size = str(folder / "fresh"), ("draft", "--layers", "1")
    if heads is not None:
        size = ("medusa", "--heads", str(heads))
    convert = ("heads", "convert", *size, "--target", target, "--out", fresh)
    assert specchat(*convert).returncode == 0
    return (
        "heads", "train", "--target", target, "--heads", fresh, "--data", data,
        "--batch-size", "8", "--device", "cpu",
    )  # fmt: skip


@pytest.mark.slow
def test_no_checkpoint_is_removed_before_all_have_loaded_it(
    specchat: Specchat,
    family_folders: FamilyFolders,
    data: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load_best = HeadTrainer._load_best_model

    def load_slowly(trainer: HeadTrainer) -> None:
        if os.environ["RANK"] == "1":
            time.sleep(5)
        load_best(trainer)

    monkeypatch.setattr(HeadTrainer, "_load_best_model", load_slowly)
    train = (
        *training(specchat, family_folders.target, data, tmp_path),
        "--max-steps", "1", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["specchat", *train])
    in_two_processes(main, tmp_path)
    assert not (tmp_path / "out" / "training").exists()


@pytest.mark.slow
def test_processes_that_measure_otherwise_agree_on_the_best_weights(
    specchat: Specchat,
    family_folders: FamilyFolders,
    data: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Near ties may flip in one of them; only the first one's best checkpoint is kept."""
    values = {"0": [1.0, 3.0, 2.0, 1.5], "1": [1.0, 1.5, 3.0, 2.0]}  # of the steps 0 to 3
    monkeypatch.setattr(
        ServedSample, "tokens_per_pass", lambda *_: values[os.environ["RANK"]].pop(0)
    )
    train = (
        *training(specchat, family_folders.target, data, tmp_path),
        "--max-steps", "3", "--evaluate-every", "1", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["specchat", *train])
    first, _ = in_two_processes(main, tmp_path)
    assert "weights of step 1, the best served τ" in first


def test_all_end_if_the_first_can_not_write_the_features(
    specchat: Specchat,
    family_folders: FamilyFolders,
    data: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train = (
        *training(specchat, family_folders.target, data, tmp_path, heads=1),
        "--features", str(tmp_path / "features"), "--out", str(tmp_path / "out"),
    )  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["specchat", *train])
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=0))

    def fails() -> None:
        with pytest.raises(SystemExit) as error:
            main()
        assert error.value.code == 2

    first, other = in_two_processes(fails, tmp_path)
    assert "has room for 0 B only: choose another folder" in first
    assert "the first process has failed" in other


def test_two_processes_train_a_target_with_its_heads_as_one(
    specchat: Specchat,
    family_folders: FamilyFolders,
    data: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without_fast_bfloat16: None,
) -> None:
    train = (
        *training(specchat, family_folders.target, data, tmp_path, heads=1), "--max-steps", "6",
        "--joint", "--target-lr", "1e-3", "--keep-checkpoints", "--accumulate", "2", "--out",
    )  # fmt: skip
    alone = specchat(*train, str(tmp_path / "one"))
    assert alone.returncode == 0, alone.stderr
    monkeypatch.setattr(sys, "argv", ["specchat", *train, str(tmp_path / "two")])
    in_two_processes(main, tmp_path)
    before, one, two = (
        load_file(Path(folder, "model.safetensors"))
        for folder in (family_folders.target, tmp_path / "one", tmp_path / "two")
    )
    for name, weight in before.items():
        moved = torch.linalg.vector_norm(one[name] - weight)
        assert torch.linalg.vector_norm(one[name] - two[name]) < 1e-3 * moved, name


@pytest.mark.slow
def test_two_processes_make_the_heads_of_one(
    specchat: Specchat,
    family_folders: FamilyFolders,
    data: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without_fast_bfloat16: None,
) -> None:
    train = (
        *training(specchat, family_folders.target, data, tmp_path, heads=2), "--max-steps", "12",
        "--out",
    )  # fmt: skip
    alone = specchat(*train, str(tmp_path / "one"))

    def together(out: str, *more: str) -> str:
        monkeypatch.setattr(sys, "argv", ["specchat", *train, str(tmp_path / out), *more])
        return "".join(in_two_processes(main, tmp_path))

    assert alone.returncode == 0, alone.stderr
    one = read_medusa(tmp_path / "one", 32, 280).weights
    fsdp = {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}
    fsdp["FSDP_CPU_RAM_EFFICIENT_LOADING"] = "true"  # as `accelerate launch --use_fsdp` sets it
    # with all in each process; with a part of the heads and of the target's layers; without these
    states = ("--features", str(tmp_path / "features"))
    for name, environment, more in (("two", {}, ()), ("parts", fsdp, ()), ("states", fsdp, states)):
        for variable, value in environment.items():
            monkeypatch.setenv(variable, value)
        said = together(name, *more)
        assert said.count("trained heads in") == 1  # one of them speaks
        assert not (tmp_path / name / "training").exists()
        two = read_medusa(tmp_path / name, 32, 280).weights
        assert torch.linalg.vector_norm(one - two) < 1e-3 * torch.linalg.vector_norm(one)
    refused = specchat(*train, str(tmp_path / "x"))
    assert refused.returncode == 2 and "start several by accelerate launch" in refused.stderr
