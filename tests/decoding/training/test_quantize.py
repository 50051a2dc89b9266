"""Quantized drafters: smaller files that load wherever the others do, and training for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModelForCausalLM

from app.cli.heads.evaluation import weight_bytes
from app.models.catalog import inspect_folder
from decoding.checkpoints.eagle import EagleWeights
from decoding.checkpoints.files import read_tensors
from decoding.checkpoints.quantized import GROUP, Precision, dequantized, pack
from decoding.errors import InputError
from decoding.training.conversations import Example
from decoding.training.eagle import train_eagle
from decoding.training.eagle_attach import attach_eagle
from decoding.training.train_config import TrainConfig
from tests.conftest import FamilyFolders, Specchat
from tests.support.families import build

pytest.importorskip("torchao")  # the extra quantize

from decoding.training.quantize import (
    fake_quantize_layers,
    fake_quantizer,
    quantize,
)

WORST = {"int8": 1 / 127, "int4": 1 / 7, "fp8": 1 / 16}  # of the largest in the row


def test_two_int4_values_share_a_byte() -> None:
    values = torch.tensor([[-8, 7, 0, 1]], dtype=torch.int8)
    scale = torch.tensor([[0.5, 2.0]])
    found = dequantized({"a": pack(values), "a_scale": scale, "n": torch.ones(1)})
    assert found.keys() == {"a", "n"}
    assert found["a"].tolist() == [[-4.0, 3.5, 0.0, 2.0]]
    shifted = {"a": pack(values), "a_scale": scale, "a_zero_point": torch.tensor([[1, -2]])}
    assert dequantized(shifted)["a"].tolist() == [[-4.5, 3.0, 4.0, 6.0]]
    with pytest.raises(ValueError, match="a_zero_point"):
        dequantized(shifted | {"a_zero_point": torch.tensor([[1]])})


def test_int4_uses_all_its_values_for_what_is_on_one_side_of_zero() -> None:
    matrix = 3 * torch.rand(16, GROUP)
    wrong = dequantized(quantize({"a.weight": matrix}, "int4"))["a.weight"] - matrix
    step = matrix.amax(1, keepdim=True) / 15
    assert bool((wrong.abs() <= 0.55 * step).all())  # a bfloat16 scale adds a little to the half


@pytest.mark.parametrize("precision", WORST)
def test_what_is_read_is_near_what_was_quantized(precision: Precision) -> None:
    tensors = {
        "a.weight": torch.randn(48, 2 * GROUP),
        "lm_head.weight": torch.randn(9, GROUP),
        "norm.weight": torch.randn(4),
        "d2t": torch.arange(3),
    }
    stored = quantize(tensors, precision)
    assert stored["lm_head.weight"].dtype == (
        torch.float8_e4m3fn if precision == "fp8" else torch.int8
    )
    found = dequantized(stored)
    assert found.keys() == tensors.keys()
    for name in ("norm.weight", "d2t"):
        assert torch.equal(found[name], tensors[name])
    wrong = (found["a.weight"] - tensors["a.weight"]).abs().amax(1)
    assert bool((wrong <= WORST[precision] * tensors["a.weight"].abs().amax(1)).all())


@pytest.mark.parametrize("precision", WORST)
def test_rows_of_zeros_stay_zero(precision: Precision) -> None:
    matrix = torch.randn(3, GROUP)
    matrix[1] = 0
    found = dequantized(quantize({"a.weight": matrix}, precision))["a.weight"]
    assert bool(found.isfinite().all()) and not found[1].any() and found[0].any()
    assert not dequantized(quantize({"a.weight": 0 * matrix}, precision))["a.weight"].any()


@pytest.mark.parametrize("precision", WORST)
def test_eagle_heads_are_served_rounded(
    precision: Precision, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target = AutoModelForCausalLM.from_pretrained(family_folders.target, dtype=torch.float32)
    fresh = attach_eagle(target, "eagle3", aux_layers=[0, 1])
    data: Any = [Example.of_answer((1,), range(5 + n, 15 + n)) for n in range(8)]
    served: list[EagleWeights] = []

    def serve(weights: EagleWeights) -> float:
        served.append(weights)
        return 1.0

    config = TrainConfig(steps=1, evaluate_every=1, qat=precision)
    trained, _ = train_eagle(target, fresh, data, data, config, tmp_path, False, serve, 2)
    later = dequantized(quantize(trained.tensors, precision))
    assert all(torch.equal(served[-1].tensors[name], later[name]) for name in later)
    assert not torch.equal(later["fc.weight"], trained.tensors["fc.weight"])


@pytest.mark.parametrize("precision", WORST)
def test_training_rounds_as_quantizing_does(precision: Precision) -> None:
    layers: dict[str, Any] = {
        "a": nn.Linear(64, 48),
        "embed_tokens": nn.Embedding(9, 64),
        "lm_head": nn.Linear(64, 9, bias=False),
    }
    model = nn.ModuleDict(layers)
    names, parameters = list(model.state_dict()), list(model.parameters())
    x = torch.randn(3, 64)
    fake_quantize_layers(model, precision)
    assert list(model.state_dict()) == names
    assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))
    rounded = dequantized(quantize(model.state_dict(), precision))
    expected = nn.functional.linear(x, rounded["a.weight"], rounded["a.bias"])
    torch.testing.assert_close(model["a"](x), expected)
    torch.testing.assert_close(model["lm_head"](x), x @ rounded["lm_head.weight"].mT)
    read = model["embed_tokens"](torch.tensor([3]))
    assert torch.equal(read, rounded["embed_tokens.weight"][3:4])
    model["a"](x).sum().backward()
    weight = layers["a"].weight  # the same parameter
    assert weight.grad is not None
    assert torch.equal(fake_quantizer(precision, 64)(weight), rounded["a.weight"])


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "kind", ["medusa", pytest.param("eagle1", marks=SLOW), pytest.param("draft", marks=SLOW)]
)
def test_train_quantize_run(
    kind: str, specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target = ("--target", family_folders.target)
    fresh, trained, small = tmp_path / "fresh", tmp_path / "trained", tmp_path / "small"
    lesson = tmp_path / "lesson.jsonl"
    said = {"role": "assistant", "content": "the quick brown fox"}
    asked = [{"messages": [{"role": "user", "content": f"the {n}"}, said]} for n in range(24)]
    lesson.write_text("".join(json.dumps(record) + "\n" for record in asked))
    assert specchat("heads", "convert", kind, *target, "--out", str(fresh)).returncode == 0
    done = specchat(
        "heads", "train", *target, "--heads", str(fresh), "--data", str(lesson), "--out",
        str(trained), "--max-steps", "2", "--qat", "int4", "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    command = ("heads", "quantize", "--heads", str(trained), "--to", "int4", "--out", str(small))
    lesson.write_text('{"prompt": "the fox", "category": "animals"}\n')
    measured = specchat(
        *command, *target, "--prompts", str(lesson), "--max-new-tokens", "8", "--device", "cpu"
    )
    assert measured.returncode == 0, measured.stderr
    _, before, after, _ = measured.stdout.splitlines()
    assert before.startswith("before") and after.startswith("int4") and "×" in after
    assert weight_bytes(small) < weight_bytes(trained)
    size = weight_bytes(small)
    (small / "optimizer.pt").write_bytes(b"no weights")
    assert weight_bytes(small) == size
    (small / "optimizer.pt").unlink()
    info = inspect_folder(small)
    assert info is not None and info.hidden == 32
    assert info.kind == {"draft": "model"}.get(kind, kind)

    role = {"eagle1": "eagle"}.get(kind, kind)
    done = specchat(
        "run", *target, f"--{role}", str(small), "--strategies", f"ar,{role}", "--prompt",
        "the fox", "--json", "--max-new-tokens", "8", "--ignore-eos",
    )  # fmt: skip
    ar, lane = json.loads(done.stdout)["runs"][0]["lanes"]
    assert lane["token_ids"] == ar["token_ids"] and lane["drafted"] > 0

    again = specchat(*command[:3], str(small), *command[4:-1], str(tmp_path / "again"))
    assert again.returncode == 2 and "quantized already" in again.stderr


def test_scales_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    tensors = quantize({"a.weight": torch.randn(8, 4)}, "int8")
    save_file(tensors | {"a.weight_scale": torch.ones(7, 1)}, tmp_path / "model.safetensors")
    assert load_file(tmp_path / "model.safetensors").keys() == tensors.keys()
    with pytest.raises(InputError, match="does not fit"):
        read_tensors(tmp_path, lambda name: True)


def test_heads_draft_for_a_quantized_target(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    heads, small = tmp_path / "heads", tmp_path / "small"
    quantize = ("heads", "quantize", "--heads", family_folders.target, "--to", "int8")
    assert specchat(*quantize, "--out", str(small)).returncode == 0
    convert = ("heads", "convert", "medusa", "--target", str(small), "--out", str(heads))
    assert specchat(*convert).returncode == 0
    done = specchat(
        "run", "--target", str(small), "--medusa", str(heads), "--prompt", "the fox", "--json",
        "--strategies", "ar,medusa", "--max-new-tokens", "8", "--ignore-eos",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ar, medusa = json.loads(done.stdout)["runs"][0]["lanes"]
    assert medusa["token_ids"] == ar["token_ids"] and medusa["drafted"] > 0


@pytest.mark.parametrize("family", ["gpt2", "afmoe"])
def test_what_training_cannot_round_is_refused(family: str) -> None:
    """GPT-2's matrices are no linear layers, and those of experts are one tensor in memory."""
    with pytest.raises(InputError, match="--qat trains linear layers and embeddings .*, not .*"):
        fake_quantize_layers(build(family), "int8")
