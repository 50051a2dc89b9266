"""Copies are exact, and what is corrected, retold or shortened follows its rule: worked out here a
second time, from the question alone where that is possible."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import exact, mending, plainer, retold, rewriting, sentences
from assets.demo.recipe.corpus.copying import Job
from assets.demo.recipe.corpus.wordplay import OPPOSITES

SEEDS = range(200)
MODULES = (exact, mending, plainer, retold)


def expected(job: Job) -> str | None:
    """The answer by the rule, where the text alone says it."""
    text = job.text
    between = ", " if ", " in text else " "
    items = text.split(between)
    match job.kind:
        case "repeat":
            return text
        case "upper":
            return text.upper()
        case "lower":
            return text.lower()
        case "title":
            return text.lower().title() if re.fullmatch(r"[A-Za-z ]+", text) else None
        case "capital first":
            return text[0].upper() + text[1:]
        case "word" if re.fullmatch(r"[\w, ]+", text):
            found = re.split(r"(, | )", text)
            return "".join(job.b if item == job.a else item for item in found)
        case "exchange two":
            to = {job.a: job.b, job.b: job.a}
            return between.join(to.get(item, item) for item in items)
        case "delete":
            return between.join(item for item in items if item != job.a)
        case "add end":
            return (
                f"{text}{between if len(items) > 1 else job.answer[len(text) : -len(job.a)]}{job.a}"
            )
        case "order" | "turn":
            return between.join(items[::-1])
        case "number":
            return "\n".join(f"{n}. {line}" for n, line in enumerate(text.split("\n"), 1))
        case "bullets":
            return "- " + text.replace("\n", "\n- ")
        case "row":
            return text.replace("\n", ", ")
        case "nosigns":
            return "".join(letter for letter in text if letter not in ".,;:!?")
        case "nospaces":
            return text.replace(" ", "")
        case "underscores":
            return text.replace(" ", "_")
        case "initials":
            return re.sub(r".*: ", "", job.answer) and job.answer
    return None


@pytest.mark.parametrize("make", exact.KINDS)
def test_a_copy_is_exact(make: exact.Maker) -> None:
    for seed in SEEDS:
        job = make(random.Random(seed))
        assert job.text and job.answer
        right = expected(job)
        assert right is None or job.answer == right, job
        if job.kind in ("number row", "bullet row"):
            things = [re.sub(r"^(- |\d+\. )", "", line) for line in job.answer.split("\n")]
            assert ", ".join(things) == job.text.replace(" and ", ", "), job
        if job.kind in ("insert before", "insert after"):
            left = [item for item in re.split(", | ", job.answer) if item != job.a]
            assert left == re.split(", | ", job.text), job
        if job.kind == "initials":
            letters = "".join(word[0].upper() for word in job.text.split())
            assert job.answer.endswith(f": {letters}.")


def test_a_mistake_is_corrected_and_nothing_else() -> None:
    for seed in SEEDS:
        rng = random.Random(seed)
        parts = rng.choices(mending.KINDS, mending.WEIGHTS)[0](rng)
        wrong, right, changes = mending.marred(rng, parts)
        assert changes and all(a != b for a, b in changes)
        at = 0
        for bad, good in changes:  # put back one after another, all of them are mended
            at = wrong.index(bad, at) if bad else at
            found = right.find(good)
            assert found >= 0, (wrong, right, changes)
        assert "  " not in wrong + right and "{" not in wrong + right
        assert not re.search(r"(?i)\ba (?=[aei]|o(?!ne))", right), right
        assert not re.search(r"(?i)\ban (?=[bcdfgjklmnpqrstvwxyz])", right), right


def test_what_is_over_is_told_in_the_past() -> None:
    for seed in range(600):
        found = mending.mended(random.Random(seed))
        for text in re.split(r"(?<=[.?]) ", found.answer):
            over = re.search(r"\b([Aa]go|[Yy]esterday|[Ll]ast (week|month|year|night))\b", text)
            if over and not re.search(r"(?i)\b(to|did|didn't)\b", text):
                assert not re.search(r"\b(is|are|has|have|will|does|do)\b", text), text


def test_uncountable_words_have_no_plural() -> None:
    for seed in range(600):
        answer = mending.mended(random.Random(seed)).answer
        assert not re.search(
            r"\b(breads|advices|informations|furnitures|luggages|homeworks|milks|rices)\b", answer
        )
        assert not re.search(
            r"\b(childs|mans|womans|foots|tooths|mouses|sheeps|knifes|potatos)\b", answer
        )


def test_the_changes_are_told() -> None:
    for seed in SEEDS:
        found = mending.mended(random.Random(seed))
        said = mending.explained(found.changes, "what did you change")
        assert all(f'"{right}"' in said for _, right in found.changes)


def test_a_follow_up_changes_all_verbs_and_the_person() -> None:
    for seed in range(600):
        rng = random.Random(seed)
        now = retold.telling(rng)
        after = retold.somebody(rng, now)
        if after is None or now.helper or now.shape != "said":
            continue
        new, who, _ = after
        text = new.text()
        assert text.lower().startswith(who.lower()), text
        if new.who != "I" and now.who == "I" and " I" not in who:
            assert (
                not re.search(r"\b(I|my|am|me)\b", text)
                or "my " in who
                or "my " in str(now.clauses)
            ), text
        for one in new.clauses:
            for verb, _ in one.doing:
                form = {
                    "now": verb if new.who in sentences.SECOND else sentences.third(verb),
                    "then": sentences.past(verb), "will": verb,
                }[new.tense]  # fmt: skip
                assert verb == "be" or re.search(rf"\b{form}\b", text), (verb, text)


def test_a_short_sentence_has_nothing_long_winded_left() -> None:
    phrases = [half[0] for name in ("adjuncts", "modals", "verbs") for half in plainer.pairs(name)]
    fixed = [phrase for phrase in phrases if "{" not in phrase]
    links = [line for name in ("because", "although", "if", "when") for line in plainer.lines(name)]
    for seed in range(600):
        job = plainer.shorter(random.Random(seed))
        assert len(job.answer) < len(job.text), job
        assert not any(re.search(rf"\b{one}\b", job.answer) for one in (*links, *fixed)), job
        for name in re.findall(r"(?<=[a-z] )[A-Z][a-z]+", job.answer):
            assert name in job.text, job
        assert "{" not in job.text + job.answer


def test_formal_words_have_no_short_forms() -> None:
    for seed in SEEDS:
        job = plainer.formal(random.Random(seed))
        assert not re.search(r"n't\b|'(m|ll|ve|re|d)\b", job.answer), job
        easy = plainer.simple(random.Random(seed))
        assert easy.text != easy.answer


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("module", MODULES)
def test_a_conversation_has_its_turns_and_no_open_slots(module: object, held_out: bool) -> None:
    for seed in SEEDS:
        talk = module.sample(random.Random(seed), held_out)  # type: ignore[attr-defined]
        assert [turn["role"] for turn in talk] == ["user", "assistant"] * (len(talk) // 2)
        assert all(turn["content"].strip() for turn in talk)
        assert not any(re.search(r"\{(text|a|b|nth|[A-Z])\}", turn["content"]) for turn in talk)
        assert talk == module.sample(random.Random(seed), held_out)  # type: ignore[attr-defined]


def test_every_kind_has_its_wordings() -> None:
    rng = random.Random(3)
    for module in (exact, plainer):
        for make in module.KINDS:
            assert all(make(rng).kind in rewriting.ASKED for _ in range(30))


def test_two_wishes_are_both_fulfilled() -> None:
    for seed in SEEDS:
        job, _ = exact.both(random.Random(seed))
        first, then = job.nth.split()
        text = re.sub(r'[()"]', "", job.answer).lower().split("\n" if then == "twice" else "\0")[0]
        words = re.split(r"[ \n-]", text.rstrip("."))
        kept = [word for word in words if word != job.b]
        assert all(word in job.text.lower() for word in kept)
        assert (job.b in words) == (first == "replace")
        assert first not in ("replace", "remove") or job.a not in words
        assert (first in ("first", "last")) == (len(words) == 1)
        assert (then == "upper") == job.answer.isupper()


def test_reported_speech_is_told_of_somebody_else() -> None:
    for seed in SEEDS:
        found = retold.reported(random.Random(seed))
        if found is not None and found[0].kind == "reported":
            said = found[0].answer.partition(" said that ")[2]
            assert re.match(r"(he|she|they) ", said) and '"' not in said
            assert not re.search(r"\b(I|am|will|our|we)\b", said), said


def test_longer_sentences_keep_what_was_said() -> None:
    for seed in SEEDS:
        found = retold.longer(random.Random(seed))
        if found is not None:
            words = found[0].text.rstrip(".").split()[1:]
            assert " ".join(words) in found[0].answer
            assert " because " in found[0].answer


def test_spelling_of_two_lands() -> None:
    for seed in SEEDS:
        job = plainer.american(random.Random(seed))
        assert job.text != job.answer and len(job.text.split()) == len(job.answer.split())
        british = job.answer if job.kind == "british" else job.text
        assert any(word in british.lower() for word in plainer.AMERICAN)


def test_the_wrong_word_is_found() -> None:
    for seed in SEEDS:
        job = mending.which(random.Random(seed))
        wrong, right = re.findall('"([^"]+)"', job.answer)
        assert re.search(rf"\b{wrong}\b", job.text) and not re.search(rf"\b{right}\b", job.text)


def test_helping_verbs_agree_with_who_does_it() -> None:
    be = {"I": "am", "he": "is", "she": "is", "we": "are", "they": "are", "you": "are"}
    for seed in range(1500):
        now = retold.telling(random.Random(seed))
        text = now.text()
        if now.helper == "ing" and now.tense == "now":
            assert re.search(rf"(?i)\b{be[now.who]}(n't)?\b", text), text
            assert re.search(r"ing\b", text), text
        if now.helper == "perfect" and now.tense == "now":
            has = "have" if now.who in sentences.SECOND else "has"
            assert re.search(rf"(?i)\b{has}(n't)?\b", text), text
        assert text.endswith("?") == (now.shape == "question"), text
        assert (now.shape == "denied") == bool(re.search(r"n't\b| not\b", text)), text


def test_opposites_are_the_other_way_round() -> None:
    for seed in SEEDS:
        job = plainer.opposite(random.Random(seed))
        strip = str.maketrans("", "", ".,")
        pairs = zip(
            job.text.translate(strip).split(), job.answer.translate(strip).split(), strict=True
        )
        changed = [(a, b) for a, b in pairs if a != b and a not in ("a", "an")]
        assert changed and all(OPPOSITES[a] == b for a, b in changed), job
