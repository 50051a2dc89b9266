"""A short text of the user and a question about it: who, what, where, when, with whom, how many,
how much, why, yes or no. The answer is a whole sentence that stands in the text, and sometimes that
the text does not say it.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from assets.demo.recipe.corpus import daily, rewriting, sentences, subjects
from assets.demo.recipe.corpus.copying import Job
from assets.demo.recipe.corpus.sentences import Clause, clause, past
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    listed,
    read_sections,
    sentence,
    with_article,
)
from assets.demo.recipe.corpus.wordplay import plural_of

BEFORE = (
    "{t} {q}", "{t} {q}", "{t}\n{q}", "{t}\n\n{q}", "Text: {t} Question: {q}", "{q} {t}",
    "{q}\n{t}", "{q} Text: {t}", "{q} text: {t}", "Read this: {t} {q}", "read the text: {t}\n{q}",
    "Here is a text: {t} {q}", "Text: {t}\nQuestion: {q}", '"{t}" {q}', '{q} "{t}"',
    "Answer the question. {t} {q}", "Answer from the text. {t} {q}",
    "According to the text, {q} {t}",
    "based on this text: {t} {q}", "{t} - {q}", "context: {t} question: {q}",
    "Using only this text, answer: {q} {t}", "Story: {t} {q}", "I have a text. {t} {q}",
    "Passage: {t}\n{q}", "{t} So, {q}", "{t} Now tell me: {q}", "this is the text: {t}\n\n{q}",
)  # fmt: skip
KEPT = ("My text: {t} My question: {q}", "Look into this text: {t} {q}")
UNSAID = "The text does not say that."
HOW = ("by train", "by bus", "by car", "by bike", "on foot", "by plane", "by boat", "by taxi")
VENUES = (
    "library", "museum", "school", "office", "hotel", "cinema", "theatre", "church", "restaurant",
    "gym", "park", "stadium", "town hall", "big hall", "classroom", "canteen", "cafe", "garden",
)  # fmt: skip
ERRANDS = (
    "to see a doctor", "to visit {w}", "to buy a {t}", "to look for a {t}", "to meet {w}",
    "to learn to cook", "to see the {p}", "to sell a {t}", "to help {w}", "to eat {f}",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence, and questions with their answers: the answer is mostly the sentence or a part
    of it."""

    text: str
    asks: tuple[tuple[str, str], ...]


def name(rng: random.Random) -> str:
    return subjects.rare_name(rng) if rng.random() < 0.35 else rng.choice(daily.NAMES)


def journey(rng: random.Random, who: str) -> Fact:
    town, day = rng.choice(subjects.CITIES), rng.choice(daily.DAYS)
    how = rng.choice(HOW)
    friend = rng.choice([n for n in daily.NAMES if n != who])
    why = sentences.filled(rng, rng.choice(ERRANDS))
    way = rng.random()
    verb = rng.choice(("went", "travelled", "went"))
    asks = [
        (f"where did {who} go", f"{who} went to {town}."),
        (f"who went to {town}", f"{who} went to {town}."),
        (f"who {verb} to {town}", f"{who} {verb} to {town}."),
        (f"did {who} go to {town}", f"Yes, {who} went to {town}."),
    ]
    other = rng.choice([t for t in subjects.CITIES if t != town])
    asks.append((f"did {who} go to {other}", f"No, {who} went to {town}."))
    if way < 0.3:
        text = f"{who} {verb} to {town} {how} on {day}."
        asks += [
            (f"when did {who} go to {town}", f"{who} went to {town} on {day}."),
            (f"how did {who} go to {town}", f"{who} went to {town} {how}."),
            (f"how did {who} get to {town}", f"{who} went to {town} {how}."),
            (f"on which day did {who} go", f"{who} went on {day}."),
            (f"what day was it when {who} went to {town}", f"It was {day}."),
        ]
    elif way < 0.55:
        text = f"{who} {verb} to {town} with {friend}."
        asks += [
            (f"who went with {who}", f"{friend} went with {who}."),
            (f"with whom did {who} go", f"{who} went with {friend}."),
            (f"who did {who} go to {town} with", f"{who} went to {town} with {friend}."),
        ]
    elif way < 0.8:
        text = f"{who} {verb} to {town} {why}."
        asks += [
            (f"why did {who} go to {town}", f"{who} went to {town} {why}."),
            (f"what did {who} want in {town}", f"{who} went to {town} {why}."),
        ]
    else:
        text = f"On {day}, {who} {verb} to {town}."
        asks += [
            (f"when did {who} go to {town}", f"{who} went to {town} on {day}."),
            (f"which city did {who} visit", f"{who} went to {town}."),
        ]
    return Fact(text, tuple(asks))


