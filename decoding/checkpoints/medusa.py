"""Medusa heads in every common dialect. Cai et al. 2024 (2401.10774).

| dialect   | who writes it              | tensors                                                |
|-----------|----------------------------|--------------------------------------------------------|
| v0.1      | the authors                | {i}.{j}.linear.weight/.bias, {i}.{L}.weight            |
| merged    | the authors, Medusa-2      | medusa_head. before the same                           |
| v2        | TGI ("version": "2")       | {i}.{j}.linear.*; the target's lm_head is used         |
| modelopt  | ModelOpt, Megatron         | medusa_heads. before the same as v0.1                  |
| trtllm    | ModelOpt's TensorRT export | medusa_heads.{i}.medusa_layers.{j}.linear.*, .lm_head  |
| vllm      | vLLM                       | blocks.{i}.layers.{j}.*, lm_heads.{i}.weight, token_map|

Numbers of heads and layers are taken from the tensors, because published configs are often wrong.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from decoding.checkpoints.dialects import (
    MEDUSA_NAMES,
    MedusaDialect,
    is_whole_model,
    medusa_dialect,
)
from decoding.checkpoints.draft_settings import CHOICES_KEY, medusa_choices, with_choices
from decoding.checkpoints.files import (
    read_config,
    read_tensors,
    require_finite,
    write_checkpoint,
    write_model,
)
from decoding.errors import InputError
from decoding.trees.static import Choices

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

WRITABLE: tuple[MedusaDialect, ...] = ("v0.1", "v2", "vllm")
_HEAD_TENSOR = re.compile(r"medusa_heads?\.|blocks\.|lm_heads\.|token_map$|\d+\.")


@dataclass(slots=True, eq=False)
class MedusaWeights:
    """k heads of L residual layers each.

    `weights` [k, L, H, H], `biases` [k, L, H]; `lm_heads` [k, V, H], or None if the target's is
    shared; `token_map` [V'] gives the target id of each row of a truncated lm_head. `accuracy`
    [k][ranks]: how often a head's guess of that rank is right on held-out data; empty if not
    measured. `choices`: the tree to draft, () if none is named.
    """

    dialect: MedusaDialect
    weights: Tensor
    biases: Tensor
    lm_heads: Tensor | None = None
    token_map: Tensor | None = None
    accuracy: tuple[tuple[float, ...], ...] = ()
    choices: Choices = ()

    def save_pretrained(self, folder: str | Path, target: str = "") -> None:
        """Write the heads for the model called `target`, as v2 if they have no lm_heads, as vllm
        if these are truncated, else as v0.1, for `Medusa.from_pretrained`."""
        own: MedusaDialect = "v0.1" if self.token_map is None else "vllm"
        write_medusa(self, Path(folder), "v2" if self.lm_heads is None else own, target)

    @property
    def heads(self) -> int:
        return self.weights.shape[0]

    @property
    def layers(self) -> int:
        return self.weights.shape[1]

    @property
    def hidden(self) -> int:
        return self.weights.shape[2]


def read_medusa(folder: Path, hidden: int, vocab: int) -> MedusaWeights:
    """Heads for a target of `hidden` width and `vocab` logits, from a folder of any dialect.

    Raises InputError with the name of a tensor that is missing, unknown or has a wrong shape.
    """
    config = read_config(folder)
    tensors = read_tensors(folder, lambda name: _HEAD_TENSOR.match(name) is not None)
    require_medusa(folder, tensors)
    require_finite(folder, tensors)
    token_map = tensors.pop("token_map", None)
    dialect, residual, own = _sort(folder, tensors, config)
    if token_map is not None:
        _check_token_map(folder, token_map, vocab)
    rows = vocab if token_map is None else len(token_map)
    _check_shapes(folder, residual, own, hidden, rows)
    heads = 1 + max(i for i, _, _ in residual)
    layers = 1 + max(j for _, j, _ in residual)

    def stack(part: str, missing: Tensor | None) -> Tensor:
        def tensor(i: int, j: int) -> Tensor:
            found = residual.get((i, j, part), missing)
            if found is None:
                raise InputError(f"{folder}: head {i}, layer {j} has no {part}")
            return found

        return torch.stack(
            [torch.stack([tensor(i, j) for j in range(layers)]) for i in range(heads)]
        )

    if own and len(own) == 1 and heads > 1:  # vLLM's original_lm_head: one for all heads
        own = dict.fromkeys(range(heads), next(iter(own.values())))
    lost = next((i for i in range(heads) if own and i not in own), None)
    if lost is not None:
        raise InputError(f"{folder}: head {lost} has no lm_head, others have")
    return MedusaWeights(
        dialect,
        stack("weight", None),
        # vLLM leaves biases out unless medusa_fc_bias is set
        stack("bias", torch.zeros(hidden) if dialect == "vllm" else None),
        torch.stack([own[i] for i in range(heads)]) if own else None,
        token_map,
        _accuracy(folder, config, heads),
        medusa_choices(folder, config),
    )


def require_medusa(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError unless tensors of heads are among those of these names."""
    if not any(map(_HEAD_TENSOR.match, set(names) - {"token_map"})):
        raise InputError(f"{folder} holds no Medusa heads (no tensor like 0.0.linear.weight)")


def is_merged(folder: Path) -> bool:
    """Return whether a folder with Medusa heads is a whole model with them in it (Medusa-2,
    ModelOpt)."""
    return folder.is_dir() and is_whole_model(read_config(folder))


def write_medusa(
    heads: MedusaWeights,
    folder: Path,
    dialect: MedusaDialect,
    target: str,
    *,
    pickled: bool = True,
) -> None:
    """Write `heads` for `target` (its name goes into the config). Heads without their own lm_heads
    can only be written as `v2`, and others can't; only `vllm` can truncate lm_heads. `pickled`:
    v0.1 in a .pt file, as its authors have it. Raises InputError.
    """
    if dialect not in WRITABLE:
        raise InputError(f"can't write the dialect {dialect}; choose from {', '.join(WRITABLE)}")
    if (dialect == "v2") != (heads.lm_heads is None):
        has = (
            "share the target's lm_head" if heads.lm_heads is None else "have lm_heads of their own"
        )
        raise InputError(f"these heads {has}, which the dialect {dialect} can't express")
    if heads.token_map is not None and dialect != "vllm":
        raise _truncated(dialect)
    shared = dialect == "vllm" and _have_one_lm_head(heads)
    if dialect == "v0.1" and not pickled and heads.lm_heads is not None:
        # Safetensors takes no tensors that share memory.
        heads = replace(heads, lm_heads=heads.lm_heads.contiguous())
    named = {
        name: tensor.contiguous()
        for i in range(heads.heads)
        for name, tensor in _named(heads, i, dialect)
        if not (shared and i and name.startswith("lm_heads."))
    }
    if heads.token_map is not None:
        named["token_map"] = heads.token_map
    config = {**_config(heads, dialect, target, shared), "medusa_accuracy": heads.accuracy}
    files = {
        "v0.1": "medusa_lm_head.pt" if pickled else "medusa_lm_head.safetensors",
        "v2": "medusa_lm_head.safetensors",
    }
    config = with_choices(config, heads.choices)
    write_checkpoint(folder, files.get(dialect, "model.safetensors"), named, config)


def write_merged(
    heads: MedusaWeights,
    folder: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    dialect: Literal["merged", "modelopt"] = "merged",
) -> None:
    """Write a whole model together with its heads, in the model's precision. Programs without
    Medusa load the bare model from it.

    Raises InputError for heads without their own lm_heads of the whole vocabulary: these dialects
    know no others.
    """
    if heads.lm_heads is None:
        raise InputError(f"these heads share the target's lm_head, which {dialect} can't express")
    if heads.token_map is not None:
        raise _truncated(dialect)
    prefix = "medusa_head" if dialect == "merged" else "medusa_heads"
    tensors = {
        f"{prefix}.{name}": tensor.to(model.dtype, copy=True)  # a copy: no shared storage
        for i in range(heads.heads)
        for name, tensor in _named(heads, i, "v0.1")
    }
    sizes: dict[str, Any] = {
        "medusa_num_heads": heads.heads,
        "medusa_num_layers": heads.layers,
    }
    architecture = None
    if dialect == "modelopt":
        counts = {"num_medusa_heads": heads.heads, "num_medusa_layers": heads.layers}
        sizes, architecture = {"medusa": counts}, f"Medusa{type(model).__name__}"
    own = model.config
    model.config = copy.deepcopy(own)
    model.config.update(sizes | {"medusa_accuracy": heads.accuracy, CHOICES_KEY: heads.choices})
    try:
        write_model(folder, model, tokenizer, tensors, architecture)
    finally:
        model.config = own


def _truncated(dialect: MedusaDialect) -> InputError:
    return InputError(
        f"these heads know a part of the vocabulary (token_map), which the dialect {dialect} can't "
        "express"
    )


def _named(heads: MedusaWeights, i: int, dialect: MedusaDialect) -> list[tuple[str, Tensor]]:
    """Head i's tensors under the dialect's names."""
    named = []
    for j in range(heads.layers):
        stem = f"blocks.{i}.layers.{j}" if dialect == "vllm" else f"{i}.{j}.linear"
        named += [(f"{stem}.weight", heads.weights[i, j]), (f"{stem}.bias", heads.biases[i, j])]
    if heads.lm_heads is not None:
        own = f"lm_heads.{i}.weight" if dialect == "vllm" else f"{i}.{heads.layers}.weight"
        named.append((own, heads.lm_heads[i]))
    return named


def _have_one_lm_head(heads: MedusaWeights) -> bool:
    """Whether the lm_heads of several heads are all the same."""
    own = heads.lm_heads
    return own is not None and len(own) > 1 and all(torch.equal(own[0], each) for each in own[1:])


def _config(
    heads: MedusaWeights, dialect: MedusaDialect, target: str, shared: bool
) -> dict[str, Any]:
    if dialect != "vllm":
        config: dict[str, Any] = {
            "medusa_num_heads": heads.heads,
            "medusa_num_layers": heads.layers,
            "base_model_name_or_path": target,
        }
        return config | ({"version": "2"} if dialect == "v2" else {})
    assert heads.lm_heads is not None
    rows = heads.lm_heads.shape[1]
    return {
        "model_type": "medusa",
        "architectures": ["MedusaModel"],
        "hidden_size": heads.hidden,
        "vocab_size": rows if heads.token_map is None else int(heads.token_map.max()) + 1,
        "truncated_vocab_size": rows,
        "num_heads": heads.heads,
        "num_hidden_layers": heads.layers,
        "medusa_fc_bias": True,  # vLLM drops the biases without it
        "original_lm_head": shared,  # of all heads, the first one's
    }


def _sort(
    folder: Path, tensors: Mapping[str, Tensor], config: Mapping[str, Any]
) -> tuple[MedusaDialect, dict[tuple[int, int, str], Tensor], dict[int, Tensor]]:
    """The dialect of the names, and the tensors by head, layer and part."""
    dialect = medusa_dialect(tensors)
    if dialect is None:
        raise InputError(f"{folder}: tensor {min(tensors)} belongs to no known Medusa dialect")
    residual_name, own_name = MEDUSA_NAMES[dialect]
    residual: dict[tuple[int, int, str], Tensor] = {}
    own: dict[int, Tensor] = {}
    unknown = []
    for name, tensor in tensors.items():
        if match := residual_name.fullmatch(name):
            residual[int(match[1]), int(match[2]), match[3]] = tensor
        elif match := own_name.fullmatch(name):
            own[int(match[1])] = tensor
        else:
            unknown.append(name)
    if unknown:
        raise InputError(f"{folder}: unknown tensor {min(unknown)} among {dialect} heads")
    if dialect == "v0.1" and (not own or str(config.get("version")) == "2"):
        dialect = "v2"
    return dialect, residual, own


def _check_shapes(
    folder: Path,
    residual: Mapping[tuple[int, int, str], Tensor],
    own: Mapping[int, Tensor],
    hidden: int,
    rows: int,
) -> None:
    for (i, j, part), tensor in residual.items():
        expected = (hidden, hidden) if part == "weight" else (hidden,)
        if tuple(tensor.shape) != expected:
            raise InputError(
                f"{folder}: head {i}, layer {j}, {part} is {list(tensor.shape)}, this target needs "
                f"{list(expected)}: the heads were made for another model"
            )
    for i, tensor in own.items():
        if tuple(tensor.shape) != (rows, hidden):
            raise InputError(
                f"{folder}: lm_head of head {i} is {list(tensor.shape)}, this target needs "
                f"{[rows, hidden]}: the heads were made for another model"
            )


def _check_token_map(folder: Path, token_map: Tensor, vocab: int) -> None:
    if token_map.dim() != 1 or token_map.is_floating_point():
        kind = str(token_map.dtype).removeprefix("torch.")
        raise InputError(
            f"{folder}: token_map is {kind} {list(token_map.shape)}, it must be a list of token ids"
        )
    outside = token_map[(token_map < 0) | (token_map >= vocab)]
    if len(outside):
        raise InputError(
            f"{folder}: token_map names token {int(outside[0])}, this target has {vocab}: the "
            "heads were made for another model"
        )


def _accuracy(folder: Path, config: Mapping[str, Any], heads: int) -> tuple[tuple[float, ...], ...]:
    table = config.get("medusa_accuracy") or ()
    try:
        found = tuple(tuple(float(x) for x in row) for row in table)[:heads]
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{folder}: medusa_accuracy must hold a row of numbers a head") from error
    if not all(0 <= x <= 1 for row in found for x in row):
        raise InputError(f"{folder}: medusa_accuracy must hold shares from 0 to 1")
    return found
