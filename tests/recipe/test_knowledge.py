"""Facts that lean on one another: the answers name what was asked, and are those of the tables."""

import random

from assets.demo.recipe.corpus import knowledge
from assets.demo.recipe.corpus.facts import rows


def test_turns_alternate_and_answers_are_sentences() -> None:
    for seed in range(300):
        messages = knowledge.sample(random.Random(seed), seed % 4 == 0)
        assert [m["role"] for m in messages] == ["user", "assistant"] * (len(messages) // 2)
        for answer in messages[1::2]:
            text = answer["content"]
            assert text[0].isupper() or (text[0].isdigit() and text.endswith(".")), text
            assert "{" not in text and "|" not in text and ".." not in text


def test_mixed_colours_are_those_of_the_table() -> None:
    made = {frozenset(row[:2]): row[2] for row in rows(knowledge.MIXTURES)}
    for seed in range(200):
        messages = knowledge.colours(random.Random(seed), seed % 4 == 0)
        for answer in messages[1::2]:
            left, mark, right = answer["content"].lower().rstrip(".").partition(" make ")
            if mark:
                assert made[frozenset(left.split(" and "))] == right


def test_a_follow_up_is_answered_about_the_thing_asked_before() -> None:
    for seed in range(300):
        messages = knowledge.about(random.Random(seed), False)
        for asked, told in zip(messages[2::2], messages[3::2], strict=True):
            if asked["content"].lower().startswith("what language do they speak there"):
                before = messages[messages.index(asked) - 1]["content"]
                land = told["content"].split("In ")[-1].split(", people speak")[0]
                assert land.lower() in before.lower()


def test_the_same_seed_gives_the_same() -> None:
    assert knowledge.sample(random.Random(5)) == knowledge.sample(random.Random(5))
