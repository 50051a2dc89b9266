"""Builds the lean forward of models whose architecture is exactly a known one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from transformers import (
    GemmaForCausalLM,
    LlamaForCausalLM,
    MistralForCausalLM,
    Phi3ForCausalLM,
    PreTrainedModel,
    Qwen2ForCausalLM,
    Qwen3ForCausalLM,
)

from decoding.model.architecture import context_of
from decoding.model.lean import (
    AttentionHeads,
    Block,
    Layer,
    LeanForward,
    RMSNorm,
    Rope,
    gated,
    qk_norm,
)
from decoding.model.linears import Linear

# The supported classes, with the offset that each adds to the weights of its norms.
NORM_OFFSETS: dict[type[PreTrainedModel], float] = {
    LlamaForCausalLM: 0.0,
    MistralForCausalLM: 0.0,
    Qwen2ForCausalLM: 0.0,
    Qwen3ForCausalLM: 0.0,
    Phi3ForCausalLM: 0.0,
    GemmaForCausalLM: 1.0,
}
# Kinds of rope whose frequencies don't change up to `context_of`.
ROPES = {"default", "linear", "llama3", "yarn", "longrope"}
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu_pytorch_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}
# The linears of a layer that read the same input; the first of several alternatives that exists.
_ATTENTION = (("qkv_proj",), ("q_proj", "k_proj", "v_proj"))
_MLP = (("gate_up_proj",), ("gate_proj", "up_proj"))


def is_llama_shaped(model: PreTrainedModel) -> bool:
    """Return whether `lean_forward` can run the model: a known class without additions, such as
    adapters, quantized weights, hooks or a second device."""
    config: Any = model.config
    if type(model) not in NORM_OFFSETS:
        return False
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") not in ROPES or config.hidden_act not in ACTIVATIONS:
        return False
    tensors = [*model.parameters(), *model.buffers()]
    dtypes = {parameter.dtype for parameter in model.parameters()}
    if len({tensor.device for tensor in tensors}) > 1 or len(dtypes) > 1:
        return False
    modules = list(model.modules())
    if any(module._forward_hooks or module._forward_pre_hooks for module in modules):
        return False
    if any("forward" in vars(module) for module in modules):  # replaced, as accelerate does
        return False
    linears = {id(parameter) for linear in modules if type(linear) is nn.Linear
               for parameter in linear.parameters()}  # fmt: skip
    return all(
        id(parameter) in linears or "norm" in name or name == "model.embed_tokens.weight"
        for name, parameter in model.named_parameters()
    )


def lean_forward(model: PreTrainedModel) -> LeanForward:
    """Build the lean forward of a model that `is_llama_shaped`. Its linears become views of fused
    ones."""
    config: Any = model.config
    inner: Any = model.get_decoder()
    weight = inner.embed_tokens.weight
    attention = inner.layers[0].self_attn
    dim = attention.head_dim
    keys = int(config.num_key_value_heads)
    heads = AttentionHeads(attention.o_proj.in_features // dim, keys, dim)
    offset = NORM_OFFSETS[type(model)]

    def norm(module: Any) -> RMSNorm:
        # Gemma sums in float32, whatever the weights' precision.
        gain = module.weight.float() + offset if offset else module.weight
        return RMSNorm(gain, config.rms_norm_eps)

    types = getattr(config, "layer_types", None) or [""] * len(inner.layers)

    def layer(module: Any, window: str) -> Layer:
        block = Block(
            heads,
            Linear(_parts(module.self_attn, _ATTENTION)),
            _qk_norm(module.self_attn, heads, config.rms_norm_eps),
            module.self_attn.scaling,
            Linear([module.self_attn.o_proj]),
            norm(module.post_attention_layernorm),
            Linear(_parts(module.mlp, _MLP)),
            gated(config.hidden_act, ACTIVATIONS[config.hidden_act], weight),
            Linear([module.mlp.down_proj]),
        )
        return Layer(norm(module.input_layernorm), block, window)

    head: Any = model.get_output_embeddings()
    return LeanForward(
        inner.embed_tokens,
        [layer(module, types[index]) for index, module in enumerate(inner.layers)],
        Rope(inner.rotary_emb, heads, context_of(config), weight.detach()),
        norm(inner.norm),
        Linear([head], transposable=head.weight is not weight),
        weight.device,
        head.out_features,
    )


def _parts(module: Any, names: tuple[tuple[str, ...], ...]) -> list[nn.Linear]:
    found = next(each for each in names if hasattr(module, each[0]))
    return [getattr(module, name) for name in found]


def _qk_norm(attention: Any, heads: AttentionHeads, eps: float) -> RMSNorm | None:
    """Over each query and key: Qwen 3."""
    if not hasattr(attention, "q_norm"):
        return None
    return qk_norm(attention.q_norm.weight, attention.k_norm.weight, heads, eps)
