"""`specchat bench`: compares lanes and peers in one process, interleaved.

A speedup is the ratio within one repeat, over the autoregressive lane with the same sampling; over
the repeats the median is given with the lowest and the highest.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal, get_args

import torch
from transformers import PreTrainedModel, StoppingCriteria, StoppingCriteriaList

from app.cli.conversations import after_prefixes, all_turns
from app.cli.run import backend, check_concurrency, open_lanes, progress
from app.config.overrides import Sweep, sweep_lanes
from app.config.settings import Settings
from app.engine.contest import (
    Contestant,
    Generation,
    answer_in_turn,
    decoder_contestant,
    lane_contestant,
    server_contestant,
    speed,
)
from app.engine.lane import Lane
from app.engine.load import answer_together
from app.engine.out_of_memory import free_memory
from app.engine.server_lane import ServerLane
from app.engine.turn import AnyLane
from app.models.library import with_demo
from app.models.loaded import LoadedModels
from app.models.loading import load_model
from app.report.batches import Drafting, batches_document, round_cost
from app.report.document import settings_report
from app.servers.chunks import Question
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.text.prompt_file import Request
from decoding.cost.batches import batch_bytes, batch_costs
from decoding.cost.measure import reading_seconds
from decoding.decoder import Decoder
from decoding.drafters.simulated import Simulated
from decoding.errors import InputError
from decoding.model.clock import synchronize
from decoding.model.prefix import common_prefix
from decoding.model.target import Target
from decoding.params import Params, with_settings
from decoding.stats import total
from decoding.tokenizing.stopping import Stop

MEMORY_SHARE = 0.5  # of what is free, for the caches of a batch

Peer = Literal["hf", "hf-assisted"]


def bench(
    settings: Settings,
    requests: Sequence[Request],
    seed: int,
    repeats: int,
    peers: Sequence[Peer],
    sweep: Sweep,
    concurrency: int = 1,
    acceptances: Sequence[float] = (),
    batches: Sequence[int] = (),
    prefixes: Sequence[int] = (),
) -> dict[str, Any]:
    """Measure all contestants, each lane for every combination of the values in `sweep`, and
    drafters that are simulated with these `acceptances`; afterwards servers with so many prompts at
    a time (`concurrency`), and passes over so many sequences at once (`batches`). `prefixes`: each
    prompt stands after so many tokens. Returns the JSON document; see `_summary` for its figures.
    Raises InputError."""
    check_concurrency(settings, concurrency)
    if acceptances and settings.temperature > 0:
        raise InputError("--simulate-acceptance is greedy decoding: leave --temperature at 0")
    if batches and settings.kv_cache != "none":
        raise InputError("--batch measures passes over whole keys and values: leave --kv-cache out")
    specs_of_lanes = sweep_lanes(settings.lanes, sweep)
    with progress() as say:
        lanes, models = open_lanes(specs_of_lanes, settings, say)
        able = [lane for lane in lanes if lane.available]
        if not able:
            raise InputError(f"no lane can run: {lanes[0].reason}")
        turns, left_out = all_turns(settings, requests, able[0], models, seed, say)
        if prefixes:
            if models is None or any(isinstance(lane, ServerLane) for lane in able):
                raise InputError("--prefix is for lanes on a model here: leave --server out")
            turns = after_prefixes(turns, prefixes, models.context)
        prompts = [turn.ids for turn in turns]
        asked = [turn.question for turn in turns]
        twins = _with_whole_cache(able, models)
        able += [twin for _, twin in twins]
        specs_of_lanes += tuple(twin.spec for _, twin in twins)
        contestants = _lanes(settings, able, models, seed, asked)
        if models is not None:
            contestants |= _peers(settings, models, peers)
            contestants |= _simulated(settings, models, acceptances, prompts)
        elif peers or acceptances or batches:
            option = "--peers" if peers else "--simulate-acceptance" if acceptances else "--batch"
            raise InputError(f"{option} needs a model: give one with --target")
        specs = {spec.name: spec for spec in specs_of_lanes if spec.name in contestants}
        params = {name: _params(settings, specs.get(name)) for name in contestants}
        baselines = {name: _baseline(name, specs, params) for name in contestants}
        if batches and not any(map(baselines.get, _drafting(contestants, specs))):
            raise InputError("--batch needs the lane ar, and one on the target that drafts")
        for contestant in contestants.values():
            contestant(prompts[0], 0)  # untimed
        categories = [turn.category for turn in turns]
        answers: list[dict[str, list[Generation]]] = []
        for repeat in range(repeats):
            answers.append({name: [] for name in contestants})
            for index, ids in enumerate(prompts):
                say(f"repeat {repeat + 1} of {repeats}, prompt {index + 1} of {len(prompts)}")
                answered = answer_in_turn(contestants, ids, index, repeat + index)
                for name, answer in answered.items():
                    answers[-1][name].append(answer)
        in_batches = None
        if models is not None and batches:
            in_batches = _batches(models, specs, baselines, answers, prompts, batches, say)
        loads = []
        if concurrency > 1:
            for lane in able:
                if isinstance(lane, ServerLane):
                    say(f"{concurrency} prompts at a time to {lane.spec.name}")
                    loads.append(answer_together(lane, asked * repeats, concurrency).document())
    return {
        "schema_version": 1,
        **backend(models, lanes),
        "settings": settings_report(settings) | {"seed": seed},
        "sweep": sweep,
        "prompts": len(prompts),
        "unavailable": {lane.spec.name: lane.reason for lane in lanes if lane.reason is not None},
        "turns_left_out": left_out,
        "prefixes": list(prefixes),
        "repeats": repeats,
        "batch_size": 1,
        "contestants": [
            _summary(name, specs.get(name), answers, baselines[name], params, categories)
            for name in contestants
        ],
        "weights": None if models is None else _reading(models.target),
        "batches": in_batches,
        "load": loads,
        "kv_cache_cost": _kv_cache_cost(twins, answers[-1]) if twins else None,
    }


def _with_whole_cache(
    lanes: Sequence[AnyLane], models: LoadedModels | None
) -> list[tuple[Lane, Lane]]:
    """With --kv-cache each lane, and the same once more with keys and values as they are: what it
    costs is seen beside it."""
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


def _kv_cache_cost(
    twins: Sequence[tuple[Lane, Lane]], answers: Mapping[str, Sequence[Generation]]
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


def _summary(
    name: str,
    spec: LaneSpec | None,
    answers: Sequence[dict[str, list[Generation]]],
    baseline: str | None,
    params: Mapping[str, Params],
    categories: Sequence[str | None],
) -> dict[str, Any]:
    """Figures of one contestant over all prompts, and over those of each category; `spec` None is a
    peer. `matches_ar` counts the prompts where it has the baseline's ids, if it must have them."""
    last = answers[-1]
    same = None
    if baseline and _comparable(spec, params[name], params[baseline]):
        same = sum(a.ids == b.ids for a, b in zip(last[name], last[baseline], strict=True))
    prompts_of = defaultdict[str, list[int]](list)
    for prompt, category in enumerate(categories):
        if category:
            prompts_of[category].append(prompt)
    return {
        "name": name,
        "strategy": spec.strategy if spec else None,
        "checkpoint": spec.checkpoint if spec else None,
        "pins": dict(spec.overrides) if spec else {},
        "baseline": baseline,
        **_figures(name, baseline, answers, range(len(categories))),
        "matches_ar": same,
        "round_seconds": _round_seconds([a for repeat in answers for a in repeat[name]]),
        "categories": {
            category: _figures(name, baseline, answers, prompts)
            for category, prompts in prompts_of.items()
        },
    }


