"""The terminal that a screen needs, and the output that a command has."""

from __future__ import annotations

import os
import sys

from decoding.errors import InputError


class OutputLost(Exception):
    """What a command found out did not get to where stdout leads."""


def require_terminal(instead: str) -> None:
    """Raises InputError where there is none. What the screen draws goes to stderr."""
    if os.environ.get("TERM") == "dumb":
        raise InputError(f"this terminal can't draw a screen (TERM is dumb); use: {instead}")
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise InputError(f"the screen needs a terminal; without one use: {instead}")


def print_output(text: str) -> None:
    """`text` and a line's end to stdout, with ? for what its encoding can't say. Raises OutputLost
    where stdout is closed, its reader has gone, or the disk is full."""
    stdout = sys.stdout
    if stdout is None:
        raise OutputLost("stdout is closed")
    try:
        print(text.encode(stdout.encoding, "replace").decode(stdout.encoding), flush=True)
    except OSError as error:
        # what is still in the buffer goes nowhere, or Python would complain once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        raise OutputLost(f"can't write to stdout: {error.strerror or error}") from error
