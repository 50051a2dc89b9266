"""`specchat rejections`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from typing import Annotated

import typer

from app.cli.commands.prompt_options import PromptFile, PromptText, requests_of
from app.cli.commands.shared_options import Flags, headless, settings_of
from app.cli.options import switch
from app.cli.terminal import print_result


@headless
def rejections(
    flags: Flags,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    most: Annotated[
        int, typer.Option(min=0, metavar="N", help="Rejections to print per lane (JSON has all).")
    ] = 20,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the drafts that the target rejects, and how often drafters are right.

    Accuracy is shown by level, kind of token, place in the answer, and the
    drafter's confidence.
    """
    from app.cli.lane_checks import lanes_with_rejections

    settings = settings_of(flags)
    specs, left_out = lanes_with_rejections(settings)
    requests = requests_of(prompt, prompts)

    from app.cli.rejections import find_rejections
    from app.report.rejections_document import format_rejections

    with redirect_stdout(sys.stderr):
        document, code = find_rejections(settings, requests, specs, left_out)
    print_result(document, as_json, partial(format_rejections, most=most))
    raise typer.Exit(code)
