"""True or false: claims about decoding and about this app, each with its opposite.

What it teaches: yes or no by what is so, not by how it is asked, and then how it is.
`forms/claims.txt` has the claims in pairs.
"""

from __future__ import annotations

import random
import re
import zlib
from functools import cache

from assets.demo.recipe.corpus.brief import taken
from assets.demo.recipe.corpus.text import (
    CHOICE,
    FORMS,
    Conversation,
    alternative,
    chat,
    sentence,
    typed_with,
)

ASKS = (
    "is it true that {c}", "is it true that {c}", "{c}, true or false", "true or false: {c}",
    "{c}, right", "{c}, is that right", "{c} - correct", "is it correct that {c}",
    "i read that {c}. is that so", "somebody told me that {c}", "i think that {c}",
    "my [teacher|colleague|friend|boss] says that {c}", "would you say that {c}",
    "is it so that {c}", "do you agree that {c}", "yes or no: {c}", "{c}. yes or no",
    "quiz: {c}, true or not", "so {c}", "am i right that {c}", "{c}, isn't it so",
    "can one say that {c}", "does it hold that {c}", "i heard {c}", "i believe {c}, am i wrong",
    "{c}?", "{c}?", "so {c}?", "wait, {c}?", "fact check: {c}", "if i got it right, {c}",
)  # fmt: skip
TOO = ("and {c}", "and {c}?", "and is it true that {c}", "ok, and {c}?", "and that {c}", "so {c}?",
       "then {c}, right?")  # fmt: skip


@cache
def claims() -> tuple[tuple[str, str, str], ...]:
    """What is so, what is not, and how it is."""
    found = []
    for line in (FORMS / "claims.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            parts = re.split(r" \| (?![^\[]*\])", line)
            right, wrong, why = parts
            found.append((right, wrong, why))
    return tuple(found)


def judged(holds: bool, right: str, why: str) -> str:
    """Yes or no, then what is so, and how it is."""
    said = CHOICE.sub(lambda match: match[1].partition("|")[0], right)
    said = re.sub(r"\bmy\b", "your", said)
    return f"{'Yes' if holds else 'No'}, {said}: {why}."


def _drawn(rng: random.Random, held_out: bool, forms: tuple[str, ...]) -> tuple[str, str]:
    while True:
        right, wrong, why = rng.choice(claims())
        holds = rng.random() < 0.5
        form = rng.choice(forms)
        if (zlib.crc32(f"{right}/{form}/{holds}".encode()) % 14 == 0) != held_out:
            continue
        text = alternative(rng, form.replace("{c}", right if holds else wrong))
        if not taken(text):
            return text, judged(holds, right, why)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    text, answer = _drawn(rng, held_out, ASKS)
    if text[-1] not in "?." and rng.random() < 0.6:
        text += "?"
    if rng.random() < 0.5:
        text = re.sub(r"([.?!] )([a-z])", lambda match: match[1] + match[2].upper(), sentence(text))
        text = re.sub(r"\bi\b", "I", text)
    keep = re.findall(r"\b(?:not|no|always|only|never|lossless|lossy|higher|lower)\b", text)
    texts = [typed_with(rng, text, *keep), answer]
    while not held_out and len(texts) < 8 and rng.random() < 0.3:
        more = _drawn(rng, False, TOO)
        if more[1].partition(": ")[2] not in " ".join(texts):
            texts += more
    return chat(*texts)
