"""`specchat bench`: compares lanes and peers in one process, interleaved.

A machine's speed drifts. Every repeat therefore answers each prompt with every contestant, in an
order that turns, and a speedup is the ratio within one repeat; over the repeats the median is given
with the lowest and the highest.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from transformers import PreTrainedModel, StoppingCriteria, StoppingCriteriaList

from app.cli.run import first_prompts, progress
from app.config.settings import Settings
from app.engine.lane import Lane
from app.engine.turn import answer_seed
from app.models.library import with_demo
from app.models.loaded import LoadedModels, load_models
from app.models.loading import load_model
from app.report.document import settings_report
from app.strategies.registry import STRATEGIES, LaneSpec
from app.text.plural import pluralize
from app.text.prompt_file import Request
from decoding.errors import InputError
from decoding.model.clock import synchronize
from decoding.params import with_settings
from decoding.stats import Stats

Peer = Literal["hf", "hf-assisted"]


@dataclass(slots=True)
class Generation:
    """One contestant's answer to one prompt. `emitted` and `seconds` leave out the prefill and its
    token."""

    ids: list[int]
    emitted: int
    seconds: float
    stats: Stats | None = None


Contestant = Callable[[Sequence[int], int], Generation]


def bench(
    settings: Settings,
    requests: Sequence[Request],
    seed: int,
    repeats: int,
    peers: Sequence[Peer],
) -> dict[str, Any]:
    """Measure all contestants. Returns the JSON document; see `_summary` for its figures."""
    with progress() as say:
        strategies = {spec.strategy for spec in settings.lanes}
        models = load_models(settings.models, lambda what, part: say(f"loading {what}"), strategies)
        prompts = first_prompts(settings, requests, models)
        contestants = _lanes(settings, models, seed) | _peers(settings, models, peers)
        names = list(contestants)
        specs = [spec for spec in settings.lanes if spec.name in names]
        baseline = next(
            (spec.name for spec in specs if STRATEGIES[spec.strategy].is_baseline), None
        )
        unlike = {spec.name for spec in specs if not _comparable(spec, settings)}
        missing = [spec for spec in settings.lanes if spec.strategy in models.missing]
        for contestant in contestants.values():
            contestant(prompts[0], 0)  # untimed
        answers: list[dict[str, list[Generation]]] = []
        for repeat in range(repeats):
            answers.append({name: [] for name in names})
            for index, ids in enumerate(prompts):
                say(f"repeat {repeat + 1} of {repeats}, prompt {index + 1} of {len(prompts)}")
                turn = (repeat + index) % len(names)
                for name in names[turn:] + names[:turn]:
                    answers[-1][name].append(contestants[name](ids, index))
    return {
        "schema_version": 1,
        "target": models.name,
        "device": models.device,
        "dtype": models.dtype,
        "threads": models.threads,
        "settings": settings_report(settings) | {"seed": seed},
        "prompts": len(prompts),
        "unavailable": {s.name: models.missing[s.strategy] for s in missing},
        "first_turns_only": any(len(request.turns) > 1 for request in requests),
        "repeats": repeats,
        "batch_size": 1,
        "contestants": [
            _summary(name, answers, baseline, not {name, baseline} & unlike) for name in names
        ],
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
    lines += [f"{name}: not available: {why}" for name, why in report["unavailable"].items()]
    if report["first_turns_only"]:
        lines.append("Only the first turn of each conversation was answered.")
    lines.append(
        f"{pluralize(report['prompts'], 'prompt')}, {pluralize(report['repeats'], 'repeat')}, "
        f"{report['device']} {report['dtype']}, {pluralize(report['threads'], 'thread')}, "
        "batch size 1; medians over the repeats"
    )
    return "\n".join(lines) + "\n"


def _summary(
    name: str, answers: Sequence[dict[str, list[Generation]]], baseline: str | None, compared: bool
) -> dict[str, Any]:
    """Figures of one contestant over all prompts. `compared`: its ids must equal the baseline's,
    and `matches_ar` counts the prompts where they do."""
    pairs = [(_speed(r[name]), _speed(r[baseline]) if baseline else None) for r in answers]
    speeds = [speed for speed, _ in pairs if speed is not None]
    ratios = [speed / base for speed, base in pairs if speed is not None and base is not None]
    last = answers[-1]
    passes = sum(a.stats.passes for a in last[name] if a.stats)
    tested = sum(a.stats.tested for a in last[name] if a.stats)
    accepted = sum(a.stats.accepted for a in last[name] if a.stats)
    emitted = sum(a.emitted for a in last[name])
    same = None
    if baseline and compared:
        same = sum(a.ids == b.ids for a, b in zip(last[name], last[baseline], strict=True))
    return {
        "name": name,
        "tokens_per_second": statistics.median(speeds) if speeds else None,
        "speedup": statistics.median(ratios) if ratios else None,
        "speedup_low": min(ratios, default=None),
        "speedup_high": max(ratios, default=None),
        "acceptance_rate": accepted / tested if tested else None,
        "tokens_per_pass": emitted / passes if passes else None,
        "matches_ar": same,
    }


def _comparable(spec: LaneSpec, settings: Settings) -> bool:
    """Whether the lane's ids must equal the baseline's: greedy, the run's length limit, and the
    target's own text."""
    own = with_settings(settings.params, spec.overrides)
    same_length = own.max_new_tokens == settings.max_new_tokens
    return own.sampling.greedy and same_length and STRATEGIES[spec.strategy].on_target


def _speed(answers: Sequence[Generation]) -> float | None:
    """Decoded tokens per second; None if nothing followed the first token."""
    emitted = sum(a.emitted for a in answers)
    return emitted / sum(a.seconds for a in answers) if emitted else None


def _lanes(settings: Settings, models: LoadedModels, seed: int) -> dict[str, Contestant]:
    lanes = [Lane(spec, models) for spec in settings.lanes]
    lanes = [lane for lane in lanes if lane.available]
    if not lanes:
        raise InputError(f"no lane can run: {models.missing.get(settings.lanes[0].strategy)}")
    stop = models.stop(settings.ignore_eos, settings.stop)

    def contestant(lane: Lane) -> Contestant:
        def answer(ids: Sequence[int], index: int) -> Generation:
            lane.generate(ids, settings.params, answer_seed(seed, index), stop)
            stats = lane.stats
            return Generation(list(lane.ids), stats.emitted, stats.decode_seconds, stats)

        return answer

    return {lane.spec.name: contestant(lane) for lane in lanes}


def _peers(
    settings: Settings, models: LoadedModels, peers: Sequence[Peer]
) -> dict[str, Contestant]:
    """Hugging Face's own `generate` on the same weights, under its own attention and cache."""
    if not peers:
        return {}
    if settings.temperature > 0:
        raise InputError("--peers compares greedy decoding: leave --temperature at 0")
    model = load_model(models.name, settings.models)
    assistant = None
    if "hf-assisted" in peers:
        source = with_demo(settings.models).draft
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
