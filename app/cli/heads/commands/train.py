"""`specchat heads train`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.heads.commands.checks import kind_of, refuse_others, require_package, writing_to
from app.cli.heads.commands.options import (
    MIXED,
    Device,
    HeadsDir,
    Target,
    Template,
    Threads,
    count_of_threads,
    random_seed,
)
from app.cli.heads.recipe import RecipeFile, given_options, write_recipe
from app.cli.heads.training_job import (
    KindOptions,
    TrainingData,
    TrainingJob,
    remove_checkpoints,
    wait_for_everyone,
)
from app.cli.options import file, folder, integer, number, switch
from decoding.errors import InputError
from decoding.training.processes import is_first_process

# Bounds that the help shows, whole numbers where possible. Without them inf would be accepted.
MOST_EPOCHS = MOST_STEPS = 1_000_000
HIGHEST_RATE = 10


def train(
    context: typer.Context,
    target: Target,
    heads: HeadsDir,
    data: Annotated[list[str], file(help=f"JSONL of conversations; {MIXED}")],
    out: Annotated[Path, folder(help="Folder for the trained heads.")],
    held_out: Annotated[
        list[str] | None, file(help="JSONL to measure on (else every 20th prompt).")
    ] = None,
    joint: Annotated[
        bool,
        switch(
            "--joint",
            help="Medusa: train the heads, then heads and target together for as many steps again "
            "(Medusa-2). Heads guess better, but the target becomes another model, which is "
            "written to --out with them. Needs 16 bytes of memory per parameter (with --qat also "
            "a second copy of the target). No served τ in evaluations.",
        ),
    ] = False,
    unroll: Annotated[
        int | None,
        integer(
            min=1, max=16, help="EAGLE-3: drafting steps to train (training-time test; default 7)."
        ),
    ] = None,
    draft_vocab: Annotated[
        int | None,
        integer(
            min=2,
            help="EAGLE-3: change the draft vocabulary to the N most frequent tokens in --data.",
        ),
    ] = None,
    features: Annotated[
        Path | None,
        folder(
            help="Compute the target's hidden states once and keep them here, for later runs too."
        ),
    ] = None,
    offline: Annotated[
        bool,
        switch(
            "--offline",
            help="With --features: train without the target's layers in memory. No served τ in "
            "evaluations: the best weights are those with the best accuracies.",
        ),
    ] = False,
    shard: Annotated[
        bool,
        switch(
            "--shard",
            envvar="ACCELERATE_USE_FSDP",
            show_envvar=False,
            help="Shard the drafter, its optimizer state and the target's layers over several "
            "processes (FSDP2). No served τ in evaluations.",
        ),
    ] = False,
    loss: Annotated[
        Literal["kl", "reverse-kl", "tvd", "lk", "ce"] | None,
        typer.Option(
            help="kl, reverse-kl, tvd and lk (the acceptance rate itself) learn from the target's "
            "distributions, ce from the answers' tokens. Default: ce for Medusa, kl for others."
        ),
    ] = None,
    qat: Annotated[
        Literal["int8", "int4", "fp8"] | None,
        typer.Option(
            help="Quantization-aware training for `quantize`: compute with rounded weights. With "
            "--joint the target's are rounded too, and it learns to give the same answers."
        ),
    ] = None,
    max_steps: Annotated[
        int, integer(min=0, help="Optimizer steps; 0: as many as --epochs take.")
    ] = 0,
    epochs: Annotated[float, number(min=0.01, max=MOST_EPOCHS, help="Passes over the data.")] = 1,
    lr: Annotated[
        float | None,
        number(
            min=1e-9,
            max=HIGHEST_RATE,
            help="Learning rate. Default: Medusa 5e-3, with own lm_heads 1e-3; EAGLE 3e-3, in runs "
            "of more than 5,000 steps 1e-3, with --qat (of trained heads) 3e-4; draft models "
            "1e-3, large ones 3e-4.",
        ),
    ] = None,
    muon_lr: Annotated[
        float,
        number(
            min=0,
            max=HIGHEST_RATE,
            help="Train the layers' matrices with Muon, at this rate (such as 0.006); 0: AdamW.",
        ),
    ] = 0,
    warmup: Annotated[
        float,
        number(
            min=0,
            max=MOST_STEPS,
            help="Steps in which the learning rate rises to that; below 1: their share of all.",
        ),
    ] = 0.05,
    target_lr: Annotated[
        float, number(min=1e-9, max=HIGHEST_RATE, help="Learning rate of the target with --joint.")
    ] = 2e-5,
    batch_size: Annotated[int, integer(min=1, help="Conversations per batch.")] = 8,
    accumulate: Annotated[
        int, integer(min=1, help="Batches per optimizer step (gradient accumulation).")
    ] = 1,
    chat_template: Template = None,
    length: Annotated[int, integer(min=8, help="Cut conversations at this many tokens.")] = 1024,
    evaluate_every: Annotated[
        int, integer(min=1, help="Steps between evaluations, each with a checkpoint.")
    ] = 200,
    resume: Annotated[
        bool, switch("--resume", help="Continue from the newest checkpoint.")
    ] = False,
    keep_checkpoints: Annotated[
        bool,
        switch("--keep-checkpoints", help="Don't delete OUT/training at the end."),
    ] = False,
    tensorboard: Annotated[
        Path | None,
        folder(help="Also log to TensorBoard (extra: tensorboard)."),
    ] = None,
    seed: Annotated[
        int, random_seed(help="Random seed of the order of the data, and of EAGLE-1's noise.")
    ] = 0,
    threads: Threads = "auto",
    device: Device = "auto",
    recipe: RecipeFile = None,
) -> None:
    """Train heads or a draft model for a target.

    The target does not change, except with --joint. Evaluates on held-out data.
    For EAGLE heads and draft models the weights with the best served τ are kept:
    tokens per target pass, measured by decoding held-out prompts.
    """
    from decoding.training.train_config import TrainConfig

    if warmup > 1 and not warmup.is_integer():
        raise InputError(f"--warmup {warmup:g}: give a number of steps, or a share below 1")
    kind = kind_of(heads)
    refuse_others(
        context,
        kind,
        **dict.fromkeys(("joint", "target_lr"), ("medusa",)),
        **dict.fromkeys(("unroll", "draft_vocab"), ("eagle",)),
    )
    _refuse_idle(given_options(context), joint, max_steps)
    config = TrainConfig(
        steps=max_steps, epochs=epochs, batch_size=batch_size, accumulate=accumulate,
        target_lr=target_lr if joint else 0.0, muon_lr=muon_lr, loss=loss, qat=qat, shard=shard,
        warmup=warmup, evaluate_every=evaluate_every, tensorboard=tensorboard, seed=seed,
    )  # fmt: skip
    job = TrainingJob(
        target=target, heads=heads, kind=kind, out=out,
        data=TrainingData(
            files=data, held_out=held_out, length=length, features=features, offline=offline
        ),
        config=config, lr=lr, resume=resume, device=device, template=chat_template,
        threads=count_of_threads(threads),
        of_kind=KindOptions(joint=joint, unroll=unroll, draft_vocab=draft_vocab),
    )  # fmt: skip
    _require_possible(job)
    with writing_to(out, job.how_to_continue):
        kept = _train_on(job)
    wait_for_everyone()  # each has loaded the best checkpoint
    if is_first_process():
        write_recipe(context, out, without="epochs" if max_steps else "", made=kept)
        if not keep_checkpoints:
            remove_checkpoints(job.work)


def _refuse_idle(given: Mapping[str, str], joint: bool, max_steps: int) -> None:
    """Raise InputError for options of `train` that would change nothing."""
    if "target_lr" in given and not joint:
        raise InputError(f"{given['target_lr']} is for --joint: give both, or leave it out")
    # The command line may replace a recipe's epochs by steps.
    replaced = given.get("max_steps") == "--max-steps" and given.get("epochs") != "--epochs"
    if "epochs" in given and max_steps and not replaced:
        steps = given.get("max_steps", "--max-steps")
        raise InputError(f"{given['epochs']} counts for nothing with {steps}: leave one out")


def _require_possible(job: TrainingJob) -> None:
    """Raise InputError, before any work, for missing packages and for options that exclude each
    other."""
    config, features = job.config, job.data.features
    if config.tensorboard is not None:
        require_package("--tensorboard", "tensorboard", "tensorboard")
    if config.qat is not None:
        require_package("--qat", "torchao", "quantize")
    if job.data.offline and features is None:
        raise InputError("--offline needs --features, the folder of the target's states")
    if not job.of_kind.joint:
        return
    if features is not None:
        raise InputError("--features can't be given with --joint, which changes the target")
    if config.shard:
        raise InputError(
            "--joint needs the whole target in each process: leave --shard, or --use_fsdp, out"
        )
    if config.muon_lr:
        raise InputError("--muon-lr can't be given with --joint, which goes by AdamW alone")


def _train_on(job: TrainingJob) -> str:
    """Train by the kind; returns which weights were kept."""
    if job.kind == "medusa":
        from app.cli.heads.medusa import train_on
    elif job.kind == "draft":
        from app.cli.heads.draft import train_on
    else:
        from app.cli.heads.eagle import train_on
    return train_on(job)
