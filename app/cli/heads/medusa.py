"""`specchat heads` for Medusa."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import nn

from app.cli.heads.eval_settings import SERVED_TREE
from app.cli.heads.serving import serving
from app.cli.heads.target import fitted, known_vocabulary, load, shape_of, stored_precision
from app.cli.heads.training_job import LAST_WEIGHTS, TrainingJob
from app.cli.terminal import say
from app.text.plural import pluralize
from decoding.checkpoints.medusa import MedusaWeights, read_medusa, write_medusa, write_merged
from decoding.drafters.medusa import Medusa
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.model.target import Target
from decoding.training.joint import train_joint
from decoding.training.medusa import require_trainable, train_medusa
from decoding.training.medusa_attach import attach_medusa, continue_medusa
from decoding.training.processes import is_first_process
from decoding.trees.static import build_tree, truncate_paths


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHeads:
    """The shape of untrained heads. `layers`: residual blocks per head."""

    count: int
    layers: int
    own_lm_heads: bool


def attach_to(target: str, out: Path, new: NewHeads, *, device: str) -> None:
    model, _ = load(target, device)
    weights = attach_medusa(model, new.count, new.layers, new.own_lm_heads)
    write_medusa(weights, out, weights.dialect, target)
    what = f"{pluralize(new.count, 'head')} of {pluralize(new.layers, 'layer')}"
    say(f"{what} for {target} in {out} (dialect {weights.dialect})")


def continue_from(
    old: Path,
    target: str,
    out: Path,
    *,
    heads: int | None,
    layers: int | None,
    own_lm_heads: bool,
    device: str,
) -> None:
    """Write the heads in `old`, as many as asked for (None: as many as there are), with all tokens
    of the target. Raises InputError."""
    model, tokenizer = load(target, device)
    hidden, vocab = shape_of(model)
    known = known_vocabulary(old, target, model, tokenizer)
    before = read_medusa(old, hidden, known)
    after = continue_medusa(before, model, heads, layers, own_lm_heads)
    after.save_pretrained(out, target)
    if known != vocab:
        say(fitted(known, vocab))
    if before.token_map is not None:
        kept = len(before.token_map)
        say(f"{kept:,} tokens of its lm_heads kept, {vocab - kept:,} new ones")
    if own_lm_heads and before.lm_heads is not None:
        say(f"--own-lm-heads changes nothing: the heads of {old} have lm_heads of their own")
    if new := max(after.heads - before.heads, 0):
        say(f"{pluralize(before.heads, 'head')} kept, {pluralize(new, 'new one')}")
    if before.choices and not after.choices:
        say("its tree (medusa_choices) was left out: it does not use the new heads")
    elif after.choices != before.choices:
        nodes, left = (len(build_tree(each.choices).ranks) + 1 for each in (before, after))
        cut = f"cut to {pluralize(after.heads, 'head')}: {left} of {nodes} nodes"
        say(f"its tree (medusa_choices) was {cut}")
    what = f"{pluralize(after.heads, 'head')} of {pluralize(after.layers, 'layer')}"
    say(f"{what} of {old} for {target} in {out} (dialect {after.dialect})")


def train_on(job: TrainingJob) -> str:
    """Train the heads; returns which weights were kept. Raises InputError."""
    joint, out = job.of_kind.joint, job.out
    model, tokenizer = job.begin()
    weights = read_medusa(job.heads, *shape_of(model))
    require_trainable(weights)
    model, learned, tested, records = job.datasets(model, tokenizer)
    # Heads on the target's lm_head are small matrices, which take larger steps.
    config = job.config_with(1e-3 if joint or weights.lm_heads is not None else 5e-3)
    task = (model, weights, learned, tested, config, job.work, job.resume)
    if joint:
        job.note_options(model.device)
        trained = train_joint(*task)
    else:
        served = serving(
            job, model, tokenizer, records, _drafter,
            choices=truncate_paths(SERVED_TREE, weights.heads, shape_of(model)[1]),
        )  # fmt: skip
        job.note_options(model.device)
        trained = train_medusa(*task, served)
    if not is_first_process():
        return LAST_WEIGHTS
    if joint:
        nn.Module.to(model, stored_precision(job.target))  # on a CPU it learned in float32
        write_merged(trained, out, model, tokenizer)
    else:
        trained.save_pretrained(out, job.target)
    made = "target and heads" if joint else "heads"
    accuracies = (f"head {k} top-1 {row[0]:.3f}" for k, row in enumerate(trained.accuracy, 1))
    say(f"trained {made} in {out}: {LAST_WEIGHTS}, {', '.join(accuracies)}")
    return LAST_WEIGHTS


def _drafter(trained: MedusaWeights, target: Target) -> Medusa:
    return Medusa(MedusaHeads(trained, target), SERVED_TREE)
