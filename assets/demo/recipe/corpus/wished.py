"""Stories that take over all that a request names, whatever it is and in whatever order it comes:
one or two beings, their names and a trait, what they do and with what, who helps, place, time and
mood; and what is asked next, with the same story told again: with one more person, with another
end, name, hero, place or mood, shorter, what happens next, and what happened in it.

`story_data/wished.txt` has few tales whose sentences fit any beings and any thing of a kind. Each
that is named stands in the request and several times in the story, always called the same, so that
a small model can only copy it. All that was drawn is kept in a `Wish`, and a story is told again by
changing one of its fields.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace
from functools import cache

from assets.demo.recipe.corpus import named, subjects
from assets.demo.recipe.corpus.particulars import filled, tidy
from assets.demo.recipe.corpus.plots import DATA, asked_name, known_pronoun
from assets.demo.recipe.corpus.stories import is_reserved
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    listed,
    read_sections,
    sentence,
    typed_with,
    with_article,
)

FILE = DATA / "wished.txt"
KINDS = {
    "all eat": 12,
    "all play": 11,
    "all build": 9,
    "all travel": 9,
    "all sing": 8,
    "all find": 9,
    "all meet": 9,
    "all rescue": 6,
    "one lose": 14,
    "one fear": 8,
    "one learn": 9,
    "one become": 7,
    "one have": 7,
    "one habit": 8,
    "one give": 7,
    "all open": 7,
    "all grow": 6,
    "all search": 6,
    "all climb": 9,
    "one sleep": 6,
    "one alone": 7,
    "none": 9,
}
HELPERS = ("old owl", "little mouse", "friendly crow", "small hedgehog", "old tortoise")
SPOTS = (
    "pond",
    "mill",
    "well",
    "bridge",
    "market",
    "big tree",
    "river",
    "bus stop",
    "beach",
    "church",
    "barn",
    "playground",
    "old wall",
    "station",
    "fountain",
    "lake",
    "bakery",
    "library",
)
RELATIVES = (
    "mum",
    "mom",
    "dad",
    "grandma",
    "grandpa",
    "grandmother",
    "grandfather",
    "mother",
    "father",
    "sister",
    "brother",
    "aunt",
    "uncle",
    "teacher",
    "best friend",
    "neighbour",
    "cousin",
)
SHE = ("mum", "mom", "grandma", "grandmother", "mother", "sister", "aunt")
HE = ("dad", "grandpa", "grandfather", "father", "brother", "uncle")
OLD_ONES = (
    "old man",
    "old woman",
    "old lady",
    "old sailor",
    "wise owl",
    "kind witch",
    "big dog",
    "little girl",
    "little boy",
    "friendly ghost",
    "young wizard",
    "talking cat",
    "policeman",
    "fairy",
    "grandmother",
    "fisherman",
    "gardener",
    "robot",
)
TIMES = (
    "one night",
    "one morning",
    "one evening",
    "one winter night",
    "one summer day",
    "on a rainy day",
    "on a rainy Sunday",
    "on Christmas Eve",
    "at Christmas",
    "on Halloween",
    "on a snowy day",
    "on a Monday",
    "in the summer holidays",
    "on the last day of school",
    "on a stormy night",
    "on a foggy evening",
    "on New Year's Eve",
    "on a hot summer day",
    "one spring morning",
    "on midsummer night",
    "in winter",
    "on the first day of spring",
    "at midnight",
    "on a cold winter day",
    "on Friday the thirteenth",
    "at Easter",
)
MOODS = {
    "funny": ("funny", "funny", "silly", "hilarious", "crazy"),
    "scary": ("scary", "scary", "spooky", "creepy", "a bit scary"),
    "sad": ("sad", "sad", "very sad"),
    "exciting": ("exciting", "thrilling", "adventure"),
    "calm": ("calm", "quiet", "bedtime", "calm bedtime", "good night", "sleepy"),
    "happy": ("happy", "happy", "cheerful"),
}
POST = {
    "funny": (
        ", make it funny",
        ", it should be funny",
        ". make me laugh",
        ", funny please",
        " that makes kids laugh",
        ", something to laugh",
    ),
    "scary": (
        ", make it scary",
        ", a bit scary but for children",
        ", scary please",
        ", scary but not too scary for kids",
        ", it should be spooky",
        " that is scary",
    ),
    "sad": (
        ", with a sad ending",
        ", make it sad",
        ", sad ending please",
        ", it should be sad",
        " that ends sadly",
    ),
    "exciting": (
        ", make it exciting",
        ", it should be exciting",
        ", with a lot of action",
        ", full of adventure",
        " with a big adventure",
    ),
    "calm": (
        ", not scary",
        ", nothing scary please",
        ", to fall asleep",
        " for bedtime",
        ", make it calm",
        ", before sleep",
        ", not scary please she is three",
    ),
    "happy": (
        ", with a happy ending",
        ", happy end please",
        ", it should end well",
        " with a happy end",
        ", make it end happily",
    ),
}
COUNTS = {2: ("two", "2"), 3: ("three", "3"), 4: ("four", "4"), 5: ("five", "5")}
TELL = (
    "[tell me|tell me|write|write|make up|tell|write me|give me|make|can you tell me|"
    "can you write|please write|could you tell me|i want|i'd like|i need|please make|invent]"
)
# {a} "a funny story", {k} "funny story", {who} "a fox and a bear", {do} "who fly a kite", {plain}
# "a fox and a bear fly a kite", {when} and {in} with a comma or nothing.
ASKS = (
    f"{TELL} {{a}} about {{who}} {{do}}{{in}}{{when}}",
    f"{TELL} {{a}} about {{who}} {{do}}{{in}}{{when}}",
    f"{TELL} {{a}} about {{who}} {{do}}{{when}}{{in}}",
    "{a} about {who} {do}{in}{when}",
    "{k} about {who} {do}{in}{when}",
    "{k}: {who} {do}{in}{when}",
    f"{TELL} {{a}} [where|in which] {{plain}}{{in}}{{when}}",
    f"{TELL} {{a}} [where|in which] {{plain}}{{in}}{{when}}",
    "{a} where {plain}{in}{when}",
    "{plain}{in}{when}. [make|write|tell me] {a}",
    "{plain}{in}{when} - {a} please",
    "{k}, {plain}{in}{when}",
    "{who} {do}{in}{when}. {a} please",
    "{a} [with|of] {who} {do}{in}{when}",
    "make {a} [from|out of] this: {plain}{in}{when}",
    "[idea|my idea|plot]: {plain}{in}{when}. {k}?",
    "i need {a} for my [kids|class|daughter|son], {plain}{in}{when}",
    "[my son wants|my daughter wants|we want|the kids want] {a} about {who} {do}{in}{when}",
    "story time! {who} {do}{in}{when}",
    "do you know {a} about {who} {do}{in}{when}?",
)
KEPT = (
    "come up with {a} in which {plain}{in}{when}",
    "there must be {a} about {who} {do}{in}{when}",
)
LOOSE = (
    f"{TELL} {{a}} with {{things}} in it",
    "{a} with {things}",
    "{k} with {things}[ please| pls|]",
    "{things}: [make|write] {a}",
    f"{TELL} {{a}}, [it should have|there must be|with] {{things}}",
    "use these in {a}: {things}",
    "{k}: {things}",
    "{a} in which {things} [appear|come up|occur]",
    "[make|write] {a} from these words: {things}",
    "{things}. {a}!",
    "[can you|could you|please] [write|tell me|make up] {a}? it should have {things} in it",
    "I want {a}. in it there should be {things}",
    "[there is|there was|there are] {things}. [make|write|tell] {a} about it",
    "{a} please, with {things}",
    "{a} that has {things} in it",
    "put {things} into {a}",
    "{things} - what {k} can you make of that?",
    "the {k} should be about {things}",
)

HUGE = (
    "garden",
    "tree",
    "boat",
    "car",
    "swing",
    "tent",
    "piano",
    "hammock",
    "bicycle",
    "rocket",
    "sledge",
    "horse",
    "chair",
)  # what does not go into a box
Rows = dict[str, tuple[str, ...]]


@cache
def rows(kind: str) -> Rows:
    """The lines of a kind by what they are for."""
    found: dict[str, list[str]] = {}
    for line in read_sections(FILE)[kind]:
        key, _, text = line.partition(": ")
        found.setdefault(key, []).append(text.strip())
    return {key: tuple(texts) for key, texts in found.items()}


@dataclass(frozen=True, slots=True)
class Being:
    """Somebody in a story. A relative ("his grandpa") has no article."""

    noun: str
    pronoun: str
    trait: str = ""
    name: str = ""
    of: str = ""

    @property
    def called(self) -> str:
        return self.name or f"{self.of or 'the'} {self.noun}"

    @property
    def plain(self) -> str:
        """As a request has it: "a shy fox"."""
        if self.of:
            return f"{self.of} {self.noun}" + (f" {self.name}" if self.name else "")
        return with_article(f"{self.trait} {self.noun}".strip())

    @property
    def said(self) -> str:
        """As it is introduced."""
        if self.of:
            return self.plain
        return self.plain + (f" named {self.name}" if self.name else "")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a story is made of."""

    kind: str
    hero: Being
    other: Being
    both: bool  # the request names two heroes
    slots: dict[str, str]
    verbs: tuple[str, ...] = ()
    place: str = ""
    time: str = ""
    mood: str = ""
    count: int = 0  # of sentences
    way: int = 0  # which tale, and which lines of a mood
    more: tuple[Being, ...] = field(default=())
    three: bool = False  # the request names three heroes


