from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import definitions, facts, unknown
from assets.demo.recipe.corpus.definitions import FILE, bare, read, sample
from assets.demo.recipe.corpus.text import ANSWERS


def test_every_line_is_a_noun_a_plural_and_what_it_is() -> None:
    nouns = [each.noun.lower() for each in read()]
    assert len(nouns) == len(set(nouns)) > 900
    for each in read():
        assert each.text.endswith(".") and 12 < len(each.text.split()) < 45, each.noun
        assert " is " in each.text or " are " in each.text or " was " in each.text, each.noun


def test_the_article_is_taken_from_the_text() -> None:
    ones = {each.noun: each.one for each in read()}
    assert (ones["cat"], ones["elephant"], ones["coffee"]) == ("a cat", "an elephant", "coffee")
    assert (ones["moon"], ones["Paris"]) == ("the moon", "Paris")


def test_a_line_about_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "cat | cats | A dog is an animal."
    monkeypatch.setattr(type(ANSWERS), "read_text", lambda *_, **__: text)
    with pytest.raises(ValueError, match=f"{FILE}: .* does not begin with 'cat'"):
        list(read())


def test_a_plain_question_has_one_answer_only() -> None:
    """Whoever else could answer "what is a cat" leaves it to the definitions, and they leave
    what a hand-written topic answers to it."""
    said = {bare(f"what is {each.one}"): each.text for each in definitions.definitions()}
    topics = [topic for table, _ in facts.tables() for topic in table] + facts.topics()
    others = {bare(wording): topic.answers[0] for topic in topics for wording in topic.questions}
    assert len(said.keys() & others.keys()) > 50
    assert all(said[wording] == others[wording] for wording in said.keys() & others.keys())


def test_what_is_known_is_not_said_to_be_unknown() -> None:
    assert {unknown.plain(each.noun) for each in read()} <= unknown.TAUGHT


@pytest.mark.parametrize("held_out", [False, True])
def test_answers_are_those_of_the_file_or_of_a_topic(held_out: bool) -> None:
    rng = random.Random(2)
    right = {each.text for each in definitions.definitions()} | set(definitions.told().values())
    for _ in range(2000):
        conversation = sample(rng, held_out)
        assert all(message["content"] in right for message in conversation[1::2])
        assert not any(set("[]{}|") & set(message["content"]) for message in conversation[::2])


def test_a_wording_that_is_kept_back_is_not_asked_in_training() -> None:
    rng = random.Random(3)
    sun = next(each for each in definitions.definitions() if each.noun == "sun")
    kept = {w for w in definitions.kept_back() if re.search(r"\bsun\b", w)}
    asked = {bare(definitions._asked(rng, sun, False)[0]) for _ in range(5000)}
    assert "what does the word sun mean" in kept and not asked & kept
