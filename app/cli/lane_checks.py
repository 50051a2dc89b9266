"""What commands that measure ask of their lanes, checked before torch is imported or anything is
loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.config.overrides import Sweep, sweep_lanes
from app.config.settings import Settings
from app.models.library import with_demo
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import AUTOREGRESSIVE, STRATEGIES
from decoding.errors import InputError


def check_concurrency(settings: Settings, concurrency: int) -> None:
    """Raise InputError for --concurrency without a server."""
    if concurrency > 1 and not settings.server:
        raise InputError("--concurrency is for servers: give one with --server URL")


def lanes_to_compare(
    settings: Settings,
    sweep: Sweep,
    *,
    peers: Sequence[str],
    acceptances: Sequence[float],
    batches: Sequence[int],
    prefixes: Sequence[int],
) -> tuple[LaneSpec, ...]:
    """Return the lanes of `specchat bench`. Raises InputError for options that don't fit
    together."""
    specs = sweep_lanes(settings.lanes, sweep)
    if acceptances and settings.temperature > 0:
        raise InputError("--simulate-acceptance is greedy decoding: leave --temperature at 0")
    if prefixes and any(spec.endpoint for spec in specs):
        raise InputError("--prefix is for lanes on a model here: leave --server out")
    if (peers or acceptances or batches) and all(spec.endpoint for spec in specs):
        option = "--peers" if peers else "--simulate-acceptance" if acceptances else "--batch"
        raise InputError(f"{option} needs a model: give one with --target")
    if peers:
        _check_peers(settings, peers)
    if batches:
        require_batches(specs, acceptances)
    return specs


def require_batches(specs: Sequence[LaneSpec], acceptances: Sequence[float]) -> None:
    """Raise InputError where --batch has nothing to compare."""
    strategies = [STRATEGIES[spec.strategy] for spec in specs]
    drafting = acceptances or any(each.drafts and each.on_target for each in strategies)
    if not (drafting and any(each.is_baseline for each in strategies)):
        raise InputError("--batch needs the lane ar, and one on the target that drafts")


def _check_peers(settings: Settings, peers: Sequence[str]) -> None:
    """Raise InputError for settings that the peers can't have."""
    if settings.temperature > 0:
        raise InputError("--peers compares greedy decoding: leave --temperature at 0")
    if settings.params.sampling.penalizes:
        raise InputError("--peers compares plain greedy decoding: leave the penalties out")
    for option in ("logit_bias", "stop"):
        if getattr(settings, option):
            name = option.replace("_", "-")
            raise InputError(f"--peers compares plain greedy decoding: leave --{name} out")
    if "hf-assisted" in peers and "draft" not in with_demo(settings.models).drafters:
        raise InputError("--peers hf-assisted needs a draft model: give one with --draft")


def lanes_to_advise_on(settings: Settings, sweep: Sweep) -> list[LaneSpec]:
    """Return the lanes of `specchat advise`: those chosen on the target, or one of each strategy;
    always an autoregressive one. Raises InputError if none drafts, or if a setting of the sweep
    acts on none."""
    lanes = list(settings.lanes)
    if "strategies" not in settings.model_fields_set:
        lanes = [LaneSpec(name, name) for name, each in STRATEGIES.items() if each.on_target]
    if not any(STRATEGIES[spec.strategy].is_baseline for spec in lanes):
        lanes.insert(0, LaneSpec(AUTOREGRESSIVE.name, AUTOREGRESSIVE.name))
    lanes = [spec for spec in lanes if STRATEGIES[spec.strategy].on_target]
    if not any(STRATEGIES[spec.strategy].drafts for spec in lanes):
        raise InputError("nothing to choose from, no lane drafts: add one")
    sweep_lanes(lanes, {name: values for name, values in sweep.items() if name != "temperature"})
    return lanes


def lanes_with_rejections(settings: Settings) -> tuple[list[LaneSpec], dict[str, str]]:
    """Return the lanes of `specchat rejections`, and why others are left out, by name. Raises
    InputError if none drafts."""
    specs = [spec for spec in settings.lanes if spec.endpoint is None]
    left_out = {
        spec.name: "a server does not say which of its drafts were rejected"
        for spec in settings.lanes
        if spec.endpoint is not None
    }
    if not any(STRATEGIES[spec.strategy].drafts for spec in specs):
        raise nothing_drafts(left_out)
    return specs, left_out


def nothing_drafts(missing: Mapping[str, str]) -> InputError:
    """Make the error of lanes of which none drafts, `missing` for these reasons."""
    return InputError(f"no lane drafts: {'; '.join(missing.values()) or 'add one'}")
