"""EAGLE heads are written for each engine, and read back as they were."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from decoding.checkpoints.dialects import EagleDialect, EagleVersion
from decoding.checkpoints.draft_settings import (
    SPECULATIVE_TOKENS,
    EagleSettings,
    eagle_settings,
    with_eagle_settings,
)
from decoding.checkpoints.eagle import EagleWeights, writable_dialect, write_eagle
from decoding.checkpoints.eagle_read import read_eagle
from decoding.drafters.eagle import Eagle
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.training.eagle_attach import attach_eagle
from tests.support.eagle_folders import (
    AUX,
    KNOWN,
    LLAMA3,
    TARGET,
    H,
    V,
    eagle3_tensors,
    made,
    read_with,
)
from tests.support.families import build


def same(one: EagleWeights, other: EagleWeights) -> None:
    assert one.config == other.config
    assert one.tensors.keys() == other.tensors.keys()
    for name, tensor in one.tensors.items():
        assert tensor.dtype == other.tensors[name].dtype
        assert torch.equal(tensor, other.tensors[name]), name


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("eagle1", "eagle1"),
        ("eagle1 llama3", "eagle1"),
        ("safeailab", "eagle3"),
        ("specforge", "modelopt"),
        ("modelopt", "eagle3"),
        ("modelopt", "modelopt"),
        ("modelopt", "speculators"),
        ("modelopt biased", "modelopt"),
        ("modelopt biased", "speculators"),
        ("speculators", "speculators"),
        ("speculators qwen3", "speculators"),
        ("speculators of three layers", "speculators"),
        ("two layers", "speculators"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_is_written_reads_back(
    name: str, dialect: EagleDialect, dtype: torch.dtype, tmp_path: Path
) -> None:
    f = made(name)
    f.tensors = {
        n: t.to(dtype) if t.is_floating_point() else t for n, t in sorted(f.tensors.items())
    }
    before = read_eagle(f.store(tmp_path / "before"), TARGET)
    write_eagle(before, tmp_path / "after", dialect, "some/target")
    after = read_eagle(tmp_path / "after", TARGET)
    assert after.dialect == dialect
    same(before, after)


@pytest.mark.parametrize("dialect", ["eagle3", "modelopt", "speculators"])
def test_a_rope_with_settings_unusual_layers_and_another_activation_survive(
    dialect: Any, tmp_path: Path
) -> None:
    scaling = {"type": "llama3", **LLAMA3}
    config = {AUX: [1, 2, 15], "rope_scaling": scaling, "rope_theta": 5e5, "hidden_act": "gelu"}
    before = read_with(tmp_path, "safeailab", **config)
    write_eagle(before, tmp_path / "after", dialect, "some/target")
    same(before, read_eagle(tmp_path / "after", TARGET))


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("eagle1", "eagle1"),
        ("safeailab", "eagle3"),
        ("modelopt", "modelopt"),
        ("modelopt biased", "modelopt"),
        ("speculators", "speculators"),
        ("speculators qwen3", "speculators"),
        ("two layers", "speculators"),
    ],
)
def test_what_was_read_can_be_saved(name: str, dialect: str, tmp_path: Path) -> None:
    before = read_eagle(made(name).store(tmp_path / "before"), TARGET)
    before.save_pretrained(tmp_path / "after")
    after = read_eagle(tmp_path / "after", TARGET)
    assert after.dialect == dialect
    same(before, after)


@pytest.mark.parametrize("switch", ["fc_bias", "qkv_bias"])
def test_what_no_dialect_expresses_is_known_before(switch: str, tmp_path: Path) -> None:
    weights = read_eagle(made("safeailab").store(tmp_path / "before"), TARGET)
    switches: dict[str, Any] = {switch: True}
    weights.config = dataclasses.replace(weights.config, **switches)
    with pytest.raises(InputError, match=f"has {switch}.* which no dialect can express"):
        writable_dialect(weights)


def written(tmp_path: Path, name: str, dialect: EagleDialect) -> tuple[dict[str, Any], list[str]]:
    target = tmp_path / "target"
    target.mkdir()
    (target / "config.json").write_text(json.dumps({"architectures": ["Qwen3ForCausalLM"]}))
    weights = read_eagle(made(name).store(tmp_path / "before"), TARGET)
    write_eagle(weights, tmp_path / "after", dialect, str(target))
    with safe_open(tmp_path / "after" / "model.safetensors", framework="pt") as file:
        names = sorted(file.keys())
        if "d2t" in names:
            ids = torch.arange(KNOWN) + file.get_tensor("d2t")
            marks = file.get_tensor("t2d")
            assert marks.dtype == torch.bool and marks.nonzero()[:, 0].tolist() == sorted(
                ids.tolist()
            )
    return json.loads((tmp_path / "after" / "config.json").read_text()), names


def test_files_for_safeailab_specforge_and_sglang(tmp_path: Path) -> None:
    config, names = written(tmp_path, "modelopt", "eagle3")
    assert names == sorted([*eagle3_tensors("midlayer."), "d2t", "t2d"])
    assert config["architectures"] == ["LlamaForCausalLMEagle3"]
    assert (config["draft_vocab_size"], config["vocab_size"]) == (KNOWN, V)
    assert config[AUX] == [4, 6, 15]  # vLLM reads this
    assert config["eagle_config"][AUX] == [3, 5, 14]  # and SGLang this
    assert config["rope_theta"] == 20000.0 and config["rope_scaling"] is None


def test_who_may_read_the_config_may_read_the_weights(tmp_path: Path) -> None:
    written(tmp_path, "modelopt", "eagle3")
    modes = {path.stat().st_mode for path in (tmp_path / "after").iterdir()}
    assert modes == {(tmp_path / "after" / "config.json").stat().st_mode}


def test_files_for_modelopt(tmp_path: Path) -> None:
    config, names = written(tmp_path, "specforge", "modelopt")
    tensors = [*eagle3_tensors("layers.0."), "d2t", "t2d", "embed_tokens.weight"]
    assert names == sorted(tensors)
    assert config["eagle_config"][AUX] == [1, 7, 12] and AUX not in config
    assert (config["hidden_size"], config["target_hidden_size"]) == (12, H)


def test_files_for_vllm(tmp_path: Path) -> None:
    config, names = written(tmp_path, "speculators", "speculators")
    fc_norms = [f"fc_norm.{i}.weight" for i in range(3)]
    tensors = [*eagle3_tensors("layers.0."), *fc_norms, "d2t", "t2d", "embed_tokens.weight"]
    assert names == sorted(tensors)
    assert config["architectures"] == ["Eagle3Speculator"]
    assert config[AUX] == [1, 6, 14] and config["norm_before_residual"] is True
    assert config["transformer_layer_config"]["model_type"] == "llama"
    verifier = config["speculators_config"]["verifier"]
    assert verifier["name_or_path"] == str(tmp_path / "target")
    assert verifier["architectures"] == ["Qwen3ForCausalLM"]


@pytest.mark.parametrize(("tokens", "gamma"), [(5, 5), (SPECULATIVE_TOKENS, None)])
def test_the_draft_length_of_speculators_is_read(
    tokens: int, gamma: int | None, tmp_path: Path
) -> None:
    f = made("speculators")
    f.config["speculators_config"] = {"proposal_methods": [{"speculative_tokens": tokens}]}
    weights = read_eagle(f.store(tmp_path / "before"), TARGET)
    assert weights.config.settings.gamma == gamma  # the default is nobody's choice
    write_eagle(weights, tmp_path / "after", "speculators", "some/target")
    config = json.loads((tmp_path / "after" / "config.json").read_text())
    (method,) = config["speculators_config"]["proposal_methods"]
    assert method["speculative_tokens"] == tokens
    same(weights, read_eagle(tmp_path / "after", TARGET))


def test_settings_go_into_a_config_of_speculators_without_methods(tmp_path: Path) -> None:
    settings = EagleSettings(gamma=5, top_k=4)
    config = with_eagle_settings({"speculators_config": {"algorithm": "eagle3"}}, settings)
    assert config["speculators_config"] == {"algorithm": "eagle3"}
    assert eagle_settings(tmp_path, config) == settings


def test_files_for_eagle1(tmp_path: Path) -> None:
    config, names = written(tmp_path, "eagle1 llama3", "eagle1")
    assert names == sorted(made("eagle1 llama3").tensors)
    assert (config["bias"], config["qkv_bias"], config["rope_theta"]) == (False, True, 5e5)


@pytest.mark.parametrize(
    ("name", "dialect", "line"),
    [
        ("eagle1", "eagle3", "this draft is eagle1, which the dialect eagle3 can't express"),
        ("modelopt", "eagle1", "this draft is eagle3, which the dialect eagle1 can't express"),
        ("speculators", "eagle3", "has fc_norm, which the dialect eagle3 can't express"),
        ("speculators qwen3", "modelopt", "has norm_before_fc, which the dialect modelopt"),
        ("two layers", "eagle3", "this draft has 2 layers, which the dialect eagle3 can't express"),
        ("two layers", "modelopt", "has 2 layers, which the dialect modelopt"),
        ("modelopt", "medusa", "choose from eagle1, eagle3, modelopt, speculators"),
    ],
)
def test_dialects_refuse_what_they_cannot_express(
    name: str, dialect: Any, line: str, tmp_path: Path
) -> None:
    weights = read_eagle(made(name).store(tmp_path / "before"), TARGET)
    with pytest.raises(InputError, match=re.escape(line)):
        write_eagle(weights, tmp_path / "after", dialect, "some/target")
    assert not (tmp_path / "after").exists()


def test_modelopt_has_no_output_before_the_first_layer(tmp_path: Path) -> None:
    weights = read_with(tmp_path, "safeailab", **{AUX: [0, 5, 9]})
    with pytest.raises(InputError, match="layer 0"):
        write_eagle(weights, tmp_path / "after", "modelopt", "some/target")
    write_eagle(weights, tmp_path / "after", "eagle3", "some/target")
    assert read_eagle(tmp_path / "after", TARGET).config.aux_layers == (0, 5, 9)


@pytest.mark.parametrize(("version", "layers"), [("eagle1", 1), ("eagle3", 1), ("eagle3", 3)])
def test_saved_and_loaded_as_in_transformers(
    version: EagleVersion, layers: int, tmp_path: Path
) -> None:
    model = build("llama")
    aux_layers = (0, 1) if version == "eagle3" else None
    weights = attach_eagle(model, version, aux_layers=aux_layers, own_layers=layers)
    weights.save_pretrained(tmp_path / "head")
    target = Target(model)
    for _ in range(2):  # the target captures its layers once
        head = Eagle.from_pretrained(tmp_path / "head", target).head
    assert head.config == weights.config
    for name, tensor in head.tensors().items():
        assert torch.equal(tensor, weights.tensors[name])
