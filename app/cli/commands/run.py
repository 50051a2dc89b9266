"""`specchat run`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from app.cli.commands.measuring_options import Concurrency
from app.cli.commands.prompt_options import PromptFile, PromptText, requests_of
from app.cli.commands.shared_options import Flags, headless, settings_of
from app.cli.options import switch
from app.cli.terminal import print_result
from decoding.errors import InputError


@headless
def run(
    flags: Flags,
    text: Annotated[
        str | None, typer.Argument(metavar="[PROMPT]", help="The same as --prompt.")
    ] = None,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
    trace: Annotated[
        bool, switch("--trace", help="Include every round in the JSON document.")
    ] = False,
    concurrency: Concurrency = 1,
) -> None:
    """Answer prompts without a screen: text or one JSON document on stdout."""
    settings = settings_of(flags)
    if trace and not as_json:
        raise InputError("--trace is a part of the JSON document: add --json")
    if text is not None and not (prompt is None and prompts is None):
        raise InputError("give one of a prompt as the argument, --prompt and --prompts")
    requests = requests_of(prompt if text is None else text, prompts)

    from app.cli.run import run as run_headless
    from app.cli.run_text import format_run

    with redirect_stdout(sys.stderr):  # remote code may print; stdout is for the answer
        result = run_headless(settings, requests, trace, concurrency)
    print_result(result.document, as_json, format_run)
    raise typer.Exit(result.exit_code)
