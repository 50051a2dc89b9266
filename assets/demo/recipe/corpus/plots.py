"""The plots of stories: how they are written, and the words that fill them.

A plot (`story_data/plots_*.txt`) is a header and, after a line `>>`, a row of beats. A beat is a
block of lines, each of them another way of telling it; a first line `+` keeps the beat for middle
and long stories, `++` for long ones. In a line, `[a|b]` is a choice and `{key}` is filled in:

* `{H}` the hero's name, `{hero}` what the hero is, `{a hero}` the same with a trait and an article,
  `{he} {him} {his} {himself}` the pronouns; `{F}`, `{friend}`, `{a friend}`, `{fhe} {fhim} {fhis}`
  for the second character.
* `{where}`, `{along}`, `{spot}` come from the place; `{walked}`, `{walking}` are swimming under
  water.
* `event: yes` says that the short form tells of one day, `seasonless: yes` that the plot speaks of
  the seasons itself, `asked: yes` that it is told only to those who want it, `friend: old` what
  the second character is like.
* `let name: a ~ b | c ~ d` in the header draws one entry; its fields are `{name}`, `{name2}`, ...,
  and `{a_name}` is the first with an article.
* `slot name: list` draws an object of a word list: `{a name}` is "a silver key", `{name}` is "key".

A key with a capital gives its value a capital. What a plot drew once stays the same to its end,
so what was lost at the start is what is found, and questions about the story have an answer.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from assets.demo.recipe.corpus import subjects
from assets.demo.recipe.corpus.text import mostly_first, read_sections, sentence

DATA = Path(__file__).parent / "story_data"
LAND = ("child", "adult", "animal", "fantasy", "thing")

Part = str | tuple[str, ...] | list["Template"]
Template = list[Part]
Context = dict[str, str]


def compile_template(text: str) -> Template:
    """`text` as a list of plain strings, keys (in a 1-tuple) and choices (a list of templates)."""
    parts: Template = []
    for piece in re.split(r"(\[[^\]]*\]|\{[^}]*\})", text):
        if piece.startswith("["):
            parts.append([compile_template(option) for option in piece[1:-1].split("|")])
        elif piece.startswith("{"):
            parts.append((piece[1:-1],))
        elif piece:
            parts.append(piece)
    return parts


def render(template: Template, context: Context, rng: random.Random) -> str:
    """The text of `template`, its choices drawn and its keys looked up."""
    out: list[str] = []
    for part in template:
        if isinstance(part, str):
            out.append(part)
        elif isinstance(part, tuple):
            key = part[0]
            value = context.get(key)
            out.append(sentence(context[key[:1].lower() + key[1:]]) if value is None else value)
        else:
            out.append(render(mostly_first(rng, part), context, rng))
    return "".join(out)


@dataclass(slots=True)
class Beat:
    """One step of a plot: how important it is (0: always told), and the ways of telling it."""

    level: int
    forms: list[Template]
    names_friend: list[bool]
    presents_friend: list[bool]


@dataclass(slots=True)
class Plot:
    """A story skeleton, read from a file."""

    name: str
    titles: list[Template] = field(default_factory=list)
    themes: tuple[str, ...] = ()
    moods: tuple[str, ...] = ()
    kinds: tuple[str, ...] = LAND
    places: tuple[str, ...] = ()
    seasons: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    friend_traits: tuple[str, ...] = ()
    seasonless: bool = False
    event: bool = False
    asked: bool = False
    slots: dict[str, str] = field(default_factory=dict)
    lets: dict[str, list[list[Template]]] = field(default_factory=dict)
    water: bool = False
    morals: list[Template] = field(default_factory=list)
    about: Template = field(default_factory=list)
    shorts: list[Template] = field(default_factory=list)
    clauses: list[Template] = field(default_factory=list)  # what a request says of its heroes
    asks: list[tuple[Template, Template]] = field(default_factory=list)
    beats: list[Beat] = field(default_factory=list)

    @property
    def has_friend(self) -> bool:
        return any(beat.level == 0 and any(beat.presents_friend) for beat in self.beats)


def read_plot(block: str) -> Plot:
    """A plot of a file, from its name to its last beat."""
    head, _, body = block.partition("\n>>\n")
    name, *lines = head.splitlines()
    plot = Plot(name.strip())
    for line in lines:
        key, _, value = (text.strip() for text in line.partition(":"))
        words = tuple(value.replace(",", " ").split())
        if key == "title":
            plot.titles = [compile_template(text.strip()) for text in value.split("|")]
        elif key == "themes":
            plot.themes = tuple(text.strip() for text in value.split(","))
        elif key in ("moods", "kinds", "places", "seasons", "traits"):
            setattr(plot, key, words)
        elif key == "water":
            plot.water = True
        elif key in ("seasonless", "event", "asked"):
            setattr(plot, key, True)
        elif key == "friend":
            plot.friend_traits = words
        elif key == "moral":
            plot.morals = [compile_template(text.strip()) for text in value.split("|")]
        elif key == "about":
            plot.about = compile_template(value)
        elif key == "short":
            plot.shorts.append(compile_template(value))
        elif key == "ask":
            question, _, answer = value.partition(" => ")
            plot.asks.append((compile_template(question), compile_template(answer)))
        elif key == "clause":
            plot.clauses = [compile_template(text.strip()) for text in value.split(" | ") if text]
        elif key.startswith("slot "):
            plot.slots[key[5:]] = value
        elif key.startswith("let "):
            plot.lets[key[4:]] = [
                [compile_template(text.strip()) for text in entry.split(" ~ ")]
                for entry in value.split(" | ")
            ]
        else:
            raise ValueError(f"plot {plot.name}: {line!r}")
    for text in re.split(r"\n\s*\n", body.strip()):
        forms = [form.strip() for form in text.splitlines()]
        level = len(forms[0]) if set(forms[0]) == {"+"} else 0
        forms = forms[1:] if level else forms
        plot.beats.append(
            Beat(
                level,
                [compile_template(form) for form in forms],
                ["{F}" in form for form in forms],
                ["{a friend}" in form for form in forms],
            )
        )
    return plot


@cache
def plots() -> tuple[Plot, ...]:
    """All plots."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(DATA.glob("plots_*.txt"))]
    return tuple(
        read_plot(block)
        for text in texts
        for block in re.split(r"^# ", text, flags=re.MULTILINE)[1:]
    )


