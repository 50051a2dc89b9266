"""Verse about a given person, animal or thing with a given trait: limericks, four lines, two lines
and haiku, and what is asked next: another kind of verse, about another one, what it was about.

`story_data/trait_verse.txt` has a limerick and four lines for every trait. Their rhymes belong to
the trait and never to who has it, so anybody goes with any trait: who is to be copied, and the
lines are to be known by heart.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus import named, verse, wished
from assets.demo.recipe.corpus.particulars import filled
from assets.demo.recipe.corpus.plots import DATA, known_pronoun
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    sentence,
    typed_with,
    with_article,
)

FILE = DATA / "trait_verse.txt"
SHAPES = {"limerick": 46, "four": 30, "two": 10, "haiku": 14}
TELL = (
    "[write|write me|make|tell me|give me|make up|can you write|could you write|please write|"
    "can you make|i need|i want|i'd like|do]"
)
FORMS = {
    "limerick": (
        f"{TELL} a limerick about {{who}}", f"{TELL} a limerick about {{who}}",
        f"{TELL} a [funny|short|silly|nice] limerick about {{who}}", "a limerick about {who}",
        "limerick about {who}", "limerick: {who}", "limerick on {who}[ please| pls|]",
        "{who}, as a limerick", "{who}. limerick please", "a limerick [on|with] {who}",
        "do you know a limerick about {who}?", "a five-line funny poem (limerick) about {who}",
    ),
    "four": (
        f"{TELL} a [short |little |funny |] poem about {{who}}", "a [short |little |funny |] "
        "poem about {who}", "poem about {who}[ please| pls|]", f"{TELL} four lines about {{who}}",
        "four rhyming lines about {who}", "4 lines about {who} that rhyme", "poem: {who}",
        f"{TELL} a rhyme about {{who}}", "a [rhyme|verse] about {who}", "rhyme about {who}",
        "{who} in four lines", f"{TELL} a four-line poem about {{who}}, with rhymes",
        "a nursery rhyme about {who}",
    ),
    "two": (
        "two lines about {who}", f"{TELL} a couplet about {{who}}", "a rhyming couplet about {who}",
        "2 rhyming lines about {who}", f"{TELL} two lines that rhyme about {{who}}",
        "couplet about {who}", "just two rhyming lines about {who}",
    ),
    "haiku": (
        f"{TELL} a haiku about {{who}}", "a haiku about {who}", "haiku about {who}",
        "haiku: {who}", "{who}, as a haiku", f"{TELL} a [short |little |] haiku on {{who}}",
    ),
}  # fmt: skip
KEPT = {
    "limerick": "could you put {who} into a limerick", "four": "some verses on {who}",
    "two": "a two-liner with a rhyme on {who}", "haiku": "five seven five, about {who}",
}  # fmt: skip
THEN = {
    "limerick": ("now as a limerick", "and a limerick?", "make it a limerick", "a limerick please",
                 "the same as a limerick"),
    "four": ("now as a poem with four lines", "four lines please", "and now a four-line poem",
             "make a normal poem of it", "now four rhyming lines"),
    "two": ("shorter, two lines", "only two lines", "now in two lines", "as a couplet please",
            "make it shorter"),
    "haiku": ("now as a haiku", "and as a haiku?", "make a haiku of it", "a haiku please"),
}  # fmt: skip
OTHER = ("now about {who}", "and one about {who}", "the same about {who}", "now {who}",
         "one about {who} please", "and {who}?", "another one, about {who}")  # fmt: skip
MORE = (
    "another one",
    "another one please",
    "one more",
    "a different one",
    "again, another one",
    "Another one about them, please.",
    "more",
    "write another",
)
ABOUT = ("who is it about?", "what is it about", "what was it about?", "who is that about")
# Whom somebody writes a verse about, besides the heroes of stories.
PEOPLE = (
    "programmer", "developer", "teacher", "boss", "plumber", "dentist", "doctor", "neighbour",
    "lawyer", "engineer", "student", "scientist", "manager", "barber", "waiter", "accountant",
    "tester", "designer", "data scientist", "hacker", "gamer", "postman", "baker", "professor",
    "cook", "nurse", "pilot", "bus driver", "grandpa", "grandma", "uncle", "aunt", "cat", "dog",
    "goat", "hamster", "robot", "dragon", "princess", "pirate", "ghost", "wizard", "penguin",
    "elephant", "mouse", "frog", "parrot", "computer", "language model", "printer", "toaster",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trait:
    """What is said of somebody, and the verse that it goes with."""

    name: str
    who: tuple[str, ...]
    adjectives: tuple[str, ...]
    pool: tuple[str, ...]
    limerick: str
    four: str
    haiku: str


@cache
def traits() -> tuple[Trait, ...]:
    found = []
    text = FILE.read_text(encoding="utf-8")
    for block in re.split(r"^# (?=\w+$)", text, flags=re.MULTILINE)[1:]:
        name, *lines = block.strip().splitlines()
        parts = dict(line.split(": ", 1) for line in lines if line)
        if name == "pairs":
            continue
        section = parts.get("list", "")
        pool = tuple(section[1:].split(", ")) if section.startswith("=") else ()
        found.append(
            Trait(
                name,
                tuple(parts["who"].split(" | ")),
                tuple(parts["adj"].split(" | ")) if "adj" in parts else (),
                pool or (named.nouns(section) if section else ()),
                parts["l"],
                parts["q"],
                parts.get("h", ""),
            )
        )
    return tuple(found)


@cache
def pairs() -> dict[str, tuple[str, ...]]:
    """Limericks and four lines about any two."""
    lines = FILE.read_text(encoding="utf-8").partition("# pairs\n")[2].splitlines()
    return {
        shape: tuple(line[3:] for line in lines if line.startswith(f"{key}: "))
        for shape, key in (("limerick", "l"), ("four", "q"))
    }


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a verse is about: as the request has it, as the verse begins with it and calls it."""

    asked: str
    said: str
    called: str
    pronoun: str
    noun: str


