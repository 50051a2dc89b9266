"""What is reckoned is right: every claim of a working, each comparison, each follow-up."""

from __future__ import annotations

import random
import re
from fractions import Fraction

from assets.demo.recipe.corpus import reckoning
from assets.demo.recipe.corpus.school import reserved

CLAIM = re.compile(
    r"(?<![\d.)/-])(?<![-+x/] )(\d+(?:\.\d)?) ([-+x/]) (\d+(?:\.\d)?) = (-?\d+(?:\.\d)?)(?![\d/])"
)

FACTORS = {
    "half": 0.5, "a quarter": 0.25, "a third": 1 / 3, "a fifth": 0.2, "a tenth": 0.1,
    "three times": 3,
}  # fmt: skip


def value(text: str) -> Fraction:
    return Fraction(text)


def test_every_claim_is_right_and_seeds_repeat() -> None:
    checked = 0
    for seed in range(1500):
        turns = reckoning.sample(random.Random(seed), False)
        assert turns == reckoning.sample(random.Random(seed), False)
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2)
        for turn in turns[1::2]:
            text = turn["content"]
            assert text.isascii() and not re.search(r"[{}\[\]]|  ", text), text
            for a, sign, b, c in CLAIM.findall(text):
                made = {
                    "+": value(a) + value(b), "-": value(a) - value(b), "x": value(a) * value(b),
                    "/": value(a) / (value(b) or 1),
                }[sign]  # fmt: skip
                if sign == "/" and (made.denominator != 1):
                    made = Fraction(value(a) // value(b))
                assert made == value(c), text
                checked += 1
    assert checked > 1500


def test_halves_are_halves_and_the_larger_one_is_larger() -> None:
    rng = random.Random(1)
    for _ in range(400):
        task = reckoning.parts(rng)
        part = re.search(r"(?:.*So|.*Double)(.*?)(\d+) is ([\d.]+)\.$", task.answer)
        assert part is not None, task
        factor = FACTORS.get(part[1].strip().removesuffix(" of"), 2)
        assert abs(float(part[3]) - factor * int(part[2])) < 1e-9, task
        comparison = reckoning.comparing(rng)
        a, b = map(int, comparison.keep)
        verdict = comparison.answer.rpartition("So ")[2]
        high = re.search(r"(\d+) is (larger|smaller) than (\d+)", verdict)
        assert high is not None
        assert (int(high[1]) > int(high[3])) == (high[2] == "larger"), comparison
        if "answer is" in verdict:
            asks_more = re.search(r"bigger|larger|more|great|high|>|over|above|beat",
                                  comparison.question)  # fmt: skip
            assert ("yes" in verdict) == ((a > b) == bool(asks_more)), comparison


def test_what_is_kept_back_is_not_trained() -> None:
    rng = random.Random(2)
    assert all(not reserved(reckoning.draw(rng, False).key) for _ in range(200))
    assert all(reserved(reckoning.draw(rng, True).key) for _ in range(50))


def test_roman_numerals_and_the_clock() -> None:
    assert [reckoning.roman(n) for n in (4, 9, 14, 40, 99, 1984)] == [
        "IV", "IX", "XIV", "XL", "XCIX", "MCMLXXXIV",
    ]  # fmt: skip
    rng = random.Random(3)
    for _ in range(200):
        answer = reckoning.clock(rng).answer
        assert re.search(r"So it is (\d+:\d\d|\d+ hours)\.$", answer), answer
