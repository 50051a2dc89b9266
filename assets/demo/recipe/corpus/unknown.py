"""Questions that a tiny model cannot answer, and how it says so: it repeats what was asked for, and
offers what it can do.

`forms/unknown.txt` has the forms of asking by kind, with `{slots}`; what fills the slots is here
and in `forms/unknown_words.txt`. So many forms and fillings that the kind of question is learned,
not the list. What somebody said earlier and may ask for again is in `recall.py`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from assets.demo.recipe.corpus import definitions, knowledge, subjects, tables
from assets.demo.recipe.corpus.subjects import reserved
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    FORMS,
    Conversation,
    Topic,
    alternative,
    as_typed,
    chat,
    mostly_first,
    read_sections,
    read_topics,
    sentence,
    spoken,
    with_article,
)

Filler = Callable[[random.Random, bool], str]
SLOT = re.compile(r"\{(a_)?([A-Za-z_]+?)(\d?)(_you)?\}")


def plain(text: str) -> str:
    """`text` without its case and punctuation."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _taught() -> set[str]:
    """Wordings of the topics that have answers."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in ANSWERS.glob("*.txt"))
    wordings = {plain(line[2:]) for line in text.splitlines() if line[:2] in ("? ", "! ")}
    nouns = {each.noun for each in definitions.read()}
    return wordings | {plain(thing) for thing in tables.known() | nouns}


TAUGHT = _taught()
# What `knowledge` has a line for: sights, works, inventions, years, elements, records.
KNOWN = {
    plain(line.partition("|")[0])
    for text in (
        knowledge.SPOTS, knowledge.WORKS, knowledge.FOUND, knowledge.EVENTS, knowledge.SIGNS,
        knowledge.BEASTS, knowledge.RECORDS,
    )
    for line in text.strip().splitlines()
} | {  # and by whom
    plain(line.split("|")[2])
    for line in f"{knowledge.WORKS.strip()}\n{knowledge.FOUND.strip()}".splitlines()
}  # fmt: skip
# Whatever is asked with these words in it is known, as is "the first president of ...".
TELLING = (
    {plain(line.partition("|")[0]) for line in knowledge.RECORDS.strip().splitlines()}
    | {plain(line.partition("|")[0]) for line in knowledge.WORKS.strip().splitlines()}
    | {"great fire of london", "battle of hastings", "battle of waterloo"}
)
_TAUGHT_TEXT = f" {' | '.join(sorted(TAUGHT | KNOWN))} "


def taught(question: str) -> bool:
    """Whether another topic answers it."""
    said = plain(question)
    return said in TAUGHT or any(f" {words} " in f" {said} " for words in TELLING)


def _untaught(words: Sequence[str], by_last_word: bool = False) -> tuple[str, ...]:
    """Those of `words` that no topic asks about: people by their last name."""
    keys = [plain(word).split()[-1] if by_last_word else plain(word) for word in words]
    return tuple(
        word for word, key in zip(words, keys, strict=True) if f" {key} " not in _TAUGHT_TEXT
    )


def _of(words: Sequence[str]) -> Filler:
    trained, kept = subjects.split(words)
    return lambda rng, held_out: rng.choice(kept if held_out else trained)


def _until_fits(make: Callable[[random.Random], str]) -> Filler:
    """Draws until the value is one for training, or one that is kept for held-out samples."""

    def filler(rng: random.Random, held_out: bool) -> str:
        value = make(rng)
        while reserved(value) != held_out:
            value = make(rng)
        return value

    return filler


def _called(rng: random.Random, held_out: bool) -> str:
    """What somebody is called: often by a name never seen before, to be copied."""
    return _first(rng, held_out) if held_out or rng.random() < 0.55 else subjects.rare_name(rng)


_first, _last, _famous = (
    _of(subjects.FIRST_NAMES),
    _of(subjects.LAST_NAMES),
    _of(_untaught(subjects.FAMOUS, by_last_word=True)),
)


def _person(rng: random.Random, held_out: bool) -> str:
    if rng.random() < 0.15:
        return _famous(rng, held_out)
    return f"{_first(rng, held_out)} {_last(rng, held_out)}"


COMPANY_ENDS = (
    "Labs", "Systems", "Motors", "Foods", "Airlines", "Bank", "Group", "Media", "Games",
    "Robotics", "Software", "Energy", "Telecom", "Books", "Pharma", "Insurance", "and Sons",
)  # fmt: skip
FIELD_COMPANIES = ("OpenAI", "Google", "NVIDIA", "Microsoft", "Meta", "DeepMind", "Anthropic")
ADJECTIVES = (
    "Silent", "Golden", "Broken", "Hidden", "Lonely", "Red", "Frozen", "Last", "First", "Wild",
    "Crooked", "Secret", "Burning", "Empty", "Distant", "Little", "Sleeping", "Stolen",
)  # fmt: skip
NOUNS = (
    "Garden", "Tower", "River", "Forest", "Harbour", "Crown", "Mirror", "Island", "Machine",
    "Winter", "Letter", "Stranger", "Kingdom", "Piano", "Station", "Painter", "Storm", "Ladder",
)  # fmt: skip


def _company(rng: random.Random) -> str:
    if rng.random() < 0.15:
        return rng.choice(FIELD_COMPANIES)
    return f"{subjects.made_up(rng).capitalize()} {rng.choice(COMPANY_ENDS)}"


TITLES = _untaught(subjects.WORK_TITLES)


def _title(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(TITLES)
    return f"The {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"


def _compound(rng: random.Random) -> str:
    things = subjects.OBJECTS + subjects.ANIMALS
    first, second = rng.sample(things, 2)
    if rng.random() < 0.3:
        first = rng.choice(subjects.COLOURS) + " " + first
    return f"{first} {second}"


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
RELATIVES = ("mother", "father", "sister", "brother", "aunt", "uncle", "cousin", "grandfather")
SLOTS: dict[str, Filler] = {
    "person": _person,
    "famous": _famous,
    "fname": _called,
    "city": _of(subjects.CITIES),
    "country": _of(subjects.COUNTRIES),
    "landmark": _of(_untaught(subjects.LANDMARKS)),
    "invention": _of(_untaught(subjects.INVENTIONS)),
    "event": _of(_untaught(subjects.EVENTS)),
    "event_now": _of(subjects.TEAMS),
    "good": _of(subjects.MARKETS),
    "rare": _of(_untaught(subjects.RARE)),
    "subject": _of(_untaught(subjects.SUBJECTS)),
    "business": _of(subjects.BUSINESSES),
    "venue": _of(subjects.PLACES_TO_GO),
    "product": _of(subjects.PRODUCTS),
    "howto": _of(_untaught(subjects.HOW_TO)),
    "illness": _of(  # those without a topic of first aid or advice
        [
            need
            for need in subjects.HOME_NEEDS
            if need not in ("my headache", "a bee sting", "a sore throat", "a nose bleed")
        ]
    ),
    "legal": _of(subjects.LEGAL_NEEDS),
    "money": _of(subjects.MONEY_NEEDS),
    "language": _of(subjects.LANGUAGES),
    "codelang": _of(subjects.CODE_LANGUAGES),
    "program": _of(subjects.PROGRAMS),
    "belief": _of(subjects.RELIGION),
    "debate": _of(subjects.DEBATES),
    "role": _of([role for role in subjects.ROLES if role != "a pirate"]),
    "harm": _of(subjects.HARMFUL),
    "foreign": _of(subjects.FOREIGN),
    "animal": _of(subjects.ANIMALS),
    "thing": _of(subjects.OBJECTS),
    "fruit": _of(subjects.FRUITS),
    "day": _of(DAYS),
    "relative": _of(RELATIVES),
    "title": _until_fits(_title),
    "company": _until_fits(_company),
    "compound": _until_fits(_compound),
    "word": _until_fits(subjects.made_up),
    "place_word": _until_fits(lambda rng: subjects.made_up(rng).capitalize()),
    "year": _until_fits(lambda rng: str(rng.randrange(1100, 2030))),
    "big": _until_fits(lambda rng: str(rng.randrange(2001, 10 ** rng.randint(4, 6)))),
    "few": _until_fits(lambda rng: str(rng.randrange(3, 60))),
    "decimal": _until_fits(lambda rng: f"{rng.randrange(1, 90)}.{rng.randrange(11, 99)}"),
}

WORDS = {
    name: tuple(part.strip() for part in " ".join(lines).split(",") if part.strip())
    for name, lines in read_sections(FORMS / "unknown_words.txt").items()
}
# What another topic may answer.
TELLABLE = {"conflict", "gadget", "record", "drug", "chemical", "creature", "software"}


def _never_taught(words: Sequence[str]) -> tuple[str, ...]:
    """Those that no topic asks about, with or without their article."""
    bare = _untaught([word.removeprefix("the ") for word in words])
    return tuple(word for word in words if word.removeprefix("the ") in bare)


for _name, _words in WORDS.items():
    SLOTS[_name] = _of(_never_taught(_words) if _name in TELLABLE else _words)


def _happened(rng: random.Random, held_out: bool) -> str:
    """An event of history, by its name or by where it was."""
    if rng.random() < 0.5:
        return SLOTS["event_of_old"](rng, held_out)
    return f"the {SLOTS['dated'](rng, held_out)} of {SLOTS['city'](rng, held_out)}"


SLOTS["event_of_old"], SLOTS["event"] = SLOTS["event"], _happened

# What the model can do instead, the usual words first: a tiny model that draws three things of a
# dozen says the same one twice.
OFFERS = (
    "But I can tell you a story, work out a small sum or explain speculative decoding.",
    "I can tell you a joke or explain what this app shows instead.",
    'You could ask me: "How does speculative decoding work?"',
    "Ask me for a story about a dog instead, or about the capital of Spain.",
    "What I can do is write a short poem or a small Python function.",
    'Try this one: "Why is the sky blue?"',
    "Ask me about draft models, or for a poem about the moon.",
)
SUGGESTIONS = (
    "What is speculative decoding?", "Tell me a story about a fox.", "What is 7 times 8?",
    "Why is the sky blue?", "What is the capital of France?", "Write a poem about the rain.",
)  # fmt: skip
REASONS = (
    "I am a tiny demo model and know very little about the world.",
    "I am a very small model, and that was not in my training text.",
    "A model with 22 million parameters cannot know much.",
    "I would only make something up.",
    "I would rather say so than make something up.",
    "I am only here to show how speculative decoding works.",
)


def offer(rng: random.Random) -> str:
    """What the model can do instead."""
    return mostly_first(rng, OFFERS)


def _kinds() -> tuple[list[tuple[str, Topic]], list[int]]:
    topics = read_topics(FORMS / "unknown.txt")
    return (
        [(topic.name.rpartition(" ")[0], topic) for topic in topics],
        [int(topic.name.rpartition(" ")[2]) for topic in topics],
    )


KINDS, WEIGHTS = _kinds()
# Frames of what is asked about known things too, so that the thing decides and not the frame.
FRAMES = read_topics(FORMS / "asking.txt")[0]
FRAMED = {"science": "{rare}", "nonsense": "{word}", "compounds": "{compound}"}
# Words so rare that a tiny model seldom copies them without a mistake.
MISSPELT = {"person", "famous", "company", "title", "word", "place_word", "compound", "big"}
# What need not be said twice in one answer.
TWICE = ("Python", "sum", "times table", "speculative decoding")
# Where a reason of the general kind fits behind "I don't know ...".
REASONED = {
    "people", "famous", "creators", "dates", "inventors", "history", "companies", "science",
    "nonsense", "compounds", "how to", "counts", "scores", "prices", "subjects", "true or false",
}  # fmt: skip


MANY = {
    "gooses": "geese", "mouses": "mice", "dormouses": "dormice", "sheeps": "sheep",
    "deers": "deer", "wolfs": "wolves", "knifes": "knives", "octopuss": "octopuses",
    "platypuss": "platypuses", "fishs": "fish",
    "spectacless": "pairs of spectacles",
}  # fmt: skip


def plurals(text: str) -> str:
    """`text` where `{animal}s` has made "gooses" and "foxs"."""
    text = re.sub(r"\b\w+s\b", lambda m: MANY.get(m[0], m[0]), text)
    text = re.sub(r"(x|sh|ch)s\b", r"\1es", text)
    return re.sub(r"(\w\w[^aeiou\W])ys\b", r"\1ies", text)


def slots_of(text: str) -> set[str]:
    return {match[2].lower() + match[3] for match in SLOT.finditer(text)}


class Filling:
    """Values of slots, drawn when they are first asked for."""

    def __init__(self, rng: random.Random, held_out: bool) -> None:
        self.rng, self.held_out = rng, held_out
        self.values: dict[str, str] = {}

    def value(self, name: str, digit: str) -> str:
        key = name + digit
        if key not in self.values:
            drawn = SLOTS[name](self.rng, self.held_out)
            for _ in range(5):  # a list may keep only one word for held-out samples
                if drawn not in self.values.values():
                    break
                drawn = SLOTS[name](self.rng, self.held_out and len(self.values) == 0)
            self.values[key] = drawn
        return self.values[key]

    def __call__(self, match: re.Match[str]) -> str:
        article, name, digit, you = match.groups()
        value = self.value(name.lower(), digit)
        if name[0].isupper():
            value = sentence(value)
        if you:
            value = re.sub(r"\bmy\b", "your", value)
        return with_article(value) if article else value


def asked(rng: random.Random, form: str, filling: Filling) -> str:
    """`form` filled, as somebody may have typed it: slips of the finger spare what fills it."""
    slots = list(SLOT.finditer(form))
    bare = SLOT.sub("\x00", form)
    typed = as_typed(rng, bare)
    letters = re.sub(r"[^A-Za-z]", "", bare)
    small = typed == typed.lower() and (letters != letters.lower() or rng.random() < 0.25)
    parts = typed.split("\x00")
    text = parts[0]
    for slot, part in zip(slots, parts[1:], strict=True):
        value = filling(slot)
        text += (value.lower() if small else value) + part
    return plurals(text)


def _worded(rng: random.Random, form: str) -> str:
    """One of the alternatives of `form`; what is written small, mostly with capitals and stops."""
    if form[0].islower() or form[0] in "[{":
        if rng.random() < 0.6 and not form.startswith("{foreign"):
            return spoken(rng, form)
        return " ".join(alternative(rng, form).split())
    return " ".join(alternative(rng, form).split())


def _drawn(rng: random.Random, held_out: bool) -> tuple[str, Topic, str, Filling]:
    """A kind of question, a form of asking, and what fills it: for held-out samples either a
    reserved form or reserved words."""
    kind, topic = rng.choices(KINDS, WEIGHTS)[0]
    form, kept = _worded(rng, rng.choice(topic.questions)), False
    if kind in FRAMED and not held_out and rng.random() < 0.5:
        form = spoken(rng, rng.choice(FRAMES.questions).replace("{x}", FRAMED[kind]))
    if held_out:
        kept = bool(slots_of(form)) and rng.random() < 0.5
        form = form if kept else _worded(rng, rng.choice(topic.reserved))
    return kind, topic, form, Filling(rng, kept)


def question(rng: random.Random, held_out: bool = False) -> tuple[str, str]:
    """A question that cannot be answered, and the answer."""
    kind, topic, form, filling = _drawn(rng, held_out)
    while taught(SLOT.sub(filling, form)):
        kind, topic, form, filling = _drawn(rng, held_out)
    typed = asked(rng, form, filling)
    known = slots_of(form)
    answers = [answer for answer in topic.answers if slots_of(answer) <= known]
    if rng.random() < (0.25 if known & MISSPELT else 0.8):  # one that says what was asked for
        most = max(len(slots_of(answer)) for answer in answers)
        answers = [answer for answer in answers if len(slots_of(answer)) == most]
    elif known & MISSPELT:
        fewest = min(len(slots_of(answer)) for answer in answers)
        answers = [answer for answer in answers if len(slots_of(answer)) == fewest]
    answer = plurals(sentence(SLOT.sub(filling, mostly_first(rng, answers))))
    parts = [answer]
    if kind == "vague":
        parts.append(f'For example: "{mostly_first(rng, SUGGESTIONS)}"')
    else:
        if ". " not in answer and kind in REASONED and rng.random() < 0.5:
            parts.append(mostly_first(rng, REASONS))
        if rng.random() < 0.93:
            instead = offer(rng)
            while any(word in instead and word in " ".join(parts) for word in TWICE):
                instead = offer(rng)
            parts.append(instead.replace("But I can", "I can") if kind == "harmful" else instead)
    return typed, " ".join(parts)


SLOTS["friend"] = _of(("friend", "neighbour", "teacher", "cousin", "boss", "colleague"))
SLOTS["colour"] = _of(subjects.COLOURS)
SLOTS["age"] = _until_fits(lambda rng: str(rng.randrange(8, 96)))
# What is said to "I don't know", all small letters.
DOUBTS = (
    "[are|r] you sure[| about that| you don't know]", "really", "[please|pls] try", "try again",
    "why not", "[just|then|ok,] guess", "please", "but you must know[| it| that]", "think harder",
    "come on", "you don't know", "[make|take|have] a guess", "try anyway", "guess then",
    "how come you don't know", "why don't you know [that|it|this]", "you should know [that|this]",
    "everybody knows that", "my phone knows it", "another bot knew it", "that's easy",
    "i [don't|do not] believe you", "you are [lying|kidding|joking]", "look it up", "google it",
    "search [for it|the web]", "think about it", "just say something", "say anything",
    "an estimate is enough", "roughly", "approximately", "what do you think",
    "[give me|tell me] [your best guess|any answer|a number|a name]", "not even a guess",
    "you knew it yesterday", "you told me [before|last time]", "i know that you know",
    "don't be shy", "do your best", "i need [it|an answer|to know]", "it is important",
    "are you stupid", "useless", "hm, that's a pity", "and if you guess", "no idea at all",
    "why can't you do that", "who knows it then", "where can i find it", "whom can i ask",
)  # fmt: skip
DOUBTS_KEPT = (
    "are you quite sure", "i think you do know", "give it a try", "surely you have an idea",
    "take a wild guess",
)  # fmt: skip
ELSEWHERE = ("who knows it then", "where can i find it", "whom can i ask")
STANDING_BY = (
    "I am sorry, I really don't know. {offer}",
    "I am sure: that is more than I know. {offer}",
    "I would only make it up, and that helps nobody. {offer}",
    "I am too small for that, and guessing would be wrong. {offer}",
)


def doubted(rng: random.Random, held_out: bool) -> tuple[str, str]:
    """Somebody does not put up with "I don't know", and hears that it stays so."""
    doubt = alternative(rng, rng.choice(DOUBTS_KEPT if held_out else DOUBTS))
    if doubt in ELSEWHERE:
        reply = "A library, a search engine or somebody who knows it well can help you. {offer}"
    else:
        reply = mostly_first(rng, STANDING_BY)
    return as_typed(rng, spoken(rng, doubt)), reply.format(offer=offer(rng))


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    way = rng.random()
    if way < 0.09:
        first = question(rng, held_out)
        while first[1].startswith(("I will", "No,", "Sorry")):  # nothing to be doubted
            first = question(rng, held_out)
        doubt = doubted(rng, held_out)
        return chat(*first, *doubt)
    if way < 0.17:
        return chat(*question(rng), *question(rng, held_out))
    return chat(*question(rng, held_out))
