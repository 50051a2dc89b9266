"""The lean forward says what transformers' own modules say, and is used for nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as tf
from torch import Tensor, nn
from transformers import PreTrainedModel

from decoding.model import llama_shaped
from decoding.model.cache import BatchCache
from decoding.model.kv_precision import KV_QUANTIZERS
from decoding.model.lean import LeanForward
from decoding.model.target import Target
from decoding.model.transformers_forward import TransformersForward
from decoding.params import KVCacheDtype
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape, chain
from tests.support.families import FAMILIES, build, filled

SHAPE: dict[str, Any] = {
    "vocab_size": 61,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 600,
    "eos_token_id": None,
    "pad_token_id": None,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 150}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 75,
}
LONGROPE = {
    "rope_type": "longrope",
    "short_factor": [1.0, 1.5, 2.0, 2.5],
    "long_factor": [3.0] * 4,
    "original_max_position_embeddings": 600,
}
BIASED = {"attention_bias": True, "mlp_bias": True}


def varied(model: PreTrainedModel) -> PreTrainedModel:
    """With gains and biases that are not all the same."""
    torch.manual_seed(1)
    filled(model)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.add_(torch.randn_like(weight) * 0.1)
    return model


def llama(**options: Any) -> PreTrainedModel:
    return varied(tf.LlamaForCausalLM(tf.LlamaConfig(**{**SHAPE, **options})))


def rope(**parameters: Any) -> PreTrainedModel:
    return llama(rope_parameters={"rope_theta": 10000.0, **parameters})


def phi3(**parameters: Any) -> PreTrainedModel:
    config = tf.Phi3Config(**SHAPE, rope_parameters={"rope_theta": 10000.0, **parameters})
    config.original_max_position_embeddings = 600
    return varied(tf.Phi3ForCausalLM(config))


LEAN: dict[str, Callable[[], PreTrainedModel]] = {
    "llama": llama,
    "biases": lambda: llama(**BIASED),
    "tied": lambda: llama(tie_word_embeddings=True),
    "every head its own keys": lambda: llama(num_key_value_heads=4),
    "one key": lambda: llama(num_key_value_heads=1),
    "wide heads": lambda: llama(head_dim=24),
    "linear rope": lambda: rope(rope_type="linear", factor=2.0),
    "yarn": lambda: rope(**YARN),
    "llama3": lambda: rope(**LLAMA3),
    "longrope": lambda: phi3(**LONGROPE),
    "half rotated": lambda: phi3(rope_type="default", partial_rotary_factor=0.5),
    "gelu": lambda: llama(hidden_act="gelu_pytorch_tanh"),
    **{
        name: lambda name=name: varied(build(name))  # type: ignore[misc]
        for name in ("mistral", "qwen2", "qwen2-window", "qwen3", "phi3", "gemma")
    },
}
BUSHY = TreeShape((-1, 0, 0, 1, 1, 2, 3, 0))


def own_words(model: PreTrainedModel, rows: Tensor) -> Tensor:
    """Logits of rows of ids by the model's own modules, without our cache and attention."""
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        return model(input_ids=rows, use_cache=False).logits  # type: ignore[no-any-return]


@pytest.mark.parametrize("prefix", [1, 7, 40])
@pytest.mark.parametrize("kind", LEAN)
def test_a_prompt_and_a_tree(kind: str, prefix: int) -> None:
    prompt = [(7 * i + 3) % 61 for i in range(prefix)]
    tokens = torch.tensor([(11 * node + 5) % 61 for node in range(len(BUSHY))])
    oracle = LEAN[kind]()
    target = Target(LEAN[kind]())
    assert isinstance(target._forward, LeanForward)
    cache = target.new_cache(8)
    first = target.prefill(cache, prompt).logits
    torch.testing.assert_close(
        first, own_words(oracle, torch.tensor([prompt]))[0, -1:], rtol=1e-5, atol=1e-5
    )
    got = target.forward(cache, DraftTree(BUSHY, tokens)).logits
    for leaf in (4, 5, 6, 7):
        path = [0, *BUSHY.path(leaf)]
        expected = own_words(oracle, torch.tensor([prompt + tokens[path].tolist()]))[0, prefix:]
        torch.testing.assert_close(got[path], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["llama", "yarn", "longrope"])
def test_positions_beyond_the_first_table(kind: str) -> None:
    prompt = [(7 * i + 3) % 61 for i in range(590)]
    target = Target(LEAN[kind]())
    got = target.prefill(target.new_cache(), prompt).logits
    expected = own_words(LEAN[kind](), torch.tensor([prompt]))[0, -1:]
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=2e-5)


