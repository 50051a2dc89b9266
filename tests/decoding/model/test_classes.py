"""transformers' model classes, tiny and random: exact, or refused in words that are true."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from decoding.decoder import Decoder
from decoding.errors import InputError
from decoding.model.self_test import self_test
from decoding.model.target import Target
from decoding.params import Params
from tests.support.families import DELTA, MAMBA, SHAPE, SLIDING, VOCAB, filled, greedy_ids
from tests.support.random_trees import RandomTrees

PROMPT = [(7 * i + 3) % 55 + 2 for i in range(SLIDING + 5)]
NEW = 12

# A config takes of these what it knows.
COMMON: dict[str, Any] = {
    **SHAPE,
    "pad_token_id": 0,
    "sliding_window": SLIDING,
    "query_pre_attn_scalar": 8,
    "is_decoder": True,
    **{"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 96, "n_inner": 48},
    **{"d_model": 32, "ffn_dim": 48, "n_layers": 3, "n_heads": 4, "word_embed_proj_dim": 32},
    # mixtures of experts
    **{"num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "moe_num_experts": 4},
    **{"num_experts_per_tok": 2, "moe_k": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1},
    **{"moe_intermediate_size": 16, "shared_expert_intermediate_size": 16},
    "shared_intermediate_size": 16,
    # compressed keys and values
    **{"q_lora_rank": 16, "kv_lora_rank": 16, "v_head_dim": 8},
    **{"qk_rope_head_dim": 4, "qk_nope_head_dim": 8},
    # recurrent layers
    **MAMBA,
    **{key: value for key, value in DELTA.items() if key != "layer_types"},
    **{
        "n_mamba_heads": 4,
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "mamba_d_ssm": 64,
        "time_step_min": 1e-6,
    },
    **{"state_size": 8, "ssm_state_size": 8, "n_groups": 1, "chunk_size": 8, "lru_width": 32},
}
MIXED = ["linear_attention", "full_attention", "linear_attention"]

# fmt: off
EXACT = [
    "afmoe", "apertus", "arcee", "aria_text", "axk1", "bert-generation", "biogpt", "bitnet",
    "cohere", "cohere2", "cohere2_moe", "ctrl", "cwm", "data2vec-text", "deepseek_v2",
    "deepseek_v3", "diffllama", "dots1", "electra", "ernie4_5", "ernie4_5_moe", "exaone4",
    "exaone_moe", "falcon", "flex_olmo", "flint", "gemma", "gemma2", "gemma3_text",
    "gemma4_text", "glm", "glm4", "glm4_moe", "glm4_moe_lite", "gpt-sw3", "gpt2", "gpt_bigcode",
    "gpt_neox", "gpt_neox_japanese", "gpt_oss", "granite", "granite_swa", "granitemoe",
    "granitemoe_swa", "granitemoeshared", "helium", "hunyuan_v1_dense", "hunyuan_v1_moe",
    "hy_v3", "hyperclovax", "internlm3", "iquestcoder", "jais2", "jetmoe", "laguna", "llama",
    "llama4_text", "minicpm3", "mimo_v2_flash", "minimax_m2", "ministral", "ministral3",
    "mistral", "mixtral", "modernbert-decoder", "nanochat", "nemotron", "olmo", "olmo2",
    "olmo3", "olmoe", "opt", "persimmon", "phi", "phi3", "phimoe", "qwen2", "qwen2_moe",
    "qwen3", "qwen3_moe", "seed_oss", "smollm3", "solar_open", "stablelm", "starcoder2",
    "vaultgemma", "youtu",
]
# With layers that carry a state on.
CHAINS_ALONE = [
    "bailing_hybrid", "bamba", "falcon_h1", "granitemoehybrid", "kimi_linear", "lfm2",
    "lfm2_moe", "lfm3", "mamba2", "nemotron_h", "olmo_hybrid", "qwen3_5_moe_text",
    "qwen3_5_text", "qwen3_next", "zamba2", "zaya",
]
# fmt: on
# Keys and values of these are compressed for all heads.
MLA = ("axk1", "deepseek_v2", "deepseek_v3", "glm4_moe_lite", "minicpm3", "youtu")
MORE: dict[str, dict[str, Any]] = {
    **{kind: {"num_key_value_heads": 4} for kind in MLA},
    "bailing_hybrid": {"layer_types": MIXED, "num_key_value_heads": 4},
    "bamba": {"attn_layer_indices": [1]},
    "granitemoehybrid": {"layer_types": MIXED},
    "kimi_linear": {
        "linear_attn_config": {
            **{"kda_layers": [1, 3], "full_attn_layers": [2]},
            **{"head_dim": 8, "num_heads": 4, "short_conv_kernel_size": 4},
        },
        "num_key_value_heads": 4,
    },
    "lfm2_moe": {"layer_types": ["conv", "full_attention", "conv"], "num_dense_layers": 1},
    "mamba2": {"num_heads": 4, "head_dim": 16},
    "qwen3_5_text": {"layer_types": MIXED},
    "qwen3_5_moe_text": {"layer_types": MIXED},
    "qwen3_next": {"layer_types": MIXED},
    "zamba2": {"layers_block_type": ["linear_attention", "hybrid", "linear_attention"]},
    "zaya": {"num_experts_per_tok": 1},
}

# Where the model of seed 0 repeats a token or two.
SEEDS = {"exaone4": 1, "glm": 1, "qwen3_moe": 1}

ROWS = "takes no position ids"
LOST = "its recurrent layers lose their state"
REFUSED: dict[str, str] = {
    "blenderbot-small": ROWS,
    "bloom": ROWS,
    "deepseek_v32": "layers of type indexed_attention, which are not supported",
    "deepseek_v4": "layers of type .*compressed_attention",
    "doge": "is not supported: it does not run with this cache and attention",
    "falcon_mamba": "is not supported: it can't run several rows in one pass",
    "glm_moe_dsa": "layers of type indexed_attention",
    "gpt_neo": "windows its attention by the order of its rows",
    "hy_v4": "layers of type indexed_attention",
    "inkling_text": "layers of type hybrid_sliding",
    "jamba": LOST,
    "mamba": "is not supported: it can't run several rows in one pass",
    "minimax": "is not supported: it does not run with this cache and attention",
    "mpt": ROWS,
    "openai-gpt": "not every layer keeps keys and values",
    "recurrent_gemma": LOST,
    "roformer": ROWS,
    "rwkv": ROWS,
    "xlnet": ROWS,
    "xlstm": "is not supported: it does not run with this cache and attention",
    "zamba": LOST,
}


def model_of(kind: str, **more: Any) -> PreTrainedModel:
    if kind not in CONFIG_MAPPING:
        pytest.skip(f"this transformers has no {kind}")
    config_class = CONFIG_MAPPING[kind]
    known = set(inspect.signature(config_class).parameters)
    known |= {
        name for each in config_class.__mro__ for name in vars(each).get("__annotations__", ())
    }
    shape = {key: value for key, value in COMMON.items() if key in known}
    config = config_class(**shape | MORE.get(kind, {}) | more)
    torch.manual_seed(SEEDS.get(kind, 0))
    model_class: Any = MODEL_FOR_CAUSAL_LM_MAPPING[config_class]
    return filled(model_class(config))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*EXACT, *CHAINS_ALONE])
def test_exact_classes(kind: str) -> None:
    model: Any = model_of(kind)
    target = Target(copy.deepcopy(model))
    self_test(target)
    truth = greedy_ids(model, PROMPT, NEW)
    assert len(set(truth)) > 2
    for drafter in (None, RandomTrees(VOCAB, 7, len(PROMPT), truth)):
        decoder = Decoder(target, drafter)
        for _ in decoder.generate(PROMPT, Params(gamma=4, max_new_tokens=NEW)):
            pass
        assert decoder.generated == truth


@pytest.mark.slow
@pytest.mark.parametrize("kind", REFUSED)
def test_refused_classes(kind: str) -> None:
    with pytest.raises(InputError, match=REFUSED[kind]) as refused:
        self_test(Target(model_of(kind)))
    assert "\n" not in str(refused.value)
