from __future__ import annotations

import pytest

from app.text.numbers import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("12", 12), ("64", 64), ("65", None), ("9" * 5000, None)]
    + [(text, None) for text in ("", "-1", "1.5", "two", "٣", "²")],
)
def test_a_whole_number_in_plain_digits(text: str, number: int | None) -> None:
    assert whole_number(text, 64) == number
