"""The terminal that a screen needs."""

from __future__ import annotations

import sys

from decoding.errors import InputError


def need_terminal(instead: str) -> None:
    """Raises InputError where there is none. What the screen draws goes to stderr."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise InputError(f"the screen needs a terminal; without one use: {instead}")
