"""Rhymed poems, haiku, limericks, songs, riddles, jokes, tongue twisters and proverbs.

Poems are made of couplets (`story_data/poems.txt`) that fit together by theme: one that may open,
some for the middle, one that may close. For other themes there are couplets that fit anything that
is an "it" (`open_poems.txt`). Haiku are made of lines of five, seven and five syllables.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from zlib import crc32

from assets.demo.recipe.corpus import plots, subjects
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    as_typed,
    chat,
    early,
    favourite,
    mostly_first,
    read_sections,
    sentence,
    typed_with,
    with_article,
    wordings,
)
from assets.demo.recipe.corpus.wordplay import plural_of

ASKS = plots.DATA / "asks_verse.txt"
POEMS, OPEN = plots.DATA / "poems.txt", plots.DATA / "open_poems.txt"
RESERVED_ONE_IN = 30
KINDS = (
    ("poem", 50), ("anypoem", 8), ("haiku", 22), ("anyhaiku", 4), ("limerick", 8),
    ("anylimerick", 3), ("song", 7), ("opensong", 9),
    ("riddle", 10), ("fullriddle", 3), ("riddleabout", 4),
    ("joke", 15), ("twister", 4), ("proverb", 7), ("anyproverb", 3), ("openpoem", 30),
    ("openlimerick", 22), ("forpoem", 18), ("openhaiku", 26), ("aboutjoke", 16), ("themejoke", 4),
    ("roses", 5), ("aboutroses", 3), ("wholimerick", 16), ("occasion", 18), ("knock", 9),
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
def _rows(name: str) -> tuple[tuple[str, ...], ...]:
    lines = (plots.DATA / name).read_text(encoding="utf-8").splitlines()
    return tuple(
        tuple(text.strip() for text in line.split(" | "))
        for line in lines
        if line.strip() and not line.startswith("# ")
    )


@cache
def couplets(theme: str) -> dict[str, tuple[Couplet, ...]]:
    """The couplets of a theme by place: "o", "m" and "c"."""
    lines = read_sections(POEMS).get(theme) or read_sections(OPEN)["couplets"]
    return filled(lines, t=theme)


def filled(lines: list[str], **words: str) -> dict[str, tuple[Couplet, ...]]:
    """The couplets of `lines` with these words, by place."""
    found: dict[str, list[Couplet]] = {"o": [], "m": [], "c": []}
    for line in lines:
        text = line[3:]
        for key, word in words.items():
            text = text.replace(f"{{{key}}}", word)
        first, _, second = text.partition(" / ")
        found[line[0]].append((first, second))
    return {place: tuple(couplets) for place, couplets in found.items()}


def _drawn(rng: random.Random, text: str) -> str:
    return re.sub(r"\[([^\]]*)\]", lambda m: mostly_first(rng, m[1].split("|")), text)


def verse_of(rng: random.Random, couplets: list[Couplet]) -> list[str]:
    return [sentence(_drawn(rng, line)) for couplet in couplets for line in couplet]


def poem(
    rng: random.Random,
    theme: str,
    lines: int = 0,
    parts: Mapping[str, Sequence[Couplet]] | None = None,
) -> str:
    """Two, four or eight lines about `theme`, of the couplets for it or of other `parts`."""
    parts = parts or couplets(theme)
    lines = lines or (4 if rng.random() < 0.55 else 8)
    if lines == 2:
        return "\n".join(verse_of(rng, [mostly_first(rng, parts["o"])]))
    middle = mostly_first(rng, parts["m"])
    others = [couplet for couplet in parts["m"] if couplet != middle]
    opening, closing = mostly_first(rng, parts["o"]), mostly_first(rng, parts["c"])
    if lines == 4:
        # Either end may be left out for a middle: an opening always stays.
        last = closing if rng.random() < 0.8 else middle
        return "\n".join(verse_of(rng, [opening, last]))
    text = verse_of(rng, [opening, middle, mostly_first(rng, others), closing])
    return "\n".join(text[:4]) + "\n\n" + "\n".join(text[4:])


def song(
    rng: random.Random, theme: str, parts: Mapping[str, Sequence[Couplet]] | None = None
) -> str:
    """Two couplets with a refrain after each."""
    parts = parts or couplets(theme)
    refrain = "\n".join(favourite(rng, REFRAINS, theme))
    first = "\n".join(verse_of(rng, [mostly_first(rng, parts["o"])]))
    second = "\n".join(verse_of(rng, [mostly_first(rng, (*parts["c"], *parts["m"]))]))
    return f"{first}\n{refrain}\n\n{second}\n{refrain}"


def haiku(rng: random.Random, theme: str) -> str:
    """Five, seven and five syllables about `theme`."""
    lines = read_sections(plots.DATA / "haiku.txt")[theme]
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


def reserved(*parts: str) -> bool:
    return crc32("/".join(parts).encode()) % RESERVED_ONE_IN == 0


def _answered(answer: str) -> str:
    return f"The answer is: {answer}."


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for something in verse or something funny, and what was asked for."""
    while True:
        reserved_wording = held_out and rng.random() < 0.05
        kind = rng.choices(KIND_NAMES, KIND_WEIGHTS)[0]
        turns, key = _made(rng, kind, reserved_wording)
        if held_out == (reserved_wording or (bool(key) and reserved(key))):
            return chat(*turns)


