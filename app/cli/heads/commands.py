"""The `specchat heads` commands and their options; the bodies are in the modules beside this."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.heads.recipe import RecipeFile, given_options, write_recipe
from app.cli.heads.target import load, use_threads
from app.cli.heads.training_data import requests_of
from app.cli.heads.training_job import (
    KindOptions,
    TrainingData,
    TrainingJob,
    refuse_existing,
    remove_checkpoints,
    require_place,
    wait_for_everyone,
)
from app.cli.options import file, folder, integer, number, switch, text
from app.cli.terminal import say
from decoding.errors import InputError
from decoding.params import Params, SamplingParams
from decoding.training.processes import is_first_process

if TYPE_CHECKING:
    from decoding.checkpoints.dialects import DrafterKind

heads = typer.Typer(
    no_args_is_help=True,
    help="Make, train, measure and export heads or a draft model for a target.",
)

Target = Annotated[str, text(help="Folder or hub id of the target.")]
Device = Annotated[str, text(help="auto, cpu, cuda, cuda:N or mps.")]
Template = Annotated[
    str | None,
    file("--chat-template", help="Chat template (Jinja) instead of the target's own."),
]
Threads = Annotated[str, text(help="Number of torch threads on a CPU, or auto.")]
HIGHEST_SEED = 2**32 - 1  # the Trainer's, of all


def _seed(seed: int) -> int:
    """Raise InputError beyond the highest seed, which is too long for the help."""
    if seed > HIGHEST_SEED:
        raise InputError(f"--seed {seed}: give a whole number from 0 to {HIGHEST_SEED}")
    return seed


def _count(threads: str) -> int | None:
    """The number given to --threads; None: automatic. Raises InputError."""
    from app.config.settings import MAX_THREADS
    from app.text.numbers import whole_number

    if threads == "auto":
        return None
    if count := whole_number(threads, MAX_THREADS):
        return count
    raise InputError(f"--threads '{threads:.20}': give auto or a number from 1 to {MAX_THREADS}")


random_seed = partial(integer, min=0, callback=_seed)
DRAFTER = "Folder of Medusa heads, an EAGLE head (any dialect) or a draft model."
HeadsDir = Annotated[Path, folder("--heads", help=DRAFTER)]
# engines read draft models as they are
EXPORTED = "Folder of Medusa heads or an EAGLE head (any dialect)."
MIXED = "FILE:2 repeats it, FILE:0.5 takes half of it."
LONGEST = "Longest answer in tokens."
# Bounds that the help shows, whole numbers where possible. Without them inf would be accepted.
MOST_EPOCHS = MOST_SECONDS = MOST_STEPS = 1_000_000
HIGHEST_RATE = 10
HOTTEST = 2  # as in other commands

KIND_NAMES = {
    "medusa": "Medusa",
    "eagle": "EAGLE",
    "eagle1": "EAGLE-1",
    "eagle3": "EAGLE-3",
    "draft": "draft models",
}
HELD = {"medusa": "Medusa heads", "eagle": "an EAGLE head", "draft": "a draft model"}


def _refuse_others(context: typer.Context, kind: str, **kinds: tuple[str, ...]) -> None:
    """Raise InputError if an option was given that is only for other `kinds` of heads."""
    for name, option in given_options(context).items():
        others = kinds.get(name, (kind,))
        if not kind.startswith(others):
            names = " and ".join(KIND_NAMES[other] for other in others)
            raise InputError(f"{option} is for {names}, not for {KIND_NAMES[kind]}: leave it out")


def _refuse_kept(given: Mapping[str, str], kind: str, start: Path) -> None:
    """Raise InputError unless `start` holds heads of this kind, and for options of what they
    keep."""
    found = _kind_of(start)
    if not kind.startswith(found):
        raise InputError(f"{start} holds {HELD[found]}, convert {kind} can't go on from that")
    kept = ("width", "mlp", "seed") + (() if kind == "medusa" else ("layers",))
    for name, option in given.items():
        if name in kept:
            raise InputError(f"{option} is for untrained heads, not for --from: leave it out")


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
        _require_package("--tensorboard", "tensorboard", "tensorboard")
    if config.qat is not None:
        _require_package("--qat", "torchao", "quantize")
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


def _require_package(what: str, package: str, extra: str) -> None:
    """Raise InputError, before any work, if a package of an extra is missing."""
    if find_spec(package) is None:
        raise InputError(f"{what} needs {package}: pip install 'specchat[{extra}]'")


@contextmanager
def _writing_to(out: Path, how_to_continue: Callable[[], str]) -> Iterator[None]:
    """Let errors of a full disk, which say no name, have that of what is written. Ctrl+C says how
    to continue, if something was written."""
    try:
        yield
    except KeyboardInterrupt:
        if is_first_process() and (how := how_to_continue()):
            say(f"interrupted: {how}")
        raise
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(out)
        raise


def _kind_of(heads: Path) -> DrafterKind:
    from decoding.checkpoints.kind import drafter_kind

    return drafter_kind(heads)


def _train_on(job: TrainingJob) -> None:
    if job.kind == "medusa":
        from app.cli.heads.medusa import train_on
    elif job.kind == "draft":
        from app.cli.heads.draft import train_on
    else:
        from app.cli.heads.eagle import train_on
    train_on(job)


@heads.command()
def convert(
    context: typer.Context,
    kind: Annotated[
        Literal["medusa", "eagle1", "eagle3", "draft"], typer.Argument(help="What to make.")
    ],
    target: Target,
    out: Annotated[Path, folder(help="Folder for the new heads.")],
    start: Annotated[
        Path | None,
        folder(
            "--from",
            help="Medusa and EAGLE: begin with the heads in this folder (any dialect), whoever "
            "trained them.",
        ),
    ] = None,
    count: Annotated[
        int | None, integer("--heads", min=1, max=16, help="Medusa: how many (default 4).")
    ] = None,
    layers: Annotated[
        int | None,
        integer(
            min=1,
            help="Medusa: residual blocks per head (default 1). EAGLE-3: decoder layers (1). "
            "draft: how many of the target's layers to keep (2).",
        ),
    ] = None,
    width: Annotated[
        int | None,
        integer(min=1, help="EAGLE-3 and draft: hidden size (default: the target's)."),
    ] = None,
    mlp: Annotated[
        int | None,
        integer(min=1, help="EAGLE and draft: MLP size (default: the target's)."),
    ] = None,
    own_lm_heads: Annotated[
        bool,
        switch(
            "--own-lm-heads", help="Medusa: give each head its own lm_head (dialect v0.1, not v2)."
        ),
    ] = False,
    draft_vocab: Annotated[
        int | None,
        integer(
            min=2, help="EAGLE-3: size of a draft vocabulary, the most frequent tokens in --data."
        ),
    ] = None,
    data: Annotated[
        list[str] | None, file(help="EAGLE-3: conversations to count the tokens of.")
    ] = None,
    chat_template: Template = None,
    aux_layers: Annotated[
        str | None,
        text(
            help="EAGLE-3: layers of the target whose inputs it reads (default 2,L/2,L-3).",
        ),
    ] = None,
    no_fc_bias: Annotated[
        bool, switch("--no-fc-bias", help="EAGLE-1: no bias in fc, as vLLM serves it.")
    ] = False,
    seed: Annotated[int, random_seed(help="EAGLE: random seed of its first weights.")] = 0,
    device: Device = "cpu",
    recipe: RecipeFile = None,
) -> None:
    """Make untrained heads for a target, or cut a small draft model out of it.

    With --from, heads that were trained elsewhere take the place of untrained ones.
    """
    _refuse_others(
        context,
        kind,
        start=("medusa", "eagle"),
        layers=("medusa", "eagle3", "draft"),
        **dict.fromkeys(("count", "own_lm_heads"), ("medusa",)),
        **dict.fromkeys(("draft_vocab", "data", "chat_template", "aux_layers"), ("eagle3",)),
        width=("eagle3", "draft"),
        mlp=("eagle", "draft"),
        no_fc_bias=("eagle1",),
        seed=("eagle",),
    )
    given = given_options(context)
    for name in ("data", "chat_template"):
        if name in given and draft_vocab is None:
            raise InputError(f"{given[name]} is for --draft-vocab: give both, or leave it out")
    if start is not None:
        _refuse_kept(given, kind, start)
    refuse_existing(out)
    if kind == "medusa" and start is not None:
        from app.cli.heads.medusa import continue_from as continue_medusa_from

        continue_medusa_from(
            start, target, out,
            heads=count, layers=layers, own_lm_heads=own_lm_heads, device=device,
        )  # fmt: skip
    elif kind == "medusa":
        from app.cli.heads.medusa import NewHeads, attach_to

        heads = NewHeads(count=count or 4, layers=layers or 1, own_lm_heads=own_lm_heads)
        attach_to(target, out, heads, device=device)
    elif kind == "draft":
        from app.cli.heads.draft import NewDraft
        from app.cli.heads.draft import attach_to as cut_from

        draft = NewDraft(layers=layers or 2, width=width, mlp=mlp)
        cut_from(target, out, draft, device=device)
    else:
        from app.cli.heads.eagle import NewHead, continue_from
        from app.cli.heads.eagle import attach_to as attach_eagle_to

        head = NewHead(
            kind=kind, layers=layers or 1, width=width, mlp=mlp, draft_vocab=draft_vocab,
            data=data or [], aux_layers=aux_layers, fc_bias=not no_fc_bias,
            template=chat_template,
        )  # fmt: skip
        if start is None:
            attach_eagle_to(target, out, head, seed=seed, device=device)
        else:
            continue_from(start, target, out, head, device=device)
    write_recipe(context, out)


@heads.command()
def distill(
    context: typer.Context,
    prompts: Annotated[list[str], file(help=f"JSONL of prompts; {MIXED}")],
    out: Annotated[Path, file(help="JSONL of conversations to train on.")],
    target: Annotated[str | None, text(help="Folder or hub id of the target.")] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Instead of --target: an OpenAI-compatible server that runs it (vLLM, SGLang, "
            "llama.cpp, transformers serve).",
        ),
    ] = None,
    server_model: Annotated[
        str | None, text(help="The model to ask the server for (default: its first).")
    ] = None,
    concurrency: Annotated[
        int, integer(min=1, max=1024, help="Prompts at a time for --server.")
    ] = 16,
    system: Annotated[
        str | None, text(help="System message, for prompts that have none of their own.")
    ] = None,
    chat_template: Template = None,
    max_new_tokens: Annotated[int, integer(min=1, help=LONGEST)] = 256,
    temperature: Annotated[
        float, number(min=0, max=HOTTEST, help="Of the answers; 0 is greedy.")
    ] = 0,
    top_p: Annotated[
        float,
        number(min=1e-6, max=1, help="Nucleus: the likeliest tokens, up to this mass; 1 is off."),
    ] = 1,
    reasoning: Annotated[
        Literal["keep", "drop"],
        typer.Option(help="Keep or drop reasoning, in <think> or as the server marks it."),
    ] = "keep",
    batch_size: Annotated[int, integer(min=1, help="Prompts at a time for --target.")] = 32,
    seed: Annotated[
        int, random_seed(help="Random seed of the answers at a temperature above 0.")
    ] = 0,
    threads: Threads = "auto",
    device: Device = "auto",
    recipe: RecipeFile = None,
) -> None:
    """Let the target answer prompts, to train on its answers.

    If it was interrupted, the same command continues where it stopped.
    """
    given = given_options(context)
    if server is not None and "target" not in given:
        target = None  # a recipe's, for other commands
    if (target is None) == (server is None):
        raise InputError("give --target, or --server URL")
    here, there = (
        ("batch_size", "chat_template", "threads", "device"),
        ("server_model", "concurrency"),
    )
    for name, option in given.items():
        if name in (here if server else there):
            of = "--target" if server else "--server"
            raise InputError(f"{option} is for {of}: leave it out")
    if out.suffix == ".gz":
        raise InputError(f"--out {out}: answers are not compressed, choose a name without .gz")
    if out.is_dir():
        raise InputError(f"--out {out} is a folder: give a file")
    require_place(out.parent)
    from app.cli.prompts import opening
    from decoding.training.answer_file import statistics

    requests = requests_of(prompts)
    if any(request.input_ids for request in requests):
        raise InputError("--prompts: heads distill answers text, not input_ids")
    conversations = [(opening(request, system), list(request.turns)) for request in requests]

    def how_to_continue() -> str:
        written = out.is_file() and out.stat().st_size
        return f"the same command continues after the answers in {out}" if written else ""

    params = Params(SamplingParams(temperature, top_p=top_p), max_new_tokens=max_new_tokens)
    if target is not None:
        from decoding.training.distill import distill as write_answers

        use_threads(_count(threads))
        model, tokenizer = load(target, device, chats=True, template=chat_template)
        with _writing_to(out, how_to_continue):
            done = write_answers(
                model, tokenizer, conversations, out, params,
                batch_size=batch_size, seed=seed, reasoning=reasoning,
                template=str(tokenizer.chat_template) if chat_template else "",
            )  # fmt: skip
    elif server is not None:
        from app.cli.heads.server_answers import distill_from
        from app.config.servers import parse_endpoint

        try:
            endpoint = parse_endpoint(server, server_model)
        except ValueError as error:
            raise InputError(f"--server: {error}") from error
        with _writing_to(out, how_to_continue):
            done = distill_from(
                endpoint, conversations, out, params,
                seed=seed, concurrency=concurrency, reasoning=reasoning,
            )  # fmt: skip
    say(f"{done} conversations in {out}: {statistics(out)}")


@heads.command()
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
        Literal["int8", "int4"] | None,
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
            "of more than 5,000 steps 1e-3; draft models 1e-3, large ones 3e-4.",
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
    kind = _kind_of(heads)
    _refuse_others(
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
        threads=_count(threads),
        of_kind=KindOptions(joint=joint, unroll=unroll, draft_vocab=draft_vocab),
    )  # fmt: skip
    _require_possible(job)
    with _writing_to(out, job.how_to_continue):
        _train_on(job)
    wait_for_everyone()  # each has loaded the best checkpoint
    if is_first_process():
        write_recipe(context, out, without="epochs" if max_steps else "")
        if not keep_checkpoints:
            remove_checkpoints(job.work)


@heads.command()
def watch(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The --out of `train`.")],
) -> None:
    """Watch a running training.

    Shows loss, accuracies and served τ over time, and the drafts of one answer.
    """
    from app.cli.heads.watch import watch as show

    show(out)


@heads.command()
def quantize(
    context: typer.Context,
    heads: HeadsDir,
    to: Annotated[Literal["int8", "int4", "fp8"], typer.Option(help="Precision of the weights.")],
    out: Annotated[Path, folder(help="Folder for the quantized weights.")],
    target: Annotated[
        str | None,
        text(
            help="To measure before and after: folder or hub id of the target; for heads trained "
            "with --joint, of the original one."
        ),
    ] = None,
    prompts: Annotated[
        list[str] | None, file(help="To measure before and after: JSONL of prompts.")
    ] = None,
    max_new_tokens: Annotated[
        int, integer(min=2, help="To measure before and after: longest answer in tokens.")
    ] = 128,
    device: Device = "auto",
) -> None:
    """Quantize the weights of heads or a draft model (extra: quantize).

    Also takes the output of `train --joint`: a target with its heads.
    With `train --qat` before it, little accuracy is lost.
    """
    if (target is None) != (not prompts):
        raise InputError("to measure before and after give --target and --prompts")
    for name, option in given_options(context).items():
        if target is None and name in ("max_new_tokens", "device"):
            raise InputError(f"{option} is for measuring: give --target and --prompts too")
    _require_package("quantizing", "torchao", "quantize")
    refuse_existing(out)
    from app.cli.heads.evaluation import Task
    from app.cli.heads.quantize import quantize_to

    params = Params(max_new_tokens=max_new_tokens)
    task = None
    if target and prompts:
        task = Task(target=target, prompts=prompts, params=params, device=device)
    quantize_to(heads, to, out, task)


@heads.command()
def export(
    target: Target,
    heads: Annotated[Path, folder("--heads", help=EXPORTED)],
    to: Annotated[
        Literal[
            "medusa", "tgi", "eagle", "sglang", "vllm", "speculators", "modelopt", "tensorrt-llm"
        ],
        typer.Option(help="The program that will read them."),
    ],
    out: Annotated[Path, folder(help="Folder for the exported heads.")],
    gamma: Annotated[
        int | None, integer(min=1, help="Longest draft in the printed launch command.")
    ] = None,
    dtype: Annotated[
        Literal["float32", "bfloat16", "float16"] | None,
        typer.Option(
            help="Precision of the weights (default: the target's for an engine, else as they are)."
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(
            metavar="PYTHON",
            help="Also compare their logits with speculators' (EAGLE-3) or nvidia-modelopt's "
            "(Medusa): the Python of an environment that has the package.",
        ),
    ] = None,
) -> None:
    """Convert heads for a serving engine or another trainer.

    Reads them back to check them, and prints the launch command of an engine.
    """
    refuse_existing(out)
    from app.cli.heads.export import export as write

    write(target, heads, to, out, gamma=gamma, dtype=dtype, python=verify)


@heads.command("eval")
def evaluate(
    context: typer.Context,
    target: Target,
    prompts: Annotated[list[str], file(help="JSONL of prompts or conversations.")],
    heads: Annotated[Path | None, folder("--heads", help=DRAFTER)] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="DIR DIR", help="Instead of --heads: compare two drafters on the same prompts."
        ),
    ] = None,
    chat_template: Template = None,
    max_new_tokens: Annotated[int, integer(min=2, help=LONGEST)] = 128,
    medusa_choices: Annotated[
        str | None, text(help="Medusa's tree of head ranks: name, JSON or file (default: small).")
    ] = None,
    eagle_total_tokens: Annotated[
        int | None, integer(help="Nodes of EAGLE's tree (default: 16).")
    ] = None,
    eagle_top_k: Annotated[
        int | None, integer(help="Branches of EAGLE's tree (default: 4).")
    ] = None,
    gamma: Annotated[
        int | None,
        integer(min=1, help="Longest draft in tokens (default: EAGLE 6, draft models 4)."),
    ] = None,
    temperature: Annotated[
        float, number(min=0, max=HOTTEST, help="Of the answers; 0 is greedy.")
    ] = 0,
    seed: Annotated[
        int, random_seed(help="Random seed of the answers at a temperature above 0.")
    ] = 0,
    write_settings: Annotated[
        bool,
        switch(
            "--write-settings",
            help="Find the tree or γ that is fastest on this machine, and write it into the "
            "checkpoint as its default.",
        ),
    ] = False,
    seconds: Annotated[
        float,
        number(min=1, max=MOST_SECONDS, help="Time for --write-settings, roughly."),
    ] = 180,
    threads: Threads = "auto",
    device: Device = "auto",
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure heads or a draft model on the target's own answers.

    Prints accuracy and acceptance, in total and by depth, category of prompt,
    kind of token, and the drafter's confidence.
    The default tree is the one that `train` measures with, not the checkpoint's.
    """
    try:
        params = Params(
            SamplingParams(temperature),
            gamma,
            max_new_tokens,
            eagle_total_tokens=eagle_total_tokens,
            eagle_top_k=eagle_top_k,
        )
    except ValueError as error:  # of a setting, by its name
        raise InputError(f"--{str(error).replace('_', '-')}") from error
    if (heads is None) == (compare is None):
        raise InputError("give --heads DIR, or --compare DIR DIR")
    if compare and write_settings:
        raise InputError("--write-settings is for --heads, not for --compare")
    if "seconds" in given_options(context) and not write_settings:
        raise InputError("--seconds is the time for --write-settings: give both")
    given = [each for each in (heads, *(compare or ())) if each is not None]
    kinds = [_kind_of(each) for each in given]
    if "medusa" not in kinds:
        _refuse_others(context, kinds[0], medusa_choices=("medusa",))
    if "eagle" not in kinds:
        tree = dict.fromkeys(("eagle_total_tokens", "eagle_top_k"), ("eagle",))
        _refuse_others(context, kinds[0], **tree)
    from app.cli.heads.evaluation import Task, print_evaluation

    task = Task(
        target=target, prompts=prompts, params=params, medusa_choices=medusa_choices, seed=seed,
        device=device, template=chat_template, threads=_count(threads),
        search=seconds if write_settings else None,
    )  # fmt: skip
    print_evaluation(task, given, as_json)