def _figures(
    name: str,
    baseline: str | None,
    answers: Sequence[dict[str, list[Generation]]],
    prompts: Sequence[int],
) -> dict[str, Any]:
    """Over some of the prompts: the median speed of the repeats, their speedups, and what of the
    drafts was accepted in the last repeat."""

    def chosen(repeat: dict[str, list[Generation]], contestant: str) -> list[Generation]:
        return [repeat[contestant][prompt] for prompt in prompts]

    speeds, ratios = list[float](), list[float]()
    for repeat in answers:
        own = speed(chosen(repeat, name))
        base = speed(chosen(repeat, baseline)) if baseline else None
        if own is not None:
            speeds.append(own)
            if base is not None:
                ratios.append(own / base)
    last = chosen(answers[-1], name)
    passes = sum(a.stats.passes for a in last if a.stats)
    tested = sum(a.stats.tested for a in last if a.stats)
    accepted = sum(a.stats.accepted for a in last if a.stats)
    return {
        "tokens_per_second": statistics.median(speeds) if speeds else None,
        "speedup": statistics.median(ratios) if ratios else None,
        "speedup_low": min(ratios, default=None),
        "speedup_high": max(ratios, default=None),
        "acceptance_rate": accepted / tested if tested else None,
        "tokens_per_pass": sum(a.emitted for a in last) / passes if passes else None,
    }


