"""`specchat advise`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from app.cli.commands.measuring_options import ReportFile, SweepValues, reported, require_writable
from app.cli.commands.prompt_options import PromptFile, PromptText, requests_of
from app.cli.commands.shared_options import Flags, headless, settings_of
from app.cli.options import switch
from app.cli.terminal import print_result
from decoding.errors import InputError


@headless
def advise(
    flags: Flags,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            help="Use the prompts of a saved or exported conversation; latest: the newest.",
            metavar="FILE",
            rich_help_panel="Prompt",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(min=1, max=1_000_000, metavar="S", help="Approximate time for measuring."),
    ] = 180,
    sweep: SweepValues = None,
    report: ReportFile = None,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """Find the fastest strategy and settings on this machine.

    Without prompts, it uses those of the demo or of the newest conversation.
    """
    from app.cli.lane_checks import lanes_to_advise_on
    from app.config.overrides import parse_sweep

    settings = settings_of(flags)
    values = parse_sweep(sweep or ())
    lanes = lanes_to_advise_on(settings, values)
    if conversation is not None and not (prompt is None and prompts is None):
        raise InputError("give one of --prompt, --prompts and --conversation")
    if prompt is None and prompts is None:
        from app.cli.advise_prompts import prompts_to_advise_on

        requests = prompts_to_advise_on(settings, conversation)
    else:
        requests = requests_of(prompt, prompts)

    require_writable(report)

    from app.cli.advise import advise as measure
    from app.report.advice_text import advice_report, format_advice

    with redirect_stdout(sys.stderr):
        document, code = measure(settings, requests, lanes, seconds, values)
    with reported(report, lambda: advice_report(document)):
        print_result(document, as_json, format_advice)
    raise typer.Exit(code)