def subject(rng: random.Random) -> Subject:
    noun = rng.choice(PEOPLE) if rng.random() < 0.4 else named.some_hero(rng)
    if named.kind_of(noun) == "thing" and rng.random() < 0.5:
        noun = named.some_hero(rng, "person", "animal")
    pronoun = named.pronoun_of(noun, "")
    way = rng.random()
    if way < 0.62:
        one = with_article(noun)
        return Subject(one, one, f"the {noun}", pronoun, noun)
    name = wished.a_name(rng, pronoun)
    he = known_pronoun(name) or (pronoun if pronoun != "it" else "he")
    if way < 0.8:
        one = with_article(noun)
        link = rng.choice((" named ", " called ", " named "))
        return Subject(f"{one}{link}{name}", f"{one} named {name}", name, he, noun)
    if way < 0.92:
        return Subject(f"my {noun} {name}", f"{with_article(noun)} named {name}", name, he, noun)
    return Subject(f"my {noun}", with_article(noun), f"your {noun}", pronoun, noun)


def told(trait: Trait, who: Subject, shape: str, y: str) -> str:
    """The verse. `y` is what a trait is about."""
    if shape == "haiku":
        first = re.sub("^your ", "my ", who.called)
        first = haiku_line(first)
        second, third = trait.haiku.split(" / ")
        return f"{sentence(first)},\n{second}.\n{sentence(third)}."
    he, him, his, _ = named.IT[who.pronoun]
    slots = {"a x": who.said, "h": who.called, "he": he, "him": him, "his": his, "y": y,
             "a y": with_article(y) if y else ""}  # fmt: skip
    lines = filled(trait.limerick if shape == "limerick" else trait.four, slots).split(" / ")
    return "\n".join(sentence(line) for line in lines[: 2 if shape == "two" else 5])


def of_two(one: Subject, other: Subject, form: str, lines: int) -> str:
    """A verse about two."""
    slots = {"a x": one.said, "a z": other.said, "h": one.called, "g": other.called}
    return "\n".join(sentence(line) for line in filled(form, slots).split(" / ")[:lines])


