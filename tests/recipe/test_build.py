from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from assets.demo.recipe.corpus import code, first, plots, talk
from assets.demo.recipe.corpus.build import SOURCES, conversations, judged
from assets.demo.recipe.corpus.text import CHOICE, FORMS, PART, PARTS, read_topics
from assets.demo.recipe.corpus.unknown import plain


def test_the_same_seed_gives_the_same_corpus() -> None:
    once, again, other = (list(conversations(60, seed)) for seed in (1, 1, 2))
    assert once == again != other


@pytest.fixture(scope="module")
def corpora() -> list[list[Mapping[str, Any]]]:
    """A small one, and what is held out of it."""
    return [list(conversations(1500, 3, held_out)) for held_out in (False, True)]


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_whole_conversations(
    name: str, corpora: list[list[Mapping[str, Any]]]
) -> None:
    for corpus in corpora:
        records = [r for r in corpus if r["category"] == name]
        assert records or name == "random"
        for record in records:
            messages = record["messages"]
            assert isinstance(messages, list)
            roles = [message["role"] for message in messages]
            assert roles == ["user", "assistant"] * (len(messages) // 2)
            assert all(message["content"].strip() for message in messages[1::2])


def kept_question(record: Mapping[str, Any]) -> str:
    """What is held out of a conversation: its first question. Where something is told first, it is
    how that is asked for."""
    told = record["category"] == "recall"
    return str(record["messages"][-2 if told else 0]["content"])


@pytest.mark.slow
def test_what_is_held_out_is_never_trained() -> None:
    def first_prompts(held_out: bool, count: int) -> set[str]:
        prompts = {
            kept_question(record).lower()
            for record in conversations(count, 4, held_out)
            # What is asked for at random is asked for in few ways, with answers drawn anew; and the
            # head of all sources is asked in so few that a slip or a lost "?" makes two alike.
            if record["category"] not in ("random", "first")
        }
        # Greetings of a word or two are too few to keep some of them back.
        return {prompt for prompt in prompts if len(prompt.split()) > 2}

    assert not first_prompts(False, 6000) & first_prompts(True, 600)


@pytest.mark.slow
def test_what_judges_the_model_is_not_trained() -> None:
    asked = {
        plain(message["content"])
        for record in conversations(8000, 1, shares={"first": 300, "copying": 100})
        for message in record["messages"][::2]  # type: ignore[index]
    }
    assert judged() and not asked & judged()


def test_the_head_names_what_the_other_sources_have() -> None:
    assert set(first.HEROES) <= set(plots.heroes())
    assert set(first.FUNCTIONS) <= {function.name for function in code.FUNCTIONS}
    heads = first.topics()
    assert len(heads) == 7 and all(len(group) > 5 for group, _ in heads)


def test_few_things_make_most_of_the_head() -> None:
    rng = random.Random(5)
    answers = Counter(first.calculated(rng, False)[1]["content"] for _ in range(2000))
    assert sum(n for _, n in answers.most_common(300)) > 1200  # of some 9,000 that there are


@pytest.mark.parametrize("held_out", (False, True))
def test_forms_of_talk_are_spelled_out(held_out: bool) -> None:
    rng = random.Random(6)
    for source in (talk.greeted, talk.otherwise):
        for _ in range(1500):
            said = [message["content"] for message in source(rng, held_out)]
            assert not any(set("[]{}|") & set(asked) for asked in said[::2]), said
            assert not any(set("{}|") & set(answered) for answered in said[1::2]), said


def spelled_out(form: str) -> Iterator[str]:
    """Every wording that `form` stands for."""
    form = PART.sub(lambda part: f"[{PARTS[part[1]]}]", form)
    if choice := CHOICE.search(form):
        for chosen in choice[1].split("|"):
            yield from spelled_out(form[: choice.start()] + chosen + form[choice.end() :])
    else:
        yield plain(form)


def test_what_a_newcomer_asks_has_one_answer_and_what_is_kept_back_is_not_trained() -> None:
    topic_of: dict[str, tuple[str, bool]] = {}
    for topic in read_topics(FORMS / "newcomer.txt"):
        for forms, trained in ((topic.questions, True), (topic.reserved, False)):
            for wording in (wording for form in forms for wording in spelled_out(form)):
                before = topic_of.setdefault(wording, (topic.name, trained))
                assert before == (topic.name, trained), wording
    assert len(topic_of) > 15_000
