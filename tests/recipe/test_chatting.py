"""Small talk answers what was asked: rules hold for all words, and forms leave no slot open."""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import chatting


def test_a_greeting_with_a_question_is_answered_for_both() -> None:
    rng = random.Random(5)
    for _ in range(200):
        asked = chatting.greeting(rng)
        if "morning" in asked.key.split("how")[0] and asked.key.startswith("greeting good"):
            assert asked.answer.startswith("Good morning!"), asked
        if "how are you" in asked.key:
            assert "I am fine" in asked.answer, asked
        if "anyone" in asked.key or "anybody" in asked.key:
            assert "I am here" in asked.answer, asked


def test_of_two_things_one_is_taken() -> None:
    rng = random.Random(5)
    for _ in range(200):
        asked = chatting.either(rng)
        found = re.match(r"I would take (.*?), because", asked.answer)
        assert found is None or found[1] in asked.key.removeprefix("either ").split("|"), asked


def test_the_name_in_an_error_comes_back() -> None:
    rng = random.Random(5)
    for _ in range(200):
        asked = chatting.error(rng)
        found = re.search(r"cannot find (?:the module )?(\w+)\.", asked.answer)
        assert found is None or found[1] in asked.question, asked


def test_what_it_cannot_do_it_does_not_promise() -> None:
    rng = random.Random(5)
    able = {what for what, _ in chatting.CAN}
    assert not able & {line.split("|")[0] for line in chatting.CANNOT}
    for _ in range(200):
        asked = chatting.abilities(rng)
        can = asked.key.removeprefix("can ") in able
        assert asked.answer.startswith("Yes, I can." if can else "No, I cannot "), asked
