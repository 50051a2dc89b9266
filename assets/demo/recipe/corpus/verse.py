"""Rhymed poems, haiku, limericks, songs, riddles, jokes, tongue twisters and proverbs.

Poems are made of couplets (`story_data/poems.txt`) that fit together by theme: one that may open,
some for the middle, one that may close. For other themes there are couplets that fit anything that
is an "it" (`open_poems.txt`). Haiku are made of lines of five, seven and five syllables.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path
from zlib import crc32

from assets.demo.recipe.corpus.text import (
    Conversation,
    as_typed,
    chat,
    early,
    favourite,
    mostly_first,
    sentence,
    with_article,
)

DATA = Path(__file__).parent / "story_data"
RESERVED_ONE_IN = 30
KINDS = (
    ("poem", 34), ("anypoem", 6), ("haiku", 12), ("anyhaiku", 3), ("limerick", 8),
    ("anylimerick", 3), ("song", 7), ("riddle", 10), ("fullriddle", 3), ("riddleabout", 4),
    ("joke", 15), ("twister", 4), ("proverb", 7), ("anyproverb", 3),
)  # fmt: skip
KIND_NAMES = tuple(kind for kind, _ in KINDS)
KIND_WEIGHTS = tuple(weight for _, weight in KINDS)
# What may stand before "poem", and how many lines it asks for (0: four or eight).
SIZES = (
    ("", 0), ("", 0), ("", 0), ("", 0), ("short ", 4), ("short ", 4), ("little ", 4), ("long ", 8),
    ("four-line ", 4), ("rhymed ", 0), ("nice ", 0), ("longer ", 8),
)  # fmt: skip
# One-syllable creatures for limericks, where "cat" must fit as well as "king".
CREATURES = (
    "cat", "dog", "goat", "bear", "fox", "mouse", "pig", "sheep", "frog", "hen", "duck", "horse",
    "cow", "king", "queen", "girl", "boy", "knight", "cook", "ghost", "elf", "witch", "owl",
    "snail", "wolf", "bee", "crab", "toad", "swan", "hare", "moose", "seal", "troll", "gnome",
)  # fmt: skip
SHE = frozenset(("hen", "cow", "queen", "girl", "witch"))
HE = frozenset(("king", "boy", "knight"))
REFRAINS = (
    ("La la la and tra la lay,", "sing it night and sing it day!"),
    ("Hey ho, hey ho, sing along,", "everybody knows this song!"),
    ("Sing it high and sing it low,", "sing it everywhere you go!"),
    ("Clap your hands and turn around,", "let us make a happy sound!"),
    ("Oh hey diddle, diddle dee,", "come along and sing with me!"),
    ("One and two and three and four,", "sing it to me just once more!"),
)

Couplet = tuple[str, str]


@cache
def asks(section: str, reserved: bool) -> tuple[str, ...]:
    """The trained or the reserved wordings of a kind of request."""
    lines = _sections("asks_verse.txt")[section]
    return tuple(x.removeprefix("! ") for x in lines if x.startswith("! ") == reserved)


@cache
def _sections(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections[line.strip("[] ")] = current = []
        elif line.strip() and not line.startswith("# "):
            current.append(line.rstrip())
    return sections


@cache
def _rows(name: str) -> tuple[tuple[str, ...], ...]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return tuple(
        tuple(text.strip() for text in line.split(" | "))
        for line in lines
        if line.strip() and not line.startswith("# ")
    )


@cache
def _couplets(theme: str) -> dict[str, tuple[Couplet, ...]]:
    """The couplets of a theme by place: "o", "m" and "c"."""
    found: dict[str, list[Couplet]] = {"o": [], "m": [], "c": []}
    lines = _sections("poems.txt").get(theme) or _sections("open_poems.txt")["couplets"]
    for line in lines:
        first, _, second = line[3:].replace("{t}", theme).partition(" / ")
        found[line[0]].append((first, second))
    return {place: tuple(couplets) for place, couplets in found.items()}


def _drawn(rng: random.Random, text: str) -> str:
    return re.sub(r"\[([^\]]*)\]", lambda m: mostly_first(rng, m[1].split("|")), text)


def _verse(rng: random.Random, couplets: list[Couplet]) -> list[str]:
    return [sentence(_drawn(rng, line)) for couplet in couplets for line in couplet]


def poem(rng: random.Random, theme: str, lines: int = 0) -> str:
    """A poem of four or eight lines about `theme`."""
    parts = _couplets(theme)
    lines = lines or (4 if rng.random() < 0.55 else 8)
    middle = mostly_first(rng, parts["m"])
    others = [couplet for couplet in parts["m"] if couplet != middle]
    opening, closing = mostly_first(rng, parts["o"]), mostly_first(rng, parts["c"])
    if lines == 4:
        # Either end may be left out for a middle: an opening always stays.
        last = closing if rng.random() < 0.8 else middle
        return "\n".join(_verse(rng, [opening, last]))
    text = _verse(rng, [opening, middle, mostly_first(rng, others), closing])
    return "\n".join(text[:4]) + "\n\n" + "\n".join(text[4:])


def song(rng: random.Random, theme: str) -> str:
    """Two couplets with a refrain after each."""
    parts = _couplets(theme)
    refrain = "\n".join(favourite(rng, REFRAINS, theme))
    first = "\n".join(_verse(rng, [mostly_first(rng, parts["o"])]))
    second = "\n".join(_verse(rng, [mostly_first(rng, (*parts["c"], *parts["m"]))]))
    return f"{first}\n{refrain}\n\n{second}\n{refrain}"


def haiku(rng: random.Random, theme: str) -> str:
    """Five, seven and five syllables about `theme`."""
    lines = _sections("haiku.txt")[theme]
    first, second, third = (
        mostly_first(rng, [line[3:] for line in lines if line[0] == place]) for place in "abc"
    )
    return f"{first},\n{second}.\n{sentence(third)}."


def limerick(rng: random.Random, creature: str) -> str:
    """A limerick about a one-syllable creature."""
    text = favourite(rng, _sections_of_limericks(), creature)
    she = creature in SHE or (creature not in HE and favourite(rng, (True, False), creature))
    pronouns = ("she", "her", "her", "herself") if she else ("he", "him", "his", "himself")
    text = text.replace("a {n}", with_article(creature))
    words = dict(zip(("n", "he", "him", "his", "himself"), (creature, *pronouns), strict=True))
    text = re.sub(r"\{(\w+)\}", lambda m: words[m[1]], text)
    return "\n".join(sentence(line) for line in text.split(" / "))


@cache
def _sections_of_limericks() -> tuple[str, ...]:
    return tuple(row[0] for row in _rows("limericks.txt"))


def _reserved(*parts: str) -> bool:
    return crc32("/".join(parts).encode()) % RESERVED_ONE_IN == 0


def _answered(answer: str) -> str:
    return f"The answer is: {answer}."


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for something in verse or something funny, and what was asked for."""
    while True:
        reserved_wording = held_out and rng.random() < 0.05
        kind = rng.choices(KIND_NAMES, KIND_WEIGHTS)[0]
        turns, key = _made(rng, kind, reserved_wording)
        if held_out == (reserved_wording or (bool(key) and _reserved(key))):
            return chat(*turns)


