"""The settings that the last answers were made with, to go on with them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from app.tui.state.lane_state import LaneState
from decoding.params import Params, flat


def last_settings(
    lanes: Collection[LaneState], params: Params
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the run's settings at the end of the last recorded answers, and the overrides of each
    lane. Rounds have only effective settings: one is a lane's own if it was when the run began, or
    if it began with another value than most lanes. Where no answer tells, they are `params`."""
    used = [
        (lane, flat(lane.round_events[0].params), flat(lane.round_events[-1].params))
        for lane in lanes
        if lane.round_events and lane.round_events[0].params and lane.round_events[-1].params
    ]
    used.sort(key=lambda each: each[0].round_events[-1].at)
    run = flat(params)
    usual: dict[str, Any] = {}  # what most lanes began with
    for name in run:
        follow = [(a[name], b[name]) for lane, a, b in used if name not in lane.recorded_overrides]
        begun = [first for first, _ in follow]
        usual[name] = max(begun, key=begun.count, default=run[name])
        newest = (last for first, last in reversed(follow) if first == usual[name])
        run[name] = next(newest, run[name])
    overrides = {
        lane.info.name: {
            name: last[name]
            for name in lane.strategy.settings
            if name in lane.recorded_overrides
            or (first[name] != usual[name] and last[name] != run[name])
        }
        for lane, first, last in used
    }
    return run, overrides
