"""Terminal input and output. Everything that headless commands print goes through here, which makes
text from models, files and users safe for a terminal."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from app.text.terminal_text import as_json, one_line, visible
from decoding.errors import InputError

LONGEST_COMPLAINT = 800  # characters
PATIENCE = 10.0  # seconds between lines of progress, where none is overwritten


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
    """Print `text` and a newline on stdout. Raises OutputLost."""
    _write(visible(text))


def print_document(document: dict[str, Any]) -> None:
    """Print one line of JSON on stdout. Raises OutputLost."""
    _write(as_json(document))


def print_result(
    document: dict[str, Any], as_json: bool, text: Callable[[dict[str, Any]], str]
) -> None:
    """Print a document as JSON, or its `text`. Raises OutputLost."""
    if as_json:
        print_document(document)
    else:
        print_output(text(document))


class _Say(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def guard_stderr() -> None:
    """Make what libraries log safe for a terminal, as it may quote what a model brings, and leave
    out their warnings, which are for developers (python -W default shows them)."""
    logging.basicConfig(level=logging.WARNING, handlers=[_Say()])
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns in every layer and pass
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def say(text: str, end: str = "\n") -> None:
    """Tell the user something on stderr."""
    if sys.stderr is not None:
        print(visible(text), end=end, file=sys.stderr, flush=True)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show progress in one overwritten line on stderr; if that is not a terminal, in a line now and
    then of what takes long."""
    if sys.stderr is None or not sys.stderr.isatty():
        said = time.monotonic()

        def add_line(text: str) -> None:
            nonlocal said
            if time.monotonic() - said >= PATIENCE:
                said = time.monotonic()
                say(one_line(text))

        yield add_line
        return

    def show(text: str) -> None:
        print("\r\x1b[K", end="", file=sys.stderr)
        say(one_line(text), end="")

    try:
        yield show
    finally:
        show("")


def complain(line: str) -> None:
    """Print an error in one line, shortened in the middle if it is very long."""
    line = " ".join(line.split())
    if len(line) > LONGEST_COMPLAINT:
        line = f"{line[: LONGEST_COMPLAINT // 2]} … {line[-LONGEST_COMPLAINT // 2 :]}"
    say(f"specchat: {line}")


def _write(text: str) -> None:
    """Print with ? for characters that stdout can't encode. Raises OutputLost if stdout is closed,
    its reader is gone, or the disk is full."""
    stdout = sys.stdout
    if stdout is None:
        raise OutputLost("stdout is closed")
    try:
        print(text.encode(stdout.encoding, "replace").decode(stdout.encoding), flush=True)
    except OSError as error:
        discard_output()
        raise OutputLost(f"can't write to stdout: {error.strerror or error}") from error


def discard_output() -> None:
    """Drop what stdout still buffers: Python would report the same error again at exit."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
