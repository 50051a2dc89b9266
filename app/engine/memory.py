"""How much memory is in use, and by what."""

from __future__ import annotations

from collections.abc import Sequence

import psutil
import torch

from app.engine.events import Memory
from app.engine.lane import Lane
from app.models.hub import display_name
from app.models.loaded import LoadedModels


def weights(models: LoadedModels) -> dict[str, int]:
    """Bytes by model; what a drafter takes from the target is the target's."""
    found = {"target": models.target, **models.drafters}
    for (role, checkpoint), view in models.views.items():
        if role in view.drafters:
            found[f"{role} {display_name(checkpoint)}"] = view.drafters[role]
    return {name: model.nbytes for name, model in found.items()}


def memory(models: LoadedModels, lanes: Sequence[Lane]) -> Memory:
    """What is in use now. No device is waited for."""
    device = models.target.device
    return Memory(
        process=psutil.Process().memory_info().rss,
        device=torch.cuda.memory_allocated(device) if device.type == "cuda" else None,
        caches={lane.spec.name: lane.cache_bytes for lane in lanes if lane.available},
    )
