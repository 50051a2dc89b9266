"""The styles of tokens by fate, probability, entropy or round."""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from app.text.token_event import TokenEvent
from app.tui.tokens.probabilities import Source, entropy, target_p
from app.tui.tokens.wrapping import TokenStyle
from decoding.round import TokenFate

ColorBy = Literal["fate", "probability", "entropy", "round"]

NEXT_COLOR_BY: dict[ColorBy, ColorBy] = {
    "fate": "probability",
    "probability": "entropy",
    "entropy": "round",
    "round": "fate",
}
MEASURED: tuple[ColorBy, ...] = ("probability", "entropy")  # these need recorded probabilities

FATE_STYLES = {
    TokenFate.FIRST: TokenStyle.TEXT,
    TokenFate.PLAIN: TokenStyle.TEXT,
    TokenFate.ACCEPTED: TokenStyle.ACCEPTED,
    TokenFate.REJECTED: TokenStyle.REJECTED,
    TokenFate.DROPPED: TokenStyle.DROPPED,
    TokenFate.BONUS: TokenStyle.BONUS,
    TokenFate.CORRECTION: TokenStyle.BONUS,
}
STEPS = (
    TokenStyle.STEP0,
    TokenStyle.STEP1,
    TokenStyle.STEP2,
    TokenStyle.STEP3,
    TokenStyle.STEP4,
)  # from sure to surprised
SURE = (0.05, 0.2, 0.5, 0.9)  # the least probability of each step but the last, from below
UNSURE = (0.5, 1.0, 2.0, 4.0)  # the least entropy of each step but the first, in bits
SCALES: dict[ColorBy, tuple[str, ...]] = {
    "probability": ("≥.9", "≥.5", "≥.2", "≥.05", "<.05"),
    "entropy": ("<.5", "≥.5", "≥1", "≥2", "≥4 bits"),
}


def token_style(color_by: ColorBy, token: TokenEvent, source: Source) -> TokenStyle:
    """Return a token's style. Only tokens of the answer are coloured by measures; rejected ones
    stay dim."""
    if color_by == "fate":
        return FATE_STYLES[token.fate]
    if token.fate.discarded:
        return TokenStyle.DROPPED
    if color_by == "round":
        return TokenStyle.TINT if token.round % 2 else TokenStyle.TEXT
    if color_by == "probability":
        p = target_p(token, source)
        return TokenStyle.TEXT if p is None else STEPS[len(SURE) - bisect_right(SURE, p[0])]
    bits = entropy(token, source)
    return TokenStyle.TEXT if bits is None else STEPS[bisect_right(UNSURE, bits)]
