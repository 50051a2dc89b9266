"""`specchat bench`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from app.cli.commands.measuring_options import (
    Concurrency,
    ReportFile,
    SweepValues,
    reported,
    require_writable,
)
from app.cli.commands.prompt_options import PromptFile, PromptText, requests_of
from app.cli.commands.shared_options import Flags, headless, settings_of
from app.cli.options import switch
from app.cli.terminal import print_result
from app.text.numbers import whole_number
from decoding.errors import InputError


@headless
def bench(
    flags: Flags,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many times to answer all prompts.")
    ] = 3,
    peers: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME",
            help="Also measure Hugging Face's generate: hf, hf-assisted or both.",
        ),
    ] = "",
    sweep: SweepValues = None,
    simulate_acceptance: Annotated[
        list[float] | None,
        typer.Option(
            min=0,
            max=1,
            metavar="RATE",
            help="Add a simulated drafter with this acceptance rate and no cost, in greedy "
            "decoding; may be repeated.",
        ),
    ] = None,
    batch: Annotated[
        str,
        typer.Option(metavar="N,N,...", help="Estimate the speedup at these batch sizes."),
    ] = "",
    prefix: Annotated[
        str,
        typer.Option(metavar="N,N,...", help="Put this many tokens before each prompt."),
    ] = "",
    concurrency: Concurrency = 1,
    report: ReportFile = None,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare the speeds of lanes, interleaved in one process."""
    from app.cli.lane_checks import check_concurrency, lanes_to_compare
    from app.config.overrides import parse_sweep

    settings = settings_of(flags)
    values = parse_sweep(sweep or ())
    requests = requests_of(prompt, prompts)
    others = [name.strip() for name in peers.split(",") if name.strip()]
    for name in others:
        if name not in ("hf", "hf-assisted"):
            raise InputError(f"--peers: unknown peer '{name}'; choose from hf, hf-assisted")
    batches = _sizes("--batch", batch, 1024)
    prefixes = _sizes("--prefix", prefix, 1_000_000)

    check_concurrency(settings, concurrency)
    specs = lanes_to_compare(
        settings,
        values,
        peers=others,
        acceptances=simulate_acceptance or (),
        batches=batches,
        prefixes=prefixes,
    )
    require_writable(report)

    from app.cli.bench import bench as measure
    from app.report.bench_text import bench_report, format_bench

    with redirect_stdout(sys.stderr):
        document, code = measure(
            settings,
            requests,
            specs,
            repeats=repeats,
            peers=others,  # type: ignore[arg-type]
            sweep=values,
            concurrency=concurrency,
            acceptances=simulate_acceptance or (),
            batches=batches,
            prefixes=prefixes,
        )
    with reported(report, lambda: bench_report(document)):
        print_result(document, as_json, format_bench)
    raise typer.Exit(code)


def _sizes(option: str, text: str, largest: int) -> list[int]:
    """Numbers between commas, each once, in order. Raises InputError."""
    numbers = [each.strip() for each in text.split(",")] if text.strip() else []
    if not all(whole_number(each, largest) for each in numbers):
        raise InputError(f"{option} takes whole numbers from 1 to {largest}, with commas between")
    return sorted({int(each) for each in numbers})
