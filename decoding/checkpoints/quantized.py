"""Quantized matrices on disk, weight-only.

| to   | matrix X [rows, columns]                  | X_scale                         |
|------|-------------------------------------------|---------------------------------|
| int8 | int8                                      | float32 [rows, 1]               |
| fp8  | float8_e4m3fn                             | float32 [rows, 1]               |
| int4 | uint8 [rows, columns / 2]: two values + 8 | bfloat16 [rows, columns / 32]   |
|      | a byte, low half first                    | and X_zero_point, int8, as many |

A weight is (value - zero point) * scale; without X_zero_point that is 0. `quantization_config` in
config.json marks such a checkpoint. Reading dequantizes to float32: only the files are smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor

Precision = Literal["int8", "int4", "fp8"]
GROUP = 32  # columns that share a scale and a zero point at int4
METHOD = "specchat"
_STORED = (torch.int8, torch.uint8, torch.float8_e4m3fn)


def quantization_config(precision: Precision) -> dict[str, Any]:
    """Return the entry of config.json. Other programs reject the unknown method instead of
    misreading the weights."""
    scales = {"group_size": GROUP} if precision == "int4" else {}
    return {"quantization_config": {"quant_method": METHOD, "weights": precision, **scales}}


def precision_of(config: Mapping[str, Any]) -> Precision | None:
    """Return the precision in a config.json; None if not quantized, or by another program."""
    found = config.get("quantization_config")
    if not isinstance(found, dict) or found.get("quant_method") != METHOD:
        return None
    weights: Precision | None = found.get("weights")
    return weights


def pack(values: Tensor) -> Tensor:
    """int4 values in int8 [rows, columns] -> uint8 [rows, columns / 2]."""
    pairs: Tensor = (values + 8).to(torch.uint8).unflatten(-1, (-1, 2))
    packed: Tensor = pairs[..., 0] + 16 * pairs[..., 1]
    return packed


def dequantized(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint, with quantized matrices converted to float32. Raises
    ValueError if one does not fit its scales."""
    found = dict(tensors)
    for name, scale in tensors.items():
        stored = found.get(matrix := name.removesuffix("_scale"))
        if matrix == name or stored is None or stored.dtype not in _STORED:
            continue
        if stored.dtype == torch.uint8:
            stored = torch.stack([stored & 15, stored >> 4], dim=-1).flatten(-2).float() - 8
        groups = scale.shape[-1] if scale.ndim == 2 else 0
        if not groups or len(scale) != len(stored) or stored.shape[-1] % groups:
            raise ValueError(f"{name} {list(scale.shape)} does not fit {list(stored.shape)}")
        values = stored.float().unflatten(-1, (groups, -1))
        if (zero_point := found.pop(f"{matrix}_zero_point", None)) is not None:
            if zero_point.shape != scale.shape:
                raise ValueError(f"{matrix}_zero_point does not fit {name}")
            values = values - zero_point.float()[..., None]
        found[matrix] = (values * scale.float()[..., None]).flatten(-2)
        del found[name]
    return found
