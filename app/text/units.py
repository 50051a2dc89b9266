"""Numbers of bytes in readable units."""

from __future__ import annotations


def format_bytes(count: float) -> str:
    """Return a number of bytes in powers of 1024: 999 B, 5.7 MiB, 260 GiB."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while count >= 1000 and len(units) > 1:
        count /= 1024
        units.pop(0)
    decimals = int(units[0] != "B" and count < 10)
    return f"{count:.{decimals}f} {units[0]}"
