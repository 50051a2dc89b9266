"""`specchat chat`, also as `specchat` alone."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from app.cli.commands.shared_options import Flags, settings_of, with_settings
from app.cli.options import switch
from app.cli.terminal import print_output, require_terminal
from app.version import VERSION
from decoding.errors import InputError


@with_settings
def chat_by_default(
    flags: Flags,
    context: typer.Context,
    version: Annotated[bool, switch("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print_output(VERSION)
    elif context.invoked_subcommand is None:
        _open_screen(flags)
    elif flags:
        name = next(iter(flags)).replace("_", "-")
        raise InputError(f"put --{name} after '{context.invoked_subcommand}', not before it")


@with_settings
def chat(flags: Flags) -> None:
    """Open the screen, as `specchat` alone does."""
    _open_screen(flags)


def _open_screen(flags: Flags) -> NoReturn:
    settings = settings_of(flags)
    require_terminal("specchat run --prompt TEXT")
    from app.cli.chat import open_screen

    raise typer.Exit(open_screen(settings))
