"""Greetings, thanks, small talk, and what the model says of itself."""

from __future__ import annotations

import random

from assets.demo.recipe.corpus.text import (
    ANSWERS,
    Conversation,
    Topic,
    as_typed,
    chat,
    drawn,
    read_topics,
)

MANNERS = read_topics(ANSWERS / "manners.txt")  # what is said rather than asked
SMALL_TALK = read_topics(ANSWERS / "smalltalk.txt")
IDENTITY = read_topics(ANSWERS / "identity.txt")
TOPICS = MANNERS + SMALL_TALK + IDENTITY
_NAMED = {topic.name: topic for topic in MANNERS}
# What may be said behind an answer.
FOLLOW_UPS = [
    _NAMED[name]
    for name in (
        "ok", "lol", "yes", "no", "maybe", "thanks", "goodbye", "praise", "wrong answer",
        "boring", "insults", "sorry", "nothing said",
    )
]  # fmt: skip
OPENERS = [_NAMED[name] for name in ("hello", "good morning", "good evening", "yo")]


def said(rng: random.Random, text: str) -> str:
    """`text` in small or large letters, with or without its stop: nobody puts a greeting or a
    please around a greeting."""
    way = rng.random()
    if way < 0.2:
        changed = text.lower()
    elif way < 0.35:
        changed = text.lower().rstrip(".!?")
    elif way < 0.45:
        changed = text.rstrip(".!?") + rng.choice(("!", ".", "!!", "..."))
    elif way < 0.48:
        changed = text.upper()
    else:
        changed = text
    return changed if changed.strip() else text


def turn(rng: random.Random, topic: Topic, held_out: bool) -> tuple[str, str]:
    wording = rng.choice(topic.reserved if held_out else topic.questions)
    typed = said(rng, wording) if topic in MANNERS else as_typed(rng, wording)
    return typed, topic.answer(rng)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    way = rng.random()
    if way < 0.4:
        topic = drawn(rng, IDENTITY)
    elif way < 0.65:
        topic = drawn(rng, SMALL_TALK)
    else:
        topic = drawn(rng, MANNERS)
    turns: tuple[str, ...] = turn(rng, topic, held_out)
    way = rng.random()
    if way < 0.12:
        turns += turn(rng, rng.choice(FOLLOW_UPS), held_out)
    elif way < 0.22:
        opener = rng.choice(OPENERS)
        if topic not in OPENERS:
            turns = turn(rng, opener, held_out) + turns
    elif way < 0.27:
        turns += turn(rng, rng.choice(SMALL_TALK + IDENTITY), held_out)
        turns += turn(rng, rng.choice(FOLLOW_UPS), held_out)
    return chat(*turns)
