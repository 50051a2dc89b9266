"""`specchat heads` for EAGLE heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from app.cli.heads.serving import serving
from app.cli.heads.target import fitted, known_vocabulary, load, shape_of, target_shape
from app.cli.heads.training_data import records_of
from app.cli.heads.training_job import TrainingJob, kept_weights
from app.cli.terminal import say
from app.text.numbers import whole_number
from decoding.checkpoints.eagle import EagleConfig, EagleWeights, writable_dialect
from decoding.checkpoints.eagle_read import read_eagle
from decoding.drafters.eagle import Eagle, drafting_head
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.tokenizing.stopping import eos_ids
from decoding.training.conversations import Conversations
from decoding.training.eagle import EagleReport, train_eagle
from decoding.training.eagle_attach import attach_eagle, frequent_tokens
from decoding.training.eagle_convert import (
    known_tokens,
    with_aux_layers,
    with_draft_vocabulary,
    with_vocabulary,
    without_fc_bias,
)
from decoding.training.eagle_model import STEPS
from decoding.training.processes import is_first_process

_SHORT_RUN = 5000  # steps
_MOST_LAYERS = 9999
_WHOLE = 1 << 30  # conversations are not cut to count their tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHead:
    """The shape of an untrained head. `layers`: decoder layers of its own. `width`, `mlp`: sizes,
    None for the target's. `draft_vocab`: how many tokens it drafts, the most frequent in `data`;
    None: all. `aux_layers`: as given to --aux-layers."""

    kind: Literal["eagle1", "eagle3"]
    layers: int
    width: int | None
    mlp: int | None
    draft_vocab: int | None
    data: list[str]
    aux_layers: str | None
    fc_bias: bool
    template: str | None  # of --chat-template


def attach_to(target: str, out: Path, new: NewHead, *, seed: int, device: str) -> None:
    model, tokenizer = load(target, device, template=new.template)
    draft_tokens = None
    if new.draft_vocab is not None:
        draft_tokens = _vocabulary(model, tokenizer, new.data, new.draft_vocab)
    weights = attach_eagle(
        model, new.kind, draft_tokens, _layers(new.aux_layers),
        own_layers=new.layers, width=new.width, mlp=new.mlp, fc_bias=new.fc_bias, seed=seed,
    )  # fmt: skip
    weights.save_pretrained(out, target)
    say(f"{new.kind} head for {target} in {out}: {_in_words(weights.config)}")


def continue_from(old: Path, target: str, out: Path, new: NewHead, *, device: str) -> None:
    """Write the head in `old`, for all tokens of the target, with another draft vocabulary, other
    layers to read or no bias in fc, where `new` asks for these. Raises InputError."""
    model, tokenizer = load(target, device, template=new.template)
    layers, shape = _layers(new.aux_layers), target_shape(model)
    vocab, known = shape.vocab, known_vocabulary(old, target, model, tokenizer)
    shape = replace(shape, vocab=known)
    if layers is not None:  # then those that it read until now need not be in this target
        shape = replace(shape, layers=_MOST_LAYERS)
    weights = read_eagle(old, shape)
    if (version := weights.config.version) != new.kind:
        name = version.replace("eagle", "EAGLE-")
        raise InputError(f"{old} holds an {name} head: give convert {version}")
    notes = list(weights.notes)
    if layers is not None:
        notes = [note for note in notes if "aux layers" not in note]
        weights = with_aux_layers(weights, model, layers)
    lines = [f"{old}: {note}" for note in notes]
    if known != vocab:
        weights = with_vocabulary(weights, model)
        lines.append(fitted(known, vocab))
    if not new.fc_bias and weights.config.fc_bias:
        weights = without_fc_bias(weights)
        lines.append("its bias in fc was left out")
    if new.draft_vocab is not None:
        draft_tokens = _vocabulary(model, tokenizer, new.data, new.draft_vocab)
        before = set(known_tokens(weights).tolist())
        weights = with_draft_vocabulary(weights, model, draft_tokens)
        after = known_tokens(weights).tolist()
        kept = sum(token in before for token in after)
        lines.append(
            f"{kept:,} tokens of its draft vocabulary kept, {len(after) - kept:,} new ones"
        )
    weights.save_pretrained(out, target)
    for line in lines:
        say(line)
    say(f"{version} head of {old} for {target} in {out}: {_in_words(weights.config)}")


def _in_words(config: EagleConfig) -> str:
    reads = f", reads the inputs of layers {list(config.aux_layers)}" if config.aux_layers else ""
    return f"{config.draft_vocab} tokens{reads}"


def train_on(job: TrainingJob) -> str:
    """Train the head; returns which weights were kept. Raises InputError."""
    unroll, draft_vocab = job.of_kind.unroll, job.of_kind.draft_vocab
    model, tokenizer = job.begin()
    weights = read_eagle(job.heads, target_shape(model))
    writable_dialect(weights)  # what can't be written is not trained
    if unroll is not None and weights.config.version == "eagle1":
        raise InputError("--unroll is for EAGLE-3, not for EAGLE-1: leave it out")
    if draft_vocab is not None:
        draft_tokens = _vocabulary(model, tokenizer, job.data.files, draft_vocab)
        weights = with_draft_vocabulary(weights, model, draft_tokens)
    layers = weights.config.aux_layers
    model, learned, tested, records = job.datasets(model, tokenizer, layers)
    short = job.config.total_steps(len(learned)) <= _SHORT_RUN
    config = job.config_with(3e-4 if job.config.qat else 3e-3 if short else 1e-3)
    served = serving(job, model, tokenizer, records, _drafter, aux_layers=layers)
    job.note_options(model.device)
    trained, reports = train_eagle(
        model, weights, learned, tested, config, job.work, job.resume, served, unroll or STEPS
    )
    kept = kept_weights(reports, "chain τ")
    if is_first_process():
        trained.save_pretrained(job.out, job.target)
        say(_table(reports))
        say(f"trained head in {job.out}: {kept}")
    return kept


def _vocabulary(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, data: list[str], count: int
) -> Tensor | None:
    if not data:
        raise InputError("--draft-vocab needs --data: conversations to count the tokens in")
    texts = Conversations(records_of(data), tokenizer, _WHOLE)
    examples = [texts[i] for i in range(len(texts))]
    return frequent_tokens(examples, shape_of(model)[1], count, eos_ids(model, tokenizer))


def _drafter(trained: EagleWeights, target: Target) -> Eagle:
    return Eagle(drafting_head(trained, target), target)


def _table(reports: Sequence[EagleReport]) -> str:
    """Format a table of the evaluations: top-1 accuracy by step, simulated and served τ."""
    if not reports:
        return "no evaluation"
    steps = range(1, len(reports[0].accuracy) + 1)
    lines = [" step  " + "".join(f"{f'top-1 {k}':>9}" for k in steps) + "  chain τ  served τ"]
    for report in reports:
        rates = "".join(f"{rate:9.3f}" for rate in report.accuracy)
        served = "" if report.served is None else f"{report.served:10.2f}"
        lines.append(f"{report.step:5}  {rates}{report.simulated:9.2f}{served}")
    return "\n".join(lines)


def _layers(listed: str | None) -> list[int] | None:
    if listed is None:
        return None
    parsed = [whole_number(part.strip(), _MOST_LAYERS) for part in listed.split(",")]
    layers = [layer for layer in parsed if layer is not None]
    if len(layers) < len(parsed):
        raise InputError(f"--aux-layers '{listed:.80}': give layers as numbers, such as 2,8,13")
    return layers
