"""Makes untrained EAGLE heads for a target of any architecture."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from decoding.checkpoints.dialects import EagleVersion
from decoding.checkpoints.eagle import EagleConfig, EagleWeights, offsets_to
from decoding.errors import InputError, ParameterError
from decoding.model.architecture import decoder_of, layers_of
from decoding.model.llama_shaped import NORM_OFFSETS
from decoding.model.output_head import scaled_lm_head
from decoding.training.conversations import IGNORED, Example
from decoding.training.draft_attach import largest_columns

_HEAD_DIM = 128  # where the target has no attention
_FC = 0.5  # standard deviation of a new fc relative to the other matrices


def frequent_tokens(
    data: Iterable[Example], vocab: int, count: int, always: Collection[int] = ()
) -> Tensor | None:
    """Return the `count` most frequent supervised ids of `data`, including all of `always` (the
    end-of-sequence tokens), sorted, int64 [count]; None if that is the whole vocabulary.

    The rest is filled up with ids that never occur, the lowest first. Raises InputError if `count`
    is too small for the end-of-sequence tokens, or larger than the vocabulary."""
    if count > vocab:
        raise ParameterError(
            "draft_vocab", f" {count}: the target has {vocab} tokens, give as many for all, or less"
        )
    if count == vocab:
        return None
    if count <= len(set(always)):
        raise InputError(f"a draft vocabulary of {count} tokens: more are needed to end an answer")
    seen = Counter(label for example in data for label in example.labels if label != IGNORED)
    ranked = sorted(range(vocab), key=lambda token: (token not in always, -seen[token], token))
    return torch.tensor(sorted(ranked[:count]))


def default_aux_layers(layers: int) -> tuple[int, ...]:
    """EAGLE-3's choice: the inputs of layers 2, L//2 and L-3 (counted from 0)."""
    if layers < 7:
        raise ParameterError(
            "aux_layers",
            f": the target has {layers} layers, and EAGLE-3's three features coincide below 7: say "
            "which layers' inputs to read, such as 1,2,3",
        )
    return 2, layers // 2, layers - 3


