"""One timed answer of a lane, or of what is compared with it. Plain numbers, no models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from decoding.stats import Stats


@dataclass(frozen=True, slots=True)
class Timed:
    """To which prompt, the tokens after the first, and the seconds they took."""

    prompt: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer(Timed):
    """With its ids; the first one and the prefill are in neither `tokens` nor `stats`, which are
    empty where rounds are not seen."""

    ids: Sequence[int]
    stats: Stats


def speed(answers: Sequence[Timed]) -> float | None:
    """Decoded tokens per second; None if nothing followed the first token."""
    tokens = sum(answer.tokens for answer in answers)
    return tokens / sum(answer.seconds for answer in answers) if tokens else None
