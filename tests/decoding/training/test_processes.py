"""Two processes learn what one does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from decoding.checkpoints.medusa import read_medusa
from tests.conftest import FamilyFolders

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.mark.slow
def test_two_processes_make_the_heads_of_one(family_folders: FamilyFolders, tmp_path: Path) -> None:
    target = ("--target", family_folders.target)
    fresh = tmp_path / "fresh"
    convert = ("heads", "convert", "medusa", *target, "--out", str(fresh), "--heads", "2")
    subprocess.run([sys.executable, "-m", "app", *convert], check=True)
    data = tmp_path / "data.jsonl"
    records = [
        {"messages": [{"role": "user", "content": a}, {"role": "assistant", "content": b * n}]}
        for a in WORDS for n, b in enumerate(WORDS, 1)
    ]  # fmt: skip
    data.write_text("\n".join(map(json.dumps, records)))
    trained = []
    for name, launch in (("one", ()), ("two", LAUNCH)):
        train = (
            "heads", "train", *target, "--heads", str(fresh), "--data", str(data), "--out",
            str(tmp_path / name), "--max-steps", "12", "--batch-size", "8", "--device", "cpu",
        )  # fmt: skip
        done = subprocess.run(
            [sys.executable, *launch, "-m", "app", *train],
            env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("trained heads in") == 1  # one of them speaks
        assert not (tmp_path / name / "training").exists()
        trained.append(read_medusa(tmp_path / name, 32, 280).weights)
    one, two = trained
    assert torch.linalg.vector_norm(one - two) < 1e-3 * torch.linalg.vector_norm(one)
