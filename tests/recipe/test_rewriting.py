"""What is made of a user's sentence is right: worked out here a second time, or read back."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import passages, rewriting, sentences
from assets.demo.recipe.corpus.copying import Job

SEEDS = range(200)


def words(text: str) -> list[str]:
    return re.sub(r"[.,?!]", "", text).split()


def expected(job: Job) -> str | None:
    """What a careful reader would answer, where it can be worked out from the question alone."""
    text, bare = job.text, job.text.rstrip(".?!")
    counted = ", ".join(f"{n} {word}" for n, word in enumerate(words(text), 1))
    match job.kind:
        case "repeat":
            return text
        case "upper":
            return text.upper()
        case "lower":
            return text.lower()
        case "title":
            return re.sub(r"(^| )(\w)", lambda match: match[1] + match[2].upper(), text)
        case "brackets":
            return f"({text})"
        case "square":
            return f"[{text}]"
        case "quotes":
            return f'"{text}"'
        case "twice":
            return f"{text}\n{text}"
        case "exclaim":
            return f"{bare}!"
        case "dashes":
            return text.replace(" ", "-")
        case "commas":
            return text.replace(" ", ", ")
        case "wordlines":
            return text.replace(" ", "\n")
        case "nocommas":
            return text.replace(",", "")
        case "nonumbers":
            return " ".join(word for word in text.split() if not word.isdigit())
        case "order":
            return " ".join(text.split()[::-1])
        case "count words":
            return f"{counted}: {len(words(text))} words."
        case "nth word" if job.nth in ("first", "1st", "last"):
            end = "last" if job.nth == "last" else "first"
            return f'The {end} word is "{words(text)[-1 if end == "last" else 0]}".'
        case "insert before":
            return re.sub(rf"\b{job.b}\b", f"{job.a} {job.b}", text)
        case "insert after":
            return re.sub(rf"\b{job.b}\b", f"{job.b} {job.a}", text)
        case "word" if (job.a[0].lower() in "aeiou") == (job.b[0].lower() in "aeiou"):
            assert re.search(rf"\b{job.a}\b", text)
            return re.sub(rf"\b{job.a}\b", job.b, text)
        case "duplicates":
            sign = ", " if "," in text else " "
            return sign.join(dict.fromkeys(text.split(sign)))
    return None


@pytest.mark.parametrize("make", rewriting.KINDS)
def test_the_answer_is_right(make: rewriting.Maker) -> None:
    for seed in SEEDS:
        job = make(random.Random(seed))
        assert job.text and job.answer and "{" not in job.text + job.answer
        assert "  " not in job.text + job.answer
        right = expected(job)
        assert right is None or job.answer == right, job


def test_only_misspelled_words_differ() -> None:
    for seed in SEEDS:
        job = rewriting.spelling(random.Random(seed))
        assert len(job.text.split()) == len(job.answer.split())
        assert job.answer[0].isupper() or not job.answer[0].isalpha()
        assert job.text != job.answer


def test_all_verbs_change_their_tense() -> None:
    for seed in SEEDS:
        rng = random.Random(seed)
        one = sentences.clause(rng)
        now, then, will = one.said("now"), one.said("then"), one.said("will")
        assert len(now.split()) == len(then.split()) == len(will.split()) - 1
        for verb, _ in one.doing:
            before = sentences.past(verb) if verb != "be" else "w(as|ere)"
            assert re.search(rf"\b{before}\b", then), then
        assert " will " in will


def test_nothing_is_left_of_the_other_person() -> None:
    for seed in SEEDS:
        job = rewriting.person(random.Random(seed))
        if job.a == "I":
            assert not re.search(r"\b(I|my|am)\b", job.answer), job
        assert job.answer.lower().startswith(job.b.lower())


def test_the_text_says_what_is_answered() -> None:
    for seed in SEEDS:
        rng = random.Random(seed)
        text, asks = passages.passage(rng)
        for _, answer in asks:
            if answer == passages.UNSAID:
                continue
            names = re.findall(r"\b[A-Z]\w+\b", re.sub("^(Yes|No|The|It)[, ]", "", answer))
            numbers = re.findall(r"\d+", answer)
            assert all(re.search(rf"\b{one}\b", text) for one in names + numbers), (text, answer)


def test_a_question_holds_the_text_and_its_slots_are_filled() -> None:
    for seed in SEEDS:
        for source in (rewriting, passages):
            for held_out in (False, True):
                talk = source.sample(random.Random(seed), held_out)
                assert [turn["role"] for turn in talk] == ["user", "assistant"] * (len(talk) // 2)
                assert not any(re.search(r"\{\w*\}", turn["content"]) for turn in talk)
