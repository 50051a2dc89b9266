"""`specchat heads eval`: measures a drafter on the target's own answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from app.cli.heads.eval_settings import MEDUSA_TREE, in_words, with_eval_settings
from app.cli.heads.settings import write_best_settings
from app.cli.heads.target import target_shape
from app.cli.heads.training_data import requests_of
from app.cli.prompts import first_prompts
from app.cli.terminal import print_result, progress
from app.config.model_options import ModelOptions
from app.engine.token_events import TokenEvents
from app.models.download import weights_among
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from app.report.answer import Timing
from app.report.document import envelope
from app.report.rejections import Level, levels_of
from app.report.rejections_document import breakdown, breakdown_lines
from app.report.speedup_estimate import Estimate, estimate_speedup
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.text.plural import pluralize
from app.text.units import format_bytes
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.kind import drafter_kind
from decoding.drafters.medusa import Medusa
from decoding.errors import InputError
from decoding.params import Params
from decoding.stats import Stats, acceptance_by_position
from decoding.tokenizing.stopping import Stop
from decoding.training.draft import divergence
from decoding.training.eagle import chain_accuracy, simulated_length
from decoding.training.evaluate import Answer, answer_prompts, medusa_accuracy, stats_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What to measure with: the options of `heads eval` other than the heads."""

    target: str
    prompts: list[str]
    params: Params
    medusa_choices: str | None = None
    seed: int = 0
    device: str = "auto"
    template: str | None = None  # of --chat-template
    threads: int | None = None
    search: float | None = None  # seconds to find the settings to write into the checkpoint


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """`facts` (for JSON) and `lines` (for people) are the measures of its kind of drafter. `top1`
    is how often its likeliest first token is the target's. `categories` has one for each prompt,
    `levels` are those of the drafts that the target tested."""

    heads: Path
    facts: dict[str, Any]
    lines: list[str]
    top1: float
    tree: str
    answers: list[Answer]
    categories: list[str | None]
    levels: list[Level]
    written: str = ""  # the settings that were written into the checkpoint, in words

    @property
    def served(self) -> Stats:
        return stats_of(self.answers)

    def document(self) -> dict[str, Any]:
        served = self.served
        rounds = [record for answer in self.answers for record in answer.rounds]
        return self.facts | _figures(served) | {
            "accepted_histogram": served.histogram,
            "by_depth": [
                {
                    "depth": depth, "rounds": position.rounds,
                    "conditional": position.conditional,
                    "unconditional": position.unconditional,
                }
                for depth, position in enumerate(acceptance_by_position(rounds), 1)
            ],
            "by_category": {
                name: {"prompts": len(answers), **_figures(stats_of(answers))}
                for name, answers in self._by_category().items()
            },
        } | breakdown(self.levels)  # fmt: skip

    def text(self) -> str:
        document, served = self.document(), self.served
        return "\n".join(
            [
                *self.lines,
                *_depths(document["by_depth"]),
                *_categories(document["by_category"]),
                *(breakdown_lines(document) if self.levels else ()),
                "",
                f"served: τ {served.tokens_per_pass or 0:.2f}, α {served.acceptance_rate or 0:.2f} "
                f"with {self.tree}; {served.passes} passes over "
                f"{pluralize(len(self.answers), 'prompt')}",
                *filter(None, [self.written]),
            ]
        )

    def _by_category(self) -> dict[str, list[Answer]]:
        by_category: dict[str, list[Answer]] = {}
        for name, answer in zip(self.categories, self.answers, strict=True):
            if name is not None:
                by_category.setdefault(name, []).append(answer)
        return by_category


