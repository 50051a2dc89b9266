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
from tests.conftest import FamilyFolders, Specchat

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.mark.slow
def test_two_processes_make_the_heads_of_one(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
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
    together = subprocess.run(
        [sys.executable, *LAUNCH, "-m", "app", *train, str(tmp_path / "two")],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    for done, name in ((alone, "one"), (together, "two")):
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("trained heads in") == 1  # one of them speaks
        assert not (tmp_path / name / "training").exists()
    one, two = (read_medusa(tmp_path / name, 32, 280).weights for name in ("one", "two"))
    assert torch.linalg.vector_norm(one - two) < 1e-3 * torch.linalg.vector_norm(one)
