"""Stories that do what was asked: any hero, any number of them, what they do, the mood, the length.

`story_data/told.txt` has what heroes may do, each with plots of its own whose obstacle and end fit
it. Any hero goes with any of them, so that a small model learns to copy hero and deed into the
first sentence and to go on with the plot of the deed. Questions after a story (what happens next,
shorter, another ending, a title, the hero, the moral) are answered from the same parts.

A block of the file:

* `# name` or `# name | funny`: with a mood the story is told when this mood is wished for;
* `v: gets* lost in the forest ~ got lost in the forest`: what a request may say of the hero, and
  what the story says; a verb with a star follows the number of heroes, also `was*`;
* `x: ...`: what fills `{x}`; `> ...`: a plot; `short:`: two sentences that go after the first;
  `one: but ...`: how a story of a single sentence ends; `next:`, `other:`, `moral:`, `title:`.

`{h}` is the hero, `{f}` a helper, `{he}`, `{his}`, `{i}`, `{my}` follow the number of heroes, and
`<a|b>` is the one for a single hero and the other for several.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from assets.demo.recipe.corpus import named
from assets.demo.recipe.corpus.plots import DATA, asked_name, known_pronoun
from assets.demo.recipe.corpus.stories import is_reserved
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    favourite,
    mostly_first,
    read_sections,
    sentence,
    typed_with,
    with_article,
)

FILE, ASKS = DATA / "told.txt", DATA / "told_asks.txt"
NAMES = {
    "he": ("Tom", "Ben", "Max", "Sam", "Leo", "Finn", "Jack", "Otto", "Hugo"),
    "she": ("Mia", "Anna", "Lily", "Emma", "Rosa", "Ella", "Nora", "Ruby", "Zoe"),
}
FREQUENT = (
    "fox", "cat", "dog", "bear", "rabbit", "mouse", "penguin", "dragon", "robot", "girl", "boy",
    "princess", "horse", "owl", "elephant", "lion", "duck", "frog", "pig", "unicorn", "knight",
    "pirate", "king", "witch", "hedgehog", "squirrel", "turtle", "bird", "monkey", "wolf", "ghost",
    "kitten", "puppy", "bunny", "prince", "astronaut", "wizard", "giraffe", "tiger", "whale",
)  # fmt: skip
TRAITS = {
    "animal": ("little", "little", "little", "little", "small", "young", "old", "big", "tiny",
               "clever", "grey", "white", "brown", "fat"),
    "person": ("little", "little", "young", "clever", "poor", "quiet", "friendly", "small"),
    "thing": ("little", "little", "small", "old", "blue", "tiny"),
    "creature": ("little", "little", "small", "old", "friendly", "young"),
}  # fmt: skip
# Words of a request that say nothing about what sort of being somebody is.
PLAIN = frozenset((
    "the", "and", "two", "three", "five", "some", "named", "called", "his", "her", "best", "group",
    "family", "friend", "friends", "child", "children", "boy", "boys", "girl", "girls", "brother",
    "brothers", "sister", "sisters", "mother", "father", "grandmother", "grandfather", "daughter",
    "son", "grandson", "cousins", "twins", "with", "man", "woman", "house", "night", "tree",
    *(trait for traits in TRAITS.values() for trait in traits),
))  # fmt: skip
# Several heroes: who they are, and what they are called then.
SEVERAL = (
    ("two friends", "the two friends", "he she"), ("two friends", "the two friends", "he she"),
    ("two best friends", "the two friends", "she he"),
    ("two brothers", "the two brothers", "he he"),
    ("two sisters", "the two sisters", "she she"), ("twins", "the twins", "he she"),
    ("a brother and a sister", "the brother and the sister", ""),
    ("two children", "the two children", "he she"), ("three friends", "the three friends", ""),
    ("three brothers", "the three brothers", ""), ("three sisters", "the three sisters", ""),
    ("a boy and a girl", "the boy and the girl", ""), ("two girls", "the two girls", "she she"),
    ("two boys", "the two boys", "he he"), ("some children", "the children", ""),
    ("two cousins", "the two cousins", "he she"), ("three children", "the three children", ""),
    ("a boy and his dog", "the boy and his dog", ""), ("a group of friends", "the friends", ""),
    ("a girl and her cat", "the girl and her cat", ""),
    ("a girl and her horse", "the girl and her horse", ""),
    ("a grandfather and his grandson", "the grandfather and his grandson", ""),
    ("a mother and her daughter", "the mother and her daughter", ""),
    ("a father and his son", "the father and his son", ""),
    ("a farmer and his dog", "the farmer and his dog", ""),
    ("a family of mice", "the mice", ""), ("a family of bears", "the bears", ""),
    ("a knight and a dragon", "the knight and the dragon", ""),
    ("a cat and a dog", "the cat and the dog", ""),
    ("a cat and a mouse", "the cat and the mouse", ""),
    ("a fox and a rabbit", "the fox and the rabbit", ""),
)  # fmt: skip
IT = {
    "he": ("he", "him", "his", "himself"), "she": ("she", "her", "her", "herself"),
    "it": ("it", "it", "its", "itself"), "they": ("they", "them", "their", "themselves"),
}  # fmt: skip
MANY = {
    "is": "are", "was": "were", "am": "are", "has": "have", "does": "do", "goes": "go",
    "dies": "die",
    "doesn't": "don't", "isn't": "aren't", "wasn't": "weren't", "can't": "can't", "can": "can",
    "cannot": "cannot", "hasn't": "haven't", "lies": "lie",
}  # fmt: skip
DOUBLED = ("get", "swim", "run", "win", "stop", "plan", "sit", "dig", "cut", "let", "put", "begin",
           "forget", "set", "hit", "slip", "hug", "step", "chat", "spot", "brag", "travel",
           "quarrel")  # fmt: skip
NOT_ING = ("can", "cannot", "can't", "want", "need", "like", "love", "hate", "do", "don't", "have",
           "know", "think", "be", "believe", "must")  # fmt: skip
# What is told of a hero when nothing else is asked for.
CORE = frozenset((
    "forest", "swim", "dark", "treasure map", "toy", "friend", "snow", "race", "star", "moon",
    "garden", "birthday", "balloon", "cave", "rain", "pet", "hurt bird", "sea", "lost thing",
    "found thing", "meets", "fear of", "good deed", "paint", "bike", "sing", "door", "storm rescue",
))  # fmt: skip
MOODS = {
    "funny": ("funny", "funny", "silly", "really funny", "hilarious"),
    "scary": ("scary", "scary", "spooky", "ghost", "creepy"),
    "sad": ("sad", "sad", "very sad"),
    "bedtime": ("bedtime", "bedtime", "sleepy", "good night", "calm bedtime", "goodnight"),
    "adventure": ("adventure", "exciting", "adventurous", "thrilling"),
    "happy": ("happy", "cheerful", "heartwarming"),
}
GENTLE = (
    " but not too scary", ", but not too scary", ", not too scary please", " that is not too scary",
    " but only a little scary", ", not too scary", " (not too scary!)", " but for kids",
)  # fmt: skip
SLEEP = (
    "Then {h} yawned, curled up and fell fast asleep. Good night!",
    "The moon came up, the stars twinkled, and soon {h} was* fast asleep. Good night, sleep well!",
    "In the evening {h} crept into bed, closed {his} eyes and slept until the morning. Good night!",
)
ENDS = (
    "In the evening {h} came home, had a warm supper and told everybody what had happened. "
    "And that is the end of the story.",
    "Then {h} went home, tired and happy. All {his} friends wanted to hear the story again and "
    "again. That is the end.",
    "And whenever {h} thought of that day, {he} had to smile. That is the end of the story.",
)
# What makes a story silly that is asked for by what happens in it, and how such a one ends.
SILLY = (
    "Then {h} sneezed so loudly that a cow fell over.",
    "A goose on a bicycle rode past and rang the bell.",
    "At this moment a sausage fell out of {his} hat.",
    "{H} slipped on a banana peel and slid three times around the house.",
    '"Moo," said a cow who had nothing to do with it.',
    "By mistake {h} sat down on a cake.",
    "Somewhere a duck laughed so much that it lost a feather.",
    "The mayor came by in his underpants and asked for the time.",
)
SILLY_ENDS = (
    "And in the end a cake flew through the window and landed on {his} <nose|noses>.",
    "Then the whole village laughed until the trousers came off, and even the cows had to giggle.",
    '"What did we learn from this?" asked the duck. "Nothing at all," said {h} and ate a banana.',
    "Everybody clapped, and a hen laid an egg right on the mayor's head.",
)
SAD_END = (
    "It took a long time, but slowly the pain became smaller, and one day {h} could smile again. "
    "That is the end of the story."
)
LENGTHS = {
    "": ("", "", "", "", "", "nice ", "good ", "little ", "cute ", "simple ", "sweet "),
    "short": ("short ", "short ", "quick ", "brief ", "short little "),
    "tiny": ("very short ", "super short ", "really short ", "tiny ", "mini "),
    "long": ("long ", "longer ", "long ", "very long "),
    "1": ("one-sentence ", "one sentence "), "2": ("two-sentence ", "two sentence "),
    "3": ("three-sentence ", "three sentence "),
}  # fmt: skip
COUNTED = {
    "1": (" in one sentence", " in 1 sentence", ", only one sentence", " in a single sentence",
          ", one sentence please", " in just one sentence"),
    "2": (" in two sentences", " in 2 sentences", ", two sentences", ", just two sentences"),
    "3": (" in three sentences", " in 3 sentences", ", three sentences", ", only 3 sentences",
          ", three sentences please"),
    "short": (", keep it short", ", not too long", ", short please", ", make it short"),
    "long": (", make it long", ", a long one please", ", please make it long"),
    "tiny": (", very short please", ", make it very short", ", as short as possible"),
}  # fmt: skip


@dataclass(slots=True)
class Block:
    """What heroes may do, with its plots."""

    name: str
    mood: str = ""
    deeds: list[tuple[str, str]] = field(default_factory=list)
    plots: list[str] = field(default_factory=list)
    things: tuple[str, ...] = ()
    lines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return " ".join((*self.plots, *(x for lines in self.lines.values() for x in lines)))


@dataclass(slots=True)
class Heroes:
    """Who a story is about: `noun` as asked for, `said` in the first sentence, `called` later."""

    noun: str
    said: str
    called: str
    names: tuple[str, ...] = ()
    pronoun: str = "he"
    kind: str = ""

    @property
    def many(self) -> bool:
        return self.pronoun == "they"


@dataclass(slots=True)
class Tale:
    """A story with all that is asked about it."""

    block: Block
    heroes: Heroes
    deed: str
    plot: str
    slots: dict[str, str]
    mood: str = ""
    length: str = ""
    moral: bool = False


@cache
def blocks() -> tuple[Block, ...]:
    """All blocks of the file.

    Raises ValueError for a block that lacks a part.
    """
    found = []
    for part in re.split(r"^# ", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)[2:]:
        head, _, body = part.partition("\n")
        name, _, mood = (x.strip() for x in head.partition("|"))
        block, past = Block(name, mood), ""
        for line in body.splitlines():
            if line.startswith("> "):
                block.plots.append(line[2:])
            elif line.startswith("v: "):
                now, _, told = line[3:].partition("~")
                past = told.strip() or past
                block.deeds.append((now.strip(), past))
            elif line.startswith("x: "):
                block.things = tuple(x.strip() for x in line[3:].split(","))
            elif line.strip():
                key, _, text = line.partition(": ")
                block.lines.setdefault(key, []).append(text)
        missing = {"short", "one", "next", "other", "moral", "title"} - set(block.lines)
        if missing or not (block.deeds and block.plots and all(past for _, past in block.deeds)):
            raise ValueError(f"told.txt: {name!r} lacks {missing or 'deeds or plots'}")
        found.append(block)
    return tuple(found)


def base(verb: str) -> str:
    """`lose` for `loses`, as several do."""
    if verb in MANY:
        return MANY[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if re.search(r"(ss|sh|ch|x|zz)es$", verb):
        return verb[:-2]
    return re.sub(r"s$", "", verb)


def ing(verb: str) -> str:
    """`losing` for `loses`; empty where nobody says it."""
    if verb == "is":
        return "being"
    stem = base(verb)
    if stem in NOT_ING:
        return ""
    if stem.endswith("ie"):
        return f"{stem[:-2]}ying"
    if stem in DOUBLED:
        return f"{stem}{stem[-1]}ing"
    return f"{stem[:-1]}ing" if re.search(r"[^e]e$", stem) and stem != "be" else f"{stem}ing"


def filled(text: str, slots: dict[str, str]) -> str:
    """`text` with its slots (`{H}` is `{h}` with a capital) and the number of its heroes."""
    many = slots["he"] == "they"
    text = re.sub(r"<([^<>|]*)\|([^<>|]*)>", lambda found: found[2 if many else 1], text)

    def of(match: re.Match[str]) -> str:
        key = match[1]
        return slots[key] if key in slots else sentence(slots[key[:1].lower() + key[1:]])

    text = re.sub(r"\{([\w' ]+)\}", of, text)
    return re.sub(r"([\w']+)\*", lambda found: base(found[1]) if many else found[1], text)


def gerund(text: str) -> str:
    """`getting lost and finding the way` for `gets* lost and finds* the way`, else empty."""
    forms = [ing(verb) for verb in re.findall(r"([\w']+)\*", text)]
    if not forms or not all(forms) or not re.match(r"(?!is\* \w+ing\b)[\w']+\*", text):
        return ""
    left = iter(forms)
    return re.sub(r"[\w']+\*", lambda _: next(left), text)


def plain_hero(rng: random.Random, noun: str = "", name: str = "") -> Heroes:
    """A single hero, with a name that nobody asked for in half of the cases."""
    noun = noun or (rng.choice(FREQUENT) if rng.random() < 0.45 else named.some_hero(rng))
    trait = rng.choice(TRAITS[named.kind_of(noun)]) if rng.random() < 0.35 else ""
    if noun.partition(" ")[0] in (*named.SIZED, *PLAIN):
        trait = "little" if noun in ("boy", "girl") and trait else ""
    full = f"{trait} {noun}".strip()
    pronoun = named.pronoun_of(noun, name)
    if not name and pronoun != "it" and rng.random() < 0.5:
        own = favourite(rng, NAMES[pronoun], noun)
        return Heroes(with_article(full), f"{with_article(full)} named {own}", own, (own,), pronoun)
    if name:
        pronoun = "he" if pronoun == "it" else pronoun
        asked = f"{with_article(full)} {rng.choice(('named', 'named', 'called'))} {name}"
        return Heroes(asked, f"{with_article(full)} named {name}", name, (name,), pronoun)
    return Heroes(with_article(full), with_article(full), f"the {noun}", (), pronoun)


def _two_names(rng: random.Random, pronouns: Sequence[str]) -> tuple[str, str]:
    first = favourite(rng, NAMES[pronouns[0]], "first")
    second = rng.choice([x for x in NAMES[pronouns[1]] if x[0] != first[0]][:5])
    return first, second


def several_heroes(rng: random.Random) -> Heroes:
    """Two or more heroes, of one kind or of two."""
    way = rng.random()
    if way < 0.45:
        said, called, pronouns = rng.choice(SEVERAL)
        if pronouns and rng.random() < 0.5:
            names = _two_names(rng, pronouns.split())
            asked = said
            told = f"{said} named {names[0]} and {names[1]}"
            if rng.random() < 0.4:
                asked = rng.choice((told, f"{said}, {names[0]} and {names[1]},", told))
            return Heroes(asked, told, f"{names[0]} and {names[1]}", names, "they")
        return Heroes(said, said, called, (), "they")
    if way < 0.6:
        kinds = ("person", "animal") if rng.random() < 0.9 else ("animal", "thing")
        one = rng.choice(FREQUENT) if rng.random() < 0.5 else named.some_hero(rng, kinds[0])
        other = rng.choice(FREQUENT) if rng.random() < 0.5 else named.some_hero(rng, kinds[1])
        if one.split()[-1] != other.split()[-1]:
            said = f"{with_article(one)} and {with_article(other)}"
            return Heroes(said, said, f"the {one} and the {other}", (), "they")
    noun = (
        rng.choice(FREQUENT)
        if rng.random() < 0.6
        else named.some_hero(rng, "animal" if rng.random() < 0.85 else "person")
    )
    count = rng.choice(("two ", "two ", "two ", "three ", "three ", "five ", "", "some "))
    trait = rng.choice(("", "", "little ", "little ", "small ", "young "))
    if noun.partition(" ")[0] in named.SIZED:
        trait = ""
    nouns = f"{trait}{named.many_of(noun)}"
    number = "" if count == "some " else count
    if count == "two " and rng.random() < 0.25:
        always = named.lexicon().get(noun, ("", ""))[1]
        names = _two_names(rng, (always or "he", always or "she"))
        told = f"two {nouns} named {names[0]} and {names[1]}"
        asked = told if rng.random() < 0.4 else f"two {nouns}"
        return Heroes(asked, told, f"{names[0]} and {names[1]}", names, "they")
    called = f"the {number if number != 'five ' else ''}{named.many_of(noun)}"
    return Heroes(f"{count}{nouns}", f"{number or 'some '}{nouns}", called, (), "they")


def some_heroes(rng: random.Random) -> Heroes:
    way = rng.random()
    if way < 0.3:
        return several_heroes(rng)
    if way < 0.5:
        noun = rng.choice(FREQUENT) if rng.random() < 0.5 else named.some_hero(rng)
        pronoun = named.lexicon().get(noun, ("", ""))[1] or rng.choice(("he", "she"))
        name = rng.choice(NAMES[pronoun]) if rng.random() < 0.4 else asked_name(rng, pronoun)
        if rng.random() < 0.25 and known_pronoun(name):
            # Only a name: the first sentence says nothing more than the request.
            noun = "girl" if known_pronoun(name) == "she" else "boy"
            return Heroes(name, f"{with_article(noun)} named {name}", name, (name,),
                          known_pronoun(name))  # fmt: skip
        return plain_hero(rng, noun, name)
    return plain_hero(rng)


def slots_for(rng: random.Random, heroes: Heroes, block: Block) -> dict[str, str]:
    """What fills the slots of a story."""
    he, him, his, himself = IT[heroes.pronoun]
    called = heroes.called
    helpers = [x for x in named.HELPERS if x.split()[-1] not in f"{heroes.noun} {called}"]
    helper = favourite(rng, helpers, block.name)
    slots = {
        "h": called, "he": he, "him": him, "his": his, "himself": himself,
        "h's": "their" if heroes.many else f"{called}'s",
        "f": f"the {helper.split()[-1]}", "a f": with_article(helper),
        "i": "we" if heroes.many else "I", "me": "us" if heroes.many else "me",
        "my": "our" if heroes.many else "my", "mine": "ours" if heroes.many else "mine",
    }  # fmt: skip
    if block.things:
        thing = rng.choice(block.things)
        slots.update({"x": thing, "a x": with_article(thing)})
    return slots


def fits(heroes: Heroes, block: Block) -> bool:
    """Whether nobody in the plots is what the heroes are."""
    words = set(re.findall(r"\b[a-z]{3,}", heroes.noun)) - PLAIN
    text = set(re.findall(r"[a-z]+", block.text))
    return not any(
        {word, f"{word}s"} & text for word in words | {w.removesuffix("s") for w in words}
    )


ALONE = re.compile(
    r"(is|becomes)\* (a|an|king|queen|turned)\b|.*\bto (be|become) (an?|king|\{a x\})|"
    r".*\b(being|into|as|is\|are>) (an?\b|\{a x\})|becomes\* \{a x\}|falls\* in love|wears\*|"
    r"loses\* a tooth|has\* (a loose|a tooth|a silly)|gets\* \{his\}"
)  # what only a single one does


def introduced(text: str, known: bool = False) -> str:
    """`text` where the helper is `{a f}` the first time and `{f}` from then on."""
    seen = known

    def of(match: re.Match[str]) -> str:
        nonlocal seen
        new, seen = not seen, True
        capital = match[1][0] in "AF"
        return ("{A f}" if capital else "{a f}") if new else ("{F}" if capital else "{f}")

    return re.sub(r"\{(a f|A f|f|F)\}", of, text)


def flowing(text: str) -> str:
    """`text` with a pronoun where two sentences in a row begin with the hero."""
    parts, before = re.split(r"(?<=[.!?\"]) (?=[A-Z{\"<])", text), False
    for at, part in enumerate(parts):
        begins = part.startswith("{H} ")
        if begins and before:
            parts[at], begins = "{He} " + part[4:], False
        if part.startswith("{H} ") and "f}" not in part and '"' not in part:
            parts[at] = re.sub(r"\b(but|and|so) \{h\} ", r"\1 {he} ", parts[at])
        before = begins
    return " ".join(parts)


def opening(tale: Tale) -> str:
    """The first sentence, without its stop: who the heroes are and what they do."""
    heroes = tale.heroes
    relative = "that" if heroes.pronoun == "it" else "who"
    verb = "were" if re.match(r"(two|three|five|some|twins)\b", heroes.said) else "was"
    return f"Once upon a time there {verb} {heroes.said} {relative} {filled(tale.deed, tale.slots)}"


def part(tale: Tale, key: str, before: str = "") -> str:
    """A part of the block; the helper may be known from `before`."""
    known = tale.slots["f"] in before or tale.slots["a f"] in before
    text = introduced(tale.block.lines[key][0], known)
    return filled(flowing(text), tale.slots)


def the_end(tale: Tale) -> str:
    if tale.mood == "sad" or tale.block.mood == "sad":
        return filled(SAD_END, tale.slots)
    ends = SLEEP if tale.mood == "bedtime" or tale.block.mood == "bedtime" else ENDS
    return filled(ends[len(tale.block.name) % 3], tale.slots)


def silly(plot: str) -> str:
    """`plot` with two silly things in it and a silly end."""
    parts = re.split(r"(?<=[.!?\"]) (?=[A-Z{\"<])", plot)
    free = [
        at
        for at, part in enumerate(parts)
        if at > 1 and part.startswith("{H} ") and " ".join(parts[:at]).count('"') % 2 == 0
    ]
    way = len(plot)
    for number, at in enumerate(reversed(free[:: max(1, len(free) - 1)][:2])):
        parts.insert(at, SILLY[(way + 3 * number) % len(SILLY)])
    return " ".join((*parts, SILLY_ENDS[way % len(SILLY_ENDS)]))


def told(tale: Tale, length: str | None = None) -> str:
    """The story at its length, or at another."""
    length = tale.length if length is None else length
    one = part(tale, "one")
    if length == "1":
        # Who it is has just been said.
        text = introduced(tale.block.lines["one"][0])
        text = re.sub(r"(?<!was )(?<!only )(?<!saw )\{h\}", "{he}", text)
        return f"{opening(tale)}, {filled(text, tale.slots)}."
    if length in ("2", "tiny"):
        said = f"{sentence(one.removeprefix('and '))}."
        if not re.match(r"(but|so|and (?!slid|said|took|stood)) ", one.replace("and ", "and  ", 1)):
            said = re.split(r"(?<=[.!?]) (?=[A-Z])", part(tale, "short"))[-1]
        return f"{opening(tale)}. {said}"
    if length in ("3", "short"):
        return f"{opening(tale)}. {part(tale, 'short')}"
    plot = flowing(introduced(tale.plot))
    if tale.mood == "funny" and tale.block.mood != "funny":
        plot = silly(plot)
    text = f"{opening(tale)}. {filled(plot, tale.slots)}"
    if length == "long":
        text += f"\n\n{part(tale, 'next', text)} {the_end(tale)}"
    elif tale.mood == "bedtime" and tale.block.mood != "bedtime":
        text += f" {the_end(tale)}"
    if tale.moral:
        text += f"\n\nThe moral: {part(tale, 'moral')}"
    return text


def with_heroes(rng: random.Random, tale: Tale, heroes: Heroes) -> Tale:
    """The same story about others."""
    slots = slots_for(rng, heroes, tale.block)
    slots |= {key: tale.slots[key] for key in ("x", "a x") if key in tale.slots}
    return Tale(tale.block, heroes, tale.deed, tale.plot, slots, tale.mood, tale.length, tale.moral)


def title(tale: Tale) -> str:
    words = filled("{h} and " + tale.block.lines["title"][0], tale.slots).split()
    small = ("a", "an", "and", "the", "of", "in", "on", "at", "to", "for", "with", "his", "her")
    return " ".join(
        word if word in small and at else sentence(word) for at, word in enumerate(words)
    )


NEXT = ("next", "next", "next", "next", "shorter", "one", "other", "other", "title", "who", "moral",
        "longer", "again", "rename", "name")  # fmt: skip


def _ask(rng: random.Random, kind: str, held_out: bool) -> str:
    lines = read_sections(ASKS)[f"after {kind}"]
    asks = [x.removeprefix("! ") for x in lines if x.startswith("! ") == held_out]
    text = alternative(rng, rng.choice(asks)).strip()
    way = rng.random()
    text = sentence(text) if way < 0.5 else text
    return text.rstrip(".?") if way > 0.8 else text


def follow_up(rng: random.Random, tale: Tale, held_out: bool) -> list[str]:
    """One or two questions after the story and their answers."""
    before, kinds = told(tale), [*NEXT]
    turns: list[str] = []
    heroes, one = tale.heroes, len(tale.heroes.names) == 1
    if tale.length in ("1", "2", "tiny"):
        kinds = [kind for kind in kinds if kind != "shorter"]
    spent = {"1": ("one",), "long": ("longer", "next")}.get(tale.length, ())
    kinds = [k for k in kinds if k not in spent]
    kinds = [k for k in kinds if k != "rename" or one]
    are, hero = ("are", "heroes") if heroes.many else ("is", "hero")
    for _ in range(1 if rng.random() < 0.65 else 2):
        kind = rng.choice(kinds)
        kinds = [k for k in kinds if k == "next" or k != kind]
        ask = _ask(rng, kind, held_out)
        if kind == "next" and part(tale, "next", before) in turns:
            kinds = [k for k in kinds if k != "next"]
            answer = the_end(tale)
        elif kind in ("next", "other"):
            answer = part(tale, kind, before)
        elif kind == "shorter":
            answer = told(tale, "2" if tale.length in ("short", "3") else "3")
        elif kind == "one":
            answer = told(tale, "1")
        elif kind == "longer":
            answer = told(tale, "long")
        elif kind == "title":
            answer = f'A good title is "{title(tale)}".'
        elif kind == "moral":
            answer = f"The moral is: {part(tale, 'moral')}"
        elif kind == "who":
            if heroes.many and rng.random() < 0.5:
                ask = ask.replace("is the hero", "are the heroes")
            said = heroes.said.partition(" named ")[0]
            answer = f"{heroes.called}, {said}" if heroes.names else said
            if heroes.many and not heroes.names:
                answer = heroes.called
            answer = f"The {hero} of the story {are} {answer}."
        elif kind == "name":
            his = IT[heroes.pronoun][2]
            ask = ask.replace("{his}", his)
            named_ = "names are" if heroes.many else "name is"
            ask = re.sub(
                r"(?i)\bis (their name)|\b(what)'s (their name)",
                lambda m: f"are {m[1]}s" if m[1] else f"{m[2]} are {m[3]}s",
                ask,
            )
            have = "have" if heroes.many else "has"
            answer = f"{heroes.called} {have} no name in this story."
            if heroes.names:
                answer = f"{his} {named_} {heroes.called}."
        elif kind == "again":
            other = plain_hero(rng)
            while not fits(other, tale.block):
                other = plain_hero(rng)
            return [*turns, ask.replace("{x}", other.noun), told(with_heroes(rng, tale, other))]
        else:
            name = rng.choice([n for n in NAMES[heroes.pronoun] if n != heroes.called])
            said = heroes.said.replace(heroes.called, name)
            new = Heroes(heroes.noun, said, name, (name,), heroes.pronoun)
            return [*turns, ask.replace("{n}", name), told(with_heroes(rng, tale, new))]
        turns += [ask, sentence(answer)]
        if kind == "next" and "next" in kinds:
            kinds += ["next"] * 4
    return turns


def tidy(text: str) -> str:
    text = (
        re.sub(r"\s+", " ", text).strip().replace(" ,", ",").replace(",,", ",").replace(",.", ".")
    )
    return re.sub(r"\b([Aa]) ([aeio]\w+)", lambda m: with_article(m[2]).replace("a", m[1], 1)
                  if not m[2].startswith(("one", "eu")) else m[0], text)  # fmt: skip


def make(rng: random.Random, held_out: bool) -> tuple[str, Tale, str]:
    """A request, the story, and what no slip may touch."""
    way = rng.random()
    kind = "deed" if way < 0.62 else "mood" if way < 0.9 else "hero"
    heroes = some_heroes(rng)
    mood = rng.choice(tuple(MOODS)) if kind == "mood" else ""
    if kind == "deed" and rng.random() < 0.22:
        mood = rng.choice(("funny", "funny", "bedtime", "happy", "scary", "adventure", "sad"))
    own = [b for b in blocks() if b.mood == mood]
    pool = [b for b in own or blocks() if b.mood in ("", mood)]
    if kind == "deed" and mood in ("funny", "bedtime") and rng.random() < 0.7:
        pool = [b for b in blocks() if not b.mood]
    if kind == "deed" and not mood and rng.random() < 0.12:
        pool = [b for b in blocks() if b.mood]  # asked for by what happens, not by the mood
    if kind == "mood" and mood == "bedtime" and rng.random() < 0.4:
        pool = [b for b in blocks() if not b.mood]
    pool = [b for b in pool if fits(heroes, b)]
    while not pool:
        heroes = plain_hero(rng)
        pool = [b for b in own or blocks() if b.mood in ("", mood) and fits(heroes, b)]
    # Where nothing is asked for but a hero, few plots, each hero with favourites.
    if kind != "deed":
        pool = [b for b in pool if b.mood or b.name in CORE] or pool
    block = rng.choice(pool) if kind == "deed" else favourite(rng, pool, heroes.noun.split()[-1])
    deeds = [x for x in block.deeds if not (heroes.many and ALONE.match(x[0]))]
    deeds = [x for x in deeds if not ("friend" in heroes.noun and "friend" in "".join(x))]
    if not deeds:
        return make(rng, held_out)
    now, past = rng.choice(deeds)
    slots = slots_for(rng, heroes, block)
    length = rng.choices(("", "short", "tiny", "long", "1", "2", "3"), (58, 12, 5, 6, 8, 4, 7))[0]
    if mood == "funny" and not block.mood and length:
        length = "long"
    moral = length in ("", "long") and mood not in ("sad", "bedtime") and rng.random() < 0.05
    plot = mostly_first(rng, block.plots)
    tale = Tale(block, heroes, past, plot, slots, mood, length, moral)
    who = heroes.noun
    adjective = after = ""
    if length in COUNTED and rng.random() < 0.55:
        after = rng.choice(COUNTED[length])
    else:
        adjective = rng.choice(LENGTHS[length]) if length or not mood else ""
    if mood:
        adjective += rng.choice(MOODS[mood]) + " "
        if mood == "scary" and rng.random() < 0.5:
            after = rng.choice(GENTLE) + after
    story = f"{adjective}{rng.choice((*['story'] * 9, 'tale', 'fairy tale'))}"
    if rng.random() < 0.06 and not mood:
        story = f"{story} for kids"
    if moral:
        after += rng.choice((" with a moral", ", with a moral", " and tell me the moral"))
    section = "hero"
    if kind == "deed":
        relative = "that" if heroes.pronoun == "it" else rng.choice(("who", "who", "who", "that"))
        deed = filled(now, slots)
        section = "clause"
        shape = rng.random()
        going = gerund(now)
        if going and shape < 0.18:
            who = f"{who.rstrip(',')} {filled(going, slots)}"
        elif shape < 0.3:
            who, section = f"{who.rstrip(',')} {deed}", "scene"
        elif shape < 0.4:
            who = f"{who.rstrip(',')} {relative} {filled(past, slots)}"
        else:
            comma = "," if who.endswith(",") else ""
            who = f"{who.rstrip(',')}{comma} {relative} {deed}"
    elif mood and rng.random() < 0.25:
        section = "mood"
        tale = with_heroes(rng, tale, plain_hero(rng, favourite(rng, FREQUENT, mood)))
        if not fits(tale.heroes, block):
            return make(rng, held_out)
    lines = read_sections(ASKS)[section]
    asks = [x.removeprefix("! ") for x in lines if x.startswith("! ") == held_out]
    form = rng.choice(asks).replace("{a}", with_article(story)).replace("{k}", story)
    form = alternative(rng, form.replace("{who}", "@@"))
    keep = " ".join((heroes.noun, *heroes.names, slots.get("x", "")))
    return tidy(form.replace("@@", who) + after), tale, keep


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for a story, the story, and often questions after it."""
    asked, tale, keep = make(rng, held_out)
    while not held_out and is_reserved(tale.heroes.noun, tale.block.name):
        asked, tale, keep = make(rng, held_out)
    turns = [typed_with(rng, sentence(asked), *keep.split()), told(tale)]
    if rng.random() < 0.35:
        turns += follow_up(rng, tale, held_out)
    return chat(*turns)
