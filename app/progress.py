"""The callback by which long work says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float | None], None]  # what is done now, and the fraction done, 0 to 1


def silent(what: str, part: float | None) -> None:
    """No progress."""
