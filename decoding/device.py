"""Copies between the host and a device, through pinned memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def download(values: Tensor) -> list[Any]:
    """The numbers of a tensor as nested lists. The host waits for all earlier work on its device,
    so a round does this once, for everything that it needs."""
    if values.device.type == "cuda":
        stream = torch.cuda.current_stream(values.device)
        values = values.to("cpu", non_blocking=True)  # pinned
        stream.synchronize()
    numbers: list[Any] = values.tolist()
    return numbers
