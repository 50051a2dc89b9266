"""Reasoning is told apart from the answer after it."""

from __future__ import annotations

import pytest

from decoding.tokenizing.reasoning import split_reasoning


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>\nHm.\n</think>\n\nYes.", "Hm.", "Yes."),
        ("Hm.\n</think>\n\nYes.", "Hm.", "Yes."),  # its template has opened it
        ("\n<think>Hm", "Hm", ""),  # cut
        ("<think></think>Yes.", "", "Yes."),
        ("Yes, <think> is a tag.", None, "Yes, <think> is a tag."),
        ("", None, ""),
    ],
)
def test_what_is_reasoning(text: str, reasoning: str | None, answer: str) -> None:
    assert split_reasoning(text) == (reasoning, answer)
