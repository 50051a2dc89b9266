"""As many things of a list as were asked for, and more of them when somebody asks for more.

What it teaches: the number in the request is the number of the things, in the order of the list.
`forms/counted.txt` has the lists.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus.brief import taken
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    listed,
    sentence,
    typed_with,
    with_article,
)

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
ASKS = (
    "name {n} {many}", "name {n} {many}", "give me {n} {many}", "tell me {n} {many}", "{n} {many}",
    "list {n} {many}", "what are {n} {many}", "{n} {many} [please|pls]", "can you name {n} {many}",
    "i need {n} {many}", "{n} {many}?", "tell us {n} {many}", "could you give me {n} {many}",
    "do you know {n} {many}", "i want to know {n} {many}", "show me {n} {many}",
)  # fmt: skip
ALL = (
    "list the {many}", "what are the {many}", "{many}", "which {many} are there", "name the {many}",
    "what {many} are there", "tell me the {many}", "what are {many}", "name some {many}",
    "list some {many}", "give me the {many}", "any {many}?",
)  # fmt: skip
ONE = (
    "name one {one}", "name {an}", "give me one {one}", "one {one}", "tell me {an}",
    "just one {one}", "what is one {one}", "tell me one {one} only", "can you name {an}",
    "say one {one}",
)  # fmt: skip
ANOTHER = (
    "one more", "another one", "another", "and another", "one more please", "give me one more",
    "and one more", "do you know another one", "any other", "what else", "and", "next one",
)  # fmt: skip
MORE = (
    "{n} more",
    "{n} more please",
    "give me {n} more",
    "and {n} more",
    "another {n}",
    "{n} others",
)


@dataclass(frozen=True, slots=True)
class List:
    """What its things are called, and the things."""

    one: str
    many: str
    things: tuple[str, ...]


@cache
def lists() -> tuple[List, ...]:
    found = []
    for line in (FORMS / "counted.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            names, _, things = line.partition(": ")
            one, _, many = names.partition(" | ")
            found.append(List(one, many, tuple(things.split(" | "))))
    return tuple(found)


def number(rng: random.Random, count: int) -> str:
    return WORDS[count] if rng.random() < 0.6 else str(count)


def answer(things: tuple[str, ...], of: List, more: bool = False) -> str:
    """`Two drafters are a draft model and Medusa heads.`; a thing that is a sentence follows a
    colon."""
    count = len(things)
    other = "more " if more else ""
    name = f"{WORDS[count]} {other}{of.one if count == 1 else of.many}"
    verb = "is" if count == 1 else "are"
    clause = any(re.match(r"(it|its|I|wrong|many|ask|explain|the \w+ is) ", t) for t in of.things)
    mark = ":" if clause else f" {verb}"
    return sentence(f"{name}{mark} {listed(things)}.")


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    while True:
        of = rng.choice(lists())
        way = rng.random()
        count = rng.randint(2, len(of.things))
        if way < 0.2:
            count = 1
        form = rng.choice(ONE if count == 1 else ASKS)
        if way > 0.8:
            form, count = rng.choice(ALL), len(of.things)
        words = {"one": of.one, "many": of.many, "an": with_article(of.one)}
        text = form
        for slot, word in words.items():  # what I can do is asked for as what you can do
            text = text.replace(f"{{{slot}}}", word.replace("I can", "you can"))
        text = text.replace("like me", "like you")
        text = alternative(rng, text.replace("{n}", number(rng, count)))
        key = f"{of.one}/{count}/{form}"
        if (zlib.crc32(key.encode()) % 14 == 0) == held_out and not taken(text):
            break
    if text[-1] != "?" and re.match(r"(what|which|can|could|do) ", text) and rng.random() < 0.7:
        text += "?"
    text = re.sub(r"\bi\b", "I", sentence(text)) if rng.random() < 0.5 else text
    keep = (WORDS[count], of.many.split()[-1], of.one.split()[-1])
    texts = [typed_with(rng, text, *keep), answer(of.things[:count], of)]
    while (left := len(of.things) - count) and rng.random() < 0.4:
        more = 1 if left == 1 or rng.random() < 0.6 else rng.randint(2, left)
        ask = rng.choice(ANOTHER) if more == 1 else rng.choice(MORE)
        ask = ask.format(n=number(rng, more))
        texts += [sentence(ask) if rng.random() < 0.4 else ask]
        texts += [answer(of.things[count : count + more], of, more=True)]
        count += more
    return chat(*texts)
