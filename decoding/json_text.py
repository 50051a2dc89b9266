"""Parses JSON from untrusted files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 28


def parse_json(text: str | bytes) -> Any:
    """Parse JSON. Raises ValueError, also where it is nested too deeply and for bytes that are not
    text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_bounded(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file's bytes. Raises OSError, also if there are more than `most`: a device may never
    end."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"it is larger than {most >> 20} MiB")
    return data


def read_json(path: Path) -> Any:
    """Parse a file that somebody else put there. Raises OSError, also for what is no regular file,
    as a pipe may never be written to, and ValueError."""
    if not path.is_file():
        raise OSError("no such file")
    return parse_json(read_bounded(path))
