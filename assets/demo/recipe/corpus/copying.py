"""Texts to copy, quote and change: answers that stand in the prompt, where prompt lookup wins.

The texts are little scenes of a grammar (`forms/scenes.txt`, with `{slots}` and `[verbs]` that come
in two tenses), sentences of the other sources, rows of words, and short Python functions. An answer
is made from the text, so that it is right by construction. `forms/copying.txt` has the forms of
asking.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assets.demo.recipe.corpus import daily, manners, subjects, unknown
from assets.demo.recipe.corpus.daily import IRREGULAR as IRREGULAR  # for the stories
from assets.demo.recipe.corpus.daily import conjugated as conjugated
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    listed,
    read_sections,
    read_topics,
    sentence,
    with_article,
)
from assets.demo.recipe.corpus.wordplay import TEXT, TEXT_WORDS, plural_of, slipped

FORMS = Path(__file__).parent / "forms"
ORDINALS = ("first", "second", "third", "fourth", "fifth")
WORDS_TO_19 = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def number_word(number: int) -> str:
    """Numbers below 100: `forty-two`."""
    if number < 20:
        return WORDS_TO_19[number]
    tens, rest = divmod(number, 10)
    return TENS[tens - 2] + (f"-{WORDS_TO_19[rest]}" if rest else "")


def _scenes() -> list[list[list[str]]]:
    """Scenes of slots of sentences that may stand there."""
    blocks = re.split(r"^# .*\n", (FORMS / "scenes.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]
    return [[slot.strip().splitlines() for slot in block.strip().split("\n\n")] for block in blocks]


SCENES = _scenes()
MARK = re.compile(r"\{(\w+)\}|\[(\w+)(\+?)\]")
_women, _men = subjects.split(subjects.WOMEN), subjects.split(subjects.MEN)
PRONOUNS = (("she", "her", "her"), ("he", "his", "him"))
PLURALS = tuple(word for word in subjects.FRUITS if word.endswith("s") and " " not in word)
DAYS = daily.DAYS
HOURS = (
    "one o'clock", "two o'clock", "three o'clock", "four o'clock", "five o'clock", "six o'clock",
    "seven o'clock", "eight o'clock", "nine o'clock", "ten o'clock", "noon", "sunrise", "sunset",
)  # fmt: skip
# Names of held-out scenes are reserved ones; all else is shared.
_NAMES = {False: (_women[0], _men[0]), True: (_women[1], _men[1])}


@dataclass(frozen=True, slots=True)
class Scene:
    """Sentences that belong together, and what stands in them."""

    raw: tuple[str, ...]
    values: dict[str, str]
    gender: int

    def sentences(self, past: bool = True, digits: bool = False) -> list[str]:
        def fill(match: re.Match[str]) -> str:
            slot, verb, plural = match.groups()
            if verb:
                return conjugated(verb, past, bool(plural))
            value = self.values[slot]
            return number_word(int(value)) if value.isdigit() and not digits else value

        return [sentence(MARK.sub(fill, raw)) for raw in self.raw]

    def text(self, past: bool = True, digits: bool = False) -> str:
        return " ".join(self.sentences(past, digits))

    @property
    def nouns(self) -> list[str]:
        """Things and animals of the text."""
        used = {match[1] or "" for raw in self.raw for match in MARK.finditer(raw)}
        return [self.values[slot] for slot in sorted(used) if slot.startswith(("thing", "animal"))]


_too_large = (
    "bench", "table", "chair", "carpet", "cart", "barrel", "wheel", "curtain", "boat", "whale",
    "dolphin", "seal", "lion", "tiger", "bear", "camel", "penguin", "crab", "ladder", "swan",
)  # fmt: skip
_pairs = {
    "thing": (tuple(word for word in subjects.OBJECTS if word not in _too_large), 3),
    "animal": (tuple(word for word in subjects.ANIMALS if word not in _too_large), 2),
    "fruit": (PLURALS, 2),
    "colour": (subjects.COLOURS, 2), "city": (subjects.CITIES, 2), "day": (DAYS, 2),
    "hour": (HOURS, 2),
}  # fmt: skip


UNSEEN = 0.4  # of the names in a scene; half as many of its things


def scene(rng: random.Random, held_out: bool = False, most: int = 6) -> Scene:
    """A scene of at least two sentences."""
    slots = rng.choice(SCENES)
    wanted = rng.randint(2, min(most, len(slots)))
    kept = [0, *sorted(rng.sample(range(1, len(slots)), wanted - 1))]
    raw = tuple(rng.choice(slots[i]) for i in kept)
    gender = rng.randrange(2)
    names = _NAMES[held_out]
    she, her, obj = PRONOUNS[gender]
    values = {"she": she, "She": sentence(she), "her": her, "obj": obj}
    values["name"] = rng.choice(names[gender])
    values["friend"] = rng.choice(names[1 - gender])
    for slot, (words, count) in _pairs.items():
        for i, word in enumerate(rng.sample(words, count)):
            values[slot + (str(i + 1) if i else "")] = word
    if not held_out:  # names and things that nobody can know by heart
        for slot in ("name", "friend"):
            if rng.random() < UNSEEN:
                values[slot] = subjects.rare_name(rng)
        for slot in ("thing", "thing2", "animal"):
            if rng.random() < UNSEEN / 2:
                values[slot] = subjects.made_up(rng)
    values["n"], values["m"] = (str(n) for n in rng.sample(range(2, 40), 2))
    return Scene(tuple(_with_articles(line, values) for line in raw), values, gender)


def _with_articles(raw: str, values: dict[str, str]) -> str:
    """`a {thing}` as `an {thing}` where the word that will stand there wants it."""
    return re.sub(
        r"\b([Aa]) (?=\{(\w+)\})",
        lambda match: match[1] + ("n " if values[match[2]][0] in "aeiou" else " "),
        raw,
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A text, what is to be done with it (`a` to be replaced by `b`, or which sentence), and what
    comes out."""

    kind: str
    text: str
    answer: str
    a: str = ""
    b: str = ""
    nth: str = ""


Maker = Callable[[random.Random, bool], Job]

SAYINGS = (
    "The quick brown fox jumps over the lazy dog.", "Hello world", "Hello, world!", "Good morning.",
    "hello", "banana", "I am a teapot.", "one two three",
    "The early bird catches the worm.", "All that glitters is not gold.", "abc", "Yes, we can.",
    "Many hands make light work.", "A stitch in time saves nine.", "Better late than never.",
    "Practice makes perfect.", "The draft guesses and the target checks.", "Time flies.", "cheese",
    "Every accepted token is a gift.", "Rome was not built in a day.", "speculative decoding",
    "The cat sat on the mat.", "She sells sea shells by the sea shore.", "Hi",
    "I like green apples.",
    "Peter Piper picked a peck of pickled peppers.", "My hovercraft is full of eels.", "Hi!",
    "I am happy.",
    "This sentence has five words.",
    "The rain falls on the plain.",
    "It was a dark and stormy night.",
    "Once upon a time there was a small model.", "The answer is 42.", "beep boop",
    "To be or not to be, that is the question.", "Hello Hello Hello",
    "red green blue",
    "Testing, testing, one, two, three.", "No draft is perfect.", "Open the door.",
    "I will not forget my homework.", "Please close the window.", "Where is the key?",
    "Who goes there?",
)  # fmt: skip


ALL_SENTENCES: list[str] = sorted(set(re.findall(r"(?<=[.] )[A-Z][a-z, ]{12,70}[.](?= |$)", TEXT)))


def _counted(rng: random.Random) -> str:
    """Things with their numbers: `4 blue cups, 2 red plates, 1 spoon`."""
    items = []
    for thing in rng.sample(subjects.OBJECTS + subjects.ANIMALS, rng.randint(2, 5)):
        number = rng.choice((1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 20, rng.randint(11, 99)))
        noun = thing if number == 1 else plural_of(thing)
        colour = f"{rng.choice(subjects.COLOURS)} " if rng.random() < 0.5 else ""
        said = number_word(number) if rng.random() < 0.15 else str(number)
        items.append(f"{said} {colour}{noun}")
    return ", ".join(items) if rng.random() < 0.7 else listed(items)