def purchase(rng: random.Random, who: str) -> Fact:
    n, price = rng.randint(2, 30), rng.randint(2, 90)
    thing = rng.choice(daily.THINGS)
    place = rng.choice(("market", "supermarket", "bakery", "shop", "station", "bookshop", "museum"))
    things = plural_of(thing)
    colour = rng.choice(subjects.COLOURS)
    other = rng.choice([t for t in daily.THINGS if t != thing])
    if rng.random() < 0.45:
        text = f"{who} bought {n} {things} at the {place}."
        return Fact(text, (
            (f"what did {who} buy", f"{who} bought {n} {things}."),
            (f"how many {things} did {who} buy", f"{who} bought {n} {things}."),
            (f"where did {who} buy the {things}", f"{who} bought the {things} at the {place}."),
            (f"who bought {things}", f"{who} bought {things}."),
            (f"who was at the {place}", f"{who} was at the {place}."),
            (f"did {who} buy {plural_of(other)}", f"No, {who} bought {things}."),
            (f"did {who} buy {things}", f"Yes, {who} bought {n} {things}."),
        ))  # fmt: skip
    text = f"{who} bought {with_article(colour)} {thing} for {price} euros."
    return Fact(text, (
        (f"what did {who} buy", f"{who} bought {with_article(colour)} {thing}."),
        (f"how much did {who} pay", f"{who} paid {price} euros."),
        (f"how much was the {thing}", f"The {thing} was {price} euros."),
        (f"how much did the {thing} cost", f"The {thing} cost {price} euros."),
        (f"what colour was the {thing}", f"The {thing} was {colour}."),
        (f"which colour is the {thing}", f"The {thing} is {colour}."),
        (f"who bought the {thing}", f"{who} bought the {thing}."),
        (
            f"did {who} buy {with_article(other)}",
            f"No, {who} bought {with_article(colour)} {thing}.",
        ),
        (f"was the {thing} {colour}", f"Yes, the {thing} was {colour}."),
    ))  # fmt: skip


def about(rng: random.Random, who: str) -> Fact:
    town, age, job = rng.choice(subjects.CITIES), rng.randint(5, 90), rng.choice(sentences.JOBS)
    pet, called = rng.choice(daily.CREATURES), name(rng)
    food = rng.choice(daily.FOOD)
    way = rng.randrange(5)
    if way == 0:
        return Fact(f"{who} is {age} years old and lives in {town}.", (
            (f"how old is {who}", f"{who} is {age} years old."),
            (f"where does {who} live", f"{who} lives in {town}."),
            (f"who lives in {town}", f"{who} lives in {town}."),
            (f"does {who} live in {town}", f"Yes, {who} lives in {town}."),
            (f"what is the age of {who}", f"{who} is {age} years old."),
        ))  # fmt: skip
    if way == 1:
        return Fact(f"{who} works as {with_article(job)} in {town}.", (
            (f"what does {who} do", f"{who} works as {with_article(job)}."),
            (f"what is {who}'s job", f"{who} works as {with_article(job)}."),
            (f"where does {who} work", f"{who} works in {town}."),
            (f"who is the {job}", f"{who} is the {job}."),
            (f"is {who} {with_article(job)}", f"Yes, {who} works as {with_article(job)}."),
        ))  # fmt: skip
    if way == 2:
        return Fact(f"{who} has {with_article(pet)} called {called}.", (
            (f"what pet does {who} have", f"{who} has {with_article(pet)} called {called}."),
            (f"what is the {pet} called", f"The {pet} is called {called}."),
            (f"what is the name of the {pet}", f"The {pet} is called {called}."),
            (f"who is {called}", f"{called} is the {pet} of {who}."),
            (f"who has {with_article(pet)}", f"{who} has {with_article(pet)}."),
            (f"does {who} have a pet", f"Yes, {who} has {with_article(pet)} called {called}."),
        ))  # fmt: skip
    if way == 3:
        hates = rng.choice([f for f in daily.FOOD if f != food])
        return Fact(f"{who} likes {food} but hates {hates}.", (
            (f"what does {who} like", f"{who} likes {food}."),
            (f"what does {who} hate", f"{who} hates {hates}."),
            (f"who likes {food}", f"{who} likes {food}."),
            (f"does {who} like {hates}", f"No, {who} hates {hates}."),
            (f"does {who} like {food}", f"Yes, {who} likes {food}."),
        ))  # fmt: skip
    event, day, hour = rng.choice(daily.EVENTS), rng.choice(daily.DAYS), rng.randint(1, 12)
    place = rng.choice(VENUES)
    return Fact(f"The {event} is on {day} at {hour} o'clock in the {place}.", (
        (f"when is the {event}", f"The {event} is on {day} at {hour} o'clock."),
        (f"where is the {event}", f"The {event} is in the {place}."),
        (f"what is on {day}", f"The {event} is on {day}."),
        (f"on which day is the {event}", f"The {event} is on {day}."),
        (f"at what time is the {event}", f"The {event} is at {hour} o'clock."),
        (f"what time does the {event} start", f"The {event} is at {hour} o'clock."),
        (f"what happens in the {place}", f"The {event} is in the {place}."),
    ))  # fmt: skip


