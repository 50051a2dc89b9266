"""Lists with a condition: without some things, with one letter, for a purpose; the odd one out,
names for a pet, and one more of the same. `forms/lists.txt` has the groups; the answers are made
from them, so that they are right by construction.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.school import Asked, Kinds, reserved, typed
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    chat,
    listed,
    read_sections,
    sentence,
    with_article,
)
from assets.demo.recipe.corpus.wordplay import GROUPS, KINDS_OF, RHYMES, in_a_row, plural_of

MANY = (
    "Name {n} {g}", "List {n} {g}", "Give me {n} {g}", "{n} {g}", "Tell me {n} {g}",
    "I need {n} {g}",
    "Can you name {n} {g}", "Write down {n} {g}", "Which {g} do you know", "What are {n} {g}",
    "make a list of {n} {g}", "list of {n} {g}", "some {g}", "{n} {g}, please", "Find {n} {g}",
    "Think of {n} {g}", "I want to know {n} {g}", "say {n} {g}", "{n} examples of {g}",
)  # fmt: skip
BUT = (
    ", but no {w}", ", but not {w}", " without {w}", ", no {w}", " except {w}", ", but without {w}",
    " other than {w}", " that are not {w}", " but please no {w}", ", just not {w}",
)  # fmt: skip
WITH = (
    " that start with {l}", " that begin with {l}", " starting with {l}", " with {l}",
    " beginning with the letter {l}", " whose name starts with {l}",
    " that start with the letter {l}",
)  # fmt: skip
ODD = (
    "Which one does not belong: {x}?", "Which is the odd one out: {x}?", "Odd one out: {x}",
    "What does not fit: {x}?", "Find the odd one out: {x}", "{x} - which one does not fit?",
    "Which of these is different: {x}?", "Which word does not belong to the others: {x}?",
)  # fmt: skip
NAMES = (
    "Give me {n} names for {t}.", "{n} names for {t}", "What are good names for {t}?",
    "I need a name for {t}.", "Suggest a name for {t}.", "name ideas for {t}", "a name for {t}",
    "how should i call {t}", "What should I call {t}?", "Can you think of a name for {t}?",
    "Find a name for {t}.", "Help me name {t}.", "any name for {t}?", "what is a good name for {t}",
)  # fmt: skip
MORE = (
    "Another one", "another one please", "More", "more please", "Some more", "One more",
    "more ideas",
    "Give me another one.", "and more?", "What else?", "Others?", "any other?", "next",
)  # fmt: skip
OF_THESE = (
    ("first", "What is the first word of this list: {x}?", "first of: {x}"),
    ("last", "What is the last word of this list: {x}?", "last of: {x}", "Which is the last: {x}?"),
    ("longest", "Which is the longest word: {x}?", "longest word of {x}", "longest word: {x}"),
    ("shortest", "Which is the shortest word: {x}?", "shortest word of {x}"),
    ("how many", "How many things are in this list: {x}?", "How many words are these: {x}?",
     "count these: {x}"),
)  # fmt: skip


def _count(rng: random.Random, most: int) -> tuple[int, str]:
    n = min(most, rng.choice((2, 3, 3, 3, 4, 5, 5)))
    return n, in_words(n) if rng.random() < 0.6 else str(n)


def _asked(rng: random.Random, question: str, answer: str, *keep: str) -> Asked:
    if rng.random() < 0.6 and question[-1] not in "?.":
        question += "?" if question.startswith(("Can", "What", "Which")) else "."
    return Asked(question, sentence(question), sentence(answer), keep)


@cache
def _barred() -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
    """A group, how the answer bars something from it, what that is, and what is left."""
    found = []
    for section, bar in (("not", "that are not"), ("without", "without")):
        for line in read_sections(FORMS / "lists.txt")[section]:
            group, barred, items = (part.strip() for part in line.split("|"))
            found.append((group, bar, barred, tuple(items.split(", "))))
    return tuple(found)


def without(rng: random.Random) -> Asked:
    """Some of a group, but none of what is named."""
    if rng.random() < 0.65:
        group, bar, barred, items = rng.choice(_barred())
    else:
        group, bar = rng.choice(LEAVING_OUT), "that are not"
        out = rng.choice(GROUPS[group][:8])
        items = tuple(item for item in GROUPS[group] if item != out)
        barred = plural_of(out)
    n, said = _count(rng, len(items))
    form = rng.choice(MANY) + rng.choice(BUT)
    question = form.format(n=said, g=group, w=barred)
    n = n if "{n}" in form else min(3, len(items))
    answer = f"{in_words(n)} {group} {bar} {barred}: {listed(items[:n])}."
    return _asked(rng, question, answer, barred)


SHOPPING = (
    "Make a shopping list for {d}", "shopping list for {d}", "What do I need to buy for {d}?",
    "What do I need for {d}?", "Write a shopping list for {d}", "A shopping list for {d}, please",
    "ingredients for {d}", "What are the ingredients of {d}?", "I want to make {d}, what do I buy",
    "Give me a shopping list for {d}", "what to buy for {d}", "I need a shopping list for {d}",
    "Which ingredients does one need for {d}?", "list the ingredients for {d}",
)  # fmt: skip
SHORT_LIST = (" with {n} things", ", {n} things", ", only {n} things", " of {n} things")


@cache
def _rows(section: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    rows = (line.split(" | ") for line in read_sections(FORMS / "lists.txt")[section])
    return tuple((name, tuple(items.split(", "))) for name, items in rows)


def such(rng: random.Random) -> Asked:
    """Exactly so many things of a kind that is narrowed down; it may have several names."""
    groups, items = rng.choice(_rows("such"))
    group = rng.choice(groups.split(" / "))
    n = rng.randint(2, len(items)) if rng.random() < 0.7 else min(len(items), 10)
    said = in_words(n) if rng.random() < 0.6 else str(n)
    form = rng.choice(MANY)
    question = form.format(n=said, g=group)
    n = n if "{n}" in form else min(3, len(items))
    return _asked(rng, question, f"{in_words(n)} {group}{in_a_row(items[:n])}", group)


def _so_many(rng: random.Random, form: str, items: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """A form that asks for a number of the items, and the first so many."""
    n = rng.randint(3, len(items))
    said = in_words(n) if rng.random() < 0.6 else str(n)
    return form + rng.choice(SHORT_LIST).format(n=said), items[:n]


def shopping(rng: random.Random) -> Asked:
    """What to buy for a dish, now and then a number of things."""
    dish, items = rng.choice(_rows("shopping"))
    form = rng.choice(SHOPPING)
    if rng.random() < 0.3 and form[-1] != "?" and "what" not in form:
        form, items = _so_many(rng, form, items[:5])
    answer = f"A shopping list for {dish}: {listed(items)}."
    return _asked(rng, form.format(d=dish), answer, dish)


PACKING = (
    "Packing list for {p}", "packing list for {p}", "What should I take to {p}?",
    "What do I pack for {p}?", "What do I need for {p}?", "what to take to {p}",
    "Make a packing list for {p}", "what shall i bring to {p}", "What should I bring to {p}?",
    "I am going to {p}. What should I pack?", "Help me pack for {p}",
    "What belongs in the bag for {p}?", "what to pack for {p}", "a list of things for {p}",
    "We go to {p}, what do we need", "Write a packing list for {p}", "things to take to {p}",
    "Which things do I need for {p}?", "pack for {p}",
)  # fmt: skip


def packing(rng: random.Random) -> Asked:
    """What to take along, now and then a number of things."""
    place, items = rng.choice(_rows("packing"))
    somewhere = place.startswith(("the ", "school", "kindergarten"))
    form = rng.choice([form for form in PACKING if somewhere or " to {p}" not in form])
    if rng.random() < 0.2 and "list" in form:
        form, items = _so_many(rng, form, items)
    answer = f"For {place}, take these things along: {listed(items)}."
    return _asked(rng, form.format(p=place), answer, place)


RHYMED = (
    "{n} words that rhyme with {w}", "Give me {n} words that rhyme with {w}", "{n} rhymes for {w}",
    "Name {n} words that rhyme with {w}", "List {n} words rhyming with {w}",
    "find {n} rhymes for {w}", "Tell me {n} rhymes with {w}", "{n} words that sound like {w}",
)  # fmt: skip


def rhymed(rng: random.Random) -> Asked:
    """So many words with a rhyme, or as many as there are."""
    word = rng.choice([word for word in RHYMES if len(RHYMES[word]) > 1])
    words = RHYMES[word]
    n = rng.choice((2, 3, 3, 4, 5, 5, 6))
    said = in_words(n) if rng.random() < 0.5 else str(n)
    answer = f"These words rhyme with {word}: {listed(words[:n])}."
    if n > len(words):
        answer = (
            f"I know only {in_words(len(words))} words that rhyme with {word}: {listed(words)}."
        )
    return _asked(rng, rng.choice(RHYMED).format(n=said, w=word), answer, word)


# Groups of things of which one may be left out.
LEAVING_OUT = (
    "animals", "farm animals", "pets", "birds", "fruits", "vegetables", "flowers", "trees",
    "insects", "vehicles", "tools", "musical instruments", "berries",
)  # fmt: skip


LETTERED = (
    "animals", "fruits", "vegetables", "countries", "cities", "boys' names", "girls' names", "jobs",
    "colours", "flowers", "birds", "trees", "words",
)  # fmt: skip


def with_letter(rng: random.Random) -> Asked:
    """Some of a group that begin with one letter."""
    group = rng.choice(LETTERED)
    by = _by_letter(group)
    letter = rng.choice([x for x in by if len(by[x]) > 1])
    items = by[letter]
    n, said = _count(rng, len(items))
    form = rng.choice(MANY) + rng.choice(WITH)
    shown = letter.upper() if rng.random() < 0.5 else letter
    question = form.format(n=said, g=group, l=shown)
    n = n if "{n}" in form else len(items[:3])
    start = f"{sentence(in_words(n))} {group} that start with {shown}"
    return _asked(rng, question, f"{start}: {listed(items[:n])}.", f" {shown}")


@cache
def _by_letter(group: str) -> dict[str, list[str]]:
    lines = read_sections(FORMS / "lists.txt")
    names = [item.strip() for line in lines.get(group, []) for item in line.split(",")]
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name[0].lower(), []).append(name)
    return found


def odd_one(rng: random.Random) -> Asked:
    kind, other = rng.sample(("animal", "fruit", "tool", "vehicle", "musical instrument", "tree",
                              "flower", "piece of clothing", "piece of furniture"), 2)  # fmt: skip
    odd = rng.choice(KINDS_OF[other])
    things = [*rng.sample([x for x in KINDS_OF[kind] if x != odd], rng.choice((2, 3, 3, 4))), odd]
    rng.shuffle(things)
    question = rng.choice(ODD).format(x=", ".join(things))
    answer = (
        f"The odd one out is {odd}. It is {with_article(other)}, and the others are {_kinds(kind)}."
    )
    return Asked(question, question, answer, tuple(things))


def _kinds(kind: str) -> str:
    return kind.replace("piece", "pieces") if kind.startswith("piece") else plural_of(kind)


def of_these(rng: random.Random) -> Asked:
    """The first, the last or the longest of a list that is given."""
    group = rng.choice(("animals", "fruits", "colours", "countries", "tools", "birds", "jobs"))
    lengths: dict[int, str] = {len(x): x for x in rng.sample(GROUPS[group], 7)}
    things = rng.sample(sorted(lengths.values()), min(len(lengths), rng.randint(3, 5)))
    what, *forms = rng.choice(OF_THESE)
    question = rng.choice(forms).format(x=", ".join(things))
    if what == "how many":
        answer = f"The list has {in_words(len(things))} words: {listed(things)}."
    else:
        by = {"first": things[0], "last": things[-1], "longest": max(things, key=len)}
        word = by.get(what) or min(things, key=len)
        answer = f"The {what} word is {word}."
    return Asked(question, question, answer, tuple(things))


@cache
def _names() -> dict[str, tuple[str, ...]]:
    rows = (line.partition(":") for line in read_sections(FORMS / "lists.txt")["names"])
    return {thing.strip(): tuple(names.strip().split(", ")) for thing, _, names in rows}


COLOURED = (*GROUPS["pets"], "kitten", "puppy", "horse", "cow", "boat", "car", "robot")
COLOUR = ("", "", "", "black ", "white ", "small ", "new ", "red ", "funny ")


def names(rng: random.Random) -> tuple[Asked, tuple[str, ...]]:
    """Names for something, and the names that are left."""
    thing = rng.choice(tuple(_names()))
    pool = list(_names()[thing])
    named = (rng.choice(COLOUR) if thing in COLOURED else "") + thing
    whose = f"my {named}" if rng.random() < 0.4 else with_article(named)
    whose = "our baby" if thing == "baby" else whose
    start = rng.choice((0, 0, 0, rng.randrange(len(pool))))
    pool = pool[start:] + pool[:start]
    form = rng.choice(NAMES)
    n, said = _count(rng, len(pool) - 1)
    if "{n}" not in form:
        n = 3 if re.search("names|ideas", form) else 1
    question = form.format(n=said, t=whose)
    whose = re.sub(r"^my\b", "your", whose)
    if n == 1:
        answer = f"How about {pool[0]}? That is a good name for {whose}."
    else:
        answer = f"{sentence(in_words(n))} names for {whose}: {listed(pool[:n])}."
    return Asked(question, sentence(question), answer, (named,)), tuple(pool[n:])


def one_name(rng: random.Random) -> Asked:
    return names(rng)[0]


KINDS = Kinds(
    {
        without: 4,
        such: 9,
        shopping: 3,
        packing: 4,
        rhymed: 1.5,
        with_letter: 3.5,
        odd_one: 2,
        of_these: 1.5,
        one_name: 3.5,
    }
)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if not held_out and rng.random() < 0.06:
        asked, left = names(rng)
        while reserved(asked.key):
            asked, left = names(rng)
        return chat(typed(rng, asked), asked.answer, rng.choice(MORE), f"How about {left[0]}?")
    asked = KINDS.draw(rng, held_out)
    return chat(typed(rng, asked), asked.answer)
