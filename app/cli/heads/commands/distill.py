"""`specchat heads distill`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.heads.commands.checks import writing_to
from app.cli.heads.commands.options import (
    HOTTEST,
    LONGEST,
    MIXED,
    Device,
    Template,
    Threads,
    count_of_threads,
    random_seed,
)
from app.cli.heads.recipe import RecipeFile, given_options
from app.cli.heads.target import load, use_threads
from app.cli.heads.training_data import requests_of
from app.cli.heads.training_job import require_place
from app.cli.options import file, integer, number, text
from app.cli.terminal import say
from decoding.errors import InputError
from decoding.params import Params, SamplingParams


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
    if out.exists() and not out.is_file():  # a device or a pipe, which may have no end
        raise InputError(f"--out {out} is no ordinary file: give one, which can be continued")
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

        use_threads(count_of_threads(threads))
        model, tokenizer = load(target, device, chats=True, template=chat_template)
        with writing_to(out, how_to_continue):
            done = write_answers(
                model, tokenizer, conversations, out, params,
                batch_size=batch_size, seed=seed, reasoning=reasoning,
            )  # fmt: skip
    elif server is not None:
        from app.cli.heads.server_answers import distill_from
        from app.config.servers import parse_endpoint

        try:
            endpoint = parse_endpoint(server, server_model)
        except ValueError as error:
            raise InputError(f"--server: {error}") from error
        with writing_to(out, how_to_continue):
            done = distill_from(
                endpoint, conversations, out, params,
                seed=seed, concurrency=concurrency, reasoning=reasoning,
            )  # fmt: skip
    say(f"{done} conversations in {out}: {statistics(out)}")