def _salad(rng: random.Random) -> str:
    """Words, names, numbers or letters without any sense."""
    way = rng.randrange(17)
    if way in (12, 13):
        things = rng.sample(subjects.FRUITS + subjects.OBJECTS, rng.randint(2, 4))
        return ", ".join([*things, *rng.choices(things, k=rng.randint(1, 3))])  # one comes again
    if way > 13:
        words = [subjects.made_up(rng) for _ in range(rng.randint(1, 6))]
        return sentence(" ".join(words)) + "." if way == 16 else " ".join(words)
    if way in (6, 7):
        return _counted(rng)
    if way in (8, 9):
        return " ".join(rng.choice(TEXT_WORDS) for _ in range(rng.randint(2, 8)))
    if way == 10:
        return ", ".join(rng.choice(TEXT_WORDS) for _ in range(rng.randint(2, 7)))
    if way == 11:
        text = " ".join(rng.choice(TEXT_WORDS) for _ in range(rng.randint(3, 9)))
        return sentence(text) + rng.choice(".!?")
    if way == 0:
        return " ".join(rng.sample(subjects.OBJECTS + subjects.ANIMALS, rng.randint(2, 8)))
    if way == 1:
        return " ".join(subjects.made_up(rng) for _ in range(rng.randint(1, 5)))
    if way == 2:
        return " ".join(str(rng.randrange(1000)) for _ in range(rng.randint(1, 8)))
    if way == 3:
        return listed(rng.sample(_women[0] + _men[0], rng.randint(2, 6)))
    if way == 4:
        letters = "abcdefghijklmnopqrstuvwxyz0123456789"
        return "".join(rng.choice(letters) for _ in range(rng.randint(3, 10)))
    return " ".join(
        rng.choice((subjects.made_up(rng), rng.choice(subjects.OBJECTS), str(rng.randrange(100))))
        for _ in range(rng.randint(3, 8))
    )


_KNOWN = tuple(
    word
    for pool in (daily.THINGS, daily.CREATURES, daily.STUFF, daily.FOOD, daily.ADJECTIVES,
                 daily.DAYS, daily.MONTHS, subjects.COLOURS, subjects.CITIES, subjects.FRUITS)
    for word in pool
)  # fmt: skip


def _item(rng: random.Random) -> str:
    """One thing of a row: a word, a number, a name, a time, a code."""
    way = rng.random()
    if way < 0.5:
        return rng.choice(_KNOWN)
    if way < 0.65:
        return str(rng.choice((rng.randrange(10), rng.randrange(100), rng.randrange(2000))))
    if way < 0.73:
        return rng.choice(daily.NAMES)
    if way < 0.79:
        return f"{rng.choice(daily.ADJECTIVES)} {rng.choice(daily.THINGS)}"
    if way < 0.84:
        return f"{rng.randint(1, 23)}:{rng.randrange(60):02}"
    if way < 0.89:
        return f"{rng.choice('ABCDEFGHKLMNPRSTXYZ')}{rng.randint(1, 99)}"
    if way < 0.93:
        return f"{rng.randint(1, 99)}.{rng.randrange(100):02}"
    return rng.choice(daily.common())


def _mixed(rng: random.Random) -> str:
    """A short row of all kinds of things with one mark between them."""
    between = rng.choice((", ",) * 7 + (" ", " ", "; ", " - ", " / ", "-", " + ", " and ", " > "))
    pool = rng.random()
    count = rng.randint(2, 6)
    if pool < 0.35:  # of one kind, with a number among them
        kind = rng.choice((subjects.COLOURS, daily.CREATURES, daily.FOOD, daily.NAMES, daily.DAYS,
                           daily.THINGS, subjects.FRUITS, daily.PLACES))  # fmt: skip
        items = list(rng.sample(kind, min(count, len(kind))))
        if rng.random() < 0.7:
            items.insert(rng.randint(0, len(items)), str(rng.randrange(100)))
    else:
        items = [_item(rng) for _ in range(count)]
    text = between.join(items)
    way = rng.random()
    if way < 0.12:
        return sentence(text) + rng.choice(".!?")
    return f"({text})" if way > 0.97 else text


# Notes as people keep them, with numbers, times and names.
NOTES = (
    "Meeting moved to {day}, {h} pm, room {n}.", "Train leaves at {h}:{m} from platform {d}.",
    "Call {name} on {day} at {h}.", "Buy {n} {fruit} and {d} {fruit2}.", "Order {n}: {d} {fruit}.",
    "Dear {name}, see you on {day}.", "{name} and {name2} meet at {h}:{m}, gate {d}.",
    "To do: {fruit}, {fruit2}, call {name}.", "{city}, {day}, {h} pm", "Room {n}, floor {d}",
    "My number is {n} {m} {n}.", "The code is {n}-{m}-{d}.", "{name} owes {name2} {n} coins.",
    "Flight {n}{m} to {city}, {day}, {h}:{m}.", "From {city} to {city2} in {d} hours.",
    "I am {name}, I am {n} years old and I live in {city}.", "{day}: {fruit}. {day2}: {fruit2}.",
)  # fmt: skip


def _note(rng: random.Random) -> str:
    values = {"n": str(rng.randint(10, 99)), "m": str(rng.randint(10, 59))}
    values |= {"h": str(rng.randint(1, 12)), "d": str(rng.randint(2, 9))}
    for slot, words in (
        ("day", DAYS), ("fruit", PLURALS), ("city", subjects.CITIES), ("name", _women[0] + _men[0]),
    ):  # fmt: skip
        values[slot], values[f"{slot}2"] = rng.sample(words, 2)
    return rng.choice(NOTES).format_map(values)


# Single sentences with names (n, m, l), places (p), things (w, v) and adjectives (a) of all kinds.
LINES = (
    "{n} lives in {p}.", "My friend {n} has a {w}.", "{n} and {m} went to {p} by train.",
    "The {w} is under the {v}.", "Do not forget the {w}, {n}!", "Where did {n} put the {w}?",
    "Please tell {n} that the {w} is {a}.", "In {p} everybody knows {n} {l}.",
    "Is {n} still in {p}?", "{n} {l} was born in {p}.", "I met {n} {l} at the {w}.",
    "Dr {l} comes back on {d}.", "A {a} {w} sat on a {a} {v}.",
    "{n} sold a {w} to {m} for {k} coins.", "My name is {n} {l}.",
    "{n}, {m} and {o} play with a {w}.", "The {a} {w} belongs to {n}.", "I never saw a {w} in {p}.",
    "{n} loves {m}, but {m} loves a {w}.", "{m} asked {n} for a {a} {w}.",
    "No {w} is as {a} as a {v}.", "On {d} the {w} was {a} again.",
    "{n} wrote to {m} about the {w}.", "Call {n} at {k} in {p}.", "Who gave {n} the {a} {w}?",
    "From {p} to {q} it is {k} miles.", "{w} {v} {w}", "{n} {m} {o}", "{n}", "{n} {l}", "{w}",
    "{p}, {q} and {n}", "The {w} said hello to the {v}.", "hello {n}", "hi {n}, how is {p}?",
    "Good night, {n}!", "{n} is {a}, and {m} is not.", "I am {n} from {p}.",
    "The cat of {n} is called {m}.", "{w}, {v}, {w}, {n}", "A {w} a day keeps the {v} away.",
    "There is a {w} in my {v}.", "{n} has {k} {a} dogs.", "Today {n} learned the word {w}.",
)  # fmt: skip
PLACE_ENDS = ("", "", "ville", "burg", "ton", "ford", "ia", " City", " Bay", "stad")


