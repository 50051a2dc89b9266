"""`specchat bench`: compares lanes and peers in one process, interleaved.

A speedup is the ratio within one repeat, over the autoregressive lane with the same sampling; over
the repeats the median is given with the lowest and the highest.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from transformers import PreTrainedModel, StoppingCriteria, StoppingCriteriaList

from app.cli.run import (
    backend,
    check_concurrency,
    first_prompts,
    open_lanes,
    progress,
    questions,
)
from app.config.overrides import Sweep, sweep_lanes
from app.config.settings import Settings
from app.engine.contest import (
    Contestant,
    Generation,
    answer_in_turn,
    lane_contestant,
    server_contestant,
    speed,
)
from app.engine.load import answer_together, load_line
from app.engine.server_lane import ServerLane
from app.engine.turn import AnyLane
from app.models.library import with_demo
from app.models.loaded import LoadedModels
from app.models.loading import load_model
from app.report.document import settings_report
from app.report.page import Section
from app.servers.chunks import Question
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.text.plural import pluralize
from app.text.prompt_file import Request
from decoding.errors import InputError
from decoding.model.clock import synchronize
from decoding.params import Params, with_settings
from decoding.tokenizing.stopping import Stop

Peer = Literal["hf", "hf-assisted"]


def bench(
    settings: Settings,
    requests: Sequence[Request],
    seed: int,
    repeats: int,
    peers: Sequence[Peer],
    sweep: Sweep,
    concurrency: int = 1,
) -> dict[str, Any]:
    """Measure all contestants, each lane for every combination of the values in `sweep`; afterwards
    servers with so many prompts at a time (`concurrency`). Returns the JSON document; see
    `_summary` for its figures. Raises InputError."""
    check_concurrency(settings, concurrency)
    specs_of_lanes = sweep_lanes(settings.lanes, sweep)
    with progress() as say:
        lanes, models = open_lanes(specs_of_lanes, settings, say)
        prompts = first_prompts(requests, models, settings.system, settings.raw)
        asked = questions(settings, requests, seed)
        contestants = _lanes(settings, lanes, models, seed, asked)
        if models is not None:
            contestants |= _peers(settings, models, peers)
        elif peers:
            raise InputError("--peers needs a model: give one with --target")
        specs = {spec.name: spec for spec in specs_of_lanes if spec.name in contestants}
        params = {name: _params(settings, specs.get(name)) for name in contestants}
        for contestant in contestants.values():
            contestant(prompts[0], 0)  # untimed
        answers: list[dict[str, list[Generation]]] = []
        for repeat in range(repeats):
            answers.append({name: [] for name in contestants})
            for index, ids in enumerate(prompts):
                say(f"repeat {repeat + 1} of {repeats}, prompt {index + 1} of {len(prompts)}")
                answered = answer_in_turn(contestants, ids, index, repeat + index)
                for name, answer in answered.items():
                    answers[-1][name].append(answer)
        loads = []
        if concurrency > 1:
            for lane in lanes:
                if isinstance(lane, ServerLane) and lane.available:
                    say(f"{concurrency} prompts at a time to {lane.spec.name}")
                    loads.append(answer_together(lane, asked * repeats, concurrency).document())
    return {
        "schema_version": 1,
        **backend(models, lanes),
        "settings": settings_report(settings) | {"seed": seed},
        "sweep": sweep,
        "prompts": len(prompts),
        "unavailable": {lane.spec.name: lane.reason for lane in lanes if lane.reason is not None},
        "first_turns_only": any(len(request.turns) > 1 for request in requests),
        "repeats": repeats,
        "batch_size": 1,
        "contestants": [
            _summary(name, specs.get(name), answers, _baseline(name, specs, params), params)
            for name in contestants
        ],
        "load": loads,
    }


def format_report(report: dict[str, Any]) -> str:
    """Format the report as a table."""
    width = max(14, *(len(row["name"]) for row in report["contestants"]))
    head = f"{'tok/s':>8} {'speedup':>8}  {'(low-high)':<12} {'α':>5} {'τ':>5}  same ids"
    lines = [f"{'':{width}} {head}"]
    for row in report["contestants"]:
        spread = f"({row['speedup_low']:.2f}-{row['speedup_high']:.2f})" if row["speedup"] else ""
        cells = [
            f"{row['name']:{width}}",
            f"{row['tokens_per_second']:8.1f}" if row["tokens_per_second"] else " " * 8,
            f"{row['speedup']:7.2f}x" if row["speedup"] else " " * 8,
            f" {spread:<12}",
            " " * 5 if row["acceptance_rate"] is None else f"{row['acceptance_rate']:5.0%}",
            " " * 5 if row["tokens_per_pass"] is None else f"{row['tokens_per_pass']:5.2f}",
            "" if row["matches_ar"] is None else f" {row['matches_ar']} of {report['prompts']}",
        ]
        lines.append(" ".join(cells).rstrip())
    return "\n".join((*lines, *_notes(report))) + "\n"


def report_sections(report: dict[str, Any]) -> list[Section]:
    """The table of a report's page."""
    heading = ("", "tok/s", "speedup", "low-high", "α", "τ", "same ids")
    table = [heading]
    for row in report["contestants"]:
        drafted, speedup, speed = (
            row[key] for key in ("acceptance_rate", "speedup", "tokens_per_second")
        )
        table.append(
            (
                row["name"],
                f"{speed:.1f}" if speed else "",
                f"{speedup:.2f}x" if speedup else "",
                f"{row['speedup_low']:.2f}-{row['speedup_high']:.2f}" if speedup else "",
                "" if drafted is None else f"{drafted:.0%}",
                "" if row["tokens_per_pass"] is None else f"{row['tokens_per_pass']:.2f}",
                "" if row["matches_ar"] is None else f"{row['matches_ar']} of {report['prompts']}",
            )
        )
    return [Section("Contestants", _notes(report), table)]


