"""Whether a device has the fused kernels of `decoding.model.triton_kernels`."""

from __future__ import annotations

import logging
from functools import cache
from types import ModuleType

import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)
AMPERE = (8, 0)  # before it, Triton has no products of bfloat16

log = logging.getLogger(__name__)


def kernels_for(like: Tensor) -> ModuleType | None:
    """Return the kernels for tensors of this device and type; None if it has none."""
    if like.device.type != "cuda" or like.dtype not in HALVES:
        return None
    return _tried(like.device, like.dtype)


@cache
def _tried(device: torch.device, dtype: torch.dtype) -> ModuleType | None:
    """The kernels, once they have run: Triton needs a C compiler, and not every driver takes what
    it makes."""
    if not torch.cuda.is_available() or torch.cuda.get_device_capability(device) < AMPERE:
        return None
    try:
        from decoding.model import triton_kernels

        with torch.cuda.device(device):
            one = torch.ones(1, 1, 1, 16, dtype=dtype, device=device)
            triton_kernels.attend(one, one, one, one[..., :1] - 1, 1.0)
            torch.cuda.synchronize(device)
    except Exception as error:  # of a compiler, a driver, or another version of Triton
        log.info("torch's own kernels are used on %s: %s", device, error)
        return None
    return triton_kernels
