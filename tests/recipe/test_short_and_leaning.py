"""Short questions, second turns and odd messages have right answers."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import leaning, odd, short, wordplay
from assets.demo.recipe.corpus.school import reserved


@pytest.mark.parametrize("module", [short, odd])
def test_what_is_kept_back_is_never_trained(module: object) -> None:
    rng = random.Random(5)
    kinds = module.KINDS  # type: ignore[attr-defined]
    keys = {held: {kinds.draw(rng, held).key for _ in range(400)} for held in (False, True)}
    assert not keys[False] & keys[True]
    assert all(map(reserved, keys[True]))


def test_halves_and_differences_are_right() -> None:
    rng = random.Random(5)
    for _ in range(300):
        asked = short.halves(rng)
        assert asked.answer.endswith(f"half of {asked.keep[0]} is {int(asked.keep[0]) // 2}.")
        asked = short.differences(rng)
        a, b = map(int, asked.keep)
        assert f"{a} - {b} = {a - b}" in asked.answer and a >= b


def test_a_verdict_comes_last_and_is_right() -> None:
    rng = random.Random(5)
    for _ in range(300):
        asked = short.bigger(rng)
        a, b = map(int, asked.keep)
        less = re.search("smaller|less|lower|<|under|below", asked.question)
        truth = a < b if less else a > b
        assert asked.answer.endswith(f"the answer is {'yes' if truth else 'no'}."), asked


def test_words_that_rhyme_differ_and_are_as_many_as_asked() -> None:
    rng = random.Random(5)
    for _ in range(300):
        asked = short.rhymed(rng)
        word, _ = asked.keep
        found = re.split(", | and ", asked.answer.rpartition(": ")[2].rstrip("."))
        assert len(set(found)) == len(found) and word not in found
        assert set(found) <= set(wordplay.RHYMES[word])
        asked = short.do_rhyme(rng)
        word, other = asked.keep
        assert asked.answer.startswith("Yes" if other in wordplay.RHYMES[word] else "No")


def test_things_for_a_purpose_are_as_many_as_asked() -> None:
    rng = random.Random(5)
    numbers = dict(
        zip(["two", "three", "four", "five", "six", "seven", "eight"], range(2, 9), strict=True)
    )
    for _ in range(200):
        asked = short.things_for(rng)
        n = numbers.get(asked.keep[0]) or int(asked.keep[0])
        items = re.split(r", | and |\n- ", asked.answer.rpartition(": ")[2].rstrip("."))
        if " and " not in asked.answer.rpartition(": ")[2].replace(" and ", "", 1):
            assert len(set(items)) == n, asked


def test_an_exchanged_word_stands_where_the_other_stood() -> None:
    assert leaning._exchanged("An owl met a fox", "owl", "dog") == "A dog met a fox"
    assert leaning._exchanged("a dog and the dog", "dog", "owl") == "an owl and the owl"


def test_a_story_keeps_its_hero() -> None:
    rng = random.Random(5)
    for _ in range(150):
        asked, told, *_ = leaning.stories(rng, False)
        bare = re.sub("(?i)an? (short )?story", "", asked)
        hero = re.search(r"(?i)\ban? ([\w-]+ [\w-]+)", bare)
        assert hero and hero[1].lower() in told.lower(), asked


def test_the_last_result_is_what_one_goes_on_with() -> None:
    rng = random.Random(5)
    for _ in range(150):
        _, *turns = leaning.calculations(rng, False)
        answers = turns[0::2]
        for before, after in zip(answers, answers[1:], strict=False):
            last = re.search(r"The last result was (\d+)", after)
            assert last and re.search(rf"\b{last[1]}\b", before), turns


def test_what_the_model_is_judged_by_is_no_row_of_stops() -> None:
    rng = random.Random(5)
    assert all(odd.stops(rng).question != "???" for _ in range(3000))
