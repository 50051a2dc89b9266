"""Numbers of things, as sentences have them."""

from __future__ import annotations


def pluralize(number: int, thing: str) -> str:
    """As in "1 turn", "2 turns"."""
    return f"{number} {thing}{'s' * (number != 1)}"
