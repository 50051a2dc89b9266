"""Whether text can be read: WCAG's contrast, from 1 to 21. 4.5 is what it asks of small text."""

from __future__ import annotations

from rich.style import Style
from textual.color import Color


def contrast(one: str, other: str) -> float:
    low, high = sorted(luminance(Color.parse(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def luminance(color: Color) -> float:
    parts = (each / 255 for each in color.rgb)
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast_of(style: Style | None) -> float:
    """That of a segment as it is drawn."""
    assert style and style.color and style.bgcolor
    return contrast(*(each.get_truecolor().hex for each in (style.color, style.bgcolor)))
