"""What --kv-cache costs: each lane once more, with keys and values as they are."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.engine.lane import Lane
from app.engine.turn import AnyLane
from app.models.loaded import LoadedModels
from app.report.answer import Answer
from decoding.model.prefix import common_prefix


def with_whole_cache(
    lanes: Sequence[AnyLane], models: LoadedModels | None
) -> list[tuple[Lane, Lane]]:
    """Each lane with its twin; none where keys and values are as they are anyway."""
    if models is None or models.target.kv_cache == "none":
        return []
    target = models.target
    reduced, target.kv_cache = target.kv_cache, "none"  # a lane makes its cache when it is made
    twins = [
        (lane, Lane(replace(lane.spec, name=f"{lane.spec.name}, whole cache"), models))
        for lane in lanes
        if isinstance(lane, Lane) and lane.strategy.on_target
    ]
    target.kv_cache = reduced
    return twins


def kv_cache_cost(
    twins: Sequence[tuple[Lane, Lane]], answers: Mapping[str, Sequence[Answer]]
) -> dict[str, Any]:
    """Of the first lane beside its twin: at how many prompts they say the same, the median token
    from which on the others differ, and the share of the memory."""
    lane, twin = twins[0]
    pairs = zip(answers[lane.spec.name], answers[twin.spec.name], strict=True)
    common = [(common_prefix(a.ids, b.ids), a.ids == b.ids) for a, b in pairs]
    parted = [length for length, same in common if not same]
    return {
        "lane": lane.spec.name,
        "same_answers": len(common) - len(parted),
        "first_difference": statistics.median(parted) if parted else None,
        "memory": lane.cache_bytes / twin.cache_bytes,
    }
