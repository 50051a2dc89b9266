"""Handles a lane that runs out of memory: frees its caches, and reports what would fit."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import psutil

from app.text.units import format_bytes

if TYPE_CHECKING:  # these import torch, which a session with only servers does not need
    from app.engine.lane import Lane
    from app.models.loaded import LoadedModels


def free_lane_caches(lane: Lane) -> str:
    """Free the lane's caches, and return a line on what would fit now. Call it once the error is
    gone, as its traceback holds tensors."""
    rows, held = lane.cached_rows, lane.cache_bytes
    lane.free_caches()
    gc.collect()
    empty_device_caches()
    if lane.reason is not None:
        return f"out of memory, and {lane.reason}: remove this lane and add it again"
    free = free_memory(lane.models)
    room = (
        f", room for about {int(free * rows / held)} tokens of this lane" if rows and held else ""
    )
    return (
        f"out of memory: its {format_bytes(held)} are free again "
        f"({format_bytes(free)} in total{room}); ask for less, switch lanes off, or "
        f"load with {_smaller(lane.models)}"
    )


def empty_device_caches() -> None:
    """Give memory that torch keeps for later back to the GPU."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def free_memory(models: LoadedModels) -> int:
    """Return the free bytes on the target's device."""
    import torch

    if models.on_gpu:
        return int(torch.cuda.mem_get_info(models.target.device)[0])
    return int(psutil.virtual_memory().available)


def _smaller(models: LoadedModels) -> str:
    import torch

    if models.target.dtype == torch.float32:
        return "--dtype bfloat16"
    return "--quantize nf4" if models.options.quantize == "none" else "a smaller model"