def evaluate(task: Task, heads: Path) -> Evaluation:
    """Answer the prompts with the heads, with the default settings where the task has none; then
    measure the heads on the answers. Raises InputError."""
    kind = drafter_kind(heads)
    requests = requests_of(task.prompts)
    params, choices = with_eval_settings(task.params, kind), task.medusa_choices or MEDUSA_TREE
    with progress() as say:
        models = load_models(
            ModelOptions(
                task.target,
                {kind: str(heads)},
                choices,
                device=task.device,
                chat_template=task.template,
                threads=task.threads,
            ),
            lambda what, part: say(f"loading {what}"),
            lanes=(LaneSpec(kind, kind),),
        )
        if models.draft_tokenizer is not None:
            raise InputError(f"{heads} has another tokenizer than the target: bench measures it")
        ids = first_prompts(requests, models)
        build = STRATEGIES[kind].build
        assert build is not None
        drafter = build(models)
        answers = answer_prompts(
            models.target, drafter, ids, params, Stop(models.eos), task.seed,
            lambda prompt: say(f"prompt {prompt + 1} of {len(ids)}"), confidences=True,
        )  # fmt: skip
        say("measuring along the answers")
        facts, lines, top1 = _MEASURES[kind](models, heads, answers)
        # of Medusa what its heads can fill
        tree = in_words(params, kind, drafter.choices if isinstance(drafter, Medusa) else ())
        settings: dict[str, Any] = {}
        written = ""
        if task.search is not None:
            settings, written = write_best_settings(
                models, kind, heads, ids, task.params, task.seed, task.search,
                facts["accuracy"] if kind == "medusa" else (), say,
            )  # fmt: skip
    shared = {
        "target": task.target,
        "heads": str(heads),
        "notes": models.notes.get(kind),
        "prompts": len(ids),
        "tree": tree,
        "temperature": task.params.sampling.temperature,
    }
    categories = [each.category for each in requests]
    levels = [level for answer in answers for level in _levels(answer, models.tokenizer)]
    facts = shared | facts | settings
    return Evaluation(heads, facts, lines, top1, tree, answers, categories, levels, written)


def print_evaluation(task: Task, heads: Sequence[Path], as_json: bool) -> None:
    """Print the evaluation of one checkpoint, or a comparison of two."""
    if len(heads) == 1:
        evaluation = evaluate(task, heads[0])
        print_result(envelope(**evaluation.document()), as_json, lambda document: evaluation.text())
        return
    both = [evaluate(task, each) for each in heads]
    ratio = tau_ratio(*both)
    document = envelope(
        compared=[each.document() for each in both],
        tau_ratio=None if ratio is None else ratio.ratio,
        tau_ratio_interval=None if ratio is None else [ratio.low, ratio.high],
    )
    table = comparison([(str(each.heads), each) for each in both])
    print_result(document, as_json, lambda document: table)


def weight_bytes(heads: Path) -> int:
    """Size of the files with weights, in the format that is loaded."""
    files = weights_among([file.name for file in heads.iterdir()])
    return sum((heads / name).stat().st_size for name in files)


def tau_ratio(base: Evaluation, other: Evaluation) -> Estimate | None:
    """τ of the `other` over that of the `base`, on the same prompts."""
    return estimate_speedup(*(_tokens_and_passes(each) for each in (other, base)))


def comparison(named: Sequence[tuple[str, Evaluation]]) -> str:
    """Return a table of evaluations on the same prompts, with τ relative to the first one's; `KL`
    is how far a whole model is from --target."""
    width = max(len(name) for name, _ in named)
    base = named[0][1]
    distant = all("kl" in each.facts for _, each in named)
    kl = "       KL" if distant else ""
    lines = [f"{'':{width}}       size   top-1       τ       α{kl}   τ against the first"]
    for name, each in named:
        served, ratio = each.served, tau_ratio(base, each)
        versus = ""
        if each is not base and ratio is not None:
            versus = f"{ratio.ratio:.3f}× ({ratio.interval} {ratio.low:.3f} to {ratio.high:.3f})"
        kl = f"{each.facts['kl']:9.4f}" if distant else ""
        lines.append(
            f"{name:{width}} {format_bytes(weight_bytes(each.heads)):>10} {each.top1:7.3f} "
            f"{served.tokens_per_pass or 0:7.3f} {served.acceptance_rate or 0:7.3f}{kl}   {versus}"
        )
    trees = dict.fromkeys(each.tree for _, each in named)
    lines.append(f"τ and α of {' and '.join(trees)}")
    return "\n".join(line.rstrip() for line in lines)


