"""Makes small draft models from parts of a target of any architecture, to be trained."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from torch import Tensor, nn
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoModelForCausalLM, PreTrainedModel

from decoding.errors import InputError, ParameterError
from decoding.model.architecture import decoder_of, layers_of

# of configs: the indices of some layers
_LISTED = ("moe_layers", "mlp_only_layers", "attn_layer_indices")


def attach_draft(
    target: PreTrainedModel, layers: int, *, width: int | None = None, mlp: int | None = None
) -> PreTrainedModel:
    """Return a float32 model of the target's class (of a multimodal one, of its text model's) and
    vocabulary with `layers` of its layers, evenly spaced from the first to the last. If `width` (of
    the hidden states) or `mlp` (within the MLPs) is smaller than the target's (None: the same), the
    channels with the largest weights are kept. Raises InputError."""
    base: Any = target.config.get_text_config(decoder=True)
    depth, hidden = int(base.num_hidden_layers), int(base.hidden_size)
    inner = getattr(base, "intermediate_size", None)
    if mlp is not None and not isinstance(inner, int):
        raise ParameterError("mlp", ": the target's config.json names no intermediate_size")
    sizes = (("layers", layers, depth), ("width", width, hidden), ("mlp", mlp, inner))
    for name, wanted, most in sizes:
        if wanted is not None and most is not None and wanted > most:
            raise ParameterError(name, f" {wanted}: the target has {most}")
    chosen = _spread(layers, depth)
    embedding: Any = target.get_input_embeddings().weight
    kept: dict[int, Tensor] = {}
    if width is not None:
        if embedding.shape[1] != hidden:
            raise ParameterError(
                "width",
                f": the target embeds tokens in {embedding.shape[1]} channels, its layers have "
                f"{hidden}: only a draft with its width can be made, leave it out",
            )
        kept[hidden] = largest_columns(embedding, width)
    if target.config is not base:  # whose text config may say otherwise
        if type(base) not in MODEL_FOR_CAUSAL_LM_MAPPING:
            raise InputError(
                f"transformers has no text model of type {base.model_type} alone, which a draft of "
                f"a {target.config.model_type} would be: take a smaller model of its family"
            )
        base = copy.deepcopy(base)
        base.tie_word_embeddings = embedding is target.get_output_embeddings().weight
    draft: PreTrainedModel = _build(base, chosen, width, mlp)
    decoder = _name_of(target, decoder_of(target))
    prefix = f"{layers_of(target)[0].removeprefix(decoder)}."
    # not the parameters alone: some layers have a scale that is none
    target_weights = _within(decoder, target.state_dict(keep_vars=True))
    mine = _within(_name_of(draft, decoder_of(draft)), draft.state_dict(keep_vars=True))
    for name, parameter in mine.items():
        place = re.match(rf"{re.escape(prefix)}(\d+)\.", name)
        layer = f"{prefix}{chosen[int(place[1])]}." if place else ""
        source = target_weights.get(layer + name[place.end() :] if place else name)
        if source is None and not place:
            raise InputError(
                f"the target has no {name}, as a {draft.config.model_type} of its own would: no "
                "draft can be made of its layers, take a smaller model of its family"
            )
        if source is None:
            raise InputError(
                f"the target's {layer.rstrip('.')} has no {name}, as a draft of {layers} layers "
                "would: its layers are of several kinds, take another number"
            )
        channels = dict(kept)
        if place and mlp is not None and isinstance(inner, int):
            channels[inner] = _largest_of_layer(target_weights, layer, inner, mlp)
        with torch.no_grad():
            parameter.copy_(_cut(source.detach().float().cpu(), parameter.shape, channels, name))
    if target.generation_config is not None:
        draft.generation_config = copy.deepcopy(target.generation_config)
    return draft


def _name_of(model: PreTrainedModel, decoder: nn.Module) -> str:
    """The beginning of the names of all that a model's text decoder holds."""
    return next(f"{name}." for name, module in model.named_modules() if module is decoder)


def _within(decoder: str, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors by their names within the decoder, or else within the model: in a multimodal model
    the decoder is a part of another one than in a text model."""
    return {name.removeprefix(decoder): tensor for name, tensor in named.items()}


def _spread(layers: int, depth: int) -> list[int]:
    return [round(i * (depth - 1) / max(layers - 1, 1)) for i in range(layers)]


def _build(base: Any, chosen: Sequence[int], width: int | None, mlp: int | None) -> Any:
    config = copy.deepcopy(base)
    for name, value in base.to_dict().items():  # such as layer_types
        if isinstance(value, list) and len(value) == base.num_hidden_layers:
            setattr(config, name, [value[layer] for layer in chosen])
        if name in _LISTED and isinstance(value, list):
            setattr(config, name, [i for i, layer in enumerate(chosen) if layer in value])
    config.num_hidden_layers = len(chosen)
    config.hidden_size = width or base.hidden_size
    heads = getattr(config, "num_attention_heads", None)
    # Looked up first: as an attribute Gemma 4 refuses it, as its layers differ.
    named = vars(config).get("head_dim") or getattr(config, "head_dim", None)
    implied = bool(heads) and named is None
    if implied:  # by the width: but heads keep their size
        config.head_dim = base.hidden_size // heads
    if mlp is not None:
        config.intermediate_size = mlp
    try:
        config.validate()  # as saving does
        draft: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError, ArithmeticError, StrictDataclassError) as error:
        reason = error.__cause__ if isinstance(error, StrictDataclassError) else error
        raise InputError(f"no {config.model_type} can be built like that: {reason}") from error
    if implied and not any(
        getattr(module, "head_dim", None) == config.head_dim for module in draft.modules()
    ):  # some classes know only heads of the width's
        vars(draft.config).pop("head_dim")
    draft.eval()
    return draft


def largest_columns(matrix: Tensor, count: int) -> Tensor:
    """Return the indices, in order, of the `count` columns with the largest weights."""
    size = matrix.detach().float().cpu().square().sum(0)
    return size.topk(count).indices.sort().values


def _largest_of_layer(
    target_weights: Mapping[str, Tensor], layer: str, inner: int, count: int
) -> Tensor:
    matrices = [
        m for name, m in target_weights.items()
        if name.startswith(layer) and m.ndim == 2 and inner in m.shape
    ]  # fmt: skip
    if not matrices:  # in experts: the first ones
        return torch.arange(count)
    return largest_columns(torch.cat([m if m.shape[1] == inner else m.mT for m in matrices]), count)


def _cut(tensor: Tensor, shape: Sequence[int], channels: Mapping[int, Tensor], name: str) -> Tensor:
    """The part of `tensor` with the `channels`, which are given by the original size of the
    dimension; of `shape`."""
    # The largest size first: a matrix of the MLP may be as large as several hidden states.
    by_size = sorted(channels.items(), reverse=True, key=lambda pair: pair[0])
    for dim, wanted in enumerate(shape):
        for whole, kept in by_size:
            blocks, rest = divmod(tensor.shape[dim], whole)  # several where matrices are fused
            if tensor.shape[dim] != wanted and not rest and blocks * len(kept) == wanted:
                starts = torch.arange(blocks)[:, None] * whole
                tensor = tensor.index_select(dim, (starts + kept).flatten())
    if tensor.shape != torch.Size(shape):
        raise InputError(
            f"the target's {name} {list(tensor.shape)} can't be cut to {list(shape)}: convert a "
            "draft from a target that is not quantized, with its width"
        )
    return tensor
