"""Times what a device does, and the parts of a round without making it wait."""

from __future__ import annotations

import time
from typing import Any

import torch


def synchronize(device: torch.device) -> None:
    """Wait until a GPU has done all that it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class Clock:
    """Marks between which the parts of a round lie.

    On a GPU the marks are events in the stream: the host does not wait for them, and their
    distances are read after the round's one transfer, when they all lie in the past.
    """

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"
        self._device = device
        self._marks: list[Any] = []

    def start(self) -> None:
        self._marks.clear()
        self.mark()

    def mark(self) -> None:
        if self._cuda:
            event = torch.cuda.Event(enable_timing=True)
            event.record(torch.cuda.current_stream(self._device))
            self._marks.append(event)
        else:
            self._marks.append(time.perf_counter())

    def parts(self) -> list[float]:
        """Seconds between each mark and the one before it."""
        if self._cuda:
            self._marks[-1].synchronize()
        pairs = zip(self._marks, self._marks[1:], strict=False)
        if self._cuda:
            return [a.elapsed_time(b) / 1000 for a, b in pairs]
        return [b - a for a, b in pairs]
