"""Compares lanes under --kv-cache with the same lanes on keys and values in full precision."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.engine.lane import Lane
from app.engine.lane_turn import AnyLane
from app.models.loaded import LoadedModels
from app.report.answer import Answer
from decoding.model.prefix import common_prefix_length


def full_precision_references(
    lanes: Sequence[AnyLane], models: LoadedModels | None
) -> list[tuple[Lane, Lane]]:
    """Make a reference for each lane, whose cache is not reduced; none without --kv-cache."""
    if models is None or models.target.kv_cache == "none":
        return []
    target = models.target
    reduced, target.kv_cache = target.kv_cache, "none"  # a lane's cache is made with it
    try:
        return [
            (lane, Lane(replace(lane.spec, name=f"{lane.spec.name}, whole cache"), models))
            for lane in lanes
            if isinstance(lane, Lane) and lane.strategy.on_target
        ]
    finally:
        target.kv_cache = reduced


def kv_cache_cost(
    pairs: Sequence[tuple[Lane, Lane]], answers: Mapping[str, Sequence[Answer]]
) -> dict[str, Any]:
    """Compare the first lane with its reference: the number of equal answers, the median index of
    the first different token in the others, and the cache's share of the reference's bytes."""
    lane, reference = pairs[0]
    both = zip(answers[lane.spec.name], answers[reference.spec.name], strict=True)
    common = [(common_prefix_length(a.ids, b.ids), a.ids == b.ids) for a, b in both]
    diverged = [length for length, same in common if not same]
    return {
        "lane": lane.spec.name,
        "same_answers": len(common) - len(diverged),
        "first_difference": statistics.median(diverged) if diverged else None,
        "memory": lane.cache_bytes / reference.cache_bytes,
    }
