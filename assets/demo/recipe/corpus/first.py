"""What people type first, again and again: the head of what all the other sources hold.

A small model knows what it has met often. The other sources are wide, so that it meets each thing
a few times; here the few hundred things with which most people begin (a greeting, "help", "2+2",
the capital of France, a story about a dog, "What is speculative decoding?") come in most of their
wordings, and the best known wordings most often.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

from assets.demo.recipe.corpus import (
    arithmetic,
    code,
    copying,
    facts,
    manners,
    quantities,
    stories,
    subject,
    talk,
    unknown,
    verse,
    wordplay,
)
from assets.demo.recipe.corpus.school import Asked, Kinds, reserved, typed
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    Conversation,
    Topic,
    as_typed,
    chat,
    drawn,
    early,
    read_topics,
)

Sample = Callable[[random.Random, bool], Conversation]

OWN = read_topics(ANSWERS / "first.txt")
MORE = read_topics(ANSWERS / "first_more.txt")
WIDE = [topic for path in sorted(ANSWERS.glob("wide_*.txt")) for topic in read_topics(path)]
OFTEN = 3.0  # the weight from which a topic belongs to the head

HEROES = (
    "dog", "cat", "dragon", "princess", "robot", "fox", "mouse", "bear", "girl", "boy", "knight",
    "wizard", "unicorn", "rabbit", "lion", "wolf", "grandmother", "king",
    "witch", "elephant", "frog", "penguin", "owl", "pirate", "fish", "tree", "queen",
)  # fmt: skip
THEMES = (
    "love", "spring", "summer", "autumn", "winter", "the sea", "the moon", "a cat", "rain",
    "a dog", "friendship", "the night", "snow", "the sun", "a tree", "time", "a computer", "coffee",
    "the stars", "flowers", "speculative decoding",
)  # fmt: skip
FUNCTIONS = (
    "add", "fibonacci", "factorial", "is_prime", "reverse", "is_palindrome", "fizzbuzz", "is_even",
    "find_max", "average", "count_to", "bubble_sort", "sort_numbers", "total", "count_vowels",
)  # fmt: skip
SHORT = 64  # characters: a first prompt is seldom longer


@cache
def topics() -> tuple[tuple[tuple[Topic, ...], float], ...]:
    sources = (
        (subject.read_subject().topics, 0.42), (facts.topics(), 0.2), (manners.IDENTITY, 0.17),
        (code.TOPICS, 0.06),
    )  # fmt: skip
    heads = tuple((tuple(t for t in of if t.weight >= OFTEN), share) for of, share in sources)
    return (*heads, (tuple(OWN), 0.15), (tuple(MORE), 1.2), (tuple(WIDE), 2.4))


def explained(rng: random.Random, held_out: bool) -> Conversation:
    """What weighs most of the hand-written topics."""
    groups = topics()
    (group,) = rng.choices([of for of, _ in groups], [share for _, share in groups])
    return _asked(rng, drawn(rng, group), held_out)


def greeted(rng: random.Random, held_out: bool) -> Conversation:
    spoken = manners.MANNERS + manners.SMALL_TALK
    topic = drawn(rng, [topic for topic in spoken if topic.weight > 1])
    return chat(*manners.turn(rng, topic, held_out))


def _asked(rng: random.Random, topic: Topic, held_out: bool) -> Conversation:
    wording = rng.choice(topic.reserved) if held_out else early(rng, topic.questions)
    return chat(as_typed(rng, wording), topic.answer(rng))


SCHOOL_SUMS = Kinds({
    quantities.parts_of: 4, arithmetic.doubles: 2, arithmetic.problems: 5, arithmetic.tables: 1.5,
    quantities.conversions: 3, arithmetic.even_or_odd: 0.7, arithmetic.comparing: 0.7,
    arithmetic.neighbours: 0.7, quantities.percentages: 3, quantities.stories: 3,
    arithmetic.change: 1,
})  # fmt: skip
OTHER_SUMS = 0.2


def calculated(rng: random.Random, held_out: bool) -> Conversation:
    """Sums and products of small or round numbers; now and then a half or a little story."""
    if rng.random() < OTHER_SUMS:
        asked = SCHOOL_SUMS.draw(rng, held_out)
        return chat(typed(rng, asked), asked.answer)
    while True:
        sign, wordings = rng.choice((
            ("+", arithmetic.SUMS), ("+", arithmetic.SUMS), ("-", arithmetic.DIFFERENCES),
            ("-", arithmetic.DIFFERENCES), ("x", arithmetic.PRODUCTS), ("x", arithmetic.PRODUCTS),
            ("/", arithmetic.QUOTIENTS), ("/", arithmetic.QUOTIENTS),
        ))  # fmt: skip
        a, b = (_number(rng, sign) for _ in range(2))
        if sign == "-" and rng.random() < 0.1:
            a = 100
        if sign == "-":
            a, b = max(a, b), min(a, b)
        if sign == "/":
            a, b = a * b, b
        if max(a, b) > 100:
            continue
        asked = arithmetic.calculation(a, sign, b, early(rng, wordings))
        if reserved(asked.key) == held_out:
            return chat(typed(rng, asked), asked.answer)


def _number(rng: random.Random, sign: str) -> int:
    way = rng.random()
    if sign in "x/":
        return rng.randint(2, 10)
    if way < 0.55:
        return rng.randint(1, 10)
    if way < 0.75:
        return rng.randint(2, 20)
    return rng.randint(11, 99) if way < 0.9 else 5 * rng.randint(2, 20)


CAPITALS = 0.7  # of the questions about well-known countries


def countries(rng: random.Random, held_out: bool) -> Conversation:
    table = [topic for topic in facts.tables()[0][0] if topic.weight > 1]
    if rng.random() < CAPITALS:
        table = [topic for topic in table if topic.name.startswith("capital of ")]
    return _asked(rng, rng.choice(table), held_out)


LISTED = Kinds({
    wordplay.lists: 8, wordplay.alphabet: 2, wordplay.calendar: 4, wordplay.opposites: 1.5,
    wordplay.repeating: 2, wordplay.spelling: 4, wordplay.letters_of_words: 1.5,
    wordplay.rhymes: 0.5, arithmetic.counting: 5,
})  # fmt: skip


IN_WORDS = Kinds({arithmetic.grouped_problems: 4, arithmetic.problems: 2, arithmetic.checking: 2})


def _school(kinds: Kinds) -> Sample:
    def sample(rng: random.Random, held_out: bool) -> Conversation:
        asked = kinds.draw(rng, held_out)
        return chat(typed(rng, asked), asked.answer)

    return sample


COPIED = ("repeat",) * 7 + ("upper",) * 4 + ("grammar",) * 2 + ("lower", "correct", "twice")


def copied(rng: random.Random, held_out: bool) -> Conversation:
    """A few words to be said again, or to be changed a little."""
    while True:
        todo = copying.job(rng, rng.choice(COPIED), held_out)
        if len(todo.text) < SHORT:
            return chat(copying.asked(rng, todo, held_out), copying.answered(todo))


PROGRAMS = 0.25  # of the code: a few lines instead of a function


def coded(rng: random.Random, held_out: bool) -> Conversation:
    well_known = [function for function in code.FUNCTIONS if function.name in FUNCTIONS]
    while True:
        asked: Asked = code.asking_for(rng, rng.choice(well_known))
        if rng.random() < PROGRAMS:
            asked = code.programs(rng)
        if reserved(asked.key) == held_out:
            return chat(typed(rng, asked), asked.answer)


def _short(source: Sample, words: tuple[str, ...], best: tuple[str, ...] = ()) -> Sample:
    """Of `source` what is asked for in few words: one of `words`, or nothing in particular, which
    is then about one of the `best`, if there are any."""
    known, chosen = (re.compile(rf"\b({'|'.join(some)})\b") for some in (words, best))
    plain = re.compile(r"(story|poem|haiku|joke|riddle|song|time|tale|rhyme|limerick)[.?!]*$")

    def sample(rng: random.Random, held_out: bool) -> Conversation:
        while True:
            conversation = source(rng, held_out)
            request = conversation[0]["content"].lower()
            if len(request) < SHORT and (
                known.search(request)
                or (plain.search(request) and chosen.search(conversation[1]["content"]))
            ):
                return conversation

    return sample


KINDS: dict[Sample, float] = {
    explained: 120, talk.otherwise: 140, greeted: 5, talk.greeted: 20, calculated: 18, countries: 4,
    _school(LISTED): 10, _school(IN_WORDS): 6, copied: 13,
    _short(stories.sample, HEROES, HEROES[:8]): 7, _short(verse.sample, THEMES): 5, coded: 12,
    unknown.sample: 6,
}  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    (kind,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
    return kind(rng, held_out)
