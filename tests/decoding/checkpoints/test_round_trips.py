"""Heads that go from dialect to dialect, through all of them, are those that they were, bit by
bit."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from decoding.checkpoints.dialects import EagleDialect, MedusaDialect
from decoding.checkpoints.eagle import write_eagle
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.medusa import MedusaWeights, read_medusa, write_medusa, write_merged
from tests.conftest import FamilyFolders
from tests.support.eagle_folders import TARGET, made

EAGLE3: tuple[EagleDialect, ...] = ("eagle3", "modelopt", "speculators")
MEDUSA: tuple[MedusaDialect, ...] = ("v0.1", "vllm", "merged", "modelopt")  # with own lm_heads


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_eagle_heads(dtype: torch.dtype, tmp_path: Path) -> None:
    before = read_eagle(made("safeailab").store(tmp_path / "before"), TARGET)
    before.tensors = {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in before.tensors.items()
    }
    now = before
    for number, dialect in enumerate(d for order in permutations(EAGLE3) for d in order):
        write_eagle(now, tmp_path / str(number), dialect, "some/target")
        now = read_eagle(tmp_path / str(number), TARGET)
        assert now.dialect == dialect and now.config == before.config
        assert now.tensors.keys() == before.tensors.keys()
        for name, tensor in before.tensors.items():
            assert tensor.dtype == now.tensors[name].dtype
            assert torch.equal(tensor, now.tensors[name]), name


def test_medusa_heads(family_folders: FamilyFolders, tmp_path: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(family_folders.target)
    tokenizer = AutoTokenizer.from_pretrained(family_folders.target)
    before = MedusaWeights(
        "v0.1", torch.randn(3, 2, 32, 32), torch.randn(3, 2, 32), torch.randn(3, 280, 32),
        accuracy=((0.5, 0.25), (0.25, 0.125), (0.125, 0.0)), choices=((0,), (0, 0), (1,)),
    )  # fmt: skip
    now = before
    for number, dialect in enumerate(d for order in permutations(MEDUSA) for d in order):
        folder = tmp_path / str(number)
        if dialect == "merged" or dialect == "modelopt":
            write_merged(now, folder, model, tokenizer, dialect)
        else:
            write_medusa(now, folder, dialect, "some/target")
        now = read_medusa(folder, 32, 280)
        assert now.dialect == dialect
        assert (now.accuracy, now.choices) == (before.accuracy, before.choices)
        assert torch.equal(now.weights, before.weights) and torch.equal(now.biases, before.biases)
        assert now.lm_heads is not None and before.lm_heads is not None
        assert torch.equal(now.lm_heads, before.lm_heads)
