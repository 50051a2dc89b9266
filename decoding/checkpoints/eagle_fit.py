"""Checks that an EAGLE head fits a target: the layers that it reads and its vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from decoding.checkpoints.dialects import AUX_LAYERS_KEY, EagleVersion
from decoding.checkpoints.eagle import EagleConfig, draft_tokens
from decoding.errors import InputError

if TYPE_CHECKING:
    from decoding.model.target import Target


# Targets for which SGLang reads the ids within eagle_config as inputs, unless the first is 1.
_NESTED_INPUTS = ("deepseek", "kimi", "glm4_moe_lite")


@dataclass(frozen=True, slots=True)
class TargetShape:
    """What a head must fit: the width of the target's features, its logits, its layers, its kind,
    and the width of its layers' inputs (None: as the features)."""

    hidden: int
    vocab: int
    layers: int
    model_type: str = ""
    layer_width: int | None = None

    @classmethod
    def of(cls, target: Target) -> TargetShape:
        return cls(
            target.hidden_size,
            target.vocab_size,
            target.num_layers,
            target.config.model_type,
            target.layer_width,
        )

    def width_read_by(self, version: EagleVersion) -> int:
        """Return the width of each feature that such a head reads."""
        return self.hidden if version == "eagle1" else self.layer_width or self.hidden


def sglang_reads_layers(head: EagleConfig, model_type: str) -> bool:
    """Whether SGLang reads the layers that our config names as outputs for such a target."""
    return not model_type.startswith(_NESTED_INPUTS) or head.aux_layers[:1] in ((), (2,))


def other_model(folder: Path, what: str) -> InputError:
    return InputError(f"{folder}: the draft {what}: it was made for another model")


def matrix(folder: Path, tensors: Mapping[str, Tensor], name: str) -> tuple[int, int]:
    """Return the shape of a matrix. Raises InputError if it is missing or not a matrix."""
    tensor = tensors.get(f"{name}.weight")
    if tensor is None or tensor.dim() != 2:
        shape = "" if tensor is None else f", it is {list(tensor.shape)}"
        raise InputError(f"{folder}: the EAGLE head lacks a matrix {name}.weight{shape}")
    return tensor.shape[0], tensor.shape[1]


def find_aux_layers(
    folder: Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    target: TargetShape,
    modelopt: bool,
) -> tuple[tuple[int, ...], list[str]]:
    """Return the layers whose inputs an EAGLE-3 head reads, low to high (engines collect them in
    that order, whatever the config's), and notes for the user on how they were found.

    ModelOpt and TensorRT-LLM count layer outputs, from 0; output i is the input of layer i + 1.
    vLLM and speculators count inputs and name them at the top level. SGLang and SpecForge take ids
    within eagle_config for outputs; with models of DeepSeek's kind only where the first is 1,
    because heads for these name inputs. Being off by one costs most of the acceptance.
    """
    eagle = config.get("eagle_config") or {}
    if eagle.get("use_aux_hidden_state") is False:
        raise InputError(
            f"{folder}: a draft of the last hidden state (use_aux_hidden_state is false in its "
            "config.json) is not supported; only EAGLE-3 over several layers is"
        )
    key, layers = AUX_LAYERS_KEY, target.layers
    inputs, nested = config.get(key) or [], eagle.get(key) or []
    named = inputs or nested
    if not isinstance(named, list) or not all(type(i) is int for i in named):
        raise InputError(f"{folder}: {key} in config.json must be a list of numbers")
    as_inputs = target.model_type.startswith(_NESTED_INPUTS) and nested[:1] != [1]
    outputs = not inputs and bool(nested) and (modelopt or not as_inputs)
    ids = named or [2, layers // 2, layers - 3]
    aux_layers = tuple(sorted({i + outputs for i in ids}))
    if aux_layers[0] < 0 or aux_layers[-1] >= layers:
        raise other_model(
            folder,
            f"reads the inputs of layers {list(aux_layers)}, this target has 0 to {layers - 1}",
        )
    width = len(aux_layers) * target.width_read_by("eagle3")
    _check_fused(folder, tensors, width, len(aux_layers))
    if outputs:
        return aux_layers, [f"aux layers {ids} are outputs, read as inputs {list(aux_layers)}"]
    if not named:
        return aux_layers, [f"aux layers not named, taken to be {list(aux_layers)}"]
    if not inputs and ids != [2, layers // 2, layers - 3]:
        return aux_layers, [
            f"aux layers {ids} read as inputs, as SGLang does with models of DeepSeek's kind"
        ]
    if ids == [1, layers // 2 - 1, layers - 4]:  # ModelOpt's defaults, copied without adding 1
        return aux_layers, [f"aux layers {ids} read as inputs, though they look like outputs"]
    return aux_layers, []


def _check_fused(folder: Path, tensors: Mapping[str, Tensor], width: int, layers: int) -> None:
    """Check the width of a head without fc, which must be that of all aux hidden states
    together."""
    if "fc.weight" not in tensors and width == matrix(folder, tensors, "self_attn.o_proj")[0]:
        return
    fused = matrix(folder, tensors, "fc")[1]
    if fused != width:
        raise other_model(
            folder, f"fuses {fused} features (fc), {layers} layers of this target have {width}"
        )


def draft_vocabulary(
    folder: Path, tensors: Mapping[str, Tensor], vocab: int
) -> tuple[int, Tensor | None]:
    """Return the number of rows of an EAGLE-3 head's lm_head and, unless they are the target's
    `vocab` in order, d2t int64 [rows]: the offset from each row to its token."""
    rows = matrix(folder, tensors, "lm_head")[0]
    d2t, t2d = tensors.get("d2t"), tensors.get("t2d")
    if t2d is not None and t2d.numel() != vocab:
        raise other_model(folder, f"knows {t2d.numel()} tokens (t2d), this target has {vocab}")
    if rows > vocab:
        raise other_model(folder, f"has {rows} logits (lm_head), this target {vocab}")
    if rows == vocab and (d2t is None or not d2t.any()):
        return rows, None
    if d2t is None or tuple(d2t.shape) != (rows,):
        found = "is missing" if d2t is None else f"is {list(d2t.shape)}"
        raise InputError(
            f"{folder}: d2t {found}; with {rows} rows in lm_head for the target's {vocab} tokens "
            f"it must be [{rows}]"
        )
    d2t = d2t.long()
    ids = draft_tokens(d2t).sort().values
    outside = ids[(ids < 0) | (ids >= vocab)]
    if len(outside):
        raise other_model(folder, f"names token {int(outside[-1])} (d2t), this target has {vocab}")
    if (ids[1:] == ids[:-1]).any():
        raise InputError(f"{folder}: d2t gives two rows of lm_head the same token")
    if t2d is not None and not torch.equal(t2d.nonzero()[:, 0], ids):
        raise InputError(f"{folder}: t2d marks other tokens than d2t names")
    return rows, d2t
