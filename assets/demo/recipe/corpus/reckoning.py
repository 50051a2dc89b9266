"""Numbers beyond the four small sums: parts of all numbers, comparing, sums of three digits,
products by their parts, missing numbers, rows, Roman numerals, the clock and the calendar, and what
is asked of a result ("are you sure?", "how did you get that?", "just the number", "and with 7").

Each answer works from the question to the result by steps that are the same for all numbers, so
that a rule is learned and not a table.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from assets.demo.recipe.corpus import arithmetic, quantities
from assets.demo.recipe.corpus.quantities import FOOD, THINGS, someone
from assets.demo.recipe.corpus.school import Asked, reserved, typed
from assets.demo.recipe.corpus.steps import added, in_words, key_of, solved, step
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    listed,
    sentence,
    spoken,
    with_article,
)
from assets.demo.recipe.corpus.unknown import plain
from assets.demo.recipe.corpus.wordplay import DAYS, MONTHS


class Task(NamedTuple):
    """A question about numbers, its answer, what comes out, and a check of it by another way."""

    key: str
    question: str
    answer: str
    result: str
    check: str = ""
    keep: tuple[str, ...] = ()
    working: str = ""  # where the answer is a number alone


Kind = Callable[[random.Random], Task]


def asked(rng: random.Random, forms: Sequence[str], **words: object) -> str:
    """One of `forms` with its values, as a sentence or in a hurry."""
    text = " ".join(alternative(rng, rng.choice(forms)).split())
    for name, value in words.items():
        text = text.replace(f"{{{name}}}", str(value))
    text = spoken(rng, text)
    if text[-1] == "." and rng.random() < 0.5:
        text = text[:-1]
    return text


# --- halves, doubles and other parts --------------------------------------------------------------

LEADS = (
    "", "", "", "", "[what's|whats|what is] ", "[what's|what is] ", "[tell me|give me|say] ",
    "[can you|could you] tell me ", "how much is ", "[do you know|i need] ", "and ", "so, ",
    "quick: ", "calculate ", "[work out|find|compute] ", "what would be ", "pls tell me ",
)  # fmt: skip
OF_PART = {
    "half": ("half of {a}", "[the|a] half of {a}", "one half of {a}", "half {a}", "50% of {a}",
             "{a} divided by two", "{a} cut in half", "1/2 of {a}", "{a} split in two"),
    "double": ("double {a}", "twice {a}", "the double of {a}", "two times {a}", "{a} doubled",
               "{a} times two", "2 times {a}", "double of {a}", "twice as much as {a}"),
    "triple": ("triple {a}", "three times {a}", "{a} tripled", "the triple of {a}",
               "three times as much as {a}"),
    "quarter": ("a quarter of {a}", "one quarter of {a}", "1/4 of {a}", "a fourth of {a}",
                "the fourth part of {a}", "25% of {a}", "a quarter from {a}"),
    "third": ("a third of {a}", "one third of {a}", "1/3 of {a}", "the third part of {a}"),
    "fifth": ("a fifth of {a}", "one fifth of {a}", "1/5 of {a}", "the fifth part of {a}"),
    "tenth": ("a tenth of {a}", "one tenth of {a}", "1/10 of {a}", "10% of {a}"),
}  # fmt: skip
WHAT_IF = {
    "half": ("if i [cut|split|divide] {a} in half, what [do i get|is it]",
             "i have {a} {t} and give away half. how many are left",
             "halve {a}", "[please |]halve the number {a}", "can you halve {a}",
             "{n} has {a} {t} and {o} has half as many. how many does {o} have",
             "{a} {t} for two people, how many [each|for each]",
             "{a} shared by two"),
    "double": ("if i double {a}, what do i get", "[please |]double the number {a}",
               "can you double {a}", "{n} has {a} {t} and {o} has twice as many. how many does {o}"
               " have", "what do i get when i double {a}"),
    "triple": ("if i triple {a}, what do i get", "can you triple {a}",
               "{n} has {a} {t} and {o} has three times as many. how many does {o} have"),
    "quarter": ("if i divide {a} into quarters, how big is one",
                "i have {a} {t} and eat a quarter. how many do i eat"),
    "third": ("i have {a} {t} and eat a third. how many do i eat",),
    "fifth": ("i have {a} {t} and give away a fifth. how many do i give away",),
    "tenth": ("i have {a} {t} and lose a tenth. how many do i lose",),
}  # fmt: skip
ARTICLE = {"quarter": "a ", "third": "a ", "fifth": "a ", "tenth": "a "}


def half_steps(a: int) -> tuple[str, str]:
    """How any number is halved, and the half, which may be one with a point."""
    if a % 2 == 0:
        return quantities.part_steps("half", a)[0], str(a // 2)
    if a == 1:
        return "1 is 0.5 and 0.5.", "0.5"
    steps, half = quantities.half_of(a - 1)
    return f"{a} is odd: it is {a - 1} and 1. {sentence(steps)}. Half of 1 is 0.5.", f"{half}.5"


def times_steps(n: int, a: int) -> str:
    """`n x a` by the hundreds, tens and ones of `a`."""
    parts = [p for p in (a // 100 * 100, a // 10 % 10 * 10, a % 10) if p]
    if a >= 1000:
        parts = [p for p in (a // 1000 * 1000, a % 1000 // 100 * 100, a % 100) if p]
    if len(parts) == 1:
        return f"{n} x {parts[0]} = {n * parts[0]}."
    said = ", ".join(f"{n} x {p} = {n * p}" for p in parts)
    text, total = f"{a} is {listed(map(str, parts))}. {said}.", n * parts[0]
    for part in parts[1:]:
        text += f" {total} and {n * part} make {total + n * part}."
        total += n * part
    return text


def parts(rng: random.Random) -> Task:
    part = rng.choice(("half", "half", "half", "half", "double", "double", "triple", "quarter",
                       "quarter", "third", "third", "fifth", "tenth"))  # fmt: skip
    way = rng.random()
    by = {"half": 2, "quarter": 4, "third": 3, "fifth": 5, "tenth": 10}.get(part, 1)
    if way < 0.55:
        a = by * rng.randint(1, 100 // by)
    elif way < 0.9:
        a = 10 * by * rng.randint(1, 100 // by)
    else:
        a = 100 * rng.randint(1, 10)
        a = a - a % by
    a = max(a, by)
    if part == "half" and rng.random() < 0.12:
        a = rng.randint(1, 99) // 2 * 2 + 1
    t, n, o = rng.choice(f"{FOOD} {THINGS}".split()), someone(rng), someone(rng)
    if n == o:
        return parts(rng)
    whole = a % 2 == 0 or part != "half"
    if rng.random() < 0.25 and whole:
        question = asked(rng, WHAT_IF[part], a=a, t=t, n=n, o=o)
    else:
        forms = tuple(f for f in OF_PART[part] if whole or "%" not in f)
        question = asked(rng, (rng.choice(LEADS) + rng.choice(forms),), a=a)
    name = f"{ARTICLE.get(part, '')}{part}"
    if part == "half":
        steps, r = half_steps(a)
        key = f"half of {a}" if a > 20 else f"half of {a}|{plain(question)}"
        return Task(key, question, f"{steps} So half of {a} is {r}.", r,
                    f"{r} and {r} make {a}", (str(a),))  # fmt: skip
    if part == "double":
        key = key_of(a, "+", a, plain(question))
        if a <= 100:
            answer = f"To double {a}, I add {a} to itself. {added(a, a)} Double {a} is {2 * a}."
        else:
            answer = f"{times_steps(2, a)} So double {a} is {2 * a}."
        return Task(key, question, answer, str(2 * a), f"half of {2 * a} is {a}", (str(a),))
    if part == "triple":
        answer = f"{times_steps(3, a)} So three times {a} is {3 * a}."
        return Task(f"triple {a}", question, answer, str(3 * a), f"{3 * a} / 3 = {a}", (str(a),))
    steps, result = quantities.part_steps(part, a)
    if part in ("third", "fifth") and a > 100:
        d = a // by
        steps = f"{by} x {d // 10} = {a // 10}, so {by} x {d} = {a}." if d % 10 == 0 else ""
        if not steps:
            return parts(rng)
    key = f"{part} of {a}" if a > 20 else f"{part} of {a}|{plain(question)}"
    return Task(key, question, f"{steps} So {name} of {a} is {result}.", str(result),
                f"{by} x {result} = {a}", (str(a),))  # fmt: skip


# --- which is larger -----------------------------------------------------------------------------

WHICH = {
    "larger": ("[which|what] is [bigger|larger|more|greater|higher], {a} or {b}",
    "{a} or {b}, which"
               " is [bigger|larger|more]",
               "[which|what] is the [bigger|larger|higher] [number|one],"
               " {a} or {b}", "bigger: {a} or {b}", "{a} vs {b}, [which is bigger|what is more]",
               "compare {a} and {b}", "[larger|bigger] number of {a} and {b}", "max of {a} and {b}",
               "which of [these|the two] is [bigger|larger]: {a}, {b}", "{a} {b} which is bigger",
               "is {a} or {b} [bigger|larger|more|higher]", "[who|what] wins, {a} or {b}",
               "{a} versus {b}, the larger"),
    "smaller": ("[which|what] is [smaller|less|lower], {a} or {b}", "{a} or {b}, which is [smaller|"
                "less]", "smaller: {a} or {b}", "the [smaller|lower] [number|one] of {a} and {b}",
                "is {a} or {b} smaller", "{a} vs {b}, which is [smaller|less]",
                "min of {a} and {b}",
                "which of [these|the two] is smaller: {a}, {b}"),
    ">": ("is {a} [bigger|larger|more|greater|higher] than {b}", "is {a} [bigger|more] then {b}",
          "{a} > {b}", "{a} is [bigger|more|larger] than {b}, [right|yes or no|true or false|or "
          "not]",
          "is it true that {a} is [bigger|larger|more] than {b}", "{a} bigger than {b}",
          "is the number {a} [bigger|larger] than {b}", "is {a} over {b}", "is {a} > {b}",
          "would you say {a} is [bigger|more] than {b}", "does {a} beat {b}", "so {a} is more than"
          " {b}, [yes|right]", "tell me if {a} is [bigger|larger] than {b}", "is {a} above {b}"),
    "<": ("is {a} [smaller|less|lower] than {b}", "is {a} [less|smaller] then {b}", "{a} < {b}",
          "{a} is [smaller|less] than {b}, [right|yes or no|true or false|or not]", "is {a} under"
          " {b}", "is it true that {a} is [less|smaller] than {b}", "is {a} below {b}",
          "is {a} < {b}",
          "tell me if {a} is [smaller|less] than {b}"),
}  # fmt: skip
OF_THREE = {
    "largest": ("[which|what] is the [biggest|largest|highest] of {r}", "[biggest|largest] of {r}",
                "[which|what] is [biggest|largest|the most]: {r}", "max of {r}", "{r}, which is the"
                " [biggest|largest]", "[find|pick|name] the [largest|biggest] number: {r}",
                "the largest number among {r}", "{r} - the biggest one"),
    "smallest": ("[which|what] is the [smallest|lowest] of {r}", "smallest of {r}", "min of {r}",
                 "[which|what] is smallest: {r}", "{r}, which is the smallest",
                 "[find|pick|name] the"
                 " smallest number: {r}", "the lowest number among {r}", "{r} - the smallest one"),
}  # fmt: skip


def _pair(rng: random.Random) -> tuple[int, int]:
    way = rng.random()
    if way < 0.6:
        a, b = rng.sample(range(10, 100), 2)
    elif way < 0.75:
        a, b = rng.sample(range(101), 2)
    elif way < 0.9:
        a, b = rng.sample(range(100, 1000), 2)
    else:
        a = rng.randint(10, 99)
        b = a % 10 * 10 + a // 10
    return (a, b) if a != b else _pair(rng)


def comparing(rng: random.Random) -> Task:
    a, b = _pair(rng)
    way = rng.choice(tuple(WHICH))
    question = asked(rng, WHICH[way], a=a, b=b)
    high, low = max(a, b), min(a, b)
    verdict = {
        "larger": f"{high} is larger than {low}", "smaller": f"{low} is smaller than {high}",
        ">": f"{high} is larger than {low}, and the answer is {'yes' if a > b else 'no'}",
        "<": f"{low} is smaller than {high}, and the answer is {'yes' if a < b else 'no'}",
    }[way]  # fmt: skip
    answer = f"{arithmetic._compared(a, b)}. So {verdict}."
    keep = (str(a), str(b))
    return Task(f"compare {low} {high}", question, answer, str(low if way == "smaller" else high),
                f"{high} - {low} = {high - low}", keep)  # fmt: skip


def of_three(rng: random.Random) -> Task:
    """The largest or the smallest of three: two first, then the better one and the third."""
    numbers = rng.sample(range(1, 100) if rng.random() < 0.85 else range(1, 1000), 3)
    way = rng.choice(tuple(OF_THREE))
    a, b, c = numbers
    rows = (f"{a}, {b}, {c}", f"{a}, {b} and {c}", f"{a} {b} {c}", f"{a}, {b} or {c}")
    row = rng.choice(rows)
    pick = max if way == "largest" else min
    word = "larger" if way == "largest" else "smaller"
    first, best = pick(numbers[:2]), pick(numbers)
    other = max if pick is min else min
    answer = (
        f"{first} is {word} than {other(numbers[:2])}. "
        f"{best} is {word} than {other(first, numbers[2])}. So {best} is the {way}."
    )
    question = asked(rng, OF_THREE[way], r=row)
    return Task(f"three {row} {way}", question, answer, str(best), "", tuple(map(str, numbers)))


# --- larger sums, differences and products --------------------------------------------------------

PLACES = (("ones", "one"), ("tens", "ten"), ("hundreds", "hundred"), ("thousands", "thousand"))


def _digits(number: int) -> str:
    """`8 hundreds, 0 tens and 1 one`."""
    digits = [int(d) for d in str(number)][::-1]
    said = [f"{d} {PLACES[i][d == 1]}" for i, d in enumerate(digits)][::-1]
    return listed(said)


def long_sum(a: int, b: int) -> str:
    """A sum of up to three digits, place by place from the right."""
    if a % 100 == b % 100 == 0:
        return f"{a // 100} hundreds and {b // 100} hundreds are {(a + b) // 100} hundreds, so " + (
            f"{a} + {b} = {a + b}."
        )
    text, carry = "", 0
    for i in range(max(len(str(a)), len(str(b)))):
        one, other = a // 10**i % 10, b // 10**i % 10
        made = one + other
        name = PLACES[i][0]
        lead = f"The {name} first" if i == 0 else f"Then the {name}"
        text += f"{lead}: {one} + {other} = {made}"
        if carry:
            made += 1
            text += f", and 1 more is {made}"
        carry = made // 10
        text += f". That is {made - 10}, and 1 to carry. " if carry else ". "
    return f"{text}That makes {_digits(a + b)}, so {a} + {b} = {a + b}."


def long_difference(a: int, b: int) -> str:
    """`a - b` of up to three digits for a larger `a`, place by place from the right."""
    if a % 100 == b % 100 == 0:
        return (
            f"{a // 100} hundreds less {b // 100} hundreds are {(a - b) // 100} hundreds, so "
            + (f"{a} - {b} = {a - b}.")
        )
    text, borrowed = "", 0
    for i in range(len(str(a))):
        one, other = a // 10**i % 10, b // 10**i % 10
        name = PLACES[i][0]
        lead = f"The {name} first" if i == 0 else f"Then the {name}"
        here = one - borrowed
        lent = f"{one} less the borrowed 1 is {here}, and " if borrowed else ""
        if here < other:
            text += f"{lead}: {lent}{here} is less than {other}, so I borrow: "
            here, borrowed = here + 10, 1
        else:
            text += f"{lead}: {lent}"
            borrowed = 0
        text += f"{here} - {other} = {here - other}. "
    return f"{text}That makes {_digits(a - b)}, so {a} - {b} = {a - b}."


def _long_pair(rng: random.Random) -> tuple[int, int]:
    way = rng.random()
    if way < 0.3:
        return 100 * rng.randint(1, 9), 100 * rng.randint(1, 9)
    if way < 0.5:
        return 10 * rng.randint(10, 99), 10 * rng.randint(1, 99)
    if way < 0.65:
        return rng.randint(101, 999), rng.randint(2, 99)
    if way < 0.75:
        return 50 * rng.randint(3, 19), 25 * rng.randint(1, 19)
    return rng.randint(101, 999), rng.randint(101, 999)


def long_sums(rng: random.Random) -> Task:
    a, b = _long_pair(rng)
    if rng.random() < 0.3:
        a, b = b, a
    sign = rng.choice("++-")
    if sign == "-":
        a, b = max(a, b), min(a, b)
    if a == b:
        return long_sums(rng)
    r = a + b if sign == "+" else a - b
    wording = rng.choice(arithmetic.SUMS if sign == "+" else arithmetic.DIFFERENCES)
    if "{A}" in wording:
        return long_sums(rng)
    question = sentence(wording.format(a=a, b=b))
    steps = long_sum(a, b) if sign == "+" else long_difference(a, b)
    check = f"{r} - {b} = {a}" if sign == "+" else f"{r} + {b} = {a}"
    keep = (str(a), str(b))
    return Task(f"long {min(a, b)} {sign} {max(a, b)}", question,
                f"Let me work out {a} {sign} {b}. {steps}", str(r), check, keep)  # fmt: skip


def long_product(a: int, b: int) -> str:
    """A product of two numbers of two digits by its four parts, or of more with one digit."""
    if b < 10 or a < 10:
        big, small = max(a, b), min(a, b)
        return f"{times_steps(small, big)} So {a} x {b} = {a * b}."
    if a % 10 == b % 10 == 0:
        few = a // 10 * (b // 10)
        return f"{a // 10} x {b // 10} = {few}. With two zeros, {a} x {b} = {a * b}."
    tens = [[n // 10 * 10, n % 10] for n in (a, b)]
    made = [x * y for x in tens[0] if x for y in tens[1] if y]
    said = ", ".join(f"{x} x {y} = {x * y}" for x in tens[0] if x for y in tens[1] if y)
    text, total = f"In parts: {said}.", made[0]
    for part in made[1:]:
        text += f" {total} + {part} = {total + part}."
        total += part
    return f"{text} So {a} x {b} = {a * b}."


def long_products(rng: random.Random) -> Task:
    way = rng.random()
    if way < 0.2:
        a, b = 10 * rng.randint(1, 9), 10 * rng.randint(1, 9)
    elif way < 0.4:
        a, b = rng.choice((10 * rng.randint(10, 99), rng.randint(101, 999))), rng.randint(2, 9)
    elif way < 0.55:
        a, b = rng.randint(11, 25), rng.randint(11, 25)
    else:
        a, b = rng.randint(11, 99), rng.randint(11, 99)
    if way < 0.4 and rng.random() < 0.4:
        a, b = b, a
    wording = rng.choice(arithmetic.PRODUCTS)
    if "{A}" in wording:
        return long_products(rng)
    question = sentence(wording.format(a=a, b=b))
    if a == b and rng.random() < 0.6:
        question = sentence(rng.choice(arithmetic.SQUARES).format(a=a))
    answer = f"Let me work out {a} x {b}. {long_product(a, b)}"
    return Task(f"long {min(a, b)} x {max(a, b)}", question, answer, str(a * b),
                f"{a * b} / {b} = {a}", (str(a), str(b)))  # fmt: skip


ROOTS = (
    "[what's|whats|what is|] the square root of {a}", "square root of {a}", "sqrt({a})",
    "root of {a}",
    "sqrt {a}", "[calculate|find|tell me] the square root of {a}", "what number squared is {a}",
    "[which|what] number times itself [is|makes|gives] {a}", "{a} square root", "the root of {a}",
)  # fmt: skip
POWERS = (
    "{a}^{b}", "{a} to the power of {b}", "[what's|whats|what is] {a}^{b}", "{a}**{b}",
    "[what's|whats|what is] {a} to the power of {b}", "{a} to the {b}th power",
    "calculate {a} to the power {b}", "how much is {a}^{b}",
)  # fmt: skip
SQUARED = (
    "{a} squared", "[what's|whats|what is] {a} squared", "[the |]square of {a}", "{a}^2", "{a}²",
    "[what's|what is] the square of {a}", "square {a}", "{a} to the power of 2", "{a} times itself",
)  # fmt: skip


def roots(rng: random.Random) -> Task:
    way = rng.random()
    if way < 0.5:
        n = rng.randint(1, 12) if rng.random() < 0.75 else rng.choice((13, 14, 15, 20, 25, 30, 100))
        a = n * n
        question = asked(rng, ROOTS, a=a)
        answer = f"{n} x {n} = {a}, so the square root of {a} is {n}."
        return Task(f"root {a}|{plain(question)}", question, answer, str(n), f"{n} x {n} = {a}")
    if way < 0.75:
        n = rng.randint(1, 12) if rng.random() < 0.8 else 10 * rng.randint(2, 10)
        question = asked(rng, [f for f in SQUARED if f.isascii()], a=n)
        answer = f"{n} squared is {n} x {n}. {n} x {n} = {n * n}."
        return Task(f"squared {n}|{plain(question)}", question, answer, str(n * n),
                    f"the square root of {n * n} is {n}")  # fmt: skip
    a, most = rng.choice(((2, 12), (2, 12), (3, 5), (10, 6), (4, 4), (5, 4), (6, 3)))
    b = rng.randint(3, most)
    made = [a**i for i in range(1, b + 1)]
    chain = ", ".join(f"{x} x {a} = {y}" for x, y in zip(made, made[1:], strict=False))
    question = asked(rng, [f for f in POWERS if "th" not in f.split() or b > 3], a=a, b=b)
    if b == 3:
        question = question.replace("3th", "third")
    answer = f"That is {' x '.join([str(a)] * b)}: {chain}. So {a}^{b} = {a**b}."
    return Task(f"power {a} {b}|{plain(question)}", question, answer, str(a**b),
                f"{a**b} / {a} = {a ** (b - 1)}")  # fmt: skip


# --- below zero, with a point, and fractions ------------------------------------------------------


def negatives(rng: random.Random) -> Task:
    """Sums with a number below zero."""
    a, b = rng.randint(1, 12), rng.randint(1, 12)
    way = rng.randrange(6)
    if way == 0:
        x, r = f"-{a} + {b}", b - a
        steps = f"-{a} + {b} is the same as {b} - {a}."
    elif way == 1:
        x, r = f"-{a} - {b}", -a - b
        steps = f"Both go down: {a} + {b} = {a + b}, with a minus in front."
    elif way == 2:
        x, r = f"{a} + -{b}", a - b
        steps = f"Plus minus {b} is the same as minus {b}: {a} - {b}."
    elif way == 3:
        x, r = f"{a} - -{b}", a + b
        steps = f"Minus minus {b} is the same as plus {b}: {a} + {b}."
    elif way == 4:
        x, r = f"-{a} x {b}", -a * b
        steps = f"{a} x {b} = {a * b}, and minus times plus is minus."
    else:
        x, r = f"-{a} x -{b}", a * b
        steps = f"{a} x {b} = {a * b}, and minus times minus is plus."
    said = x if rng.random() < 0.6 else x.replace(" ", "")
    if rng.random() < 0.3:
        said = re.sub(r"-(?=\d)", "minus ", x).replace(" - ", " minus ").replace(" + ", " plus ")
        said = said.replace(" x ", " times ")
    question = asked(rng, ("{x}", "{x} =", "[what's|what is|whats] {x}", "how much is {x}",
                           "calculate {x}", "{x} = ?", "what does {x} make"), x=said)  # fmt: skip
    return Task(f"below {x}", question, f"{steps} So {x} = {r}.", str(r))


def _point(tenths: int) -> str:
    return f"{tenths // 10}.{tenths % 10}" if tenths % 10 else str(tenths // 10)


def tenths(rng: random.Random) -> Task:
    """Numbers with one digit behind the point, reckoned in tenths."""
    a, b = rng.randint(1, 99), rng.randint(1, 99)
    if a % 10 == 0 or (b % 10 == 0 and rng.random() < 0.5) or a == b:
        return tenths(rng)
    sign = rng.choice("++-")
    if sign == "-":
        a, b = max(a, b), min(a, b)
    r = a + b if sign == "+" else a - b
    word = "and" if sign == "+" else "less"
    x = f"{_point(a)} {sign} {_point(b)}"
    one = "tenth" if a == 1 else "tenths"
    steps = (
        f"{_point(a)} is {a} {one}, and {_point(b)} is {b} {'tenth' if b == 1 else 'tenths'}. "
        f"{a} {word} {b} {'make' if sign == '+' else 'is'} {r}, and {r} "
        f"{'tenth is' if r == 1 else 'tenths are'} {_point(r)}."
    )
    said = x if rng.random() < 0.6 else x.replace(" ", "")
    if rng.random() < 0.2:
        said = x.replace(" + ", " plus ").replace(" - ", " minus ")
    question = asked(rng, ("{x}", "{x} =", "[what's|what is|whats] {x}", "how much is {x}",
                           "calculate {x}", "{x} = ?"), x=said)  # fmt: skip
    return Task(f"tenths {x}", question, f"{steps} So {x} = {_point(r)}.", _point(r), "", (said,))


def fractions(rng: random.Random) -> Task:
    """Fractions of the same kind are added; two parts of one are compared."""
    way = rng.random()
    if way < 0.45:
        d = rng.choice((3, 4, 5, 5, 6, 7, 8, 9, 10))
        a, b = rng.randint(1, d - 1), rng.randint(1, d - 1)
        sign = rng.choice("+-") if a > b else "+"
        r = a + b if sign == "+" else a - b
        x = f"{a}/{d} {sign} {b}/{d}"
        whole = " That is one whole." if r == d else ""
        answer = (
            f"Both have {d} below, so I {'add' if sign == '+' else 'subtract'} what stands above: "
            f"{a} {sign} {b} = {r}. So {x} = {r}/{d}.{whole}"
        )
        question = asked(rng, ("{x}", "[what's|what is] {x}", "{x} = ?", "how much is {x}",
                               "calculate {x}"), x=x)  # fmt: skip
        return Task(f"fraction {x}", question, answer, "1" if r == d else f"{r}/{d}", "", (x,))
    if way < 0.6:
        (x, text, why) = rng.choice((
            ("1/2 + 1/4", "3/4", "1/2 is 2/4, and 2/4 + 1/4 = 3/4."),
            ("1/4 + 1/2", "3/4", "1/2 is 2/4, and 1/4 + 2/4 = 3/4."),
            ("1/2 + 1/3", "5/6", "1/2 is 3/6 and 1/3 is 2/6, and 3/6 + 2/6 = 5/6."),
            ("1/3 + 1/6", "1/2", "1/3 is 2/6, and 2/6 + 1/6 = 3/6, which is a half."),
            ("1/2 - 1/4", "1/4", "1/2 is 2/4, and 2/4 - 1/4 = 1/4."),
            ("3/4 - 1/2", "1/4", "1/2 is 2/4, and 3/4 - 2/4 = 1/4."),
            ("1/2 + 1/2", "1", "Two halves are one whole."),
            ("1 - 1/4", "3/4", "1 is 4/4, and 4/4 - 1/4 = 3/4."),
            ("1 - 1/3", "2/3", "1 is 3/3, and 3/3 - 1/3 = 2/3."),
            ("1/2 x 1/2", "1/4", "Half of a half is a quarter."),
            ("1/2 + 3/4", "5/4", "1/2 is 2/4, and 2/4 + 3/4 = 5/4, which is 1 and 1/4."),
        ))  # fmt: skip
        question = asked(rng, ("{x}", "[what's|what is] {x}", "{x} = ?", "how much is {x}",
                               "can you calculate {x}", "{x} please"), x=x)  # fmt: skip
        return Task(f"fraction {x}|{plain(question)}", question, f"{why} So {x} = {text}.", text)
    a, b = rng.sample(range(2, 11), 2)
    high, low = min(a, b), max(a, b)
    more = rng.random() < 0.7
    question = asked(rng, WHICH["larger" if more else "smaller"][:3], a=f"1/{a}", b=f"1/{b}")
    verdict = f"1/{high} is larger than 1/{low}" if more else f"1/{low} is smaller than 1/{high}"
    answer = (
        f"The more parts there are, the smaller each one is. {low} parts are more than {high}, "
    )
    answer += f"so {verdict}."
    return Task(f"parts {a} {b}", question, answer, f"1/{high if more else low}")


# --- the missing number --------------------------------------------------------------------------

GAPS = ("?", "?", "_", "__", "x", "...", "what")
MISSING = (
    "{x}", "{x}", "[what is|find|solve] the missing number: {x}", "[solve|complete]: {x}",
    "fill in: {x}", "{x}, what [is missing|goes there|is the missing number]", "fill the gap: {x}",
    "[what|which] number is missing: {x}", "help: {x}", "find the number: {x}",
)  # fmt: skip
EQUATIONS = (
    "solve {x}", "{x}", "[what is|find] x if {x}", "solve for x: {x}", "{x}, what is x",
    "find x: {x}", "[if|when] {x}, what is x", "{x} x=?", "can you solve {x}", "x = ? {x}",
    "solve the equation {x}", "what's x in {x}", "how do i solve {x}",
)  # fmt: skip
SAID = {
    "+": ("what plus {b} [is|makes|gives] {c}", "[what|how much] must i add to {b} to get {c}",
          "{b} plus what [is|makes|gives] {c}", "how much is missing from {b} to {c}",
          "i think of a number and add {b}. i get {c}. what is my number",
          "how many more than {b} is {c}", "what do i add to {b} to make {c}"),
    "-": ("what minus {b} [is|makes|gives] {c}", "i think of a number and take away {b}. i get {c}."
          " what is my number", "from which number do i take {b} to get {c}"),
    "x": ("what times {b} [is|makes|gives] {c}", "{b} times what [is|makes|gives] {c}",
          "i think of a number, times {b} it is {c}. what is it", "which number times {b} is {c}"),
}  # fmt: skip


def missing(rng: random.Random) -> Task:
    """`7 + ? = 12` and `x + 7 = 12`: the other way round."""
    sign = rng.choice("+++-xx")
    if sign == "x":
        b, r = rng.randint(2, 10), rng.randint(2, 10)
        c, back = b * r, f"{b * r} / {b} = {r}"
    elif sign == "+":
        most = rng.choice((9, 20, 50))
        b, r = rng.randint(1, most), rng.randint(1, most)
        c, back = b + r, f"{b + r} - {b} = {r}"
    else:
        most = rng.choice((9, 20, 40))
        b, c = rng.randint(1, most), rng.randint(1, most)
        r, back = b + c, f"{c} + {b} = {b + c}"
    kind = rng.random()
    gap = rng.choice(GAPS)
    if kind < 0.25:
        question, name = asked(rng, SAID[sign], b=b, c=c), "the number"
    else:
        letter = kind > 0.6
        gap, forms = ("x", EQUATIONS) if letter else (gap, MISSING)
        name = "x" if gap == "x" else "the missing number"
        first = rng.random() < 0.5 or sign == "-"
        times = "*" if letter and sign == "x" else sign
        x = f"{gap} {times} {b} = {c}" if first else f"{b} {times} {gap} = {c}"
        if letter and sign == "x":
            x = f"{b}x = {c}"
        if rng.random() < 0.25:
            x = x.replace(" ", "")
        question = asked(rng, forms, x=x)
        if question.endswith("?.") or question.endswith("? ."):
            question = question.rstrip(" .")
    check = f"{r} {sign} {b} = {c}"
    key = key_of(r, sign, b, plain(question)) if sign != "-" else key_of(c, "+", b, plain(question))
    if sign == "+":
        key = key_of(c, "-", b, plain(question))
        if reserved(key) != reserved(key_of(r, "+", b, plain(question))):
            return missing(rng)
    elif sign == "-" and reserved(key) != reserved(key_of(r, "-", b, plain(question))):
        return missing(rng)
    turned = {"+": "subtract", "-": "add", "x": "divide"}[sign]
    answer = f"To go back, I {turned}: {back}. So {name} is {r}. Check: {check}."
    return Task(key, question, answer, str(r), check)


# --- rows ----------------------------------------------------------------------------------------

ROW = (
    "[what's|whats|what is|] next: {r}", "what comes next[:|] {r}", "{r} ...", "{r}, ?", "{r} ?",
    "[continue|complete|finish] [the|this] [row|sequence|pattern|series]: {r}",
    "{r} [next|what next]",
    "[which|what] number [comes|is] next: {r}", "next number[:| in|] {r}", "{r}, what comes next",
    "what comes after {r}", "find the next number: {r}", "whats the pattern: {r}", "go on: {r}",
    "what is the next [number|one] in [the sequence|the row|] {r}", "{r}... and then",
)  # fmt: skip


def rows(rng: random.Random) -> Task:
    """Rows by a rule: a step, twice, squares, growing steps, the sum of the two before, primes."""
    n = rng.choice((4, 4, 4, 5, 5, 3))
    way = rng.random()
    if way < 0.42:
        by = rng.choice((1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11, 20, 25, 50, 100))
        first = rng.choice((by, by, 0, rng.randint(1, 30)))
        row = [first + by * i for i in range(n + 1)]
        why = f"Each number is {by} more than the one before: {row[-2]} + {by} = {row[-1]}."
    elif way < 0.55:
        by = rng.choice((1, 2, 3, 4, 5, 10, 10, 20, 100))
        last = by * rng.randint(0, 8) + (rng.randint(0, by) if rng.random() < 0.4 else 0)
        row = [last + by * i for i in range(n + 1)][::-1]
        why = f"Each number is {by} less than the one before: {row[-2]} - {by} = {row[-1]}."
    elif way < 0.68:
        times, first = rng.choice(((2, 1), (2, 2), (2, 3), (2, 5), (3, 1), (3, 2), (10, 1), (4, 1)))
        row = [first * times**i for i in range(n + 1)]
        called = {2: "twice"}.get(times, f"{times} times")
        why = f"Each number is {called} the one before: {row[-2]} x {times} = {row[-1]}."
    elif way < 0.73:
        n = min(n, 4)
        last = rng.choice((1, 2, 3, 5, 10))
        row = [last * 2**i for i in range(n + 1)][::-1]
        why = f"Each number is half of the one before: {row[-2]} / 2 = {row[-1]}."
    elif way < 0.83:
        at = rng.choice((1, 1, 1, 2, 3))
        row = [(at + i) ** 2 for i in range(n + 1)]
        k = at + n
        said = ", ".join(f"{at + i} x {at + i}" for i in range(n))
        why = f"These are the square numbers, {said}. The next is {k} x {k} = {k * k}."
    elif way < 0.9:
        a, b = rng.choice(((1, 1), (1, 1), (0, 1), (1, 2), (2, 3)))
        row = [a, b]
        while len(row) < max(n, 4) + 1:
            row.append(row[-1] + row[-2])
        why = f"Each number is the sum of the two before: {row[-3]} + {row[-2]} = {row[-1]}."
    elif way < 0.95:
        first = rng.choice((1, 1, 2, 5))
        row = list(accumulate([first, *range(1, max(n, 4) + 1)]))
        k = row[-1] - row[-2]
        steps = listed(str(y - x) for x, y in zip(row[:-1], row[1:-1], strict=False))
        why = f"The steps grow: {steps}. The next step is {k}: {row[-2]} + {k} = {row[-1]}."
    else:
        row = [2, 3, 5, 7, 11, 13, 17, 19, 23][: max(n, 4) + 1]
        why = f"These are the prime numbers, and after {row[-2]} the next prime is {row[-1]}."
    shown = rng.choice((", ", ", ", " ", ",")).join(map(str, row[:-1]))
    question = asked(rng, ROW, r=shown)
    if question.endswith("?.") or question.endswith("...."):
        question = question[:-1]
    answer = f"{why} So {row[-1]} comes next."
    return Task(f"row {row}", question, answer, str(row[-1]), "", (shown,))


# --- what numbers are made of ---------------------------------------------------------------------


def _primes(most: int) -> list[int]:
    return [n for n in range(2, most + 1) if all(n % d for d in range(2, n))]


def numbers_of(rng: random.Random) -> Task:
    """Factors, primes, evens and odds up to a number, sums of a row, averages, digit sums."""
    way = rng.randrange(10)
    if way == 0:
        a = rng.randint(2, 60)
        found = [d for d in range(1, a + 1) if a % d == 0]
        pairs = ", ".join(f"{d} x {a // d}" for d in found if d * d <= a)
        question = asked(rng, ("[what are |list |name |]the factors of {a}", "factors of {a}",
                               "divisors of {a}", "[which|what] numbers divide {a}",
                               "what can you divide {a} by"), a=a)  # fmt: skip
        text = listed(map(str, found))
        return Task(f"factors {a}", question, f"{a} is {pairs}. So the factors of {a} are {text}.",
                    text)  # fmt: skip
    if way == 1:
        k = rng.choice((5, 5, 10, 10, 3, 4, 6, 8))
        said = in_words(k) if rng.random() < 0.5 else str(k)
        text = listed(map(str, _primes(60)[:k]))
        question = asked(rng, ("[what are |list |name |give me |tell me |]the first {k} prime "
        "numbers",
                               "first {k} primes", "{k} prime numbers",
                               "the first {k} primes please",
                               "name {k} prime numbers", "list {k} primes"), k=said)  # fmt: skip
        answer = f"The first {in_words(k)} prime numbers are {text}."
        return Task(f"primes {plain(question)}", question, answer, text)
    if way == 2:
        a = rng.choice((10, 20, 30, 50, 100, rng.randint(5, 60)))
        text = listed(map(str, _primes(a)))
        question = asked(rng, ("[what are |list |name |all |]the prime numbers [up "
        "to|below|until] {a}",
                               "primes [up to|under|below] {a}", "all primes [up to|until] {a}",
                               "which numbers up to {a} are prime"), a=a)  # fmt: skip
        return Task(f"primes to {plain(question)}", question,
                    f"The prime numbers up to {a} are {text}.", text)  # fmt: skip
    if way == 3:
        kind = rng.choice(("even", "odd"))
        low = rng.choice((0, 10, 20, 30, rng.randint(0, 50)))
        high = low + rng.choice((10, 10, 6, 8, 12, 20))
        found = [n for n in range(low, high + 1) if n % 2 == (kind == "odd")]
        if low == 0:
            found = [n for n in found if n]
            question = asked(rng, ("{k} numbers [up to|until] {b}",
            "[list|name|give me|what are] [the "
                                   "|all ]{k} numbers [up to|until] {b}",
                                   "all {k} numbers from 1 to {b}",
                                   "the {k} numbers to {b}"), k=kind, b=high)  # fmt: skip
            lead = f"The {kind} numbers up to {high} are"
        else:
            question = asked(rng, ("{k} numbers [between|from] {a} [and|to] {b}",
                                   "[list|name|give me|what are] [the |all ]{k} numbers from "
                                   "{a} to {b}",
                                   "which numbers from {a} to {b} are {k}"), k=kind, a=low,
                             b=high)  # fmt: skip
            question = question.replace(f"between {low} to", f"between {low} and")
            question = question.replace(f"from {low} and", f"from {low} to")
            lead = f"The {kind} numbers from {low} to {high} are"
        text = listed(map(str, found))
        return Task(f"{kind} {low} {high}", question, f"{lead} {text}.", text)
    if way == 4:
        n = rng.choice((10, 10, 10, 100, 20, 5, 50, rng.randint(3, 20)))
        r = n * (n + 1) // 2
        question = asked(rng, ("[what is |]the sum of [the numbers |all numbers |]from 1 to {n}",
                               "[add|sum] [up |][all |]the numbers from 1 to {n}",
                               "1 + 2 + 3 ... + {n}", "1+2+3+...+{n}",
                               "sum of the first {n} numbers",
                               "sum of 1 to {n}"), n=n)  # fmt: skip
        half = f"{n} / 2 = {n // 2} pairs" if n % 2 == 0 else f"half of {n} pairs"
        answer = f"1 and {n} make {n + 1}, and so does each such pair. There are {half}. " + (
            f"{n // 2} x {n + 1} = {r}." if n % 2 == 0 else f"{n} x {n + 1} = {n * (n + 1)}, "
            f"and half "
            f"of that is {r}."
        )  # fmt: skip
        return Task(f"sum to {n}|{plain(question)}", question,
                    f"{answer} So the sum from 1 to {n} is {r}.", str(r))  # fmt: skip
    if way in (5, 6):
        k = rng.choice((2, 3, 3, 4))
        mean = rng.randint(3, 30)
        numbers = [mean + rng.randint(-min(mean - 1, 8), 8) for _ in range(k - 1)]
        last = mean * k - sum(numbers)
        if last < 1 or last > 60:
            return numbers_of(rng)
        numbers.append(last)
        rng.shuffle(numbers)
        total = sum(numbers)
        question = asked(rng, ("[what is |what's |]the [average|mean] of {r}", "average of {r}",
                               "mean of {r}", "[calculate|find] the average of {r}", "{r}: average",
                               "i got {r} points, what is the average"),
                         r=listed(map(str, numbers)))  # fmt: skip
        plus = " + ".join(map(str, numbers))
        answer = (
            f"First I add: {plus} = {total}. There are {k} numbers, and {total} / {k} = {mean}. "
        )
        return Task(f"average {numbers}", question, f"{answer}So the average is {mean}.", str(mean),
                    f"{k} x {mean} = {total}", tuple(map(str, numbers)))  # fmt: skip
    if way == 7:
        a = rng.randint(11, 9999)
        digits = list(map(int, str(a)))
        question = asked(rng, ("[what is |]the [sum of the digits|digit sum] of {a}",
        "digit sum of {a}",
                               "add [up |]the digits of {a}", "sum of digits {a}"),
                               a=a)  # fmt: skip
        plus = " + ".join(map(str, digits))
        answer = f"The digits of {a} are {listed(map(str, digits))}. {plus} = {sum(digits)}."
        return Task(f"digits {a}", question, answer, str(sum(digits)), "", (str(a),))
    if way == 8:
        a = rng.randint(2, 99999)
        n = len(str(a))
        question = asked(rng, ("how many digits [has|does|in] {a}[| have]",
        "how many digits are in {a}",
                               "number of digits of {a}", "count the digits of {a}"),
                               a=a)  # fmt: skip
        if "does" in question.split() and "have" not in question:
            question = question.rstrip("?.") + " have?"
        numbered = ", ".join(f"{i} {d}" for i, d in enumerate(str(a), 1))
        answer = f"{numbered}: {a} has {n} digit{'' if n == 1 else 's'}."
        return Task(f"how many digits {a}", question, answer, str(n), "", (str(a),))
    a = rng.randint(1, 6)
    chain = " x ".join(map(str, range(a, 0, -1)))
    made = list(accumulate(range(1, a + 1), lambda x, y: x * y))
    steps = ", ".join(f"{x} x {i + 2} = {y}" for i, (x, y) in
                      enumerate(zip(made, made[1:], strict=False)))  # fmt: skip
    question = asked(rng, ("{a}!", "[what is |what's |]{a} factorial", "factorial of {a}",
                           "[calculate|compute] {a} factorial", "the factorial of {a}"),
                           a=a)  # fmt: skip
    answer = f"{a} factorial is {chain}. {f'{steps}. ' if steps else ''}So {a}! = {made[-1]}."
    return Task(f"factorial {a}|{plain(question)}", question, answer, str(made[-1]))


# --- Roman numerals -------------------------------------------------------------------------------

ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40,
    "XL"),
    (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


def roman(number: int) -> str:
    text = ""
    for value, letters in ROMAN:
        text += letters * (number // value)
        number %= value
    return text


TO_ROMAN = (
    "[what is |what's |]{a} in roman numerals", "{a} in roman [numbers|numerals]", "{a} as a roman "
    "numeral", "roman numeral for {a}", "[write|convert|turn] {a} [in|to|into] roman numerals",
    "how do [you|i] write {a} in roman numerals", "roman {a}", "how did the romans write {a}",
)  # fmt: skip
FROM_ROMAN = (
    "[what is |what's |]{r} in [numbers|normal numbers|digits]", "what number is {r}", "roman {r}",
    "what does {r} mean [as a number|in roman numerals]",
    "[which|what] number is the roman numeral {r}",
    "roman numeral {r}", "[convert|turn] {r} [to|into] a number", "{r} roman numeral",
    "read {r} for me",
)  # fmt: skip


def romans(rng: random.Random) -> Task:
    a = rng.randint(1, 40) if rng.random() < 0.6 else rng.randint(41, 100)
    if rng.random() < 0.12:
        a = rng.choice((500, 1000, 2000, 1900, 1999, 2024, 2025, 2026, 1984, 1776, 400, 900, 150))
    values = [10 ** (len(str(a)) - 1 - i) * int(d) for i, d in enumerate(str(a)) if d != "0"]
    made = roman(a)
    pieces = listed(f"{roman(v)} is {v}" for v in values)
    if rng.random() < 0.6:
        question = asked(rng, TO_ROMAN, a=a)
        split = f"{a} is {listed(map(str, values))}. " if len(values) > 1 else ""
        answer = f"{split}{pieces}. So {a} in Roman numerals is {made}."
        if not split:
            answer = f"{a} in Roman numerals is {made}."
        return Task(f"roman {a}", question, answer, made, "", (str(a),))
    question = asked(rng, FROM_ROMAN, r=made)
    more = f" {listed(map(str, values))} make {a}." if len(values) > 1 else ""
    ends = f"{more} So {made} is {a}." if more else ""
    return Task(f"roman {a}", question, f"{pieces}.{ends}", str(a), "", (made,))


# --- clock and calendar --------------------------------------------------------------------------


def _clock(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{(hours - 1) % 12 + 1}:{rest:02}"


AFTER_TIME = (
    "what time is it {x} after {t}", "{x} after {t}", "{t} plus {x}",
    "it is {t}. what time is it in "
    "{x}", "it's {t} now, what time is it in {x}", "{x} from {t} is what time", "{t} + {x}",
    "a film starts at {t} and lasts {x}. when does it end",
    "i start at {t} and need {x}. when am i "
    "done", "the train leaves at {t} and takes {x}. when does it arrive",
    "[if it is|at] {t}, what time"
    " is it {x} later", "{n} leaves at {t} and walks for {x}. when does {n} arrive",
)  # fmt: skip
BEFORE_TIME = (
    "what time is it {x} before {t}", "{x} before {t}", "{t} minus {x}",
    "it is {t}. what time was it "
    "{x} ago", "it's {t} now, what was the time {x} ago",
    "the cake took {x} and was ready at {t}. when"
    " did it go in", "i must be there at {t} and need {x}. when do i leave",
)  # fmt: skip
HOW_LONG = (
    "how long is it from {t} to {u}", "from {t} to {u}, how [long|many hours]",
    "how many hours from {t}"
    " to {u}", "i work from {t} to {u}. how many hours is that", "how long is {t} until {u}",
    "the shop is open from {t} to {u}. how long is that", "{t} to {u} is how many hours",
)  # fmt: skip


def clock(rng: random.Random) -> Task:
    """Hours and minutes after and before a time on the clock, and how long it is from one to the
    other."""
    way = rng.random()
    hour, minute = rng.randint(1, 12), rng.choice((0, 0, 15, 30, 30, 45, 5, 10, 20, 40, 50))
    t = f"{hour}:{minute:02}"
    typed_t = t if minute or rng.random() < 0.4 else rng.choice((f"{hour} o'clock", f"{hour}", t))
    if way < 0.4:
        n = rng.randint(1, 8)
        unit = "hour" if n == 1 else "hours"
        said = in_words(n) if rng.random() < 0.4 else str(n)
        later = rng.random() < 0.75
        at = hour + n if later else hour - n
        new = (at - 1) % 12 + 1
        form = AFTER_TIME if later else BEFORE_TIME
        if typed_t == str(hour):
            typed_t = f"{hour} o'clock"
        question = asked(rng, form, x=f"{said} {unit}", t=typed_t, n=someone(rng))
        sign = "+" if later else "-"
        turn = ""
        if at > 12:
            turn = f" After 12 the clock begins again, and {at} - 12 = {new}."
        elif at < 1:
            turn = f" Before 1 comes 12 on the clock, and {at} + 12 = {new}." if at else (
                " Before 1 comes 12 on the clock.")  # fmt: skip
        stay = f" The minutes stay {minute:02}." if minute else ""
        answer = f"{hour} {sign} {n} = {at}.{turn}{stay} So it is {new}:{minute:02}."
        return Task(f"clock {t} {sign}{n}", question, answer, f"{new}:{minute:02}", "", (typed_t,))
    if way < 0.72:
        n = rng.choice((5, 10, 15, 20, 25, 30, 30, 40, 45, 50))
        later = rng.random() < 0.75
        said = rng.choice((f"{n} minutes", f"{n} min", f"{n} minutes"))
        if n == 30 and rng.random() < 0.4:
            said = "half an hour"
        if n in (15, 45) and rng.random() < 0.3:
            said = "a quarter of an hour" if n == 15 else "three quarters of an hour"
        if typed_t == str(hour):
            typed_t = f"{hour} o'clock"
        form = AFTER_TIME if later else BEFORE_TIME
        question = asked(rng, form, x=said, t=typed_t, n=someone(rng))
        lead = f"{sentence(said)} is {n} minutes. " if "hour" in said else ""
        lead = lead.replace("hour is", "hour are") if "three" in said else lead
        at_last = _clock(hour * 60 + minute + (n if later else -n))
        sum_ = minute + n if later else minute - n
        if later and sum_ < 60:
            steps = f"The minutes: {minute} + {n} = {sum_}, and the hour stays {hour}."
        elif later:
            steps = (
                f"The minutes: {minute} + {n} = {sum_}. 60 of them are an hour, and {sum_} - 60 = "
            )
            steps += f"{sum_ - 60}."
        elif sum_ >= 0:
            steps = f"The minutes: {minute} - {n} = {sum_}, and the hour stays {hour}."
        else:
            steps = (
                f"The minutes: {minute} is less than {n}, so I take an hour: {minute + 60} - {n} = "
            )
            steps += f"{sum_ + 60}."
        answer = f"{lead}{steps} So it is {at_last}."
        return Task(f"clock {t} {later} {n}", question, answer, at_last, "", (typed_t,))
    a, n = rng.randint(1, 12), rng.randint(2, 11)
    b = (a + n - 1) % 12 + 1
    style = rng.randrange(3)
    x, y = ((str(a), str(b)), (f"{a}:00", f"{b}:00"), (f"{a} o'clock", f"{b} o'clock"))[style]
    question = asked(rng, HOW_LONG, t=x, u=y)
    if b > a:
        answer = f"{b} - {a} = {n}. So it is {n} hours."
    else:
        answer = f"From {a} to 12 it is {12 - a} hours, and then {b} more. {12 - a} + {b} = {n}. "
        answer += f"So it is {n} hours."
        if a == 12:
            answer = f"After 12 the clock begins again, and {b} comes {n} hours later. "
            answer += f"So it is {n} hours."
    return Task(f"clock from {a} to {b}", question, answer, f"{n} hours")


DAY_AFTER = (
    "which day is {n} days after {d}", "[what|which] day is it {n} days after {d}",
    "{n} days after {d}",
    "if today is {d}, what day is it in {n} days", "today is {d}. which day is in {n} days",
    "{d} plus {n} days", "what weekday comes {n} days after {d}", "in {n} days from {d} it is",
    "my parcel was sent on {d} and takes {n} days. when does it come",
)  # fmt: skip
DAY_BEFORE = (
    "which day is {n} days before {d}", "{n} days before {d}",
    "today is {d}. what day was it {n} days "
    "ago", "what weekday was {n} days before {d}", "{d} minus {n} days",
    "if today is {d}, what was it "
    "{n} days ago",
)  # fmt: skip
DAYS_BETWEEN = (
    "how many days [is it |are there |]from {d} to {e}", "how many days until {e} if today is {d}",
    "days from {d} [to|till|until] {e}", "today is {d}. how many days until {e}",
    "how long is it from {d} to {e}", "it is {d}, how many days till {e}",
)  # fmt: skip
MONTH_AFTER = (
    "which month is {n} months after {m}", "{n} months after {m}",
    "it is {m}. which month is it in {n} "
    "months", "what month comes {n} months after {m}", "{m} plus {n} months",
)  # fmt: skip


def calendar(rng: random.Random) -> Task:
    way = rng.random()
    at = rng.randrange(7)
    d = DAYS[at]
    n = rng.choice((1, 2, 2, 3, 3, 4, 5, 6, 7, 10))
    said = in_words(n) if rng.random() < 0.5 else str(n)
    if way < 0.6:
        later = way < 0.4
        steps = [DAYS[(at + (i if later else -i)) % 7] for i in range(1, n + 1)]
        question = asked(rng, DAY_AFTER if later else DAY_BEFORE, n=said, d=d)
        if n == 1:
            question = question.replace("1 days", "1 day").replace("one days", "one day")
        count = f"{n} day{'' if n == 1 else 's'}"
        answer = f"Counting {count} {'on' if later else 'back'} from {d}: {', '.join(steps)}. "
        return Task(f"day {later} {n} {d}", question, f"{answer}So it is {steps[-1]}.", steps[-1],
                    "", (d,))  # fmt: skip
    if way < 0.8:
        e = DAYS[(at + rng.randint(1, 6)) % 7]
        n = (DAYS.index(e) - at) % 7
        steps = [DAYS[(at + i) % 7] for i in range(1, n + 1)]
        numbered = ", ".join(f"{i} {x}" for i, x in enumerate(steps, 1))
        answer = f"Counting from {d}: {numbered}. So it is {n} day{'' if n == 1 else 's'}."
        question = asked(rng, DAYS_BETWEEN, d=d, e=e)
        return Task(f"days {d} {e}", question, answer, str(n), "", (d, e))
    at, n = rng.randrange(12), rng.randint(1, 8)
    m = MONTHS[at]
    steps = [MONTHS[(at + i) % 12] for i in range(1, n + 1)]
    said = in_words(n) if rng.random() < 0.5 else str(n)
    question = asked(rng, MONTH_AFTER, n=said, m=m)
    if n == 1:
        question = question.replace("1 months", "1 month").replace("one months", "one month")
    count = f"{n} month{'' if n == 1 else 's'}"
    answer = f"Counting {count} on from {m}: {', '.join(steps)}. So it is {steps[-1]}."
    return Task(f"month {n} {m}", question, answer, steps[-1], "", (m,))


BORN = (
    "i was born in {a}. how old am i in {b}", "[if i was|i'm] born in {a}, how old am i in {b}",
    "born in {a}, how old in {b}", "{n} was born in {a}. how old is {n} in {b}",
    "how old is someone "
    "born in {a} in {b}", "how many years [from|between] {a} [to|and] {b}", "years from {a} to {b}",
)  # fmt: skip


def ages(rng: random.Random) -> Task:
    b = rng.choice((2000, 2010, 2020, 2023, 2024, 2025, 2026, 2030))
    a = rng.randint(1950, b - 5)
    question = asked(rng, BORN, a=a, b=b, n=someone(rng))
    question = question.replace(f"between {a} to", f"between {a} and")
    question = question.replace(f"from {a} and", f"from {a} to")
    r = b - a
    if a < 2000:
        to, on = 2000 - a, b - 2000
        steps = f"From {a} to 2000 it is {to} years"
        steps += f", and from 2000 to {b} it is {on} more. {to} and {on} make {r}." if on else "."
    else:
        steps = f"{b} - {a} = {r}."
    close = (
        f"So it is {r} years." if "ears" in question.split("{")[0][:15] else f"So the age is {r}."
    )
    if "how many years" in question.lower() or "years from" in question.lower():
        close = f"So it is {r} years."
    elif " i " in f" {question.lower()} ":
        close = f"So you are {r} in {b}, or {r - 1} before your birthday."
    return Task(f"born {a} {b}", question, f"{steps} {close}", str(r), "", (str(a), str(b)))


# --- percent of, degrees, feet --------------------------------------------------------------------

WHAT_PERCENT = (
    "what percent of {b} is {a}", "what percent is {a} of {b}", "{a} of {b} in percent",
    "{a} out of {b} as a percentage", "how many percent is {a} of {b}", "{a}/{b} in percent",
    "{a} is what percent of {b}", "i got {a} out of {b} points, how many percent is that",
)  # fmt: skip


def percent_of(rng: random.Random) -> Task:
    p = 5 * rng.randint(1, 19)
    b = rng.choice((10, 20, 40, 50, 60, 80, 100, 100, 200, 300, 400, 500, 1000))
    if b * p % 100:
        return percent_of(rng)
    a = b * p // 100
    question = asked(rng, WHAT_PERCENT, a=a, b=b)
    if b == 100:
        steps = "Percent means out of 100."
    elif b > 100:
        k = b // 100
        steps = f"Percent means out of 100. {b} is {k} x 100, and {a} / {k} = {p}."
    elif 100 % b == 0:
        k = 100 // b
        steps = f"Percent means out of 100. 100 is {k} x {b}, and {k} x {a} = {p}."
    else:
        one = b // 10
        steps = f"10% of {b} is {one}, and {a} / {one} = "
        if a % one:
            return percent_of(rng)
        steps += f"{a // one}. {a // one} x 10 = {p}."
    return Task(f"percent {a} {b}", question, f"{steps} So {a} of {b} is {p} percent.", f"{p}%", "",
                (str(a), str(b)))  # fmt: skip


OTHER_UNITS = (
    # one, many, how many, one of the smaller, many
    ("foot", "feet", 12, "inches", 9), ("yard", "yards", 3, "feet", 20),
    ("pound", "pounds", 16, "ounces", 9), ("gallon", "gallons", 4, "quarts", 12),
    ("year", "years", 365, "days", 3), ("fortnight", "fortnights", 14, "days", 6),
    ("week", "weeks", 7, "days", 20), ("day", "days", 24, "hours", 10), ("hour", "hours", 60,
    "minutes", 24), ("minute", "minutes", 60, "seconds", 20), ("year", "years", 12, "months", 20),
    ("kilometer", "kilometers", 1000, "meters", 50), ("meter", "meters", 100, "centimeters", 50),
    ("kilogram", "kilograms", 1000, "grams", 50), ("byte", "bytes", 8, "bits", 20),
)  # fmt: skip
UNIT_FORMS = (
    "how many {s} [are |are there |]in {x}", "{x} in {s}", "{x} to {s}", "convert {x} to {s}",
    "[what is|what's] {x} in {s}", "{x} is how many {s}", "how many {s} make {x}", "{s} in {x}",
    "i need {x} in {s}", "{x}, how many {s}", "how many {s} [has|have] {x}",
)  # fmt: skip


def units(rng: random.Random) -> Task:
    one, many, each, small, most = rng.choice(OTHER_UNITS)
    n = rng.randint(1, most)
    x = with_article(one) if n == 1 else f"{n} {many}"
    question = asked(rng, UNIT_FORMS, x=x, s=small)
    has = f"{sentence(with_article(one))} has {each} {small}."
    if n == 1:
        return Task(f"unit {one} {plain(question)}", question, has, f"{each} {small}")
    if each in (100, 1000):
        zeros = "two zeros" if each == 100 else "three zeros"
        steps = f"{n} with {zeros} is {n * each}."
    elif n < 10:
        steps = times_steps(n, each)
    elif each < 10:
        steps = times_steps(each, n)
    else:
        steps = long_product(n, each).rpartition(" So ")[0] or f"{n} x {each} = {n * each}."
    answer = f"{has} {steps} So {x} are {n * each} {small}."
    return Task(f"unit {n} {one} {small}", question, answer, f"{n * each} {small}")


def degrees(rng: random.Random) -> Task:
    if rng.random() < 0.6:
        c = 5 * rng.randint(0, 20)
        f = c * 9 // 5 + 32
        question = asked(rng, ("{c} [degrees |]celsius [in|to] fahrenheit", "[what is|what's] {c} "
                               "[degrees |]celsius in fahrenheit", "{c} C in F", "{c}c to f",
                               "convert {c} celsius to fahrenheit", "how much is {c} celsius in "
                               "fahrenheit"), c=c)  # fmt: skip
        answer = f"Divide by 5, times 9, plus 32: {c} / 5 = {c // 5}, {c // 5} x 9 = {c // 5 * 9}, "
        answer += f"and {c // 5 * 9} + 32 = {f}. So {c} degrees Celsius are {f} degrees Fahrenheit."
        return Task(f"celsius {c}", question, answer, f"{f} degrees Fahrenheit", "", (str(c),))
    k = rng.randint(0, 20)
    f, c = 9 * k + 32, 5 * k
    question = asked(rng, ("{f} [degrees |]fahrenheit [in|to] celsius", "[what is|what's] {f} "
                           "fahrenheit in celsius", "{f} F in C", "{f}f to c",
                           "convert {f} fahrenheit to celsius"), f=f)  # fmt: skip
    answer = (
        f"Minus 32, divide by 9, times 5: {f} - 32 = {9 * k}, {9 * k} / 9 = {k}, and {k} x 5 = "
    )
    answer += f"{c}. So {f} degrees Fahrenheit are {c} degrees Celsius."
    return Task(f"fahrenheit {f}", question, answer, f"{c} degrees Celsius", "", (str(f),))


SHAPES = (
    ("area of a [rectangle|room|garden] [of|that is|with sides] {a} [by|x|and] {b}", "area"),
    ("a [room|garden|field|table] is {a} meters long and {b} meters wide. what is its area",
    "area"),
    ("perimeter of a rectangle [of|with sides] {a} [and|by] {b}", "round"),
    ("a garden is {a} meters long and {b} meters wide. how long is the fence around it", "round"),
    ("area of a square with side {a}", "square"), ("a square has sides of {a}. what is its area",
    "square"), ("perimeter of a square with side {a}", "four"),
)  # fmt: skip


def shapes(rng: random.Random) -> Task:
    form, kind = rng.choice(SHAPES)
    a, b = rng.randint(2, 12), rng.randint(2, 12)
    question = asked(rng, (form, form, f"[what is|find] the {form}")
                     if form[0] in "ap" and form[1] != " " else (form,), a=a, b=b)  # fmt: skip
    m = " meters" if "meters" in question else ""
    if kind == "area":
        r, end = a * b, "the area is {r}" + (" square meters" if m else "")
        steps = f"The area is length times width: {step(a, 'x', b)}"
    elif kind == "round":
        r, end = 2 * (a + b), "the way around is {r}" + m
        steps = (
            f"The way around is two times length and width: {a} + {b} = {a + b}, and 2 x {a + b} = "
        )
        steps += f"{r}."
    elif kind == "square":
        r, end = a * a, "the area is {r}"
        steps = f"The area of a square is side times side: {step(a, 'x', a)}"
    else:
        r, end = 4 * a, "the perimeter is {r}"
        steps = f"A square has four equal sides: {step(4, 'x', a)}"
    return Task(f"shape {kind} {a} {b}", question, f"{steps} So {end.format(r=r)}.", str(r), "",
                (str(a),))  # fmt: skip


# --- small sums, in every way ---------------------------------------------------------------------

SMALL = {
    "+": ("{a}+{b}", "{a} + {b}", "{a} plus {b}", "{A} plus {B}", "{A} and {B}", "add {a} and {b}",
          "{a} and {b} together", "{A} + {B}", "sum of {A} and {B}", "{A} plus {b}"),
    "-": ("{a}-{b}", "{a} - {b}", "{a} minus {b}", "{A} minus {B}", "{A} take away {B}",
          "{A} less {B}", "subtract {b} from {a}"),
    "x": ("{a}x{b}", "{a} x {b}", "{a} times {b}", "{A} times {B}", "{a}*{b}", "{a} * {b}",
          "multiply {a} and {b}", "{A} multiplied by {B}"),
    "/": ("{a}/{b}", "{a} / {b}", "{a} divided by {b}", "{A} divided by {B}", "{a} : {b}"),
}  # fmt: skip


def _small(rng: random.Random) -> tuple[int, str, int, int]:
    sign = rng.choice("+++--xxx/")
    if sign in "x/":
        a, b = rng.randint(2, 10), rng.randint(2, 10)
        return (a, sign, b, a * b) if sign == "x" else (a * b, sign, b, a)
    a, b = rng.choice(((rng.randint(1, 9), rng.randint(1, 9)),
                       (rng.randint(1, 20), rng.randint(1, 20)),
                       (rng.randint(10, 60), rng.randint(1, 40))))  # fmt: skip
    if sign == "-":
        a, b = max(a, b), min(a, b)
    return a, sign, b, a + b if sign == "+" else a - b


def _x(rng: random.Random, a: int, sign: str, b: int) -> str:
    words = {"a": a, "b": b, "A": in_words(a), "B": in_words(b)}
    return rng.choice(SMALL[sign]).format_map(words)


CHECKS = {
    "+": "{r} - {b} = {a}",
    "-": "{r} + {b} = {a}",
    "x": "{r} / {b} = {a}",
    "/": "{r} x {b} = {a}",
}


def small(rng: random.Random) -> Task:
    a, sign, b, r = _small(rng)
    x = _x(rng, a, sign, b)
    leads = LEADS if not x.startswith(("add", "sub", "mul", "sum")) else ("", "please ", "ok, ")
    question = asked(rng, tuple(f"{lead}{{x}}" for lead in leads), x=x)
    key = key_of(a, sign, b, plain(question))
    check = CHECKS[sign].format(a=a, b=b, r=r)
    if sign in "+-" and reserved(key) != reserved(key_of(r, "-" if sign == "+" else "+", b, "")):
        check = ""
    return Task(key, question, solved(a, sign, b), str(r), check,
                tuple(re.findall(r"[\w-]+", x)))  # fmt: skip


JUST = (
    "{x}, just the [number|result|answer]", "just the [number|result|answer]: {x}", "{x}, only the "
    "[number|result|answer]", "only the [number|result|answer] please: {x}",
    "{x}. [only|just] a number",
    "answer with just [the|a] number: {x}",
    "[what is|what's] {x}? [just|only] the number[| please]",
    "reply with one number: {x}", "{x} (number only)", "{x} no explanation", "{x}, no words",
    "answer "
    "only with the [number|result]: {x}", "in one word: [what is |]{x}", "{x} - one number please",
    "{x}, short answer", "[what's|what is] {x}, no steps[| please]", "{x} without explaining",
    "give me only the result of {x}", "nothing but the number: {x}", "{x}? just say the number",
)  # fmt: skip


def just_number(rng: random.Random) -> Task:
    """A number and nothing else, where somebody wants that."""
    a, sign, b, r = _small(rng)
    if rng.random() < 0.12:
        a = 2 * rng.randint(1, 50)
        x, r, key = f"half of {a}", a // 2, f"half of {a}"
        working = f"{quantities.part_steps('half', a)[0]} So half of {a} is {r}."
    else:
        x = _x(rng, a, sign, b)
        key = key_of(a, sign, b, f"just {x}")
        working = solved(a, sign, b)
    question = asked(rng, JUST, x=x)
    return Task(key, question, f"{r}.", str(r), "", tuple(re.findall(r"[\w-]+", x)), working)


KINDS: dict[Kind, float] = {
    parts: 20, comparing: 16, of_three: 5, long_sums: 13, long_products: 10, roots: 6, negatives: 4,
    tenths: 4, fractions: 4, missing: 10, rows: 11, numbers_of: 9, romans: 5, clock: 8, calendar: 6,
    ages: 2, percent_of: 3, units: 5, degrees: 2, shapes: 3, small: 9, just_number: 7,
}  # fmt: skip


def draw(rng: random.Random, held_out: bool) -> Task:
    while True:
        (kind,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
        task = kind(rng)
        if reserved(task.key) == held_out:
            return task._replace(answer=sentence(task.answer))


# --- what is asked of a result --------------------------------------------------------------------

SURE = (
    "are you sure", "sure", "r u sure", "are you really sure", "is that right", "is that correct",
    "really", "are you certain", "can you check that", "check it", "check that please",
    "double check",
    "you sure about that", "is this true", "i don't believe you", "prove it", "hm, are you sure",
)  # fmt: skip
HOW = (
    "how did you get that", "how do you know", "why", "how come", "show your work",
    "show me the steps",
    "explain", "explain that", "how did you do that", "how", "step by step please",
    "show the steps",
    "how do you get to {r}", "why {r}", "how is it {r}", "how did you work it out", "why is that",
    "can you explain how", "explain how you got {r}",
)  # fmt: skip
ONLY = (
    "just the number", "just the number please", "only the result", "just the result", "shorter",
    "only the number", "so what is it", "so the answer is", "and the result", "in one word",
    "just the answer", "i only need the number", "the result please", "short answer please",
)  # fmt: skip
WRONG = (
    "no, it is {w}", "i think it is {w}", "isn't it {w}", "is it not {w}", "i say {w}",
    "that's wrong, "
    "it's {w}", "my calculator says {w}", "not {w}", "i thought {w}", "really? i get {w}",
    "my friend says {w}",
)  # fmt: skip
AGAIN = (
    "again but with {k}", "and with {k}", "now with {k}", "the same with {k}", "what about {k}",
    "and for {k}", "and {k}", "do it again with {k}", "how about {k}", "same for {k}", "now {k}",
    "ok and {k}", "and if it was {k}",
)  # fmt: skip
ANOTHER = ("and {x}", "and what is {x}", "what about {x}", "and {x} then", "ok, {x}", "now {x}",
           "{x}", "next: {x}", "thanks. {x}", "and how much is {x}")  # fmt: skip


def _said(rng: random.Random, forms: Sequence[str], **words: object) -> str:
    text = asked(rng, forms, **words)
    way = rng.random()
    if way < 0.35:
        return text.lower().rstrip(".")
    if way < 0.6:
        return text.lower().rstrip(".?")
    return text


def after(rng: random.Random, task: Task) -> tuple[str, str]:
    """A follow-up to a result, and what is answered."""
    way = rng.random()
    steps = re.sub(r"^Let me work out [^.]*\. ", "", task.working or task.answer)
    if way < 0.3:
        said = _said(rng, SURE)
        if task.check:
            return said, f"Yes, I am sure. I checked it the other way: {task.check}."
        return said, f"Yes, I went through it again: {steps}"
    if way < 0.58:
        return _said(rng, HOW, r=task.result), f"I worked it out like this: {steps}"
    if way < 0.75 and not task.working:
        return _said(rng, ONLY), f"{sentence(task.result)}."
    if re.fullmatch(r"\d+", task.result):
        r = int(task.result)
        wrong = max(0, r + rng.choice((-10, -2, -1, 1, 2, 10, 5)))
        if wrong != r:
            return _said(rng, WRONG, w=wrong), (
                f"I went through it again and get {r}, not {wrong}: {steps}"
            )
    return _said(rng, SURE), f"Yes, I went through it again: {steps}"


def _again(rng: random.Random) -> Conversation | None:
    """A sum or a part, and the same with another number."""
    way = rng.random()
    turns: list[str] = []
    if way < 0.55:
        part = rng.choice(("half", "half", "half", "double", "double", "quarter"))
        by = {"half": 2, "quarter": 4, "double": 1}[part]
        form = rng.choice(OF_PART[part][:2])
        for i in range(rng.choice((2, 2, 3))):
            a = (
                by * rng.randint(2, 100 // by)
                if rng.random() < 0.6
                else 10 * by * rng.randint(1, 10)
            )
            key = key_of(a, "+", a, "") if part == "double" else f"{part} of {a}"
            if reserved(key):
                return None
            if part == "double":
                steps, name, r = f"{times_steps(2, a)}", "double", 2 * a
                answer = f"{steps} So double {a} is {r}."
                if a <= 100:
                    answer = (
                        f"To double {a}, I add {a} to itself. {added(a, a)} Double {a} is {2 * a}."
                    )
            else:
                steps, r = quantities.part_steps(part, a)
                name = "half" if part == "half" else "a quarter"
                answer = f"{steps} So {name} of {a} is {r}."
            question = _said(rng, (rng.choice(LEADS) + form,), a=a) if not i else (
                _said(rng, (*AGAIN, "[and |]of {k}") if part != "double" else AGAIN, k=a)
            )  # fmt: skip
            turns += [question, answer]
        return chat(*turns)
    a, sign, b, r = _small(rng)
    turns = []
    for i in range(rng.choice((2, 2, 3))):
        if i:
            a, sign, b, r = _small(rng)
        if reserved(key_of(a, sign, b, "")):
            return None
        x = _x(rng, a, sign, b)
        question = _said(rng, ("{x}", "what is {x}", "what's {x}") if not i else ANOTHER, x=x)
        turns += [question, solved(a, sign, b)]
    return chat(*turns)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if not held_out and rng.random() < 0.1:
        while (found := _again(rng)) is None:
            pass
        return found
    task = draw(rng, held_out)
    as_asked = Asked(task.key, sentence(task.question), task.answer, task.keep)
    turns = [typed(rng, as_asked), task.answer]
    if held_out:
        return chat(*turns)
    way = rng.random()
    if way < 0.24:
        turns += after(rng, task)
    elif way < 0.32 and re.fullmatch(r"\d+", task.result):
        result = int(task.result)
        for _ in range(rng.choice((1, 1, 2))):
            if found_next := quantities.next_step(rng, result):
                question, answer, result = found_next
                turns += [question, answer]
    return chat(*turns)
