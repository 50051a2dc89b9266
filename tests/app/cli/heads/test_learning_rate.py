"""What is trained has a learning rate of its own, unless one is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest
import torch

from decoding.errors import InputError
from decoding.training.train_config import TrainConfig
from tests.conftest import FamilyFolders, Specchat

CASES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], float]] = {
    "medusa": ("medusa", ("--heads", "1"), (), 5e-3),
    "medusa with lm_heads": ("medusa", ("--heads", "1", "--own-lm-heads"), (), 1e-3),
    "medusa with its target": ("medusa", ("--heads", "1"), ("--joint",), 1e-3),
    "eagle, short": ("eagle1", (), ("--max-steps", "5000"), 3e-3),
    "eagle, long": ("eagle1", (), ("--max-steps", "5001"), 1e-3),
    "draft": ("draft", ("--layers", "1"), (), 1e-3),
    "given": ("eagle1", (), ("--lr", "2e-4"), 2e-4),
}


WARMUPS: dict[str, tuple[tuple[str, ...], float | str]] = {
    "default": ((), 0.05),
    "none": (("--warmup", "0"), 0),
    "a share": (("--warmup", "0.3"), 0.3),
    "steps": (("--warmup", "2", "--max-steps", "3"), 2),
    "a share above 1": (("--warmup", "1.5"), "--warmup 1.5: give a number of steps, or a share"),
    "all steps": (("--warmup", "4", "--max-steps", "4"), "--warmup 4: the training has only 4 st"),
    "threads": (("--threads", "0"), "--threads '0': give auto or a number from 1 to 1024"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_learning_rate(
    case: str,
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, made, given, lr = CASES[case]
    seen, _ = trained_with(kind, made, given, specchat, family_folders, tmp_path, monkeypatch)
    assert [config.lr for config in seen] == [lr]


@pytest.mark.parametrize("case", WARMUPS)
def test_the_warm_up(
    case: str,
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given, expected = WARMUPS[case]
    heads = ("medusa", ("--heads", "1"), given)
    seen, said = trained_with(*heads, specchat, family_folders, tmp_path, monkeypatch)
    if isinstance(expected, str):
        assert not seen and expected in said and said.count("\n") == 1
    else:
        assert [config.warmup for config in seen] == [expected]


def test_the_number_of_threads(
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of this process: the tests have one."""
    heads = ("eagle1", (), ("--threads", "3"))
    seen, _ = trained_with(*heads, specchat, family_folders, tmp_path, monkeypatch)
    assert len(seen) == 1 and torch.get_num_threads() == 3


def trained_with(
    kind: str,
    made: tuple[str, ...],
    given: tuple[str, ...],
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[list[TrainConfig], str]:
    """The settings that a training would begin with, and what was said until then."""
    seen: list[TrainConfig] = []

    def trained(*arguments: object) -> NoReturn:
        seen.extend(each for each in arguments if isinstance(each, TrainConfig))
        raise InputError("that is enough")

    for module, name in (
        ("medusa", "train_medusa"), ("medusa", "train_joint"), ("eagle", "train_eagle"),
        ("draft", "train_draft"),
    ):  # fmt: skip
        monkeypatch.setattr(f"app.cli.heads.{module}.{name}", trained)
    target, fresh, data = family_folders.target, tmp_path / "fresh", tmp_path / "data.jsonl"
    said = {"role": "assistant", "content": "the quick brown fox"}
    asked = [{"messages": [{"role": "user", "content": f"the {n}"}, said]} for n in range(4)]
    data.write_text("\n".join(map(json.dumps, asked)))
    convert = ("heads", "convert", kind, "--target", target, "--out", str(fresh), *made)
    assert specchat(*convert).returncode == 0
    done = specchat(
        "heads", "train", "--target", target, "--heads", str(fresh), "--data", str(data),
        "--out", str(tmp_path / "out"), "--device", "cpu", *given,
    )  # fmt: skip
    assert bool(seen) == ("that is enough" in done.stderr)
    return seen, done.stderr
