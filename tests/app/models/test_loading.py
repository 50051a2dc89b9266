"""A checkpoint is loaded whole, or refused in one line that names what is wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from app.config.settings import ModelOptions
from app.models.loading import load_target
from decoding.errors import InputError
from tests.conftest import FamilyFolders

UP = "model.layers.1.mlp.up_proj.weight"
Tensors = dict[str, Tensor]


@pytest.fixture
def folder(family_folders: FamilyFolders, tmp_path: Path) -> Path:
    shutil.copytree(family_folders.target, tmp_path / "model")
    return tmp_path / "model"


def lose_one(tensors: Tensors) -> None:
    del tensors[UP]


def rename_all(tensors: Tensors) -> None:
    for name in list(tensors):
        tensors[f"foo.{name}"] = tensors.pop(name)


def pack_one(tensors: Tensors) -> None:
    tensors["model.layers.1.mlp.up_proj.trellis"] = tensors.pop(UP)


def add_a_scale(tensors: Tensors) -> None:
    tensors[f"{UP}_scale_inv"] = torch.ones(1)


def cut_one(tensors: Tensors) -> None:
    tensors[UP] = tensors[UP][:40].clone()


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lose_one, f"it lacks {UP}$"),
        (rename_all, "it lacks .* and 20 more, has unknown tensors: foo.* and 20 more$"),
        (pack_one, f"it lacks {UP}, has unknown tensors: model.layers.1.mlp.up_proj.trellis$"),
        (add_a_scale, f"has unknown tensors: {UP}_scale_inv"),
        (cut_one, f"has another shape of {UP}$"),
    ],
)
def test_other_tensors_than_the_models(
    folder: Path, spoil: Callable[[Tensors], None], line: str
) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    spoil(tensors)
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(InputError, match=line):
        load_target(str(folder), ModelOptions())


def test_heads_among_the_tensors_are_no_strangers(folder: Path) -> None:
    file = folder / "model.safetensors"
    save_file(load_file(file) | {"medusa_head.0.0.linear.bias": torch.zeros(32)}, file)
    assert load_target(str(folder), ModelOptions()).hidden == 32


def test_yarn_stretches_the_context(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["rope_parameters"] = {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 128,
    }
    (folder / "config.json").write_text(json.dumps(config))
    assert load_target(str(folder), ModelOptions()).context == 512


def test_a_context_of_nothing(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text()) | {"max_position_embeddings": -5}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="max_position_embeddings"):
        load_target(str(folder), ModelOptions())
