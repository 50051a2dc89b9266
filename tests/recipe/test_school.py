"""What follows rules is right: sums add up, code runs, and what is reserved is never trained."""

from __future__ import annotations

import contextlib
import io
import random
import re
from pathlib import Path
from string import Template

import pytest

from assets.demo.recipe.corpus import arithmetic, code, lists, quantities, tables, wordplay
from assets.demo.recipe.corpus.school import reserved
from assets.demo.recipe.corpus.text import Conversation

CLAIM = re.compile(r"(\d+(?: [-+x/] \d+)+) = (-?\d+)")


def drawn(module: object, count: int, held_out: bool = False) -> list[Conversation]:
    rng = random.Random(5)
    return [module.sample(rng, held_out) for _ in range(count)]  # type: ignore[attr-defined]


def answers(conversations: list[Conversation]) -> list[str]:
    return [turn["content"] for turns in conversations for turn in turns[1::2]]


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("module", [arithmetic, wordplay, code, lists, tables])
def test_a_sample_is_a_conversation_in_plain_ascii(module: object, held_out: bool) -> None:
    for turns in drawn(module, 500, held_out):
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2)
        for turn in turns:
            text = turn["content"]
            assert text.strip() and text.isascii(), text
            if "```" not in text:
                # What a program prints may be a dictionary.
                assert not re.search(r"\$|  " if module is code else r"[{}$]|  ", text), text
        answer = turns[-1]["content"]
        if "vowel" not in answer and "```" not in answer:
            assert not re.search(r"\ba (?!and|are|in|of)[aeio]\w|\ban [b-df-gj-np-tvwz]", answer), (
                answer
            )


@pytest.mark.parametrize("module", [arithmetic, wordplay, code, lists, tables])
def test_the_same_seed_gives_the_same_text(module: object) -> None:
    assert drawn(module, 50) == drawn(module, 50)


@pytest.mark.parametrize("held_out", [False, True])
def test_every_calculation_in_an_answer_is_right(held_out: bool) -> None:
    checked = 0
    for text in answers(drawn(arithmetic, 800, held_out)):
        for terms, result in CLAIM.findall(text):
            assert eval(terms.replace("x", "*").replace("/", "//")) == int(result), text
            checked += 1
        remainder = re.search(r"(\d+) / (\d+) = (\d+) with a remainder of (\d+)", text)
        if remainder:
            a_, b_, times, left = map(int, remainder.groups())
            assert divmod(a_, b_) == (times, left), text
    assert checked > 800


def test_a_task_of_two_signs_is_worked_out_in_the_right_order() -> None:
    rng = random.Random(4)
    for _ in range(400):
        asked = arithmetic.orders(rng)
        task = re.search(r"[\d(][\d()x*+ -]*[\d)]", asked.question)
        assert task is not None
        assert asked.answer.endswith(f" {eval(task[0].replace('x', '*'))}."), asked


def test_a_word_problem_is_answered_by_its_last_step() -> None:
    rng = random.Random(4)
    for _ in range(600):
        answer = arithmetic.one_more_step(rng).answer
        a, sign, b = re.findall(r"(?:Here we \w+:|Then) (\d+) ([-+x/]) (\d+)", answer)[-1]
        result = eval(f"{a} {sign.replace('x', '*').replace('/', '//')} {b}")
        assert f" {result} " in answer.rpartition(". ")[2], answer


def test_all_sums_and_differences_end_in_their_result() -> None:
    for a in range(101):
        for b in range(101):
            assert f"{a} + {b} = {a + b}" in arithmetic.added(a, b)
            assert f"{a} - {b} = {a - b}" in arithmetic.taken(a, b)
    for b in range(2, 10):
        for a in range(1, 100):
            assert f"{a} x {b} = {a * b}" in arithmetic.multiplied(a, b)
            assert f"{a} / {b} = {a // b}" in arithmetic.divided(a, b)


def test_a_reserved_pair_is_never_trained_and_alone_held_out() -> None:
    def pairs(conversations: list[Conversation]) -> set[str]:
        found = set()
        for text in answers(conversations):
            for terms, _ in CLAIM.findall(text):
                a, sign, b, *more = terms.split(" ")
                key = arithmetic.key_of(int(a), sign, int(b), "")
                if not more and "|" not in key:  # a fact is kept apart by its wording
                    found.add(key)
        return found

    trained = pairs(drawn(arithmetic, 8000))
    kept = pairs(drawn(arithmetic, 500, held_out=True))
    assert not [key for key in trained if reserved(key)]
    assert len([key for key in kept if reserved(key)]) > 80
    assert not trained & kept


