"""A model that computes different logits for the same rows, run in another way, is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import transformers as tf
from torch import Tensor
from transformers import PreTrainedModel

from decoding.decoder import Decoder
from decoding.errors import InputError
from decoding.model.cache import TreeCache
from decoding.model.self_test import self_test
from decoding.model.target import Target
from decoding.params import Params
from tests.support.families import (
    CONTEXT,
    FAMILIES,
    HYBRIDS,
    SHAPE,
    SLIDING,
    VOCAB,
    build,
    filled,
    greedy_ids,
)
from tests.support.random_trees import RandomTrees

TINY: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("family", [*FAMILIES, *HYBRIDS])
def test_what_runs_exactly_passes(family: str, dtype: torch.dtype) -> None:
    self_test(Target(build(family).to(dtype)))  # type: ignore[arg-type]


class SeesTheFuture(tf.LlamaForCausalLM):
    """Each row reads the mean of all rows of its pass."""

    def forward(self, input_ids: Tensor, position_ids: Tensor, **rest: Any) -> Any:
        rows = self.get_input_embeddings()(input_ids)
        seen = rows + rows.mean(1, keepdim=True)
        return super().forward(inputs_embeds=seen, position_ids=position_ids, **rest)


def test_rows_that_see_the_future() -> None:
    model = SeesTheFuture(FAMILIES["llama"]()[1])
    model.load_state_dict(build("llama").state_dict())
    with pytest.raises(InputError, match="llama computes different logits for .* at once"):
        self_test(Target(model))


def test_a_mask_of_its_own_that_is_made_from_the_usual_one() -> None:
    torch.manual_seed(0)
    self_test(Target(filled(tf.DogeForCausalLM(tf.DogeConfig(**TINY)))))


_LOST = " computes different logits for .*lose their state"
_MAMBA: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "state_size": 4,
}
RECURRENT: dict[str, tuple[Callable[[], PreTrainedModel], str]] = {
    "mamba": (
        lambda: tf.MambaForCausalLM(tf.MambaConfig(**_MAMBA)),
        " is not supported: it can't run several rows in one pass",
    ),
    "falcon_mamba": (
        lambda: tf.FalconMambaForCausalLM(tf.FalconMambaConfig(**_MAMBA)),
        " is not supported: it can't run several rows in one pass",
    ),
    "jamba": (
        lambda: tf.JambaForCausalLM(
            tf.JambaConfig(
                **TINY,
                num_experts=2,
                mamba_d_state=4,
                attn_layer_period=2,
                attn_layer_offset=1,
                pad_token_id=0,
            )
        ),
        _LOST,
    ),
    "recurrent_gemma": (
        lambda: tf.RecurrentGemmaForCausalLM(
            tf.RecurrentGemmaConfig(
                **(TINY | {"num_hidden_layers": 3}), attention_window_size=16, pad_token_id=0
            )
        ),
        f"({_LOST}|: not every layer keeps)",  # as long as its config does not name their kinds
    ),
}


@pytest.mark.parametrize("kind", RECURRENT)
def test_states_that_are_lost_in_a_pass_of_several_rows(kind: str) -> None:
    build_it, line = RECURRENT[kind]
    torch.manual_seed(0)
    model = filled(build_it())
    with pytest.raises(InputError, match=f"{kind}{line}"):
        self_test(Target(model))


class CountsRows(tf.LlamaForCausalLM):
    """Takes positions from the order of the rows, whatever it is told."""

    def forward(self, position_ids: Tensor, past_key_values: Any, **rest: Any) -> Any:
        rows = position_ids.shape[1]
        counted = torch.arange(rows)[None] + past_key_values.get_seq_length()
        return super().forward(position_ids=counted, past_key_values=past_key_values, **rest)


def test_positions_of_its_own() -> None:
    model = CountsRows(FAMILIES["llama"]()[1])
    model.load_state_dict(build("llama").state_dict())
    with pytest.raises(
        InputError, match="llama computes different logits for a tree and its paths"
    ):
        self_test(Target(model))


class CopiesItsWindow(tf.LlamaForCausalLM):
    """Makes masks by a copy of its window, as remote code does."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.sliding_window = config.sliding_window

    def forward(
        self,
        input_ids: Tensor,
        position_ids: Any = None,
        attention_mask: Any = None,
        past_key_values: Any = None,
        **rest: Any,
    ) -> Any:
        if attention_mask is None or attention_mask.ndim == 2:
            cache = rest.get("cache", past_key_values)  # newer versions' name, and the older one
            rows, past = input_ids.shape[1], cache.get_seq_length()
            # of a cache that keeps no row beyond the window
            kept = min(past, self.config.sliding_window - 1)
            queries, keys = torch.arange(past, past + rows), torch.arange(past - kept, past + rows)
            behind = queries[:, None] - keys
            hidden = (behind < 0) | (behind >= self.sliding_window)
            lowest = torch.finfo(self.dtype).min
            attention_mask = torch.zeros(hidden.shape).masked_fill_(hidden, lowest)[None, None]
        return super().forward(
            input_ids=input_ids,
            position_ids=position_ids,
            attention_mask=attention_mask,
            past_key_values=past_key_values,
            **rest,
        )


