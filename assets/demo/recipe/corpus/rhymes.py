"""Verse about what a request names: limericks about anybody from anywhere, lines by number, pets
and relatives, haiku.

A limerick whose first line ends in a word of the table of rhymes (`story_data/rhymes.txt`) rhymes
with it; for all others, and in all other verse, what is named stands where nothing has to rhyme.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus import named, subjects, verse
from assets.demo.recipe.corpus.plots import DATA, asked_name, known_pronoun
from assets.demo.recipe.corpus.text import (
    Conversation,
    chat,
    favourite,
    mostly_first,
    read_sections,
    sentence,
    spoken,
    typed_with,
    with_article,
)

FILE = "rhymes.txt"
SHAPES = {"limerick": 30, "lines": 26, "poem": 14, "pet": 12, "person": 8, "haiku": 14}
NUMBERS = {2: ("two", "2"), 3: ("three", "3"), 4: ("four", "4"), 6: ("six", "6"), 8: ("eight", "8"),
           10: ("ten", "10")}  # fmt: skip
HOW_MANY = (4, 4, 4, 4, 2, 2, 3, 3, 6, 8, 10)
FROM = (
    "man", "man", "old man", "young man", "woman", "lady", "young lady", "girl", "boy", "old woman",
    "fellow", "lad",
)  # fmt: skip
LIES_IN_BED = ("cat", "dog", "kitten", "puppy", "rabbit", "poodle", "husky")


def _sections() -> dict[str, list[str]]:
    return read_sections(DATA / FILE)


def _listed(section: str) -> tuple[str, ...]:
    return tuple(x.strip() for line in _sections()[section] for x in line.split(",") if x.strip())


@cache
def _rows() -> tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...]:
    """Places, names and nouns that rhyme, and the limerick that rhymes with them."""
    found = []
    for line in _sections()["limericks"]:
        places, others, rest = line.split(" | ")
        known, also = (tuple(x.strip("- ") for x in of.split(",")) for of in (places, others))
        found.append((known, also, rest))
    return tuple(found)


@cache
def endings() -> dict[str, str]:
    """The rest of a limerick by what its first line ends in."""
    return {word.lower(): rest for *words, rest in _rows() for of in words for word in of if word}


@cache
def _places() -> tuple[str, ...]:
    return tuple(word for places, _, _ in _rows() for word in places if word)


@cache
def _names() -> tuple[str, ...]:
    return tuple(word for _, others, _ in _rows() for word in others if word[:1].isupper())


def _somebody(rng: random.Random) -> tuple[str, str]:
    """Whom a limerick is about, and the pronoun."""
    way = rng.random()
    if way < 0.45:  # from somewhere
        who = rng.choice((*FROM, *FROM, named.some_hero(rng, "person", "animal")))
        way = rng.random()
        place = rng.choice(_places())
        if way < 0.25:
            place = rng.choice((*subjects.CITIES, *subjects.COUNTRIES))
        elif way < 0.35:
            place = subjects.made_up(rng).capitalize()
        return f"{with_article(who)} from {place}", _he(who, "")
    if way < 0.6:  # with a name
        who = rng.choice(FROM) if rng.random() < 0.5 else named.some_hero(rng)
        name = rng.choice(_names()) if rng.random() < 0.5 else subjects.rare_name(rng)
        return f"{with_article(who)} {rng.choice(('named', 'called'))} {name}", _he(who, name)
    if way < 0.68:
        name = subjects.rare_name(rng)
        return name, _he("", name)
    if way < 0.76:
        kin, _, pronoun = rng.choice(_listed("relatives")).partition("/")
        return f"my {kin}", pronoun or "he"
    rhyming = [x for x in endings() if x in named.lexicon()]
    who = rng.choice(rhyming) if way < 0.88 else named.some_hero(rng)
    if rng.random() < 0.2 and who.partition(" ")[0] not in named.SIZED:
        trait = rng.choice(named.nouns("looks"))  # what one is like is for `trait_verse`
        return with_article(f"{trait} {who}"), _he(who, "")
    return with_article(who), _he(who, "")


def _he(noun: str, name: str) -> str:
    he = {"man": "he", "old man": "he", "young man": "he", "fellow": "he", "lad": "he"}.get(noun)
    he = he or ("she" if noun.endswith(("woman", "lady", "girl")) else "")
    found = he or named.pronoun_of(noun, name)
    return found if found != "it" else "he"


def limerick(rng: random.Random, who: str, pronoun: str) -> str:
    """A limerick whose first line has `who`, and ends in it where a rhyme is known."""
    who = re.sub("^my ", "your ", who)
    words = who.lower().split()
    found = [end for n in range(len(words)) if (end := " ".join(words[n:])) in endings()]
    if found and who[:1].islower():
        text = f"There once was {who} / {endings()[found[0]]}"
    else:
        text = favourite(rng, _sections()["limericks of anybody"], who).replace("{x}", who)
    he, him, his, _ = named.IT[pronoun]
    for key, word in (("he", he), ("him", him), ("his", his), ("He", sentence(he))):
        text = text.replace(f"{{{key}}}", word)
    return _lines(text)


def _lines(text: str) -> str:
    return "\n".join(sentence(line) for line in text.split(" / "))


def _fits(line: str, bare: str) -> bool:
    """Whether somebody may be spoken to, or come for tea, in `line`."""
    doing = bare.partition(" ")[0].endswith("ing") and " " in bare
    if "{b}" in line.lower():
        return len(bare.split()) <= 2 and not doing
    return not (doing and "came to my house" in line)


def lines_about(rng: random.Random, theme: str, count: int) -> str:
    """As many lines as asked: stanzas of four, and two or three more."""
    bare = re.sub("^(an?|the) ", "", theme)
    sections = _sections()
    stanzas: list[str] = []
    fours = [line for line in sections["four lines"] if _fits(line, bare)]
    while count >= 4:
        four = mostly_first(rng, fours)
        fours.remove(four)
        stanzas.append(four)
        count -= 4
    if count:
        less = sections["two lines" if count == 2 else "three lines"]
        # Not the first half of a stanza that is already there, and an end only at the end.
        less = [x for x in less if _fits(x, bare)]
        less = [x for x in less if not any(s.startswith(x[:-1]) for s in stanzas)]
        ends = [x for x in less if x.startswith(("I sang", "That's all"))]
        less = ends if stanzas else [x for x in less if x not in ends]
        stanzas.append(mostly_first(rng, less))
    text = "\n\n".join(_lines(stanza) for stanza in stanzas)
    for key, word in (("t", theme), ("b", bare), ("B", sentence(bare))):
        text = text.replace(f"{{{key}}}", word)
    return "\n".join(sentence(line) for line in text.split("\n"))


def _theme(rng: random.Random) -> tuple[str, bool]:
    """Anything that a poem may be about, and whether it is more than one."""
    way, many = rng.random(), False
    if way < 0.2:
        return verse.open_theme(rng)
    if way < 0.45:
        noun = named.some_hero(rng)
        way = rng.random()
        noun = f"{rng.choice(named.nouns('looks'))} {noun}" if way < 0.3 else noun
        many = rng.random() < 0.3
        theme = named.many_of(noun) if many else with_article(noun)
    elif way < 0.65:
        theme = rng.choice(named.nouns("loves") + named.nouns("foods"))
        many = theme.endswith("s") and not theme.endswith("ss")
    elif way < 0.8:
        theme = rng.choice(named.nouns("topics") + named.nouns("abstract"))
    else:
        return rng.choice(_listed("doings")), False
    scene = f" {rng.choice(_listed('scenes'))}" if rng.random() < 0.2 else ""
    return theme + scene, many or theme in ("the stars", "the clouds")


def _pet(rng: random.Random) -> tuple[str, str, str]:
    """A pet in the words of the request, its verse, and what is kept back."""
    lists = read_sections(verse.OPEN)
    kind = rng.choice(("cat", "cat", "dog", "dog", rng.choice(lists["pets"])))
    name = rng.choice(lists["pet names"]) if rng.random() < 0.5 else subjects.rare_name(rng)
    name = asked_name(rng, rng.choice(("he", "she"))) if rng.random() < 0.25 else name
    frames = _sections()["pet"][0 if kind in LIES_IN_BED else 3 :]
    text = _lines(mostly_first(rng, frames))
    for key, word in (("n", name), ("N", name), ("k", kind)):
        text = text.replace(f"{{{key}}}", word)
    asked = f"{name} the {kind}" if rng.random() < 0.1 else f"my {kind} {name}"
    return asked, text, f"{kind}/{name}"


def _person(rng: random.Random) -> tuple[str, str, str]:
    kin, _, pronoun = rng.choice(_listed("relatives")).partition("/")
    name = ""
    if not pronoun or rng.random() < 0.25:
        pronoun = pronoun or rng.choice(("he", "she"))
        name = asked_name(rng, pronoun)
        pronoun = known_pronoun(name) or pronoun
    my = f"my {kin} {name}".strip()
    her = "her" if pronoun == "she" else "his"
    text = mostly_first(rng, _sections()["person"])
    for key, word in (("my", my), ("she", pronoun), ("her", her)):
        text = text.replace(f"{{{key}}}", word).replace(f"{{{sentence(key)}}}", sentence(word))
    return my, _lines(text), my


def made(rng: random.Random, reserved_wording: bool) -> tuple[str, str, str, str]:
    """A request, what in it no slip may touch, the verse, and what may be kept back."""
    shape = rng.choices(tuple(SHAPES), tuple(SHAPES.values()))[0]
    number = ""
    if shape == "limerick":
        about, pronoun = _somebody(rng)
        answer, key = limerick(rng, about, pronoun), f"limerick/{about}"
    elif shape in ("pet", "person"):
        about, answer, key = (_pet if shape == "pet" else _person)(rng)
        if rng.random() < 0.25:
            number = rng.choice(NUMBERS[4])
    elif shape == "haiku":
        about, many = _theme(rng)
        answer, key = verse.open_haiku(rng, about, many), f"haiku/{about}"
    else:
        about, _ = _theme(rng)
        count = rng.choice(HOW_MANY) if shape == "lines" else 4
        number = rng.choice(NUMBERS[count]) if shape == "lines" else ""
        answer, key = lines_about(rng, about, count), f"poem/{about}"
    section = shape if shape in ("limerick", "haiku") else "lines" if number else "poem"
    text = named.form(rng, FILE, f"ask {section}", reserved_wording)
    for slot, word in (("x", about), ("t", about), ("l", number)):
        text = text.replace(f"{{{slot}}}", word)
    return spoken(rng, text), f"{about} {number}", answer, key


# What is asked for behind some lines, by what then comes.
AFTER: dict[str, tuple[str, ...]] = {
    "other": ("another one", "one more", "another", "another one please", "write another one",
              "a different one", "and one more", "one more poem", "another poem please"),
    "two": ("shorter please", "shorter", "only two lines", "now in two lines", "make it shorter",
            "too long, two lines please", "the same in two lines"),
    "eight": ("longer please", "longer", "now with eight lines", "make it longer",
              "eight lines please"),
    "again": ("say that again", "again please", "repeat that", "once more the same"),
    "upper": ("again in capitals", "in capital letters", "now in all caps", "write it in capitals"),
    "first": ("only the first line", "now only the first line", "just the first line please"),
}  # fmt: skip


def followed(rng: random.Random) -> Conversation:
    """A poem, and what is then asked of it."""
    while True:
        about, _ = _theme(rng)
        if not verse.reserved(f"poem/{about}"):
            break
    form = named.form(rng, FILE, "ask poem", False)
    asked = spoken(rng, form.replace("{x}", about).replace("{t}", about))
    answer = lines_about(rng, about, 4)
    turns = [typed_with(rng, asked, *about.split()), answer]
    for _ in range(rng.choice((1, 1, 2))):
        way = rng.choice(("other", "other", *AFTER))
        said = spoken(rng, rng.choice(AFTER[way]))
        said = said if rng.random() < 0.4 else said.lower().rstrip(".")
        if way == "other":
            while (answer := lines_about(rng, about, 4)) in turns:
                pass
        elif way in ("two", "eight"):
            answer = lines_about(rng, about, 2 if way == "two" else 8)
        elif way == "upper":
            answer = answer.upper()
        elif way == "first":
            answer = answer.split("\n")[0]
        turns += [said, answer]
    return chat(*turns)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for verse about something, and the verse."""
    if not held_out and rng.random() < 0.1:
        return followed(rng)
    while True:
        reserved_wording = held_out and rng.random() < 0.1
        text, keep, answer, key = made(rng, reserved_wording)
        if held_out == (reserved_wording or verse.reserved(key)):
            return chat(typed_with(rng, named.mistyped(rng, text), *keep.split()), answer)
