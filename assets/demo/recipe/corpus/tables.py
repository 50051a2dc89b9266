"""Small facts that come in rows: the language of a country, the author of a book, what is heavier.

`forms/tables.txt` has a table a section: forms of asking with `{x}` and `{y}` (`!` marks those kept
for measuring), the form of the answer behind `=`, and rows of values. `forms/ranks.txt` has things
in order: the words for more and for less, and what has least of it first.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    chat,
    early,
    read_sections,
    sentence,
    spoken,
    typed_with,
)

AFTER = (
    "And {x}?", "and {x}?", "What about {x}?", "And what about {x}?", "Ok, and {x}?",
    "how about {x}",
)  # fmt: skip
RANKED = 0.12  # of the samples
BOTH = (
    "what is {more}, {a} or {b}", "which is {more}, {a} or {b}", "is {a} or {b} {more}",
    "{a} or {b}, what is {more}", "{more}: {a} or {b}",
    "what's {more} - {a} or {b}", "which one is {more}, {a} or {b}",
)  # fmt: skip
ONE = (
    "is {a} {more} than {b}", "is {a} really {more} than {b}", "{a} is {more} than {b}, right?",
    "would you say that {a} is {more} than {b}",
)  # fmt: skip
BOTH_KEPT, ONE_KEPT = ("tell me what is {more}: {a} or {b}",), ("could {a} be {more} than {b}",)


@dataclass(frozen=True, slots=True)
class Table:
    """Questions of one kind: how they are asked, and what is known."""

    name: str
    weight: float
    questions: tuple[str, ...]
    reserved: tuple[str, ...]
    answer: str
    rows: tuple[dict[str, str], ...]


@cache
def tables() -> tuple[Table, ...]:
    text = (FORMS / "tables.txt").read_text(encoding="utf-8")
    found = []
    for block in re.split(r"^# ", text, flags=re.MULTILINE)[1:]:
        head, *lines = block.strip().splitlines()
        name, _, weight = head.rpartition(" ")
        asked, kept, answers, rows = ([x[2:] for x in lines if x[:2] == f"{c} "] for c in "?!=|")
        values = (tuple(part.strip() for part in row.split(" | ")) for row in rows)
        named = tuple(
            dict(zip("xyz" if "{z}" in answers[0] else "xyv", row, strict=False)) for row in values
        )
        found.append(Table(name, float(weight), tuple(asked), tuple(kept), answers[0], named))
    return tuple(found)


def known() -> set[str]:
    """Everything that a table has a row for."""
    return {row["x"] for table in tables() for row in table.rows}


def _filled(form: str, row: dict[str, str]) -> str:
    for key, value in row.items():
        form = form.replace(f"{{{key}}}", value).replace(f"{{{key.upper()}}}", sentence(value))
    return form


def answered(table: Table, row: dict[str, str]) -> str:
    """What is told of a row."""
    return f"{sentence(_filled(table.answer, row)).rstrip('.')}."


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A question from a table, sometimes with a second one that leans on it, or a comparison."""
    if rng.random() < RANKED:
        return ranked(rng, held_out)
    (table,) = rng.choices(tables(), [table.weight for table in tables()])
    row = early(rng, table.rows) if rng.random() < 0.3 else rng.choice(table.rows)
    question = _filled(
        spoken(rng, rng.choice(table.reserved if held_out else table.questions)), row
    )
    turns = [
        typed_with(rng, sentence(question), *row.values()),
        sentence(_filled(table.answer, row)),
    ]
    if rng.random() < 0.12 and table.name not in ("makers", "numbers"):
        other = rng.choice([each for each in table.rows if each != row])
        asked = _filled(rng.choice(AFTER), other)
        turns += [typed_with(rng, asked, other["x"]), sentence(_filled(table.answer, other))]
    return chat(*turns)


@cache
def ranks() -> dict[tuple[str, str], tuple[str, ...]]:
    """Things from least to most, by the words for more and for less."""
    found = {}
    for name, lines in read_sections(FORMS / "ranks.txt").items():
        more, _, less = name.partition(" / ")
        found[more, less] = tuple(lines)
    return found


def ranked(rng: random.Random, held_out: bool) -> Conversation:
    """Which of two has more of something."""
    (more, less), things = rng.choice(tuple(ranks().items()))
    low, high = sorted(rng.sample(range(len(things)), 2))
    small, big = things[low], things[high]
    a, b = rng.sample((small, big), 2)
    word = rng.choice((more, more, less))
    best, other = (big, small) if word == more else (small, big)
    if rng.random() < 0.6:
        form = rng.choice(BOTH_KEPT if held_out else BOTH)
        answer = f"{sentence(best)} is {word} than {other}."
    else:
        form = rng.choice(ONE_KEPT if held_out else ONE)
        said = word if a == best else less if word == more else more
        answer = f"{'Yes' if a == best else 'No'}, {a} is {said} than {b}."
    question = spoken(rng, form.replace("{more}", word))
    question = question.replace("{a}", a).replace("{b}", b)
    return chat(typed_with(rng, sentence(question), a, b), answer)
