"""The memory in use, by models and caches."""

from __future__ import annotations

from collections.abc import Iterable

import psutil
import torch

from app.engine.events import Memory
from app.engine.lane import Lane
from app.engine.lane_turn import AnyLane
from app.models.hub import display_name
from app.models.loaded import LoadedModels


def weights(models: LoadedModels | None) -> dict[str, int]:
    """Count the bytes of each model; weights that a drafter shares with the target count for the
    target."""
    if models is None:
        return {}
    found = {"target": models.target, **models.drafters}
    for (role, checkpoint), view in models.views.items():
        if role in view.drafters:
            found[f"{role} {display_name(checkpoint)}"] = view.drafters[role]
    return {name: model.nbytes for name, model in found.items()}


def memory(models: LoadedModels | None, lanes: Iterable[AnyLane]) -> Memory:
    """Measure the memory in use now, without waiting for any device."""
    local = [lane for lane in lanes if isinstance(lane, Lane) and lane.available]
    return Memory(
        process=psutil.Process().memory_info().rss,
        device=torch.cuda.memory_allocated(models.target.device)
        if models is not None and models.on_gpu
        else None,
        caches={lane.spec.name: lane.cache_bytes for lane in local},
    )
