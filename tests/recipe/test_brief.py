"""Answers are as long as was asked for, follow the conversation, and figures are right."""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import brief, compared, counted, figures

SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z]|specchat|vLLM|llama)")


def test_one_sentence_is_one_and_two_are_two() -> None:
    for concept in brief.concepts().values():
        assert len(SENTENCE.split(concept.said["one"])) == 1, concept.name
        assert len(SENTENCE.split(concept.said["two"])) == 2, concept.name
        assert len(SENTENCE.split(concept.said["child"])) <= 3, concept.name


def test_a_follow_up_is_about_what_was_spoken_of_last() -> None:
    answers = {}
    for concept in brief.concepts().values():
        own = {answer for _, answer in concept.own}
        answers[concept.name] = (
            own
            | set(concept.said.values())
            | {concept.said["two"].removeprefix(concept.said["one"]).strip()}
        )
    concept = brief.concepts()["speculative decoding"]
    for seed in range(200):
        turns = brief.talk(random.Random(seed), concept, False)
        current = {"speculative decoding"}
        for turn in turns[3::2]:
            said = {name for name, known in answers.items() if turn["content"] in known}
            allowed = current | {n for name in current for n in brief.concepts()[name].after}
            assert said & allowed, turns
            current = said & allowed


def test_figures_are_copied_and_worked_out() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        for kind in figures.KINDS:
            figure = kind(rng)
            if sums := re.search(r"(\d+) \+ 1 = (\d+)", figure.answer):
                assert int(sums[1]) + 1 == int(sums[2])
            elif parts := re.search(r"(\d+) / (\d+) = ([\d.]+)", figure.answer):
                assert int(parts[1]) == float(parts[3]) * int(parts[2])
            elif figure.figure:
                assert figure.keep[0] in figure.answer and figure.keep[0] in figure.figure
            else:
                high, low = map(float, re.findall(r"([\d.]+)×", figure.answer))
                assert high > low


def test_a_comparison_says_both_things_and_a_verdict_is_that_of_the_table() -> None:
    does = {name: what for group in compared.groups() for name, what in group}
    assert len(does) > 80 and {trait for trait, *_ in compared.traits()} == compared.TRAITS.keys()
    for seed in range(300):
        rng = random.Random(seed)
        ((_, answer, (a, b)),) = compared.compare(rng, False)
        said = answer.removeprefix("No. ").lower()
        assert said.startswith(f"{a} ".lower()) and f", while {b} ".lower() in said
        for question, verdict, (thing,) in compared.decide(rng, False):
            rows = {(has, why) for _, has, name, why in compared.traits() if name == thing}
            yes, why = verdict.startswith("Yes"), verdict.rpartition(": ")[2].removesuffix(".")
            assert thing in question
            # "Does it work offline?" and "possible without training?" ask for the opposite.
            turned = re.search("internet|training", verdict) and (not yes, why) in rows
            assert (yes, why) in rows or turned


def test_there_are_as_many_things_as_asked_for_and_never_the_same_again() -> None:
    things = {thing: of for of in counted.lists() for thing in of.things}
    assert len(things) > 100
    for seed in range(300):
        said: list[str] = []
        talk = counted.sample(random.Random(seed), False)
        for asked, told in zip(talk[::2], talk[1::2], strict=True):
            count = counted.WORDS.index(told["content"].split()[0].lower())
            (of,) = {of for of in counted.lists() if _is_of(told["content"], of)}
            after = told["content"].partition(of.one if count == 1 else of.many)[2]
            found = [
                t for t in of.things if re.search(rf"(?<![\w-]){re.escape(t)}(?![\w-])", after)
            ]
            assert len(found) == count and not set(found) & set(said), talk
            digit = re.search(r"\d", asked["content"])
            assert digit is None or int(digit[0]) == count
            said += found


def _is_of(told: str, of: counted.List) -> bool:
    names = f"{re.escape(of.one)}|{re.escape(of.many)}"
    return re.match(rf"\w+ (more )?({names})(:| is| are)", told) is not None
