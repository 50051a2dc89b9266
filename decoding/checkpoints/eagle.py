"""EAGLE heads in memory, in one form for all dialects, and writing them; `eagle_read` lists the
dialects. Li et al. 2024 (2401.15077, 2406.16858), 2025 (2503.01840)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from decoding.checkpoints.dialects import AUX_LAYERS_KEY, EagleDialect, EagleVersion
from decoding.checkpoints.draft_settings import (
    SPECULATIVE_TOKENS,
    EagleSettings,
    with_eagle_settings,
)
from decoding.checkpoints.files import read_config, write_checkpoint
from decoding.errors import InputError

# Per dialect: the layer's name, and the switches of the config that its readers know.
_LAYERS: dict[EagleDialect, tuple[str, frozenset[str]]] = {
    "eagle1": ("layers.0", frozenset({"fc_bias", "qkv_bias"})),
    "eagle3": ("midlayer", frozenset()),
    "modelopt": ("layers.0", frozenset({"qkv_bias", "o_bias", "mlp_bias"})),
    "speculators": (
        "layers.0",
        frozenset({"qkv_bias", "o_bias", "mlp_bias", "qk_norm"})
        | {"norm_before_residual", "norm_before_fc", "fc_norm", "norm_output"},
    ),
}
_SWITCHES = _LAYERS["speculators"][1] | _LAYERS["eagle1"][1]
_IN_LAYER = ("self_attn.", "mlp.", "input_layernorm.", "hidden_norm.", "post_attention_layernorm.")


@dataclass(frozen=True, slots=True)
class EagleConfig:
    """The architecture of an EAGLE head. `layers`: its own; only EAGLE-3 has more than one.

    `aux_layers`: the target's layers whose *inputs* are the features of EAGLE-3 (Hugging Face's
    `hidden_states[i]`), low to high; () for EAGLE-1, which reads the states after the final norm.
    `fc` False: these are as wide as the draft and need no fc. `rope`: transformers'
    `rope_parameters` of the *draft*. `draft_vocab` rows of the lm_head
    (EAGLE-3) may be fewer than `vocab`, the target's. The `norm_*` switches and `fc_norm` are
    those of speculators: the residual is the normed feature, the aux hidden states are normed
    together or each before fc, the normed output is what is fed back. `qk_norm`: queries and keys
    are normed, as in Qwen3. `settings`: what to draft with.
    """

    version: EagleVersion
    target_hidden: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    draft_vocab: int
    layers: int = 1
    aux_layers: tuple[int, ...] = ()
    activation: str = "silu"
    norm_eps: float = 1e-6
    rope: Mapping[str, Any] = field(
        default_factory=lambda: {"rope_type": "default", "rope_theta": 10000.0}
    )
    max_positions: int = 2048
    fc: bool = True
    fc_bias: bool = False
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    norm_before_residual: bool = False
    norm_before_fc: bool = False
    fc_norm: bool = False
    norm_output: bool = False
    settings: EagleSettings = field(default_factory=EagleSettings)


@dataclass(slots=True, eq=False)
class EagleWeights:
    """A head: its config and its tensors by these names, each followed by `.weight` or `.bias`.

    Both: `fc`, `self_attn.{q,k,v,o}_proj`, `mlp.{gate,up,down}_proj`, `post_attention_layernorm`;
    `embed_tokens` where it has an embedding of its own, else the target's is used. EAGLE-3 also:
    `input_layernorm`, `hidden_norm`, `norm`, `lm_head`; where asked for `self_attn.{q,k}_norm`,
    `input_norm` (norm_before_fc), `fc_norm.{i}` (fc_norm); and `d2t` int64 [draft_vocab], the
    offset of each draft id to its target id, where the vocabularies differ. Further layers have
    `layers.{i}.` before the names of `self_attn`, `mlp`, `input_layernorm` (of their input) and
    `post_attention_layernorm`.

    `dialect` is the one it was read from, `notes` tell the user how it was read.
    """

    dialect: str
    config: EagleConfig
    tensors: dict[str, Tensor]
    notes: tuple[str, ...] = ()

    def save_pretrained(self, folder: str | Path, target: str = "") -> None:
        """Write the head for the model called `target`, for `Eagle.from_pretrained`, in its
        `writable_dialect`. Raises InputError."""
        write_eagle(self, Path(folder), writable_dialect(self), target)


def draft_tokens(d2t: Tensor) -> Tensor:
    """Return the target's id of each row of a draft vocabulary, int64 [rows]."""
    return torch.arange(len(d2t), device=d2t.device) + d2t


def offsets_to(tokens: Tensor) -> Tensor:
    """Return the d2t of a draft vocabulary of these ids of the target, int64 [rows]."""
    return tokens - torch.arange(len(tokens), device=tokens.device)


def writable_dialect(weights: EagleWeights) -> EagleDialect:
    """Return the dialect that the head was read from or, where that can't express it, the authors'
    or another. Raises InputError if none can."""
    c = weights.config
    lost = {
        dialect: lost_in(c, dialect)
        for dialect in _LAYERS
        if (dialect == "eagle1") == (c.version == "eagle1")
    }
    able = [dialect for dialect in lost if not lost[dialect]]
    if not able:
        raise InputError(f"this draft has {[*lost.values()][-1]}, which no dialect can express")
    return min(able, key=lambda dialect: (dialect != weights.dialect, dialect != c.version))


