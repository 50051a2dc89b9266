"""`specchat heads` for draft models."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedModel

from app.cli.heads.serving import serving
from app.cli.heads.target import load, save_model
from app.cli.heads.training_job import TrainingJob, kept_weights
from app.cli.terminal import say
from app.text.plural import pluralize
from decoding.drafters.draft_model import DraftModel
from decoding.errors import InputError
from decoding.model.architecture import context_of
from decoding.model.target import Target
from decoding.tokenizing.vocabulary import first_difference
from decoding.training.draft import DraftReport, train_draft
from decoding.training.draft_attach import attach_draft
from decoding.training.processes import is_first_process

_LARGE = 100e6  # parameters, from which smaller steps are safer


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDraft:
    """The shape of a draft model: how many of the target's layers it has, its hidden size and that
    of its MLPs. None: the target's."""

    layers: int
    width: int | None
    mlp: int | None


def attach_to(target: str, out: Path, new: NewDraft, *, device: str) -> None:
    model, tokenizer = load(target, device)
    draft = attach_draft(model, new.layers, width=new.width, mlp=new.mlp)
    save_model(draft, tokenizer, out, target)
    share = draft.num_parameters() / model.num_parameters()
    say(
        f"draft model of {pluralize(new.layers, 'layer')} for {target} in {out}: "
        f"{draft.num_parameters() / 1e6:.2f}M parameters, {share:.0%} of the target's"
    )


def train_on(job: TrainingJob) -> str:
    """Train the draft model; returns which weights were kept. Raises InputError."""
    model, tokenizer = job.begin()
    draft, draft_tokenizer = load(str(job.heads), job.device)
    if difference := first_difference(tokenizer, draft_tokenizer):
        raise InputError(f"{job.heads} has another vocabulary than the target: {difference}")
    context = context_of(draft.config.get_text_config(decoder=True))
    model, learned, tested, records = job.datasets(model, tokenizer, length=context)
    config = job.config_with(1e-3 if draft.num_parameters() < _LARGE else 3e-4)
    served = serving(job, model, tokenizer, records, _drafter)
    job.note_options(model.device)
    reports = train_draft(model, draft, learned, tested, config, job.work, job.resume, served)
    kept = kept_weights(reports, "agreement")
    if is_first_process():
        save_model(draft, tokenizer, job.out, str(job.heads))
        say(_table(reports))
        say(f"trained draft model in {job.out}: {kept}")
    return kept


def _drafter(trained: PreTrainedModel, target: Target) -> DraftModel:
    # A copy: decoding lays the weights out anew.
    return DraftModel(Target(copy.deepcopy(trained)), target.vocab_size)


def _table(reports: Sequence[DraftReport]) -> str:
    lines = [" step    top-1    1-TVD  served τ"]
    for report in reports:
        served = "" if report.served is None else f"{report.served:10.2f}"
        lines.append(f"{report.step:5}{report.agreement:9.3f}{report.overlap:9.3f}{served}")
    return "\n".join(lines)