def test_facts_that_everybody_needs_are_trained() -> None:
    text = "\n".join(answers(drawn(arithmetic, 8000)))
    for a in range(2, 13):
        for b in range(2, 13):
            assert f"{a} x {b} = {a * b}" in text


@pytest.mark.parametrize("module", [arithmetic, wordplay, code])
def test_a_reserved_question_is_never_trained(module: object) -> None:
    rng = random.Random(6)
    for _ in range(500):
        asked = module.KINDS.draw(rng, False)  # type: ignore[attr-defined]
        assert not reserved(asked.key)
        asked = module.KINDS.draw(rng, True)  # type: ignore[attr-defined]
        assert reserved(asked.key)


def test_a_function_runs_and_gives_what_its_answer_says() -> None:
    for function in code.FUNCTIONS:
        for names in function.names:
            world: dict[str, object] = {}
            exec(function.written(names), world)
            assert repr(eval(function.call, world)) == function.result, (function.name, names)


def test_an_example_prints_what_its_answer_says() -> None:
    for topic in code.TOPICS:
        for answer in topic.answers:
            program = re.search(r"```python\n(.*?)```", answer, re.DOTALL)
            assert program is not None, topic.name
            if "input(" in program[1]:
                compile(program[1], topic.name, "exec")
                continue
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(program[1], {})
            lines = printed.getvalue().split("\n")[:-1]
            said = re.search(r"It prints (.*)", answer)
            if said and "three names" not in said[1] and "both words" not in said[1]:
                assert all(line in said[1] for line in lines), topic.name


def test_words_are_spelled_and_counted_right() -> None:
    for text in answers(drawn(wordplay, 3000)):
        for word, letters in re.findall(r"[Tt]he word (\w+) is spelled ([a-z-]+)", text):
            assert letters.replace("-", "") == word
        for name, letters in re.findall(r"The name (\w+) is spelled ([A-Za-z-]+)", text):
            assert letters.replace("-", "") == name
        for letters, word in re.findall(r"The letters ([a-z-]+) make (\w+)", text):
            assert letters.replace("-", "") == word
        for letters, count in re.findall(r"spelled ([A-Za-z-]+)\. It has (\d+) letters", text):
            assert len(letters.split("-")) == int(count)
        counted = re.search(r"That makes (\d+) words", text)
        if counted:
            assert f"{counted[1]} " in text and f", {int(counted[1]) + 1} " not in text


def test_no_word_is_its_own_opposite_plural_or_rhyme() -> None:
    assert all(word != other for word, other in wordplay.OPPOSITES.items())
    assert all(word != other for word, other in wordplay.SYNONYMS.items())
    assert all(word not in others for word, others in wordplay.RHYMES.items())
    assert len(wordplay.OPPOSITES) > 250 and len(wordplay.PAST) >= 100
    assert len(wordplay.GROUPS) >= 60


def test_a_list_keeps_its_condition() -> None:
    checked: dict[str, int] = {"letter": 0, "odd": 0, "not": 0}
    for turns in drawn(lists, 1500):
        asked, said = turns[0]["content"], turns[1]["content"]
        if begins := re.match(r"\w+ [\w' ]+ that start with (\w): (.*)\.$", said):
            items = re.split(r", | and ", begins[2])
            assert all(item[0].lower() == begins[1].lower() for item in items), said
            checked["letter"] += 1
        elif odd := re.match(r"The odd one out is ([\w -]+)\.", said):
            assert odd[1].lower() in asked.lower(), asked
            checked["odd"] += 1
        elif barred := re.match(r"\w+ [\w' ]+ that are not ([\w' ]+): (.*)\.$", said):
            assert barred[1] not in barred[2]
            checked["not"] += 1
    assert min(checked.values()) > 50, checked


def test_a_comparison_follows_its_order() -> None:
    rng = random.Random(2)
    for _ in range(300):
        answer = tables.ranked(rng, False)[1]["content"]
        ((big, word, small),) = re.findall(r"^(?:Yes, |No, )?(.+?) is (.+) than (.+)\.$", answer)
        for (more, less), things in tables.ranks().items():
            if word in (more, less) and {big.lower(), small.lower()} <= {x.lower() for x in things}:
                order = [x.lower() for x in things]
                assert (order.index(big.lower()) > order.index(small.lower())) == (word == more)
                break
        else:
            raise AssertionError(answer)


