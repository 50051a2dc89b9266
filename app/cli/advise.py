"""`specchat advise`: which strategy and settings to use on this machine, for these prompts.

Two stages, so that the speed of the winner is not the luck by which it won. Screening answers a few
prompts, shortly, with every setting, and drops what is clearly behind the best of its kind. Then
the best of each kind answer prompts in full beside the target alone, and only these answers are
reported as measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from app.cli.run import first_prompts, progress
from app.config.overrides import Sweep, sweep_lanes
from app.config.settings import Settings
from app.engine.contest import Contestant, Generation, answer_in_turn, lane_contestant
from app.engine.lane import Lane
from app.models.loaded import LoadedModels, load_models
from app.report.advice import (
    BATCH_LIMITS,
    BATCH_METHOD,
    Estimate,
    RoundCost,
    Timed,
    batch_speedups,
    compare,
    stops_paying,
)
from app.report.document import envelope, settings_report
from app.report.engines import ENGINES, Choice
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import CPU_TOP_K, DEFAULT_STRATEGIES, STRATEGIES
from app.strategies.strategy import DEFAULT_TREE, Strategy
from app.text.prompt_file import Request
from decoding.cost.curve import Curve
from decoding.cost.measure import PROMPT, verify_cost
from decoding.drafters.eagle import EagleTree
from decoding.errors import InputError
from decoding.params import Params, with_settings

GAMMAS = (1, 2, 3, 5, 8)
LOOKUP_GAMMAS = (2, 4, 8, 16)  # where drafting costs next to nothing
EAGLE_TREES = ((4, 4, 12), (6, 8, 32), (8, 10, 60))  # gamma, top k, total tokens
TEMPERATURES = (0.0, 0.7)
SCREENING = 0.4  # of the time
SCREENED_TOKENS = 64  # of an answer
KEPT = 0.8  # of the best speed of its kind: what is slower is dropped
SURE = 3  # answers after which what is slower than the target alone is dropped, too
REPEATS = 3  # of all prompts, where there is time for so many
BATCH_PASSES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # tokens
PATIENCE = 0.5  # seconds: larger passes than one that took so long are not measured


@dataclass(slots=True)
class Candidate:
    """A strategy with settings, and its answers. Those of one `kind` compete; its temperature is
    part of it."""

    spec: LaneSpec
    kind: tuple[str, str, float]
    params: Params
    answers: list[tuple[int, Generation]] = field(default_factory=list)  # with the prompt's index

    @property
    def strategy(self) -> Strategy:
        return STRATEGIES[self.spec.strategy]

    @property
    def temperature(self) -> float:
        return self.kind[2]

    @property
    def timed(self) -> list[Timed]:
        return [Timed(index, a.emitted, a.seconds) for index, a in self.answers]

    @property
    def speed(self) -> float:
        tokens = sum(answer.emitted for _, answer in self.answers)
        return tokens / sum(answer.seconds for _, answer in self.answers) if tokens else 0.0


def advise(
    settings: Settings,
    requests: Sequence[Request],
    seed: int,
    budget: float,
    sweep: Sweep,
) -> dict[str, Any]:
    """Measure for about `budget` seconds, and return the JSON document. `sweep` replaces the
    settings that are tried. Raises InputError."""
    lanes = _lanes(settings)
    with progress() as say:
        strategies = {spec.strategy for spec in lanes}
        models = load_models(settings.models, lambda what, part: say(f"loading {what}"), strategies)
        if models.context <= PROMPT:
            raise InputError(f"the model's context, {models.context} tokens, is too short for this")
        prompts = first_prompts(requests, models, settings.system, settings.raw)
        candidates = list(_candidates(settings, lanes, models, sweep))
        if not any(candidate.strategy.drafts for candidate in candidates):
            reasons = "; ".join(models.missing[s] for s in strategies if s in models.missing)
            raise InputError(f"nothing to choose from, no lane drafts: {reasons or 'add one'}")
        say("warming up")
        workers = _workers(candidates, models)
        begun = time.perf_counter()
        contestants = _contestants(settings, candidates, workers, seed, SCREENED_TOKENS)
        used = _screen(candidates, contestants, prompts, begun + SCREENING * budget, say)
        screened = [_figures(each, _plain(each, candidates)) for each in candidates]
        finalists = _best_of_each_kind(candidates)
        for finalist in finalists:
            finalist.answers = []
        contestants = _contestants(settings, finalists, workers, seed)
        _measure(finalists, contestants, prompts, used, begun + budget, say)
        seconds = time.perf_counter() - begun
        say("measuring passes of the target")
        sizes = [size for size in BATCH_PASSES if PROMPT + size <= models.context]
        costs = verify_cost(models.target, sizes, PATIENCE)
    measured = [_measured(each, finalists, costs) for each in finalists]
    temperatures = sorted({each.temperature for each in finalists})
    return envelope(
        target=models.name,
        device=models.device,
        dtype=models.dtype,
        threads=models.threads,
        settings=settings_report(settings) | {"seed": seed},
        sweep=sweep,
        prompts=len(prompts),
        first_turns_only=any(len(request.turns) > 1 for request in requests),
        unavailable={
            spec.name: models.missing[spec.strategy]
            for spec in lanes
            if spec.strategy in models.missing
        },
        seconds=seconds,
        batch_size=1,
        screened=screened,
        measured=measured,
        best=[_best(temperature, finalists, measured) for temperature in temperatures],
        batches={
            "method": BATCH_METHOD,
            "limits": BATCH_LIMITS,
            "pass_seconds": [list(point) for point in costs.points],
        },
        engines=[
            entry
            for temperature in temperatures
            for entry in _engines(temperature, finalists, measured, workers, models)
        ],
    )


def _lanes(settings: Settings) -> list[LaneSpec]:
    """Those that were asked for, or all there are, the target alone among them."""
    lanes = list(settings.lanes)
    if settings.strategies == DEFAULT_STRATEGIES:
        lanes = [LaneSpec(name, name) for name, each in STRATEGIES.items() if each.on_target]
    if not any(STRATEGIES[spec.strategy].is_baseline for spec in lanes):
        lanes.insert(0, LaneSpec("ar", "ar"))
    return [spec for spec in lanes if STRATEGIES[spec.strategy].on_target]


def _candidates(
    settings: Settings, lanes: Sequence[LaneSpec], models: LoadedModels, sweep: Sweep
) -> Iterator[Candidate]:
    able = [spec for spec in lanes if spec.strategy not in models.missing]
    shape = {name: values for name, values in sweep.items() if name != "temperature"}
    if shape:
        specs = list(sweep_lanes(able, shape))
    else:
        chosen = settings.model_fields_set & {"gamma", "eagle_top_k", "eagle_total_tokens"}
        specs = [each for spec in able for each in _variants(spec, models, chosen)]
    default = () if "temperature" in settings.model_fields_set else TEMPERATURES
    temperatures = sweep.get("temperature", default)
    if temperatures and any("temperature" not in spec.overrides for spec in specs):
        specs = list(sweep_lanes(specs, {"temperature": temperatures}))
    found = [_candidate(spec, settings.params) for spec in specs]
    yield from found
    plain = {each.temperature for each in found if each.strategy.is_baseline}
    for temperature in sorted({each.temperature for each in found} - plain):
        spec = LaneSpec("ar", f"ar:temperature={temperature:g}", {"temperature": temperature})
        yield _candidate(spec, settings.params)


def _candidate(spec: LaneSpec, params: Params) -> Candidate:
    params = with_settings(params, spec.overrides)
    chain = "chain" if params.eagle_top_k == 1 else ""
    return Candidate(spec, (spec.strategy, chain, params.sampling.temperature), params)


def _variants(spec: LaneSpec, models: LoadedModels, chosen: Set[str]) -> Iterator[LaneSpec]:
    """The lane with each of the settings that are tried where none of them was `chosen`."""
    strategy = STRATEGIES[spec.strategy]
    tried: list[dict[str, Any]] = [{}]
    if "eagle_top_k" in strategy.settings:
        tried += [{"gamma": gamma, "eagle_top_k": 1} for gamma in GAMMAS]
        tried += [
            {"gamma": gamma, "eagle_top_k": top_k, "eagle_total_tokens": total}
            for gamma, top_k, total in EAGLE_TREES
        ]
    elif strategy.trees is not None:  # a static one: a shallower one of the same
        depth = strategy.trees(models)[DEFAULT_TREE].depth
        tried += [{"gamma": gamma} for gamma in GAMMAS if gamma < depth]
    elif strategy.role is not None:
        tried = [{"gamma": gamma} for gamma in GAMMAS]
    elif strategy.drafts:
        tried = [{"gamma": gamma} for gamma in LOOKUP_GAMMAS]
    if {name for own in tried for name in own} & (chosen | spec.overrides.keys()):
        tried = [{}]
    for own in tried:
        parts = (spec.name, *(f"{name}={value}" for name, value in own.items()))
        yield LaneSpec(spec.strategy, ":".join(parts), {**spec.overrides, **own}, spec.tree)


def _workers(candidates: Sequence[Candidate], models: LoadedModels) -> dict[tuple[str, str], Lane]:
    """One lane for all candidates of a kind: they share its cache, and the prompt's rows in it."""
    workers: dict[tuple[str, str], Lane] = {}
    for each in candidates:
        if each.kind[:2] not in workers:
            workers[each.kind[:2]] = lane = Lane(each.spec, models)
            lane.warm_up()
    return workers


