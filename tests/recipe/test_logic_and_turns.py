"""What is thought out is right, and what follows an earlier question is understood by it."""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import logic, turns, wordplay
from assets.demo.recipe.corpus.school import reserved


def test_what_is_kept_back_is_never_trained() -> None:
    rng = random.Random(5)
    keys = {held: {logic.KINDS.draw(rng, held).key for _ in range(600)} for held in (False, True)}
    assert not keys[False] & keys[True]
    assert all(map(reserved, keys[True]))


def test_number_rows_go_on_by_their_rule() -> None:
    rng = random.Random(5)
    for _ in range(300):
        asked = logic.rows_of_numbers(rng)
        *_, b, c = map(int, re.findall(r"\d+", asked.question))
        a = int(re.findall(r"\d+", asked.question)[-2])
        assert a == b
        found = re.search(r"(\d+) ([-+x]) (\d+) = (\d+)\. So (\d+) comes next", asked.answer)
        assert found is not None, asked
        x, sign, y, result, said = found.groups()
        assert int(x) == c and result == said
        assert eval(f"{x} {sign.replace('x', '*')} {y}") == int(result)


def test_days_are_counted_right() -> None:
    rng = random.Random(5)
    for _ in range(300):
        asked = logic.days(rng)
        found = re.search(r"Counting (\d) days on from (\w+): .* So it is (\w+)", asked.answer)
        if found:
            at = wordplay.DAYS.index(found[2]) + int(found[1])
            assert wordplay.DAYS[at % 7] == found[3]


def test_words_and_letters_are_counted_right() -> None:
    rng = random.Random(5)
    for _ in range(200):
        for kind in (logic.counting_words, logic.counting_letters):
            answer = kind(rng).answer
            numbers = [int(n) for n in re.findall(r"\d+", answer)]
            assert numbers[:-1] == list(range(1, numbers[-1] + 1)), answer


def test_what_was_told_is_known_later() -> None:
    rng = random.Random(5)
    for _ in range(300):
        said = turns.told(rng, False)
        value = re.split(r" is called | is in | is | was ", said[-1])[-1].rstrip(".")
        assert value.lower() in said[0].lower(), said


def test_said_again_is_the_same() -> None:
    rng = random.Random(5)
    for _ in range(200):
        _, answer, _, again = turns.said_again(rng, False)
        count = re.search(r": (\d+) words\.$", again)
        if count:
            assert int(count[1]) == len(answer.split()) <= 8
        else:
            assert again in (answer, answer.upper())