def deed(rng: random.Random, who: str) -> Fact:
    """Something with an object: what was done, and by whom."""
    while True:
        one = clause(rng, 1, "past", r"^\w+ \|[^|{]*(\{[tcaf]\}[^|{]*)+\|$")
        verb, rest = one.doing[0]
        if verb not in ("have", "want", "need", "like", "love", "hate", "count", "collect"):
            break
    thing = rest.strip("|")
    pronoun = rng.choice(("he", "she"))
    one = Clause(who, pronoun, ((verb, rest),), one.end if one.end not in ("together",) else "")
    told = one.said("then")
    core = f"{who} {past(verb)} {thing}."
    the = re.sub(r"^(a|an|some) ", "the ", thing)
    asks = [
        (f"what did {who} {verb}", core),
        (f"who {past(verb)} {the}", f"{who} {past(verb)} {the}."),
        (f"what did {who} do", core),
        (f"did {who} {verb} {the}", f"Yes, {who} {past(verb)} {the}."),
    ]
    times = (
        r"(yesterday|last|two days|a week|three|an hour ago|on |in the|at n|at eight|after|before)"
    )
    if one.end and re.match(times, one.end):
        asks.append((f"when did {who} {verb} {the}", f"{who} {past(verb)} {the} {one.end}."))
    return Fact(told, tuple(asks))


KINDS = (journey, journey, purchase, purchase, about, about, about, deed, deed)
MISSING = (
    "how old is {n}", "what is {n}'s job", "what colour is the house of {n}", "where was {n} born",
    "what is the last name of {n}", "who is {n}'s teacher", "what does {n} eat for breakfast",
    "how tall is {n}", "what is the phone number of {n}", "how many brothers does {n} have",
    "who is the mother of {n}", "what car does {n} drive", "when is {n}'s birthday",
)  # fmt: skip
ADDED = (
    "The weather was nice.", "It was a sunny day.", "It was a long day.", "The weather was bad.",
    "The sun was shining.", "It was quite cold.", "The {p} was closed.", "Everybody was happy.",
    "It was raining.", "A {c} was in the {p}.", "The {t} was {a}.", "There were many people.",
)  # fmt: skip


def asking(rng: random.Random, question: str) -> str:
    """The question as it is typed."""
    way = rng.random()
    if way < 0.6:
        return f"{sentence(question)}?"
    if way < 0.75:
        return f"{question}?"
    if way < 0.85:
        return question
    start = rng.choice(
        ("Can you tell me ", "Tell me: ", "Quick question: ", "Please answer: ", "So ")
    )
    return f"{start}{question}?" if start.endswith((": ", "So ")) else f"Question: {question}?"


