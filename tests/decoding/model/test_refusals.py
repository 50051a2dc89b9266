"""Models that can't be run exactly are refused with one clear line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as tf
from transformers import PreTrainedModel

from decoding.errors import InputError
from decoding.model.target import Target

TINY: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
}
MODELS: dict[str, tuple[Callable[[], PreTrainedModel], str]] = {
    "bloom": (
        lambda: tf.BloomForCausalLM(
            tf.BloomConfig(vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
        ),
        "bloom .*ALiBi",
    ),
    "mpt": (
        lambda: tf.MptForCausalLM(tf.MptConfig(vocab_size=40, d_model=32, n_layers=2, n_heads=4)),
        "mpt .*ALiBi",
    ),
    "falcon-alibi": (
        lambda: tf.FalconForCausalLM(
            tf.FalconConfig(
                vocab_size=40,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                alibi=True,
                new_decoder_architecture=False,
            )  # fmt: skip
        ),
        "falcon .*ALiBi",
    ),
    "t5": (
        lambda: tf.T5ForConditionalGeneration(
            tf.T5Config(vocab_size=40, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=4)
        ),
        "t5 is an encoder-decoder",
    ),
    "bart": (
        lambda: tf.BartForConditionalGeneration(
            tf.BartConfig(
                vocab_size=40,
                d_model=32,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
                encoder_ffn_dim=48,
                decoder_ffn_dim=48,
                pad_token_id=0,
            )  # fmt: skip
        ),
        "bart is an encoder-decoder model, which is not supported",
    ),
    "bert": (
        lambda: tf.BertLMHeadModel(
            tf.BertConfig(
                vocab_size=40,
                hidden_size=32,
                intermediate_size=48,
                num_hidden_layers=2,
                num_attention_heads=4,
            )
        ),
        "bert is configured as an encoder, which is not supported",
    ),
    "gpt_neo": (
        lambda: tf.GPTNeoForCausalLM(
            tf.GPTNeoConfig(
                vocab_size=40,
                hidden_size=32,
                num_layers=2,
                num_heads=4,
                attention_types=[[["global", "local"], 1]],
            )
        ),
        "gpt_neo windows its attention by the order of its rows",
    ),
    "doge": (
        lambda: tf.DogeForCausalLM(tf.DogeConfig(**TINY)),
        "doge is not supported: it does not run with this cache and attention",
    ),
}


@pytest.mark.parametrize("model", MODELS)
def test_what_cannot_be_rolled_back_or_masked_is_refused(model: str) -> None:
    build, line = MODELS[model]
    with pytest.raises(InputError, match=line) as refused:
        Target(build())
    message = str(refused.value)
    assert "\n" not in message and len(message) < 200


def test_falcon_without_alibi_runs() -> None:
    torch.manual_seed(0)
    config = tf.FalconConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=False
    )
    target = Target(tf.FalconForCausalLM(config))
    assert target.prefill(target.new_cache(), [1, 2, 3]).logits.shape == (1, 40)


def test_longrope_ends_where_its_frequencies_would_change() -> None:
    rope = {
        "rope_type": "longrope",
        "short_factor": [1.0] * 4,
        "long_factor": [2.0] * 4,
        "original_max_position_embeddings": 24,
        "rope_theta": 10000.0,
    }
    config = tf.Phi3Config(**TINY, original_max_position_embeddings=24, rope_parameters=rope)
    assert Target(tf.Phi3ForCausalLM(config)).context == 24
