"""What the sources that follow rules share: a question with its answer, drawn and kept apart.

Such a source is a set of kinds of question. A kind draws numbers or words and a wording, and says
by which key the result is kept apart: keys that `reserved` picks are never trained, so that what
was learned can be told from what was remembered.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

from assets.demo.recipe.corpus.text import as_typed


class Asked(NamedTuple):
    """A question, its answer, the key it is kept apart by, and words that no slip may touch."""

    key: str
    question: str
    answer: str
    keep: tuple[str, ...] = ()


Kind = Callable[[random.Random], Asked]


def reserved(key: str) -> bool:
    """Whether `key` is among the one in twenty that is never trained."""
    return crc32(key.encode()) % 20 == 0


def typed(rng: random.Random, asked: Asked) -> str:
    """The question as somebody may have typed it, with the words it is about unharmed."""
    text = as_typed(rng, asked.question)
    small = text.lower()
    return text if all(word.lower() in small for word in asked.keep) else asked.question


class Kinds:
    """Kinds of question by weight."""

    def __init__(self, weights: Mapping[Kind, float]) -> None:
        self.kinds: Sequence[Kind] = tuple(weights)
        self.bounds = tuple(accumulate(weights.values()))

    def draw(self, rng: random.Random, held_out: bool) -> Asked:
        while True:
            asked = rng.choices(self.kinds, cum_weights=self.bounds)[0](rng)
            if reserved(asked.key) == held_out:
                return asked