def same(rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Two or three facts about one person, who has a name only in the first."""
    gender = rng.randrange(2)
    who = rng.choice(subjects.split((subjects.WOMEN, subjects.MEN)[gender])[0])
    kinds = rng.sample((journey, purchase, about, deed), rng.choice((2, 2, 3)))
    facts = [kind(rng, who) for kind in kinds]
    if any(who not in fact.text for fact in facts):
        return same(rng)
    pronoun = ("she", "he")[gender]
    lines = [facts[0].text]
    for fact in facts[1:]:
        text = re.sub(rf"^{who}\b", sentence(pronoun), fact.text)
        lines.append(re.sub(rf"\b{who}\b", pronoun, text))
    asks = [one for fact in facts for one in fact.asks]
    return " ".join(lines), [one for one in asks if one[0] != f"what did {who} do"]


def passage(rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """One to four sentences of facts, and what may be asked of them."""
    count = rng.choice((1, 1, 2, 2, 2, 3, 3, 4))
    if rng.random() < 0.25:
        return same(rng)
    names: list[str] = []
    while len(names) < count:
        if (new := name(rng)) not in names:
            names.append(new)
    kinds = [rng.choice(KINDS) for _ in names]
    if rng.random() < 0.4:
        kinds = [kinds[0]] * count  # the same happened to others
    facts = [kind(rng, who) for kind, who in zip(kinds, names, strict=True)]
    lines = [fact.text for fact in facts]
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        lines.insert(rng.randint(1, len(lines)), sentences.filled(rng, rng.choice(ADDED)))
    text = " ".join(lines)
    asks = []
    for at, fact in enumerate(facts):
        others = " ".join(one.text for i, one in enumerate(facts) if i != at)
        known = set(re.findall(r"\b[A-Z][a-z]+\b|\b[a-z]{4,}\b", others))
        for question, answer in fact.asks:
            key = set(re.findall(r"\b[A-Z][a-z]+\b|\b[a-z]{4,}\b", question))
            asked_of = {w for w in key if w in fact.text}
            # nothing that is said of two may be asked with those words alone
            if names[at] in question or not asked_of & known:
                asks.append((question, answer))
    if rng.random() < 0.12:
        missing = rng.choice(MISSING).replace("{n}", names[0])
        told = ("old" in missing and "years old" in text) or (
            "job" in missing and "works as" in text
        )
        if not told:
            asks = [(missing, UNSAID)]
    if rng.random() < 0.1 and count > 1:
        people = [n for n in names if re.search(rf"\b{n}\b", text)]
        if len(people) > 1 and not re.search(r" (with|to (visit|meet|help)) [A-Z]|called", text):
            asks = [("who is in the text", f"{listed(people)}."),
                    ("which people are mentioned", f"{listed(people)}.")]  # fmt: skip
    return text, asks


def pasted(rng: random.Random) -> tuple[str, str, list[tuple[str, str]]]:
    """A text as people paste one, its summary, and what may be asked of it."""
    form = rng.choice(read_sections(FORMS / "passages.txt")["texts"])
    values = {
        "N": name(rng), "C": rng.choice(subjects.CITIES), "D": rng.choice(daily.DAYS),
        "M": rng.choice(daily.MONTHS), "n": str(rng.randint(3, 30)),
    }  # fmt: skip
    form = re.sub(r"\{(\w)\}", lambda match: values[match[1]], form)
    text, core, *asks = form.split(" = ")
    pairs = [(ask.split(" / ")[0], ask.split(" / ")[1]) for ask in asks]
    return text, core, pairs


def summed_up(rng: random.Random, held_out: bool) -> Conversation:
    """A pasted text and its summary, with a question behind it."""
    text, core, asks = pasted(rng)
    talk = [rewriting.asked(rng, Job("summary", text, core), held_out), core]
    if rng.random() < 0.3 and not held_out:
        question, answer = rng.choice(asks)
        talk += [asking(rng, question), answer]
    return chat(*talk)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if rng.random() < 0.12:
        return summed_up(rng, held_out)
    text = ""
    asks: list[tuple[str, str]] = []
    while not asks:
        text, asks = passage(rng) if rng.random() < 0.8 else pasted(rng)[::2]
    question, answer = rng.choice(asks)
    form = rng.choice(KEPT if held_out else BEFORE)
    said = asking(rng, question)
    if form.startswith(("According", "{t} So")):
        said = f"{question}?"
    talk = [alternative(rng, form).replace("{q}", said).replace("{t}", text), answer]
    if rng.random() < 0.25 and not held_out and len(asks) > 1:
        left = [one for one in asks if one[1] != answer] or asks
        question, answer = rng.choice(left)
        start = rng.choice(("", "", "And ", "and ", "ok, and "))
        talk += [f"{start}{question}?" if start else asking(rng, question), answer]
    return chat(*talk)
