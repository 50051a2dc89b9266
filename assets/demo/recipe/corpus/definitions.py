"""What plain things are: a cat, coffee, love, Paris.

`answers/definitions.txt` has a noun a line, what is asked about most first: its singular, its
plural ("-" where there is none), and what is said of it, unless a hand-written topic says it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from assets.demo.recipe.corpus.text import (
    ANSWERS,
    FORMS,
    Conversation,
    Topic,
    as_typed,
    chat,
    early,
    read_topics,
    spoken,
)

FILE = "definitions.txt"
ONE = read_topics(FORMS / "asking.txt")[0]  # {x}: "a cat", "coffee"
ALL = (
    "what are {x}", "tell me about {x}", "tell me something about {x}", "tell me about {x} please",
    "[info|information|facts|something|a little] about {x}", "say something about {x}",
    "what do you know about {x}", "[do you know|can you tell me] [anything|something] about {x}",
    "[explain|describe] {x}", "{x}?", "talk about {x}", "teach me about {x}",
    "what [can you say|do people say] about {x}", "i want to [know|learn] about {x}",
    "what should i know about {x}",
)  # fmt: skip
ALL_KEPT = ("could you tell me about {x}", "give me a fact about {x}")
WORD = ("{x}", "{x}?", "define {x}", "what does {x} mean", "[definition|meaning] of {x}",
        "what does the word {x} mean", "the word {x}", "do you know the word {x}",
        "what is the meaning of [|the word] {x}", 'what does [|the word] "{x}" mean',
        'what is the meaning of [|the word] "{x}"', "[explain|define] the word {x}")  # fmt: skip
WORD_KEPT = ("what is the definition of {x}",)
# How often there is asked for one, for all of them, and for the word.
WAYS = (0.55, 0.33, 0.12)
THEN = ("and {x}?", "And what is {x}?", "what about {x}", "And {x}?", "ok, and {x}?")


@dataclass(frozen=True, slots=True)
class Definition:
    """`one` as it stands behind "what is", for example "a cat", "the moon", "coffee"."""

    noun: str
    one: str
    many: str
    text: str


def bare(wording: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", wording.lower()).strip()


def read() -> Iterator[Definition]:
    """Raises ValueError for a line that does not begin with its noun."""
    for line in (ANSWERS / FILE).read_text(encoding="utf-8").splitlines():
        noun, many, text = (part.strip() for part in line.split("|"))
        begun = re.match(rf"((?:An?|The) )?{re.escape(noun)}\b", text, re.IGNORECASE)
        if begun is None:
            raise ValueError(f"{FILE}: {line!r} does not begin with {noun!r}")
        one = f"{(begun[1] or '').lower()}{noun}"
        yield Definition(noun, one, one if many == "-" else many, text)


@cache
def hand_written() -> tuple[Topic, ...]:
    files = (path for path in sorted(ANSWERS.glob("*.txt")) if path.name != FILE)
    return tuple(topic for path in files for topic in read_topics(path))


@cache
def told() -> dict[str, str]:
    """The answers of the hand-written topics by their wordings."""
    return {bare(w): t.answers[0] for t in hand_written() for w in (*t.questions, *t.reserved)}


@cache
def kept_back() -> frozenset[str]:
    """The wordings that a hand-written topic reserves for measuring."""
    return frozenset(bare(wording) for topic in hand_written() for wording in topic.reserved)


@cache
def definitions() -> tuple[Definition, ...]:
    """All. Where a hand-written topic says what a thing is, that is said, however it is asked."""
    return tuple(replace(x, text=told().get(f"what is {bare(x.one)}", x.text)) for x in read())


def wordings() -> set[str]:
    """What the tables of facts must not answer otherwise."""
    ones = (
        "what is {}",
        "explain what {} is",
        "describe {}",
        "tell me about {}",
        "what does {} do",
    )
    alls = ("what are {}", "tell me about {}", "tell me something about {}", "{}",
            "what do you know about {}", "what can you tell me about {}")  # fmt: skip
    found = {form.format(bare(x.one)) for x in definitions() for form in ones}
    return found | {form.format(bare(x.many)) for x in definitions() for form in alls}


def _asked(rng: random.Random, of: Definition, held_out: bool) -> tuple[str, str]:
    """A question about it, and the answer."""
    ways = (
        (ONE.reserved if held_out else ONE.questions, of.one),
        (ALL_KEPT if held_out else ALL, of.many),
        (WORD_KEPT if held_out else WORD, of.noun),
    )
    while True:
        ((forms, name),) = rng.choices(ways, WAYS)
        question = spoken(rng, rng.choice(forms).replace("{x}", name))
        if held_out or bare(question) not in kept_back():
            break
    return as_typed(rng, question), told().get(bare(question), of.text)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    of = early(rng, definitions())
    turns = [*_asked(rng, of, held_out)]
    if rng.random() < 0.15:
        other = early(rng, definitions())
        then = rng.choice(THEN).format(x=other.one), other.text
        turns += _asked(rng, other, held_out) if held_out else then
    return chat(*turns)
