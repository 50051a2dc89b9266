"""Two processes learn what one does, also when each has only a part of the target."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch

from app.cli.main import main
from decoding.checkpoints.medusa import read_medusa
from tests.conftest import FamilyFolders, Specchat
from tests.support.processes import in_two_processes

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")


def test_two_processes_make_the_heads_of_one(
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without_fast_bfloat16: None,
) -> None:
    target = ("--target", family_folders.target)
    fresh = tmp_path / "fresh"
    convert = ("heads", "convert", "medusa", *target, "--out", str(fresh), "--heads", "2")
    assert specchat(*convert).returncode == 0
    data = tmp_path / "data.jsonl"
    records = [
        {"messages": [{"role": "user", "content": a}, {"role": "assistant", "content": b * n}]}
        for a in WORDS for n, b in enumerate(WORDS, 1)
    ]  # fmt: skip
    data.write_text("\n".join(map(json.dumps, records)))
    train = (
        "heads", "train", *target, "--heads", str(fresh), "--data", str(data), "--max-steps", "12",
        "--batch-size", "8", "--device", "cpu", "--out",
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