def test_a_list_of_a_kind_has_as_many_things_as_it_says() -> None:
    rng = random.Random(3)
    for _ in range(300):
        said = lists.such(rng).answer
        number, _, items = said.removeprefix("Here are ").partition(" ")
        numbered = re.findall(r"(?m)^(\d+)\. \w", items)
        count = len(numbered or re.split(r", | and ", items.partition(": ")[2]))
        assert arithmetic.in_words(count) == number.lower(), said
        assert numbered == [str(n) for n in range(1, len(numbered) + 1)], said


def test_what_is_said_many_times_is_said_as_often_as_asked() -> None:
    rng = random.Random(3)
    for _ in range(300):
        asked = wordplay.repeating(rng)
        word, times = asked.keep
        n = (
            int(times)
            if times.isdigit()
            else [arithmetic.in_words(i) for i in range(30)].index(times)
        )
        said = asked.answer.partition(" times")[2]
        assert len(re.findall(rf"(?<![a-z]){word}(?![a-z])", said)) >= n, asked
        assert len(re.split(r", |\n", said.strip(":.\n"))) == n, asked


@pytest.mark.parametrize("kind", [quantities.percentages, arithmetic.rounding, arithmetic.rows])
def test_percent_rounding_and_rows_are_right(kind: object) -> None:
    rng = random.Random(3)
    for _ in range(300):
        asked = kind(rng)  # type: ignore[operator]
        numbers = [int(n) for n in re.findall(r"\d+", asked.question)]
        result = int(re.findall(r"\d+", asked.answer)[-1])
        if kind is quantities.percentages:
            share = int(re.findall(r"(\d+)% of", asked.answer)[-1])
            (whole,) = {int(n) for n in re.findall(r"% of (\d+)", asked.answer)}
            assert {share, whole} <= set(numbers) and result * 100 == share * whole, asked
        elif kind is arithmetic.rounding:
            to = 100 if "100" in asked.question or "hundred" in asked.question else 10
            number = (
                next(n for n in numbers if n not in (10, 100)) if len(numbers) > 1 else numbers[0]
            )
            near = int(re.findall(r"\d+", asked.answer)[-1])
            assert near == (number + to // 2) // to * to, asked
        else:
            row = [*numbers, *map(int, re.findall(r"So (\d+) comes next", asked.answer))]
            steps = {b - a for a, b in zip(row, row[1:], strict=False)}
            doubled = all(b == 2 * a for a, b in zip(row, row[1:], strict=False))
            assert len(steps) == 1 or doubled, asked


def test_a_few_lines_of_python_do_what_was_asked() -> None:
    rng = random.Random(2)
    for _ in range(300):
        asked = code.programs(rng)
        program = re.search(r"```python\n(.*?)```", asked.answer, re.DOTALL)
        assert program is not None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(program[1], {})
        lines = printed.getvalue().splitlines()
        times = re.search(r"(\w+) (\d+) times(?! table)", asked.question)
        count = re.search(r"(?:from|From) (\d+) to (\d+)", asked.question)
        if times and "alculate" not in asked.question:
            assert lines == [times[1]] * int(times[2]), asked
        elif count and re.search("(?i)sum|add", asked.question):
            assert lines == [str(sum(range(int(count[1]), int(count[2]) + 1)))], asked
        elif count and "squares" not in asked.question and "numbers" in asked.question:
            assert lines == [str(i) for i in range(int(count[1]), int(count[2]) + 1)], asked
        assert lines[0] in asked.answer.rpartition("```")[2], asked


def test_what_is_told_last_is_what_comes_out() -> None:
    rng = random.Random(8)
    kinds = (quantities.stories, quantities.rates, quantities.conversions, quantities.discounts,
             quantities.parts_of)  # fmt: skip
    for kind in kinds:
        for _ in range(400):
            asked = kind(rng)
            working, _, last = asked.answer.rpartition(". ")
            results = re.findall(r"(?:=|makes?|is|are|and) (\d+)(?![\d%])", working)
            assert not re.search(r"[{}\[\]]|  ", asked.question + asked.answer), asked
            told = re.findall(r"\d+", last)
            # A unit that has just so many of the smaller one needs no working.
            assert not results or told[-1] in results or told[0] in results, asked


def test_a_follow_up_takes_the_last_result() -> None:
    rng, checked = random.Random(9), 0
    for turns in [arithmetic._chain(rng) for _ in range(300)]:
        for before, after in zip(turns[1::2], turns[3::2], strict=False):
            last = re.search(r"last result was (\d+)", after["content"])
            assert last and re.findall(r"\d+", before["content"].split(". ")[0] + before["content"])
            results = re.findall(r"(?:=|is) (\d+)", before["content"])
            assert last[1] in results, turns
            checked += 1
    assert checked > 300


def test_change_in_cents_is_right() -> None:
    rng = random.Random(3)
    for _ in range(300):
        asked = arithmetic.cents(rng)
        price = float(re.findall(r"\d+\.\d\d", asked.question)[0])
        paid = next(int(n) for n in re.findall(r"(?<![\d.])\d+(?![\d.]*\d)", asked.question))
        left = float(re.findall(r"So (\d+\.\d\d)", asked.answer)[0])
        assert round(paid - price, 2) == left, asked


def test_a_misspelt_word_is_spelled_right() -> None:
    rng = random.Random(3)
    for _ in range(300):
        asked = wordplay.misspelling(rng)
        found = re.search(
            r"(\w+) is (?:spelled|right:) ([\w-]+)\.| is (\w+): ([\w-]+)\.", asked.answer
        )
        assert found, asked
        word, letters = found[1] or found[3], found[2] or found[4]
        assert letters.replace("-", "").lower() == word.lower()
        assert asked.answer.startswith("Yes") == (asked.keep == (word,)), asked


def test_a_wrong_spelling_is_no_word_and_stands_for_one_word() -> None:
    wrong = [one for of in wordplay.MISSPELLED.values() for one in of]
    assert len(wrong) == len(set(wrong))
    assert not set(wrong) & set(wordplay.MISSPELLED)


def test_a_known_row_is_whole_and_in_its_order() -> None:
    rng = random.Random(4)
    rows = [list(row) for row, _ in wordplay.ROWS.values()]
    rounds = [" ".join(row * 2) for row in rows]
    for _ in range(400):
        answer = wordplay.in_order(rng).answer.rstrip(".")
        said = re.split(r", | and ", re.sub(r"^[^:]*: |^The .* order are ", "", answer))
        if said[0].isdigit():
            steps = {int(b) - int(a) for a, b in zip(said, said[1:], strict=False)}
            assert len(steps) == 1, answer
        elif "reverse" in answer:
            assert said[::-1] in rows, answer
        elif answer.startswith("From"):
            assert said[0] in answer.split(":")[0] and said[-1] in answer.split(":")[0]
            ways = (" ".join(said), " ".join(said[::-1]))
            assert any(way in round_ for way in ways for round_ in rounds), answer


def test_another_one_of_a_list_was_not_named_before() -> None:
    rng = random.Random(6)
    seen = 0
    for _ in range(400):
        turns = lists.followed(rng)
        for at in range(3, len(turns), 2):
            if more := re.match(r"Another one is (.*)\.", turns[at]):
                before = " ".join(turns[1:at:2]).lower()
                assert not re.search(
                    rf"(^|: |, |\d\. | and ){more[1].lower()}($|\n|,|\.| and )", before
                )
                seen += 1
    assert seen > 50


class Tree:
    """What stands in for the web page that a program fetches."""

    def __enter__(self) -> io.BytesIO:
        return io.BytesIO(b"page")

    def __exit__(self, *_: object) -> None: ...


def test_every_snippet_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("urllib.request.urlopen", lambda _: Tree())
    (tmp_path / "notes.txt").write_text("one\ntwo\n", encoding="utf-8")
    rng = random.Random(4)
    for snippet in code.SNIPPETS:
        for _ in range(4):
            lines = Template(snippet.code).substitute(code._values(rng))
            typed = iter([*map(str, range(1, 11))] if "guess" in lines else ["3", "4", "quit"])
            if "while True" in lines:
                typed = iter(["quit"])
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(lines, {"input": lambda _: next(typed), "__name__": "__main__"})  # noqa: B023
            assert printed.getvalue() or 'open("' in lines or "input" in lines, snippet.name
    assert len(code.SNIPPETS) > 100


def test_what_is_asked_of_a_function_is_answered_by_code_that_runs() -> None:
    rng, checked = random.Random(5), 0
    for _ in range(6):
        for function in code.FUNCTIONS:
            asked, answer = code.after_function(rng, function, function.names[0])
            assert not re.search(r"[{}|]", asked), asked
            world: dict[str, object] = {}
            exec(function.written(function.names[0]), world)
            if gives := re.fullmatch(r"(\w+\(.*\)) gives (.*)\.", answer):
                assert repr(eval(gives[1], world)) == gives[2]
            if program := re.search(r"```python\n(.*?)```", answer, re.DOTALL):
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(program[1], world)
                said = re.search(r"This prints (.*)\.$", answer)
                if said and "random" not in function.code:
                    assert said[1] == printed.getvalue().rstrip("\n"), function.name
                elif "Here it is as" not in answer and "random" not in function.code:
                    assert repr(eval(function.call, world)) == function.result, function.name
                checked += 1
    assert checked > 300
