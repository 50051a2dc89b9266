"""The tables of facts: what is asked in both directions is answered by the same row."""

import random
import re

from assets.demo.recipe.corpus import facts
from assets.demo.recipe.corpus.definitions import bare


def test_no_wording_has_two_answers() -> None:
    seen: dict[str, tuple[str, ...]] = {}
    for table, _ in facts.tables():
        for topic in table:
            for wording in (*topic.questions, *topic.reserved):
                key = bare(wording)
                assert seen.setdefault(key, topic.answers) == topic.answers, wording


def test_whether_a_city_is_the_capital_is_answered_by_the_table() -> None:
    capitals = {row[0]: row[1] for row in facts.rows(facts.COUNTRIES)}
    for name, capital in capitals.items():
        for topic in facts.capital_claims(name, capital):
            city = re.match(r"whether (.+) is the capital of ", topic.name)[1]  # type: ignore[index]
            (answer,) = topic.answers
            assert answer.startswith("Yes" if city == capital else "No")
            assert f"{capital} is the capital of {name}." in answer or (
                f"the capital of {name} is {capital}." in answer
                and any(f"{city} is the capital of {land}." in answer
                        for land, own in capitals.items() if own == city)
            )  # fmt: skip


def test_a_young_animal_leads_back_to_its_kind() -> None:
    young = {(row[0], row[5]) for row in facts.animals()}
    found = 0
    for topic in facts.animal_topics():
        if topic.name.startswith("what grows from "):
            match = re.match(r"An? (\w+) is a young (.+?)(, for example)?\.$", topic.answers[0])
            assert match, topic.answers[0]
            for one in re.split(r", | or ", match[2]):
                assert (one, match[1]) in young
                found += 1
    assert found > 30


def test_what_is_made_of_a_material_is_in_the_table() -> None:
    made = {row[0]: row[1].removeprefix("mostly ") for row in facts.rows(facts.MATERIALS)}
    for topic in facts.material_topics():
        if topic.name.startswith("made of "):
            of = topic.name.removeprefix("made of ")
            names = [name for name, material in made.items() if material == of]
            assert topic.answers[0].lower().startswith(names[0].lower())


def test_wordings_name_what_they_ask_for() -> None:
    for seed in range(300):
        asked, told = facts.sample(random.Random(seed), seed % 4 == 0)[:2]
        assert "{" not in asked["content"] + told["content"]
        assert told["content"][0].isupper()
        assert told["content"][-1] in ".!?" or "\n" in told["content"]
