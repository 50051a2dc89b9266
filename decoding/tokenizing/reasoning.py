"""Splits off a model's reasoning, in <think> ... </think> before its answer."""

from __future__ import annotations

from typing import Literal

Reasoning = Literal["keep", "drop"]
OPEN, CLOSE = "<think>", "</think>"


def split_reasoning(text: str) -> tuple[str | None, str]:
    """Split a text into the reasoning at its beginning, None without any, and the text after it.
    Some templates open it in the prompt. An unclosed one is reasoning to the end."""
    begin = text.lstrip()
    opened = begin.startswith(OPEN)
    inside = begin.removeprefix(OPEN) if opened else text
    reasoning, close, answer = inside.partition(CLOSE)
    if not opened and not close:
        return None, text
    return reasoning.strip(), answer.lstrip()
