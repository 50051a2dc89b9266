"""Telling a story: a plot that honours a wish, its characters, its place and its sentences."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from assets.demo.recipe.corpus.plots import (
    LAND,
    Context,
    Plot,
    Template,
    compile_template,
    hero_nouns,
    heroes,
    known_pronoun,
    place_rows,
    plots,
    render,
    words,
)
from assets.demo.recipe.corpus.text import T, favourite, mostly_first, sentence, with_article

WATER = {"walked": "swam", "walking": "swimming", "walk": "swim", "ran": "swam", "run": "swim"}
PRONOUNS = {"he": ("he", "him", "his", "himself"), "she": ("she", "her", "her", "herself")}
SMALL_WORDS = frozenset(("a", "an", "and", "the", "of", "in", "on", "at", "to", "for", "with"))
# Plots that may as well happen on a train or in a library.
ANYWHERE = frozenset((
    "lost-treasure", "found-object", "dark", "new-friend", "quarrel", "sleepless", "surprise",
    "lose", "fear", "learn", "dream", "visit",
))  # fmt: skip
EXOTIC = frozenset(("the desert", "the jungle", "the snow"))


@dataclass(slots=True)
class Wish:
    """What a request asks for. Empty fields are free."""

    hero: str = ""
    trait: str = ""
    name: str = ""
    friend: str = ""
    friend_name: str = ""
    friend_trait: str = ""
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
    begins: bool = False  # with what is odd, which the request gives as the first line


@dataclass(slots=True)
class Story:
    """A finished story with what later questions need."""

    text: str
    plot: Plot
    context: Context


@cache
def _habits() -> tuple[Template, ...]:
    return tuple(compile_template(line) for line in words()["habits"])


@cache
def _sleep_lines() -> tuple[Template, ...]:
    return tuple(compile_template(line) for line in words()["sleep"])


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
        and (plot.name == wanted if wanted else not plot.asked)
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


def _character(rng: random.Random, noun: str, name: str, taken: str) -> tuple[str, str]:
    """Pronoun and name of a new character whose initial nobody else has. A hero (nobody is `taken`)
    and a friend never draw the same name: every other one is for friends."""
    pronoun = heroes()[noun][1] or known_pronoun(name) or favourite(rng, ("he", "she"), noun)
    while not name or name[0] == taken:
        # Few names, and short ones: a small model stumbles over those that it hardly ever writes.
        name = favourite(rng, words()[pronoun][:18][bool(taken) :: 2], taken or noun)
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


def described(trait: str, noun: str) -> str:
    """`a young girl`, `an old woman`; a noun that carries an age or a size keeps its own."""
    if noun.startswith("old ") and trait in ("old", "young", "little", "small", "very old"):
        return with_article(noun)
    return with_article(f"{trait} {noun}" if trait else noun)


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
    friend_trait = wish.friend_trait or friend_trait
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
        "H": name, "hero": wish.hero, "a hero": described(trait, wish.hero),
        "he": he, "him": him, "his": his, "himself": himself,
        "a_hero": with_article(wish.hero), "a_friend": with_article(friend),
        "F": friend_name, "friend": friend, "a friend": described(friend_trait, friend),
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
        context[f"a {slot}"] = with_article(full)
        context[slot] = noun or full.split()[-1]
    for let, entries in plot.lets.items():
        # A frog turns into no frog.
        entries = [entry for entry in entries if entry[0] != [wish.hero]]
        for number, value in enumerate(draw(rng, entries, wish.hero), start=1):
            context[let + (str(number) if number > 1 else "")] = render(value, context, rng)
        context[f"a_{let}"] = with_article(context[let])
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
    if wish.begins:
        saw = rng.choice(("was the first to see it", "could not believe it", "heard about it"))
        return f"{sentence(c['strange'])}. {c['H']}, {c['a hero']} who {lived} {where}, {saw}."
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
    forms = (
        f"Once upon a time, there was {who} who {lived} {where}.",
        f"Once upon a time, {who} {lived} {where}.",
        f"There once was {who} who {lived} {where}.",
        f"Long ago, {who} {lived} {where}.",
        f"{sentence(where)}, there {lived} {who}.",
        f"{c['H']} was {c['a hero']} who {lived} {where}.",
        f"{sentence(where)} {lived} {who}.",
        f"Once there was {who}. {sentence(c['he'])} {lived} {where}.",
    )
    return forms[min(int(rng.expovariate(0.5)) % 10, len(forms) - 1)]


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
    for beat in () if brief else plot.beats[wish.begins :]:
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
