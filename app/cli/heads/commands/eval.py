"""`specchat heads eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.heads.commands.checks import kind_of, refuse_others
from app.cli.heads.commands.options import (
    DRAFTER,
    HOTTEST,
    LONGEST,
    Device,
    Target,
    Template,
    Threads,
    count_of_threads,
    random_seed,
)
from app.cli.heads.recipe import given_options
from app.cli.options import file, folder, integer, number, switch, text
from decoding.errors import InputError
from decoding.params import Params, SamplingParams

MOST_SECONDS = 1_000_000  # without a bound, inf would be accepted


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
    kinds = [kind_of(each) for each in given]
    if "medusa" not in kinds:
        refuse_others(context, kinds[0], medusa_choices=("medusa",))
    if "eagle" not in kinds:
        tree = dict.fromkeys(("eagle_total_tokens", "eagle_top_k"), ("eagle",))
        refuse_others(context, kinds[0], **tree)
    from app.cli.heads.evaluation import Task, print_evaluation

    task = Task(
        target=target, prompts=prompts, params=params, medusa_choices=medusa_choices, seed=seed,
        device=device, template=chat_template, threads=count_of_threads(threads),
        search=seconds if write_settings else None,
    )  # fmt: skip
    print_evaluation(task, given, as_json)
