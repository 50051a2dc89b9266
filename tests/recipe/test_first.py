from __future__ import annotations

import random
from collections import defaultdict

from assets.demo.recipe.corpus import definitions, first
from assets.demo.recipe.corpus.definitions import bare
from assets.demo.recipe.corpus.text import ANSWERS, read_topics


def test_what_was_added_later_answers_no_question_a_second_time() -> None:
    """A wording of the `wide_*` files stands in no other file, and asks for no definition."""
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for path in ANSWERS.glob("*.txt"):
        if path.name != definitions.FILE:
            for topic in read_topics(path):
                for wording in (*topic.questions, *topic.reserved):
                    asked[bare(wording)].add(f"{path.name}: {topic.name}")
    wide = {bare(w) for topic in first.WIDE for w in (*topic.questions, *topic.reserved)}
    assert len(wide) > 3000
    assert {wording: asked[wording] for wording in wide if len(asked[wording]) > 1} == {}
    assert wide & definitions.wordings() == set()


def test_wide_questions_are_asked_first_too() -> None:
    rng = random.Random(1)
    answers = {answer for topic in first.WIDE for answer in topic.answers}
    some = [first.explained(rng, False)[1]["content"] for _ in range(500)]
    assert sum(answer in answers for answer in some) > 150
