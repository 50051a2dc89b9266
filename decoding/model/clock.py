"""Times the parts of a round without synchronizing the device."""

from __future__ import annotations

import time
from typing import Any

import torch


def synchronize(device: torch.device) -> None:
    """Wait until a GPU of any kind has finished all its work."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


class Clock:
    """Marks the ends of a round's parts.

    On CUDA the marks are events in the stream: the host does not wait for them, and can read their
    distances once it has waited for anything after the last one.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._marks: list[Any] = []

    def mark(self) -> None:
        """Mark the end of a part."""
        if self._device.type == "cuda":
            event = torch.cuda.Event(enable_timing=True)
            event.record(torch.cuda.current_stream(self._device))
            self._marks.append(event)
        else:
            synchronize(self._device)
            self._marks.append(time.perf_counter())

    def parts(self) -> list[float]:
        """Return the seconds between each mark and the one before it."""
        pairs = zip(self._marks, self._marks[1:], strict=False)
        if self._device.type == "cuda":
            return [a.elapsed_time(b) / 1000 for a, b in pairs]
        return [b - a for a, b in pairs]
