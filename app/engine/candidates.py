"""Lists the candidates of an experiment: each lane with several values of its settings, or with
those of a sweep, and a baseline for each temperature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from app.config.overrides import Sweep, sweep_lanes
from app.models.loaded import LoadedModels
from app.report.advice_document import Candidate
from app.strategies.lane_spec import LaneSpec, unique_name
from app.strategies.registry import AUTOREGRESSIVE, STRATEGIES
from app.strategies.strategy import DEFAULT_TREE
from decoding.errors import InputError
from decoding.params import Params, flat

GAMMAS = (1, 2, 3, 5, 8)
LOOKUP_GAMMAS = (2, 4, 8, 16)  # where drafting costs next to nothing
EAGLE_TREES = ((4, 4, 12), (6, 8, 32), (8, 10, 60))  # gamma, top k, total tokens
TUNED = ("gamma", "eagle_top_k", "eagle_total_tokens")


def candidates(
    lanes: Sequence[LaneSpec],
    models: LoadedModels,
    params: Params,
    temperatures: Sequence[float] = (),
    sweep: Sweep | None = None,
    chosen: Set[str] = frozenset(),
) -> list[Candidate]:
    """List what to measure: each of the `lanes` with several values of the `TUNED` settings, unless
    it overrides one of them or one was `chosen` for all lanes, or with the values of a `sweep`; at
    each of the `temperatures`, or at that of `params` and the lanes. There is a baseline for each
    temperature. Raises InputError if no lane drafts."""
    missing = models.why_missing(lanes)
    able = [spec for spec in lanes if spec.name not in missing]
    if sweep:
        specs = list(sweep_lanes(able, sweep))
    else:
        specs = [each for spec in able for each in _variants(spec, models, chosen)]
    if temperatures and any("temperature" not in spec.overrides for spec in specs):
        specs = list(sweep_lanes(specs, {"temperature": tuple(temperatures)}))
    alike = {spec.name: spec for spec in specs}  # two lanes may lead to the same
    found = [Candidate(s, s.effective_params(params)) for s in alike.values()]
    if not any(candidate.strategy.drafts for candidate in found):
        why = "; ".join(dict.fromkeys(missing.values())) or "add one"
        raise InputError(f"nothing to choose from, no lane drafts: {why}")
    plain = {each.temperature for each in found if each.strategy.is_baseline}
    for temperature in sorted({each.temperature for each in found} - plain):
        name = f"{AUTOREGRESSIVE.name}:temperature={temperature:g}"
        spec = LaneSpec(AUTOREGRESSIVE.name, name, {"temperature": temperature})
        found.append(Candidate(spec, spec.effective_params(params)))
    return found


def present_and_free(lanes: Sequence[LaneSpec], params: Params) -> list[LaneSpec]:
    """List each lane with its present settings, and without overrides of the `TUNED` ones, so that
    these are varied. Overrides of the temperature are dropped. `params`: the run's settings."""
    run, found = flat(params), list[LaneSpec]()
    for spec in lanes:
        own = {n: value for n, value in spec.overrides.items() if value != run[n]}
        own.pop("temperature", None)
        free = {name: value for name, value in own.items() if name not in TUNED}
        for overrides in (free, own):
            alike = [e for e in found if _drafter(e) == _drafter(spec)]
            if all(each.overrides != overrides for each in alike):
                name = ":".join((spec.stem, *(f"{n}={v}" for n, v in overrides.items())))
                name = unique_name(name, [each.name for each in found])
                found.append(replace(spec, name=name, overrides=overrides))
    return found


def _drafter(spec: LaneSpec) -> tuple[str, str | None, str]:
    return spec.strategy, spec.checkpoint, spec.tree


def _variants(spec: LaneSpec, models: LoadedModels, chosen: Set[str]) -> Iterator[LaneSpec]:
    """The lane with each combination of `TUNED` settings to try; as it is if one is fixed."""
    strategy = STRATEGIES[spec.strategy]
    tried: list[dict[str, Any]] = [{}]
    if "eagle_top_k" in strategy.settings:
        tried += [{"gamma": gamma, "eagle_top_k": 1} for gamma in GAMMAS]
        tried += [
            {"gamma": gamma, "eagle_top_k": top_k, "eagle_total_tokens": total}
            for gamma, top_k, total in EAGLE_TREES
        ]
    elif strategy.trees is not None:  # static: cut at lower depths
        trees = strategy.trees(models.seen_by(spec))
        depth = trees.get(spec.tree, trees[DEFAULT_TREE]).depth
        tried += [{"gamma": gamma} for gamma in GAMMAS if gamma < depth]
    elif strategy.role is not None:  # a draft model, which "auto" also ends where it is not sure
        tried = [{"gamma": gamma} for gamma in (*GAMMAS, "auto")]
    elif strategy.drafts:
        tried = [{"gamma": gamma} for gamma in LOOKUP_GAMMAS]
    if {name for own in tried for name in own} & (chosen | spec.overrides.keys()):
        tried = [{}]
    for own in tried:
        parts = (spec.name, *(f"{name}={value}" for name, value in own.items()))
        yield replace(spec, name=":".join(parts), overrides={**spec.overrides, **own})