def _levels(answer: Answer, tokenizer: PreTrainedTokenizerBase) -> Iterator[Level]:
    events = TokenEvents(tokenizer)
    begun = events.first(answer.ids[0]).text
    return levels_of(((record, events.of_round(record)) for record in answer.rounds), begun)


def _tokens_and_passes(each: Evaluation) -> list[Timing]:
    """Passes in place of seconds, so that a ratio of speeds is a ratio of τ."""
    stats = [stats_of([answer]) for answer in each.answers]
    return [Timing(i, s.emitted, s.passes) for i, s in enumerate(stats)]


def _figures(stats: Stats) -> dict[str, Any]:
    return {
        "target_passes": stats.passes,
        "tokens_per_pass": stats.tokens_per_pass,
        "acceptance_rate": stats.acceptance_rate,
    }


def _depths(positions: Sequence[dict[str, Any]]) -> list[str]:
    """Acceptance by depth: of all drafts, and of those that were accepted up to there."""
    if not positions:
        return []

    def row(name: str, cells: Sequence[str]) -> str:
        return f"{name:22}" + "".join(f"{cell:>6}" for cell in cells)

    def rates_of(kind: str) -> list[str]:
        rates = [position[kind] for position in positions]
        return ["–" if rate is None else f"{rate:.2f}" for rate in rates]

    return [
        row("depth", [str(position["depth"]) for position in positions]),
        row("accepted", rates_of("unconditional")),
        row("given those before", rates_of("conditional")),
    ]


def _categories(categories: dict[str, dict[str, Any]]) -> list[str]:
    width = max((len(name) for name in categories), default=0)
    return [
        f"{name:{width}}  τ {each['tokens_per_pass'] or 0:.2f}, "
        f"α {each['acceptance_rate'] or 0:.2f} over {pluralize(each['prompts'], 'prompt')}"
        for name, each in categories.items()
    ]


_Measured = tuple[dict[str, Any], list[str], float]


def _medusa(models: LoadedModels, heads: Path, answers: list[Answer]) -> _Measured:
    table = medusa_accuracy(models.target, models.drafters["medusa"], answers).tolist()
    lines = [
        f"head {k}: top-1 {row[0]:.3f}, top-{len(row)} {sum(row):.3f}"
        for k, row in enumerate(table, 1)
    ]
    facts = {"accuracy": table, "medusa_choices": models.medusa_choices}
    return facts, lines, table[0][0]


def _eagle(models: LoadedModels, heads: Path, answers: list[Answer]) -> _Measured:
    model = models.target.model
    accuracy = chain_accuracy(model, read_eagle(heads, target_shape(model)), answers)
    simulated = simulated_length(accuracy)
    lines = [
        f"step {k}: agrees with the target {rate:.3f} of the times that all steps before did"
        for k, rate in enumerate(accuracy, 1)
    ]
    lines.append(f"τ from these for a chain: {simulated:.2f}")
    facts = {"accuracy": accuracy, "simulated_tokens_per_pass": simulated}
    return facts, lines, accuracy[0]


def _draft(models: LoadedModels, heads: Path, answers: list[Answer]) -> _Measured:
    draft = models.drafters["draft"].model
    facts = divergence(models.target.model, draft, answers)
    line = (
        "agrees with the target {agreement:.3f} of the times; 1 - TVD {overlap:.3f}, the rate at "
        "which drafts sampled at temperature 1 are accepted; KL {kl:.4f} nats"
    ).format_map(facts)
    return facts, [line], facts["agreement"]


_MEASURES: dict[str, Callable[[LoadedModels, Path, list[Answer]], _Measured]] = {
    "medusa": _medusa,
    "eagle": _eagle,
    "draft": _draft,
}