def _contestants(
    settings: Settings,
    candidates: Sequence[Candidate],
    workers: Mapping[tuple[str, str], Lane],
    seed: int,
    tokens: int | None = None,
) -> dict[str, Contestant]:
    contestants = {}
    for each in candidates:
        lane = workers[each.kind[:2]]
        stop = lane.models.stop(settings.ignore_eos, settings.stop)
        contestants[each.spec.name] = lane_contestant(
            lane, each.spec, settings.params, seed, stop, tokens
        )
    return contestants


def _screen(
    candidates: Sequence[Candidate],
    contestants: Mapping[str, Contestant],
    prompts: Sequence[Sequence[int]],
    until: float,
    say: Callable[[str], None],
) -> int:
    """Answer prompts with what is not yet behind, until one of each kind is left or the time is
    over. Returns how many prompts that took."""
    left = list(candidates)
    for turn in range(len(prompts)):
        say(f"screening: {len(left)} settings left, prompt {turn + 1} of {len(prompts)}")
        names = {each.spec.name: contestants[each.spec.name] for each in left}
        answers = answer_in_turn(names, prompts[turn], turn, turn)
        for each in left:
            each.answers.append((turn, answers[each.spec.name]))
        best = {kind: max(e.speed for e in left if e.kind == kind) for kind in _kinds(left)}
        left = [each for each in left if each.speed >= KEPT * best[each.kind]]
        if len(left) == len(best) or time.perf_counter() >= until:
            return turn + 1
    return len(prompts)


