"""Copies from the host to a device."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def upload(
    values: Sequence[int] | Sequence[Sequence[int]] | Tensor, device: torch.device
) -> Tensor:
    """Copy numbers to `device`. Uses pinned memory: otherwise the host would wait until a GPU has
    finished all earlier work."""
    made = torch.as_tensor(values)
    if device.type == "cuda":
        return made.pin_memory().to(device, non_blocking=True)
    return made.to(device)
