"""The demo's texts to copy are right, its random ones are what was asked for, and what training
holds back stays out of it."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from assets.demo.recipe.corpus import copying, manners, random_text, subjects, unknown
from assets.demo.recipe.corpus.copying import Job
from assets.demo.recipe.corpus.daily import conjugated
from assets.demo.recipe.corpus.text import Conversation, sentence

SOURCES = (copying, manners, random_text, unknown)
DIGITS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
TEENS += ["eighteen", "nineteen"]
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS = ["zero", *DIGITS[1:], *TEENS]
NUMBERS += [f"{tens}-{digit}".strip("-") for tens in TENS for digit in DIGITS]


def sentences(text: str) -> list[str]:
    return re.findall(r"[^.]+\.", text.strip())


def replaced(text: str, old: str, new: str) -> str:
    """`old` by `new`, word by word."""
    return "".join(new if part == old else part for part in re.split(r"(\W)", text))


def expected(job: Job) -> str:
    """What a careful reader would answer."""
    lines = job.text.split("\n")
    match job.kind:
        case "repeat" | "code":
            return job.text
        case "nth":
            order = ("first", "second", "third", "fourth", "fifth")
            at = -1 if job.nth == "last" else order.index(job.nth)
            return sentences(job.text)[at].strip()
        case "word" | "name" | "rename":
            assert job.a in job.text and job.a != job.b
            return replaced(job.text, job.a, job.b)
        case "upper":
            return job.text.upper()
        case "polite" if re.match("I (want|need)|Wh|You |The ", job.text):
            assert job.answer.startswith("Could you please ") and job.answer.endswith("?")
            return job.answer
        case "polite":
            return "Could you please " + job.text[0].lower() + job.text[1:].rstrip(".!") + "?"
        case "lower":
            return job.text.lower()
        case "stop":
            return job.text + "."
        case "correct":
            return job.text[0].upper() + job.text[1:] + "."
        case "number":
            return "\n".join(f"{i + 1}. {line}" for i, line in enumerate(lines))
        case "bullets":
            return "\n".join("- " + line for line in lines)
        case "lines":
            return "\n".join(re.split(r", | and ", job.text))
        case "row":
            return ", ".join(lines)
        case "shorten":
            return sentences(job.text)[0].strip()
        case "drop":
            return "".join(sentences(job.text)[:-1]).strip()
        case "about":
            found = [one for one in sentences(job.text) if re.search(rf"\b{job.a}\b", one)]
            assert len(found) == 1
            return found[0].strip()
        case "words":
            return re.sub(r"\d+", lambda match: NUMBERS[int(match[0])], job.text)
        case "quotes":
            return '"' + job.text + '"'
        case "twice":
            return "\n".join([job.text] * 2)
        case "turn":
            return (
                ", ".join(job.text.split(", ")[::-1])
                if "," in job.text
                else " ".join(job.text.split()[::-1])
            )
        case "three":
            return "\n".join([job.text] * 3)
    raise AssertionError(job.kind)


def is_corrected(job: Job) -> bool:
    """A mistake of learners is corrected, or only the verb differs, and it has the form that the
    subject and the time want."""
    if any(is_corrected_as(job, *forms) for forms in copying.MISTAKES):
        return True
    ends = (*copying.ENDS_NOW, *copying.ENDS_PAST)
    for wrong_end, end in ends:
        if job.text.rstrip(".").endswith(f" {wrong_end}") and job.answer.endswith(f" {end}."):
            text = f"{job.text.rstrip('.').removesuffix(wrong_end)}END"
            job = replace(job, text=text, answer=f"{job.answer.removesuffix(end + '.')}END.")
            job = replace(job, text=re.sub(r"\ban?\b(?= .*END)", "a", job.text))
            job = replace(job, answer=re.sub(r"\ban?\b(?= .*END)", "a", job.answer))
            break
    else:
        end = ""

    def forms(verb: str) -> set[str]:
        return {verb, *(conjugated(verb, past, False) for past in (True, False))}

    words = zip(job.text.split(), job.answer.rstrip(".").split(), strict=True)
    ((wrong, right),) = [(a, b) for a, b in words if a.lower() != b.lower()]
    (verb,) = {act for act in (act.split()[0] for act in copying.ACTS) if right in forms(act)}
    past = re.search(r"(yesterday|last \w+)\.$", job.answer) is not None
    past = past or end in dict(copying.ENDS_PAST).values()
    many = job.answer.startswith(("I ", "We ", "They "))
    return wrong in forms(verb) and right == conjugated(verb, past, many)


def is_corrected_as(job: Job, wrong: str, for_one: str, for_several: str) -> bool:
    """What the slots of `wrong` hold stands in those of the right form for the subject, too."""

    def found(form: str, text: str) -> dict[str, str] | None:
        slots = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(form))
        match = re.fullmatch(rf"(?P<who>.+?) {slots}", text.removesuffix("."))
        return match.groupdict() if match else None

    before = found(wrong, job.text)
    several = before is not None and before["who"].lower() in ("we", "they", "you")
    after = found(for_several if several else for_one, job.answer)
    if before is None or after is None or job.text.rstrip(".") == job.answer.rstrip("."):
        return False
    before["who"] = sentence(before["who"])
    return all(before[slot] == after[slot] for slot in after)


def is_spelled_right(job: Job) -> bool:
    """Only words that are known to be spelled wrong differ, or such that hold a slip."""

    def words(text: str) -> list[str]:
        return [word.lower() for word in re.findall(r"[\w'-]+", text)]

    pairs = zip(words(job.text), words(job.answer), strict=True)
    differ = [(wrong, right) for wrong, right in pairs if wrong != right]
    known = {word.lower(): wrong.lower() for word, wrong in copying.MISSPELLED.items()}
    taken = set(re.findall(r"([\w']+)/([\w']+)", " ".join(copying.CONFUSED).lower()))
    return bool(differ) and all(
        wrong in known.get(right, "").split() or (right, wrong) in taken or is_slip(wrong, right)
        for wrong, right in differ
    )


def is_slip(wrong: str, right: str) -> bool:
    """Two letters have changed places, or one is missing or there twice."""
    longer, shorter = sorted((wrong, right), key=len, reverse=True)
    if len(longer) == len(shorter):
        return sorted(wrong) == sorted(right)
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


@pytest.mark.parametrize("kind", copying.KINDS)
def test_a_copy_is_right(kind: str) -> None:
    rng = random.Random(1)
    for turn in range(100):
        job = copying.job(rng, kind, held_out=turn % 3 == 0)
        if job.kind == "spelling":
            assert is_spelled_right(job)
        elif job.kind == "grammar":
            assert is_corrected(job)
        elif job.kind == "mistakes":
            assert job.answer[0].isupper() and job.answer[-1] in ".?!"
            assert job.text.rstrip(".") != job.answer.rstrip(".")
        elif job.kind == "tighten":
            assert job.answer.rstrip(".").lower() in job.text.lower() and len(job.answer) < len(
                job.text
            )
        elif job.kind in ("past", "present"):
            past, present = (job.answer, job.text)[:: 1 if job.kind == "past" else -1]
            assert len(past.split()) == len(present.split()) and past != present
            assert not re.search(r"\b(is|are|has|goes|takes|finds|walks)\b", past)
            assert not re.search(r"\b(was|were|had|went|took|found|walked)\b", present)
        else:
            assert job.answer == expected(job)
        prompt = copying.asked(rng, job)
        assert job.text in prompt and "{" not in prompt.replace(job.text, "")


@pytest.mark.parametrize("kind", copying.KINDS)
def test_what_is_then_done_with_an_answer_is_right(kind: str) -> None:
    rng = random.Random(2)
    for _ in range(100):
        answer = copying.answered(copying.job(rng, kind))
        said, then = copying.follow(rng, kind, answer)
        assert "{" not in said and "[" not in said
        if re.search("instead|replace|exchange|change|, not ", said, re.IGNORECASE):
            assert len(then.split()) == len(answer.split()) and then != answer
        elif re.search("capital|upper|all caps|shout|louder", said, re.IGNORECASE):
            assert then in (answer.upper(), answer.lower())
        elif re.search(r"first (one|two|three|four|\d)", said, re.IGNORECASE):
            assert answer.startswith(then) and then != answer
        elif re.search("backward|reverse|around|other way", said, re.IGNORECASE):
            assert sorted(re.findall(r"\w+", then)) == sorted(re.findall(r"\w+", answer))
        elif re.search("formal|casual", said, re.IGNORECASE):
            assert then != answer and answer.split("please ")[1].rstrip("?") in then


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__.rpartition(".")[2])
def test_conversations_are_whole(source: object, held_out: bool) -> None:
    def drawn(seed: int) -> list[Conversation]:
        rng = random.Random(seed)
        return [source.sample(rng, held_out) for _ in range(120)]  # type: ignore[attr-defined]

    assert drawn(5) == drawn(5)
    for conversation in drawn(6):
        assert [turn["role"] for turn in conversation][:2] == ["user", "assistant"]
        assert len(conversation) % 2 == 0
        for turn in conversation:
            assert turn["content"].strip() and turn["content"].isascii()
            assert not re.search(r"\{[a-z_]+\}|\[[a-z]+\+?\]|\x00", turn["content"])


def asked(source: object, count: int, held_out: bool) -> set[str]:
    """Questions, whatever their case and punctuation."""
    rng = random.Random(3)
    drawn = (source.sample(rng, held_out) for _ in range(count))  # type: ignore[attr-defined]
    return {re.sub(r"[^a-z0-9]+", " ", turns[-2]["content"].lower()).strip() for turns in drawn}


@pytest.mark.parametrize("source", (copying, unknown), ids=("copying", "unknown"))
def test_what_is_held_out_is_never_trained(source: object) -> None:
    trained, kept = asked(source, 3000, False), asked(source, 500, True)
    assert len(kept) > 300 and not trained & kept


def test_held_out_questions_have_a_kept_form_or_kept_words() -> None:
    trained, kept = subjects.split(subjects.FIRST_NAMES)
    assert set(trained).isdisjoint(kept)
    rng = random.Random(2)
    asked = " ".join(unknown.question(rng)[0] for _ in range(2000))
    famous = {word for name in subjects.FAMOUS + subjects.WORK_TITLES for word in name.split()}
    for name in set(kept) - famous - set(subjects.LAST_NAMES):
        assert not re.search(rf"\b{name}\b", asked), name


def test_the_answer_repeats_the_subject() -> None:
    rng = random.Random(4)
    for _ in range(200):
        filling = unknown.Filling(rng, False)
        typed = unknown.asked(rng, "Who is {person}?", filling)
        assert filling.value("person", "").lower() in typed.lower()


def test_every_form_is_filled() -> None:
    rng = random.Random(5)
    for held_out in (False, True):
        for _ in range(1500):
            question, answer = unknown.question(rng, held_out)
            assert not re.search(r"[{}|\[\]]", question + answer), (question, answer)
    assert len(unknown.KINDS) > 65
    for kind, topic in unknown.KINDS:
        assert len(topic.questions) > 13, kind
        assert all(
            unknown.slots_of(answer)
            <= set(unknown.SLOTS) | {f"{slot}{n}" for slot in unknown.SLOTS for n in "23"}
            for answer in topic.answers
        ), kind


def test_a_doubt_is_met_with_the_same() -> None:
    rng = random.Random(5)
    for held_out in (False, True):
        for _ in range(100):
            doubt, answer = unknown.doubted(rng, held_out)
            assert doubt and not re.search(r"[{}|\[\]]", doubt + answer), (doubt, answer)


def test_random_things_are_as_many_and_in_the_range() -> None:
    rng = random.Random(7)
    seen = 0
    for _ in range(1500):
        question, answer = (turn["content"] for turn in random_text.sample(rng))
        asked = re.search(r"(\d+) and (\d+)|from (\d+) to (\d+)", question)
        numbers = re.match(r"Here (?:is|are) (?:a|\w+) random numbers?:([^a-zA-Z]+)", answer)
        if asked and numbers:
            low, high = (int(n) for n in asked.groups() if n)
            found = [int(n) for n in re.findall(r"\d+", numbers[1])]
            assert found and all(low <= n <= high for n in found)
            seen += 1
    assert seen > 20