def _measure(
    finalists: Sequence[Candidate],
    contestants: Mapping[str, Contestant],
    prompts: Sequence[Sequence[int]],
    first: int,
    until: float,
    say: Callable[[str], None],
) -> None:
    """Answer in full, beginning with prompts that were not screened with, until the time is over.
    What is clearly slower than the target alone answers only a few."""
    left = list(finalists)
    for turn in range(REPEATS * len(prompts)):
        index = (first + turn) % len(prompts)
        say(f"measuring: {len(left)} left, answer {turn + 1} of {REPEATS * len(prompts)}")
        names = {each.spec.name: contestants[each.spec.name] for each in left}
        answers = answer_in_turn(names, prompts[index], index, turn)
        for each in left:
            each.answers.append((index, answers[each.spec.name]))
        if turn + 1 >= SURE:
            left = [each for each in left if not _slower(each, _plain(each, finalists))]
        if time.perf_counter() >= until or not any(each.strategy.drafts for each in left):
            return


def _slower(candidate: Candidate, plain: Candidate) -> bool:
    estimate = _against(candidate, plain)
    return candidate.strategy.drafts and (estimate is None or estimate.high < 1.0)


def _kinds(candidates: Sequence[Candidate]) -> list[tuple[str, str, float]]:
    return list(dict.fromkeys(each.kind for each in candidates))