def _line(rng: random.Random, form: str = "") -> str:
    """One sentence (of this form), mostly with words and names that were never seen before."""

    def word() -> str:
        way = rng.random()
        pool = subjects.OBJECTS + subjects.ANIMALS if way < 0.75 else TEXT_WORDS
        return subjects.made_up(rng) if way < 0.5 else rng.choice(pool)

    def name() -> str:
        return subjects.rare_name(rng) if rng.random() < 0.75 else rng.choice(_women[0] + _men[0])

    def place() -> str:
        if rng.random() < 0.4:
            return rng.choice(subjects.CITIES)
        return subjects.made_up(rng).capitalize() + rng.choice(PLACE_ENDS)

    last = subjects.made_up(rng).capitalize()
    values = {"n": name(), "m": name(), "o": name(), "w": word(), "v": word(), "p": place()}
    values |= {"q": place(), "k": str(rng.randint(2, 99)), "d": rng.choice(DAYS)}
    values |= {"l": last if rng.random() < 0.6 else rng.choice(subjects.LAST_NAMES)}
    values |= {"a": rng.choice(_PLAIN["a"] if rng.random() < 0.7 else subjects.COLOURS)}
    text = (form or rng.choice(LINES)).format_map(values)
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


def _anything(rng: random.Random, held_out: bool) -> str:
    """A text of any kind to be copied."""
    way = rng.random()
    if rng.random() < 0.55 and not held_out:
        return rng.choice((_line, daily.line, daily.text, daily.note, daily.line, _mixed))(rng)
    if way < 0.18:
        return scene(rng, held_out, 3).text(rng.random() < 0.6, rng.random() < 0.4)
    if way < 0.28:
        return _short(rng, held_out)
    if way < 0.36:
        return _note(rng)
    if way < 0.62:
        return _salad(rng)
    if way < 0.66:
        return rng.choice(SAYINGS)
    if way < 0.76:
        return rng.choice(ALL_SENTENCES)
    if way < 0.82:
        return unknown.question(rng)[0]
    if way < 0.87:
        return unknown.question(rng)[1]
    if way < 0.93:
        return rng.choice(rng.choice(manners.TOPICS).answers)
    return rng.choice(rng.choice(manners.TOPICS).questions)


def _repeat(rng: random.Random, held_out: bool) -> Job:
    text = _anything(rng, held_out)
    return Job("repeat", text, text)


def _nth(rng: random.Random, held_out: bool) -> Job:
    sentences = scene(rng, held_out).sentences(rng.random() < 0.6)
    at = rng.randrange(len(sentences))
    nth = "last" if at == len(sentences) - 1 and rng.random() < 0.7 else ORDINALS[at]
    return Job("nth", " ".join(sentences), sentences[at], nth=nth)


