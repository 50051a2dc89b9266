"""The parts that rows of the screen are made of."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """Some words of a row. Where room is short those of the highest `rank` are left out first;
    rank 0 always stays."""

    text: str
    style: str = ""
    rank: int = 0