# --- the words that fill them --------------------------------------------------------------------


@cache
def words() -> dict[str, list[str]]:
    """The word lists of `story_data/words.txt` by name."""
    return read_sections(DATA / "words.txt")


@cache
def heroes() -> dict[str, tuple[str, str]]:
    """Every hero with its kind and its fixed pronoun (empty: either)."""
    found = {}
    for kind in (*LAND, "sea", "still", "sky"):
        for line in words()[kind]:
            noun, _, pronoun = (text.strip() for text in line.partition("|"))
            found[noun] = (kind, pronoun)
    return found


@cache
def hero_nouns(*kinds: str) -> tuple[str, ...]:
    """The heroes of these kinds."""
    return tuple(noun for noun, (kind, _) in heroes().items() if kind in kinds)


@cache
def place_rows() -> tuple[tuple[str, ...], ...]:
    """Places: topic, in, where, along, spots, tag."""
    return tuple(tuple(x.strip() for x in line.split("|")) for line in words()["places"])


@cache
def theme_names() -> tuple[str, ...]:
    """Everything a story may be about by theme."""
    return tuple(sorted({theme for plot in plots() for theme in plot.themes}))


FIRST_NAMES = {"she": subjects.WOMEN, "he": subjects.MEN}
ONSETS = ("b", "br", "d", "f", "k", "l", "m", "n", "p", "r", "t", "tr", "v", "w", "z")
VOWELS = ("a", "e", "i", "o")
MIDDLES = ("l", "m", "n", "r", "v")
ENDS = ("n", "l", "ko", "la", "mi", "ra", "na", "ri", "ly", "ny", "ra", "lo", "vin", "rik")


def asked_name(rng: random.Random, pronoun: str) -> str:
    """A name that a request wants for a hero: a known one, or one never heard before."""
    way = rng.random()
    if way < 0.25:
        name = rng.choice(ONSETS) + rng.choice(VOWELS)
        if rng.random() < 0.4:
            name += rng.choice(MIDDLES) + rng.choice(VOWELS)
        return sentence(name + rng.choice(ENDS))
    if way < 0.6:
        return rng.choice(FIRST_NAMES[pronoun])
    return rng.choice(words()[pronoun])


def known_pronoun(name: str) -> str:
    """`he` or `she` for a listed name, else empty."""
    for pronoun in ("she", "he"):
        if name in words()[pronoun] or name in FIRST_NAMES[pronoun]:
            return pronoun
    return ""
