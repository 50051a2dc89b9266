"""What was told comes back, and what was not told is said to be so, in the same words of asking."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import recall

NOT_TOLD = re.compile(r"You have not told me (.+?) yet\. Say \"(.+)\", and I will remember it in ")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower().replace("'", "")))


@pytest.mark.parametrize("held_out", [False, True])
def test_what_was_told_is_taken_from_there(held_out: bool) -> None:
    rng = random.Random(3)
    for _ in range(400):
        state = rng.getstate()
        item = recall.drawn(rng)
        rng.setstate(state)
        talk = recall.told(rng, held_out)
        answers = [turn["content"] for turn in talk[1::2]]
        at = max(i for i, answer in enumerate(answers) if answer == item.answer)
        said = " ".join(turn["content"] for turn in talk[: 2 * at + 1]).lower()
        value = words(item.value)
        assert value <= words(said), talk
        assert value - {"my"} <= words(item.answer), talk
        assert not re.search(r"[{}|\[\]]", " ".join(answers)), talk


@pytest.mark.parametrize("held_out", [False, True])
def test_what_was_not_told_is_not_known(held_out: bool) -> None:
    rng = random.Random(4)
    for _ in range(400):
        state = rng.getstate()
        item = recall.drawn(rng)
        rng.setstate(state)
        talk = recall.untold(rng, held_out)
        answers = [turn["content"] for turn in talk[1::2]]
        at = answers.index(item.not_told)
        assert NOT_TOLD.match(answers[at]), talk
        assert item.answer not in answers[:at], talk
        assert not any(item.known in answer for answer in answers[:at]), talk


def test_both_are_asked_for_in_the_same_words() -> None:
    rng = random.Random(5)
    items = [recall.drawn(rng) for _ in range(4000)]
    assert len({item.key for item in items}) > 300
    told = [recall.sample(rng) for _ in range(600)]
    untold = sum(any(NOT_TOLD.match(turn["content"]) for turn in talk) for talk in told)
    assert 0.4 < untold / len(told) < 0.7


def test_reserved_wordings_are_not_trained() -> None:
    rng = random.Random(6)
    items = [recall.drawn(rng) for _ in range(2000)]
    asked = {ask for item in items for ask in item.asks}
    assert not asked & {ask for item in items for ask in item.reserved}


def test_what_is_near_does_not_answer() -> None:
    assert recall.same("about: friend", "home of: friend")
    assert recall.same("named: cat", "named: cat")
    assert not recall.same("named: cat", "named: dog")
    assert not recall.same("home of: friend", "job of: friend")
