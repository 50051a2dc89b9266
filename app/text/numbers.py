"""Whole numbers as users write them."""

from __future__ import annotations


def whole_number(text: str, most: int) -> int | None:
    """Parse a number from 0 to `most` in ASCII digits; None for any other text."""
    # Python refuses to read numbers of thousands of digits
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(most)):
        return None
    number = int(text)
    return number if number <= most else None
