"""Tiny random models of many families, in float32, made on the fly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
import transformers as tf
from transformers import PreTrainedModel

from decoding.model.target import Target

VOCAB = 61
CONTEXT = 96
SLIDING = 12
SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": CONTEXT,
    "bos_token_id": 1,
    "eos_token_id": None,
    "pad_token_id": None,
    # a tied random embedding mostly predicts the token that it was given
    "tie_word_embeddings": False,
}
_PLAIN = {k: v for k, v in SHAPE.items() if k not in ("num_key_value_heads", "head_dim")}

FAMILIES: dict[str, Callable[[], tuple[type[PreTrainedModel], Any]]] = {
    "llama": lambda: (tf.LlamaForCausalLM, tf.LlamaConfig(**SHAPE)),
    # Its frequencies change beyond the context that is named, where it ends here.
    "llama-dynamic": lambda: (
        tf.LlamaForCausalLM,
        tf.LlamaConfig(
            **SHAPE,
            rope_parameters={"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4},
        ),
    ),
    "qwen2": lambda: (tf.Qwen2ForCausalLM, tf.Qwen2Config(**SHAPE)),
    "qwen2-window": lambda: (
        tf.Qwen2ForCausalLM,
        tf.Qwen2Config(
            **SHAPE, use_sliding_window=True, sliding_window=SLIDING, max_window_layers=1
        ),
    ),
    "qwen3": lambda: (tf.Qwen3ForCausalLM, tf.Qwen3Config(**SHAPE)),
    "gemma": lambda: (tf.GemmaForCausalLM, tf.GemmaConfig(**SHAPE)),
    "gemma2": lambda: (
        tf.Gemma2ForCausalLM,
        tf.Gemma2Config(**SHAPE, sliding_window=SLIDING, query_pre_attn_scalar=8),
    ),
    "gemma3": lambda: (
        tf.Gemma3ForCausalLM,
        tf.Gemma3TextConfig(
            **SHAPE,
            sliding_window=SLIDING,
            query_pre_attn_scalar=8,
            layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        ),
    ),
    "mistral": lambda: (
        tf.MistralForCausalLM,
        tf.MistralConfig(**SHAPE, sliding_window=SLIDING),
    ),
    "phi3": lambda: (
        tf.Phi3ForCausalLM,
        tf.Phi3Config(**SHAPE, sliding_window=SLIDING),
    ),
    "gpt2": lambda: (
        tf.GPT2LMHeadModel,
        tf.GPT2Config(
            vocab_size=VOCAB,
            n_embd=32,
            n_layer=3,
            n_head=4,
            n_positions=CONTEXT,
            bos_token_id=1,
            eos_token_id=None,
        ),
    ),
    "phi": lambda: (tf.PhiForCausalLM, tf.PhiConfig(**_PLAIN)),
    "opt": lambda: (
        tf.OPTForCausalLM,
        tf.OPTConfig(
            vocab_size=VOCAB,
            hidden_size=32,
            ffn_dim=48,
            num_hidden_layers=3,
            num_attention_heads=4,
            max_position_embeddings=CONTEXT,
            word_embed_proj_dim=32,
            bos_token_id=1,
            eos_token_id=None,
            pad_token_id=0,
        ),
    ),
    "gpt_neox": lambda: (tf.GPTNeoXForCausalLM, tf.GPTNeoXConfig(**_PLAIN)),
    "cohere2": lambda: (
        tf.Cohere2ForCausalLM,
        tf.Cohere2Config(**SHAPE, sliding_window=SLIDING),
    ),
    "falcon": lambda: (
        tf.FalconForCausalLM,
        tf.FalconConfig(
            vocab_size=VOCAB,
            hidden_size=32,
            num_hidden_layers=3,
            num_attention_heads=4,
            max_position_embeddings=CONTEXT,
            alibi=False,
            bos_token_id=1,
            eos_token_id=None,
        ),
    ),
    "starcoder2": lambda: (
        tf.Starcoder2ForCausalLM,
        tf.Starcoder2Config(**SHAPE, sliding_window=SLIDING),
    ),
    "afmoe": lambda: (
        tf.AfmoeForCausalLM,
        tf.AfmoeConfig(
            **SHAPE,
            sliding_window=SLIDING,
            moe_intermediate_size=16,
            num_experts=2,
            num_experts_per_tok=1,
            num_dense_layers=1,
            layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        ),
    ),
    # Keys and values are cached compressed and expanded behind the cache (MLA).
    "deepseek_v3": lambda: (
        tf.DeepseekV3ForCausalLM,
        tf.DeepseekV3Config(
            **{**_PLAIN, "num_key_value_heads": 4},
            q_lora_rank=16,
            kv_lora_rank=16,
            qk_rope_head_dim=4,
            qk_nope_head_dim=8,
            v_head_dim=8,
            first_k_dense_replace=3,
        ),
    ),
    # Each head has a sink, which takes a part of its attention.
    "gpt_oss": lambda: (
        tf.GptOssForCausalLM,
        tf.GptOssConfig(
            **SHAPE,
            sliding_window=SLIDING,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            num_local_experts=4,
            num_experts_per_tok=2,
        ),
    ),
    # Sinks in windowed layers alone, which also have more key heads than the others.
    "mimo_v2_flash": lambda: (
        tf.MiMoV2FlashForCausalLM,
        tf.MiMoV2FlashConfig(
            **SHAPE,
            v_head_dim=4,
            sliding_window=SLIDING,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            moe_intermediate_size=16,
            n_routed_experts=4,
            num_experts_per_tok=2,
        ),
    ),
    # Attention that ends where a chunk begins.
    "llama4": lambda: (
        tf.Llama4ForCausalLM,
        tf.Llama4TextConfig(
            **SHAPE,
            intermediate_size_mlp=48,
            num_local_experts=2,
            attention_chunk_size=SLIDING,
            layer_types=["chunked_attention", "full_attention", "chunked_attention"],
        ),
    ),
    "olmo2": lambda: (tf.Olmo2ForCausalLM, tf.Olmo2Config(**_PLAIN)),
    "gptj": lambda: (
        tf.GPTJForCausalLM,
        tf.GPTJConfig(
            vocab_size=VOCAB,
            n_embd=32,
            n_layer=3,
            n_head=4,
            n_positions=CONTEXT,
            rotary_dim=4,
            bos_token_id=1,
            eos_token_id=None,
        ),
    ),
}

MAMBA: dict[str, Any] = {
    "mamba_d_state": 8,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "mamba_n_heads": 4,
    "mamba_n_groups": 1,
    "mamba_d_head": 16,
    "mamba_chunk_size": 8,
}
DELTA: dict[str, Any] = {
    "layer_types": ["linear_attention", "linear_attention", "full_attention"],
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4,
}

# With layers that carry a state on, so that only chains can be verified.
HYBRIDS: dict[str, Callable[[], tuple[type[PreTrainedModel], Any]]] = {
    "qwen3_next": lambda: (
        tf.Qwen3NextForCausalLM,
        tf.Qwen3NextConfig(
            **SHAPE,
            **DELTA,
            num_experts=4,
            num_experts_per_tok=2,
            moe_intermediate_size=16,
            shared_expert_intermediate_size=16,
        ),
    ),
    "qwen3_5": lambda: (tf.Qwen3_5ForCausalLM, tf.Qwen3_5TextConfig(**SHAPE, **DELTA)),
    "granitemoehybrid": lambda: (
        tf.GraniteMoeHybridForCausalLM,
        tf.GraniteMoeHybridConfig(
            **SHAPE,
            **MAMBA,
            layer_types=["linear_attention", "full_attention", "linear_attention"],
            num_local_experts=4,
            num_experts_per_tok=2,
            shared_intermediate_size=16,
        ),
    ),
    # Short convolutions, no recurrence.
    "lfm2": lambda: (
        tf.Lfm2ForCausalLM,
        tf.Lfm2Config(**SHAPE, layer_types=["conv", "full_attention", "conv"]),
    ),
    # One layer without rows or states among the others. transformers holds the time step above
    # its least value only in passes of several rows: one that is never reached.
    "nemotron_h": lambda: (
        tf.NemotronHForCausalLM,
        tf.NemotronHConfig(
            **{k: v for k, v in SHAPE.items() if k != "num_hidden_layers"},
            layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention"],
            mamba_num_heads=4,
            mamba_head_dim=16,
            ssm_state_size=8,
            n_groups=1,
            chunk_size=8,
            time_step_min=1e-6,
        ),
    ),
    # Both in every layer.
    "falcon_h1": lambda: (
        tf.FalconH1ForCausalLM,
        tf.FalconH1Config(**SHAPE, **MAMBA, mamba_d_ssm=64),
    ),
    # No attention at all.
    "mamba2": lambda: (
        tf.Mamba2ForCausalLM,
        tf.Mamba2Config(
            vocab_size=VOCAB,
            hidden_size=32,
            num_hidden_layers=3,
            num_heads=4,
            head_dim=16,
            state_size=8,
            n_groups=1,
            chunk_size=8,
            bos_token_id=1,
            eos_token_id=None,
            pad_token_id=None,
        ),
    ),
}


def build(family: str, seed: int = 0) -> PreTrainedModel:
    torch.manual_seed(seed)
    model_class, config = (FAMILIES | HYBRIDS)[family]()
    return filled(model_class(config))


def filled(model: PreTrainedModel) -> PreTrainedModel:
    """Weights large enough that the argmax changes from token to token."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3 if "embed" in name or "wte" in name else 0.25)
            elif name.endswith("sinks"):
                weight.normal_()
    model.eval()
    return model


