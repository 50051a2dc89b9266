"""Every particular of a request is in the story or the verse that it gets."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import particulars, verse


@pytest.mark.parametrize("held_out", [False, True])
def test_what_is_told_is_plain_text(held_out: bool) -> None:
    rng = random.Random(6)
    for _ in range(600):
        for turn in particulars.sample(rng, held_out):
            text = turn["content"]
            assert not re.search(r"[{}\[\]|]|  | [.,](?!\.)", text), text
            assert not re.search(r"\b[Aa] (?!one-|uni|use|eu)[aeio]\w", text), text


def test_a_story_has_what_its_request_names() -> None:
    rng = random.Random(2)
    for _ in range(600):
        asked, _, told, key = particulars.story(rng)
        hero, ask = key.split("/", 1)
        assert hero in asked and hero in told, (asked, told)
        if name := re.search(r"(?:named|called|whose name is|with the name) ([A-Z]\w+)", asked):
            assert name[1] in told, asked
        if child := re.search(r"for my [\w -]*?([A-Z]\w+)", asked):
            assert told.rstrip("!").endswith(child[1]) or f"Good night, {child[1]}!" in told
        if last := re.search(r"(?:last|end) .*?(?:['\"]|is: |line: )([A-Z][^'\"]*[.!])", asked):
            assert told.endswith(last[1]), (asked, told)
        if re.search(r"100 words", asked):
            assert 85 <= len(told.split()) <= 115
        # What the hero does is said again, but for the tense.
        assert ask.split()[-1] in told, (asked, told)


def test_two_sentences_are_two() -> None:
    rng = random.Random(3)
    for _ in range(300):
        asked, _, told, _ = particulars.two_sentences(rng)
        count = len(re.split(r"(?<=[.!?])\"? (?=[\"A-Z])", told))
        assert count <= 3 and re.search("(?i)two|2", asked), (asked, told)


def test_a_birthday_verse_names_all() -> None:
    rng = random.Random(4)
    for _ in range(200):
        asked, keep, told, _ = particulars.birthday(rng)
        _, name, age, *thing = keep.split()
        for word in (name, age, *thing):
            assert word.lower() in asked.lower() and word in told, (asked, told)


def test_a_haiku_has_five_syllables_first() -> None:
    rng = random.Random(5)
    for _ in range(300):
        theme, many = verse.open_theme(rng)
        first = verse.open_haiku(rng, theme, many).split("\n")[0]
        if verse.syllables(re.sub("^(an?|the) ", "", theme)) <= 5:
            assert verse.syllables(first) == 5, first
