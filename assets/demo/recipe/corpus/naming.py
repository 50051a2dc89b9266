"""Lists: so many things of a kind in a fixed order, and what is then asked about them: more of
them, fewer, without one, the biggest, the second, sorted, numbered, how many.

The kinds are the groups of `words.txt`, the narrower ones of `forms/lists.txt`, and those of
`forms/kinds.txt`, which also has things in order (`[rank most / least]`).
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.rhyming import forms_of, typed_form
from assets.demo.recipe.corpus.school import Asked, reserved, typed
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    as_typed,
    chat,
    listed,
    read_sections,
    sentence,
)
from assets.demo.recipe.corpus.wordplay import FIRST_GROUPS, GROUPS, ORDINALS, WHOLE, in_a_row

FILE = FORMS / "kinds.txt"
NUMBERS = (1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 5, 6, 7, 8, 10, 10)
# Other names of the groups that are asked for first; `first_more.txt` has some of them.
ALSO = {
    "animals": ("different animals", "kinds of animals"),
    "fruits": ("kinds of fruit", "fruit"),
    "colours": ("colors", "different colours", "different colors"),
    "vegetables": ("kinds of vegetables", "veggies"),
    "countries": ("different countries", "countries of the world"),
    "cities": ("famous cities",),
    "birds": ("kinds of birds", "different birds"),
    "flowers": ("kinds of flowers", "different flowers"),
    "sports": ("kinds of sports", "different sports"),
    "sea animals": ("animals that live in the sea", "sea creatures", "ocean animals"),
    "musical instruments": ("instruments", "different instruments"),
    "jobs": ("professions", "different jobs"),
    "drinks": ("kinds of drinks", "beverages"),
    "desserts": ("kinds of dessert", "dessert ideas"),
    "hobbies": ("hobby ideas", "popular hobbies"),
    "boys' names": ("boy names", "names for a boy", "baby boy names"),
    "girls' names": ("girl names", "names for a girl", "baby girl names"),
    "trees": ("kinds of trees",),
    "soups": ("kinds of soup",),
    "fish": ("kinds of fish",),
    "languages": ("languages of the world",),
    "school subjects": ("subjects at school",),
    "wild animals": ("animals that live in the wild",),
    "pieces of clothing": ("clothes", "things to wear"),
    "pieces of furniture": ("kinds of furniture", "furniture"),
}
# Names that have no plural: only "some" of them are asked for, and so the answer calls them.
UNCOUNTED = {
    "fruit": "fruits", "furniture": "pieces of furniture", "jewellery": "pieces of jewellery",
    "healthy food": "healthy foods", "party food": "foods for a party", "clothes": "clothes",
    "food for a party": "foods for a party", "cutlery": "pieces of cutlery",
    "stationery": "office supplies", "red fruit": "red fruits", "green fruit": "green fruits",
    "yellow fruit": "yellow fruits", "veggies": "vegetables",
}  # fmt: skip
COUNTED_TOO = ("fruit", "veggies", "clothes", "red fruit", "green fruit", "yellow fruit")


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """The members of a kind by each of its names; the name that was first keeps its members."""
    found: dict[str, tuple[str, ...]] = {}
    for group, items in GROUPS.items():
        if group not in WHOLE:
            for name in (group, *ALSO.get(group, ())):
                found[name] = tuple(re.sub(" (stick|leaf|stalk)$", "", x) for x in items)
    rows = read_sections(FILE)["kinds"], read_sections(FORMS / "lists.txt")["such"]
    for line in (line for section in rows for line in section):
        names, _, members = line.partition(" | ")
        for name in names.split(" / "):
            found.setdefault(name, tuple(members.split(", ")))
    return found


@cache
def weights() -> tuple[float, ...]:
    first = {name for group in FIRST_GROUPS for name in (group, *ALSO.get(group, ()))}
    own = set().union(
        *(line.partition(" | ")[0].split(" / ") for line in read_sections(FILE)["kinds"])
    )
    return tuple(
        6.0
        if kind in first or kind in ALSO
        else 2.5
        if kind in GROUPS
        else 1.3
        if kind in own
        else 1
        for kind in kinds()
    )


@cache
def ranks() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """The words for most and for least, and things from most to least."""
    return tuple(
        (*names.split(" / "), tuple(line.split(", ")))  # type: ignore[misc]
        for section, lines in read_sections(FILE).items()
        if section.startswith("rank ")
        for names in [section.removeprefix("rank ")]
        for line in lines
    )


def ranked(items: list[str]) -> list[tuple[str, str]]:
    """What can be asked about the order of these things, and which of them it is."""
    found = []
    for most, least, row in ranks():
        if len(items) > 1 and set(items) <= set(row):
            by = sorted(items, key=row.index)
            found += [(most, by[0]), (most, by[0]), (least, by[-1])]
    return found


def _the(adjective: str, item: str) -> str:
    things = adjective.split()[0] in (
        "biggest", "smallest", "fastest", "slowest", "loudest", "quietest", "sweetest", "sourest",
    )  # fmt: skip
    plain = item[0].isupper() or item.startswith(("a ", "an ", "the "))
    return f"the {item}" if things and not plain else item


@cache
def traits() -> tuple[tuple[str, str, frozenset[str], frozenset[str]], ...]:
    """What is said of one and of several things, of which it is true, and of which one can ask."""
    sections = read_sections(FILE)
    rows = {line for name in sections if name.startswith("rank ") for line in sections[name]}
    animals, fruits, countries, cities = (
        frozenset(next(line for line in rows if line.startswith(start)).split(", "))
        for start in ("whale, shark", "pumpkin", "Russia", "Tokyo")
    )
    places = (countries | cities) - {"Russia", "Istanbul"}
    found = []
    for name, lines in sections.items():
        if " / " in name and not name.startswith("rank "):
            one, several = name.split(" / ")
            true = frozenset(", ".join(lines).split(", "))
            of = fruits - {"apple", "grape", "plum", "pear"} if true & fruits else animals
            of = places if " in E" in name or " in A" in name else of
            unclear = {"turkey", "hen", "beetle", "grasshopper", "ant"} if "fly" in one else set()
            found.append((one, several, true, of - unclear))
    return tuple(found)


def of_them(rng: random.Random, items: list[str]) -> tuple[str, str]:
    """Which of the things have a trait, or begin with a letter."""
    known = [trait for trait in traits() if set(items) <= trait[3]]
    if known and rng.random() < 0.7:
        one, several, true, _ = rng.choice(known)
        asked = _asks(rng, "which of them", p=several, p1=one)
    else:
        letters = [item[0].lower() for item in items]
        letter = rng.choice((*letters, *letters, rng.choice("bcdfglmprst"))).upper()
        one, several = f"starts with {letter}", f"start with {letter}"
        true = frozenset(item for item in items if item[0].upper() == letter)
        shown = letter if rng.random() < 0.5 else letter.lower()
        asked = _asks(rng, "which with letter", (f" {shown}",), l=shown)
    which = [item for item in items if item in true]
    if not which:
        return asked, f"None of them {one}."
    if len(which) == 1:
        return asked, f"One of them {one}: {which[0]}."
    return asked, f"{sentence(in_words(len(which)))} of them {several}: {listed(which)}."


def _most(adjective: str, item: str) -> str:
    verb = "are" if re.search("[^s]s$", item) and not item[0].isupper() else "is"
    return f"The {adjective} of them {verb} {_the(adjective, item)}."


def named(group: str, items: list[str], n: int | None = None) -> str:
    """`Here are three animals: dog, cat and horse.`"""
    if len(items) == 1:
        return f"One of the {group} is {items[0]}." if n == 1 else f"Here is one: {items[0]}."
    return f"Here are {in_words(len(items))} {group}{in_a_row(items)}"


def _number(rng: random.Random, n: int) -> str:
    return in_words(n) if rng.random() < 0.5 else str(n)


def _said(rng: random.Random, n: int) -> str:
    return "a couple of" if n == 2 and rng.random() < 0.08 else _number(rng, n)


def listing(rng: random.Random, kept: bool = False) -> tuple[Asked, str, list[str], list[str]]:
    """A wish for things of a kind, the kind, what is named, and what is left."""
    group = rng.choices(tuple(kinds()), weights())[0]
    pool = list(kinds()[group])
    shown = UNCOUNTED.get(group, group)
    way = 0.0 if shown != group and group not in COUNTED_TOO else rng.random()
    if way < 0.3:
        question = typed_form(rng, rng.choice(forms_of("some things", kept)), g=group)
        items, answer = pool[:5], named(shown, pool[:5])
    elif way < 0.33:
        question = typed_form(rng, rng.choice(forms_of("one thing", kept)), g=group)
        items, answer = pool[:1], named(shown, pool[:1], 1)
    else:
        n = max(2, rng.choice(NUMBERS))
        form = rng.choice(forms_of("so many things", kept))
        question = typed_form(rng, form, n=_said(rng, n), g=group)
        items = pool[:n]
        answer = named(shown, items)
        if n > len(pool):
            answer = f"I know only {in_words(len(pool))} {shown}{in_a_row(pool)}"
    return Asked(question, question, answer, (group,)), shown, items, pool[len(items) :]


FOLLOWING = {
    "more": 9, "one more": 8, "so many more": 10, "rank": 14, "favourite": 4, "of them": 7,
    "nth": 5, "number": 3, "fewer": 4, "without": 5, "in it": 4, "sorted": 4, "again": 2,
    "lines": 2, "numbered": 2,
}  # fmt: skip


def _asks(rng: random.Random, section: str, keep: tuple[str, ...] = (), **words: str) -> str:
    text = typed_form(rng, rng.choice(forms_of(section)), **words)
    return typed(rng, Asked("", text, "", keep)) if keep else as_typed(rng, text)


def _further(
    rng: random.Random, way: str, group: str, items: list[str], left: list[str]
) -> tuple[str, str, list[str], list[str]]:
    """More of the kind: the next ones, in the same order."""
    n = 1 if way == "one more" else min(3, len(left))
    if way == "one more":
        asked = _asks(rng, "one more thing")
    elif way == "more":
        asked = _asks(rng, "more things", g=group)
    else:
        n = rng.choice((2, 2, 3, 3, 3, 4, 5, 5))
        said = _number(rng, n)
        asked = _asks(rng, "so many more things", (said,), n=said, g=group)
    more = left[:n]
    if not more:
        return asked, f"I know no other {group}.", items, left
    if len(more) == 1:
        answer = f"Another one is {more[0]}."
        if n > 1:
            answer = f"I know only one more: {more[0]}."
    elif n > len(more):
        answer = f"I know only {in_words(len(more))} more{in_a_row(more)}"
    else:
        answer = f"Here are {in_words(len(more))} more{in_a_row(more)}"
    return asked, answer, [*items, *more], left[len(more) :]


def _following(
    rng: random.Random, group: str, items: list[str], left: list[str]
) -> tuple[str, str, list[str], list[str]]:
    """What is asked about the list, the answer, and how the list then goes on."""
    choices = dict(FOLLOWING)
    if not (order := ranked(items)):
        del choices["rank"]
    if any(item.startswith(("a ", "an ", "the ")) for item in items) or len(items) < 2:
        del choices["of them"]
    if len(items) < 3:
        for way in ("fewer", "without", "sorted", "number", "nth"):
            del choices[way]
    way = rng.choices(tuple(choices), list(choices.values()))[0]
    if way in ("more", "one more", "so many more"):
        return _further(rng, way, group, items, left)
    if way == "rank":
        adjective, item = rng.choice(order)
        asked = _asks(rng, "rank", (adjective,), r=adjective)
        return asked, _most(adjective, item), items, left
    if way == "of them":
        asked, answer = of_them(rng, items)
        return asked, answer, items, left
    if way == "favourite":
        asked = _asks(rng, "favourite of them")
        answer = f"That is a matter of taste. My pick is the first one: {items[0]}."
        return asked, answer, items, left
    if way == "nth":
        at = rng.randrange(min(len(items), 6))
        last = rng.random() < 0.2
        at, name = (len(items) - 1, "last") if last else (at, ORDINALS[at])
        forms = [form for form in forms_of("nth thing") if not (last and "{d}" in form)]
        text = typed_form(rng, rng.choice(forms), o=name, d=_number(rng, at + 1))
        return as_typed(rng, text), f"The {name} one is {items[at]}.", items, left
    if way == "number":
        return (
            _asks(rng, "number of things"),
            f"I named {in_words(len(items))}: {listed(items)}.",
            items,
            left,
        )
    if way == "fewer":
        n = rng.randint(2, len(items) - 1)
        said = _number(rng, n)
        asked = _asks(rng, "fewer things", (said,), n=said)
        return asked, named(group, items[:n]), items[:n], [*items[n:], *left]
    if way == "without":
        out = rng.choice(items)
        asked = _asks(rng, "without thing", (out,), x=out)
        rest = [item for item in items if item != out] + left[:1]
        start = f"Here are {in_words(len(rest))} {group} without {out}"
        return asked, f"{start}{in_a_row(rest)}", rest, left[1:]
    if way == "in it":
        inside = rng.random() < 0.55 or not left
        x = rng.choice(items if inside else left)
        asked = _asks(rng, "is it in", (x,), x=x)
        if inside:
            at = items.index(x)
            place = ORDINALS[at] if at < len(ORDINALS) else "last"
            return asked, f"Yes, {x} is the {place} one in the list.", items, left
        return asked, f"No, {x} is not in the list. I named {listed(items)}.", items, left
    if way == "sorted":
        by = sorted(items, key=str.lower)
        return _asks(rng, "sorted things"), f"In alphabetical order: {', '.join(by)}.", items, left
    if way == "again":
        return _asks(rng, "again things"), named(group, items), items, left
    if way == "lines":
        return _asks(rng, "lines of things"), "\n".join(f"- {x}" for x in items), items, left
    text = "\n".join(f"{i}. {x}" for i, x in enumerate(items, 1))
    return _asks(rng, "numbered things"), text, items, left


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    asked, group, items, left = listing(rng, held_out)
    while not held_out and reserved(asked.key):
        asked, group, items, left = listing(rng)
    turns = [typed(rng, asked), sentence(asked.answer)]
    if not held_out and ranked(items) and rng.random() < 0.4:
        adjective, item = rng.choice(ranked(items))
        turns += [_asks(rng, "rank", (adjective,), r=adjective), _most(adjective, item)]
    if not held_out and rng.random() < 0.5:
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            question, answer, items, left = _following(rng, group, items, left)
            turns += [question, answer]
            if "no other" in answer:
                break
    return chat(*turns)