def attach_eagle(
    target: PreTrainedModel,
    version: EagleVersion,
    draft_vocab: Tensor | None = None,
    aux_layers: Sequence[int] | None = None,
    *,
    seed: int = 0,
    mlp: int | None = None,
    own_layers: int = 1,
    width: int | None = None,
    fc_bias: bool = True,
) -> EagleWeights:
    """Return an untrained EAGLE head: a Llama layer with the target's sizes, or `mlp` inside its
    MLP; for EAGLE-3 `own_layers` of them, with hidden states of `width`. A narrower head has an
    embedding and an lm_head of its own, the target's along their principal directions. `fc_bias`:
    EAGLE-1 has a bias in fc.

    `draft_vocab` int64 [n]: the target's ids in an EAGLE-3 head's vocabulary (None: all);
    `aux_layers`: the layers whose inputs it reads (None: `default_aux_layers`). It begins with the
    target's lm_head and final norm, and its layers as the last ones of a Llama-shaped target.
    Raises InputError if the target has no such layers.
    """
    eagle3 = version == "eagle3"
    lm_head = scaled_lm_head(target)
    vocab, hidden = lm_head.shape
    base: Any = target.config.get_text_config(decoder=True)
    heads = int(getattr(base, "num_attention_heads", None) or max(hidden // _HEAD_DIM, 1))
    intermediate = mlp or getattr(base, "intermediate_size", None)
    read = int(base.hidden_size) if eagle3 else hidden
    chosen = _layers_to_read(target, aux_layers) if eagle3 else ()
    if draft_vocab is not None and not eagle3:
        raise InputError("EAGLE-1 asks the target's own lm_head: it has no draft vocabulary")
    if width is not None and (width > hidden or width % heads):
        raise ParameterError(
            "width",
            f" {width}: the target's hidden states are {hidden} wide, of {heads} heads; give a "
            f"multiple of {heads} below that",
        )
    config = EagleConfig(
        version=version,
        target_hidden=read,
        hidden=width or hidden,
        intermediate=intermediate if isinstance(intermediate, int) else 4 * hidden,
        heads=heads,
        kv_heads=int(getattr(base, "num_key_value_heads", None) or heads),
        # not as an attribute, which Gemma 4 refuses, as its layers differ
        head_dim=int(vars(base).get("head_dim") or hidden // heads),
        vocab=vocab,
        draft_vocab=vocab if draft_vocab is None else len(draft_vocab),
        layers=own_layers,
        aux_layers=chosen,
        rope={"rope_type": "default", "rope_theta": _rope_theta(base)},
        norm_eps=float(getattr(base, "rms_norm_eps", None) or 1e-6),
        max_positions=int(getattr(base, "max_position_embeddings", 2048)),
        fc=not eagle3 or len(chosen) * read != (width or hidden),
        fc_bias=not eagle3 and fc_bias,
    )
    tensors = _untrained(config, target, lm_head, draft_vocab, seed)
    return EagleWeights("untrained", config, tensors)


def _layers_to_read(target: PreTrainedModel, aux_layers: Sequence[int] | None) -> tuple[int, ...]:
    """The layers whose inputs an EAGLE-3 head reads, in order."""
    if aux_layers is None:
        layers = int(target.config.get_text_config(decoder=True).num_hidden_layers)
        return default_aux_layers(layers)
    chosen = tuple(sorted(set(aux_layers)))
    require_layers(chosen, target)
    return chosen


def require_layers(chosen: Sequence[int], target: PreTrainedModel) -> None:
    """Raise InputError for aux layers that the target lacks, or none at all."""
    layers = int(target.config.get_text_config(decoder=True).num_hidden_layers)
    if not chosen or not all(0 <= layer < layers for layer in chosen):
        raise InputError(f"aux layers {list(chosen)}: the target has layers 0 to {layers - 1}")


def _untrained(
    config: EagleConfig,
    target: PreTrainedModel,
    lm_head: Tensor,
    draft_vocab: Tensor | None,
    seed: int,
) -> dict[str, Tensor]:
    """The weights of an untrained head. `lm_head` [V, H]: as `scaled_lm_head` gives it."""
    hidden = lm_head.shape[1]
    narrow = config.hidden < hidden
    scale = _final_scale(target, hidden)
    through = _to_features(target, config.target_hidden, hidden)
    if narrow:
        directions = _principal(lm_head * scale, config.hidden)
        lm_head, through = lm_head * scale @ directions, directions.T @ through
        # The norm divides by the length over the root of the width.
        scale = torch.full((config.hidden,), math.sqrt(hidden / config.hidden))
    tensors = _fresh(config, seed, through)
    if config.version == "eagle1":
        return tensors
    if not narrow:
        _begin_as_last_layers(tensors, config, target)
    tensors["lm_head.weight"] = lm_head if draft_vocab is None else lm_head[draft_vocab]
    tensors["norm.weight"] = scale
    if narrow:
        table: Any = target.get_input_embeddings().weight
        embedding: Tensor = table.detach().float().cpu()[: config.vocab]
        tensors["embed_tokens.weight"] = embedding @ _principal(embedding, config.hidden)
    if draft_vocab is not None:
        tensors["d2t"] = offsets_to(draft_vocab.cpu())
    return tensors


def _begin_as_last_layers(
    tensors: dict[str, Tensor], config: EagleConfig, target: PreTrainedModel
) -> None:
    """Let the layers of an untrained EAGLE-3 head of the target's width begin as the last ones of a
    Llama-shaped target, from where some learn in fewer steps: the last feature passes through them
    as in the target. What reads the embedding stays random, and so do queries and keys that the
    target normalizes. Smaller MLPs have the channels with the largest weights. Does nothing for
    other or quantized targets."""
    offset = NORM_OFFSETS.get(type(target))
    if offset is None:
        return
    for index, layer in enumerate(layers_of(target)[1][-config.layers :]):
        prefix = f"layers.{index}." if index else ""
        theirs = {name: p.detach().float().cpu() for name, p in layer.named_parameters()}
        norm = f"{prefix}input_layernorm.weight" if index else "hidden_norm.weight"
        tensors[norm] = theirs["input_layernorm.weight"] + offset
        norm = "post_attention_layernorm.weight"
        tensors[prefix + norm] = theirs[norm] + offset
        copied = {f"self_attn.{name}_proj.weight" for name in "qkvo"}
        if "self_attn.q_norm.weight" in theirs:
            copied -= {"self_attn.q_proj.weight", "self_attn.k_proj.weight"}
        names = [f"mlp.{name}_proj.weight" for name in ("gate", "up", "down")]
        gate, up, down = (theirs.get(name, torch.empty(0, 1)) for name in names)
        if gate.shape == up.shape == down.T.shape:
            kept = largest_columns(torch.cat([gate.T, up.T, down]), config.intermediate)
            theirs |= dict(zip(names, (gate[kept], up[kept], down[:, kept]), strict=True))
            copied |= set(names)
        for name in copied:
            own, weight = tensors[prefix + name], theirs.get(name)
            if weight is not None and len(weight) == len(own):  # neither fused nor packed
                own[:, -weight.shape[1] :] = weight


def _principal(rows: Tensor, count: int) -> Tensor:
    """The `count` orthogonal directions [H, count] along which rows [V, H] are longest."""
    vectors: Tensor = torch.linalg.eigh(rows.T @ rows).eigenvectors
    return vectors[:, -count:]


def _fresh(config: EagleConfig, seed: int, through: Tensor) -> dict[str, Tensor]:
    """All but the embedding, the final norm and the lm_head. `through` [H, width of a feature]: how
    the target's last feature becomes the head's hidden state."""
    c = config
    generator = torch.Generator().manual_seed(seed)

    def random(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=generator) / math.sqrt(columns)

    eagle3 = c.version == "eagle3"
    fused = len(c.aux_layers) * c.target_hidden if eagle3 else 2 * c.hidden

    def layer(prefix: str, width: int) -> dict[str, Tensor]:
        return {
            f"{prefix}self_attn.q_proj.weight": random(c.heads * c.head_dim, width),
            f"{prefix}self_attn.k_proj.weight": random(c.kv_heads * c.head_dim, width),
            f"{prefix}self_attn.v_proj.weight": random(c.kv_heads * c.head_dim, width),
            f"{prefix}self_attn.o_proj.weight": random(c.hidden, c.heads * c.head_dim),
            f"{prefix}mlp.gate_proj.weight": random(c.intermediate, c.hidden),
            f"{prefix}mlp.up_proj.weight": random(c.intermediate, c.hidden),
            f"{prefix}mlp.down_proj.weight": random(c.hidden, c.intermediate),
            f"{prefix}post_attention_layernorm.weight": torch.ones(c.hidden),
        }

    tensors = layer("", 2 * c.hidden if eagle3 else c.hidden)
    if c.fc:
        # The last feature passes through at the start, as it is the most useful one.
        fc = _FC * random(c.hidden, fused)
        fc[:, -c.target_hidden :] += through
        tensors["fc.weight"] = fc
    if c.fc_bias:
        tensors["fc.bias"] = torch.zeros(c.hidden)
    if eagle3:
        tensors |= {
            f"{name}.weight": torch.ones(c.hidden) for name in ("input_layernorm", "hidden_norm")
        }
    for index in range(1, c.layers):
        prefix = f"layers.{index}."
        norm = {f"{prefix}input_layernorm.weight": torch.ones(c.hidden)}
        tensors |= layer(prefix, c.hidden) | norm
    return tensors


def _rope_theta(config: Any) -> float:
    """The base of the target's rotary embedding (of full attention, if layers differ); 10000 if it
    has none."""
    rope = getattr(config, "rope_parameters", None) or {}
    rope = rope.get("full_attention", rope)
    return float(rope.get("rope_theta", 10000.0))


def _to_features(target: PreTrainedModel, width: int, hidden: int) -> Tensor:
    """The matrix [hidden, width] that makes the features for the lm_head of the layers' states:
    that of the linear after the last layer where the widths differ (OPT), zeros if there is
    none."""
    if width == hidden:
        return torch.eye(hidden)
    for module in decoder_of(target).children():
        if isinstance(module, nn.Linear) and module.weight.shape == (hidden, width):
            return module.weight.detach().float().cpu()
    return torch.zeros(hidden, width)


def _final_scale(target: PreTrainedModel, hidden: int) -> Tensor:
    """The scale of each channel [hidden] in the target's final norm, of any kind (Gemma's stores
    the scale minus one, LayerNorm adds a bias); ones if there is no such norm."""
    norms = [
        module
        for module in decoder_of(target).children()
        if isinstance(weight := getattr(module, "weight", None), nn.Parameter)
        and weight.shape == (hidden,)
    ]
    if not norms or hidden % 2:
        return torch.ones(hidden)
    norm: Any = norms[-1]
    # has mean 0 and mean square 1, so that any norm only scales it
    probe = norm.weight.new_tensor([1.0, -1.0]).repeat(hidden // 2)
    with torch.no_grad():
        scale: Tensor = (norm(probe) - norm(-probe)) / 2 * probe
    return scale.float().cpu()
