"""What is said to follow does follow, and no sentence is cut."""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import deducing
from assets.demo.recipe.corpus.logic import CHAIN
from assets.demo.recipe.corpus.school import reserved


def test_samples_are_whole_and_repeat() -> None:
    for seed in range(600):
        turns = deducing.sample(random.Random(seed), seed % 5 == 0)
        assert turns == deducing.sample(random.Random(seed), seed % 5 == 0)
        for turn in turns[1::2]:
            assert turn["content"].endswith("."), turn
        for turn in turns:
            assert not re.search(r"[{}\[\]]|  |a ,| is So", turn["content"]), turn


def test_an_order_agrees_with_all_that_was_told() -> None:
    rng = random.Random(1)
    for _ in range(300):
        asked = deducing.order(rng)
        told = re.search(r"Order, (\w+) first: ([^.]*)\.", asked.answer)
        assert told is not None
        names = told[2].split(", ")
        more, less = next((m, ls) for m, ls, most, _ in CHAIN if most == told[1])
        facts = re.findall(rf"(\w+) is ({more}|{less}) than (\w+)(?=[.,]| and|$)", asked.question)
        for a, word, b in facts:
            if f"So is {a} {word}" in asked.question or f"Then is {a} {word}" in asked.question:
                continue
            assert (names.index(a) < names.index(b)) == (word == more), asked


def test_one_has_more_than_the_other() -> None:
    rng = random.Random(2)
    for _ in range(300):
        asked = deducing.more_than(rng)
        n, k = map(int, re.findall(r"\d+", asked.question))
        made = n + k if "more" in asked.question.replace("how many", "") else n - k
        total = n + made if re.search("together|in all", asked.question) else made
        assert int(re.findall(r"\d+", asked.answer)[-1]) == total, asked


def test_what_is_kept_back_is_not_trained() -> None:
    rng = random.Random(3)
    assert all(not reserved(deducing.KINDS.draw(rng, False).key) for _ in range(200))