def _best_of_each_kind(candidates: Sequence[Candidate]) -> list[Candidate]:
    """By speed, of those that were screened to the end."""
    found = []
    for kind in _kinds(candidates):
        alike = [each for each in candidates if each.kind == kind]
        most = max(len(each.answers) for each in alike)
        found.append(max((e for e in alike if len(e.answers) == most), key=lambda e: e.speed))
    return found


def _plain(candidate: Candidate, candidates: Sequence[Candidate]) -> Candidate:
    """The target alone, at the same temperature."""
    return next(
        each
        for each in candidates
        if each.strategy.is_baseline and each.temperature == candidate.temperature
    )


def _against(candidate: Candidate, other: Candidate) -> Estimate | None:
    count = min(len(candidate.answers), len(other.answers))
    return compare(candidate.timed[:count], other.timed[:count])


def _figures(candidate: Candidate, plain: Candidate) -> dict[str, Any]:
    stats = [answer.stats for _, answer in candidate.answers if answer.stats]
    passes, tested = sum(s.passes for s in stats), sum(s.tested for s in stats)
    emitted, drafted = sum(s.emitted for s in stats), sum(s.drafted for s in stats)
    seconds = sum(s.decode_seconds for s in stats)
    estimate = _against(candidate, plain)
    return {
        "name": candidate.spec.name,
        "strategy": candidate.spec.strategy,
        "pins": dict(candidate.spec.overrides),
        "temperature": candidate.temperature,
        "answers": len(candidate.answers),
        "prompts": len({index for index, _ in candidate.answers}),
        "tokens": emitted,
        "tokens_per_second": candidate.speed or None,
        "speedup": estimate.ratio if estimate else None,
        "speedup_low": estimate.low if estimate else None,
        "speedup_high": estimate.high if estimate else None,
        "interval": estimate.interval if estimate else None,
        "acceptance_rate": sum(s.accepted for s in stats) / tested if tested else None,
        "tokens_per_pass": emitted / passes if passes else None,
        "verified_per_pass": drafted / passes + 1 if passes else None,
        "draft_share": sum(s.draft_seconds for s in stats) / seconds if seconds else None,
    }


def _measured(candidate: Candidate, finalists: Sequence[Candidate], costs: Curve) -> dict[str, Any]:
    """Its figures, whether it said what the target says, and what batches make of its speedup."""
    plain = _plain(candidate, finalists)
    figures = _figures(candidate, plain)
    same = None
    if candidate.params.sampling.greedy and candidate.params.acceptance == "exact":
        pairs = zip(candidate.answers, plain.answers, strict=False)  # or it was dropped earlier
        same = sum(own.ids == base.ids for (_, own), (_, base) in pairs)
    figures["matches_ar"] = same
    batches = {}
    if candidate.strategy.drafts and figures["speedup"] is not None:
        batches = batch_speedups(
            _round_cost(candidate),
            _round_cost(plain),
            candidate.strategy.role is not None,
            costs,
            costs.points[-1][0],
        )
    figures["batch_speedups"] = {str(size): value for size, value in batches.items()}
    figures["stops_paying_at"] = stops_paying(batches)
    return figures


