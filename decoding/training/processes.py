"""Which of several processes of a training this is."""

from __future__ import annotations

import os


def is_first_process() -> bool:
    """Whether this is the process that writes and prints: rank 0 of `torchrun` or `accelerate
    launch`, or the only one. Known before the processes have met."""
    return os.environ.get("RANK", "0") == "0"