def sure_llama(seed: int = 1, std: float = 0.15, **sizes: Any) -> tf.LlamaForCausalLM:
    """A random Llama, but sure of what it says."""
    small: dict[str, Any] = {
        "vocab_size": 40,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 64,
    }
    torch.manual_seed(seed)
    model: tf.LlamaForCausalLM = tf.LlamaForCausalLM(tf.LlamaConfig(**(small | sizes))).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, std)
    return model


@cache
def reference(family: str, seed: int = 0) -> PreTrainedModel:
    """The same weights under Hugging Face's own attention and cache. Eager: in older versions
    their faster attention leaves out Gemma 2's softcap."""
    model = build(family, seed)
    model.set_attn_implementation("eager")
    return model


@cache
def target(family: str) -> Target:
    return Target(build(family))


@cache
def draft(family: str, noise: float = 0.03) -> Target:
    """The target's weights with noise: right often, but not always."""
    model = build(family)
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * noise)
    return Target(model)


def hf_greedy(
    family: str, prompt: Sequence[int], new_tokens: int, eos: Sequence[int] = ()
) -> list[int]:
    """`generate(do_sample=False)` of the reference model, the prompt left out."""
    return list(_hf_greedy(family, tuple(prompt), new_tokens, tuple(eos)))


@cache
def _hf_greedy(
    family: str, prompt: tuple[int, ...], new_tokens: int, eos: tuple[int, ...]
) -> tuple[int, ...]:
    return tuple(greedy_ids(reference(family), prompt, new_tokens, eos))


def greedy_ids(
    model: Any, prompt: Sequence[int], new_tokens: int, eos: Sequence[int] = ()
) -> list[int]:
    """`generate(do_sample=False)` of a model, the prompt left out."""
    out = model.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        do_sample=False,
        max_new_tokens=new_tokens,
        eos_token_id=list(eos) or None,
        pad_token_id=0,
    )
    return out[0, len(prompt) :].tolist()  # type: ignore[no-any-return]
