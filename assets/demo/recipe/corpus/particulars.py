"""Stories and verse in which every particular of a request is carried into the text: hero, name,
what the hero does, a second hero, place, how it ends, and the very last sentence.

The parts are in `story_data/particulars.txt`. Any hero goes with anything that a hero may do, so
that a small model cannot learn the combinations and has to copy what was asked for.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache

from assets.demo.recipe.corpus import named, subjects, verse
from assets.demo.recipe.corpus.plots import DATA, asked_name, known_pronoun
from assets.demo.recipe.corpus.stories import CHILDREN
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    mostly_first,
    read_sections,
    sentence,
    typed_with,
    with_article,
)

FILE = DATA / "particulars.txt"
SHAPES = {"story": 62, "pair": 12, "two": 10, "birthday": 7, "love": 4, "free": 5}
KINDS = ("fear", "want", "cannot", "collect", "lost", "find", "have", "habit", "meet")
# What fills {x} and {y} of a kind.
LISTS = {
    "fear": ("fears",), "collect": ("collected", "containers"), "lost": ("mazes",),
    "find": ("found", "hidden in"), "have": ("worn",),
}  # fmt: skip
MOODS = {
    "happy": ("happy", "cheerful", "heart-warming", "feel-good"), "sad": ("sad", "melancholic"),
    "funny": ("funny", "silly", "humorous"),
}  # fmt: skip
ENDINGS = {
    "happy": (", make it end happily", ", happy ending", " with a happy ending",
    ", happy end please",
              ", it should end well", ". It should end happily", ", with a happy end",
              ". Please let it end well"),
    "sad": (", sad ending", " with a sad ending", ", make it end sadly", ", sad end please",
            ", it should end sadly", ". The ending should be sad"),
    "funny": (", funny ending", " with a funny ending", ", make it funny", ", it should be funny",
              ". Make me laugh"),
}  # fmt: skip
ASK = (
    "[write|tell|tell me|write me|make up|give me|please tell me|invent] {a} about {who}",
    "[can you|could you|please|would you] [write|tell me|make up|invent] {a} about {who}",
    "[i'd like|i want|i would love|i need] {a} about {who}", "{a} about {who}", "{k} about {who}",
    "{a} [with|of] {who}", "{k}: {who}", "about {who}, {a}[ please|]", "{who}. {a} please",
    "[write|tell] {a} in which {who} [is the hero|plays a part]", "{a} on {who}",
    "[my kids want|we want] {a} about {who}", "tell us about {who}", "a tale of {who}",
)  # fmt: skip
LAST = (
    "the last sentence should be '{l}'", "the last sentence should be \"{l}\"", "end with \"{l}\"",
    "the last sentence is: {l}", "it has to end with '{l}'", "last sentence: \"{l}\"",
    "it should end with the words \"{l}\"", "please end it with \"{l}\"", "last line: {l}",
)  # fmt: skip
NAMED = (" named {n}", " named {n}", " called {n}", " with the name {n}", " whose name is {n}")
ASK_TWO = (
    "[write|tell me|give me|make up] a [two-sentence|2-sentence|two sentence] {m} story set {in}",
    "[two-sentence|two sentence|2 sentence] {m} story set {in}",
    "a {m} story in two sentences, {in}",
    "[two-sentence|two sentence] {m} story {in}", "{m} story in [2|two] sentences, set {in}",
    "[can you write|i want] a [two-sentence|two sentence] {m} story [set|that takes place] {in}",
)  # fmt: skip
ASK_TWO_ABOUT = (
    "[write|tell me|give me] a [two-sentence|two sentence] {m} story about {who} {in}",
    "[two-sentence|two sentence|2-sentence] {m} story: {who} {in}",
    "{m} story about {who} {in}, two sentences",
)  # fmt: skip
ASK_BIRTHDAY = (
    "[write|make|i need|can you write] {v} for my {k} {n}, [turning|who turns] {a}, loves {t}",
    "[write|make|i need] {v} for my {k} {n}. {He} [turns|is turning] {a} and loves {t}",
    "{v} for my {k} {n}, [turning|turns|now] {a}, [loves|likes|{he} loves] {t}",
    "my {k} {n} [turns|is turning|will be] {a} and loves {t}. [write|please make] {v}",
    "{v} for {n}, my {k}, who [turns|will be] {a}. {He} loves {t}",
    "[poem|verse|rhyme] for the {a}th birthday of my {k} {n}, who loves {t}",
)  # fmt: skip
AGES = {
    ("grandfather", "grandmother", "grandpa", "grandma"): (55, 99),
    ("father", "mother", "dad", "mum", "uncle", "aunt", "husband", "wife"): (28, 79),
    ("brother", "sister", "son", "daughter", "nephew", "niece"): (4, 40),
}
BIRTHDAY = ("a birthday verse", "a birthday poem", "a short birthday rhyme", "a birthday rhyme")
ASK_LOVE = (
    "[write|make|] [a |]love poem to {t}", "[write |]a love poem [to|for|about] {t}",
    "a love letter in verse to {t}",
    "[can you write|i need|i want] a love poem [to|for] {t}", "a poem about how much i love {t}",
    "love poem for {t}",
)  # fmt: skip
ASK_FREE = (
    "[write |]a poem about {t}, no rhymes",
    "poem about {t}, [without rhymes|no rhyme|unrhymed|not rhyming]",
    "[write|make|give me] a poem about {t} that does not rhyme", "an unrhymed poem about {t}",
    "free verse about {t}",
    "[can you write|i want] a poem about {t} without rhymes",
    "a poem on {t}, but it must not rhyme",
)  # fmt: skip


# A request, words in it that no slip may touch, the answer, and what may be kept back.
Made = tuple[str, str, str, str]


@cache
def listed_in(section: str) -> tuple[str, ...]:
    lines = read_sections(FILE)[section]
    parts = " | ".join(lines).split(" | ") if "~" in lines[0] else ", ".join(lines).split(", ")
    if section in ("games", "loves"):
        parts = ", ".join(lines).split(", ")
    return tuple(part.strip() for part in parts)


@cache
def kind_lines(kind: str) -> dict[str, tuple[str, ...]]:
    """The lines of a kind of story by what they are for."""
    found: dict[str, list[str]] = {}
    for line in read_sections(FILE)[f"kind {kind}"]:
        key, _, text = line.partition(": ")
        found.setdefault(key, []).append(text)
    return {key: tuple(texts) for key, texts in found.items()}


@dataclass(slots=True)
class Wish:
    """What a request names."""

    hero: str
    name: str = ""
    trait: str = ""
    pronoun: str = "he"
    called: str = ""
    place: str = ""
    mood: str = ""
    last: str = ""
    child: str = ""
    slots: dict[str, str] = field(default_factory=dict)

    @property
    def noun(self) -> str:
        return with_article(f"{self.trait} {self.hero}".strip())


def filled(text: str, slots: dict[str, str]) -> str:
    """`text` with its slots; `{H}` is `{h}` with a capital."""

    def of(match: re.Match[str]) -> str:
        key = match[1]
        return slots[key] if key in slots else sentence(slots[key[:1].lower() + key[1:]])

    return re.sub(r"\{([\w ]+)\}", of, text)


def asking(rng: random.Random, form: str, slots: dict[str, str]) -> str:
    """A form with its slots, then its alternatives, for `{who}` is among the parts of forms too."""
    return alternative(rng, filled(form, slots))


def _hero(rng: random.Random) -> Wish:
    hero = rng.choice(listed_in("jobs")) if rng.random() < 0.35 else named.some_hero(rng)
    wish = Wish(hero, pronoun=named.pronoun_of(hero, ""))
    if rng.random() < 0.3:
        wish.trait = named._trait(rng, hero)
    if rng.random() < 0.45:
        wish.name = (
            subjects.rare_name(rng)
            if rng.random() < 0.3
            else asked_name(rng, rng.choice(("he", "she")))
        )
        wish.pronoun = known_pronoun(wish.name) or named.pronoun_of(hero, wish.name)
        wish.called = rng.choice(NAMED).replace("{n}", wish.name)
    if wish.pronoun == "it" and wish.name:
        wish.pronoun = "he"
    return wish


def _slots(rng: random.Random, wish: Wish, kind: str) -> None:
    """What fills the slots of a kind, into `wish`."""
    slots = wish.slots
    he, him, his, himself = named.IT[wish.pronoun]
    slots.update(he=he, him=him, his=his, himself=himself, h=wish.name or f"the {wish.hero}")
    helpers = [x for x in named.HELPERS if x.split()[-1] not in f"{wish.hero} {wish.name}"]
    helper = rng.choice(helpers)
    slots.update({"f": f"the {helper.split()[-1]}", "a f": with_article(helper)})
    for slot, section in zip("xy", LISTS.get(kind, ()), strict=False):
        slots[slot] = rng.choice(listed_in(section))
        plain = slots[slot].startswith(("pair of", "missing", "lost"))
        if section in ("found", "worn") and rng.random() < 0.25 and not plain:
            looks = rng.choice(("very old", "tiny", "strange", "huge", "green"))
            slots[slot] = f"{looks} {slots[slot].removeprefix('tiny ')}"
        slots[f"a {slot}"] = with_article(slots[slot])
        slots[f"the {slot}"] = f"the {re.sub('^(an?|the) ', '', slots[slot])}"
    if kind in ("want", "cannot"):
        slots["v"] = rng.choice(listed_in(f"{kind}s"))
    elif kind == "habit":
        slots["present"], slots["past"] = rng.choice(listed_in("habits")).split(" ~ ")
    elif kind == "meet":
        other = named.some_hero(rng)
        while other == wish.hero or other.split()[-1] in wish.hero:
            other = named.some_hero(rng)
        him_g = named.IT[named.pronoun_of(other, "")][1]
        slots.update({"g": f"the {other}", "a g": with_article(other), "him_g": him_g})


def _opening(rng: random.Random, wish: Wish, told: str) -> str:
    begin = rng.choice(
        (
            "Once upon a time there was",
            "Once upon a time there was",
            "There once was",
            "Once there was",
        )
    )
    deed = filled(told, wish.slots)
    deed = re.sub("^who ", "that ", deed) if wish.pronoun == "it" else deed
    named_ = wish.called.replace("whose name is", "whose name was")
    where = f"{sentence(wish.place)} " if wish.place else ""
    if where:
        begin = f"{where}there lived"
    comma = "," if named_ and (deed.startswith("who") or "whose" in named_) else ""
    return f"{begin} {wish.noun}{named_}{comma} {deed}."


def _words(text: str) -> int:
    return len(text.split())


def story(rng: random.Random) -> Made:
    """A request, the words in it that stay as they are, the story, and what is kept back."""
    kind = rng.choice(KINDS)
    wish, lines = _hero(rng), kind_lines(kind)
    _slots(rng, wish, kind)
    ask = filled(rng.choice(lines["ask"]), wish.slots)
    if wish.pronoun == "it" or named.kind_of(wish.hero) in ("animal", "thing"):
        ask = re.sub("^who ", rng.choice(("who ", "that ")), ask)
    who = f"{wish.noun}{wish.called} {ask}"
    if wish.called.startswith(" whose"):
        who = f"{wish.noun}{wish.called} and {ask}" if ask.startswith(("who", "that")) else who
    if rng.random() < 0.2 and kind != "lost":
        wish.place = (
            rng.choice(listed_in("sites")[:9])
            if rng.random() < 0.3
            else rng.choice(named.nouns("places"))
        )
        who += f", {wish.place}"
    wish.mood = rng.choice(("", "", "happy", "happy", "sad", "sad", "funny"))
    mood_word, post = "", ""
    if wish.mood and rng.random() < 0.45:
        mood_word = rng.choice(MOODS[wish.mood])
    elif wish.mood:
        post = rng.choice(ENDINGS[wish.mood])
    if rng.random() < 0.16:
        wish.last = _last(rng)
        said = rng.choice(LAST).replace("{l}", wish.last)
        post += rng.choice((", ", ". ")) + said
    child = rng.random() < 0.14
    if child:
        kin, pronoun = rng.choice(CHILDREN)
        wish.child = subjects.rare_name(rng) if rng.random() < 0.3 else asked_name(rng, pronoun)
        while wish.child == wish.name:
            wish.child = asked_name(rng, pronoun)
    sort = rng.choice(("story", "story", "short story", "tale", "fairytale", "fairy tale"))
    sort = "bedtime story" if child and rng.random() < 0.7 else f"{mood_word} {sort}".strip()
    text = _told(rng, wish, lines)
    if 85 <= _words(text) <= 115 and rng.random() < 0.3:
        post += rng.choice(
            (", around 100 words", ", about 100 words", ", 100 words", " in 100 words")
        )
    if child:
        sort += f" for my {kin} {wish.child}"
    words = {"a": with_article(sort), "k": sort, "who": who}
    asked = asking(rng, rng.choice(ASK), words) + post
    keep = " ".join(
        (wish.hero, wish.trait, wish.name, wish.place, wish.last, wish.child, *wish.slots.values())
    )
    return tidy(asked), keep, text, f"{wish.hero}/{ask}"


def _told(rng: random.Random, wish: Wish, lines: dict[str, tuple[str, ...]]) -> str:
    said = [_opening(rng, wish, rng.choice(lines["told"]))]
    arcs = [(arc, "") for arc in lines["arc"]] + [(arc, "2") for arc in lines.get("arc2", ())]
    arc, own = rng.choice(arcs)
    said += [filled(part, wish.slots) for part in arc.split(" / ")]
    said.append(filled(rng.choice(lines[f"{wish.mood or 'happy'}{own}"]), wish.slots))
    if wish.child:
        said.append(f"Good night, {wish.child}!")
    elif wish.mood and not wish.last and rng.random() < 0.25:
        more = rng.choice(read_sections(FILE)[wish.mood])
        said.append(more)
    if wish.last:
        said.append(wish.last)
    return " ".join(map(sentence, said))


def _last(rng: random.Random) -> str:
    """A sentence that a story shall end with: a written one, or one about anything."""
    if rng.random() < 0.55:
        return rng.choice(read_sections(FILE)["last"])
    noun = rng.choice(named.nouns("things")).split("/")[0]
    deed = rng.choice(listed_in("habits")).split(" ~ ")[1]
    who = named.some_hero(rng)
    return rng.choice((
        f"And the {noun} was never seen again.", f"The {noun} is still there.",
        f"And the {who} {deed}.", f"Only the {who} knew it.", f"And that is why the {who} smiles.",
        f"So the {noun} stayed where it was.", f"The {who} {deed} until the end.",
    ))  # fmt: skip


def pair(rng: random.Random) -> Made:
    """Two of a kind who do something somewhere, or two different ones."""
    one = named.some_hero(rng)
    game, thing = rng.choice(listed_in("games")).split(" ~ ")
    site = rng.choice(listed_in("sites"))
    both = rng.random() < 0.35
    if both:
        other = named.some_hero(rng)
        while other == one:
            other = named.some_hero(rng)
        two = f"{with_article(one)} and {with_article(other)}"
    else:
        two = f"two {named.many_of(one)}"
    mood = rng.choice(("happy", "sad", "sad", "funny"))
    asked_mood = rng.random() < 0.7
    post = rng.choice(ENDINGS[mood]) if asked_mood else ""
    mood = mood if asked_mood else "happy"
    sort = rng.choice(("story", "short story", "tale", "story"))
    where = rng.choice((site, site, f"{site}"))
    who = f"{two} {game} {where}"
    words = {"a": with_article(sort), "k": sort, "who": who}
    asked = asking(rng, rng.choice((*ASK[:6], "{who}", "{who}")), words) + post
    arc = rng.choice(read_sections(FILE)["pair"])
    if both:
        arc = (
            arc.replace("The one", f"The {one}")
            .replace("one of them", f"the {one}")
            .replace("the one", f"the {one}")
        )
        arc = arc.replace("the other never", f"the {other} never").replace(
            "the other", f"the {other}"
        )
    said = [f"Once upon a time there were {two}. Every day they were {game} {site}."]
    said += [part.replace("{one_thing}", thing) for part in arc.split(" / ")]
    ends = read_sections(FILE)[f"pair {mood}"]
    end = rng.choice(ends if "robot" in one or mood != "sad" else ends[:1])
    said.append(end)
    text = " ".join(map(sentence, said)).replace('" Said', '" said')
    return tidy(asked), f"{two} {game} {site}", text, f"{two}/{game}"


def two_sentences(rng: random.Random) -> Made:
    mood = rng.choice(("horror", "horror", "horror", "sad", "funny", "happy"))
    scene = rng.choice(listed_in("scenes") if rng.random() < 0.6 else named.nouns("places"))
    line = rng.choice(read_sections(FILE)[f"two {mood}"])
    wish = _hero(rng)
    wish.trait = ""
    he, him, his, _ = named.IT[wish.pronoun]
    called = wish.called.replace("whose name is", "whose name was")
    slots = {"he": he, "him": him, "his": his, "a hero": f"{wish.noun}{called}"}
    slots["in"] = re.sub(r"\b(an?)\b", "the", scene, count=1)
    forms = ASK_TWO_ABOUT if "{A hero}" in line or "{a hero}" in line else ASK_TWO
    said = {
        "horror": ("horror", "horror", "scary"),
        "sad": ("sad",),
        "funny": ("funny",),
        "happy": ("happy",),
    }
    words = {"m": rng.choice(said[mood]), "in": scene, "who": f"{wish.noun}{wish.called}"}
    asked = asking(rng, rng.choice(forms), words)
    return (
        tidy(asked),
        f"{scene} {wish.hero} {wish.name}",
        filled(line, slots),
        f"two/{scene}/{mood}",
    )


def birthday(rng: random.Random) -> Made:
    kin, _, he = rng.choice(listed_in("relatives")).partition("/")
    name = asked_name(rng, he)
    while known_pronoun(name) not in ("", he):
        name = asked_name(rng, he)
    low, high = AGES[next(key for key in AGES if kin in key)]
    age = rng.choice((rng.randint(low, high), rng.randint(low // 10 + 1, high // 10) * 10))
    thing, _, many = rng.choice(listed_in("loves")).partition(" ~")
    form = rng.choice(ASK_BIRTHDAY)
    th = {1: "st", 2: "nd", 3: "rd"}.get(age % 10 if age // 10 != 1 else 0, "th")
    slots = {"k": kin, "n": name, "a": str(age), "t": thing, "he": he}
    slots["v"] = rng.choice(BIRTHDAY)
    asked = asking(rng, form.replace("{a}th", f"{age}{th}"), slots)
    lists = read_sections(FILE)
    called = (
        rng.choice((name, name, f"{kin} {name}"))
        if kin in ("grandpa", "grandma", "uncle", "aunt")
        else name
    )
    loves = "birthday loves" if many else "birthday love"
    parts = [rng.choice(lists["birthday open"]), rng.choice(lists[loves])]
    if rng.random() < 0.6:
        parts.append(rng.choice(lists["birthday close"]))
    text = "\n".join(verse._lines(filled(part, {**slots, "n": called})) for part in parts)
    return tidy(asked), f"{kin} {name} {age} {thing}", text, f"{name}/{thing}"


def _theme(rng: random.Random) -> tuple[str, bool]:
    while True:
        theme, many = verse.open_theme(rng)
        if rng.random() < 0.4:
            theme, many = rng.choice(named.nouns("foods") + named.nouns("loves")), False
            many = theme.endswith("s") and not theme.endswith("ss") and theme != "chess"
        if len(theme.split()) < 4:
            return theme, many


def love(rng: random.Random) -> Made:
    theme, _ = _theme(rng)
    lists = read_sections(FILE)
    parts = [rng.choice(lists["love open"]), rng.choice(lists["love middle"])]
    if rng.random() < 0.6:
        parts.append(rng.choice(lists["love close"]))
    bare = re.sub("^(an?|the|my) ", "", theme)
    text = "\n".join(verse._lines(filled(part, {"t": bare})) for part in parts)
    asked = asking(rng, rng.choice(ASK_LOVE), {"t": theme})
    return tidy(asked), theme, text, f"love/{theme}"


def free_verse(rng: random.Random) -> Made:
    theme, many = _theme(rng)
    line = mostly_first(rng, rng.sample(read_sections(FILE)["free plural" if many else "free"], 4))
    text = verse._lines(filled(line, {"t": re.sub("^my ", "your ", theme)}))
    asked = asking(rng, rng.choice(ASK_FREE), {"t": theme})
    return tidy(asked), theme, text, f"free/{theme}"


def tidy(question: str) -> str:
    question = " ".join(question.split())
    question = re.sub(r"\bi\b", "I", sentence(question))
    return re.sub(r"([.?!] )([a-z])", lambda match: match[1] + match[2].upper(), question)


MAKERS = {
    "story": story, "pair": pair, "two": two_sentences, "birthday": birthday, "love": love,
    "free": free_verse,
}  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request with particulars, and what it asks for."""
    while True:
        shape = rng.choices(tuple(SHAPES), tuple(SHAPES.values()))[0]
        asked, keep, text, key = MAKERS[shape](rng)
        if held_out == verse.reserved(key):
            return chat(typed_with(rng, asked, *keep.split()), text)
