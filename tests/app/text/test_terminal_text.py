"""Model text may hold anything; the terminal must not obey it."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len

from app.text.terminal_text import as_json, drawable, one_line, shortened, visible
from tests.support.hostile import HOSTILE, obeyed


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


def test_what_is_drawn_keeps_its_width() -> None:
    text = f"日本 {HOSTILE} \ud83d 👩\u200d"
    assert not obeyed(drawable(text)) and cell_len(drawable(text)) == cell_len(text)


def test_json_says_the_same_without_a_control_character() -> None:
    line = as_json({"text": HOSTILE})
    assert not obeyed(line) and json.loads(line) == {"text": HOSTILE}
