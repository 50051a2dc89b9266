"""The `specchat heads` commands and their options, a file for each, in the order of the work. What
they do is in the modules beside this folder."""

from __future__ import annotations

from collections.abc import Callable

import typer

from app.cli.heads.commands.convert import convert
from app.cli.heads.commands.distill import distill
from app.cli.heads.commands.eval import evaluate
from app.cli.heads.commands.export import export
from app.cli.heads.commands.quantize import quantize
from app.cli.heads.commands.train import train
from app.cli.heads.commands.watch import watch

heads = typer.Typer(
    no_args_is_help=True,
    help="Make, train, measure and export heads or a draft model for a target.",
)

COMMANDS: dict[str, Callable[..., None]] = {
    "convert": convert,
    "distill": distill,
    "train": train,
    "watch": watch,
    "eval": evaluate,
    "quantize": quantize,
    "export": export,
}
for name, command in COMMANDS.items():
    heads.command(name)(command)