def _round_seconds(answers: Sequence[Generation]) -> dict[str, float] | None:
    """Of a mean round: drafting, the target's pass, and all the rest. None for peers."""
    stats = total([answer.stats for answer in answers if answer.stats])
    if not stats.passes:
        return None
    cost = round_cost(stats)
    return {"draft": cost.draft, "verify": cost.verify, "rest": cost.rest}


def _drafting(names: Iterable[str], specs: Mapping[str, LaneSpec]) -> list[str]:
    """Those that draft for the target. Of peers nothing is known."""
    strategies = {name: STRATEGIES[spec.strategy] for name, spec in specs.items()}
    return [
        name
        for name in names
        if name not in get_args(Peer)
        and (name not in specs or (strategies[name].drafts and strategies[name].on_target))
    ]


def _batches(
    models: LoadedModels,
    specs: Mapping[str, LaneSpec],
    baselines: Mapping[str, str | None],
    answers: Sequence[dict[str, list[Generation]]],
    prompts: Sequence[Sequence[int]],
    sizes: Sequence[int],
    say: Callable[[str], None],
) -> dict[str, Any] | None:
    """What the contestants that draft would bring for so many sequences at once; None where none
    has drafted."""
    rounds = {}
    for name in answers[-1]:
        stats = total([a.stats for repeat in answers for a in repeat[name] if a.stats])
        if stats.drafted or (stats.passes and name in baselines.values()):
            rounds[name] = round_cost(stats)
    drafting = []
    for name in _drafting(rounds, specs):
        baseline = baselines[name]
        if baseline in rounds:
            by_model = name in specs and STRATEGIES[specs[name].strategy].role is not None
            drafting.append(Drafting(name, baseline, rounds[name], rounds[baseline], by_model))
    if not drafting:
        return None
    lengths = [len(answer.ids) for name in rounds for answer in answers[-1][name]]
    context = round(statistics.mean(map(len, prompts)) + statistics.mean(lengths) / 2)
    nodes = max(each.own.nodes for each in drafting)
    room = MEMORY_SHARE * free_memory(models)
    fit = [n for n in sizes if batch_bytes(models.target, n, nodes, context) <= room]
    costs = batch_costs(models.target, sorted({1, *fit}), nodes, context, say)
    left_out = [n for n in sizes if n not in fit]
    return batches_document(drafting, costs, costs.measured, fit, context) | {"left_out": left_out}


def _reading(target: Target) -> dict[str, Any] | None:
    """The least that a pass can take: its weights have to be read."""
    nbytes = target.bytes_per_pass
    if nbytes is None:
        return None
    return {"bytes": nbytes, "seconds": reading_seconds(nbytes, target.device)}


def _params(settings: Settings, spec: LaneSpec | None) -> Params:
    """What a lane answers with; a peer has the run's settings."""
    return with_settings(settings.params, spec.overrides if spec else {})


def _baseline(name: str, specs: Mapping[str, LaneSpec], params: Mapping[str, Params]) -> str | None:
    """The autoregressive lane that a contestant is compared with: one that samples as it does,
    else the first."""
    if name in specs and STRATEGIES[specs[name].strategy].remote:
        return None  # another machine's speed is no speedup
    found = [each for each in specs if STRATEGIES[specs[each].strategy].is_baseline]
    alike = [each for each in found if params[each].sampling == params[name].sampling]
    return next(iter(alike or found), None)


