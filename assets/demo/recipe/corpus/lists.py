"""Lists with a condition: without some things, with one letter, for a purpose; the odd one out,
names for a pet, and one more of the same. `forms/lists.txt` has the groups; the answers are made
from them, so that they are right by construction.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus import daily
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.school import Asked, Kinds, reserved, typed
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    listed,
    read_sections,
    sentence,
    with_article,
)
from assets.demo.recipe.corpus.wordplay import (
    GROUPS,
    KINDS_OF,
    RHYMES,
    in_a_row,
    plural_of,
    rhyming,
)

MANY = (
    "Name {n} {g}", "List {n} {g}", "Give me {n} {g}", "{n} {g}", "Tell me {n} {g}",
    "I need {n} {g}",
    "Can you name {n} {g}", "Write down {n} {g}", "Which {g} do you know", "What are {n} {g}",
    "make a list of {n} {g}", "list of {n} {g}", "some {g}", "{n} {g}, please", "Find {n} {g}",
    "Think of {n} {g}", "I want to know {n} {g}", "say {n} {g}", "{n} examples of {g}",
    "{n} {g}? just the list", "just {n} {g}", "{n} {g}, just the list", "name {n} {g} please",
    "List {n} {g}, nothing else", "Please list {n} {g}", "Please name {n} {g}",
    "give me {n} {g} pls",
    "Can you list {n} {g}", "Can you give me {n} {g}", "do you know {n} {g}", "{n} different {g}",
    "give me a list of {n} {g}", "write me a list of {n} {g}", "what {n} {g} do you know",
    "Could you name {n} {g}", "show me {n} {g}", "i need a list of {n} {g}", "any {n} {g}",
)  # fmt: skip
OPEN = tuple(form for form in MANY if form.endswith("{g}"))  # a condition may follow
BUT = (
    ", but no {w}", ", but not {w}", " without {w}", ", no {w}", " except {w}", ", but without {w}",
    " other than {w}", " that are not {w}", " but please no {w}", ", just not {w}",
)  # fmt: skip
WITH = (
    " that start with {l}", " that begin with {l}", " starting with {l}", " with {l}",
    " beginning with the letter {l}", " whose name starts with {l}",
    " that start with the letter {l}", " that begin with the letter {l}", " beginning with {l}",
    " which start with {l}", " starting with the letter {l}", " with {l} at the beginning",
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
    form = rng.choice(OPEN) + rng.choice(BUT)
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


def _such(rng: random.Random) -> tuple[Asked, str, list[str], list[str]]:
    """Exactly so many things of a kind that is narrowed down (it may have several names), with
    the group, what was named of it, and what is left."""
    groups, items = rng.choice(_rows("such"))
    group = rng.choice(groups.split(" / "))
    n = rng.randint(2, len(items)) if rng.random() < 0.7 else min(len(items), rng.choice((3, 5)))
    said = in_words(n) if rng.random() < 0.6 else str(n)
    form = rng.choice(MANY)
    question = form.format(n=said, g=group)
    n = n if "{n}" in form else min(3, len(items))
    some = list(items)
    answer = f"here are {in_words(n)} {group}{in_a_row(some[:n])}"
    return _asked(rng, question, answer, group), group, some[:n], some[n:]


def such(rng: random.Random) -> Asked:
    return _such(rng)[0]


# What is asked about a list, by what is then done with it.
AFTER: dict[str, tuple[str, ...]] = {
    "one more": (
        "[and |]one more[ please|]",
        "another one[ please|]",
        "[and |]another",
        "add one more",
        "can you name one more",
        "name another one",
        "one more of them",
        "give me another one",
    ),
    "two more": ("two more[ please|]", "[give me |]two others", "add two more", "2 more"),
    "first": (
        "[now|and|] [only|just] the first {n}",
        "the first {n} only",
        "only {n} of them",
        "{n} are enough",
        "just {n} please",
        "that is too many, only {n}",
        "shorter, only {n}",
    ),
    "upper": (
        "[again|now|and now|the same|] in [capitals|capital letters|upper case|all caps]",
        "write [it|that|the list] in capitals",
        "[capitals|all caps] please",
    ),
    "back": (
        "[and|now|and now|] [backwards|in reverse|in reverse order|the other way round]",
        "turn the list around",
        "reverse [it|the list|the order]",
        "from the last to the first",
    ),
    "sorted": (
        "[now|and|] in alphabetical order",
        "sort [them|it|the list][ by alphabet|]",
        "[can you|please] sort them",
        "from a to z",
    ),
    "again": (
        "say that again",
        "[once|one time] more, the same list",
        "repeat the list",
        "repeat that",
        "can you repeat that",
        "the same list again",
        "what was that",
    ),
    "numbered": ("[now|and|] as a numbered list", "number them", "with numbers[ please|]"),
    "lines": (
        "one on each line",
        "[each|every one] on [its own|a new] line",
        "as a bullet list",
        "with bullet points",
    ),
    "sure": ("are you sure", "really", "is that right", "are you sure about that", "sure"),
    "which first": (
        "which [was|is] the first[ one|]",
        "what was the first one",
        "the first one again",
    ),
    "which last": ("which [was|is] the last[ one|]", "what was the last one", "the last one again"),
    "how many": ("how many [are that|are these|did you name]", "count them", "how many is that"),
}


def typed_after(rng: random.Random, way: str, **words: str) -> str:
    text = " ".join(alternative(rng, rng.choice(AFTER[way])).format_map(words).split())
    if rng.random() < 0.35:
        asks = text.startswith(("how", "can", "are", "is", "what", "which", "really", "sure"))
        text = sentence(text) + ("?" if asks else rng.choice((".", "!", "")))
    return text


def _done(rng: random.Random, way: str, group: str, items: list[str]) -> str:
    """What comes out when that is done with the items."""
    n = in_words(len(items))
    simple = {
        "upper": ", ".join(items).upper() + ".",
        "back": f"In reverse order: {', '.join(reversed(items))}.",
        "sorted": f"In alphabetical order: {', '.join(sorted(items, key=str.lower))}.",
        "again": sentence(f"here are {n} {group}{in_a_row(items)}"),
        "numbered": "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1)),
        "lines": "\n".join(f"- {item}" for item in items),
        "sure": sentence(f"yes, {listed(items)} are {group}, as far as I know."),
        "which first": f"The first one was {items[0]}.",
        "which last": f"The last one was {items[-1]}.",
        "how many": sentence(f"{n}: {listed(items)}."),
    }
    return simple[way]


def followed(rng: random.Random) -> list[str]:
    """A list, and one to three things that are then asked of it."""
    while True:
        asked, group, items, left = _such(rng)
        if not reserved(asked.key):
            break
    turns = [typed(rng, asked), asked.answer]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        ways = [way for way in AFTER if way not in ("first", "one more", "two more")]
        ways += ["first"] * 4 * (len(items) > 3) + ["one more"] * 6 * bool(left)
        ways += ["two more"] * 2 * (len(left) > 1)
        way = rng.choice(ways)
        if way in ("one more", "two more"):
            more = left[: 1 if way == "one more" else 2]
            items, left = items + more, left[len(more) :]
            word = "Another one is" if way == "one more" else "Here are two more:"
            turns += [typed_after(rng, way), f"{word} {listed(more)}."]
        elif way == "first":
            n = rng.randint(2, len(items) - 1)
            items = items[:n]  # what was left out is not named as another one
            said = in_words(n) if rng.random() < 0.6 else str(n)
            turns += [typed_after(rng, way, n=said), sentence(f"{', '.join(items)}.")]
        else:
            turns += [typed_after(rng, way), _done(rng, way, group, items)]
    return turns


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
    'Give me {n} words that rhyme with "{w}"', '{n} words that rhyme with "{w}"', "{n} {w} rhymes",
    "i need {n} words that rhyme with {w}", "{n} words rhyming with {w}", "name {n} rhymes for {w}",
    'list {n} words that rhyme with "{w}"', "write {n} words that rhyme with {w}",
    "can you find {n} words that rhyme with {w}", "what are {n} words that rhyme with {w}",
    "find {n} rhymes for {w}", "Tell me {n} rhymes with {w}", "{n} words that sound like {w}",
)  # fmt: skip


def rhymed(rng: random.Random) -> Asked:
    """So many words with a rhyme, or as many as there are."""
    word = rng.choice([word for word in RHYMES if len(RHYMES[word]) > 1])
    n = rng.choice((2, 3, 3, 4, 5, 5, 6))
    said = in_words(n) if rng.random() < 0.5 else str(n)
    answer = rhyming(word, n)
    return _asked(rng, rng.choice(RHYMED).format(n=said, w=word), answer, word)


# Groups of things of which one may be left out.
LEAVING_OUT = (
    "animals", "farm animals", "pets", "birds", "fruits", "vegetables", "flowers", "trees",
    "insects", "vehicles", "tools", "musical instruments", "berries",
)  # fmt: skip


# Things and what they are like: words that everybody knows.
WORDS = (*daily.THINGS, *daily.PLACES, *daily.CREATURES, *daily.ADJECTIVES, *daily.EVENTS)
LETTERED = (
    "animals", "fruits", "vegetables", "countries", "cities", "boys' names", "girls' names", "jobs",
    "colours", "flowers", "birds", "trees", "words", "words", "words", "words",
)  # fmt: skip


def with_letter(rng: random.Random) -> Asked:
    """Some of a group that begin with one letter."""
    group = rng.choice(LETTERED)
    by = by_letter(group)
    letter = rng.choice([x for x in by if len(by[x]) > 1])
    items = by[letter]
    n, said = _count(rng, len(items))
    form = rng.choice(OPEN) + rng.choice(WITH)
    shown = letter.upper() if rng.random() < 0.5 else letter
    question = form.format(n=said, g=group, l=shown)
    n = n if "{n}" in form else len(items[:3])
    start = f"{sentence(in_words(n))} {group} that start with {shown}"
    return _asked(rng, question, f"{start}: {listed(items[:n])}.", f" {shown}")


@cache
def by_letter(group: str) -> dict[str, list[str]]:
    lines = read_sections(FORMS / "lists.txt")
    names = [item.strip() for line in lines.get(group, []) for item in line.split(",")]
    more: dict[str, tuple[str, ...]] = {"words": WORDS, "animals": daily.CREATURES}
    common = [re.sub(" (stick|leaf|stalk)$", "", x) for x in GROUPS.get(group, [])]
    # What is named first in a list is named first here too.
    names = list(dict.fromkeys([*common, *names, *more.get(group, ())]))
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
        if what.endswith("est"):  # as `grammar.py` says it
            counted = ", ".join(f"{x} has {len(x)} letters" for x in things)
            answer = f"{sentence(counted)}. So the {what} word is {word}."
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
        such: 13,
        shopping: 3,
        packing: 4,
        rhymed: 4,
        with_letter: 4.5,
        odd_one: 3,
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
    if not held_out and rng.random() < 0.22:
        return chat(*followed(rng))
    asked = KINDS.draw(rng, held_out)
    return chat(typed(rng, asked), asked.answer)