def about_two(rng: random.Random, held_out: bool) -> Conversation:
    """A request for verse about two, the verse, and sometimes another one."""
    while True:
        one, other = subject(rng), subject(rng)
        apart = (one.noun != other.noun and one.called[:1] != other.called[0]) or one.called[
            :4
        ] in ("the ", "your")
        if (
            apart
            and one.called != other.called
            and (held_out == verse.reserved(f"{one.noun}/{other.noun}"))
        ):
            break
    shape = rng.choice(("limerick", "four", "four"))
    forms = list(pairs()[shape])
    rng.shuffle(forms)
    text = typed(rng, rng.choice(FORMS[shape]), {"who": f"{one.asked} and {other.asked}"})
    lines = 5 if shape == "limerick" else 4
    keep = (*one.asked.split(), *other.asked.split())
    turns = [typed_with(rng, text, *keep), of_two(one, other, forms[0], lines)]
    if rng.random() < 0.3:
        turns += [rng.choice(MORE), of_two(one, other, forms[1], lines)]
    return chat(*turns)


def haiku_line(called: str) -> str:
    """The first line, of five syllables as far as that can be."""
    left = 5 - verse.syllables(called)
    forms = verse.FIRST_LINES.get(left, ("{t}",))
    return forms[0].replace("{t}", called)


def drawn(rng: random.Random, shape: str) -> tuple[Trait, str]:
    pool = [trait for trait in traits() if shape != "haiku" or trait.haiku]
    trait = rng.choice(pool)
    y = rng.choice(trait.pool).partition(" ~ ")[0] if trait.pool else ""
    return trait, y


def asked_of(rng: random.Random, trait: Trait, who: Subject, y: str) -> str:
    """Who and what, as a request has it."""
    if trait.adjectives and rng.random() < 0.45 and who.asked.startswith(("a ", "an ")):
        adjective = rng.choice(trait.adjectives)
        return with_article(f"{adjective} {re.sub('^an? ', '', who.asked)}")
    his = named.IT[who.pronoun][2]
    clause = filled(
        rng.choice(trait.who), {"y": y, "a y": with_article(y) if y else "", "his": his}
    )
    link = rng.choice((" who ", " who ", " who ", " that "))
    if rng.random() < 0.05:
        link = " "
    return f"{who.asked}{link}{clause}"


def typed(rng: random.Random, form: str, words: Mapping[str, str]) -> str:
    for key, word in words.items():
        form = form.replace(f"{{{key}}}", word)
    text = " ".join(alternative(rng, form).split())
    return sentence(text) if rng.random() < 0.5 else text


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for verse about somebody with a trait, the verse, and often another one."""
    if rng.random() < 0.14:
        return about_two(rng, held_out)
    while True:
        shape = rng.choices(tuple(SHAPES), tuple(SHAPES.values()))[0]
        trait, y = drawn(rng, shape)
        who = subject(rng)
        kept = held_out and rng.random() < 0.1
        if held_out == (kept or verse.reserved(f"{trait.name}/{who.noun}/{y}")):
            break
    about = asked_of(rng, trait, who, y)
    form = KEPT[shape] if kept else rng.choice(FORMS[shape])
    keep = (*about.split(), who.noun)
    text = typed(rng, form, {"who": about})
    turns = [typed_with(rng, named.mistyped(rng, text), *keep), told(trait, who, shape, y)]
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        way = rng.random()
        if way < 0.4:
            other = rng.choice([s for s in SHAPES if s != shape and (s != "haiku" or trait.haiku)])
            shape = other
            turns += [typed(rng, rng.choice(THEN[shape]), {}), told(trait, who, shape, y)]
        elif way < 0.85:
            who = subject(rng)
            if rng.random() < 0.5:  # the trait stays
                about = who.asked
            else:
                trait, y = drawn(rng, shape)
                about = asked_of(rng, trait, who, y)
            turns += [typed(rng, rng.choice(OTHER), {"who": about}), told(trait, who, shape, y)]
        else:
            said = re.sub("^my ", "your ", who.asked)
            turns += [rng.choice(ABOUT), f"It is about {said}."]
            break
    return chat(*turns)
