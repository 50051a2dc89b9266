"""Formats numbers for the screen."""

from __future__ import annotations


def ordinal(rank: int) -> str:
    """Return a rank counted from 0: 1st, 2nd, 3rd, 4th, 11th."""
    number = rank + 1
    end = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{end or 'th'}"


def probability(p: float) -> str:
    if 0.0 < p < 0.0005:
        return "<.001"
    return "1.00" if p >= 0.9995 else f"{p:.3f}".removeprefix("0")


def p_value(p: float) -> str:
    """Return the p-value of a statistical test."""
    return f"{p:.2f}" if p >= 0.01 else f"{p:.2g}"


def percent(share: float | None) -> str:
    return "   –" if share is None else f"{share:4.0%}"


def seconds(value: float) -> str:
    if value < 0.00995:
        return f"{value * 1000:.1f}ms"
    return f"{value * 1000:.0f}ms" if value < 0.9995 else f"{value:.2f}s"


def small(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 or not value else "<0.001"
