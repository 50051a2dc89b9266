"""What is exported means the same to other packages. FOREIGN_PYTHON names the Python of an
environment that has them (speculators, nvidia-modelopt), by default this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from app.cli.heads import verify as verifying
from decoding.drafters.medusa_heads import MedusaHeads
from tests.conftest import Done, FamilyFolders, Specchat

PYTHON = os.environ.get("FOREIGN_PYTHON", sys.executable)
KINDS = {
    "medusa": ("--heads", "2", "--layers", "2"),
    "eagle1": (),
    "eagle3": ("--aux-layers", "0,1"),
}
Export = Callable[..., Done]


@pytest.fixture
def export(specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path) -> Export:
    def run(kind: str, to: str, *options: str, python: str = PYTHON) -> Done:
        target, heads = ("--target", family_folders.target), str(tmp_path / "heads")
        assert specchat("heads", "convert", kind, *target, "--out", heads, *options).returncode == 0
        out = ("--out", str(tmp_path / "out"), "--to", to, "--verify", python)
        return specchat("heads", "export", *target, "--heads", heads, *out)

    return run


def require(package: str) -> None:
    command = [PYTHON, "-I", "-c", f"import {package}"]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip(f"{package} is not installed: name a Python that has it in FOREIGN_PYTHON")


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary", [(), ("--draft-vocab", "200")])
def test_speculators_computes_the_same(
    vocabulary: tuple[str, ...], export: Export, tmp_path: Path
) -> None:
    require("speculators")
    if vocabulary:
        data = tmp_path / "data.jsonl"
        data.write_text('{"messages": [{"role": "assistant", "content": "the lazy dog"}]}\n')
        vocabulary = (*vocabulary, "--data", str(data))
    done = export("eagle3", "speculators", *KINDS["eagle3"], *vocabulary)
    assert done.returncode == 0, done.stderr
    assert "speculators computes the same logits of 3 steps" in done.stderr


@pytest.mark.slow
def test_modelopt_computes_the_same(export: Export) -> None:
    require("modelopt")
    done = export("medusa", "medusa", *KINDS["medusa"])
    assert done.returncode == 0, done.stderr
    assert "modelopt computes the same logits of 2 heads" in done.stderr


@pytest.mark.parametrize("error", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["medusa", "eagle3"])
def test_other_logits_are_an_error(
    kind: str, error: float, export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours: list[Tensor] = []
    owner, name = (verifying, "_steps") if kind == "eagle3" else (MedusaHeads, "logits")
    forward = getattr(owner, name)

    def remembered(*given: Any) -> Any:
        found = forward(*given)
        ours.extend(found)
        return found

    monkeypatch.setattr(owner, name, remembered)
    # export first: where this imports it, it must not find the other one replaced
    for module in ("export", "verify"):
        reader = f"app.cli.heads.{module}.require_reader"
        monkeypatch.setattr(reader, lambda python, dialect: None)

    def foreign(*given: object) -> list[Tensor]:
        moved = ours[-1].abs().max() * error * torch.eye(1, ours[-1].numel())
        return [*ours[:-1], ours[-1] + moved.view_as(ours[-1])]

    monkeypatch.setattr(verifying, "_foreign", foreign)
    done = export(kind, "speculators" if kind == "eagle3" else "medusa", *KINDS[kind])
    if error:
        assert done.returncode == 2 and "computes other logits from" in done.stderr
    else:
        assert done.returncode == 0 and "computes the same logits" in done.stderr


@pytest.mark.parametrize(
    ("kind", "to", "python", "says"),
    [
        ("eagle1", "eagle", PYTHON, "no package but its engine reads eagle1"),
        ("eagle3", "speculators", "./no-python", "can't run no-python: No such file"),
    ],
)
def test_what_nothing_here_can_verify_is_said_before_it_is_written(
    kind: str, to: str, python: str, says: str, export: Export, tmp_path: Path
) -> None:
    done = export(kind, to, *KINDS[kind], python=python)
    assert done.returncode == 2 and says in done.stderr
    assert not (tmp_path / "out").exists()
