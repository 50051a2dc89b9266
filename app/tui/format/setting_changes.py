"""Marks in an answer's text where settings changed."""

from __future__ import annotations

from collections.abc import Iterable

from app.tui.state.lane_state import LaneState
from app.tui.state.sliders import SLIDERS, SliderSpec
from decoding.params import Params, flat

NOT_MARKED = "max_new_tokens"  # it does not change the text, only its end


def changes_at(lane: LaneState, number: int) -> list[str]:
    """Return the settings of a round that differ from those of the round before, in words."""
    if number < 1:
        return []
    before, after = lane.round_events[number - 1], lane.round_events[number]
    words = [] if before.tree == after.tree else [f"tree {after.tree}"]
    if before.params is not None and after.params is not None and before.params != after.params:
        words += changes(lane, before.params, after.params)
    return words


def params_of_figures(lane: LaneState, params: Params, played_again: bool = False) -> Params:
    """Return the lane's effective settings in the run that its figures are of; `params` are the
    run's settings now, which are not those of a run that is `played_again`."""
    used = lane.last_params if played_again else None
    if lane.round_events and not lane.going:
        used = lane.round_events[-1].params
    return used or lane.effective_params(params)


def changes_since(lane: LaneState, params: Params) -> list[str]:
    """Return the settings of the lane's next run that are not those of its figures, in words."""
    if lane.going or not lane.round_events:
        return []
    words = [] if lane.round_events[-1].tree == lane.tree else [f"tree {lane.tree}"]
    before = params_of_figures(lane, params)
    return words + changes(lane, before, lane.effective_params(params))


def changes(lane: LaneState, before: Params, after: Params) -> list[str]:
    """Return the settings that act on the lane and have changed, in words. Both `Params` are the
    lane's effective ones; a setting that did not act before is compared with its default."""
    defaults = _texts(lane, Params(), SLIDERS) | {"acceptance": "exact"}
    old = defaults | _in_force(lane, before)
    return [text for name, text in _in_force(lane, after).items() if text != old[name]]


def _in_force(lane: LaneState, params: Params) -> dict[str, str]:
    """The settings in force as labels, by name: temp 0.80."""
    sampled = not params.sampling.greedy
    typical = lane.strategy.typical and params.acceptance == "typical" and sampled
    specs = [
        spec
        for spec in SLIDERS
        if spec.name in lane.strategy.settings
        and spec.name != NOT_MARKED
        and (sampled or not spec.greedy)
        and (typical or not spec.setting.of_typical)
        and not (lane.static_tree and spec.setting.of_dynamic_tree)
    ]
    texts = _texts(lane, params, specs)
    if lane.strategy.typical and sampled:
        texts["acceptance"] = params.acceptance
    return texts


def _texts(lane: LaneState, effective: Params, specs: Iterable[SliderSpec]) -> dict[str, str]:
    values = flat(effective) | {"gamma": lane.gamma(effective)}
    return {spec.name: f"{spec.label} {spec.scale.text(values[spec.name])}" for spec in specs}
