"""The `specchat` command: runs it, and ends it with one line and an exit code."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.exceptions import TyperException

from app.cli.commands import cli
from app.cli.terminal import OutputLost, complain, discard_output, guard_stderr
from app.text.suggestions import meant_by
from decoding.errors import InputError, ParameterError, is_out_of_memory


def _perhaps(error: TyperException) -> str:
    """The complaint about an unknown option or command, or a prompt without quotes, with what may
    have been meant; Typer's own names options that are spelled nearly so, hidden ones too. Empty
    for other errors."""
    context = getattr(error, "ctx", None)
    if context is not None and error.message.startswith("Got unexpected extra argument"):
        return error.message + ("; put the prompt in quotes" if context.info_name == "run" else "")
    if context is not None and error.message.startswith("No such command"):
        message, _, commands = error.message.removesuffix("?").partition(". Did you mean ")
        message = message.removesuffix(".")
        if commands:
            return f"{message}, perhaps {commands}"
        # a question in quotes, as other programs take it
        return message + (
            "; specchat run TEXT answers one" if " " in message.partition("'")[2] else ""
        )
    if context is None or not error.message.startswith("No such option"):
        return ""
    written = getattr(error, "option_name", "")
    near = meant_by(written, _options(context.command))
    run = getattr(context.command, "commands", {}).get("run")
    if not near and run is not None:
        near = [f"specchat run {each}" for each in meant_by(written, _options(run))]
    return error.message + (f", perhaps {' or '.join(near)}" if near else "")


def _options(command: Any) -> list[str]:
    shown = (each for each in command.params if not getattr(each, "hidden", False))
    return [name for each in shown for name in each.opts]


def main() -> None:
    """Run the command. Exit codes: 0 done, 1 failed, 2 wrong input (one line), 130 interrupted."""
    guard_stderr()
    try:
        code = cli(standalone_mode=False)
    except OutputLost as error:
        complain(str(error))
        code = 1
    except ParameterError as error:
        complain(f"--{error.name.replace('_', '-')}{error.rest}")
        code = 2
    except InputError as error:
        complain(str(error))
        code = 2
    except TyperException as error:
        message = _perhaps(error) or error.format_message().replace(": Value error, ", ": ")
        if message:  # none where a command alone has shown its help
            helps = "; --help has them all" if message.startswith("No such") else ""
            complain(message.removesuffix(".") + helps if helps else message)
        code = 2
    except OSError as error:  # a full disk, a folder without permission
        discard_output()
        file = f"{error.filename}: " if error.filename else ""
        complain(f"{file}{error.strerror or error}")
        code = 1
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        complain("out of memory: ask for less, such as smaller sizes, batches or models")
        code = 1
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code or 0)
