from __future__ import annotations

import pytest

from app.text.units import format_bytes


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1024, "1.0 KiB"),
        (10 * 2**20, "10 MiB"),
        (1.5 * 2**30, "1.5 GiB"),
    ],
)
def test_bytes_in_powers_of_1024(count: float, text: str) -> None:
    assert format_bytes(count) == text