def _made(rng: random.Random, kind: str, held_out: bool) -> tuple[list[str], str]:
    """A conversation of this kind, and the combination in it that may be reserved."""
    question = rng.choice(asks(kind, held_out))
    if kind in ("poem", "anypoem", "song"):
        return _poem_talk(rng, kind, question, held_out)
    if kind in ("haiku", "anyhaiku"):
        theme = rng.choice(tuple(_sections("haiku.txt")))
        turns = [as_typed(rng, question.replace("{theme}", theme)), haiku(rng, theme)]
        if rng.random() < 0.12:
            again = rng.choice(asks("again", held_out)).replace("{theme}", theme)
            turns += [as_typed(rng, again), haiku(rng, theme)]
        return turns, f"haiku/{theme}/{question}" if kind == "haiku" else ""
    if kind in ("limerick", "anylimerick"):
        creature = rng.choice(CREATURES)
        asked = question.replace("{x}", with_article(creature))
        key = f"limerick/{creature}/{question}" if kind == "limerick" else ""
        return [as_typed(rng, asked), limerick(rng, creature)], key
    if kind in ("riddle", "fullriddle", "riddleabout"):
        return _riddle_talk(rng, kind, question, held_out)
    if kind == "joke":
        return _joke_talk(rng, question, held_out), ""
    if kind == "twister":
        return [as_typed(rng, question), early(rng, _rows("twisters.txt"))[0]], ""
    proverb, meaning, example = rng.choice(_rows("proverbs.txt"))
    said = f'"{proverb}" means that {meaning}. An example: {example}'
    if kind == "proverb":
        written = proverb if rng.random() < 0.7 else proverb[0].lower() + proverb[1:]
        return [as_typed(rng, question.replace("{p}", written)), said], f"{proverb}/{question}"
    return [as_typed(rng, question), f"{proverb}. This means that {meaning}."], ""