def _round_cost(candidate: Candidate) -> RoundCost:
    """Of its mean round."""
    stats = [answer.stats for _, answer in candidate.answers if answer.stats]
    passes = sum(s.passes for s in stats)
    verify = sum(s.verify_seconds for s in stats) / passes
    draft = sum(s.draft_seconds for s in stats) / passes
    return RoundCost(
        sum(s.emitted for s in stats) / passes,
        sum(s.drafted for s in stats) / passes + 1,
        verify,
        draft,
        max(sum(s.decode_seconds for s in stats) / passes - verify - draft, 0.0),
    )


def _best(
    temperature: float, finalists: Sequence[Candidate], measured: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """What to use at a temperature: `name` None where no drafting is shown to pay. `ties` can't be
    told from it by these answers."""
    pairs = [
        (each, row)
        for each, row in zip(finalists, measured, strict=True)
        if each.temperature == temperature and each.strategy.drafts and row["speedup"] is not None
    ]
    ahead = max(pairs, key=lambda pair: pair[1]["speedup"], default=None)
    if ahead is None or ahead[1]["speedup_low"] <= 1.0:
        return {"temperature": temperature, "name": None, "ties": []}
    best, row = ahead
    others = (each for each, _ in pairs if each is not best)
    ties = [
        other.spec.name
        for other in others
        if (estimate := _against(best, other)) and estimate.low <= 1.0
    ]
    keys = (
        "name", "strategy", "pins", "speedup", "speedup_low", "speedup_high", "interval",
        "answers", "prompts", "stops_paying_at",
    )  # fmt: skip
    largest = max(map(int, row["batch_speedups"]))
    return {
        "temperature": temperature,
        **{key: row[key] for key in keys},
        "largest_batch": largest,
        "ties": ties,
    }


def _engines(
    temperature: float,
    finalists: Sequence[Candidate],
    measured: Sequence[dict[str, Any]],
    workers: Mapping[tuple[str, str], Lane],
    models: LoadedModels,
) -> Iterator[dict[str, Any]]:
    """For each engine the fastest of what it can do, if it is faster than the target alone."""
    paying = sorted(
        (
            (row["speedup"], index)
            for index, row in enumerate(measured)
            if row["temperature"] == temperature
            and finalists[index].strategy.drafts
            and row["speedup"] is not None
            and row["speedup_low"] > 1.0
        ),
        reverse=True,
    )
    for engine in ENGINES:
        entry: dict[str, Any] = {
            "temperature": temperature,
            "engine": engine.name,
            "version": engine.version,
            "name": None,
            "speedup": None,
            "configuration": None,
            "note": "nothing that pays here can be configured there",
        }
        for speedup, index in paying:
            choice = _choice(finalists[index], measured[index], workers, models)
            if snippet := engine.configure(choice):
                entry |= {
                    "name": measured[index]["name"],
                    "speedup": speedup,
                    "configuration": snippet.text,
                    "note": snippet.note,
                }
                break
        yield entry


def _choice(
    candidate: Candidate,
    row: dict[str, Any],
    workers: Mapping[tuple[str, str], Lane],
    models: LoadedModels,
) -> Choice:
    role = candidate.strategy.role
    head = models.drafters.get(role) if role else None
    params = candidate.params
    gamma = params.gamma
    if not isinstance(gamma, int):
        gamma = workers[candidate.kind[:2]].default_gamma
    top_k = params.eagle_top_k or (EagleTree().top_k if models.on_gpu else CPU_TOP_K)
    nodes = params.eagle_total_tokens or max(round(row["verified_per_pass"]), 2)
    return Choice(
        target=models.name,
        strategy=candidate.spec.strategy,
        gamma=gamma,
        top_k=top_k,
        nodes=nodes,
        source=models.options.drafters.get(role or "", ""),
        version=head.config.version if role in ("eagle", "eagle1") and head else "",
    )
