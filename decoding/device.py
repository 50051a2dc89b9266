"""From the host to a device."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def upload(values: Sequence[int] | Tensor, device: torch.device) -> Tensor:
    """Numbers of the host on `device`. From pinned memory, as the host else waits until a GPU has
    done all that it was given before."""
    made = torch.as_tensor(values)
    if device.type == "cuda":
        return made.pin_memory().to(device, non_blocking=True)
    return made.to(device)
