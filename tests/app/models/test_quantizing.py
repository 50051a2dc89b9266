"""What --quantize makes of a model, looked at on the CPU, where bitsandbytes runs as well."""

from __future__ import annotations

from typing import Any

import torch

from app.config.settings import ModelOptions
from app.models.loading import load_model
from tests.conftest import FamilyFolders


def first_layer(folder: str, quantize: str) -> Any:
    options = ModelOptions(target=folder, device="cpu", quantize=quantize)
    return load_model(folder, options).model.layers[0].mlp.up_proj


@torch.inference_mode()
def test_a_row_in_int8_is_the_same_whatever_stands_beside_it(
    family_folders: FamilyFolders,
) -> None:
    layer = first_layer(family_folders.target, "int8")
    rows = torch.randn(4, layer.in_features)
    rows[1, 3], rows[2, 5] = 20.0, -15.0  # outliers
    alone = torch.cat([layer(row[None]) for row in rows])
    assert layer(rows).equal(alone)


def test_nf4_is_computed_in_half_precision(family_folders: FamilyFolders) -> None:
    layer = first_layer(family_folders.target, "nf4")
    assert layer.compute_dtype == torch.bfloat16