def _made(rng: random.Random, kind: str, held_out: bool) -> tuple[list[str], str]:
    """A conversation of this kind, and the combination in it that may be reserved."""
    same = {"openhaiku": "haiku", "openlimerick": "limerick", "opensong": "song"}
    questions = wordings(ASKS, same.get(kind, kind), held_out)
    if kind == "openpoem":
        questions += wordings(ASKS, "poem", held_out)
    question = alternative(rng, rng.choice(questions))
    if kind in ("poem", "anypoem", "song"):
        return _poem_talk(rng, kind, question, held_out)
    if kind in ("openpoem", "forpoem", "openhaiku", "aboutroses", "opensong"):
        return _open_talk(rng, kind, question)
    if kind == "roses":
        said = rng.choice(read_sections(OPEN)["anyroses"])
        return [as_typed(rng, question), _lines(said)], ""
    if kind in ("aboutjoke", "themejoke"):
        return _joke_about(rng, kind, question)
    if kind in ("haiku", "anyhaiku"):
        theme = rng.choice(tuple(read_sections(plots.DATA / "haiku.txt")))
        turns = [as_typed(rng, question.replace("{theme}", theme)), haiku(rng, theme)]
        if rng.random() < 0.12:
            again = rng.choice(wordings(ASKS, "again", held_out)).replace("{theme}", theme)
            turns += [as_typed(rng, again), haiku(rng, theme)]
        return turns, f"haiku/{theme}/{question}" if kind == "haiku" else ""
    if kind in ("limerick", "anylimerick"):
        creature = rng.choice(CREATURES)
        asked = question.replace("{x}", with_article(creature))
        key = f"limerick/{creature}/{question}" if kind == "limerick" else ""
        return [as_typed(rng, asked), limerick(rng, creature)], key
    if kind == "knock":
        return _knock_talk(rng, question), ""
    if kind == "occasion":
        occasion, couplets = rng.choice(_occasions())
        first, last = rng.choice(couplets), rng.choice(read_sections(OPEN)["occasion ends"])
        asked = typed_with(rng, question.replace("{o}", occasion), occasion)
        # Alternatives of one form may differ by a stop or a dash alone.
        wording = " ".join(re.findall(r"[a-z0-9]+", question.lower()))
        return [asked, _lines(f"{first} / {last}")], f"{occasion}/{wording}"
    if kind == "wholimerick":
        who = _somebody(rng)
        shown = re.sub("^my ", "your ", who)
        said = favourite(rng, read_sections(OPEN)["limericks who"], who).replace("{x}", shown)
        return [typed_with(rng, question.replace("{x}", who), who), _lines(said)], f"limerick/{who}"
    if kind == "openlimerick":
        adjective = rng.choice(read_sections(OPEN)["adjectives"]) + " "
        thing = with_article((adjective if rng.random() < 0.6 else "") + rng.choice(_nouns()))
        said = favourite(rng, read_sections(OPEN)["limericks"], thing).replace("{x}", thing)
        asked = typed_with(rng, question.replace("{x}", thing), thing)
        return [asked, _lines(said)], f"limerick/{thing}"
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


@cache
def _occasions() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What a rhyme of four lines may be for, and the couplets that it may begin with."""
    rows = (line.split(" | ") for line in read_sections(OPEN)["occasions"])
    return tuple((name, tuple(couplets)) for name, *couplets in rows)


def _somebody(rng: random.Random) -> str:
    """Whom a limerick may be about: mostly somebody never heard of."""
    way = rng.random()
    if way < 0.4:
        return subjects.rare_name(rng)
    if way < 0.5:
        return rng.choice(subjects.split(subjects.FIRST_NAMES)[0])
    people = read_sections(OPEN)["people"]
    if way < 0.75:
        return with_article(rng.choice(people))
    if way < 0.85:
        return f"my {rng.choice(people)}"
    kind = rng.choice(("man", "woman", "girl", "boy", "lady", "baker", "pilot", "teacher"))
    place = (
        rng.choice(subjects.CITIES) if rng.random() < 0.5 else subjects.made_up(rng).capitalize()
    )
    return f"a {kind} from {place}"


def _knock_talk(rng: random.Random, question: str) -> list[str]:
    """The model asks who is there, and asks again: the joke is the user's."""
    who, _, punch = rng.choice(read_sections(OPEN)["knocks"]).partition(" | ")
    if rng.random() < 0.6:  # whoever it is: the name is to be copied
        who = subjects.rare_name(rng) if rng.random() < 0.5 else subjects.made_up(rng).capitalize()
        punch = rng.choice(read_sections(OPEN)["anybody knocks"]).replace("{x}", who)
    typed = who if rng.random() < 0.5 else f"{who}." if rng.random() < 0.5 else who.lower()
    turns = [as_typed(rng, question), "Who's there?"]
    if rng.random() < 0.75:
        turns += [typed, f"{sentence(typed.rstrip('.'))} who?"]
        if rng.random() < 0.7:
            turns += [punch, f"Ha ha, {who}! That is a good one. Do you know another?"]
    return turns