def _comparable(spec: LaneSpec | None, own: Params, baseline: Params) -> bool:
    """Whether the ids must equal the baseline's: greedy both, the same length limit, and the
    target's own text."""
    on_target = spec is None or STRATEGIES[spec.strategy].on_target
    greedy = own.sampling.greedy and baseline.sampling.greedy
    return greedy and on_target and own.max_new_tokens == baseline.max_new_tokens


def _lanes(
    settings: Settings,
    lanes: Sequence[AnyLane],
    models: LoadedModels | None,
    seed: int,
    asked: Sequence[Question],
) -> dict[str, Contestant]:
    stop = models.stop(settings.ignore_eos, settings.stop) if models else Stop()
    return {
        lane.spec.name: server_contestant(lane, asked)
        if isinstance(lane, ServerLane)
        else lane_contestant(lane, lane.spec, settings.params, seed, stop)
        for lane in lanes
    }


def _simulated(
    settings: Settings,
    models: LoadedModels,
    acceptances: Sequence[float],
    prompts: Sequence[Sequence[int]],
) -> dict[str, Contestant]:
    """Drafters that know the target's answers, and how often to be wrong."""
    if not acceptances:
        return {}
    stop = models.stop(settings.ignore_eos, settings.stop)
    plain = Decoder(models.target)
    answers = []
    for ids in prompts:
        for _ in plain.generate(ids, settings.params, stop=stop):
            pass
        answers.append(list(plain.generated))

    def contestant(acceptance: float) -> Contestant:
        drafter = Simulated(models.target.device, acceptance)

        def told(index: int) -> None:
            drafter.answer = answers[index]

        return decoder_contestant(Decoder(models.target, drafter), settings.params, stop, told)

    return {f"simulated {each:g}": contestant(each) for each in acceptances}


def _peers(
    settings: Settings, models: LoadedModels, peers: Sequence[Peer]
) -> dict[str, Contestant]:
    """Hugging Face's own `generate` on the same weights, under its own attention and cache."""
    if not peers:
        return {}
    if settings.temperature > 0:
        raise InputError("--peers compares greedy decoding: leave --temperature at 0")
    if settings.params.sampling.penalizes:
        raise InputError("--peers compares plain greedy decoding: leave the penalties out")
    if settings.logit_bias:
        raise InputError("--peers compares plain greedy decoding: leave --logit-bias out")
    assistant = None
    if "hf-assisted" in peers:
        source = with_demo(settings.models).drafters.get("draft")
        if source is None:
            raise InputError("--peers hf-assisted needs a draft model: give one with --draft")
        if models.draft_tokenizer is not None:
            raise InputError("--peers hf-assisted needs a draft model with the target's tokenizer")
        assistant = load_model(source, settings.models)
    # On a CPU a copy of the target: its own weights lie as our passes like them.
    own = None
    if models.target.device.type == "cpu":
        own = load_model(models.name, settings.models)

    def contestant(helper: PreTrainedModel | None) -> Contestant:
        def answer(ids: Sequence[int], index: int) -> Generation:
            with models.target.as_loaded() if own is None else nullcontext(own) as model:
                return _generated(model, helper, ids, settings, models)

        return answer

    helpers = {"hf": None, "hf-assisted": assistant}
    return {name: contestant(helpers[name]) for name in peers}


def _generated(
    model: Any,
    helper: PreTrainedModel | None,
    ids: Sequence[int],
    settings: Settings,
    models: LoadedModels,
) -> Generation:
    ticks = _Ticks()
    prompt = torch.tensor([list(ids)], device=model.device)
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=min(settings.max_new_tokens, models.context + 1 - len(ids)),
        eos_token_id=None if settings.ignore_eos else sorted(models.eos),
        pad_token_id=0,
        stopping_criteria=StoppingCriteriaList([ticks]),
        assistant_model=helper,
    )
    synchronize(model.device)
    seconds = time.perf_counter() - ticks.first
    return Generation(out[0, len(ids) :].tolist(), out.shape[1] - ticks.length_at_first, seconds)


class _Ticks(StoppingCriteria):
    """Records when the first tokens arrived; never stops generation."""

    def __init__(self) -> None:
        self.first = 0.0
        self.length_at_first = 0

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        if not self.first:
            self.first, self.length_at_first = time.perf_counter(), input_ids.shape[1]
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)
