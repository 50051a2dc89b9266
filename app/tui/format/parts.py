"""The parts of a row on the screen."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len, set_cell_size


class Part(NamedTuple):
    """Some words of a row. If the row is too long, parts with the highest `rank` are dropped first;
    rank 0 always stays. `alone`: it stays where there is room, also if a lower rank has none."""

    text: str
    style: str = ""
    rank: int = 0
    alone: bool = False


def fitted(text: str, cells: int) -> str:
    """Return the text in exactly so many cells: padded, or cut with an ellipsis."""
    if cell_len(text) <= cells:
        return set_cell_size(text, cells)
    return f"{set_cell_size(text, cells - 1)}…"
