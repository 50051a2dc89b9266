"""Quantizes drafters through torchao: after training, or with fake quantization in it (QAT).

Weights alone, symmetric: a scale a row for int8 and fp8, one for each 32 columns for int4. At int4
embeddings and lm_heads, which are hurt most, keep 8 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from decoding.checkpoints.quantized import GROUP, Precision, pack
from decoding.errors import InputError

_SENSITIVE = re.compile(r"embed|wte|lm_head|(medusa_heads?\.)?\d+\.\d+\.weight$")
_INT4: torch.dtype = torch.int4  # type: ignore[attr-defined]
FakeQuantize = Callable[[Tensor], Tensor]


def quantize(tensors: Mapping[str, Tensor], precision: Precision) -> dict[str, Tensor]:
    """The tensors of a checkpoint, its matrices quantized and with scales, as
    `decoding.checkpoints.quantized` reads them. Raises InputError without torchao."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2 and tensor.is_floating_point() and name.endswith("weight"):
            values, scale = _quantized(tensor, _precision_for(name, tensor.shape[1], precision))
            found |= {name: values, f"{name}_scale": scale}
        else:
            found[name] = tensor
    return found


def fake_quantizer(precision: Precision, columns: int) -> FakeQuantize:
    """A function that rounds a matrix with so many columns as `quantize` does and lets gradients
    through."""
    precision = _precision_for("", columns, precision)
    qat = _torchao("torchao.quantization.qat")
    rounding: FakeQuantize = qat.IntxFakeQuantizer(_fake_config(precision))
    return rounding


def _fake_config(precision: Precision) -> Any:
    config = _torchao("torchao.quantization.qat").IntxFakeQuantizeConfig
    if precision == "int4":
        return config(_INT4, group_size=GROUP, is_symmetric=True)
    return config(torch.int8, "per_channel", is_symmetric=True)


def fake_quantize_linears(model: nn.Module, precision: Precision) -> None:
    """Let the model's linear layers compute with rounded weights, in place; its parameters and
    their names stay."""
    ao, qat = _torchao("torchao.quantization"), _torchao("torchao.quantization.qat")
    linears = [(n, m) for n, m in model.named_modules() if isinstance(m, nn.Linear)]
    for kind in ("int8", "int4"):
        names = {
            name
            for name, linear in linears
            if _precision_for(f"{name}.weight", linear.in_features, precision) == kind
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
    return values.contiguous(), found.scale.float().contiguous()


def _torchao(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise InputError("quantizing needs torchao: pip install 'specchat[quantize]'") from error
