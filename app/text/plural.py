"""Counts with their nouns."""

from __future__ import annotations


def pluralize(number: int, thing: str) -> str:
    """Return a count and its noun: "1 turn", "2 turns"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
