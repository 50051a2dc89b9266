from __future__ import annotations

from assets.demo.recipe.corpus.text import ANSWERS, read_topics
from assets.demo.recipe.score import Judge, loops, same_number


def test_a_sum_is_judged_by_the_number_it_ends_in() -> None:
    assert same_number("The ones first: 7 + 8 = 15. So 47 + 38 = 85.", "47 + 38 = 85.")
    assert not same_number("So 47 + 38 = 75.", "47 + 38 = 85.")
    assert not same_number("I do not know.", "47 + 38 = 85.")


def test_a_loop_is_a_phrase_that_comes_three_times() -> None:
    phrase = "the dog ran down the hill and barked . "
    assert loops(phrase * 3)
    assert not loops(phrase * 2)
    assert not loops("one two three " * 2)


def test_taught_answers_are_right_and_others_are_wrong() -> None:
    judge = Judge()
    topic, other = read_topics(ANSWERS / "concepts.txt")[:2]
    taught = topic.answers[0]
    assert judge.right("subject", taught, taught)
    assert judge.right("subject", topic.answers[-1], taught)
    assert not judge.right("subject", other.answers[0], taught)
    assert judge.right("unknown", "I never learned who that is.", "I don't know who that is.")
    assert not judge.right("unknown", "Paris is the capital of France.", "I don't know.")
    assert judge.right("stories", "Once upon a time", "There was a dog") is None