def _poem_talk(
    rng: random.Random, kind: str, question: str, held_out: bool
) -> tuple[list[str], str]:
    theme = rng.choice(tuple(_sections("poems.txt")))
    if kind == "poem" and rng.random() < 0.25:
        theme = rng.choice(_sections("open_poems.txt")["themes"])
    size, lines = rng.choice(SIZES)
    key = "" if kind == "anypoem" else f"{kind}/{theme}/{question}"
    asked = question.replace("{size}", size).replace("{theme}", theme)
    if "{size}" not in question:
        lines = 0
    elif rng.random() < 0.12:
        lines = rng.choice((4, 8))
        number = "four" if lines == 4 else "eight"
        asked = question.replace("{size}", "").replace("{theme}", theme)
        asked = f"{asked.rstrip('.?! ')} in {number} lines{asked[-1] if asked[-1] in '.?' else ''}"
        asked = asked.replace(", please in", " in")
    made = song(rng, theme) if kind == "song" else poem(rng, theme, lines)
    turns = [_typed(rng, asked, theme), made]
    if rng.random() < 0.15:
        way = rng.random()
        if way < 0.6 and kind != "song":
            again = rng.choice(asks("again", held_out)).replace("{theme}", theme)
            other = poem(rng, theme, lines)
            while other == made:
                other = poem(rng, theme, lines)
            turns += [_typed(rng, again, theme), other]
        elif way < 0.8 and kind != "song":
            question = rng.choice(asks("about", held_out))
            turns += [as_typed(rng, question), f"The poem is about {theme}."]
        else:
            question = rng.choice(asks("thanks", held_out))
            turns += [as_typed(rng, question), f"Thank you! I liked writing about {theme}."]
    return turns, key


def _typed(rng: random.Random, text: str, keep: str) -> str:
    """`text` as typed, without a slip in its theme."""
    typed = as_typed(rng, text)
    keep = keep.lower()
    return text if keep in text.lower() and keep not in typed.lower() else typed


def _riddle_talk(
    rng: random.Random, kind: str, question: str, held_out: bool
) -> tuple[list[str], str]:
    riddles = _rows("riddles.txt")
    text, answer = early(rng, riddles)
    asked = f"{text} What am I?"
    if kind == "fullriddle":
        return [as_typed(rng, question), f"{asked} {_answered(answer)}"], ""
    if kind == "riddleabout":
        word = answer.split(" ", 1)[-1] if answer.split()[0] in ("a", "an", "the") else answer
        wanted = question.replace("{answer}", answer).replace("{word}", f'"{word}"')
        said = f"{asked} {_answered(answer)}"
        return [_typed(rng, wanted, word), said], f"{answer}/{question}"
    turns = [as_typed(rng, question), asked]
    if rng.random() < 0.65:
        way = rng.random()
        if way < 0.4:
            turns += [as_typed(rng, rng.choice(asks("giveup", held_out))), _answered(answer)]
        else:
            right = way < 0.75
            guess = answer if right else rng.choice(riddles)[1]
            right = guess == answer
            wording = rng.choice(asks("guess", held_out))
            typed = wording.replace("{answer}", guess).replace("{Answer}", sentence(guess))
            said = f"Yes, that is right! {_answered(answer)}"
            if not right:
                said = f"No, it is not {guess}. {_answered(answer)}"
            turns += [_typed(rng, typed, guess), said]
        if rng.random() < 0.3:
            other = rng.choice(riddles)
            while other[0] == text:
                other = rng.choice(riddles)
            more = rng.choice(asks("moreriddle", held_out))
            turns += [as_typed(rng, more), f"{other[0]} What am I?"]
    return turns, ""


def _joke_talk(rng: random.Random, question: str, held_out: bool) -> list[str]:
    count = 1 if rng.random() < 0.7 else 2 if rng.random() < 0.8 else 3
    turns = []
    told: list[str] = []
    while len(told) < count:
        setup, punch = early(rng, _rows("jokes.txt"))
        if setup in told:
            continue
        told.append(setup)
        asked = rng.choice(asks("morejoke", held_out)) if len(told) > 1 else question
        turns += [as_typed(rng, asked), f"{setup} {punch}"]
    return turns
