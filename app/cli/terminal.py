"""Requires a terminal for the screen, and prints a command's output."""

from __future__ import annotations

import os
import sys

from decoding.errors import InputError


class OutputLost(Exception):
    """Stdout is closed or can't be written to."""


def require_terminal(instead: str) -> None:
    """Raise InputError without a terminal. Stderr counts too, as the screen is drawn there. Where
    Textual was given another driver, as for a web page, none is needed."""
    if "TEXTUAL_DRIVER" in os.environ:
        return
    if os.environ.get("TERM") == "dumb":
        raise InputError(f"this terminal can't draw a screen (TERM is dumb); use: {instead}")
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise InputError(f"the screen needs a terminal; without one use: {instead}")


def print_output(text: str) -> None:
    """Print `text` and a newline, with ? for characters that stdout can't encode. Raises OutputLost
    if stdout is closed, its reader is gone, or the disk is full."""
    stdout = sys.stdout
    if stdout is None:
        raise OutputLost("stdout is closed")
    try:
        print(text.encode(stdout.encoding, "replace").decode(stdout.encoding), flush=True)
    except OSError as error:
        # discard the buffer, or Python reports the same error again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        raise OutputLost(f"can't write to stdout: {error.strerror or error}") from error
