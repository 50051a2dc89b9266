"""Reads an EAGLE head from a folder of any dialect.

| dialect     | who writes it                | the layer | aux layers, where its config names them |
|-------------|------------------------------|-----------|-----------------------------------------|
| eagle1      | SafeAILab, EAGLE-1 and 2     | layers.0. | none: it reads the final states         |
| eagle3      | SafeAILab, SpecForge, SGLang | midlayer. | in eagle_config: outputs if first is 1  |
| modelopt    | ModelOpt's export            | either    | in eagle_config: outputs                |
| speculators | speculators, for vLLM        | layers.0. | at the top: inputs                      |

Sizes are taken from the tensors, because published configs are often wrong; switches are the
config's. `EagleHead.build` checks that the tensors are complete and have the right shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor
from transformers.activations import ACT2FN

from decoding.checkpoints.dialects import (
    EAGLE_LAYER,
    EagleVersion,
    eagle3_dialect,
    eagle_layers,
    eagle_version,
    is_eagle_training,
    medusa_dialect,
)
from decoding.checkpoints.draft_settings import eagle_settings
from decoding.checkpoints.eagle import EagleConfig, EagleWeights
from decoding.checkpoints.eagle_fit import (
    TargetShape,
    draft_vocabulary,
    find_aux_layers,
    matrix,
    other_model,
)
from decoding.checkpoints.files import read_config, read_tensors, require_finite
from decoding.checkpoints.quantized import precision_of
from decoding.errors import InputError
from decoding.model.rope_settings import NEEDS, validate_rope

# Never loaded: whole models and other heads, speculators' copies from its verifier, tables.
_LEFT_OUT = re.compile(
    r"(model|transformer|eagle_module|medusa_heads?|\d+|blocks|lm_heads)\."
    r"|verifier_(norm|lm_head)\.|.*rotary_emb\.inv_freq$"
)


def read_eagle(folder: Path, target: TargetShape) -> EagleWeights:
    """Return the head in `folder` for `target`, its tensors in the dtype that they are stored in.

    Raises InputError if there is none, if it was made for another model, and for heads that
    are not supported (EAGLE-1's of several layers, drafts of the last hidden state).
    """
    try:
        return _read_eagle(folder, target)
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise InputError(
            f"{folder}: config.json holds something of the wrong type ({error}): fix it"
        ) from error


def _read_eagle(folder: Path, target: TargetShape) -> EagleWeights:
    config = read_config(folder)
    stored = _read(folder, config)
    layers = eagle_layers(stored)
    prefixes = {layer: f"layers.{i}." if i else "" for i, layer in enumerate(layers)}
    tensors = {
        EAGLE_LAYER.sub(lambda match: prefixes[match[1]], name, count=1): tensor
        for name, tensor in stored.items()
    }
    version: EagleVersion = eagle_version(stored) or "eagle1"
    eagle3 = version == "eagle3"
    dialect = eagle3_dialect(config) if eagle3 else "eagle1"
    layer = _layer_config(folder, config)
    hidden = _check_width(folder, tensors, target, eagle3)
    heads, kv_heads, head_dim = _heads(folder, layer, tensors)
    activation = str(layer.get("hidden_act") or "silu")
    if activation not in ACT2FN:
        raise InputError(f"{folder}: unknown hidden_act {activation} in config.json")
    aux_layers: tuple[int, ...] = ()
    notes: list[str] = []
    draft_vocab = target.vocab
    if eagle3:
        aux_layers, notes = find_aux_layers(folder, config, tensors, target, dialect == "modelopt")
        draft_vocab, d2t = draft_vocabulary(folder, tensors, target.vocab)
        tensors = {name: t for name, t in tensors.items() if name not in ("d2t", "t2d")}
        tensors |= {} if d2t is None else {"d2t": d2t}
    rope = _rope(folder, layer)
    if dialect == "modelopt" and rope["rope_type"] != "default":
        # Its exporter writes yarn although it trained with plain rope; engines follow the config.
        notes.append(f"rope_scaling {rope['rope_type']} obeyed")
    if precision := precision_of(config):
        notes.append(f"{precision} weights")
    if "sliding_attention" in (layer.get("layer_types") or ()):
        notes.append("sliding window ignored")
    qk_norms = {"self_attn.q_norm.weight", "self_attn.k_norm.weight"} & tensors.keys()
    found = EagleConfig(
        version=version,
        target_hidden=target.width_read_by(version),
        hidden=hidden,
        intermediate=matrix(folder, tensors, "mlp.gate_proj")[0],
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=target.vocab,
        draft_vocab=draft_vocab,
        layers=len(layers),
        aux_layers=aux_layers,
        activation=activation,
        norm_eps=float(layer.get("rms_norm_eps") or 1e-6),
        rope=rope,
        max_positions=int(layer.get("max_position_embeddings") or 2048),
        fc="fc.weight" in tensors,
        fc_bias=bool(config.get("bias", not eagle3)),
        qkv_bias=bool(layer.get("qkv_bias", layer.get("attention_bias"))),
        o_bias=bool(layer.get("attention_bias")),
        mlp_bias=bool(layer.get("mlp_bias")),
        qk_norm=bool(qk_norms) or (dialect == "speculators" and layer["model_type"] == "qwen3"),
        norm_before_residual=bool(config.get("norm_before_residual")),
        norm_before_fc=bool(config.get("norm_before_fc")),
        fc_norm=bool(config.get("fc_norm")),
        norm_output=bool(config.get("norm_output")),
        settings=eagle_settings(folder, config),
    )
    return EagleWeights(dialect, found, tensors, tuple(notes))


def _read(folder: Path, config: Mapping[str, Any]) -> dict[str, Tensor]:
    """The head's tensors, by the names in the file."""
    names: list[str] = []

    def wanted(name: str) -> bool:
        names.append(name)
        return not _LEFT_OUT.match(name)

    stored = read_tensors(folder, wanted)
    require_eagle(folder, names, config)
    require_finite(folder, stored)
    return stored


def require_eagle(folder: Path, names: Iterable[str], config: Mapping[str, Any]) -> None:
    """Raise InputError unless tensors of these names are those of a head that can be run."""
    names = list(names)
    if is_eagle_training(names):
        raise InputError(
            f"{folder} is a training checkpoint of ModelOpt, whose config.json says nothing about "
            "the draft: export it with ModelOpt's export_hf_checkpoint.py and give that folder"
        )
    if medusa_dialect(names):
        raise InputError(f"{folder} holds Medusa heads, no EAGLE head: give it as Medusa heads")
    kind = config.get("speculators_model_type", "eagle3")
    if kind != "eagle3":
        raise InputError(
            f"{folder} is a speculator of type {kind}, which is not supported; only eagle3 is"
        )
    layers = eagle_layers(name for name in names if not _LEFT_OUT.match(name))
    if not layers:
        raise InputError(
            f"{folder} holds no EAGLE head (no tensor like layers.0.self_attn.q_proj.weight)"
        )
    if len(layers) > 1 and eagle_version(names) is None:
        raise InputError(
            f"{folder}: the draft has {len(layers)} layers, and the first no hidden_norm as in "
            "EAGLE-3: EAGLE-1 of several layers is not supported"
        )


def _layer_config(folder: Path, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of the config about the layer, which speculators nests."""
    layer: Mapping[str, Any] = config.get("transformer_layer_config", config)
    if layer is not config and layer.get("model_type") not in ("llama", "qwen3"):
        raise InputError(
            f"{folder}: the draft's layer is of type {layer.get('model_type')}, which is not "
            "supported; only llama and qwen3 are"
        )
    return layer


def _check_width(
    folder: Path, tensors: Mapping[str, Tensor], target: TargetShape, eagle3: bool
) -> int:
    """The head's width; EAGLE-3 with its own embedding may differ from the target."""
    hidden = matrix(folder, tensors, "self_attn.o_proj")[0]
    own = "embed_tokens.weight" in tensors
    if hidden != target.hidden and not (own and eagle3):
        raise other_model(folder, f"is {hidden} wide, this target {target.hidden}")
    rows = matrix(folder, tensors, "embed_tokens")[0] if own else target.vocab
    if rows != target.vocab:
        raise other_model(folder, f"embeds {rows} tokens, this target has {target.vocab}")
    return hidden


def _heads(
    folder: Path, layer: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> tuple[int, int, int]:
    """Numbers of query and key heads, and their width, which only the config tells."""
    queries = matrix(folder, tensors, "self_attn.q_proj")[0]
    keys = matrix(folder, tensors, "self_attn.k_proj")[0]
    norm = tensors.get("self_attn.q_norm.weight")
    heads = int(layer.get("num_attention_heads") or 0)
    width = int(layer.get("head_dim") or (queries // heads if heads else 0))
    width = width if norm is None else norm.numel()
    if not width or queries % width or keys % width or not keys or queries % keys:
        raise InputError(
            f"{folder}: {queries} rows of q_proj and {keys} of k_proj don't make heads; fix "
            "num_attention_heads or head_dim in config.json"
        )
    return queries // width, keys // width, width


def _rope(folder: Path, layer: Mapping[str, Any]) -> dict[str, Any]:
    """The rope parameters in the form of transformers 5; 4 has rope_theta and rope_scaling instead.
    Without a base it is 10000, whatever the target's is."""
    given = layer.get("rope_parameters") or layer.get("rope_scaling") or {}
    kind = given.get("rope_type") or given.get("type") or "default"
    theta = given.get("rope_theta") or layer.get("rope_theta") or 10000.0
    rest = {k: v for k, v in given.items() if k not in ("rope_type", "type", "rope_theta")}
    part = rest.get("partial_rotary_factor") or layer.get("partial_rotary_factor") or 1
    if part != 1 or any(isinstance(value, dict) for value in rest.values()):
        raise InputError(
            f"{folder}: config.json asks for a rope over parts of a head or by kinds of layers, "
            "which is not supported; only one over the whole head is"
        )
    lost = [key for key in NEEDS.get(kind, ()) if key not in rest]
    if lost:
        raise InputError(f"{folder}: config.json lacks {lost[0]} for a rope of type {kind}")
    rope = {"rope_type": kind, "rope_theta": float(theta)} | (rest if kind != "default" else {})
    validate_rope(f"{folder}: config.json: rope", rope)
    return rope
