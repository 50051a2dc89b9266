"""Model text may hold anything; the terminal must not obey it."""

from __future__ import annotations

import pytest

from app.text.terminal_text import one_line, shortened, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("a\tb\r\nc", "a    b\nc"),
        ("\x9b31m", "\ufffd31m"),
        ("left\u202eright", "left\ufffdright"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("two\u2028lines", "two\nlines"),
        ("日本 é 😀 [bold]", "日本 é 😀 [bold]"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_ghost_stays_on_its_line() -> None:
    assert one_line("a\n\nb👩\u200d") == "a↵↵b👩"


def test_shortened_is_one_line_of_at_most_the_length() -> None:
    assert shortened("a  b\nc", 10) == "a b c"
    assert shortened("abcdef ghij", 8) == "abcdef…"
