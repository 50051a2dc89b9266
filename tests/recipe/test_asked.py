"""A question about a concept is answered by its kind."""

import random

from assets.demo.recipe.corpus import asked, brief


def test_each_kind_of_question_about_a_concept_has_its_own_answer() -> None:
    assert len(asked.concepts()) > 50
    for name, concept in asked.concepts().items():
        kinds = [kind for kind in concept.said if kind != "what"]
        answers = {concept.said[kind] for kind in kinds}
        assert len(answers) == len(kinds), name
        for kind in set(kinds) - set(asked.FROM_BRIEF):
            assert asked._forms(concept, kind, False, False), (name, kind)


def test_what_is_answered_is_of_the_concept_that_is_named_or_was_spoken_of() -> None:
    for seed in range(300):
        messages = asked.sample(random.Random(seed), seed % 3 == 0)
        texts = [message["content"] for message in messages]
        assert all(text and "{" not in text and "|" not in text for text in texts), texts
        assert not any(" a a" in text or " the the " in text for text in texts[::2]), texts


def test_no_question_has_an_answer_of_a_topic() -> None:
    concept = asked.concepts()["Medusa"]
    rng = random.Random(1)
    questions = [first[1] for _ in range(300) if (first := asked._first(rng, concept, False))]
    assert questions
    assert not any(brief.taken(question) for question in questions)