def base_of(words: str) -> str:
    """What somebody does, as said to him: "is always late" -> "are always late"."""
    out, done = [], False
    for word in words.split():
        if not done and word not in ("always", "never", "only"):
            done = True
            known = {
                "is": "are",
                "has": "have",
                "can": "can",
                "cannot": "cannot",
                "can't": "can't",
                "does": "do",
                "goes": "go",
            }
            if word in known:
                word = known[word]
            elif word.endswith("ies"):
                word = word[:-3] + "y"
            elif re.search("(s|sh|ch|x|zz)es$", word) and word not in ("loses", "sneezes"):
                word = word[:-2]
            elif word.endswith("s"):
                word = word[:-1]
        out.append(word)
    return " ".join(out)


def a_name(rng: random.Random, pronoun: str, taken: str = "") -> str:
    he = pronoun if pronoun in ("he", "she") else rng.choice(("he", "she"))
    while True:
        name = subjects.rare_name(rng) if rng.random() < 0.25 else asked_name(rng, he)
        if name[0] not in taken and (known_pronoun(name) or he) == he:
            return name


def being(rng: random.Random, noun: str = "", named_: float = 0.35, taken: str = "") -> Being:
    if not noun:
        noun = named.some_hero(rng)
        if named.kind_of(noun) == "thing" and rng.random() < 0.6:
            noun = named.some_hero(rng, "animal", "person")
    fixed = named.pronoun_of(noun, "")
    fixed = "he" if noun.endswith(("man", "boy", "wizard")) else fixed
    fixed = "she" if noun.endswith(("woman", "girl", "lady", "witch")) else fixed
    name = a_name(rng, fixed, taken) if rng.random() < named_ else ""
    pronoun = (known_pronoun(name) or fixed) if name else fixed
    if name and pronoun == "it":
        pronoun = "he"
    trait = named._trait(rng, noun) if rng.random() < 0.25 else ""
    return Being(noun, pronoun, trait, name)


def relative(rng: random.Random, hero: Being) -> Being:
    kin = rng.choice(RELATIVES)
    pronoun = "she" if kin in SHE else "he" if kin in HE else rng.choice(("he", "she"))
    return Being(kin, pronoun, of=named.IT[hero.pronoun][2])


def clashes(one: Being, other: Being) -> bool:
    return (
        one.noun.split()[-1] in other.noun.split()
        or other.noun.split()[-1] in one.noun.split()
        or bool(one.name and one.name[:1] == other.name[:1])
    )


