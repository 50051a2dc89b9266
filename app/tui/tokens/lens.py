"""What the colours of tokens mean: their fate, or how sure the target was, or their round."""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from app.tui.tokens.probabilities import Source, entropy, target_p
from app.tui.tokens.wrapping import Ink
from decoding.round import Fate, TokenEvent

Lens = Literal["fate", "probability", "entropy", "round"]

NEXT_LENS: dict[Lens, Lens] = {
    "fate": "probability",
    "probability": "entropy",
    "entropy": "round",
    "round": "fate",
}
MEASURED: tuple[Lens, ...] = ("probability", "entropy")  # these want to know probabilities

INKS = {
    Fate.FIRST: Ink.TEXT,
    Fate.PLAIN: Ink.TEXT,
    Fate.ACCEPTED: Ink.ACCEPTED,
    Fate.REJECTED: Ink.REJECTED,
    Fate.DROPPED: Ink.DROPPED,
    Fate.BONUS: Ink.BONUS,
    Fate.CORRECTION: Ink.BONUS,
}
STEPS = (Ink.STEP0, Ink.STEP1, Ink.STEP2, Ink.STEP3, Ink.STEP4)  # from sure to surprised
SURE = (0.05, 0.2, 0.5, 0.9)  # the least probability of each step but the last, from below
UNSURE = (0.5, 1.0, 2.0, 4.0)  # the least entropy of each step but the first, in bits
SCALES: dict[Lens, tuple[str, ...]] = {
    "probability": ("≥.9", "≥.5", "≥.2", "≥.05", "<.05"),
    "entropy": ("<.5", "≥.5", "≥1", "≥2", "≥4 bits"),
}


def ink(lens: Lens, token: TokenEvent, source: Source) -> Ink:
    """How a token is drawn. Only tokens of the answer have a measure; ghosts stay ghosts."""
    if lens == "fate":
        return INKS[token.fate]
    if token.fate.ghost:
        return Ink.DROPPED
    if lens == "round":
        return Ink.TINT if token.round % 2 else Ink.TEXT
    if lens == "probability":
        p = target_p(token, source)
        return Ink.TEXT if p is None else STEPS[len(SURE) - bisect_right(SURE, p[0])]
    bits = entropy(token, source)
    return Ink.TEXT if bits is None else STEPS[bisect_right(UNSURE, bits)]
