"""`specchat heads`: attach, distil for, train and measure the heads that draft for a target."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from decoding.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from decoding.training.data import Record

heads = typer.Typer(
    no_args_is_help=True,
    help="Make the heads that draft for a target: convert, distill, train, eval.",
)

Target = Annotated[str, typer.Option(help="Folder or hub id of the target.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")]
HeadsDir = Annotated[Path, typer.Option("--heads", help="Folder of heads, in any dialect.")]
Seed = Annotated[int, typer.Option(min=0)]


@heads.command()
def convert(
    kind: Annotated[Literal["medusa"], typer.Argument(help="What to attach.")],
    target: Target,
    out: Annotated[Path, typer.Option(help="Folder for the new heads.")],
    count: Annotated[int, typer.Option("--heads", min=1, max=16)] = 4,
    layers: Annotated[int, typer.Option(min=1, max=4)] = 1,
    own_lm_heads: Annotated[
        bool, typer.Option(help="A copy of the lm_head for each head (dialect v0.1, not v2).")
    ] = False,
    device: Device = "cpu",
) -> None:
    """Attach untrained heads to a target: they guess what the target itself would say next."""
    from decoding.checkpoints.medusa import write_medusa
    from decoding.training.medusa import attach

    _refuse_existing(out)
    model, _ = _load(target, device)
    weights = attach(model, count, layers, own_lm_heads)
    write_medusa(weights, out, weights.dialect, target)
    _say(f"{count} heads of {layers} layers for {target} in {out} (dialect {weights.dialect})")


@heads.command()
def distill(
    target: Target,
    prompts: Annotated[list[str], typer.Option(help="JSONL of prompts; FILE[:REPEAT].")],
    out: Annotated[Path, typer.Option(help="JSONL of conversations to train on.")],
    max_new_tokens: Annotated[int, typer.Option(min=1)] = 256,
    temperature: Annotated[float, typer.Option(min=0.0)] = 0.0,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    seed: Seed = 0,
    device: Device = "auto",
) -> None:
    """Let the target answer the prompts itself. The same command again goes on where it stopped."""
    from decoding.training.distill import distill as write_answers

    records = _records(prompts)
    model, tokenizer = _load(target, device)
    done = write_answers(
        model, tokenizer, records, out, max_new_tokens, temperature, batch_size, seed
    )
    _say(f"{done} conversations in {out}")


@heads.command()
def train(
    target: Target,
    heads: HeadsDir,
    data: Annotated[list[str], typer.Option(help="JSONL of conversations; FILE[:REPEAT].")],
    out: Annotated[Path, typer.Option(help="Folder for the trained heads.")],
    held_out: Annotated[
        list[str] | None, typer.Option(help="JSONL to measure on (else every 20th record).")
    ] = None,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint",
            help="Then train the target too, as long again (Medusa-2). Better guesses, but it "
            "becomes another model with other answers, --out holds it whole, and training takes "
            "16 bytes of memory a parameter.",
        ),
    ] = False,
    max_steps: Annotated[int, typer.Option(min=0, help="0: whole epochs.")] = 0,
    epochs: Annotated[float, typer.Option(min=0.01)] = 1.0,
    lr: Annotated[float, typer.Option(min=0.0)] = 1e-3,
    target_lr: Annotated[float, typer.Option(min=1e-9, help="Of the target, if --joint.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(min=1)] = 8,
    accumulate: Annotated[int, typer.Option(min=1, help="Batches a step.")] = 1,
    length: Annotated[int, typer.Option(min=8, help="Longest conversation in tokens.")] = 1024,
    evaluate_every: Annotated[int, typer.Option(min=1, help="Steps.")] = 200,
    resume: Annotated[bool, typer.Option(help="Go on from the newest checkpoint.")] = False,
    seed: Seed = 0,
    device: Device = "auto",
) -> None:
    """Train heads on a target, which stays as it is; their accuracies are measured and kept."""
    from decoding.checkpoints.medusa import read_medusa, write_medusa, write_merged
    from decoding.training.conversations import Conversations
    from decoding.training.joint import train_joint
    from decoding.training.medusa import Schedule, train_medusa

    if joint and not resume:
        _refuse_existing(out)  # a whole model goes there: not over another, not the target
    records = _records(data)
    measured = _records(held_out) if held_out else records[::20]
    if not held_out:
        records = [record for i, record in enumerate(records) if i % 20]
    model, tokenizer = _load(target, device)
    weights = read_medusa(heads, *_shape(model))
    length = min(length, getattr(model.config, "max_position_embeddings", length))
    learned = Conversations(records, tokenizer, length)
    tested = Conversations(measured, tokenizer, length)
    if not (len(learned) and len(tested)):
        raise InputError("--data holds no answers to learn from, or none are left to measure on")
    schedule = Schedule(
        max_steps,
        epochs,
        lr,
        target_lr if joint else 0.0,
        batch_size,
        accumulate,
        evaluate_every=evaluate_every,
        seed=seed,
    )
    task = (model, weights, learned, tested, schedule, out / "training", resume)
    if joint:
        trained = train_joint(*task)
        write_merged(trained, out, model, tokenizer)
        _say(f"trained target and heads in {out}: " + _accuracies(trained.accuracy))
        return
    trained = train_medusa(*task)
    write_medusa(trained, out, "v2" if trained.lm_heads is None else "v0.1", target)
    _say(f"trained heads in {out}: " + _accuracies(trained.accuracy))


@heads.command("eval")
def evaluate(
    target: Target,
    heads: HeadsDir,
    prompts: Annotated[list[str], typer.Option(help="JSONL of prompts or conversations.")],
    max_new_tokens: Annotated[int, typer.Option(min=1)] = 128,
    medusa_choices: Annotated[str | None, typer.Option(help="Tree: name, JSON or file.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0)] = 0.0,
    seed: Seed = 0,
    device: Device = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Accuracy of each head on the target's own answers, and acceptance as it is served."""
    from app.family import load_family
    from app.settings import ModelOptions
    from decoding.params import Params, SamplingParams
    from decoding.stopping import Stop
    from decoding.training.distill import conversation
    from decoding.training.evaluate import evaluate_medusa

    records = _records(prompts)
    options = ModelOptions(
        target=target, medusa=str(heads), medusa_choices=medusa_choices, device=device
    )
    family = load_family(options)
    assert family.medusa is not None
    asked = [found for record in records if (found := conversation(record))]
    ids = [
        family.encode([*history, {"role": "user", "content": turns[0]}]) for history, turns in asked
    ]
    if not ids:
        raise InputError("--prompts holds nothing to answer: give prompt, turns or messages")
    longest = max(range(len(ids)), key=lambda i: len(ids[i]))
    if len(ids[longest]) > family.context:
        raise InputError(
            f"prompt {longest + 1} has {len(ids[longest])} tokens, the model's context holds "
            f"{family.context}"
        )
    params = Params(SamplingParams(temperature), max_new_tokens=max_new_tokens)
    report = evaluate_medusa(
        family.target, family.medusa, family.choices, ids, params, Stop(family.eos), seed
    )
    served = report.served
    document = {
        "target": target,
        "heads": str(heads),
        "prompts": len(ids),
        "temperature": temperature,
        "accuracy": report.accuracy.tolist(),
        "medusa_choices": family.choices,
        "target_passes": served.passes,
        "tokens_per_pass": served.tokens_per_pass,
        "acceptance_rate": served.acceptance_rate,
        "accepted_histogram": served.histogram,
    }
    if as_json:
        print(json.dumps(document))
        return
    for k, row in enumerate(report.accuracy.tolist()):
        print(f"head {k + 1}: top-1 {row[0]:.3f}, top-{len(row)} {sum(row):.3f}")
    print(
        f"served: τ {served.tokens_per_pass or 0:.2f}, α {served.acceptance_rate or 0:.2f} with a "
        f"tree of {len(family.choices) + 1} nodes; {served.passes} passes over {len(ids)} prompts"
    )


def _records(sources: list[str]) -> list[Record]:
    from decoding.training.data import Source, read_sources

    for source in sources:
        path = Source.parse(source).path
        if not path.is_file():
            raise InputError(f"no file {path}: give a JSONL file of prompts or conversations")
    try:
        records: list[Any] = list(read_sources(sources))
    except ValueError as error:
        raise InputError(f"{', '.join(sources)}: not JSONL ({error})") from error
    if not records:
        raise InputError(f"{', '.join(sources)} holds no records")
    return records


def _load(target: str, device: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    from app.family import load_model, load_tokenizer
    from app.settings import ModelOptions

    options = ModelOptions(target=target, device=device)
    return load_model(target, options), load_tokenizer(target, options)


def _shape(model: PreTrainedModel) -> tuple[int, int]:
    """Width of the features and of the logits."""
    rows, hidden = model.get_output_embeddings().weight.shape
    return hidden, rows


def _refuse_existing(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: choose a new folder for --out")
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty: choose a new folder for --out")


def _accuracies(table: tuple[tuple[float, ...], ...]) -> str:
    return ", ".join(f"head {k + 1} top-1 {row[0]:.3f}" for k, row in enumerate(table))


def _say(line: str) -> None:
    print(line, file=sys.stderr)
