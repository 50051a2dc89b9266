"""A timed answer of a lane or another contestant. Imports no models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from decoding.stats import Stats


@dataclass(frozen=True, slots=True)
class Timing:
    """An answer to prompt number `prompt`: its tokens after the first one (or after the first piece
    of a server's text), and their seconds."""

    prompt: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer(Timing):
    """An answer with all its `ids`, and `stats` without the prefill and its token; empty if the
    rounds are not known. `cut`: it ended after a round, because its time was over."""

    ids: Sequence[int]
    stats: Stats
    cut: bool = False

    @classmethod
    def of(cls, prompt: int, ids: Sequence[int], stats: Stats, cut: bool = False) -> Answer:
        return cls(prompt, stats.timed, stats.decode_seconds, list(ids), stats, cut)


def same_ids(one: Answer, other: Answer) -> bool:
    """Return whether two answers have the same ids, as far as both go: a cut one ends with its last
    round, which brings several tokens where drafts are accepted."""
    shorter, longer = sorted((one, other), key=lambda answer: len(answer.ids))
    compared = longer.ids[: len(shorter.ids)] if shorter.cut else longer.ids
    return list(shorter.ids) == list(compared)


def speed(answers: Sequence[Timing]) -> float | None:
    """Decoded tokens per second; None if nothing followed the first token. An answer that a server
    sent in one piece took no time that is known, and is left out."""
    timed = [answer for answer in answers if answer.seconds]
    tokens = sum(answer.tokens for answer in timed)
    return tokens / sum(answer.seconds for answer in timed) if tokens else None
