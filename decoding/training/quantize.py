"""Quantizes drafters with torchao, after training or with fake quantization during it (QAT).

Weight-only. int8 and fp8 have a scale per row; int4 has a scale and a zero point per 32 columns,
which takes a third off the squared error of a scale alone. With int4, embeddings and lm_heads, the
most sensitive matrices, keep 8 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from decoding.checkpoints.quantized import GROUP, Precision, dequantized, pack
from decoding.errors import InputError

_SENSITIVE = re.compile(r"embed|wte|lm_head|(medusa_heads?\.)?\d+\.\d+\.weight$")
_INT4: torch.dtype = torch.int4  # type: ignore[attr-defined]
_SCALE = torch.bfloat16  # of int4: half the bytes of float32, and no scale is too small for it
FakeQuantize = Callable[[Tensor], Tensor]


def quantize(tensors: Mapping[str, Tensor], precision: Precision) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint with quantized matrices and their scales, in the form of
    `decoding.checkpoints.quantized`. Raises InputError without torchao."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2 and tensor.is_floating_point() and name.endswith("weight"):
            parts = _quantized(tensor, _precision_for(name, tensor.shape[1], precision))
            found |= {f"{name}{suffix}": part for suffix, part in parts.items()}
        else:
            found[name] = tensor
    return found


def rounded(tensors: Mapping[str, Tensor], precision: Precision) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint as they are read once `quantize` has rounded them."""
    return dequantized(quantize(tensors, precision))


def fake_quantizer(precision: Precision, columns: int, name: str = "") -> FakeQuantize:
    """Return a function that rounds a matrix of this width and `name` as `quantize` does, and
    passes gradients through."""
    return _FakeQuantizer(_precision_for(name, columns, precision))


class _FakeQuantizer(nn.Module):
    def __init__(self, precision: Precision) -> None:
        super().__init__()
        self.precision = precision

    def forward(self, matrix: Tensor) -> Tensor:
        apply: Any = _StraightThrough.apply
        found: Tensor = apply(matrix, self.precision)
        return found


class _StraightThrough(torch.autograd.Function):
    """Rounds, with the gradient of the identity (Bengio et al. 2013, 1308.3432)."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, precision: Precision) -> Tensor:
        parts = {f"X{suffix}": part for suffix, part in _quantized(matrix, precision).items()}
        return dequantized(parts)["X"].to(matrix.dtype)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None]:
        return upstream[0], None


def fake_quantize_layers(model: nn.Module, precision: Precision) -> None:
    """Make the model's linear layers and plain embeddings compute with rounded weights, in place;
    parameters and their names do not change. Raises InputError if `quantize` would round others,
    to which the model could not adapt."""
    for name, parameter in model.named_parameters():
        owner = model.get_submodule(name.rpartition(".")[0])
        is_matrix = parameter.ndim == 2 and name.endswith("weight")
        if (is_matrix and not isinstance(owner, nn.Linear | nn.Embedding)) or (
            parameter.ndim == 3 and "experts" in name  # matrices of their own in a checkpoint
        ):
            raise InputError(
                f"--qat trains linear layers and embeddings with rounded weights, not {name} "
                f"({type(owner).__name__}): train without it, and quantize after training"
            )
    ao, qat = _torchao("torchao.quantization"), _torchao("torchao.quantization.qat")
    matrices = {
        name: module.weight.shape[1]
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) or type(module) is nn.Embedding  # scaled ones are others
    }
    rounding = qat.IntxFakeQuantizeConfig(torch.int8, "per_channel")
    config = qat.QATConfig(weight_config=rounding, step="prepare")
    ao.quantize_(model, config, lambda module, name: name in matrices)
    for name, columns in matrices.items():  # torchao's own rounding has no such int4
        module: Any = model.get_submodule(name)
        module.weight_fake_quantizer = fake_quantizer(precision, columns, f"{name}.weight")


def _precision_for(name: str, columns: int, precision: Precision) -> Precision:
    too_fine = columns % GROUP or _SENSITIVE.search(name)
    return "int8" if precision == "int4" and too_fine else precision


def _quantized(matrix: Tensor, precision: Precision) -> dict[str, Tensor]:
    """The tensors that stand for a matrix, by what is added to its name."""
    matrix = matrix.detach().float().contiguous()
    if precision == "fp8":
        return _fp8(matrix)
    ao = _torchao("torchao.quantization")
    if precision == "int8":
        found = ao.IntxUnpackedToInt8Tensor.from_hp(matrix, (1, matrix.shape[1]), torch.int8)
        return {"": found.qdata, "_scale": found.scale}
    found = ao.IntxUnpackedToInt8Tensor.from_hp(
        matrix, (1, GROUP), _INT4, mapping_type=ao.MappingType.ASYMMETRIC
    )
    scale = found.scale.to(_SCALE)
    return {"": pack(found.qdata), "_scale": scale, "_zero_point": found.zero_point}


def _fp8(matrix: Tensor) -> dict[str, Tensor]:
    ao = _torchao("torchao.quantization")
    linear = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False, device="meta")
    linear.weight = nn.Parameter(matrix)
    ao.quantize_(linear, ao.Float8WeightOnlyConfig())
    found: Any = linear.weight
    empty = matrix.abs().amax(1, keepdim=True) == 0  # torchao divides these rows by a scale of 0
    values = found.qdata.float().masked_fill(empty, 0).to(found.qdata.dtype)
    return {"": values, "_scale": found.scale.float().masked_fill(empty, 1)}


def _torchao(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError("quantizing needs torchao: pip install torchao") from error