def drawn(rng: random.Random) -> Wish:
    """All that a story needs."""
    kind = rng.choices(tuple(KINDS), tuple(KINDS.values()))[0]
    lines = rows(kind)
    hero = being(rng)
    both = (kind.startswith("all") and rng.random() < 0.72) or "two" in lines or "gift" in lines
    both = both or (kind == "none" and rng.random() < 0.6)
    helper = kind.startswith("one") and rng.random() < 0.6
    while True:
        if both or helper:
            way = rng.random()
            if way < 0.22 and not hero.noun.startswith("old") and kind != "one habit":
                other = relative(rng, hero)
            elif helper and way < 0.5:
                other = being(rng, rng.choice(OLD_ONES), 0.15, hero.name[:1])
            else:
                other = being(rng, taken=hero.name[:1])
        else:
            other = Being(rng.choice(HELPERS), "it")
        if not clashes(hero, other):
            break
        hero = being(rng)
    slots: dict[str, str] = {}
    verbs: tuple[str, ...] = ()
    taken = f"{hero.noun} {other.noun} {hero.trait}"
    section = lines.get("list", ("",))[0]
    if section:
        pool = tuple(section[1:].split(", ")) if section[0] == "=" else named.nouns(section)
        if "gift" in lines:
            pool = tuple(x for x in pool if x.split()[-1] not in HUGE)
        entry = named._other_than(rng, pool, taken)
        if kind == "one habit":
            slots["x"], slots["xp"] = entry.split(" ~ ")
            slots["x2"] = base_of(slots["x"])
        else:
            full, _, head = entry.partition(" ~ ")
            slots.update({"full": full, "x": head or full, "a x": with_article(full)})
    if "v" in lines:
        parts = rng.choice(lines["v"]).split(" ~ ")
        if len(parts) > 4:
            slots["x"] = parts[4]
        verbs = tuple(parts[:4])
    slots["spot"] = rng.choice(SPOTS)
    mood = rng.choice(tuple(MOODS)) if rng.random() < 0.42 else ""
    wish = Wish(kind, hero, other, both, slots, verbs, mood=mood, way=rng.randrange(720))
    if rng.random() < 0.26:
        wish = replace(wish, place=named._place(rng))
        if named._other_than(rng, (wish.place,), taken + " " + slots.get("full", "")) and any(
            word in taken.split() for word in wish.place.split()
        ):
            wish = replace(wish, place="")
    if rng.random() < 0.2:
        wish = replace(wish, time=rng.choice(TIMES))
    if both and kind.startswith("all") and not other.of and rng.random() < 0.16:
        third = being(rng, named_=0.3, taken=hero.name[:1] + other.name[:1])
        if not (
            clashes(third, hero) or clashes(third, other) or third.name[:1] in f"{other.name} "
        ):
            wish = replace(wish, more=(third,), three=kind != "all meet")
            wish = wish if wish.three else replace(wish, more=())
    if not mood and not wish.more and rng.random() < 0.16:
        wish = replace(wish, count=rng.choice((2, 3, 3, 3, 4, 5)))
    return wish


def slots_of(wish: Wish) -> dict[str, str]:
    he, him, his, himself = named.IT[wish.hero.pronoun]
    ghe, ghim, ghis, _ = named.IT[wish.other.pronoun]
    slots = dict(
        wish.slots,
        h=wish.hero.called,
        g=wish.other.called,
        he=he,
        him=him,
        his=his,
        himself=himself,
        ghe=ghe,
        ghim=ghim,
        ghis=ghis,
    )
    slots["a g"] = wish.other.said
    if wish.verbs:
        full = dict(slots, x=wish.slots.get("full", wish.slots.get("x", "")))
        base, third, past, going = (filled(verb, full) for verb in wish.verbs)
        slots.update(v=base, vs=third, past=past, going=going)
    return slots


def definite(place: str) -> str:
    return re.sub(r" an? ", " the ", place)


def introduced(text: str, said: str, known: bool) -> str:
    """`{a g}` only the first time."""
    at = 0
    while match := re.search(r"\{([aA]) g\}", text[at:]):
        start = at + match.start()
        if known:
            text = text[:start] + ("{G}" if match[1] == "A" else "{g}") + text[start + 5 :]
        at, known = start + 3, True
    return text


def lines_of(section: str, way: int) -> str:
    lines = read_sections(FILE)[section]
    return lines[way % len(lines)]


def start(wish: Wish, slots: dict[str, str]) -> tuple[str, bool]:
    """The first sentences, and whether the second one has been introduced."""
    where = f", {wish.place}," if wish.place else ""
    hero, other, lines = wish.hero, wish.other, rows(wish.kind)
    gift = "gift" in lines
    known = wish.both and not gift
    if known:
        two = f"{hero.said} and {other.said}"
        if wish.three:
            two = f"{hero.said}, {other.said} and {wish.more[0].said}"
        text = f"Once upon a time{where} there were {two}."
    else:
        text = f"Once upon a time{where} there was {hero.said}."
    if hero.trait in named.traits():
        trait = named.traits()[hero.trait].replace("{H}", "{H}" if known else "{He}")
        text += f" {filled(trait, slots)}"
    elif other.trait in named.traits() and known and not other.of:
        he, him, his, himself = named.IT[other.pronoun]
        own = dict(slots, h=other.called, he=he, him=him, his=his, himself=himself)
        text += f" {filled(named.traits()[other.trait], own)}"
    time = sentence(wish.time) if wish.time else "One day"
    comma = "," if wish.time and not wish.time.startswith("one ") else ""
    kind = wish.kind
    if "two" in lines or kind == "none":
        if wish.time:
            text += (
                f" It was {wish.time.removeprefix('one ')}."
                if comma == ","
                else (f" It all began {wish.time}.")
            )
    elif kind.startswith("all"):
        begin = filled(lines["wish"][0] if "wish" in lines else "{v}", slots)
        if known:
            text += f" {time}{comma} {slots['h']} and {slots['g']} wanted to {begin}."
        else:
            text += (
                f" {time}{comma} {slots['he']} wanted to {begin}. But it is no fun to do it "
                f"alone, so {slots['he']} asked {other.said} to come along."
            )
            known = True
    elif kind == "one habit":
        text += f" {sentence(slots['h'])} {slots['xp']}."
        if wish.time:
            text += (
                f" It was {wish.time.removeprefix('one ')}."
                if comma == ","
                else f" It all began {wish.time}."
            )
    elif gift:
        text += f" {time}{comma} {slots['he']} wanted to give {slots['a x']} to {slots['a g']}."
        known = True
    else:
        past = {"one lose": f"lost {slots['his']} {wish.slots.get('full', '')}"}
        text += f" {time}{comma} {slots['h']} {past[kind]}." if kind in past else ""
        if kind not in past:
            text += f" {sentence(slots['h'])} {slots['past']}."
            if wish.time:
                text += (
                    f" It was {wish.time.removeprefix('one ')}."
                    if comma == ","
                    else (f" It all began {wish.time}.")
                )
    return text, known