def _notes(report: dict[str, Any]) -> list[str]:
    notes = [f"{name}: not available: {why}" for name, why in report["unavailable"].items()]
    if report["first_turns_only"]:
        notes.append("Only the first turn of each conversation was answered.")
    notes += [load_line(load) for load in report["load"]]
    facts = [pluralize(report["prompts"], "prompt"), pluralize(report["repeats"], "repeat")]
    if report["threads"] is not None:
        facts += [f"{report['device']} {report['dtype']}", pluralize(report["threads"], "thread")]
    notes.append(f"{', '.join(facts)}, batch size 1; medians over the repeats")
    return notes


def _summary(
    name: str,
    spec: LaneSpec | None,
    answers: Sequence[dict[str, list[Generation]]],
    baseline: str | None,
    params: Mapping[str, Params],
) -> dict[str, Any]:
    """Figures of one contestant over all prompts; `spec` None is a peer. `matches_ar` counts the
    prompts where it has the baseline's ids, if it must have them."""
    pairs = [(speed(r[name]), speed(r[baseline]) if baseline else None) for r in answers]
    speeds = [own for own, _ in pairs if own is not None]
    ratios = [own / base for own, base in pairs if own is not None and base is not None]
    last = answers[-1]
    passes = sum(a.stats.passes for a in last[name] if a.stats)
    tested = sum(a.stats.tested for a in last[name] if a.stats)
    accepted = sum(a.stats.accepted for a in last[name] if a.stats)
    emitted = sum(a.emitted for a in last[name])
    same = None
    if baseline and _comparable(spec, params[name], params[baseline]):
        same = sum(a.ids == b.ids for a, b in zip(last[name], last[baseline], strict=True))
    return {
        "name": name,
        "strategy": spec.strategy if spec else None,
        "checkpoint": spec.checkpoint if spec else None,
        "pins": dict(spec.overrides) if spec else {},
        "baseline": baseline,
        "tokens_per_second": statistics.median(speeds) if speeds else None,
        "speedup": statistics.median(ratios) if ratios else None,
        "speedup_low": min(ratios, default=None),
        "speedup_high": max(ratios, default=None),
        "acceptance_rate": accepted / tested if tested else None,
        "tokens_per_pass": emitted / passes if passes else None,
        "matches_ar": same,
    }


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
    if not any(lane.available for lane in lanes):
        raise InputError(f"no lane can run: {lanes[0].reason}")
    stop = models.stop(settings.ignore_eos, settings.stop) if models else Stop()
    return {
        lane.spec.name: server_contestant(lane, asked)
        if isinstance(lane, ServerLane)
        else lane_contestant(lane, lane.spec, settings.params, seed, stop)
        for lane in lanes
        if lane.available
    }


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
    model = load_model(models.name, settings.models)
    assistant = None
    if "hf-assisted" in peers:
        source = with_demo(settings.models).drafters.get("draft")
        if source is None:
            raise InputError("--peers hf-assisted needs a draft model: give one with --draft")
        assistant = load_model(source, settings.models)

    def contestant(helper: PreTrainedModel | None) -> Contestant:
        def answer(ids: Sequence[int], index: int) -> Generation:
            ticks = _Ticks()
            prompt = torch.tensor([list(ids)], device=model.device)
            room = models.context + 1 - len(ids)
            out = model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                do_sample=False,
                max_new_tokens=min(settings.max_new_tokens, room),
                eos_token_id=None if settings.ignore_eos else sorted(models.eos),
                pad_token_id=0,
                stopping_criteria=StoppingCriteriaList([ticks]),
                assistant_model=helper,
            )
            synchronize(model.device)
            seconds = time.perf_counter() - ticks.first
            return Generation(
                out[0, len(ids) :].tolist(), out.shape[1] - ticks.length_at_first, seconds
            )

        return answer

    helpers = {"hf": None, "hf-assisted": assistant}
    return {name: contestant(helpers[name]) for name in peers}


class _Ticks(StoppingCriteria):
    """Records when the first tokens arrived; never stops generation."""

    def __init__(self) -> None:
        self.first = 0.0
        self.length_at_first = 0

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        if not self.first:
            self.first, self.length_at_first = time.perf_counter(), input_ids.shape[1]
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)
