"""What somebody told of himself comes back, and what he did not tell is not known."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import personal


@pytest.mark.parametrize("held_out", [False, True])
def test_what_was_told_is_copied(held_out: bool) -> None:
    rng = random.Random(3)
    for _ in range(200):
        talk = personal.told_and_asked(rng, held_out)
        said = " ".join(turn["content"].lower() for turn in talk[:-2])
        for turn in talk[1::2]:
            found = re.fullmatch(r"Your name is ([A-Z][a-z]+)\.", turn["content"])
            assert found is None or found[1].lower() in said, talk
            assert not re.search(r"[{}|\[\]]", turn["content"]), talk


@pytest.mark.parametrize("held_out", [False, True])
def test_what_was_not_told_is_not_known(held_out: bool) -> None:
    rng = random.Random(3)
    for _ in range(200):
        question, answer = (t["content"] for t in personal.mine_or_yours(rng, held_out))
        small = question.lower()
        for other in ("tell me your", "tell me ur", "should i"):  # about the model
            small = small.replace(other, "")
        mine = re.search(r"\b(my|i|im|me)\b", small)
        assert bool(mine) == answer.startswith("You have not told me"), (question, answer)


def test_ages_are_right() -> None:
    rng = random.Random(3)
    for _ in range(200):
        answer = personal.years_later(rng, False)[-1]["content"]
        found = re.match(r"(\d+) ([+-]) (\d+) = (\d+), so you (?:will be|were) (\d+) ", answer)
        assert found
        age, years, result = int(found[1]), int(found[3]), int(found[4])
        assert result == int(found[5]) == (age + years if found[2] == "+" else age - years)
