"""What --quantize makes of a model, looked at on the CPU, where bitsandbytes runs as well."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import bitsandbytes
import pytest
import torch
from bitsandbytes.functional import has_avx512bf16
from bitsandbytes.nn.modules import Linear4bit
from safetensors.torch import load_file, save_file

from app.config.model_options import ModelOptions
from app.engine.lane import Lane
from app.models.load_models import load_models
from app.models.loading import load_model, load_target
from app.strategies.lane_spec import LaneSpec
from decoding.errors import InputError
from decoding.params import Params
from decoding.tokenizing.stopping import Stop
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


def test_nf4_is_computed_in_the_precision_of_the_model(family_folders: FamilyFolders) -> None:
    dtype = torch.bfloat16 if has_avx512bf16() else torch.float32
    assert first_layer(family_folders.target, "nf4").compute_dtype == dtype


def test_another_bitsandbytes_decides_for_itself(
    family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that doesn't say what the processor can, and whose layers have no switch for it."""
    make: Any = Linear4bit.__init__

    def without_switch(layer: Any, *args: Any, **options: Any) -> None:
        make(layer, *args, **options)
        del layer.support_avx512bf16_for_cpu

    monkeypatch.delattr(bitsandbytes.functional, "has_avx512bf16")
    monkeypatch.setattr(Linear4bit, "__init__", without_switch)
    layer = first_layer(family_folders.target, "nf4")
    assert isinstance(layer, Linear4bit) and layer.compute_dtype == torch.float32
    assert not hasattr(layer, "support_avx512bf16_for_cpu")


@pytest.mark.parametrize("quantize", ["int8", "nf4"])
def test_without_bitsandbytes(
    family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch, quantize: str
) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    monkeypatch.setattr("app.models.quantizing.find_spec", lambda name: None)
    with pytest.raises(InputError, match="^--quantize needs bitsandbytes: pip install"):
        first_layer(family_folders.target, quantize)


@pytest.mark.parametrize("quantize", ["int8", "nf4"])
def test_quantized_models_draft_and_verify_on_a_cpu(
    family_folders: FamilyFolders, quantize: str
) -> None:
    options = ModelOptions(
        family_folders.target,
        {"draft": family_folders.draft},
        device="cpu",
        quantize=quantize,
        quantize_draft="none",
        threads=1,
    )
    models = load_models(options, lanes=(LaneSpec("ar", "ar"), LaneSpec("draft", "draft")))
    assert models.target.nbytes < models.drafters["draft"].nbytes  # of the same shape
    answers = []
    for strategy in ("ar", "draft"):
        lane = Lane(LaneSpec(strategy, strategy), models)
        lane.generate([0, 2, 40, 41, 3], Params(max_new_tokens=24), 0, Stop())
        answers.append(lane.ids)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("method", ["gptq", "awq", "compressed-tensors"])
def test_other_quantizations_that_lack_a_package(
    family_folders: FamilyFolders, tmp_path: Path, method: str
) -> None:
    shutil.copytree(family_folders.target, tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "bits": 4, "group_size": 16}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=f"is quantized with {method}") as refused:
        load_model(str(tmp_path / "model"), ModelOptions())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("dtype", ["auto", "float16", "bfloat16"])
def test_fp8_is_dequantized_where_no_gpu_computes_it(
    family_folders: FamilyFolders, tmp_path: Path, dtype: str
) -> None:
    """All to the precision that is asked for, not only what was never quantized."""
    shutil.copytree(family_folders.target, tmp_path / "fp8")
    shutil.copytree(family_folders.target, tmp_path / "plain")
    written = load_file(tmp_path / "plain" / "model.safetensors")
    stored, plain = {}, {}
    for name, tensor in written.items():
        stored[name] = plain[name] = tensor.to(torch.bfloat16)
        if "_proj" in name:
            stored[name] = (tensor * 8).to(torch.float8_e4m3fn)
            plain[name] = (stored[name].float() / 8).to(torch.bfloat16)  # exact
            stored[f"{name}_scale_inv"] = torch.full([-(-s // 16) for s in tensor.shape], 1 / 8)
    for folder, tensors in (("fp8", stored), ("plain", plain)):
        save_file(tensors, tmp_path / folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((tmp_path / "fp8" / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "fp8", "weight_block_size": [16, 16]}
    (tmp_path / "fp8" / "config.json").write_text(json.dumps(config))
    options = ModelOptions(device="cpu", dtype=dtype)
    found, expected = (load_target(str(tmp_path / name), options) for name in ("fp8", "plain"))
    assert found.dtype == expected.dtype == getattr(torch, "float32" if dtype == "auto" else dtype)
    weights = found.model.state_dict()
    assert all(weights[name].equal(each) for name, each in expected.model.state_dict().items())


def test_a_reduced_cache_is_the_targets_alone_and_every_lane_says_so(
    family_folders: FamilyFolders,
) -> None:
    drafters = {"draft": family_folders.draft}
    options = ModelOptions(
        family_folders.target, drafters, kv_cache="int8", device="cpu", threads=1
    )
    models = load_models(options, lanes=(LaneSpec("draft", "draft"),))
    assert models.precision == "float32, int8 cache"
    notes = {n: Lane(LaneSpec(n, n), models).info(True).note for n in ("ar", "draft", "draft-only")}
    assert all("kept in int8: lossy" in (notes[name] or "") for name in ("ar", "draft"))
    assert notes["draft-only"] is None