def windowed(model_class: Any, config_class: Any) -> PreTrainedModel:
    torch.manual_seed(0)
    model: Any = model_class(config_class(**SHAPE, sliding_window=SLIDING))
    return filled(model)


@pytest.mark.parametrize(
    ("model_class", "config_class", "context"),
    [
        (tf.MistralForCausalLM, tf.MistralConfig, CONTEXT),
        (CopiesItsWindow, tf.LlamaConfig, CONTEXT),
        # Their masks show every row, and transformers' cache forgets those beyond the window.
        (tf.LlamaForCausalLM, tf.LlamaConfig, SLIDING),
        (tf.MoshiForCausalLM, tf.MoshiConfig, SLIDING),
    ],
)
def test_the_context_ends_with_a_window_that_is_only_named(
    model_class: Any, config_class: Any, context: int
) -> None:
    model: Any = windowed(model_class, config_class)
    target = Target(copy.deepcopy(model))
    before = target.model.config.to_dict()
    self_test(target)
    assert target.context == context
    assert target.model.config.to_dict() == before
    assert all(getattr(m, "sliding_window", SLIDING) == SLIDING for m in target.model.modules())
    prompt = [(7 * i + 3) % 55 + 2 for i in range(min(context, 2 * SLIDING) - 5)]
    truth = greedy_ids(model, prompt, 6)
    decoder = Decoder(target, RandomTrees(VOCAB, 7, len(prompt), truth))
    for _ in decoder.generate(prompt, Params(gamma=4, max_new_tokens=6)):
        pass
    assert decoder.generated == truth


def test_rejected_rows_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep_the_first(cache: TreeCache, rows: Sequence[int]) -> None:
        cache.commit(len(rows))

    target = Target(build("llama"))
    monkeypatch.setattr(TreeCache, "keep", keep_the_first)
    with pytest.raises(InputError, match="what follows an accepted path and the same text"):
        self_test(target)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers(value: float) -> None:
    model = build("llama")
    with torch.no_grad():
        model.get_output_embeddings().weight[7, 3] = value
    with pytest.raises(InputError, match="not numbers .NaN or infinite.: its weights are damaged"):
        self_test(Target(model))


class OneRowAtATime(tf.LlamaForCausalLM):
    def forward(self, position_ids: Tensor, **rest: Any) -> Any:
        if position_ids.shape[1] > 1:
            raise IndexError("too many rows")
        return super().forward(position_ids=position_ids, **rest)


def test_a_class_that_fails_is_one_line() -> None:
    target = Target(OneRowAtATime(tf.LlamaConfig(**TINY)))
    with pytest.raises(
        InputError,
        match="llama is not supported: it can't run several rows .*: IndexError: too many",
    ):
        self_test(target)


def test_a_context_that_holds_nothing() -> None:
    model = tf.LlamaForCausalLM(tf.LlamaConfig(**TINY, max_position_embeddings=4))
    with pytest.raises(InputError, match="max_position_embeddings is 4: too few"):
        Target(model)
