"""Finds the settings that a drafter is fastest with on this machine, and writes them into its
checkpoint, where loading takes them as its lane's default."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.cli.heads.checksums import CHECKSUMS, write_checksums
from app.engine.candidates import TUNED, candidates
from app.engine.experiment import Experiment
from app.models.loaded import LoadedModels
from app.report.advice_document import Candidate, baseline_of
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import AUTOREGRESSIVE, STRATEGIES
from app.text.plural import pluralize
from decoding.checkpoints.draft_settings import EagleSettings, with_choices, with_eagle_settings
from decoding.checkpoints.files import read_config
from decoding.drafters.medusa_tree import default_choices
from decoding.errors import InputError
from decoding.files import write_atomically
from decoding.json_text import read_json
from decoding.params import Params, flat
from decoding.tokenizing.stopping import Stop
from decoding.trees.static import NAMED_TREES, Choices, build_tree, truncate_paths


def write_best_settings(
    models: LoadedModels,
    kind: str,
    heads: Path,
    prompts: Sequence[Sequence[int]],
    params: Params,
    seed: int,
    seconds: float,
    accuracy: Sequence[Sequence[float]],
    say: Callable[[str], None],
) -> tuple[dict[str, Any], str]:
    """Measure for about so many `seconds`, and write what was fastest. Settings that `params` name
    are not varied. `accuracy`: of Medusa's heads, by rank. Returns facts for a document, and a
    sentence. Raises InputError if none could be measured."""
    lanes = [LaneSpec(AUTOREGRESSIVE.name, AUTOREGRESSIVE.name), LaneSpec(kind, kind)]
    if kind == "medusa":
        medusa = models.drafters[kind]
        medusa.accuracy = tuple(map(tuple, accuracy))
        models.medusa_choices = default_choices(medusa, models.target, models.verify_cost)
        lanes += [LaneSpec(kind, f"{kind}:tree={name}", tree=name) for name in NAMED_TREES]
    elif kind == "eagle":  # what was written before has no advantage
        head = models.drafters[kind]
        head.config = replace(head.config, settings=EagleSettings())
    named = {name for name in TUNED if flat(params)[name] is not None}
    tried = candidates(lanes, models, params, chosen=named)
    tried = [each for each in tried if each.params.gamma != "auto"]  # no checkpoint can say that
    experiment = Experiment(
        models, tried, prompts, params, Stop(models.eos), seed, seconds,
        lambda what, part: say(what),
    )  # fmt: skip
    finalists = experiment.compete()
    for name, why in experiment.failed.items():
        say(f"{name} failed: {why}")
    drafting = [each for each in finalists if each.strategy.drafts]
    if not drafting:
        raise InputError("no settings to write: each of them failed")
    best = max(drafting, key=lambda each: each.speed)
    estimate = best.against(baseline_of(best, finalists))
    settings, what = _SETTINGS[kind](models, best)
    file = _write(models, kind, heads, settings)
    facts = {"settings": settings, "settings_speedup": estimate and asdict(estimate)}
    times = "" if estimate is None else (
        f", {estimate.ratio:.2f}× the target alone ({estimate.interval} {estimate.low:.2f} to "
        f"{estimate.high:.2f})"
    )  # fmt: skip
    return facts, f"fastest here: {what}{times}; {file} says so"


def _medusa(models: LoadedModels, best: Candidate) -> tuple[dict[str, Any], str]:
    trees = STRATEGIES["medusa"].trees
    assert trees is not None
    tree = trees(models)[best.spec.tree].choices
    heads, gamma = models.drafters["medusa"], best.params.gamma
    longest = gamma if isinstance(gamma, int) else heads.count
    choices: Choices = truncate_paths(tree, min(longest, heads.count), heads.vocab)
    nodes = len(build_tree(choices).ranks) + 1
    return {"medusa_choices": choices}, f"a tree of {pluralize(nodes, 'node')}"


def _eagle(models: LoadedModels, best: Candidate) -> tuple[dict[str, Any], str]:
    params = best.params
    gamma = params.gamma if isinstance(params.gamma, int) else None
    settings = EagleSettings(gamma, params.eagle_top_k, params.eagle_total_tokens)
    words = [
        f"γ {settings.gamma}" if settings.gamma else "",
        f"top-k {settings.top_k}" if settings.top_k else "",
        f"{settings.total} nodes" if settings.total else "as many nodes as pay",
    ]
    return asdict(settings), ", ".join(filter(None, words))


def _draft(models: LoadedModels, best: Candidate) -> tuple[dict[str, Any], str]:
    return {"num_assistant_tokens": best.params.gamma}, f"γ {best.params.gamma}"


_SETTINGS = {"medusa": _medusa, "eagle": _eagle, "draft": _draft}


def _write(models: LoadedModels, kind: str, heads: Path, settings: dict[str, Any]) -> Path:
    """Change the config of the checkpoint, and its checksums if it has some. Returns the file."""
    file = heads / ("generation_config.json" if kind == "draft" else "config.json")
    if kind == "medusa":
        config = with_choices(read_config(heads), settings["medusa_choices"])
    elif kind == "eagle":
        config = with_eagle_settings(read_config(heads), EagleSettings(**settings))
    elif file.is_file():
        config = read_json(file) | settings
    else:
        config = models.drafters[kind].model.generation_config.to_diff_dict() | settings
    try:
        write_atomically(file, json.dumps(config, indent=2) + "\n", private=False)
        if (heads / CHECKSUMS).is_file():
            write_checksums(heads)
    except OSError as error:
        raise InputError(f"can't write the settings to {file}: {error.strerror}") from error
    return file
