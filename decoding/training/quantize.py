"""Quantizes drafters with torchao, after training or with fake quantization during it (QAT).

Weight-only and symmetric, with a scale per row for int8 and fp8, and per 32 columns for int4. With
int4, embeddings and lm_heads, the most sensitive matrices, keep 8 bits.
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
FakeQuantize = Callable[[Tensor], Tensor]


def quantize(tensors: Mapping[str, Tensor], precision: Precision) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint with quantized matrices and their scales, in the form of
    `decoding.checkpoints.quantized`. Raises InputError without torchao."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2 and tensor.is_floating_point() and name.endswith("weight"):
            values, scale = _quantized(tensor, _precision_for(name, tensor.shape[1], precision))
            found |= {name: values, f"{name}_scale": scale}
        else:
            found[name] = tensor
    return found


def rounded(tensors: Mapping[str, Tensor], precision: Precision) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint as they are read once `quantize` has rounded them."""
    return dequantized(quantize(tensors, precision))


def fake_quantizer(precision: Precision, columns: int, name: str = "") -> FakeQuantize:
    """Return a function that rounds a matrix of this width and `name` as `quantize` does, and
    passes gradients through."""
    precision = _precision_for(name, columns, precision)
    qat = _torchao("torchao.quantization.qat")
    rounding: FakeQuantize = qat.IntxFakeQuantizer(_fake_config(precision))
    return rounding


def _fake_config(precision: Precision) -> Any:
    config = _torchao("torchao.quantization.qat").IntxFakeQuantizeConfig
    if precision == "int4":
        return config(_INT4, group_size=GROUP, is_symmetric=True)
    return config(torch.int8, "per_channel", is_symmetric=True)


def fake_quantize_layers(model: nn.Module, precision: Precision) -> None:
    """Make the model's linear layers and plain embeddings compute with rounded weights, in place;
    parameters and their names do not change."""
    ao, qat = _torchao("torchao.quantization"), _torchao("torchao.quantization.qat")
    matrices = {
        name: module.weight
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) or type(module) is nn.Embedding  # scaled ones are others
    }
    for kind in ("int8", "int4"):
        names = {
            name
            for name, matrix in matrices.items()
            if _precision_for(f"{name}.weight", matrix.shape[1], precision) == kind
        }
        config = qat.QATConfig(weight_config=_fake_config(kind), step="prepare")
        ao.quantize_(model, config, lambda module, name, names=names: name in names)


def _precision_for(name: str, columns: int, precision: Precision) -> Precision:
    too_fine = columns % GROUP or _SENSITIVE.search(name)
    return "int8" if precision == "int4" and too_fine else precision


def _quantized(matrix: Tensor, precision: Precision) -> tuple[Tensor, Tensor]:
    ao = _torchao("torchao.quantization")
    configs = {
        "int8": lambda: ao.IntxWeightOnlyConfig(torch.int8, ao.PerAxis(0)),
        "int4": lambda: ao.IntxWeightOnlyConfig(_INT4, ao.PerGroup(GROUP)),
        "fp8": ao.Float8WeightOnlyConfig,
    }
    linear = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False, device="meta")
    linear.weight = nn.Parameter(matrix.detach().float().contiguous())
    ao.quantize_(linear, configs[precision]())
    found: Any = linear.weight
    values = pack(found.qdata) if precision == "int4" else found.qdata
    scale = found.scale.float()
    if precision == "fp8":  # torchao divides a row of zeros by its scale of 0
        empty = matrix.detach().abs().amax(1, keepdim=True) == 0
        values = values.float().masked_fill(empty, 0).to(values.dtype)
        scale = scale.masked_fill(empty, 1)
    return values.contiguous(), scale.contiguous()


def _torchao(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError("quantizing needs torchao: pip install torchao") from error
