"""Words that rhyme, a family at a time: the first of the family but the word that was asked for.
Every word of a family is asked for, the commonest words most often, in many wordings.

The families stand in `words.txt`. What follows a list of rhymes is a further part of the family.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus import short
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.school import Asked, reserved, typed
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    as_typed,
    chat,
    listed,
    read_sections,
)
from assets.demo.recipe.corpus.wordplay import RHYMES, rhyming

FILE = FORMS / "wordy.txt"
COMMON = " ".join(read_sections(FILE)["common"]).split()
STARS = (
    "cat", "dog", "moon", "love", "time", "day", "house", "tree", "star", "sun", "night", "light",
    "blue", "rain", "fish", "heart", "you",
)  # fmt: skip
WEIGHTS = [
    1 + 4 * (word in COMMON) + 20 * (word in STARS) + 0.5 * (len(RHYMES[word]) > 4)
    for word in RHYMES
]
NONE = (
    "orange", "purple", "silver", "month", "wolf", "elephant", "penguin", "tiger", "chocolate",
    "kitchen", "walrus", "angel", "chimney", "crocodile", "hippopotamus", "music", "animal",
)  # fmt: skip

AND_OF = ("and {w}", "and with {w}", "what about {w}", "and what rhymes with {w}", "now {w}")


def _word(rng: random.Random) -> str:
    return rng.choices(tuple(RHYMES), WEIGHTS)[0]


@cache
def forms_of(section: str, kept: bool = False) -> tuple[str, ...]:
    """The wordings of a section of `forms/wordy.txt`: "?" marks those that are trained, "!" those
    that are kept back."""
    mark = "! " if kept else "? "
    return tuple(x[2:] for x in read_sections(FILE)[section] if x.startswith(mark))


def _form(
    rng: random.Random, section: str | tuple[str, ...], kept: bool = False, **words: object
) -> str:
    forms = forms_of(section, kept) if isinstance(section, str) else section
    return typed_form(rng, rng.choice(forms), **words)


def typed_form(rng: random.Random, form: str, **words: object) -> str:
    """One alternative of `form`, filled in; now and then the words stand in quotation marks, or
    behind "the word"."""
    form = " ".join(alternative(rng, form).split())
    if rng.random() < 0.14:
        form = re.sub(r"\{([wab])\}", r'"{\1}"', form)
    elif rng.random() < 0.12:
        form = re.sub(r"(with|for|of|does|than) \{([wab])\}", r"\1 the word {\2}", form)
    text = form.format_map(words)
    if rng.random() < 0.45:
        text = text[0].upper() + text[1:]
        asks = re.match("(?i)what|which|do|can|could|is|are|would|any|how", text)
        if text[-1] not in "?.!:":
            text += "?" if asks else rng.choice((".", "", "."))
    return text


def _count(rng: random.Random) -> tuple[int, str]:
    n = rng.choice((2, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6, 10))
    return n, in_words(n) if rng.random() < 0.5 else str(n)


def listing(rng: random.Random) -> tuple[Asked, str, int]:
    """A question for rhymes, the word, and how many of the family the answer names."""
    if rng.random() < 0.03:
        word = rng.choice(NONE)
        question = _form(rng, "rhymes", w=word)
        return (
            Asked(question, question, f"I know no word that rhymes with {word}.", (word,)),
            word,
            0,
        )
    word, way = _word(rng), rng.random()
    known = len(RHYMES[word])
    if way < 0.55:
        question = _form(rng, "rhymes", w=word)
        return Asked(question, question, rhyming(word), (word,)), word, min(5, known)
    if way < 0.7:
        question = _form(rng, "rhyme", w=word)
        return Asked(question, question, rhyming(word, 1), (word,)), word, 1
    n, said = _count(rng)
    question = _form(rng, "so many rhymes", w=word, n=said)
    return Asked(question, question, rhyming(word, n), (word, said)), word, min(n, known)


def _further(rng: random.Random, word: str, named: int, only: bool) -> tuple[str, str, int]:
    """A wish for more, and the answer: the next ones of the family."""
    left = RHYMES[word][named:]
    way = rng.random()
    n, form = (1, "another rhyme") if only or way < 0.25 else (3, "further rhymes")
    said = ""
    if way > 0.7:
        n = rng.choice((2, 3, 3, 4, 5))
        said, form = in_words(n) if rng.random() < 0.4 else str(n), "so many more"
    asked = as_typed(rng, _form(rng, form, n=said)) if not said else _form(rng, form, n=said)
    if not left:
        return asked, f"I know no other word that rhymes with {word}.", named
    if n > len(left) and said:
        many = (
            "one other word that rhymes"
            if len(left) == 1
            else f"{in_words(len(left))} other words that rhyme"
        )
        return asked, f"I know only {many} with {word}: {listed(left)}.", named + len(left)
    if n == 1 or len(left) == 1:
        return asked, f"Another word that rhymes with {word} is {left[0]}.", named + 1
    return asked, f"These words rhyme with {word} too: {listed(left[:n])}.", named + len(left[:n])


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if held_out:
        word = _word(rng)
        return chat(_form(rng, "rhymes", True, w=word), rhyming(word))
    if rng.random() < 0.15:
        while reserved((asked := short.do_rhyme(rng, _word(rng))).key):
            pass
        return chat(typed(rng, asked), asked.answer)
    while reserved((drawn := listing(rng))[0].key):
        pass
    asked, word, named = drawn
    turns = [typed(rng, asked), asked.answer]
    if named and rng.random() < 0.3:
        for _ in range(rng.choice((1, 1, 2))):
            more, answer, named = _further(rng, word, named, named == 1 and rng.random() < 0.6)
            turns += [more, answer]
            if "no other" in answer:
                break
    elif rng.random() < 0.08:
        other = _word(rng)
        turns += [
            _form(
                rng,
                AND_OF,
                w=other,
            ),
            rhyming(other),
        ]
    return chat(*turns)