def _poem_talk(
    rng: random.Random, kind: str, question: str, held_out: bool
) -> tuple[list[str], str]:
    theme = rng.choice(tuple(read_sections(POEMS)))
    if kind == "poem" and rng.random() < 0.25:
        theme = rng.choice(read_sections(OPEN)["themes"])
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
    turns = [typed_with(rng, asked, theme), made]
    if rng.random() < 0.15:
        way = rng.random()
        if way < 0.6 and kind != "song":
            again = rng.choice(wordings(ASKS, "again", held_out)).replace("{theme}", theme)
            other = poem(rng, theme, lines)
            while other == made:
                other = poem(rng, theme, lines)
            turns += [typed_with(rng, again, theme), other]
        elif way < 0.8 and kind != "song":
            question = rng.choice(wordings(ASKS, "about", held_out))
            turns += [as_typed(rng, question), f"The poem is about {theme}."]
        else:
            question = rng.choice(wordings(ASKS, "thanks", held_out))
            turns += [as_typed(rng, question), f"Thank you! I liked writing about {theme}."]
    return turns, key


def open_theme(rng: random.Random) -> tuple[str, bool]:
    """Anything that somebody may want a poem about, and whether it is more than one."""
    lists = read_sections(OPEN)
    noun, adjective = rng.choice(_nouns()), rng.choice(lists["adjectives"])
    way = rng.random()
    if way < 0.3:
        return rng.choice(lists["themes"]), False
    if way < 0.36:
        return rng.choice(lists["many"]), True
    if way < 0.48:
        many = plural_of(noun)
        return (f"{adjective} {many}" if rng.random() < 0.3 else many), True
    if way < 0.64:
        return f"my {adjective} {noun}" if rng.random() < 0.5 else f"my {noun}", False
    if way < 0.78:
        return f"my {rng.choice(lists['relatives'])}'s {rng.choice(lists['things'])}", False
    if way < 0.92:
        return with_article(f"{adjective} {noun}"), False
    return f"the {adjective} {noun}", False


@cache
def _nouns() -> tuple[str, ...]:
    found = (*plots.hero_nouns("animal", "thing", "fantasy", "sea"), *subjects.OBJECTS)
    return tuple(dict.fromkeys(noun for noun in found if " " not in noun))


def _lines(text: str) -> str:
    return "\n".join(sentence(line) for line in text.split(" / "))


def _open_talk(rng: random.Random, kind: str, question: str) -> tuple[list[str], str]:
    """A poem or a haiku about anything, or for somebody."""
    lists = read_sections(OPEN)
    size, lines = rng.choice(SIZES)
    lines = 4 if re.search("four|Four|4", question) else lines if "{size}" in question else 0
    lines = 2 if re.search("(?i)two|couplet", question) else lines
    asked = question.replace("{size}", size)
    if "{name}" in asked:  # for the one who asks
        whom = plots.asked_name(rng, rng.choice(("he", "she")))
        parts = filled(lists["you"], n=whom, k="friend", ak="a friend")
        text = asked.replace("{name}", whom)
        return [typed_with(rng, text, whom), poem(rng, whom, lines, parts)], f"for/{whom}"
    if kind == "forpoem":
        pet = rng.random() < 0.5
        who = rng.choice(lists["pets" if pet else "relatives"])
        name = ""
        if pet or rng.random() < 0.3:
            name = rng.choice(lists["pet names"]) if pet and rng.random() < 0.6 else ""
            name = name or plots.asked_name(rng, rng.choice(("he", "she")))
        whom = f"my {who} {name}".strip()
        words = {"n": name or who, "k": who.split()[-1], "ak": with_article(who.split()[-1])}
        born = rng.random() < 0.25
        text = asked.replace("{whom}", f"{whom}'s birthday" if born else whom)
        couplets = lists["birthday" if born else "you"]
        couplets = [line for line in couplets if name or "the name" not in line]
        parts = filled(couplets, **words)
        return [typed_with(rng, text, whom), poem(rng, whom, lines, parts)], f"for/{whom}"
    theme, many = open_theme(rng)
    text, key = asked.replace("{theme}", theme), f"{kind}/{theme}/{question}"
    if kind == "openhaiku":
        return [typed_with(rng, text, theme), open_haiku(rng, theme, many)], key
    if kind == "aboutroses":
        while many:
            theme, many = open_theme(rng)
        said = rng.choice(lists["roses"]).replace("{t}", theme)
        return [typed_with(rng, asked.replace("{theme}", theme), theme), _lines(said)], key
    if kind == "opensong":
        they = filled(lists["plural"], t=theme) if many else None
        return [typed_with(rng, text, theme), song(rng, theme, they)], key
    special = "two lines" if lines == 2 else "plural" if many else ""
    they = filled(lists[special], t=theme) if special else None
    return [typed_with(rng, text, theme), poem(rng, theme, lines, they)], key


