"""`specchat heads` for draft models."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from transformers import PreTrainedModel

from app.cli.heads.report import put_report
from app.cli.heads.serving import ServedSample
from app.cli.heads.training_data import (
    TrainingJob,
    conversations_of,
    is_first_process,
    load,
    requests_of,
    save_model,
)
from app.cli.run import first_prompts
from app.cli.terminal import say
from app.config.settings import ModelOptions
from app.models.loaded import load_models
from app.strategies.registry import DRAFT_MODEL
from decoding.drafters.draft_model import DraftModel
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.params import Params
from decoding.tokenizing.stopping import Stop
from decoding.tokenizing.vocabulary import first_difference
from decoding.training.draft import Divergence, DraftReport, draft_agreement, train_draft
from decoding.training.draft_attach import attach_draft
from decoding.training.evaluate import answer_prompts

_SERVED_GAMMA = 4
_LARGE = 100e6  # parameters, from which smaller steps are safer


def attach_to(
    target: str, out: Path, layers: int, width: int | None, mlp: int | None, device: str
) -> None:
    model, tokenizer = load(target, device)
    draft = attach_draft(model, layers, width, mlp)
    save_model(draft, tokenizer, out, target)
    share = draft.num_parameters() / model.num_parameters()
    say(
        f"draft model of {layers} layers for {target} in {out}: "
        f"{draft.num_parameters() / 1e6:.2f}M parameters, {share:.0%} of the target's"
    )


def train_on(job: TrainingJob, loss: Divergence) -> None:
    work, model, tokenizer = job.begin()
    draft, draft_tokenizer = load(str(job.heads), job.device)
    if difference := first_difference(tokenizer, draft_tokenizer):
        raise InputError(f"{job.heads} has another vocabulary than the target: {difference}")
    learned, tested, records = conversations_of(
        job.data, job.held_out, model, tokenizer, min(job.length, Target(draft).context)
    )
    sample = ServedSample(model, tokenizer, records, _SERVED_GAMMA)

    def served(student: PreTrainedModel) -> float:
        # A copy: decoding lays the weights out anew.
        drafter = DraftModel(Target(copy.deepcopy(student)), sample.target.vocab_size)
        return sample.tokens_per_pass(drafter)

    config = job.config
    if not config.lr:
        config = replace(config, lr=1e-3 if draft.num_parameters() < _LARGE else 3e-4)
    reports = train_draft(
        model, draft, learned, tested, config, work, job.resume,
        served if sample.prompts else None, loss,
    )  # fmt: skip
    if is_first_process():
        save_model(draft, tokenizer, job.out, str(job.heads))
        say(f"trained draft model in {job.out}")
        say(_table(reports))


def measure(
    target: str,
    heads: Path,
    prompts: list[str],
    params: Params,
    seed: int,
    device: str,
    as_json: bool,
) -> None:
    options = ModelOptions(target, {"draft": str(heads)}, device=device)
    models = load_models(options, strategies=("draft",))
    ids = first_prompts(requests_of(prompts), models)
    assert DRAFT_MODEL.build is not None
    drafter = DRAFT_MODEL.build(models)
    served, answers = answer_prompts(models.target, drafter, ids, params, Stop(models.eos), seed)
    said = list(zip(ids, answers, strict=True))
    agreement, overlap = draft_agreement(models.target.model, models.drafters["draft"].model, said)
    facts = {
        "target": target,
        "heads": str(heads),
        "prompts": len(ids),
        "temperature": params.sampling.temperature,
        "agreement": agreement,
        "overlap": overlap,
    }
    lines = [
        f"agrees with the target {agreement:.3f} of the times; 1 - TVD {overlap:.3f}, the rate at "
        "which drafts sampled at temperature 1 are accepted"
    ]
    put_report(facts, lines, served, f"chains of {params.gamma or drafter.default_gamma}", as_json)


def _table(reports: Sequence[DraftReport]) -> str:
    lines = [" step    top-1    1-TVD  served τ"]
    for report in reports:
        served = "" if report.served is None else f"{report.served:10.2f}"
        lines.append(f"{report.step:5}{report.agreement:9.3f}{report.overlap:9.3f}{served}")
    return "\n".join(lines)