def test_hidden_states() -> None:
    model, target = build("llama"), Target(build("llama"))
    target.capture_layers((2, 0, 1))
    prompt = [3, 7, 9, 11, 2]
    out = target.prefill(target.new_cache(), prompt, keep_features=True)
    with torch.inference_mode():
        expected = model(
            input_ids=torch.tensor([prompt]), output_hidden_states=True
        ).hidden_states  # the last one after the final norm
    assert out.aux_hidden_states is not None
    captured = torch.cat([expected[layer][0] for layer in (2, 0, 1)], -1)
    torch.testing.assert_close(out.aux_hidden_states, captured, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(out.features, expected[-1][0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["llama", "biases", "qwen3", "phi3", "gemma"])
def test_the_models_own_weights_are_used_and_not_copied(kind: str) -> None:
    model = LEAN[kind]()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    target = Target(model)
    after = model.state_dict()
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert torch.equal(after[name], tensor), name
    assert model.get_memory_footprint() == LEAN[kind]().get_memory_footprint()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" not in name:
                weight.mul_(1.1)
    prompt = [3, 7, 9]
    got = target.prefill(target.new_cache(), prompt).logits
    expected = own_words(model, torch.tensor([prompt]))[0, -1:]
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


class Adapted(nn.Linear):
    """Such as an adapter's, or one of quantized weights."""


def with_an_adapter() -> PreTrainedModel:
    model: Any = llama()
    model.model.layers[1].mlp.up_proj = Adapted(32, 48, bias=False)
    return varied(model)


def with_another_parameter() -> PreTrainedModel:
    model: Any = llama()
    model.model.layers[0].self_attn.sinks = nn.Parameter(torch.ones(4))
    return model  # type: ignore[no-any-return]


def with_a_hook() -> PreTrainedModel:
    model: Any = llama()
    model.model.layers[1].register_forward_hook(lambda module, args, output: output * 1.5)
    return model  # type: ignore[no-any-return]


class Derived(tf.LlamaForCausalLM):
    """A class that may do what it likes."""


LIBRARY: dict[str, Callable[[], PreTrainedModel]] = {
    "an adapter": with_an_adapter,
    "another parameter": with_another_parameter,
    "a hook": with_a_hook,
    "a derived class": lambda: varied(Derived(tf.LlamaConfig(**SHAPE))),
    "dynamic rope": lambda: rope(rope_type="dynamic", factor=2.0),
    "another activation": lambda: llama(hidden_act="relu"),
    "two precisions": lambda: half_of(llama()),
    **{
        name: lambda name=name: build(name)  # type: ignore[misc]
        for name in FAMILIES
        if name.removesuffix("-window") not in LEAN
    },
}


def half_of(model: Any) -> PreTrainedModel:
    model.model.norm.to(torch.bfloat16)
    return model  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", LIBRARY)
def test_what_is_not_exactly_known_runs_by_transformers_modules(kind: str) -> None:
    assert not llama_shaped.is_llama_shaped(LIBRARY[kind]())


def test_a_forward_that_says_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(llama_shaped.NORM_OFFSETS, tf.LlamaForCausalLM, 0.01)
    assert isinstance(Target(build("llama"))._forward, TransformersForward)


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3", "gemma"])
def test_half_precision(family: str) -> None:
    target = Target(build(family).to(torch.bfloat16))  # type: ignore[arg-type]
    assert isinstance(target._forward, LeanForward)


@pytest.mark.parametrize("offset, expected", [(0.0, LeanForward), (0.2, TransformersForward)])
def test_a_deep_model_in_half_precision(
    offset: float, expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounded in every layer, but that is no reason against the lean forward; an error is."""
    monkeypatch.setitem(llama_shaped.NORM_OFFSETS, tf.LlamaForCausalLM, offset)
    target = Target(llama(num_hidden_layers=40).to(torch.bfloat16))  # type: ignore[arg-type]
    assert type(target._forward) is expected


@torch.inference_mode()
@pytest.mark.parametrize("fused", [False, True])
def test_gemmas_norms_are_summed_in_float32(fused: bool) -> None:
    model: Any = build("gemma")
    norm = model.to(torch.bfloat16).model.norm
    norm.weight.copy_(torch.linspace(0.001, 0.4, len(norm.weight)))
    lean = Target(model).lean
    assert lean is not None
    lean._norm._by_length = not fused  # GPUs have a kernel
    x = torch.randn(64, len(norm.weight)).bfloat16()
    found = lean._norm(x)
    assert found.dtype == x.dtype
    assert (found != norm(x)).float().mean() < 0.01  # but for the rounding of another order


@pytest.mark.parametrize(
    ("kind", "kv_cache"),
    [("llama", "none"), ("every head its own keys", "none"), ("llama", "int8")],
)
def test_sequences_of_a_batch_say_what_each_says_alone(kind: str, kv_cache: KVCacheDtype) -> None:
    target = Target(LEAN[kind]())
    target.kv_cache = kv_cache
    lean = target.lean
    assert lean is not None
    texts = torch.tensor([[3, 7, 9, 11, 2], [8, 1, 30, 4, 44], [5, 5, 6, 1, 0]])
    room = (5, target.dtype, target.device, KV_QUANTIZERS[kv_cache])
    cache = BatchCache(lean.layers, len(texts), *room)
    logits = []
    for start, end in ((0, 3), (3, 5)):  # a prompt, and a chain of two after it
        tree, positions = (
            DraftTree(chain(end - start - 1), texts[0, start:end]),
            torch.arange(start, end),
        )
        mask = target.mask(start, tree, positions)
        tokens = texts[:, start:end].flatten()
        with torch.inference_mode():
            out = lean.run(tokens, positions.repeat(len(texts)), mask, cache.rows(start, end), end)
        logits.append(out.logits.unflatten(0, (len(texts), -1)))
    for text, found in zip(texts, torch.cat(logits, 1), strict=True):
        alone = target.forward(target.new_cache(), DraftTree(chain(4), text)).logits
        torch.testing.assert_close(found, alone, rtol=1e-4, atol=1e-4)