def end_of(wish: Wish, slots: dict[str, str], second: str, known: bool) -> list[str]:
    """The second half with what the mood adds."""
    own = f"{wish.mood} end"
    parts = [filled(introduced(second, wish.other.said, known), slots)]
    if own in read_sections(FILE):
        parts.append(filled(lines_of(own, wish.way // 4), slots))
    return parts


def tale_of(wish: Wish) -> str:
    """The tale of the kind in which nobody is what the heroes are."""
    tales = rows(wish.kind)["tale"]
    taken = {*wish.hero.noun.split(), *wish.other.noun.split()}
    for step in range(len(tales)):
        tale = tales[(wish.way + step) % len(tales)]
        if not taken & set(re.findall(r"[a-z]+", re.sub(r"\{[^}]*\}", "", tale))):
            break
    return tale


def told(wish: Wish) -> str:
    """The story."""
    slots = slots_of(wish)
    if wish.count:
        return brief(wish, wish.count)
    text, known = start(wish, slots)
    first, _, second = tale_of(wish).partition(" // ")
    if wish.mood == "sad":
        second = rows(wish.kind)["sad"][0]
    parts = [text]
    if f"{wish.mood} start" in read_sections(FILE):
        parts.append(filled(lines_of(f"{wish.mood} start", wish.way), slots))
    for more in wish.more:
        said = more.called if wish.three else more.said
        parts.append(f"{sentence(said)} came along as well.")
    middle = wish.mood in ("funny", "scary", "exciting", "calm")
    parts.append(filled(introduced(first, wish.other.said, known), slots))
    known = known or "a g}" in first.lower()
    ends = end_of(wish, slots, second, known)
    if middle:
        more_of = filled(lines_of(wish.mood, wish.way // 4), slots)
        if wish.mood in ("scary", "exciting"):
            more_of = f"But that was not all. {more_of}"
        ends.insert(1, more_of)
    for more in wish.more:
        he = named.IT[more.pronoun][0]
        proud = "I am proud of you" if more.of else "I am so glad that I came along"
        proud = "It is good to be three" if wish.three else proud
        hug = (
            f'"{proud}," said {more.called}, and {he} gave {slots["h"]} a big hug.'
            if wish.mood != "sad"
            else f"{sentence(more.called)} held {slots['h']} tight and said nothing."
        )
        ends.insert(1, hug)
    if wish.place and wish.mood not in ("sad", "calm"):
        there = {"there": definite(wish.place)}
        ends.append(filled(lines_of("places", wish.way // 3), slots | there))
    return " ".join(sentence(part) for part in (*parts, *ends))


def brief(wish: Wish, count: int) -> str:
    """So many sentences, the first of which says who, where and what."""
    slots = slots_of(wish)
    lines, rest = rows(wish.kind), rows(wish.kind)["brief"][0].split(" / ")
    where = f", {wish.place}," if wish.place else ""
    if wish.time and not wish.time.startswith("one "):
        where = f"{where.rstrip(',')}, {wish.time},"
    gift = "gift" in lines
    known = (wish.both or wish.kind.startswith("all")) and not gift
    if known:
        begin = f"Once upon a time{where} there were {wish.hero.said} and {wish.other.said}"
    else:
        begin = f"Once upon a time{where} there was {wish.hero.said}"
    if gift:
        begin += f" who had {slots['a x']} for {slots['a g']}"
        known = True
    elif rest[0].startswith("{H} "):
        begin += f" who {rest[0].removeprefix('{H} ').removeprefix('and {g} ')}"
    else:
        rest = [begin, *rest]
    rest = [sentence(part) for part in rest[1:]]
    if wish.three:
        begin = begin.replace(" and ", ", ", 1).replace(
            wish.other.said, f"{wish.other.said} and {wish.more[0].said}", 1
        )
    elif wish.more:
        begin += f", and {wish.more[0].said} was with them"
    if count == 2 and not known:
        chosen = ["But {a g} helped {him}, and in the end all was well"]
        if wish.kind in ("none", "one habit", "one have"):
            chosen = ["Then came {a g}, and they became friends"]
    else:
        need = [] if known else [next(i for i, part in enumerate(rest) if "{a g}" in part)]
        keep = {*need, len(rest) - 1}
        for at in reversed(range(len(rest))):
            keep |= {at} if len(keep) < count - 1 else set()
        chosen = [rest[at] for at in sorted(keep)]
    text = introduced(" / ".join(chosen), wish.other.said, known)
    done = [filled(part, slots) for part in (begin, *text.split(" / "))]
    return " ".join(f"{sentence(part)}." for part in done)


# --- how it is asked for -------------------------------------------------------------------------


def sloppy(rng: random.Random, text: str) -> str:
    """Articles lost or wrong, now and then, as by somebody who learns English."""
    way = rng.random()
    if way < 0.1:
        text = re.sub(r"\b(a|an) ", "", text)
    elif way < 0.16:
        text = re.sub(r"\ban ", "a ", text)
    elif way < 0.2:
        text = re.sub(r"\b(who|that) ", "", text)
    return text


def who_of(rng: random.Random, one: Being) -> str:
    if one.name and not one.of:
        if not one.trait and rng.random() < 0.14:
            return f"my {one.noun} {one.name}"
        way = rng.choice(
            (" named {n}", " named {n}", " called {n}", ", {n},", " with the name {n}")
        )
        return one.plain + way.replace("{n}", one.name)
    return one.plain


def request(rng: random.Random, wish: Wish, kept: bool) -> str:
    slots = slots_of(wish)
    lines = rows(wish.kind)
    mood, post = "", ""
    if wish.mood and rng.random() < 0.55:
        mood = rng.choice(MOODS[wish.mood])
        mood = mood.removeprefix("a bit ") if mood.startswith("a bit") else mood
    elif wish.mood:
        post = rng.choice(POST[wish.mood])
    if wish.count:
        number = rng.choice(COUNTS[wish.count])
        post += rng.choice(
            (
                f" in {number} sentences",
                f", {number} sentences",
                f", just {number} sentences",
                f" with exactly {number} sentences",
            )
        )
    size = rng.choice(("short ", "", "", "", "little ", "nice ")) if not mood else ""
    noun = rng.choice(("story", "story", "story", "story", "tale", "fairy tale"))
    if mood in ("bedtime", "good night", "calm bedtime"):
        noun = "story"
    k = f"{mood or size.strip()} {noun}".strip()
    gift = "gift" in lines
    pair = wish.both and not gift
    hero, other = who_of(rng, wish.hero), who_of(rng, wish.other)
    third = ""
    if wish.more:
        third = who_of(rng, wish.more[0])
        hero = f"{hero}, {other}"
        other = third
    who = f"{hero} and {other}" if pair else hero
    who = who.replace(",,", ",")
    place = (
        rng.choice((" {p}", " {p}", ", {p}", ", set {p}")).replace("{p}", wish.place)
        if wish.place
        else ""
    )
    when = f"{rng.choice((' ', ' ', ', '))}{wish.time}" if wish.time else ""
    base, third, past, going = slots.get("v", ""), slots.get("vs", ""), slots.get("past", ""), ""
    going = slots.get("going", "")
    if wish.kind == "one habit":
        base, third, past, going = slots["x2"], slots["x"], slots["xp"], ""
    if wish.kind == "none" or (pair and wish.kind == "all meet" and rng.random() < 0.3):
        do = plain = ""
        loose = True
    else:
        verb = base if pair else third
        if verb == "love " + slots.get("x", "#") or wish.kind == "all meet":
            going = ""
        ways = [f"who {verb}", f"who {verb}", f"that {verb}", f"who {past}", f"and they {base}"]
        ways[4] = f"and they {base}" if pair else f"who {verb}"
        ways += [going, going] if going and not going.startswith("not ") else []
        do = rng.choice(ways)
        plain = f"{who} {rng.choice((verb, verb, past))}"
        if wish.kind == "all sing" and pair is False:
            do = do.replace("want ", "wants ")
        loose = False
    helped = wish.kind.startswith("one") and not gift and wish.other.noun not in HELPERS
    if helped:
        him = slots["him"]
        # A request names who helps before or behind the rest.
        tail = rng.choice(
            (
                f" and {other} helps {him}",
                f", and {other} helps {him}",
                f" and {other} who helps {him}",
                f" and is helped by {other}",
                f" with the help of {other}",
                f", {other} helps",
                f". {other} should help {him}",
                f" and {other} helped {him}",
                f" and {other} help {him}",
                f" and then meets {other}",
                f". there should be {other} too",
            )
        )
        do, plain = f"{do}{tail}", f"{plain}{tail}"
    things = [hero, other] if (pair or helped) else [hero]
    thing = {
        "all eat": slots.get("x"),
        "all find": slots.get("a x"),
        "all build": slots.get("a x"),
        "all travel": slots.get("x"),
        "all rescue": slots.get("a x"),
    }.get(wish.kind)
    if thing:
        things.append(thing)
    if wish.kind == "one lose":
        things.append(f"a lost {wish.slots['full']}")
    loose = loose or (len(things) > 2 and rng.random() < 0.2)
    if loose and (len(things) > 1 or wish.kind == "none"):
        if rng.random() < 0.3 and len(things) > 2:
            rng.shuffle(things)
        joined = ", ".join(things[:-1]) + f" and {things[-1]}" if len(things) > 1 else things[0]
        if rng.random() < 0.3:
            joined = ", ".join(things)
        form = rng.choice(LOOSE) if not kept else "a story, and in it {things}"
        if wish.kind == "none" and rng.random() < 0.5:
            form = f"{TELL} {{a}} about {{things}}"
        form = form.replace("{things}", joined + place + when)
    else:
        form = rng.choice(KEPT if kept else ASKS)
    # What is named goes in first: some of these are parts of forms, too.
    for key, word in (("who", who), ("do", do), ("plain", plain), ("in", place), ("when", when)):
        form = form.replace(f"{{{key}}}", word)
    text = alternative(rng, form.replace("{a}", "@A").replace("{k}", "@K"))
    text = sloppy(rng, text).replace("@A", with_article(k)).replace("@K", k)
    text = re.sub(r",? ?,", ",", text.replace(" .", "."))
    if post and text.endswith("please"):
        text = text.removesuffix("please").rstrip(" -,")
    text = text.rstrip("?!,") + post if post else text
    return re.sub(
        r"\. ([a-z])", lambda m: f". {m[1].upper()}" if rng.random() < 0.6 else m[0], tidy(text)
    )


def kept_words(wish: Wish) -> list[str]:
    words = [wish.place, wish.time, *wish.slots.values(), *wish.verbs]
    for one in (wish.hero, wish.other, *wish.more):
        words += [one.noun, one.trait, one.name]
    return [word for text in words for word in text.split() if "{" not in word]


# --- what is asked next --------------------------------------------------------------------------

ADD = (
    "[now|and now|again,|ok now] with {k} in it",
    "put {k} in[ it| the story|to the story]",
    "add {k}[ please| to the story|]",
    "and {k} should be in it too",
    "the same [story|] but with {k}",
    "[can you|could you|please] [add|put in|include] {k}",
    "with {k} too please",
    "now add {k}",
    "where is {k}? put {k} in it",
    "make {k} part of the story",
    "tell it again with {k}",
    "i want {k} in the story",
    "{k} is missing, tell it again",
)
ENDS = {
    "happy": (
        "[now|] with a happy ending[ please|]",
        "make it end [happily|well|happier]",
        "make the ending happier",
        "a happy end please",
        "too sad, make it happy",
        "i want a happy ending",
        "can it end well",
        "happier ending please",
        "give it a happy end",
    ),
    "sad": (
        "make it [sad|sadder]",
        "[now|] with a sad ending",
        "a sad ending please",
        "make it end sadly",
        "can it end sadly",
        "now a sad version",
        "sadder please",
    ),
    "funny": (
        "make it [funny|funnier|silly]",
        "funnier please",
        "now a funny version",
        "can you make it funnier",
        "the same but funny",
        "not funny, try again",
        "make it more fun",
    ),
    "scary": (
        "make it [scary|scarier|spooky]",
        "scarier please",
        "now a scary version",
        "the same but scary",
        "can it be a bit scary",
        "more scary",
    ),
    "exciting": (
        "make it more exciting",
        "more action please",
        "too boring, make it exciting",
        "with more adventure",
        "can it be more exciting",
        "more exciting please",
    ),
    "calm": (
        "[make it|] less scary[ please|]",
        "make it [calmer|calm]",
        "now for bedtime",
        "more quiet, it is bedtime",
        "can you make it a bedtime story",
        "calmer, she should fall asleep",
    ),
}
RENAME = (
    "[call|name] {h} {n}[ instead| please|]",
    "change the name to {n}",
    "{his} name should be {n}",
    "can {h} be called {n}",
    "rename {h} to {n}",
    "make {his} name {n}",
    "the hero should be called {n}",
    "with the name {n} please",
    "same story but {h} is called {n}",
    "use the name {n}",
)
INSTEAD = (
    "[now|the same|again] with {a} instead of {h}",
    "make it about {a} instead",
    "change {h} to {a}",
    "[now|and now|the same] about {a}",
    "i want {a}, not {old}",
    "{a} instead of {old}",
    "replace {h} [with|by] {a}",
    "same story but with {a} as hero",
)
MOVE = (
    "[now|the same|again] {p}",
    "it should happen {p}",
    "set it {p}",
    "let it take place {p}",
    "[can it|could it] be {p}",
    "make it happen {p}",
    "the same story {p} please",
)
NEXT = (
    "what happens next",
    "what happened next?",
    "and then?",
    "and then",
    "go on",
    "continue",
    "continue the story",
    "tell me more",
    "what happened after that",
    "then what",
    "the next chapter",
    "more please",
    "how does it go on",
    "keep going",
    "what did they do the next day?",
)
OTHER = (
    "another ending",
    "another ending please",
    "can you give it another ending?",
    "a different ending",
    "change the ending",
    "i don't like the end",
    "tell me another end",
    "other ending pls",
)
SHORTER = (
    "shorter",
    "shorter please",
    "make it shorter",
    "too long, shorter",
    "in {n} sentences",
    "tell it in {n} sentences",
    "the same in {n} sentences",
    "now in {n} sentences",
    "sum it up in {n} sentences",
)
TITLE = (
    "a title please",
    "give it a title",
    "what is the title?",
    "what is it called",
    "find a title for it",
    "and the title?",
)
WHO = (
    "who was the hero",
    "who is the hero?",
    "who was it about",
    "who is the story about?",
    "who is the main character",
    "the hero was who?",
)
HELPED = ("who helped {him}?", "who helped {h}", "and who helped {him}", "who came to help?")
PLACE = ("where did it happen", "where does the story take place?", "and where was that")
NAME = ("what was {his} name", "what is {his} name?", "what is the hero called", "{his} name?")


def typed(rng: random.Random, form: str, **words: str) -> str:
    text = alternative(rng, filled(form, words) if words else form)
    text = " ".join(text.split())
    text = sentence(text) if rng.random() < 0.4 else text
    asks = re.match(r"(?i)(what|who|where|can|could|how)\b", text)
    if asks and text[-1] != "?" and rng.random() < 0.5:
        text += "?"
    return text


def happier(wish: Wish, mood: str) -> Wish:
    return replace(wish, mood=mood, count=0)


def follow_up(rng: random.Random, wish: Wish) -> list[str]:
    """Some questions about the story, and requests to tell it another way."""
    turns: list[str] = []
    spent: set[str] = set()
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        slots = slots_of(wish)
        ways = ["add"] * 5 + ["mood"] * 5 + ["next"] * 4 + ["rename"] * 3 + ["instead"] * 2
        ways += ["move"] * 2 + ["other"] * 3 + ["shorter"] * 2 + ["title", "who", "who"]
        ways += ["asked"] * 4 + ["helped"] * 3 * (not wish.both and wish.kind.startswith("one"))
        ways += ["where"] * 2 * bool(wish.place) + ["name"] * bool(wish.hero.name)
        ways = [way for way in ways if way not in spent]
        if wish.count == 2:  # so short that little can be asked of it
            ways = [w for w in ways if w in ("who", "add", "mood", "rename", "instead", "next")]
        way = rng.choice(ways or ["who"])
        spent.add(way)
        if way == "add" and len(wish.more) < 1:
            who = relative(rng, wish.hero) if rng.random() < 0.6 else being(rng, named_=0.2)
            while (
                clashes(who, wish.hero)
                or clashes(who, wish.other)
                or (who.name and who.name[0] in (wish.hero.name + wish.other.name)[:1])
            ):
                who = being(rng, named_=0.0)
            wish = replace(wish, more=(who,), count=0)
            shown = who_of(rng, who).rstrip(",")
            mood = ""
            if rng.random() < 0.3:
                wish = happier(wish, "happy")
                mood = rng.choice((" and a happy end", " and make it end well", ", and happier"))
            form = typed(rng, rng.choice(ADD), k=shown)
            turns += [form.rstrip("?") + mood if mood else form, told(wish)]
        elif way == "mood":
            mood = rng.choice([m for m in ENDS if m != wish.mood])
            wish = happier(wish, mood)
            turns += [typed(rng, rng.choice(ENDS[mood])), told(wish)]
        elif way == "rename":
            name = a_name(rng, wish.hero.pronoun, (wish.other.name + wish.hero.name)[:1])
            ask = typed(rng, rng.choice(RENAME), n=name, h=slots["h"], his=slots["his"])
            pronoun = wish.hero.pronoun
            if pronoun == "it":
                pronoun = known_pronoun(name) or "he"
            if (known_pronoun(name) or pronoun) != pronoun:
                continue
            wish = replace(wish, hero=replace(wish.hero, name=name, pronoun=pronoun), count=0)
            if wish.other.of:
                wish = replace(wish, other=replace(wish.other, of=named.IT[pronoun][2]))
            wish = replace(
                wish,
                more=tuple(replace(m, of=named.IT[pronoun][2]) if m.of else m for m in wish.more),
            )
            turns += [ask, told(wish)]
        elif way == "instead":
            new = replace(being(rng, named_=0.0), name=wish.hero.name, trait=wish.hero.trait)
            if new.name:
                new = replace(new, pronoun=wish.hero.pronoun)
            if (
                clashes(new, replace(wish.other, name=""))
                or new.noun == wish.hero.noun
                or (
                    new.noun.partition(" ")[0] in named.SIZED
                    or any(clashes(new, replace(m, name="")) for m in wish.more)
                )
            ):
                continue
            ask = typed(
                rng,
                rng.choice(INSTEAD),
                a=with_article(new.noun),
                h=f"the {wish.hero.noun}",
                old=with_article(wish.hero.noun),
            )
            his = named.IT[new.pronoun][2]
            other = replace(wish.other, of=his) if wish.other.of else wish.other
            more = tuple(replace(m, of=his) if m.of else m for m in wish.more)
            wish = replace(wish, hero=new, other=other, more=more, count=0)
            turns += [ask, told(wish)]
        elif way == "move":
            place = named._place(rng)
            if place == wish.place:
                continue
            wish = replace(wish, place=place, count=0)
            turns += [typed(rng, rng.choice(MOVE), p=place), told(wish)]
        elif way == "shorter":
            n = rng.choice((2, 3, 3))
            ask = rng.choice(SHORTER)
            n = n if "{n}" in ask else 3
            if wish.count and wish.count <= n:
                continue
            turns += [typed(rng, ask, n=rng.choice(COUNTS[n])), brief(wish, n)]
        elif way == "next":
            turns += [typed(rng, rng.choice(NEXT)), filled(rows(wish.kind)["next"][0], slots)]
        elif way == "other":
            ending = filled(rows(wish.kind)["alt"][0], slots)
            turns += [typed(rng, rng.choice(OTHER)), f"Here is another ending: {ending}"]
        elif way == "title":
            named_ = filled(rows(wish.kind)["name"][0], slots)
            words = f"{slots['h']} and {named_}".split()
            small = ("a", "an", "and", "the", "of", "in", "on", "to", "his", "her", "its", "who")
            title = " ".join(
                word if word in small and at else sentence(word) for at, word in enumerate(words)
            )
            turns += [typed(rng, rng.choice(TITLE)), f'A good title is "{title}".']
        elif way == "who":
            one = wish.hero
            name = f"{one.name}, {one.plain}" if one.name else one.plain
            answer = f"The hero of the story is {name}."
            if wish.both and "gift" not in rows(wish.kind):
                third = [more.called for more in wish.more if wish.three]
                answer = f"The heroes of the story are {listed([slots['h'], slots['g'], *third])}."
            turns += [typed(rng, rng.choice(WHO)), answer]
        elif way == "helped":
            ask = typed(rng, rng.choice(HELPED), him=slots["him"], h=slots["h"])
            turns += [ask, f"{sentence(slots['g'])} helped {slots['h']}."]
        elif way == "where":
            turns += [typed(rng, rng.choice(PLACE)), f"The story takes place {wish.place}."]
        elif way == "name":
            his = slots["his"]
            ask = typed(rng, rng.choice(NAME), his=his)
            turns += [ask, f"{sentence(his)} name is {wish.hero.name}."]
        elif way == "asked" and "ask" in rows(wish.kind):
            found = rng.choice(rows(wish.kind)["ask"])
            ask, _, answer = found.partition(" ~ ")
            if wish.kind == "all meet" or (wish.count and "spot" in answer):
                continue
            if not wish.both and ask.startswith("what did they"):
                ask = ask.replace("they", slots["he"])
                answer = answer.replace("They", "{H} and {g}")
            turns += [typed(rng, ask, **slots), filled(answer, slots)]
    return turns


# --- a beginning that is given -------------------------------------------------------------------

BEGUN = (
    "Once upon a time there was {a}",
    "Once upon a time there was {a}",
    "There once was {a}",
    "There was once {a}",
    "Once there was {a}",
    "Long ago there lived {a}",
    "Once upon a time there lived {a}",
    "A long time ago there was {a}",
)
NIGHTS = (
    "one night",
    "one night",
    "one day",
    "one morning",
    "one evening",
    "one winter night",
    "one rainy day",
    "one Sunday morning",
    "one cold evening",
    "on Christmas Eve",
    "one summer night",
    "on a foggy morning",
    "at midnight",
    "one afternoon",
    "on his birthday",
)
DID = (
    "opened the window and",
    "went outside and",
    "woke up and",
    "looked up from {his} book and",
    "came home and",
    "was about to go to bed and",
    "went into the cellar and",
    "sat up in bed and",
)
WAS = (
    "was sitting at home when suddenly",
    "was just drinking tea when",
    "was fast asleep when",
    "was walking home when suddenly",
    "was reading a book when",
    "was all alone when suddenly",
)
WRAPS = (
    "continue: {x}",
    "continue this story: {x}",
    "finish this story: {x}",
    "go on: {x}",
    "how does it go on? {x}",
    "continue the story {x}",
    "complete this: {x}",
    "keep going: {x}",
    "please continue: {x}",
    "[can you|could you] [continue|finish] this? {x}",
    "write on: {x}",
    "i started a story, go on: {x}",
    "what happens next? {x}",
    "here is my beginning: {x}",
    "this is how it starts: {x}",
    "finish it: {x}",
)


@cache
def begins() -> tuple[str, ...]:
    return tuple(name for name in read_sections(FILE) if name.startswith("begin "))


def begun(rng: random.Random) -> tuple[str, str, str]:
    """A beginning, how it goes on from where it stops, and what may be kept back."""
    text, answer, key, _ = gone_on(rng)
    return text, answer, key


AFTERWARDS = (*NEXT[:-2], "and what happened then?", "go on please", "more", "what next")


def gone_on(rng: random.Random) -> tuple[str, str, str, list[str]]:
    """`begun`, and what is asked then."""
    section = rng.choice(begins())
    lines = rows(section)
    vp, event, go = lines["vp"][0], lines["event"][0], rng.choice(lines["go"])
    person = rng.choices(("he", "I", "we", "two"), (74, 12, 6, 8))[0]
    place = named._place(rng) if rng.random() < 0.55 else ""
    night = rng.choice(NIGHTS)
    key = night
    if person == "he":
        hero = being(rng, named_=0.65)
        he, him, his, _ = named.IT[hero.pronoun]
        n = hero.called
        a = hero.plain
        if hero.name:
            a += rng.choice((" named ", " named ", " called ")) + hero.name
        head = rng.choice(BEGUN).replace("{a}", a)
        lived = f" {place}" if " lived " in head else f" who lived {place}"
        head += rng.choice((lived, f" {place}", lived)) if place else ""
        key = f"{hero.noun}/{hero.name}"
        forms = {"n": n, "he": he, "him": him, "his": his, "was": "was", "do": "does", "had": "had"}
    elif person == "two":
        one, other = being(rng, named_=1.0), being(rng, named_=1.0)
        if clashes(one, other):
            return gone_on(rng)
        head = f"Once upon a time there were two friends named {one.name} and {other.name}"
        head += f" who lived {place}" if place else ""
        n, key = f"{one.name} and {other.name}", f"{one.name}/{other.name}"
        forms = {
            "n": "they",
            "he": "they",
            "him": "them",
            "his": "their",
            "was": "were",
            "do": "do",
            "had": "had",
        }
    else:
        him, his = ("me", "my") if person == "I" else ("us", "our")
        was = "was" if person == "I" else "were"
        n = person
        head = f"{sentence(person)} lived {place}" if place else ""
        forms = {
            "n": person,
            "he": person,
            "him": him,
            "his": his,
            "was": was,
            "do": "do",
            "had": "had",
        }
        if not head:
            head = rng.choice(
                (
                    "Last summer {n} {was} all alone at home",
                    "It was late, and {n} {was} tired",
                    "{N} will never forget that day",
                )
            )
            head = filled(head, forms)
        key = f"{person}/{place}/{night}"
    if person in ("I", "we"):
        night = rng.choice([x for x in NIGHTS if x.startswith("one ")])
    night = night.replace("his", forms["his"])
    forms["there"] = definite(place) if place else "in the house"
    he = forms["he"]
    was = forms["was"]
    way = rng.random()
    if way < 0.4:
        text, rest = f"{head}{rng.choice((', and ', ', and ', '. ', '. '))}{night}", f"{n} {vp}."
        if ". " in text:
            text = re.sub(r"\. (\w)", lambda m: f". {m[1].upper()}", text)
    elif way < 0.58:
        text, rest = f"{head}. {sentence(night)} {rng.choice((n, he))}", f"{vp}."
    elif way < 0.72:
        did = rng.choice(DID).replace("{his}", forms["his"]).replace("was", was)
        text, rest = f"{head}. {sentence(night)} {n} {did}", f"{vp}."
    elif way < 0.86:
        did = rng.choice(WAS).replace("was", was)
        text, rest = f"{head}. {sentence(night)} {n} {did}", f"{event}."
    else:
        text, rest = f"{head}. It was a cold night.", f"{sentence(n)} {vp}."
    if text.endswith(".") or rng.random() < 0.4:
        text = alternative(rng, rng.choice(WRAPS)).replace("{x}", text)
    elif rng.random() < 0.25:
        text += rng.choice(("...", " ...", "…"))
    elif rng.random() < 0.1:
        text += rng.choice((" (continue)", " - continue please", " ... go on"))
    forms["N"] = sentence(forms["n"])
    answer = filled(rest, forms)
    if person == "he" and rng.random() < 0.5:
        kind = {"noun": hero.noun, "a noun": with_article(hero.noun)}
        answer += " " + filled(rng.choice(read_sections(FILE)["of their kind"]), forms | kind)
    if person == "two" and n not in answer:
        go = re.sub(r"\{[nN]\}", n, go, count=1)
    answer += " " + filled(go, forms)
    if rng.random() < 0.22:
        text = text.lower() if rng.random() < 0.7 else text.replace(", ", " ")
    more: list[str] = []
    if rng.random() < 0.4:
        names = {"him2": "me", "He2": "I"}
        if person in ("he", "two"):
            names = {"him2": forms["him"], "He2": sentence(he)}
        pool = read_sections(FILE)["after begun"]
        pool = [x for x in pool if "2}" not in x or person in ("he", "two")]
        after = filled(rng.choice(pool), forms | names)
        more += [typed(rng, rng.choice(AFTERWARDS)), after]
        if rng.random() < 0.3:
            more += [typed(rng, rng.choice(AFTERWARDS)), "And that is the end of the story."]
    elif person == "he" and rng.random() < 0.3:
        name = f"{hero.name}, {hero.plain}" if hero.name else hero.plain
        more += [typed(rng, rng.choice(WHO)), f"The hero of the story is {name}."]
    elif place and rng.random() < 0.3:
        more += [typed(rng, rng.choice(PLACE)), f"The story takes place {place}."]
    text = re.sub(r"\bi\b", "I", text) if rng.random() < 0.7 else text
    return text, answer, key, more


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request in which much is named, the story, and often what is asked next."""
    while rng.random() < 0.2:
        text, answer, key, more = gone_on(rng)
        if held_out == is_reserved(key):
            return chat(text, answer, *more)
    while True:
        wish = drawn(rng)
        kept = held_out and rng.random() < 0.1
        key = f"{wish.hero.noun}/{wish.other.noun}/{wish.slots.get('x', '')}"
        if held_out == (kept or is_reserved(key)):
            break
    asked = request(rng, wish, kept)
    asked = sentence(asked) if rng.random() < 0.5 else asked
    turns = [typed_with(rng, named.mistyped(rng, asked), *kept_words(wish)), told(wish)]
    if rng.random() < 0.45:
        turns += follow_up(rng, wish)
    return chat(*turns)
