"""The parts of a row on the screen."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """Some words of a row. If the row is too long, parts with the highest `rank` are dropped first;
    rank 0 always stays."""

    text: str
    style: str = ""
    rank: int = 0
