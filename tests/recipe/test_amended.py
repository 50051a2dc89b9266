"""What was taken back is not answered, and of a list nothing gets lost."""

import random
import re

from assets.demo.recipe.corpus import amended


def things(answer: str) -> list[str]:
    found = re.sub(r"(^|\n)(- |\d+\. )", r"\n", answer.partition(": ")[2] or answer)
    return sorted(re.split(r", | and |\n", found.strip().rstrip(".")))


def test_the_last_thing_is_answered() -> None:
    for seed in range(300):
        asked = amended.in_the_middle(random.Random(seed), False)
        one, other = asked.keep
        assert one in asked.question.lower() or one in asked.question or one.capitalize()
        found = [of()[other] for of, _, _ in amended.FRAMES if other in of()]
        assert asked.answer in found
        assert asked.question.lower().rindex(other.lower()) > asked.question.lower().index(
            one.lower()
        )


def test_the_last_number_counts() -> None:
    for seed in range(300):
        asked = amended.numbers(random.Random(seed))
        if "Here are" in asked.answer and "\n" not in asked.answer:
            group, n = asked.key.rsplit("/", 1)
            assert len(things(asked.answer)) == int(n) or " and " in asked.answer
            assert f" {group}" in asked.answer


def test_sorting_loses_nothing() -> None:
    for seed in range(300):
        asked = amended.sort_given(random.Random(seed))
        order = re.findall(r"the words are (.*?)\. They", asked.answer)[0]
        words = re.split(r", | and ", order)
        assert words == sorted(words, key=str.lower)
        assert sorted(words) == sorted(asked.keep) or any(" and " in x for x in asked.keep)


def test_a_list_that_is_sorted_or_turned_keeps_its_things() -> None:
    seen = 0
    for seed in range(300):
        turns = amended.changed(random.Random(seed))
        for before, after in zip(turns[1::2], turns[3::2], strict=False):
            ordered = after.startswith(("In alphabetical", "In reverse"))
            if ordered and ": " in before and "\n" not in before:
                seen += 1
                assert things(before) == things(after), (before, after)
    assert seen > 100


def test_the_right_hero_is_in_the_story() -> None:
    for seed in range(60):
        asked = amended.story(random.Random(seed))
        wrong, right = asked.key.split("/")
        assert right in asked.answer and f"a {wrong} " not in asked.answer
        assert asked.question.index(wrong) < asked.question.index(right)