def write_eagle(
    weights: EagleWeights,
    folder: Path,
    dialect: EagleDialect,
    target: str,
    architecture: str | None = None,
) -> None:
    """Write a head for `target`, a folder or hub id, as model.safetensors and config.json, without
    converting the tensors. `architecture`: the class that the config names (None: the dialect's).
    Raises InputError if the dialect can't express the head.
    """
    c = weights.config
    if dialect not in _LAYERS:
        raise InputError(f"can't write the dialect {dialect}; choose from {', '.join(_LAYERS)}")
    if (dialect == "eagle1") != (c.version == "eagle1"):
        raise InputError(f"this draft is {c.version}, which the dialect {dialect} can't express")
    if lost := lost_in(c, dialect):
        raise InputError(f"this draft has {lost}, which the dialect {dialect} can't express")
    prefix, _ = _LAYERS[dialect]
    named = {
        f"{prefix}.{name}" if name.startswith(_IN_LAYER) else name: tensor.contiguous()
        for name, tensor in weights.tensors.items()
    }
    if "d2t" in named:  # converters drop d2t without t2d
        named["t2d"] = _marked(named["d2t"], c.vocab)
    dtype = str(weights.tensors["self_attn.o_proj.weight"].dtype).removeprefix("torch.")
    config = with_eagle_settings(_config(c, dialect, dtype, target), c.settings)
    if architecture is not None:
        config["architectures"] = [architecture]
    write_checkpoint(folder, "model.safetensors", named, config)


def lost_in(c: EagleConfig, dialect: EagleDialect) -> str:
    """Return what of a head of its version the dialect can't express; empty if it can."""
    known = _LAYERS[dialect][1]
    if c.layers > 1 and dialect != "speculators":
        return f"{c.layers} layers"
    if dialect == "modelopt" and 0 in c.aux_layers:
        return "the embedding as a feature (layer 0)"
    if "o_bias" in known and c.qkv_bias != c.o_bias:
        return "qkv_bias without o_bias"
    return next((name for name in sorted(_SWITCHES - known) if getattr(c, name)), "")


def _marked(d2t: Tensor, vocab: int) -> Tensor:
    """Bool [vocab]: which of the target's tokens the draft vocabulary has."""
    marks = torch.zeros(vocab, dtype=torch.bool)
    marks[draft_tokens(d2t)] = True
    return marks


def _config(c: EagleConfig, dialect: EagleDialect, dtype: str, target: str) -> dict[str, Any]:
    if dialect == "speculators":
        return _speculators_config(c, dtype, target)
    config = _llama_config(c, dtype)
    if dialect == "eagle1":
        # Without "bias" fc has one, for the authors too; SGLang takes a true one for attention's.
        bias = {} if c.fc_bias else {"bias": False}
        return config | bias | ({"qkv_bias": True} if c.qkv_bias else {})
    config |= {
        "architectures": ["LlamaForCausalLMEagle3"],
        "draft_vocab_size": c.draft_vocab,
        "num_aux_hidden_states": len(c.aux_layers),  # SGLang's fc is of so many, or three
    }
    if c.target_hidden != c.hidden:
        config["target_hidden_size"] = c.target_hidden
    aux: dict[str, Any] = {"use_aux_hidden_state": True}
    if 0 not in c.aux_layers:
        aux[AUX_LAYERS_KEY] = [layer - 1 for layer in c.aux_layers]  # outputs
    if dialect == "eagle3":  # vLLM reads inputs at the top, SGLang and SpecForge outputs within
        return config | {AUX_LAYERS_KEY: list(c.aux_layers), "eagle_config": aux}
    aux |= {
        "use_input_layernorm_in_first_layer": True,
        "use_last_layernorm": True,
        "use_mtp_layernorm": False,
        "next_layer_regular": True,
    }
    bias = {"attention_bias": c.qkv_bias, "mlp_bias": c.mlp_bias}
    return config | bias | {"eagle_config": aux}


def _llama_config(c: EagleConfig, dtype: str) -> dict[str, Any]:
    """The config in the form of transformers 4, which 5 reads as well."""
    rope = {k: v for k, v in c.rope.items() if k != "rope_theta"}
    kind = rope["rope_type"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": c.activation,
        "hidden_size": c.hidden,
        "intermediate_size": c.intermediate,
        "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads,
        "head_dim": c.head_dim,
        "num_hidden_layers": c.layers,
        "max_position_embeddings": c.max_positions,
        "rms_norm_eps": c.norm_eps,
        "rope_theta": c.rope["rope_theta"],
        "rope_scaling": None if kind == "default" else rope | {"type": kind},  # "type": SafeAILab
        "tie_word_embeddings": False,
        "torch_dtype": dtype,
        "vocab_size": c.vocab,
    }


def _speculators_config(c: EagleConfig, dtype: str, target: str) -> dict[str, Any]:
    layer = _llama_config(c, dtype)
    del layer["architectures"]
    layer |= {"attention_bias": c.qkv_bias, "mlp_bias": c.mlp_bias}
    layer["num_aux_hidden_states"] = len(c.aux_layers)  # vLLM's fc is of so many, or three
    greedy = {
        "proposal_type": "greedy",
        "speculative_tokens": SPECULATIVE_TOKENS,
        "verifier_accept_k": 1,
        "accept_tolerance": 0.0,
    }
    return {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_version": "0.9.0",
        "draft_vocab_size": c.draft_vocab,
        "target_hidden_size": None if c.target_hidden == c.hidden else c.target_hidden,
        AUX_LAYERS_KEY: list(c.aux_layers),
        "norm_before_residual": c.norm_before_residual,
        "norm_before_fc": c.norm_before_fc,
        "fc_norm": c.fc_norm,
        "norm_output": c.norm_output,
        "torch_dtype": dtype,
        "transformer_layer_config": layer | ({"model_type": "qwen3"} if c.qk_norm else {}),
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [greedy],
            "verifier": {
                "name_or_path": target,
                "architectures": read_config(Path(target)).get("architectures") or [],
            },
        },
    }