# What makes a line of five syllables of a theme, by the syllables that are left.
FIRST_LINES = {
    0: ("{t}",),
    1: ("still, {t}", "now {t}", "oh, {t}"),
    2: ("{t} at dawn", "{t} at dusk", "{t} at noon", "alone, {t}"),
    3: ("{t} in the rain", "{t} in the sun", "{t} in the fog", "early: {t}, still"),
    4: ("{t} in the moonlight", "{t} in the garden", "{t}, and it grows late"),
}


def syllables(text: str) -> int:
    """About how many syllables `text` has."""
    words = re.findall(r"[a-z]+", text.lower())
    return sum(
        max(1, len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[a-z]{2})(?<![aeioul])e(s?)$", "", word))))
        for word in words
    )


def open_haiku(rng: random.Random, theme: str, many: bool) -> str:
    lines = read_sections(OPEN)["haiku plural" if many else "haiku"]
    second, third = (rng.choice([line[3:] for line in lines if line[0] == at]) for at in "bc")
    if syllables(theme) > 5:
        theme = re.sub("^(an?|the) ", "", theme)
    left = 5 - syllables(theme)
    # Where a theme names a place already, another one would be too many.
    placed = re.search(r" (in|on|at|by|under|of|for) ", theme)
    forms = FIRST_LINES.get(left, ("{t}",))
    forms = tuple(x for x in forms if not placed or (" in " not in x and " at " not in x)) or forms
    first = sentence(rng.choice(forms).replace("{t}", theme))
    return f"{first},\n{second}.\n{sentence(third)}."


def _joke_about(rng: random.Random, kind: str, question: str) -> tuple[list[str], str]:
    lists = read_sections(OPEN)
    if kind == "themejoke":
        theme = rng.choice(lists["themes"])
        while theme.startswith(("a ", "an ", "the ")):
            theme = rng.choice(lists["themes"])
        said = mostly_first(rng, lists["theme jokes"]).replace("{t}", theme)
        asked = question.replace("{theme}", theme)
        return [typed_with(rng, asked, theme), said], f"{theme}/{question}"
    noun = rng.choice(_nouns())
    one, many = with_article(noun), plural_of(noun)
    known = [row for row in _rows("jokes.txt") if re.search(rf"\b({noun}|{many})\b", row[0])]
    if known and rng.random() < 0.7:
        said = " ".join(rng.choice(known))
    else:
        said = mostly_first(rng, lists["jokes"])
    words = (("X", sentence(one)), ("x", one), ("ns", many), ("n", noun), ("xs", many))
    for key, word in words:
        said = said.replace(f"{{{key}}}", word)
        question = question.replace(f"{{{key}}}", word)
    return [typed_with(rng, sentence(question), noun), said], f"joke/{noun}/{question}"


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
        return [typed_with(rng, wanted, word), said], f"{answer}/{question}"
    turns = [as_typed(rng, question), asked]
    if rng.random() < 0.65:
        way = rng.random()
        if way < 0.4:
            turns += [
                as_typed(rng, rng.choice(wordings(ASKS, "giveup", held_out))),
                _answered(answer),
            ]
        else:
            right = way < 0.75
            guess = answer if right else rng.choice(riddles)[1]
            right = guess == answer
            wording = rng.choice(wordings(ASKS, "guess", held_out))
            typed = wording.replace("{answer}", guess).replace("{Answer}", sentence(guess))
            said = f"Yes, that is right! {_answered(answer)}"
            if not right:
                said = f"No, it is not {guess}. {_answered(answer)}"
            turns += [typed_with(rng, typed, guess), said]
        if rng.random() < 0.3:
            other = rng.choice(riddles)
            while other[0] == text:
                other = rng.choice(riddles)
            more = rng.choice(wordings(ASKS, "moreriddle", held_out))
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
        asked = rng.choice(wordings(ASKS, "morejoke", held_out)) if len(told) > 1 else question
        turns += [as_typed(rng, asked), f"{setup} {punch}"]
    return turns
