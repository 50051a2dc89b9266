"""The options that give the prompts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from decoding.errors import InputError

if TYPE_CHECKING:
    from app.text.prompt_file import Request

PromptText = Annotated[
    str | None,
    typer.Option(help="One prompt; - reads stdin.", metavar="TEXT", rich_help_panel="Prompt"),
]
PromptFile = Annotated[
    str | None,
    typer.Option(
        help="JSONL file: prompt, messages, turns or input_ids; - reads stdin.",
        metavar="FILE",
        rich_help_panel="Prompt",
    ),
]


def requests_of(prompt: str | None, prompts: str | None) -> list[Request]:
    """Read the prompts that the two options give, all of them at once. Raises InputError."""
    from app.text.prompt_file import Request, parse_requests, read_requests
    from app.text.unicode import require_unicode

    if (prompt is None) == (prompts is None):
        raise InputError("give one of --prompt TEXT and --prompts FILE.jsonl; - reads stdin")
    if prompts == "-":
        return parse_requests(_stdin("--prompts -"), "stdin")
    if prompts is not None:
        return read_requests(Path(prompts))
    text = str(prompt)
    if prompt == "-":
        # bytes that are not UTF-8 become surrogates, as in a command-line argument
        text = _stdin("--prompt -").decode("utf-8-sig", "surrogateescape")
        text = text.removesuffix("\n").removesuffix("\r")
    require_unicode(text, "--prompt")
    if not text.strip():
        raise InputError("the prompt is empty: give --prompt some text")
    return [Request(turns=(text,))]


def _stdin(option: str) -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(f"{option} reads stdin, but nothing is piped into it")
    return sys.stdin.buffer.read()