def whole_words(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", new, text)


def _one_word(rng: random.Random) -> Job:
    """One word of a single sentence, whatever it is, for any other."""
    while True:
        text = rng.choice((_line, daily.line, daily.text, daily.text))(rng)
        olds = re.findall(r"\b[a-z]{3,}\b", text)
        new = subjects.made_up(rng) if rng.random() < 0.3 else rng.choice(daily.common())
        olds = [w for w in olds if (w[0] in "aeiou") == (new[0] in "aeiou") and w != new]
        if olds:
            old = rng.choice(olds)
            return Job("word", text, whole_words(text, old, new), old, new)


# Slots of notes of which one may be changed for another of the same kind.
SWAPPED = "DDDMCetpcNa"


def _one_slot(rng: random.Random) -> Job:
    """A day, a town or a thing in some sentences for another of its kind: wherever it stands."""
    while True:
        slot = rng.choice(SWAPPED)
        pool = daily.NAMES if slot == "N" else daily.POOLS[slot]
        old, new = rng.sample(pool, 2)
        if (old[0] in "aeiou") != (new[0] in "aeiou"):
            continue
        forms = [form for form in daily.NEWS if f"{{{slot}}}" in form]
        parts = [daily.filled(rng, rng.choice(forms).replace(f"{{{slot}}}", old, 1))]
        if rng.random() < 0.3:
            parts.append(daily.filled(rng, rng.choice(forms).replace(f"{{{slot}}}", old, 1)))
        parts += [daily.line(rng) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
        rng.shuffle(parts)
        text = " ".join(parts)
        if re.search(rf"\b{old}\b", text) and not re.search(rf"\b{new}\b", text):
            return Job("word", text, whole_words(text, old, new), old, new)


def _one_name(rng: random.Random) -> Job:
    """A name of a single sentence for another one."""
    while True:
        text = rng.choice([line for line in LINES if "{n}" in line and line != "{n}"])
        old, new = subjects.rare_name(rng), rng.choice(_women[0] + _men[0])
        if rng.random() < 0.3:
            old, new = new, old
        elif rng.random() < 0.8:
            new = subjects.rare_name(rng)
        text = _line(rng, text.replace("{n}", old))
        if old != new and len(re.findall(rf"\b{old}\b", text)) == 1:
            return Job("name", text, whole_words(text, old, new), old, new)


def _word(rng: random.Random, held_out: bool) -> Job:
    if rng.random() < 0.8 and not held_out:
        return _one_slot(rng) if rng.random() < 0.55 else _one_word(rng)
    for _ in range(20):
        drawn = scene(rng, held_out)
        text = drawn.text(rng.random() < 0.6, rng.random() < 0.4)
        if drawn.nouns:
            old = rng.choice(drawn.nouns)
            pool = list(subjects.ANIMALS if old in subjects.ANIMALS else subjects.OBJECTS)
            if not held_out and rng.random() < UNSEEN:
                pool = [subjects.made_up(rng) for _ in range(3)]
            vowel = old[0] in "aeiou"
            fitting = [w for w in pool if (w[0] in "aeiou") == vowel and w not in text]
            if fitting and re.search(rf"\b{old}\b", text):
                new = rng.choice(fitting)
                return Job("word", text, whole_words(text, old, new), old, new)
    return _name(rng, held_out)


def _name(rng: random.Random, held_out: bool) -> Job:
    if rng.random() < 0.4 and not held_out:
        return _one_name(rng)
    drawn = scene(rng, held_out)
    text = drawn.text(rng.random() < 0.6, rng.random() < 0.4)
    which, gender = ("name", drawn.gender)
    if re.search(rf"\b{drawn.values['friend']}\b", text) and rng.random() < 0.3:
        which, gender = ("friend", 1 - drawn.gender)
    elif not re.search(r"\b(she|he|her|his|him)\b", text, re.IGNORECASE):
        gender = rng.randrange(2)
    old = drawn.values[which]
    new = rng.choice([name for name in _NAMES[held_out][gender] if name not in text] or ["Robin"])
    if not held_out and rng.random() < UNSEEN:
        new = subjects.rare_name(rng)
    return Job("name", text, whole_words(text, old, new), old, new)


def _short(rng: random.Random, held_out: bool) -> str:
    """One sentence, or a few words."""
    if rng.random() < 0.6 and not held_out:
        return rng.choice((_line, daily.line, daily.note, _mixed))(rng)
    way = rng.random()
    if way < 0.6:
        return rng.choice(scene(rng, held_out).sentences(rng.random() < 0.6, rng.random() < 0.4))
    if way < 0.8:
        return rng.choice(SAYINGS)
    return _salad(rng)


# A word in capitals is other tokens, so its spelling must be learned: these are few and common.
PLAIN = {
    "n": "dog cat fox cow pig bird fish house door key car bus train boat tree book cup hat ball "
         "box bread milk egg apple cake tea sun moon star sea rain snow wind fire water road town "
         "room table game song name word time day night man woman girl boy child friend king",
    "a": "red blue green black white big small old new good bad happy sad hot cold fast slow long "
         "short high low late early nice kind dark loud quiet ready hungry tired free",
    "v": "open close find take bring see call help love like need want eat buy read write make",
    "t": "at noon|today|tomorrow|now|soon|at night|on Monday|on Friday|on Sunday|at six|later",
}  # fmt: skip
_PLAIN = {key: value.split("|" if key == "t" else " ") for key, value in PLAIN.items()}
CALLS = (
    "see you {t}", "meet me {t}", "i am {a}", "we are {a}", "you are {a}", "the {n} is {a}",
    "{v} the {n}", "please {v} the {n}", "do not {v} the {n}", "where is the {n}", "my {n} is {a}",
    "i {v} the {n}", "we {v} the {n} {t}", "the {a} {n}", "{a} {n}", "a {n} and a {m}", "{n}",
    "hello {n}", "good morning", "good night", "thank you", "hello world", "happy birthday",
    "come here", "be quiet", "no way", "yes please", "this is my {n}", "your {n} is here",
    "the {n} and the {m}", "call me {t}", "what a {a} {n}", "how are you {t}", "it is {a} {t}",
    "i have a {a} {n}", "the {n} has a {m}", "go to the {n} {t}", "{n} {m}", "it is time to go",
)  # fmt: skip


def _call(rng: random.Random) -> str:
    """A few common words."""
    n, m = rng.sample(_PLAIN["n"], 2)
    a, v, t = (rng.choice(_PLAIN[key]) for key in "avt")
    text = rng.choice(CALLS).format(n=n, m=m, a=a, v=v, t=t)
    text = re.sub(r"\ba (?=[aeiou])", "an ", text)
    way = rng.random()
    if way < 0.3:
        text = sentence(text) + rng.choice((".", ".", "!", ""))
    return text.replace("i am", "I am").replace("i have", "I have") if way < 0.45 else text


def _upper(rng: random.Random, held_out: bool) -> Job:
    way = rng.random()
    text = _call(rng) if way < 0.3 else _short(rng, held_out)
    if way > 0.55 and not held_out:
        text = daily.note(rng) if way < 0.85 else daily.line(rng)
    return Job("upper", text, text.upper())


def _lower(rng: random.Random, held_out: bool) -> Job:
    text = _call(rng) if rng.random() < 0.4 else _short(rng, held_out)
    text = text.upper() if rng.random() < 0.7 else text
    return Job("lower", text, text.lower())


def _stop(rng: random.Random, held_out: bool) -> Job:
    text = rng.choice(scene(rng, held_out).sentences(rng.random() < 0.6))
    return Job("stop", text.rstrip("."), text)


def _correct(rng: random.Random, held_out: bool) -> Job:
    text = rng.choice(scene(rng, held_out).sentences(rng.random() < 0.6))
    if rng.random() < 0.5 and not held_out:
        while not (text := daily.line(rng)).endswith(".") or "." in text[:-1]:
            pass
    return Job("correct", text[0].lower() + text[1:].rstrip("."), text)


# What somebody does and to what, for sentences with a wrong verb: regular or in IRREGULAR.
ACTS = (
    "go to school", "go to the market", "buy a new coat", "eat an apple", "walk to the park",
    "take the bus", "find a coin", "write a letter", "read a book", "play football", "sleep well",
    "work in the garden", "see a film", "bring a cake", "clean the kitchen", "cook the dinner",
    "drink a cup of tea", "run home", "sell the car", "lose the key", "call the doctor",
    "open the window", "break a plate", "wear a red hat", "watch the birds", "help a friend",
    "come home late", "have a cold", "meet an old friend", "give me a book", "say hello",
    "draw a house", "win the game", "forget the bag", "visit the museum", "paint the door",
)  # fmt: skip
ACTORS = ("he", "she", "my brother", "my sister", "the dog", "our teacher", "my friend", "Tom")
PAST, NOW = ("yesterday", "last week", "last night"), ("every day", "every morning", "on Sundays")


def _did(rng: random.Random) -> Job:
    """One sentence of what somebody does, and the same of what somebody did."""
    who = rng.choice((*ACTORS, "I", "we", "they", "you"))
    who = subjects.rare_name(rng) if rng.random() < 0.5 else who
    many = who in ("I", "we", "they", "you")
    verb, _, rest = rng.choice(ACTS).partition(" ")
    if rng.random() < 0.5:
        verb, rest = (
            rng.choice(("see", "find", "buy", "open", "like", "take", "bring", "keep")),
            (_line(rng, rng.choice(("the {w}", "a {a} {w}", "a {w} in {p}", "the {w} of {n}")))),
        )
    now, then = (
        f"{sentence(who)} {conjugated(verb, past, many)} {rest}." for past in (False, True)
    )
    return Job("past", now, then) if now != then else _did(rng)


def _done(rng: random.Random) -> Job:
    """One or two sentences of what somebody does, with one to three verbs each."""
    said = [daily.actions(rng) for _ in range(rng.choice((1, 1, 1, 2)))]
    now, then = (" ".join(pair[past] for pair in said) for past in (False, True))
    return Job("past", now, then) if now != then else _done(rng)


# Of one and of several: what is often said wrong, and how it is right. {l}: likes and dislikes.
MISTAKES = (
    ("dont {l} {xs}", "doesn't {l} {xs}", "don't {l} {xs}"),
    ("don't {l} {xs}", "doesn't {l} {xs}", "don't {l} {xs}"),
    ("dont {l} no {xs}", "doesn't {l} any {xs}", "don't {l} any {xs}"),
    ("dont have no {xs}", "doesn't have any {xs}", "don't have any {xs}"),
    ("not {l} {xs}", "doesn't {l} {xs}", "don't {l} {xs}"),
    ("has got no {xs}", "has no {xs}", "have no {xs}"),
    ("be in {p}", "is in {p}", "are in {p}"),
    ("were in {p}", "was in {p}", "were in {p}"),
    ("was in {p}", "was in {p}", "were in {p}"),
    ("have {t} {x}", "has {t} {x}", "have {t} {x}"),
    ("has {t} {x}", "has {t} {x}", "have {t} {x}"),
    ("want buy {t} {x}", "wants to buy {t} {x}", "want to buy {t} {x}"),
    ("can to see the {x}", "can see the {x}", "can see the {x}"),
    ("is more bigger then {n}", "is bigger than {n}", "are bigger than {n}"),
    ("are happy today", "is happy today", "are happy today"),
    ("is going to {p} yesterday", "went to {p} yesterday", "went to {p} yesterday"),
    ("didn't went to {p}", "didn't go to {p}", "didn't go to {p}"),
    ("didnt saw the {x}", "didn't see the {x}", "didn't see the {x}"),
)


def _mistaken(rng: random.Random) -> Job:
    """A sentence with a mistake as learners of English make it."""
    who = rng.choice((*ACTORS, "he", "she", "we", "they", "you"))
    who = subjects.rare_name(rng) if rng.random() < 0.3 else who
    number = 2 if who in ("we", "they", "you") else 1
    forms = rng.choice(MISTAKES)
    if forms[0] == forms[number]:
        return _mistaken(rng)
    thing = rng.choice(subjects.OBJECTS + subjects.ANIMALS)
    thing = subjects.made_up(rng) if rng.random() < 0.3 else thing
    values = {
        "l": rng.choice(("like", "like", "want", "need", "eat", "know")), "x": thing,
        "xs": plural_of(thing), "t": with_article(thing).partition(" ")[0], "p": _line(rng, "{p}"),
        "n": _line(rng, "{n}"),
    }  # fmt: skip
    wrong, right = (forms[at].format_map(values) for at in (0, number))
    end = rng.choice(("", "", "."))
    said = who if rng.random() < 0.6 else sentence(who)
    return Job("grammar", f"{said} {wrong}{end}", f"{sentence(who)} {right}.")


# Ends of a sentence with a mistake, and how they are right: for now, and for what is past.
ENDS_NOW = (
    ("every weeks", "every week"), ("each days", "each day"), ("all the days", "every day"),
    ("every mornings", "every morning"), ("in every week", "every week"),
    ("on every Monday's", "every Monday"), ("at the morning", "in the morning"),
    ("in the night", "at night"), ("at Sundays", "on Sundays"), ("two time a week", "twice a week"),
    ("three time a day", "three times a day"), ("with two sister", "with two sisters"),
    ("with many peoples", "with many people"), ("by the evenings", "in the evenings"),
    ("every years", "every year"), ("with three friend", "with three friends"),
)  # fmt: skip
ENDS_PAST = (
    ("yesterdays", "yesterday"), ("in last week", "last week"), ("before two days", "two days ago"),
    ("since two days ago", "two days ago"), ("at the last Monday", "last Monday"),
    ("two week ago", "two weeks ago"), ("three day ago", "three days ago"),
    ("on last night", "last night"),
    ("at Sunday", "on Sunday"), ("in the last year", "last year"), ("a hour ago", "an hour ago"),
    ("in Monday", "on Monday"),
)  # fmt: skip


def _two_mistakes(rng: random.Random) -> Job:
    """A sentence with a verb in the wrong form and a second mistake at its end."""
    verb, _, rest = rng.choice(ACTS).partition(" ")
    past = rng.random() < 0.4
    who = rng.choice((*ACTORS, *ACTORS, "I", "we", "they"))
    who = subjects.rare_name(rng) if rng.random() < 0.25 else who
    many = who in ("I", "we", "they")
    right = conjugated(verb, past, many)
    wrong = conjugated(verb, False, not many)
    wrong_end, end = rng.choice(ENDS_PAST if past else ENDS_NOW)
    if wrong == right:
        return _two_mistakes(rng)
    said = who if rng.random() < 0.6 else sentence(who)
    stop = rng.choice(("", "", "."))
    wrong_rest = rest
    if rng.random() < 0.3 and rest.startswith(("a ", "an ")):
        article, _, noun = rest.partition(" ")
        wrong_rest = f"{'a' if article == 'an' else 'an'} {noun}"
    return Job(
        "grammar",
        f"{said} {wrong} {wrong_rest} {wrong_end}{stop}",
        f"{sentence(who)} {right} {rest} {end}.",
    )


def _grammar(rng: random.Random, held_out: bool) -> Job:
    """A sentence with a mistake, mostly a verb in the wrong form."""
    if rng.random() < 0.4:
        return _two_mistakes(rng)
    if rng.random() < 0.5:
        return _mistaken(rng)
    verb, _, rest = rng.choice(ACTS).partition(" ")
    past = rng.random() < 0.6
    who, when = rng.choice((*ACTORS, "I", "we", "they")), rng.choice(PAST if past else NOW)
    many = who in ("I", "we", "they")
    right = conjugated(verb, past, many)
    forms = {verb, conjugated(verb, False, False), conjugated(verb, True, many)} - {right}
    wrong = rng.choice(sorted(forms))
    if wrong == right:
        return _grammar(rng, held_out)
    text = f"{who} {wrong} {rest} {when}"
    return Job("grammar", text, f"{sentence(who)} {right} {rest} {when}.")


# Commands: to be made polite.
COMMANDS = (
    "give me the {w}", "give me a {w}", "bring me the {a} {w}", "bring {n} a {w}", "close the door",
    "open the {w}", "close the {w}", "pass the {w}", "call {n}", "call me back", "wait for {n}",
    "come here", "sit down", "be quiet", "stop it", "wait here", "help me", "help {n} with the {w}",
    "send me the {w}", "send the {w} to {n}", "tell me your name", "tell {n} about the {w}",
    "show me the {w}", "show {n} the way to {p}", "clean the {w}", "find my {w}", "repair the {w}",
    "write to {n}", "answer me", "turn off the {w}", "turn on the light", "move the {w}", "go away",
    "take the {w} to {p}", "come to {p} on {d}", "buy a {a} {w} for {n}", "speak slowly",
    "lend me your {w}", "make me a {w}", "send me the report", "fix this by {d}", "let {n} in",
    "put the {w} on the {v}", "read this", "explain this", "pay for the {w}", "feed the {w}",
    "give {n} the keys", "do it again", "hurry up", "tell {n} to come", "leave the {w} alone",
)  # fmt: skip


# Demands and blunt questions, and what is asked for.
DEMANDS = (
    ("I want the {x}", "give me the {x}"), ("I want a {x}", "give me a {x}"),
    ("I need the {x} now", "give me the {x} now"), ("I want my {x} back", "give me my {x} back"),
    ("Where is the {x}", "tell me where the {x} is"),
    ("Where is my {x}", "tell me where my {x} is"),
    ("I want to see the {x}", "show me the {x}"), ("You must help me", "help me"),
    ("What is your name", "tell me your name"),
    ("Why is the {x} {a}", "tell me why the {x} is {a}"),
    ("Who took my {x}", "tell me who took my {x}"), ("When is the {e}", "tell me when the {e} is"),
    ("You have to clean the {p}", "clean the {p}"), ("You must call {N}", "call {N}"),
    ("The {x} is too loud, turn it off", "turn off the {x}, because it is too loud"),
    ("I want to talk to {N}", "let me talk to {N}"),
    ("I want to know the price", "tell me the price"),
)  # fmt: skip


def _demand(rng: random.Random) -> Job:
    """A demand or a blunt question, and a polite request for the same."""
    blunt, request = rng.choice(DEMANDS)
    values = {slot: daily.filled(rng, f"{{{slot}}}") for slot in "aepN"}
    thing = "{t}" if "{a}" in blunt else rng.choice(("{t}", "{a} {t}"))
    values["x"] = daily.filled(rng, thing)
    blunt, request = (
        re.sub(r"\ba (?=[aeiou])", "an ", form.format_map(values)) for form in (blunt, request)
    )
    end = "?" if blunt.startswith("Wh") else rng.choice((".", "!", "."))
    return Job("polite", blunt + end, f"Could you please {request}?")


def _polite(rng: random.Random, held_out: bool) -> Job:
    if rng.random() < 0.2 and not held_out:
        return _demand(rng)
    text = _line(rng, rng.choice(COMMANDS)) if rng.random() < 0.5 else daily.command(rng)
    command = sentence(text) + rng.choice((".", ".", "!")) if rng.random() < 0.7 else text
    return Job("polite", command, f"Could you please {text}?")


# Words that say nothing, before and behind a sentence.
BEFORE = (
    "I just wanted to tell you that", "I think that", "It is a fact that", "As you may know,",
    "To be honest,", "I would like to say that", "What I mean is that", "The thing is that",
    "If you ask me,", "Let me tell you that", "In my opinion,", "I am writing to tell you that",
    "It is important to know that", "As far as I can see,", "I have to say that", "Well, you know,",
)  # fmt: skip
BEHIND = (
    ", if you ask me", ", as far as I know", ", you know", ", to be honest",
    ", and that is how it is", ", as I have said before", ", as everybody knows",
    ", and that is all that I wanted to say",
)  # fmt: skip


def _tighten(rng: random.Random, held_out: bool) -> Job:
    """A sentence with words that say nothing, and without them."""
    while not (core := _line(rng)).endswith(".") or not re.match("[A-Z]", core) or " " not in core:
        pass
    first = core.split()[0]
    small = core if first not in ("The", "A", "An", "My", "On", "In", "No") else (
        core[0].lower() + core[1:]
    )  # fmt: skip
    if core.split()[0] in ("Please", "Do", "Call", "From", "Today", "There"):
        return _tighten(rng, held_out)
    before, behind = rng.choice(BEFORE), rng.choice(BEHIND)
    way = rng.random()
    text = f"{before} {small}" if way < 0.75 else core
    if way > 0.45:
        text = text[:-1] + behind + "."
    return Job("tighten", text, core)


# Sentences with words that are often taken for another: `right/wrong`.
CONFUSED = (
    "There/Their are too/to many {f} in the {p}.",
    "There/Their is a {c} in the {p}.",
    "You're/Your welcome, {N}.",
    "It's/Its too/to late for the {e}.",
    "They're/There in the {p}.",
    "I know that you're/your from {C}.",
    "The {t} is bigger than/then the {t}.",
    "Their/There {t} is {a}.",
    "Their/They're {c} likes {f}.",
    "It's/Its raining in {C}.",
    "I want to go, too/to.",
    "{N} is taller than/then {N}.",
    "Where/Were is the {t}?",
    "We were/where in {C} in {M}.",
    "Who's/Whose at the door?",
    "Whose/Who's {t} is this?",
    "The {c} lost its/it's {t}.",
    "There/They're are {n} {t}s in the {p}.",
    "You're/Your too/to late.",
    "I don't want to lose/loose my {t}.",
    "She gave me some good advice/advise.",
    "I can hear/here the {c}.",
    "Come here/hear, {N}.",
    "The {e} is next week/weak.",
    "There/Their were/where {n} people in the {p}.",
    "I would like a piece/peace of {f}.",
    "It's/Its the best {p} in {C}.",
    "We're/Were going to {C} on {D}.",
    "I knew/new it.",
    "There/Their are two {c}s in the {p}.",
    "The {p} is quite/quiet {a}.",
    "You're/Your {a}.",
    "I threw/through the {t} away.",
    "Can you buy/by {f}?",
    "I have to write/right to {N}.",
    "The {c} ate the whole/hole cake.",
    "Did you know/now that {N} is here/hear?",
)
MISSPELLED = {
    entry.split()[0]: entry.split(" ", 1)[1]
    for row in read_sections(FORMS / "misspelled.txt")["misspelled"]
    for entry in row.split("; ")
}
WRITTEN = (
    "I received the package yesterday.", "My friend is coming tomorrow.",
    "I believe it is separate.", "The weather is really beautiful.", "Their house is beautiful.",
    "Which letter have you received?", "I have an important question.",
    "We should write the letter tomorrow.", "It is definitely weird.",
    "The library is closed until Wednesday.", "Their birthday is in February.",
    "I would always have breakfast with {n}.", "It was a really interesting story.",
    "{n} has a different address.", "This sentence is different.", "I thought it was enough money.",
    "The computer is in the library.", "That was a surprise for {n} and their friends.",
    "People always forget the beginning.", "I was tired because it was late.",
    "Wait a minute, which question is it?", "{n} is writing a story.", "Is a calendar necessary?",
    "The restaurant is really different.", "My neighbour has a new business.",
    "I usually have a sandwich with vegetables.", "What happened in {p} yesterday?",
    "The school is coming to {p} tomorrow.", "{n} finally received an answer.",
    "My favourite language is important for school.", "There is a problem with the grammar.",
    "I would write the answer tomorrow.", "A piece of money is necessary.",
    "It happened in February.", "I have received the letter and the money.",
    "She should have the answer until Wednesday.", "We have breakfast with friends every morning.",
    "Their computer is different from the other.",
)  # fmt: skip


def _confused(rng: random.Random) -> tuple[str, str]:
    """A sentence with the right word, and with the one that it is taken for."""
    form = daily.filled(rng, rng.choice(CONFUSED))
    return re.sub(r"([\w']+)/[\w']+", r"\1", form), re.sub(r"[\w']+/([\w']+)", r"\1", form)


@cache
def _known() -> frozenset[str]:
    return frozenset(daily.common()) | frozenset(MISSPELLED)


def misspell(rng: random.Random, text: str, right: str = "") -> str:
    """`text` with one to four of its words spelled wrong, as many people do or by a slip. If it is
    wrong already, only words that are `right` are taken."""
    known = _known()
    words = list(re.findall(r"(?<!['-])\b[A-Za-z]{3,}\b(?!['-])", text))
    words = [w for w in words if not right or re.search(rf"\b{w}\b", right)]
    fit = {w for w in words if w in MISSPELLED or (w.islower() and len(w) > 4 and w in known)}
    for word in rng.sample(sorted(fit), min(len(fit), rng.choice((1, 1, 2, 2, 3, 4)))):
        wrong = slipped(rng, word)
        if word in MISSPELLED and rng.random() < 0.75:
            wrong = rng.choice(MISSPELLED[word].split())
        if wrong not in known:
            text = whole_words(text, word, wrong)
    return text


def _misspelled(rng: random.Random) -> Job:
    """A sentence with some of its words spelled as many people do."""
    way = rng.random()
    if way < 0.35:
        right, wrong = _confused(rng)
    else:
        right = _line(rng, rng.choice(WRITTEN)) if way < 0.6 else daily.text(rng, 2)
        wrong = right
    wrong = misspell(rng, wrong, right) if way > 0.35 or rng.random() < 0.5 else wrong
    if wrong == right:
        return _misspelled(rng)
    if rng.random() < 0.5:
        wrong = wrong[0].lower() + wrong[1:].rstrip(".")
    return Job("spelling", wrong, right)


def _mistakes(rng: random.Random, held_out: bool) -> Job:
    """What learners of English write, mostly with some words spelled wrong as well."""
    first = _grammar(rng, held_out)
    text, answer = first.text, first.answer
    if rng.random() < 0.4:
        second = _grammar(rng, held_out)
        after = second.answer
        if after.split()[0].lower() in SMALL:
            after = after[0].lower() + after[1:]
        text = f"{text.rstrip('.')} and {second.text[0].lower()}{second.text[1:]}"
        answer = f"{answer.rstrip('.')} and {after}"
    return Job("mistakes", misspell(rng, text) if rng.random() < 0.8 else text, answer)


SMALL = ("he", "she", "we", "they", "you", "my", "the", "our")


def _spelling(rng: random.Random, held_out: bool) -> Job:
    if rng.random() < 0.85 and not held_out:
        return _misspelled(rng)
    right = scene(rng, held_out, most=3).text(rng.random() < 0.6)
    places = [
        m.start() + i
        for m in re.finditer(r"\b[a-z]{5,}\b", right)
        for i in range(1, len(m[0]) - 2)
        if m[0][i] != m[0][i + 1]
    ]
    if not places:
        return _spelling(rng, held_out)
    at = rng.choice(places)
    wrong = right[:at] + right[at + 1] + right[at] + right[at + 2 :]
    return Job("spelling", wrong, right)


def _things(rng: random.Random, held_out: bool) -> list[str]:
    """Three to seven things for a list."""
    pools = (
        subjects.FRUITS, subjects.OBJECTS, subjects.ANIMALS, subjects.COLOURS,
        subjects.CITIES, _NAMES[held_out][0] + _NAMES[held_out][1],
    )  # fmt: skip
    if rng.random() < 0.15:
        return scene(rng, held_out, most=4).sentences()
    if rng.random() < 0.4 and not held_out:
        pool = rng.choice((daily.THINGS, daily.CREATURES, daily.PLACES, daily.FOOD, daily.common()))
        return rng.sample(pool, rng.randint(3, 7))
    return rng.sample(rng.choice(pools), rng.randint(3, 7))


def _number(rng: random.Random, held_out: bool) -> Job:
    things = _things(rng, held_out)
    numbered = (f"{i}. {thing}" for i, thing in enumerate(things, 1))
    return Job("number", "\n".join(things), "\n".join(numbered))


def _bullets(rng: random.Random, held_out: bool) -> Job:
    things = _things(rng, held_out)
    return Job("bullets", "\n".join(things), "\n".join(f"- {thing}" for thing in things))


def _lines(rng: random.Random, held_out: bool) -> Job:
    things = _things(rng, held_out)
    while any(" " in thing for thing in things):
        things = _things(rng, held_out)
    text = ", ".join(things) if rng.random() < 0.5 else listed(things)
    return Job("lines", text, "\n".join(things))


def _row(rng: random.Random, held_out: bool) -> Job:
    job = _lines(rng, held_out)
    return Job("row", job.answer, ", ".join(job.answer.split("\n")))


def _past(rng: random.Random, held_out: bool) -> Job:
    if rng.random() < 0.75 and not held_out:
        return _did(rng) if rng.random() < 0.3 else _done(rng)
    drawn = scene(rng, held_out, most=rng.choice((2, 3, 4)))
    digits = rng.random() < 0.3
    return Job("past", drawn.text(False, digits), drawn.text(True, digits))


def _present(rng: random.Random, held_out: bool) -> Job:
    job = _past(rng, held_out)
    return Job("present", job.answer, job.text)


def _shorten(rng: random.Random, held_out: bool) -> Job:
    sentences = scene(rng, held_out).sentences(rng.random() < 0.6)
    return Job("shorten", " ".join(sentences), sentences[0])


def _drop(rng: random.Random, held_out: bool) -> Job:
    sentences = scene(rng, held_out).sentences(rng.random() < 0.6)
    return Job("drop", " ".join(sentences), " ".join(sentences[:-1]))


def _about(rng: random.Random, held_out: bool) -> Job:
    for _ in range(20):
        drawn = scene(rng, held_out)
        sentences = drawn.sentences(rng.random() < 0.6)
        for noun in rng.sample(drawn.nouns, len(drawn.nouns)):
            found = [text for text in sentences if re.search(rf"\b{noun}\b", text)]
            if len(found) == 1:
                return Job("about", " ".join(sentences), found[0], noun)
    return _shorten(rng, held_out)


def _words(rng: random.Random, held_out: bool) -> Job:
    for _ in range(20):
        drawn = scene(rng, held_out)
        past = rng.random() < 0.6
        text = drawn.text(past, digits=True)
        if re.search(r"\d", text):
            return Job("words", text, drawn.text(past))
    numbers = [rng.randrange(100) for _ in range(rng.randint(2, 5))]
    return Job("words", listed(map(str, numbers)), listed(map(number_word, numbers)))


def _turn(rng: random.Random, held_out: bool) -> Job:
    """Words in the opposite order."""
    things = [thing for thing in _things(rng, held_out) if " " not in thing][:5]
    if len(things) < 2:
        return _turn(rng, held_out)
    sign = rng.choice((" ", " ", ", "))
    return Job("turn", sign.join(things), sign.join(reversed(things)))


def _quotes(rng: random.Random, held_out: bool) -> Job:
    text = _short(rng, held_out)
    return Job("quotes", text, f'"{text}"')


def _twice(rng: random.Random, held_out: bool) -> Job:
    text = _short(rng, held_out)
    return Job("twice", text, f"{text}\n{text}")


def _three(rng: random.Random, held_out: bool) -> Job:
    text = _short(rng, held_out)
    return Job("three", text, f"{text}\n{text}\n{text}")


# Functions with names to fill in: F the function, A, B and C its variables.
FUNCTIONS = (
    "def F(A, B):\n    return A + B",
    "def F(A, B):\n    return A * B - B",
    "def F(A):\n    return A * A",
    "def F(A):\n    B = A * 2\n    return B + 1",
    "def F(A, B):\n    if A > B:\n        return A\n    return B",
    "def F(A):\n    B = 0\n    for C in A:\n        B += C\n    return B",
    "def F(A):\n    B = []\n    for C in A:\n        B.append(C * 2)\n    return B",
    "def F(A, B):\n    for C in A:\n        if C == B:\n            return True\n    return False",
    "def F(A):\n    if A % 2 == 0:\n        return True\n    return False",
    "def F(A):\n    B = 1\n    for C in range(1, A + 1):\n        B = B * C\n    return B",
    "def F(A):\n    return A[::-1]",
    'def F(A):\n    print("Hello, " + A)\n    return len(A)',
    "def F(A):\n    while A > 10:\n        A = A - 10\n    return A",
    "def F(A, B, C):\n    return (A + B + C) / 3",
    "def F(A):\n    return [B for B in A if B > 0]",
    "def F(A):\n    B = 0\n    while A > 0:\n        B += A\n        A -= 1\n    return B",
)
FUNCTION_NAMES = (
    "add", "compute", "work", "check", "total", "double", "count", "find", "change", "convert",
    "largest", "average", "measure", "step", "score", "update", "collect", "helper",
)  # fmt: skip
VARIABLES = (
    "a", "b", "x", "y", "n", "value", "number", "item", "items", "result", "total_sum", "text",
    "word", "numbers", "price", "size", "width", "height", "speed", "left", "right", "first",
    "second", "limit", "start", "end", "name", "data", "token", "tokens", "length", "amount",
)  # fmt: skip


def _function(rng: random.Random, fenced: bool) -> tuple[str, list[str]]:
    names = rng.sample(VARIABLES, 4)
    fill = {"A": names[0], "B": names[1], "C": names[2], "F": rng.choice(FUNCTION_NAMES)}
    body = re.sub(r"\b[ABCF]\b", lambda match: fill[match[0]], rng.choice(FUNCTIONS))
    used = [name for name in names[:3] if re.search(rf"\b{name}\b", body)]
    return f"```python\n{body}\n```" if fenced else body, [rng.choice(used), names[3]]


def _rename(rng: random.Random, held_out: bool) -> Job:
    code, (old, new) = _function(rng, True)
    return Job("rename", code, whole_words(code, old, new), old, new)


def _code(rng: random.Random, held_out: bool) -> Job:
    code, _ = _function(rng, True)
    return Job("code", code, code)


MAKERS: dict[str, tuple[Maker, int]] = {
    "repeat": (_repeat, 80), "nth": (_nth, 6), "word": (_word, 30), "name": (_name, 13),
    "polite": (_polite, 10), "tighten": (_tighten, 6),
    "upper": (_upper, 32), "lower": (_lower, 7), "stop": (_stop, 2), "correct": (_correct, 4),
    "grammar": (_grammar, 14),
    "spelling": (_spelling, 30), "mistakes": (_mistakes, 7),
    "number": (_number, 3), "bullets": (_bullets, 3),
    "lines": (_lines, 2), "row": (_row, 2), "past": (_past, 20), "present": (_present, 3),
    "shorten": (_shorten, 5), "drop": (_drop, 2), "about": (_about, 6), "words": (_words, 3),
    "quotes": (_quotes, 3), "turn": (_turn, 5),
    "twice": (_twice, 2), "three": (_three, 2), "rename": (_rename, 5),
    "code": (_code, 4),
}  # fmt: skip
KINDS, WEIGHTS = list(MAKERS), [weight for _, weight in MAKERS.values()]
ASKED = {topic.name: topic for topic in read_topics(FORMS / "copying.txt")}
_SLOT = re.compile(r"\{(\w+)\}")
AGAIN = (
    "Say that again.", "Once more, please.", "Repeat that.", "Again!", "Repeat your answer.",
    "Say it again.", "Please repeat that.", "What did you say?", "Copy your last answer.",
    "The same again, please.", "Can you repeat that?", "I did not get that. Say it again.",
)  # fmt: skip
AGAIN_KEPT = ("Could you say that again?", "Write that once more.")


def asked(rng: random.Random, job: Job, held_out: bool = False) -> str:
    """The request for a job, as somebody may type it: the text itself stays as it is."""
    topic = ASKED[job.kind]
    form = rng.choice(topic.reserved if held_out else topic.questions).replace("\\n", "\n")
    form = alternative(rng, form)
    way = rng.random()
    if not form.startswith(("{", '"')):
        if way < 0.15:
            form = form[0].lower() + form[1:]
        elif way < 0.2 and job.kind not in ("nth", "about", "name", "shorten"):
            form = f"Please {form[0].lower()}{form[1:]}".replace("Please please", "Please")
    if form.endswith((": {text}", "? {text}")) and rng.random() < 0.3:
        form = form[: -len(" {text}")] + rng.choice(("\n", "\n\n")) + "{text}"
    if form.endswith((": {text}", ":\n{text}")) and "\n" not in job.text and rng.random() < 0.12:
        form = form[: -len("{text}")] + '"{text}"'
    values = {"text": job.text, "a": job.a, "b": job.b, "nth": job.nth}
    return _SLOT.sub(lambda match: values[match[1]], form)


def answered(job: Job) -> str:
    return ASKED[job.kind].answers[0].replace("{answer}", job.answer)


def job(rng: random.Random, kind: str, held_out: bool = False) -> Job:
    """Something to do, of `kind` where a text allows it."""
    return MAKERS[kind][0](rng, held_out)


# What is asked about an answer, by what is then done with it.
AFTER: dict[str, tuple[str, ...]] = {
    "again": (
        "[say|write|repeat|type] [that|it] again[ please|, please|]",
        "[once more|one more time][ please|]",
        "[again|repeat that|again please|one more time|and again]",
        "[what did you say|what|pardon]",
        "can you [repeat|say] that[ again|]",
        "could you repeat that[ again|]",
        "the same again",
    ),
    "upper": (
        "[again|and again|now|now the same|the same|and now|same|and|] in [capitals|capital "
        "letters|"
        "upper case|all caps|big letters]",
        "[say|write|put|give me] [that|it] in [capitals|capital letters|upper case|all caps]",
        "[capitals|all caps|upper case][ please|, please|]",
        "[can|could] you [write|put] [that|it] in [capitals|capital letters]",
        "[now|and] [louder|shout it]",
        "make it [upper case|all capitals]",
    ),
    "lower": (
        "[again|now|and|the same|] in [small letters|lower case|lowercase]",
        "without capital letters",
        "[write|say|put] [that|it] in [small letters|lower case]",
        "[lower case|small letters] please",
    ),
    "back": (
        "[and|and now|now|] [backwards|in reverse|in reverse order|the other way round|reversed]",
        "[say|write] [that|it] [backwards|in reverse|in the opposite order]",
        "reverse [it|that|them]",
        "[now|and] from [the end|back to front|the last to the first]",
        "turn [it|that] around",
        "[can|could] you [reverse it|say it backwards]",
        "[backwards|reverse][ please|]",
    ),
    "first": (
        "[now|and|] [only|just] the first {n}",
        "[give me|say|write] [only|just] the first {n}",
        "the first {n}[ please| only|]",
        "[keep|i want] only the first {n}",
        "[only|just] the first {n} of [them|these|it]",
    ),
    "last": (
        "[now|and|] only the last {n}",
        "[give me|say] the last {n}",
        "the last {n}[ please| only|]",
        "just the last {n} of [them|these|it]",
    ),
    "twice": (
        "[now|and|] [twice|two times]",
        "[say|write] [that|it] [twice|two times]",
        "two times please",
    ),
    "three": (
        "[now|and|] [three times|3 times]",
        "[say|write] [that|it] [three times|3 times]",
        "three times please",
    ),
    "quotes": (
        "[now|and|] in [quotes|quotation marks]",
        "put [quotes|quotation marks] around it",
        "with quotation marks",
    ),
    "exchange": (
        "[now|and|and now|ok, now] [replace|exchange] {a} [with|by|for] {b}",
        "[now|and|and now|ok, now] with {b} instead of {a}",
        "{b} instead of {a}",
        "[now|and] change {a} to {b}",
        "make it {b} instead of {a}",
        "no, {b}, not {a}",
    ),
    "casual": (
        "[a bit|a little|] less formal[ please|]",
        "[a bit|a little|] [more casual|shorter|simpler]",
        "[not so formal|less stiff|more relaxed|too formal|too stiff]",
        "for a friend",
        "[make|say] [it|that] [less formal|more casual|a bit shorter|a bit less formal]",
        "[now|and] [less formal|more casual]",
    ),
    "formal": (
        "[a bit|a little|] [more formal|more polite|politer][ please|]",
        "[even|still] [politer|more polite]",
        "[make|say] [it|that] [more formal|even more polite]",
        "[now|and] for my boss",
        "very polite please",
        "[not polite enough|for a letter|for an email]",
    ),
    "brief": (
        "[shorter|even shorter|very short][ please|]",
        "in [three|a few] words",
        "as short as possible",
        "[make|say] [it|that] shorter",
        "too long",
    ),
}
NUMBERS = {1: ("one", "1"), 2: ("two", "2"), 3: ("three", "3"), 4: ("four", "4")}


def after(rng: random.Random, way: str, **words: str) -> str:
    """What is typed to have that done with the last answer, mostly in small letters."""
    form = alternative(rng, rng.choice(AFTER[way]))
    text = " ".join(_SLOT.sub(lambda match: words[match[1]], form).split())
    if rng.random() < 0.35:
        text = sentence(text) + rng.choice((".", ".", "!", "?" if way == "back" else ""))
    return text


def items_of(text: str) -> tuple[list[str], str]:
    """What a text is a row of, and what stands between: lines, things behind commas, or words."""
    for between in ("\n", ", ", " "):
        if between in text:
            return text.split(between), between
    return [text], " "


def _some(rng: random.Random, text: str, way: str) -> tuple[str, str]:
    """The first or the last few of a row, and how many they are."""
    items, between = items_of(text)
    n = rng.randint(1, min(4, len(items) - 1))
    kept = items[:n] if way == "first" else items[-n:]
    said = rng.choice(NUMBERS[n])
    if between == " ":
        said += " word" if n == 1 else " words"
    return said, between.join(kept)


def _ask_polite(rng: random.Random, way: str, answer: str) -> str:
    """A polite request in other words."""
    bare = answer.removeprefix("Could you please ").removesuffix("?")
    if way == "casual":
        return f"Can you {bare}, please?"
    return f"{sentence(bare)}, please." if way == "brief" else f"Would you be so kind as to {bare}?"


def follow(rng: random.Random, kind: str, answer: str) -> tuple[str, str]:
    """Something that is then asked about an answer, and what comes out."""
    row = kind in ("turn", "lines", "row") or (kind == "repeat" and ", " in answer)
    ways = ["again", "again"]
    if kind == "polite":
        ways = ["casual", "casual", "casual", "formal", "formal", "brief", "again"]
    elif kind not in ("rename", "code"):
        if len(answer) < 160:
            ways += ["lower"] if answer.isupper() else ["upper", "upper", "upper"]
        if len(answer) < 90 and "\n" not in answer:
            ways += ["twice", "three", "quotes"]
        if row:
            ways += ["back", "back", "first", "first", "first", "last"]
        elif kind in ("number", "bullets"):
            ways += ["first", "first", "first", "again"]
        elif re.fullmatch(r"[A-Za-z]+( [A-Za-z]+){1,6}", answer):
            ways += ["back", "first"]
        if re.search(r"\b[a-z]{4,}\b", answer):
            ways += ["exchange", "exchange"]
    way = rng.choice(ways)
    if way in ("casual", "formal", "brief"):
        return after(rng, way), _ask_polite(rng, way, answer)
    if way in ("first", "last") and len(items_of(answer)[0]) > 1:
        n, kept = _some(rng, answer, way)
        return after(rng, way, n=n), kept
    if way == "exchange":
        old = rng.choice(re.findall(r"\b[a-z]{4,}\b", answer))
        fit = [
            w for w in rng.sample(daily.common(), 40) if (w[0] in "aeiou") == (old[0] in "aeiou")
        ]
        new = next(w for w in [*fit, "xylophone", "engine"] if w not in answer)
        return after(rng, way, a=old, b=new), whole_words(answer, old, new)
    items, between = items_of(answer)
    done = {
        "upper": answer.upper(), "lower": answer.lower(), "twice": f"{answer}\n{answer}",
        "three": f"{answer}\n{answer}\n{answer}", "quotes": f'"{answer}"',
        "back": between.join(reversed(items)),
    }  # fmt: skip
    return after(rng, way if way in done else "again"), done.get(way, answer)


FOLLOWED = 0.2  # of the conversations go on about the answer; of polite requests half


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    kept_names = held_out and rng.random() < 0.5
    todo = job(rng, rng.choices(KINDS, WEIGHTS)[0], kept_names)
    turns = [asked(rng, todo, held_out), answered(todo)]
    way = rng.random()
    if way < 0.04:
        turns += [rng.choice(AGAIN_KEPT if held_out else AGAIN), answered(todo)]
    elif way < 0.1:
        other = job(rng, rng.choices(KINDS, WEIGHTS)[0], kept_names)
        turns += [asked(rng, other, held_out), answered(other)]
    elif not held_out:
        likely = 0.5 if todo.kind == "polite" else FOLLOWED
        while rng.random() < likely and len(turns) < 8:
            turns += follow(
                rng, "" if len(turns) > 2 and todo.kind == "polite" else todo.kind, turns[-1]
            )
            likely = 0.35
    return chat(*turns)
