"""Which of several processes of a training this is, as `torchrun` or `accelerate launch` says in
the environment. It is known before the processes have met."""

from __future__ import annotations

import os


def is_first_process() -> bool:
    """Return whether this is the process that writes and prints: rank 0, or the only one."""
    return os.environ.get("RANK", "0") == "0"


def process_count() -> int:
    """Count the processes of this training."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int | None:
    """Number this process among those on this machine; None if it was started alone."""
    rank = os.environ.get("LOCAL_RANK")
    return None if rank is None else int(rank)
