"""Short stories put together from plots whose later sentences follow from the earlier ones.

A plot (`story_data/plots_*.txt`) is a header and, after a line `>>`, a row of beats. A beat is a
block of lines, each of them another way of telling it; a first line `+` keeps the beat for middle
and long stories, `++` for long ones. In a line, `[a|b]` is a choice and `{key}` is filled in:

* `{H}` the hero's name, `{hero}` what the hero is, `{a hero}` the same with a trait and an article,
  `{he} {him} {his} {himself}` the pronouns; `{F}`, `{friend}`, `{a friend}`, `{fhe} {fhim} {fhis}`
  for the second character.
* `{where}`, `{along}`, `{spot}` come from the place; `{walked}`, `{walking}` are swimming under
  water.
* `event: yes` says that the short form tells of one day, `seasonless: yes` that the plot speaks of
  the seasons itself, `friend: old` what the second character is like.
* `let name: a ~ b | c ~ d` in the header draws one entry; its fields are `{name}`, `{name2}`, ...,
  and `{a_name}` is the first with an article.
* `slot name: list` draws an object of a word list: `{a name}` is "a silver key", `{name}` is "key".

A key with a capital gives its value a capital. What a plot drew once stays the same to its end,
so what was lost at the start is what is found, and questions about the story have an answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zlib import crc32

from assets.demo.recipe.corpus import subjects
from assets.demo.recipe.corpus.text import (
    Conversation,
    T,
    as_typed,
    chat,
    early,
    favourite,
    mostly_first,
    sentence,
)

DATA = Path(__file__).parent / "story_data"
RESERVED_ONE_IN = 50
LAND = ("child", "adult", "animal", "fantasy", "thing")
SEASONS = ("spring", "summer", "autumn", "winter")
PHRASES = (
    "Once upon a time", "Long ago", "Many years ago", "A long time ago", "Once", "There once was",
    "Once there was", "In a land far away", "Long, long ago", "Not so long ago", "In the old days",
    "Not far from here",
)  # fmt: skip
BARE = (
    "Once upon a time", "Once upon a time", "Once upon a time there was", "Long ago",
    "Once upon a time, there was a", "There once was a", "Once there was a", "A long time ago",
    "Once upon a time in a land far away", "Many years ago",
)  # fmt: skip
WATER = {"walked": "swam", "walking": "swimming", "walk": "swim", "ran": "swam", "run": "swim"}
PRONOUNS = {"he": ("he", "him", "his", "himself"), "she": ("she", "her", "her", "herself")}
SMALL_WORDS = frozenset(("a", "an", "and", "the", "of", "in", "on", "at", "to", "for", "with"))
# Plots that may as well happen on a train or in a library.
ANYWHERE = frozenset((
    "lost-treasure", "found-object", "dark", "new-friend", "quarrel", "sleepless", "surprise",
    "lose", "fear", "learn", "dream", "visit",
))  # fmt: skip
EXOTIC = frozenset(("the desert", "the jungle", "the snow"))
# What may stand before "story" in a request, and what it stands for.
WAYS = (
    ("", ""), ("", ""), ("", ""), ("", ""), ("", ""), ("", ""), ("short ", "short"),
    ("short ", "short"), ("short ", "short"), ("little ", "short"), ("nice ", ""), ("good ", ""),
    ("long ", "long"), ("bedtime ", "bedtime"), ("funny ", "funny"),
)  # fmt: skip

VOWEL_SOUND = re.compile(r"(?!uni|use|one)[aeiou]|honest|hour", re.IGNORECASE)

Part = str | tuple[str, ...] | list["Template"]
Template = list[Part]
Context = dict[str, str]


def article(noun: str) -> str:
    """`a dog`, `an owl`, `a unicorn`, `an honest man`."""
    return f"{'an' if VOWEL_SOUND.match(noun) else 'a'} {noun}"


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
        elif key in ("seasonless", "event"):
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


def _sections(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections[line.strip("[] ")] = current = []
        elif line.strip() and not line.startswith("# "):
            current.append(line.rstrip())
    return sections


@cache
def words() -> dict[str, list[str]]:
    """The word lists of `story_data/words.txt` by name."""
    return _sections("words.txt")


@cache
def asks(section: str, reserved: bool) -> tuple[str, ...]:
    """The trained or the reserved wordings of a kind of request."""
    lines = _sections("asks.txt")[section]
    return tuple(x.removeprefix("! ") for x in lines if x.startswith("! ") == reserved)


@cache
def clauses() -> dict[str, list[Template]]:
    """What a request may want to happen, by the name of the plot."""
    by_plot = _sections("wishes.txt")
    return {name: [compile_template(line) for line in lines] for name, lines in by_plot.items()}


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


@cache
def _habits() -> tuple[Template, ...]:
    return tuple(compile_template(line) for line in words()["habits"])


@cache
def _sleep_lines() -> tuple[Template, ...]:
    return tuple(compile_template(line) for line in words()["sleep"])


@dataclass(slots=True)
class Wish:
    """What a request asks for. Empty fields are free."""

    hero: str = ""
    trait: str = ""
    name: str = ""
    friend: str = ""
    friend_name: str = ""
    place: tuple[str, ...] = ()
    season: str = ""
    theme: str = ""
    mood: str = ""
    thing: str = ""
    plot: str = ""
    clause: Template = field(default_factory=list)  # what shall happen, in the words of the request
    length: str = ""
    phrase: str = ""
    moral: bool = False
    title: bool = False
    goes_on: bool = False


@dataclass(slots=True)
class Story:
    """A finished story with what later questions need."""

    text: str
    plot: Plot
    context: Context


@cache
def _plots_for(
    kind: str, place_tag: str, season: str, theme: str, mood: str, trait: str, thing: str,
    friend: bool, wanted: str,
) -> tuple[Plot, ...]:  # fmt: skip
    known = {trait for plot in plots() for trait in plot.traits}
    return tuple(
        plot
        for plot in plots()
        if (plot.water if kind == "sea" else kind in plot.kinds)
        and (not place_tag or not plot.places or place_tag in plot.places)
        and (place_tag != "asked" or plot.name in ANYWHERE)
        and (not season or not plot.seasons or season in plot.seasons)
        and (not theme or theme in plot.themes)
        and (not mood or mood in plot.moods)
        and (not trait or trait not in known or trait in plot.traits)
        and (not thing or "thing" in plot.slots)
        and (not wanted or plot.name == wanted)
        and (not friend or plot.has_friend)
    )


def candidates(wish: Wish) -> tuple[Plot, ...]:
    """The plots that can honour `wish`; wishes for tone and trait give way first."""
    kind = heroes()[wish.hero][0]
    tag = wish.place[5] if wish.place else ""
    for mood, trait in ((wish.mood, wish.trait), (wish.mood, ""), ("", "")):
        found = _plots_for(
            kind, tag, wish.season, wish.theme, mood, trait, wish.thing, bool(wish.friend),
            wish.plot,
        )  # fmt: skip
        if found:
            return found
    return ()


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


def _character(rng: random.Random, noun: str, name: str, taken: str) -> tuple[str, str]:
    """Pronoun and name of a new character whose initial nobody else has. A hero (nobody is `taken`)
    and a friend never draw the same name: every other one is for friends."""
    pronoun = heroes()[noun][1] or known_pronoun(name) or favourite(rng, ("he", "she"), noun)
    while not name or name[0] == taken:
        name = favourite(rng, words()[pronoun][bool(taken) :: 2], taken or noun)
    return pronoun, name


def _draw_friend(rng: random.Random, kind: str, hero: str) -> str:
    pool = hero_nouns("sea") if kind == "sea" else hero_nouns("animal")
    if kind != "sea" and rng.random() < 0.2:
        pool = hero_nouns("child", "adult", "fantasy")
    friend = favourite(rng, pool, hero)
    while friend == hero:
        friend = favourite(rng, pool, hero)
    return friend


def _any_of(rng: random.Random, items: Sequence[T], _: str) -> T:
    """Like `favourite`, without favourites."""
    return rng.choice(items)


def _described(trait: str, noun: str) -> str:
    """`a young girl`, `an old woman`; a noun that carries an age or a size keeps its own."""
    if noun.startswith("old ") and trait in ("old", "young", "little", "small", "very old"):
        return article(noun)
    return article(f"{trait} {noun}" if trait else noun)


def _context(rng: random.Random, wish: Wish, plot: Plot) -> Context:
    lists = words()
    kind = heroes()[wish.hero][0]
    pronoun, name = _character(rng, wish.hero, wish.name, "")
    friend = wish.friend or _draw_friend(rng, kind, wish.hero)
    friend_pronoun, friend_name = _character(rng, friend, wish.friend_name, name[0])
    if wish.trait:
        trait = wish.trait
    elif plot.traits and not (kind == "adult" and not set(plot.traits) - {"little", "young"}):
        trait = favourite(rng, plot.traits, wish.hero)
    else:
        traits = lists["traits-adult" if kind == "adult" else "traits"]
        trait = favourite(rng, traits, wish.hero)
    if kind == "adult" and trait in ("little", "small") and not wish.trait:
        trait = "cheerful"
    if wish.hero in ("grandmother", "grandfather") and trait == "young":
        trait = "kind"
    friend_trait = favourite(rng, plot.friend_traits or lists["friend-traits"], friend)
    friend_kind = heroes()[friend][0]
    if friend_kind == "child" and friend_trait in ("old", "wise"):
        friend_trait = "friendly"
    if friend in ("puppy", "kitten", "calf", "lamb", "piglet", "chick", "duckling", "bear cub"):
        friend_trait = "little" if friend_trait in ("old", "wise", "young") else friend_trait
    if friend in ("grandmother", "grandfather", "giant") and friend_trait in ("young", "small"):
        friend_trait = "kind"
    place = wish.place
    if not place:
        tags = ("under",) if kind == "sea" else plot.places or ("land", "town", "sea", "mountain")
        rows = [row for row in place_rows() if row[5] in tags]
        if wish.season or plot.seasons:
            rows = [row for row in rows if row[0] not in EXOTIC]
        place = favourite(rng, rows, wish.hero)
    he, him, his, himself = PRONOUNS[pronoun]
    fhe, fhim, fhis, _ = PRONOUNS[friend_pronoun]
    context: Context = {
        "H": name, "hero": wish.hero, "a hero": _described(trait, wish.hero),
        "he": he, "him": him, "his": his, "himself": himself,
        "a_hero": article(wish.hero), "a_friend": article(friend),
        "F": friend_name, "friend": friend, "a friend": _described(friend_trait, friend),
        "fhe": fhe, "fhim": fhim, "fhis": fhis,
        "where": place[2], "along": place[3],
        "spot": mostly_first(rng, place[4].split(";")).strip(),
        "lived": "stood" if kind == "still" else "lived",
        **(WATER if kind == "sea" else {verb: verb for verb in WATER}),
    }  # fmt: skip
    # A story has to take over what its request names, so that must not be the hero's usual one.
    draw = _any_of if wish.clause else favourite
    for slot, group in plot.slots.items():
        if slot == "thing" and wish.thing:
            item = wish.thing
        else:
            things = lists[f"{group}-water" if kind == "sea" else group]
            item = draw(rng, things, wish.hero)
        full, _, noun = item.partition(" ~ ")
        context[f"a {slot}"] = article(full)
        context[slot] = noun or full.split()[-1]
    for let, entries in plot.lets.items():
        for number, value in enumerate(draw(rng, entries, wish.hero), start=1):
            context[let + (str(number) if number > 1 else "")] = render(value, context, rng)
        context[f"a_{let}"] = article(context[let])
    return context


def _opener(rng: random.Random, wish: Wish, c: Context) -> str:
    who, where = f"{c['a hero']} named {c['H']}", c["where"]
    if heroes()[wish.hero][0] == "sky":
        where = rng.choice(
            ("high up in the night sky", "high above the roofs", "far up in the sky")
        )
    lived = c["lived"]
    if wish.goes_on:
        return f"{c['H']} {lived} {where}."
    phrase = wish.phrase
    if phrase.endswith(" was"):
        return f"{phrase} {who} who {lived} {where}."
    if phrase:
        return rng.choice(
            (
                f"{phrase}, there was {who} who {lived} {where}.",
                f"{phrase}, {who} {lived} {where}.",
                f"{phrase}, there {lived} {who}. {sentence(c['he'])} {lived} {where}."
                if lived == "stood"
                else f"{phrase}, there was {who}. {sentence(c['he'])} {lived} {where}.",
            )
        )
    form = int(rng.expovariate(0.5)) % 10
    if form == 0:
        return f"Once upon a time, there was {who} who {lived} {where}."
    if form == 1:
        return f"Once upon a time, {who} {lived} {where}."
    if form == 2:
        return f"There once was {who} who {lived} {where}."
    if form == 3:
        return f"Long ago, {who} {lived} {where}."
    if form == 4:
        return f"{sentence(where)}, there {lived} {who}."
    if form == 5:
        return f"{c['H']} was {c['a hero']} who {lived} {where}."
    if form == 6:
        return f"{sentence(where)} {lived} {who}."
    return f"Once there was {who}. {sentence(c['he'])} {lived} {where}."


def title_of(rng: random.Random, plot: Plot, context: Context) -> str:
    """A title for a story, its words with capitals."""
    text = render(mostly_first(rng, plot.titles), context, rng).split()
    return " ".join(
        word if place and word in SMALL_WORDS else sentence(word) for place, word in enumerate(text)
    )


def tell(rng: random.Random, wish: Wish) -> Story:
    """A story that honours `wish`, which names at least the hero."""
    found = candidates(wish)
    if wish.season and rng.random() < 0.6:
        found = tuple(plot for plot in found if plot.seasons) or found
    plot = favourite(rng, found, wish.hero)
    context = _context(rng, wish, plot)
    kind = heroes()[wish.hero][0]
    if wish.length == "three":
        return Story(render(mostly_first(rng, plot.shorts), context, rng), plot, context)
    lines = [_opener(rng, wish, context)]
    brief = wish.length == "short" and not wish.friend and rng.random() < 0.45
    season = wish.season or (rng.choice(plot.seasons) if plot.seasons else "")
    wants_line = season and not plot.seasonless and kind not in ("sea", "sky")
    if wants_line and (wish.season or rng.random() < 0.5):
        lines.append(mostly_first(rng, words()[season]))
    if kind in LAND and wish.length == "long" and rng.random() < 0.7:
        lines.append(render(favourite(rng, _habits(), wish.hero), context, rng))
    if brief:
        if kind in LAND and len(lines) == 1 and rng.random() < 0.7:
            lines.append(render(favourite(rng, _habits(), wish.hero), context, rng))
        short = render(mostly_first(rng, plot.shorts), context, rng)
        short = short.replace(f"{context['H']} the {wish.hero}", context["H"], 1)
        when = rng.choice(("One day, ", "Then, one day, ")) if plot.event else ""
        lines.append(when + short)
    chance = {"short": (0.0, 0.0), "": (0.3, 0.1), "long": (1.0, 0.8)}[wish.length]
    presented = False
    start = len(lines)
    for beat in () if brief else plot.beats:
        if beat.level and rng.random() >= chance[beat.level - 1]:
            continue
        at = mostly_first(rng, range(len(beat.forms)))
        if not presented and beat.names_friend[at] and not beat.presents_friend[at]:
            name = context["F"]
            with_kind = {**context, "F": f"{name} the {context['friend']}"}
            text = render(beat.forms[at], with_kind, rng)
            mark = with_kind["F"]
            first = text.find(mark) + len(mark)
            text = text[:first] + text[first:].replace(mark, name)
        else:
            text = render(beat.forms[at], context, rng)
        presented = presented or beat.names_friend[at] or beat.presents_friend[at]
        lines.append(text)
    if wish.length == "long" or len(lines) > 9:
        middle = start + (len(lines) - start) // 2
        text = f"{' '.join(lines[: start + 3])}\n\n{' '.join(lines[start + 3 : middle + 2])}"
        text = f"{text}\n\n{' '.join(lines[middle + 2 :])}"
    else:
        text = " ".join(lines)
    if wish.mood == "bedtime" and "Good night" not in lines[-1]:
        text = f"{text} {render(mostly_first(rng, _sleep_lines()), context, rng)}"
    if wish.moral:
        text = f"{text}\n\nThe moral: {render(mostly_first(rng, plot.morals), context, rng)}"
    if wish.title:
        text = f"{title_of(rng, plot, context)}\n\n{text}"
    return Story(text, plot, context)


def _any_hero(rng: random.Random) -> str:
    """A hero, the dear old ones more often than the rare ones."""
    way = rng.random()
    if way < 0.45:
        return rng.choice(
            ("dog", "cat", "girl", "boy", "dragon", "robot", "bear", "fox", "rabbit", "king",
             "princess", "mouse", "owl", "horse", "knight")
        )  # fmt: skip
    if way < 0.7:
        return early(rng, hero_nouns("animal"))
    if way < 0.95:
        return rng.choice(hero_nouns("child", "adult", "fantasy", "thing"))
    return rng.choice(hero_nouns("sea", "still", "sky"))


def _is_reserved(*parts: str) -> bool:
    return crc32("/".join(parts).encode()) % RESERVED_ONE_IN == 0


KINDS = (
    ("any", 12), ("hero", 26), ("trait", 10), ("named", 24), ("two", 12), ("place", 6),
    ("heroplace", 12), ("season", 4), ("theme", 8), ("herotheme", 3), ("thing", 5),
    ("herothing", 3), ("begin", 5), ("three", 6), ("continue", 4), ("bare", 9), ("mood", 6),
    ("plot", 110),
)  # fmt: skip
KIND_NAMES = tuple(kind for kind, _ in KINDS)
KIND_WEIGHTS = tuple(weight for _, weight in KINDS)
# Plots in which much can be wished for: what is wished must be taken over from the request.
OPEN_PLOTS = {"learn": 9, "lose": 8, "key": 4, "fear": 6, "dream": 8, "trouble": 6, "learning": 2}
DOES = ("who ", "that ")
HIS = "{his}"  # the hero's pronoun is known when the story is told
HELPERS = (
    ", with {x}", " and {x}", " and is helped by {x}", ", and {x} helps {him}",
    ". {x} should help {him}", ". {x} helps {him}.", ". There should be {x} too.",
    ". With {x}, please.", " with the help of {x}",
)  # fmt: skip
# Requests whose wordings come from the list of another kind.
WORDING = {"trait": "hero", "named": "hero", "two": "hero", "mood": "any", "plot": "hero"}


def _request(rng: random.Random, reserved_wording: bool) -> tuple[str, Wish, str] | None:
    """A request, what it asks for, and the combination that may be reserved; None if no plot can
    honour it."""
    kind = rng.choices(KIND_NAMES, KIND_WEIGHTS)[0]
    wish = Wish(hero=_any_hero(rng))
    noun_kind, fixed = heroes()[wish.hero]
    fill: dict[str, str] = {"x": article(wish.hero)}
    if kind in ("named", "two", "plot") and rng.random() < 0.2 and not wish.hero.startswith("old "):
        wish.trait = rng.choice(words()["traits-asked"])
        fill["x"] = article(f"{wish.trait} {wish.hero}")
    key = ""
    way, meaning = rng.choice(WAYS)
    if kind == "mood":
        way, meaning = rng.choice(
            (("bedtime ", "bedtime"), ("funny ", "funny"), ("sad ", "sad"),
             ("scary ", "spooky"), ("exciting ", "adventure"), ("adventure ", "adventure"),
             ("good-night ", "bedtime"), ("long ", "long"), ("moral ", "moral"))
        )  # fmt: skip
    if kind == "bare":
        phrase = rng.choice(BARE)
        named = rng.random() < 0.4 and (phrase.endswith((" a", " was")) or phrase == BARE[0])
        if named:
            start = phrase.removesuffix(" a").removesuffix(" there was").rstrip(",")
            start = start if start.endswith(" was") else f"{start} there was"
            wish.phrase, text = start, f"{start} {article(wish.hero)}"
            wish.trait = "" if rng.random() < 0.7 else rng.choice(words()["traits"])
            if wish.trait:
                text = f"{start} {_described(wish.trait, wish.hero)}"
            if rng.random() < 0.3:
                wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
                text += f" named {wish.name}"
            text += rng.choice(("", "", "", " who", " who", " that"))
            key = f"bare/{wish.trait}/{wish.hero}"
        else:
            text = phrase
            wish.phrase = phrase.removesuffix(" a").removesuffix(" in a land far away")
            wish.phrase = "In a land far away" if "land" in phrase else wish.phrase
        text += rng.choice(("", "", "", "...", " ..."))
        if reserved_wording:
            return None
        return (text, wish, key) if candidates(wish) else None
    if kind == "trait":
        plot_traits = sorted({trait for plot in plots() for trait in plot.traits})
        wish.trait = rng.choice(words()["traits-asked"] if rng.random() < 0.5 else plot_traits)
        if wish.hero.startswith("old "):
            return None
        fill["x"] = article(f"{wish.trait} {wish.hero}")
        key = f"{wish.trait}/{wish.hero}"
    elif kind == "named":
        pronoun = fixed or rng.choice(("he", "she"))
        wish.name = asked_name(rng, pronoun)
        fill["x"] += rng.choice((" named ", " named ", " called ", " with the name ")) + wish.name
        key = f"{wish.hero}/{wish.name}"
    elif kind == "two":
        pool = (noun_kind,) if noun_kind == "sea" else LAND
        wish.friend = rng.choice(hero_nouns(*pool))
        if wish.friend == wish.hero or noun_kind in ("still", "sky"):
            return None
        key = f"{wish.hero}+{wish.friend}"
        if rng.random() < 0.15:
            wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
            fill["x"] += f" named {wish.name}"
        fill["x"] += f" and {rng.choice((article(wish.friend), article(wish.friend), HIS))}"
        fill["x"] = fill["x"].replace(HIS, f"{HIS} {wish.friend}")
        if rng.random() < 0.15:
            fill["x"] = f"the friendship between {fill['x']}"
    elif kind == "plot":
        names = [*clauses()]
        wish.plot = rng.choices(names, [OPEN_PLOTS.get(name, 1) for name in names])[0]
        wish.clause = rng.choice(clauses()[wish.plot])
        if rng.random() < 0.35:
            wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
            fill["x"] += rng.choice((" named ", " named ", " called ")) + wish.name
        helped = ""
        if rng.random() < 0.2:
            wish.friend = rng.choice(hero_nouns("sea" if noun_kind == "sea" else "animal"))
            if wish.friend == wish.hero:
                return None
            helped = rng.choice(HELPERS).replace("{x}", article(wish.friend))
        fill["who"] = fill["x"]
        fill["x"] += " {clause}"
        if helped.startswith("."):
            fill["end"] = sentence(helped[2:])
        else:
            fill["x"] += helped
        key = f"{wish.hero}:{wish.plot}"
    elif kind in ("place", "heroplace"):
        wish.place = rng.choice(place_rows())
        if kind == "place" and wish.place[5] == "asked":
            return None
        under = wish.place[5] == "under"
        if (noun_kind == "sea") != under or noun_kind in ("still", "sky"):
            return None
        fill.update(topic=wish.place[0])
        fill["in"] = wish.place[1]
        key = f"{wish.hero if kind == 'heroplace' else ''}@{wish.place[0]}"
        key = key if kind == "heroplace" else ""
    elif kind == "season":
        wish.season = fill["season"] = rng.choice(SEASONS)
        if noun_kind in ("sea", "sky"):
            return None
    elif kind in ("theme", "herotheme"):
        wish.theme = fill["theme"] = rng.choice(theme_names())
        key = f"{wish.hero}#{wish.theme}" if kind == "herotheme" else ""
    elif kind in ("thing", "herothing"):
        wish.thing = rng.choice(words()["treasures-water" if noun_kind == "sea" else "treasures"])
        short = wish.thing.split()[-1]
        lost = rng.random() < 0.5
        wish.plot = "lost-treasure" if lost else ""
        named_thing = rng.choice((short, wish.thing))
        fill["a lost"] = article(f"lost {named_thing}" if lost else named_thing)
        key = f"{wish.hero if kind == 'herothing' else ''}*{wish.thing}*{lost}"
    elif kind == "begin":
        wish.phrase = fill["phrase"] = rng.choice(PHRASES)
    elif kind == "three":
        wish.length = "three"
    elif kind == "continue":
        wish.goes_on = True
        wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
        wish.trait = rng.choice(words()["traits"])
        begin = rng.choice(("Once upon a time there was", "Once upon a time, there was",
                            "There once was", "Once there was", "Long ago there was"))  # fmt: skip
        fill["start"] = f"{begin} {_described(wish.trait, wish.hero)} named {wish.name}."
        key = f"{wish.hero}/{wish.name}"
    section = WORDING.get(kind, kind)
    deed = kind == "plot" and isinstance(wish.clause[0], str) and wish.clause[0].startswith(DOES)
    if deed and not (wish.friend and "end" not in fill) and rng.random() < 0.35:
        section = "scene"
    template = rng.choice(asks(section, reserved_wording))
    if "{kind}" not in template:
        way, meaning = "", ""
    if meaning in ("short", "long"):
        wish.length = meaning
    elif meaning == "moral":
        wish.moral, way = True, ""
    elif meaning and kind != "three":
        wish.mood = meaning
    text = sentence(template.replace("{who}", fill.pop("who", "")))
    if "end" in fill:
        text = f"{text.rstrip('.?! ')}. {fill.pop('end')}"
    for name, value in (*fill.items(), ("kind", way)):
        text = text.replace(f"{{{name}}}", value)
    if kind == "mood" and meaning == "sad" and rng.random() < 0.6:
        text = f"{text.rstrip('.?!')} with a happy ending."
    if wish.moral or (kind in ("any", "hero", "trait", "mood") and rng.random() < 0.06):
        if " story" in text and meaning != "sad":
            wish.moral = True
            text = f"{text.rstrip('.?! ')} with a moral."
        elif wish.moral:
            return None
    if re.search(r"\b[Aa] (?:adventure|exciting)\b", text):
        text = re.sub(r"\b([Aa]) (adventure|exciting)\b", r"\1n \2", text)
    text = re.sub(r"\b([Aa]) (autumn)\b", r"\1n \2", text)
    wish.title = template.startswith("Write") and wish.length != "three"
    return (text, wish, key) if candidates(wish) else None


def _typed(rng: random.Random, text: str, wish: Wish) -> str:
    """`text` as typed, but never with a slip in what the story has to take over."""
    typed = as_typed(rng, text)
    keep = (wish.name, wish.hero, wish.friend, wish.trait, wish.thing.split(" ")[-1], wish.season)
    low, low_text = typed.lower(), text.lower()
    return text if any(w.lower() in low_text and w.lower() not in low for w in keep) else typed


def _follow_up(rng: random.Random, wish: Wish, story: Story, held_out: bool) -> tuple[str, str]:
    """A question after a story, and its answer."""
    c, plot = story.context, story.plot
    way = rng.random()
    if way < 0.3 and plot.asks:
        asked, answer = rng.choice(plot.asks)
        return render(asked, c, rng), render(answer, c, rng)
    section = rng.choice(("another", "shorter", "moral", "who", "name", "where", "friend", "title",
                          "thanks", "another", "name", "who"))  # fmt: skip
    if section == "friend" and (not plot.has_friend or c["F"] not in story.text):
        section = "who"
    if section == "where" and (c["where"] not in story.text or heroes()[wish.hero][0] == "sky"):
        section = "name"
    if section == "shorter" and wish.length == "three":
        section = "moral"
    question = rng.choice(asks(section, held_out))
    for key, value in (("H", c["H"]), ("F", c["F"]), ("hero", wish.hero)):
        question = question.replace(f"{{{key}}}", value)
    question = question.replace("{x}", article(wish.hero))
    if section == "another":
        again = Wish(hero=wish.hero, length=wish.length, mood=wish.mood)
        return question, tell(rng, again).text
    if section == "shorter":
        return question, render(mostly_first(rng, plot.shorts), c, rng)
    if section == "moral":
        return question, f"The moral is: {render(mostly_first(rng, plot.morals), c, rng)}"
    if section == "who":
        about = render(plot.about, c, rng)
        return question, f"The story is about {c['H']} the {wish.hero}, {about}."
    if section == "name":
        return question, f"The {wish.hero}'s name was {c['H']}."
    if section == "where":
        return question, f"{c['H']} {c['lived']} {c['where']}."
    if section == "friend":
        return question, f"{c['F']} is {c['a friend']} in the story about {c['H']} the {wish.hero}."
    if section == "title":
        return question, f'A good title is "{title_of(rng, plot, c)}".'
    return question, rng.choice(
        (
            f"You are welcome! I am glad that you liked the story of {c['H']} the {wish.hero}.",
            f"Thank you! I liked telling you about {c['H']} the {wish.hero}.",
        )
    )


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for a story and the story, sometimes with a question after it."""
    while True:
        reserved_wording = held_out and rng.random() < 0.02
        request = _request(rng, reserved_wording)
        if request is None:
            continue
        text, wish, key = request
        if held_out == (reserved_wording or (bool(key) and _is_reserved(key))):
            break
    story = tell(rng, wish)
    clause = render(wish.clause, story.context, rng)
    for name, value in (("clause", clause), ("does", clause.partition(" ")[2])):
        text = text.replace(f"{{{name}}}", value)
    for name in ("he", "him", "his"):
        text = text.replace(f"{{{name}}}", story.context[name])
    turns = [_typed(rng, text, wish), story.text]
    if rng.random() < 0.15:
        question, answer = _follow_up(rng, wish, story, held_out)
        turns += [_typed(rng, question, Wish(hero=wish.hero, name=story.context["H"])), answer]
    return chat(*turns)
