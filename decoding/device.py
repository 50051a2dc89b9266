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


class Download:
    """A tensor on its way to the host. `read` waits for it, but not for what the device was given
    to do since; a round does this once, for everything that it needs."""

    def __init__(self, values: Tensor) -> None:
        self._values = values
        self._copied: torch.cuda.Event | None = None
        if values.device.type == "cuda":
            self._values = values.to("cpu", non_blocking=True)  # pinned
            self._copied = torch.cuda.Event()
            self._copied.record(torch.cuda.current_stream(values.device))

    def read(self) -> list[Any]:
        """Wait for the numbers, and return them as nested lists."""
        if self._copied is not None:
            self._copied.synchronize()
        numbers: list[Any] = self._values.tolist()
        return numbers


def download(values: Tensor) -> list[Any]:
    """Wait for the numbers of a tensor, and return them as nested lists."""
    return Download(values).read()
