"""What is described is named, whatever the wording, and what is kept back is never trained."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import called, definitions, facts
from assets.demo.recipe.corpus.definitions import bare
from assets.demo.recipe.corpus.text import read_sections, wordings

FILLER = re.compile(r"\b(a|an|the|that|thing|something|someone|somebody|person)\b")


def _core(text: str) -> str:
    return " ".join(FILLER.sub(" ", bare(text)).split())


def test_each_thing_is_taught_elsewhere_and_stands_once() -> None:
    lines = read_sections(called.FILE)["things"]
    names = [line.partition(" | ")[0] for line in lines]
    assert len(names) == len(set(names)) > 700
    nouns = {each.noun for each in definitions.definitions()}
    assert len(nouns & set(names)) > 600
    for name in names:
        if name not in nouns:
            assert f"what is {bare(name)}" in called.elsewhere(), name
    assert sum(len(thing.kept) for thing in called.things()) > 100


def test_what_is_said_of_a_thing_is_what_the_definitions_say() -> None:
    texts = {each.one: each.text for each in definitions.definitions()}
    for thing in called.things():
        assert texts.get(thing.one, thing.text) == thing.text
        name = bare(re.sub("^(an?|the) ", "", thing.one))
        stem = name[:-1] if name.endswith(("y", "s")) else name
        assert stem in bare(re.split(r"[.:] ", thing.text)[0]), thing.one


def test_no_clue_fits_two_things_or_says_the_name() -> None:
    of: dict[str, str] = {}
    for thing in (*called.things(), *called.countries()):
        name = bare(re.sub("^(an?|the) ", "", thing.one))
        for clue in (*thing.clues, *thing.kept):
            assert of.setdefault(_core(clue), thing.one) == thing.one, clue
            assert not re.search(rf"\b{name}s?\b", bare(clue)), (thing.one, clue)
    texts = [text for _, trained, kept in called.riddles() for text in (*trained, *kept)]
    assert len(texts) == len(set(texts)) > 170


@pytest.mark.parametrize("held_out", [False, True])
def test_the_answer_names_the_thing_whose_clue_was_given(held_out: bool) -> None:
    rng = random.Random(1)
    everything = (*called.things(), *called.countries())
    for _ in range(1500):
        thing = rng.choice(everything)
        clue = rng.choice((*thing.clues, *thing.kept))
        question, answer = called._described(rng, thing, clue, held_out)
        assert not re.search(r"[{}\[\]|]", question + answer)
        begun = re.match(
            rf"((That is|Those are)( called)? )?{re.escape(thing.one)}\b", answer, re.I
        )
        assert begun, answer
        if begun[1]:
            assert answer.endswith(thing.text)
            assert bool(begun[3]) == (bool(called.SAID.search(question)) and not thing.proper)
        else:
            assert re.search("word|name|in a word", question, re.I) and answer.count(".") == 1


def test_a_riddle_is_answered_as_it_was_asked() -> None:
    rng = random.Random(2)
    for _ in range(600):
        question, answer = called._riddle(rng, False)
        of_it = " I " not in f" {question} ".replace("am I ", "").replace(
            "I am thinking", ""
        ).replace("I see something", "")
        assert answer.startswith("It is " if answer.startswith("It") else "You are ")
        assert not of_it or answer.startswith("It is ") or "You " in question


def test_a_riddle_is_turned_to_it() -> None:
    text = "I never sleep, I fly to my nest, and nobody can catch me."
    assert called.of_it(text) == "It never sleeps, it flies to its nest, and nobody can catch it."
    assert called.of_it("I have a neck and eat leaves.") == ""


@pytest.mark.parametrize(
    ("clue", "question"),
    [
        ("a person who repairs pipes", "who repairs pipes"),
        ("the animal that barks", "which animal barks"),
        ("the animal with a trunk", "which animal has a trunk"),
        ("what you eat soup with", "what do you eat soup with"),
        ("what beats in your chest", "what beats in your chest"),
        ("the tree that birds build nests in", ""),
        ("what the Titanic hit", ""),
        ("what a pilot flies from city to city", "what does a pilot fly from city to city"),
    ],
)
def test_a_clue_becomes_a_question(clue: str, question: str) -> None:
    assert called.which(clue) == question


def test_what_is_kept_back_is_never_trained() -> None:
    clues = {_core(clue) for thing in called.things() for clue in thing.kept}
    riddles = {bare(text) for _, _, kept in called.riddles() for text in kept}
    trained = {bare(w) for topic in facts.topics() for w in topic.reserved}
    forms = [
        re.escape(bare(re.sub(r"\{.*?\}", "", form)))
        for section in ("asks", "when", "which", "job", "one", "riddle", "riddle it")
        for form in wordings(called.FILE, section, True)
    ]
    rng = random.Random(3)
    for _ in range(3000):
        question, _ = called._asked(rng, False)
        core, low = _core(question), bare(question)
        assert low not in called.elsewhere() and low not in trained
        assert not any(clue in core for clue in clues), question
        assert not any(text in low for text in riddles), question
        assert not any(re.search(rf"\b{form}\b", low) for form in forms if form), question


@pytest.mark.parametrize("held_out", [False, True])
def test_a_sample_is_a_conversation(held_out: bool) -> None:
    for seed in range(200):
        messages = called.sample(random.Random(seed), held_out)
        assert messages == called.sample(random.Random(seed), held_out)
        assert [m["role"] for m in messages] == ["user", "assistant"] * (len(messages) // 2)
