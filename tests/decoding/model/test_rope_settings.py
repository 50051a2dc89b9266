"""Nonsense in rope settings is refused by name, and no published setting is."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from huggingface_hub.errors import StrictDataclassError
from transformers import LlamaConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
)

from decoding.errors import InputError
from decoding.model.rope_settings import validate_longrope, validate_ropes

LINEAR: dict[str, Any] = {"rope_type": "linear", "factor": 2.0}
DYNAMIC: dict[str, Any] = {"type": "dynamic", "factor": 2.0}
YARN: dict[str, Any] = {
    **{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    **{"beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0},
    "attention_factor": 1.2,
}
LLAMA3: dict[str, Any] = {
    **{"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192},
    **{"low_freq_factor": 1.0, "high_freq_factor": 4.0},
}
LONGROPE: dict[str, Any] = {
    **{"rope_type": "longrope", "original_max_position_embeddings": 4096},
    **{"short_factor": [1.0] * 4, "long_factor": [1, 2.5, 30, 64]},
}
KINDS = (LINEAR, DYNAMIC, YARN, LLAMA3, LONGROPE)


@pytest.mark.parametrize("value", [-1, "abc", "8.0", math.nan, math.inf, True, {}])
@pytest.mark.parametrize("kind", KINDS, ids=lambda rope: rope.get("rope_type", "dynamic"))
def test_no_setting_is_anything_but_a_number_in_its_bounds(
    kind: dict[str, Any], value: object
) -> None:
    named = {"rope_theta", "partial_rotary_factor", *kind} - {"rope_type", "type"}
    for key in named:
        with pytest.raises(InputError, match=rf"^rope_scaling: {key} .*must be a"):
            validate_ropes({"rope_scaling": {**kind, key: value}})


@pytest.mark.parametrize(
    ("rope", "line"),
    [
        (LINEAR | {"factor": 0}, "factor is 0, and must be a number above 0"),
        (LINEAR | {"factor": None}, "factor is null, and a rope of type linear needs it"),
        (LINEAR | {"rope_theta": 0}, "rope_theta is 0, "),
        (LINEAR | {"factor": 10**400}, None),  # a number, too large for a float
        (LINEAR | {"partial_rotary_factor": 1.5}, "must be a number, from 0 to 1"),
        (YARN | {"original_max_position_embeddings": 0}, "is 0, and must be a number above 1"),
        (YARN | {"beta_fast": 0.5}, "beta_fast is 0.5, and must not be less than beta_slow, 1"),
        (YARN | {"beta_fast": None, "beta_slow": 33}, "beta_fast is 32, .* than beta_slow, 33"),
        (LLAMA3 | {"low_freq_factor": 0}, "low_freq_factor is 0, and must be"),
        (LLAMA3 | {"high_freq_factor": 0.5}, "high_freq_factor is 0.5, .* low_freq_factor, 1.0"),
        (LONGROPE | {"short_factor": [1.0, 0]}, "short_factor must be a list of numbers above 0"),
        (LONGROPE | {"long_factor": ["a"]}, "long_factor must be a list of numbers above 0"),
        (LONGROPE | {"long_factor": None}, "long_factor is null, "),
        ({"rope_type": ["yarn"]}, "rope_type is \\['yarn'\\], and must be a name"),
        ({"type": 5}, "rope_type is 5, and must be a name"),
    ],
)
def test_nonsense(rope: dict[str, Any], line: str | None) -> None:
    if line is None:
        validate_ropes({"rope_parameters": rope})
        return
    with pytest.raises(InputError, match=f"^rope_parameters: .*{line}"):
        validate_ropes({"rope_parameters": rope})


def test_nonsense_for_one_kind_of_layers_and_in_a_part_of_a_model() -> None:
    by_kind = {"full_attention": LINEAR | {"factor": 0}, "sliding_attention": None}
    with pytest.raises(InputError, match=r"^text_config\.rope_parameters\.full_attention: factor"):
        validate_ropes({"text_config": {"rope_parameters": by_kind}})


# As in the config.json of these models.
PUBLISHED: dict[str, Any] = {
    "Llama 3.1": LLAMA3,
    "Llama 4 Scout": LLAMA3 | {"factor": 16.0, "high_freq_factor": 1.0},
    "Qwen2.5": {"factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"},
    "Qwen2-VL": {"type": "mrope", "mrope_section": [16, 24, 24]},
    "Qwen3-VL": {"rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True},
    "DeepSeek-V2": {
        **{"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
        **{"beta_fast": 32, "beta_slow": 1, "mscale": 0.707, "mscale_all_dim": 0.707},
    },
    "Kimi K2": YARN | {"type": "yarn", "factor": 32.0, "beta_fast": 1.0, "beta_slow": 1.0},
    "gpt-oss": YARN | {"factor": 32.0, "truncate": False},
    "Ministral 3": YARN | {"factor": 16.0, "llama_4_scaling_beta": 0.1},
    "Hunyuan": {
        **{"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1},
        **{"mscale": 1.0, "mscale_all_dim": 0.0},
    },
    "Olmo 3": YARN | {"attention_factor": 1.2079441541679836},
    "Phi-3": {"type": "su", "short_factor": [1.05] * 48, "long_factor": [1.03] * 48},
    "Phi-3.5-MoE": LONGROPE | {"short_mscale": 1.243163121016122, "long_mscale": 1.243163121016122},
    "Vicuna-16k": {"factor": 4.0, "type": "linear"},
    "InternLM2": {"type": "dynamic", "factor": 2.0},
    "Gemma 3": {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    },
    "Gemma 4": {
        "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    },
    "Phi-2": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.4},
    "none": None,
}


@pytest.mark.parametrize("model", PUBLISHED)
def test_published_settings(model: str) -> None:
    for name in ("rope_scaling", "rope_parameters"):
        validate_ropes({name: PUBLISHED[model], "vision_config": {name: PUBLISHED[model]}})


@pytest.mark.slow
def test_the_defaults_of_every_class() -> None:
    classes = {*MODEL_FOR_CAUSAL_LM_MAPPING, *MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING}
    tried = 0
    for config_class in sorted(classes & set(CONFIG_MAPPING.values()), key=lambda c: c.__name__):
        try:
            config = config_class()
        except (ValueError, TypeError, StrictDataclassError):  # it has no defaults
            continue
        validate_ropes(config.to_dict())
        validate_ropes(json.loads(config.to_json_string()))
        validate_longrope(config.get_text_config(decoder=True))
        tried += 1
    assert tried > 150


def longrope(**changes: Any) -> LlamaConfig:
    rope = LONGROPE | {"rope_theta": 1e4, "short_factor": [1.0] * 48, "long_factor": [1.0] * 48}
    return LlamaConfig(hidden_size=384, num_attention_heads=4, rope_parameters=rope | changes)


def test_longrope_has_a_number_for_every_pair_of_dimensions() -> None:
    validate_longrope(longrope())
    half = {"partial_rotary_factor": 0.75, "short_factor": [1.0] * 36, "long_factor": [1.0] * 36}
    validate_longrope(longrope(**half))  # as Phi-4-mini has it
    for key in ("short_factor", "long_factor"):
        with pytest.raises(InputError, match=f"{key} has length 1, and must have 48, half of"):
            validate_longrope(longrope(**{key: [1.0]}))
