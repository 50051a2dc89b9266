"""Few different shapes of the matrix products of a training.

On CPUs oneDNN compiles a kernel for each new shape of a product in bfloat16. That takes about as
long as ten such products, and nearly every batch has another number of tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

COLUMNS = 16
_ROWS = 64


def columns_for(longest: int, limit: int) -> int:
    """Return the length to which the texts of a batch are padded, of which the `longest` is as long
    as that; at most `limit`."""
    return min(longest + -longest % COLUMNS, limit)


def pad_rows(x: Tensor) -> Tensor:
    """x [n, H] -> [n or more, H]: where kernels are compiled for a shape, with rows of zeros after
    the others."""
    missing = _missing_rows(x)
    return functional.pad(x, (0, 0, 0, missing)) if missing else x


def repeat_last(x: Tensor) -> Tensor:
    """x [n] -> [n or more]: where kernels are compiled for a shape, with more of its last
    element."""
    return torch.cat([x, x[-1:].expand(_missing_rows(x))])


def _missing_rows(x: Tensor) -> int:
    return -len(x) % _ROWS if _compiles_kernels(x.device) else 0


def _compiles_kernels(device: torch.device) -> bool:
    return device.type == "cpu" and torch.is_autocast_enabled("cpu")
