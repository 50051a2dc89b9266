"""What strangers say in words of their own: greetings with a remark, thanks, praise and the like,
and questions of the other sources in many more wordings.

In the files of `ASKED` an answer that begins with `=` is that of the topic of the same name in
`answers` or in a file before it, and what follows it are names of the thing, for the frames.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus import brief, code, facts, manners, subject
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    FORMS,
    Conversation,
    Topic,
    as_typed,
    chat,
    chatty,
    drawn,
    mostly_first,
    read_topics,
    sentence,
    spoken,
)
from assets.demo.recipe.corpus.unknown import FRAMES, SLOT, Filling, plain

ASKED = ("asking.txt", "newcomer.txt", "everyday.txt", "strangers.txt", "world.txt")
FRAMED = 0.45  # of the questions about a thing that has a name
SHORT = 0.5  # of the plain ones of these: with the wish for a short answer
OWN_SHORT = ("speculative decoding", "what am I looking at", "lane")  # short answers of their own
WISHES = (
    ("in one sentence", "in a sentence", "in 1 sentence", "- one sentence please", "in one line"),
    ("in two sentences", "in 2 sentences", "- two sentences please", "in two short sentences"),
)
FOLLOWED = 0.08  # of the answers: by a word on it
WHY = ("Why?", "why", "But why?", "and why", "Why is that?", "How so?")
MORE = ("Tell me more.", "more")
SURE = ("Really?", "Are you sure?", "really", "Is that true?", "sure?", "How do you know?")
SHORTER = (
    "Shorter please.", "shorter", "Make it shorter.", "In one sentence?", "too long", "tldr",
    "Can you say that in one sentence?", "shorter pls", "Simpler, please.", "Just one sentence.",
)  # fmt: skip
SHORTEST = 25  # characters of a sentence that says something
THAT_IS_ALL = (
    "That is all that I know about it, for I am a tiny model. Please ask me something else.",
    "More than that I did not learn. Ask me something else, or let me tell you a story.",
)
AS_FAR_AS = (
    "Yes, as far as I know. But I am a tiny model and can be wrong, so check what matters.",
    "I learned it so. But I am a very small model, so do not trust me too much.",
)
TWO_AT_ONCE = 0.08  # of the questions about the model itself


@cache
def kept() -> set[str]:
    """Wordings of `answers` that are kept for measuring: some form may stand for them as well."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in ANSWERS.glob("*.txt"))
    return {plain(line[2:]) for line in text.splitlines() if line.startswith("! ")}


@cache
def talks() -> list[Topic]:
    return read_topics(FORMS / "talk.txt")


@cache
def asked() -> tuple[tuple[Topic, ...], dict[str, tuple[str, ...]]]:
    """Topics with their answers, and the names of what they are about."""
    known: dict[str, Topic] = {}
    more = read_topics(ANSWERS / "first_more.txt") + read_topics(ANSWERS / "first.txt")
    wide = [topic for path in sorted(ANSWERS.glob("wide_*.txt")) for topic in read_topics(path)]
    for topic in (
        *manners.TOPICS,
        *subject.read_subject().topics, *more, *facts.topics(), *code.TOPICS, *wide
    ):  # fmt: skip
        known.setdefault(topic.name, topic)
    topics = []
    names: dict[str, tuple[str, ...]] = {}
    for topic in [topic for file in ASKED for topic in read_topics(FORMS / file)][1:]:
        answers = topic.answers
        if answers[0].startswith("="):
            called = (name.strip() for name in answers[0][1:].split("|"))
            names[topic.name] = names.get(topic.name, ()) + tuple(filter(None, called))
            answers = known[topic.name].answers
        known.setdefault(topic.name, topic)
        topics.append(Topic(topic.name, topic.questions, topic.reserved, answers, topic.weight))
    return tuple(topics), names


def greeted(rng: random.Random, held_out: bool) -> Conversation:
    topic = drawn(rng, talks())
    filling = Filling(rng, held_out)
    text = spoken(rng, rng.choice(topic.reserved if held_out else topic.questions))
    text = SLOT.sub(filling, text)
    if not held_out and plain(text) in kept():
        return greeted(rng, held_out)
    way = rng.random()
    if way < 0.3:
        text = chatty(rng, text)
    elif way < 0.4:
        text = text.replace(",", "").replace("'", "").lower()
    return chat(manners.said(rng, text), sentence(SLOT.sub(filling, topic.answer(rng))))


def otherwise(rng: random.Random, held_out: bool) -> Conversation:
    """A question of another source, in words of one's own."""
    topics, names = asked()
    topic = drawn(rng, topics)
    form, answer = rng.choice(topic.reserved if held_out else topic.questions), topic.answer(rng)
    things = names.get(topic.name)
    if things and rng.random() < FRAMED:
        form = rng.choice(FRAMES.reserved if held_out else FRAMES.questions)
        form = form.replace("{x}", rng.choice(things))
        cut = form.startswith(("explain", "what is", "so what is")) and topic.name not in OWN_SHORT
        if cut and rng.random() < SHORT:
            many = rng.randrange(2)
            form = f"{form.rstrip('?')} {rng.choice(WISHES[many])}"
            answer = " ".join(re.split(r"(?<=[.?!]) (?=[A-Z])", answer)[: many + 1])
    elif topic in _of_itself() and rng.random() < TWO_AT_ONCE * 2:
        other = drawn(rng, [t for t in _of_itself() if t is not topic])
        second = [q for q in (other.reserved if held_out else other.questions) if "{hi}" not in q]
        form = f"{form.rstrip('?')} and {rng.choice(second)}"
        answer = f"{answer} {other.answer(rng)}"
    text = spoken(rng, form)
    if not held_out and plain(text) in kept():
        return otherwise(rng, held_out)
    turns = [as_typed(rng, text), answer]
    if not held_out and rng.random() < FOLLOWED:
        turns += _followed(rng, topic.name, answer)
    return chat(*turns)


def _followed(rng: random.Random, name: str, answer: str) -> tuple[str, str]:
    """What somebody says behind an answer that could be understood without it."""
    first, *more = re.split(r"(?<=[.?!]) (?=[A-Z])", answer)
    ways: list[tuple[tuple[str, ...], tuple[str, ...]]]
    ways = [((*WHY, *MORE), THAT_IS_ALL), (SURE, AS_FAR_AS)]
    if (concept := brief.concepts().get(name)) and "why" in concept.said:
        ways = [(WHY, (concept.said["why"],)), (SURE, AS_FAR_AS)]
    if more and len(first) > SHORTEST and "```" not in answer:
        ways += [(SHORTER, (first,))] * 2
    asks, says = rng.choice(ways)
    said = rng.choice(asks)
    return said if rng.random() < 0.7 else chatty(rng, said), mostly_first(rng, says)


@cache
def _of_itself() -> tuple[Topic, ...]:
    """Questions about the model, of which two may be asked at once."""
    itself = {topic.name for topic in manners.IDENTITY}
    return tuple(topic for topic in asked()[0] if topic.name in itself)
