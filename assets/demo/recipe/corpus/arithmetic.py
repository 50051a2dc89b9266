"""Sums, tables and counting, worked out from left to right as a tiny model can follow them.

Sums and differences of numbers up to 100 are kept apart by their two numbers: a reserved pair is
never added (or taken away) anywhere in the training text, in either order. What is learned by
heart (sums of two digits, the tables) is trained throughout; there only the wording of a fact is
reserved.
"""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import quantities
from assets.demo.recipe.corpus.quantities import FOOD, MONEY, PEOPLE, PRICED, THINGS, someone
from assets.demo.recipe.corpus.school import Asked, Kinds, reserved, typed
from assets.demo.recipe.corpus.steps import MEANS, Step, several, step
from assets.demo.recipe.corpus.steps import added as added
from assets.demo.recipe.corpus.steps import divided as divided
from assets.demo.recipe.corpus.steps import in_words as in_words
from assets.demo.recipe.corpus.steps import key_of as key_of
from assets.demo.recipe.corpus.steps import multiplied as multiplied
from assets.demo.recipe.corpus.steps import solved as solved
from assets.demo.recipe.corpus.steps import taken as taken
from assets.demo.recipe.corpus.steps import worked as worked
from assets.demo.recipe.corpus.text import Conversation, chat, listed, sentence, with_article

# --- the four, asked -----------------------------------------------------------------------------

SUMS = (
    "{a}+{b}", "{a}+{b}", "{a} + {b}", "{a} + {b}?", "{a}+{b}=?", "{a} + {b} =", "{a} + {b} = ?",
    "What is {a} + {b}?", "What is {a} + {b}?", "What's {a}+{b}?", "What's {a} + {b}?",
    "{a} plus {b}", "{a} plus {b}?", "What is {a} plus {b}?", "What's {a} plus {b}?",
    "How much is {a} and {b}?", "How much is {a} + {b}?", "How much is {a} plus {b}?",
    "Calculate {a} + {b}.", "Calculate {a}+{b}", "Compute {a} + {b}.", "Solve {a} + {b}.",
    "Work out {a} + {b}.", "Add {a} and {b}.", "Add {b} to {a}.", "Can you add {a} and {b}?",
    "What is the sum of {a} and {b}?", "Sum of {a} and {b}", "What do {a} and {b} make?",
    "What do you get if you add {a} and {b}?", "Please add {a} and {b}.",
    "Can you work out {a} + {b}?", "Do you know what {a} + {b} is?", "What does {a} + {b} equal?",
    "{a} and {b} is how much?", "What is {a} and {b} together?", "I need the sum of {a} and {b}.",
    "How do I add {a} and {b}?", "{A} plus {B}", "What is {A} plus {B}?",
    "How much is {A} and {B}?",
)  # fmt: skip
DIFFERENCES = (
    "{a}-{b}", "{a}-{b}", "{a} - {b}", "{a} - {b}?", "{a}-{b}=?", "{a} - {b} =", "{a} - {b} = ?",
    "What is {a} - {b}?", "What is {a} - {b}?", "What's {a}-{b}?", "What's {a} - {b}?",
    "{a} minus {b}", "{a} minus {b}?", "What is {a} minus {b}?", "What's {a} minus {b}?",
    "How much is {a} - {b}?", "How much is {a} minus {b}?", "How much is {a} less {b}?",
    "Calculate {a} - {b}.", "Calculate {a}-{b}", "Compute {a} - {b}.", "Solve {a} - {b}.",
    "Work out {a} - {b}.", "Subtract {b} from {a}.", "Take {b} away from {a}.",
    "Can you subtract {b} from {a}?", "What is {a} take away {b}?", "{a} take away {b}",
    "What is left of {a} if I take away {b}?", "Can you work out {a} - {b}?",
    "Do you know what {a} - {b} is?", "What does {a} - {b} equal?",
    "What do you get if you take {b} from {a}?", "How do I subtract {b} from {a}?",
    "{A} minus {B}", "What is {A} minus {B}?", "How much is {A} minus {B}?",
)  # fmt: skip
PRODUCTS = (
    "{a}x{b}", "{a} x {b}", "{a} x {b}?", "{a}*{b}", "{a} * {b}", "{a}*{b}=?", "{a} x {b} = ?",
    "What is {a} x {b}?", "What is {a} * {b}?", "What's {a}x{b}?", "What's {a} * {b}?",
    "{a} times {b}", "{a} times {b}?", "What is {a} times {b}?", "What's {a} times {b}?",
    "How much is {a} times {b}?", "How much is {a} x {b}?", "Calculate {a} x {b}.",
    "Calculate {a} * {b}.", "Compute {a} x {b}.", "Solve {a} x {b}.", "Work out {a} x {b}.",
    "Multiply {a} by {b}.", "Multiply {a} and {b}.", "Can you multiply {a} by {b}?",
    "What is the product of {a} and {b}?", "{a} multiplied by {b}",
    "What is {a} multiplied by {b}?", "Can you work out {a} x {b}?",
    "Do you know what {a} x {b} is?", "What does {a} x {b} equal?",
    "{A} times {B}", "What is {A} times {B}?", "How much is {A} times {B}?",
)  # fmt: skip
SQUARES = ("What is {a} squared?", "{a} squared", "What is the square of {a}?", "Square {a}.")
QUOTIENTS = (
    "{a}/{b}", "{a} / {b}", "{a} / {b}?", "{a}/{b}=?", "{a} / {b} = ?", "{a} : {b}",
    "What is {a} / {b}?", "What's {a}/{b}?", "{a} divided by {b}", "{a} divided by {b}?",
    "What is {a} divided by {b}?", "What's {a} divided by {b}?", "How much is {a} / {b}?",
    "How much is {a} divided by {b}?", "Calculate {a} / {b}.", "Compute {a} / {b}.",
    "Solve {a} / {b}.", "Work out {a} / {b}.", "Divide {a} by {b}.", "Can you divide {a} by {b}?",
    "How many times does {b} go into {a}?", "How often does {b} fit into {a}?",
    "Can you work out {a} / {b}?", "What does {a} / {b} equal?", "Share {a} among {b}.",
    "{A} divided by {B}", "What is {A} divided by {B}?",
)  # fmt: skip


def _words(a: int, b: int) -> dict[str, object]:
    return {
        "a": a,
        "b": b,
        "A": in_words(a) if a <= 100 else a,
        "B": in_words(b),
    }


def calculation(a: int, sign: str, b: int, wording: str) -> Asked:
    words = _words(a, b)
    keep = (str(words["A"]), str(words["B"])) if "{A}" in wording else ()
    question = sentence(wording.format_map(words))
    return Asked(key_of(a, sign, b, wording), question, solved(a, sign, b), keep)


def _two(rng: random.Random) -> tuple[int, int]:
    """Two numbers from 0 to 100: often digits, mostly of two digits, now and then an edge."""
    way = rng.random()
    if way < 0.22:
        return rng.randint(1, 9), rng.randint(1, 9)
    if way < 0.40:
        pair = [rng.randint(1, 9), rng.randint(10, 99)]
        rng.shuffle(pair)
        return pair[0], pair[1]
    if way < 0.46:
        return 10 * rng.randint(1, 10), 10 * rng.randint(1, 10)
    if way < 0.52:
        pair = [rng.choice((0, 100)), rng.randint(0, 100)]
        rng.shuffle(pair)
        return pair[0], pair[1]
    return rng.randint(10, 99), rng.randint(10, 99)


def sums(rng: random.Random) -> Asked:
    a, b = _two(rng)
    return calculation(a, "+", b, rng.choice(SUMS))


def _from_larger(rng: random.Random) -> tuple[int, int]:
    """Two numbers for a difference: seldom one below zero."""
    a, b = _two(rng)
    if rng.random() < 0.15:  # what is learned by heart: 13 - 8
        b = rng.randint(2, 9)
        a = b + rng.randint(2, 9)
    return (a, b) if a >= b or rng.random() < 0.25 else (b, a)


def differences(rng: random.Random) -> Asked:
    a, b = _from_larger(rng)
    return calculation(a, "-", b, rng.choice(DIFFERENCES))


def _factor(rng: random.Random) -> int:
    return rng.randint(2, 12) if rng.random() < 0.94 else rng.choice((0, 1))


def products(rng: random.Random) -> Asked:
    a, b = _factor(rng), _factor(rng)
    if rng.random() < 0.2:  # two digits times one
        b = rng.randint(2, 9)
        a = rng.randint(13, min(99, 200 // b))
        a, b = (a, b) if rng.random() < 0.7 else (b, a)
    if rng.random() < 0.04:
        return calculation(a, "x", a, rng.choice(SQUARES))
    return calculation(a, "x", b, rng.choice(PRODUCTS))


def quotients(rng: random.Random) -> Asked:
    times, b = rng.randint(1, 12), rng.randint(2, 12)
    if rng.random() < 0.05:
        b = 1
    elif rng.random() < 0.45:
        b = rng.choice((2, 2, 3, 3, 4, 4, 5, 6, 7, 8))
        times = rng.randint(11, 99 // b)
    left = rng.randrange(1, b) if b > 1 and rng.random() < 0.2 else 0
    a = times * b + left
    if rng.random() < 0.02:
        a = 0
    return calculation(a, "/", b, rng.choice(QUOTIENTS))


BY_ZERO = ("What is {a} / 0?", "{a}/0", "{a} divided by 0", "Divide {a} by zero.", "{a} / 0 = ?")


def by_zero(rng: random.Random) -> Asked:
    a = rng.randint(1, 100)
    question = rng.choice(BY_ZERO).format(a=a)
    answer = (
        f"{a} / 0 has no answer. No number times zero makes {a}, so nothing can be divided by zero."
    )
    return Asked(question, question, answer)


TABLES = (
    "Say the {b} times table.", "What is the {b} times table?", "{b} times table",
    "Show me the {b} times table.", "Tell me the table of {b}.", "Times table of {b}",
    "Can you say the {B} times table?", "Multiples of {b}", "What are the multiples of {b}?",
    "List the first twelve multiples of {b}.", "What is the row of {b}?", "Do you know the {b}s?",
)  # fmt: skip


def tables(rng: random.Random) -> Asked:
    b = rng.randint(2, 12)
    wording = rng.choice(TABLES)
    row = listed(str(n * b) for n in range(1, 13))
    answer = f"The {b} times table goes {row}. So 12 x {b} = {12 * b}."
    return Asked(f"table {b}|{wording}", wording.format_map(_words(b, b)), answer)


# --- doubles, halves and other parts -------------------------------------------------------------

DOUBLES = (
    "Double {a}.", "What is double {a}?", "What is twice {a}?", "Twice {a}", "Double of {a}",
    "What is the double of {a}?", "How much is twice {a}?", "What do you get if you double {a}?",
    "Can you double {a}?", "{a} doubled", "What is {a} doubled?",
)  # fmt: skip


def doubles(rng: random.Random) -> Asked:
    a = rng.randint(1, 100) if rng.random() < 0.75 else rng.randint(1, 12)
    wording = rng.choice(DOUBLES)
    answer = f"To double {a}, I add {a} to itself. {added(a, a)} Double {a} is {2 * a}."
    return Asked(key_of(a, "+", a, wording), wording.format(a=a), answer)


def rounds(rng: random.Random) -> Asked:
    """Doubles of round numbers beyond 100."""
    a = 10 * rng.randint(11, 50) if rng.random() < 0.5 else 100 * rng.randint(1, 10)
    wording = rng.choice(DOUBLES)
    hundreds, rest = a - a % 100, a % 100
    if rest and hundreds:
        answer = (
            f"{a} is {hundreds} and {rest}. Double {hundreds} is {2 * hundreds}, and double {rest} "
            f"is {2 * rest}. {2 * hundreds} and {2 * rest} make {2 * a}. So double {a} is {2 * a}."
        )
    else:
        answer = f"{a} and {a} make {2 * a}. So double {a} is {2 * a}."
    return Asked(f"double {a}|{wording}", wording.format(a=a), answer)


# --- counting ------------------------------------------------------------------------------------

COUNTS = (
    "Count from {a} to {b}.", "Count from {a} to {b}", "Can you count from {a} to {b}?",
    "Please count from {a} up to {b}.", "List the numbers from {a} to {b}.",
    "Write the numbers from {a} to {b}.", "Say the numbers from {a} to {b}.",
    "What are the numbers from {a} to {b}?", "Numbers from {a} to {b}", "Count from {A} to {B}.",
    "Start at {a} and count to {b}.",
)  # fmt: skip
COUNTS_UP = (
    "Count to {b}.", "Count to {b}", "Can you count to {b}?", "Count up to {b}.",
    "Please count to {b}.", "Count to {B}.", "Can you count to {B}?", "Say the numbers up to {b}.",
    "Let's count to {b}.", "I want you to count to {b}.",
)  # fmt: skip
COUNTS_DOWN = (
    "Count backwards from {a}.", "Count down from {a}.", "Countdown from {a}",
    "Can you count backwards from {a}?", "Can you count down from {a}?",
    "Count from {a} down to 1.", "Count back from {A}.", "Count down from {A}.",
    "Please count backwards from {a} to 1.", "Start at {a} and count down.",
)  # fmt: skip
STEPS = {2: "twos", 3: "threes", 4: "fours", 5: "fives", 10: "tens"}
COUNTS_BY = (
    "Count by {steps} to {b}.", "Count in {steps} to {b}.", "Can you count by {steps} to {b}?",
    "Count up to {b} in {steps}.", "Count to {b} by {steps}.", "Count by {steps} up to {b}.",
    "Please count in {steps} up to {b}.", "Count in steps of {step} to {b}.",
)  # fmt: skip


def counting(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.2:
        a = rng.randint(0, 20) if rng.random() < 0.5 else rng.randint(1, 90)
        b = min(a + rng.randint(3, 18), 100)
        wording = rng.choice(COUNTS)
        numbers, lead = range(a, b + 1), f"Counting from {a} to {b}:"
    elif way < 0.60:
        a, b = 1, rng.choice((5, 10, 10, 10, 12, 15, 20, 20, 20, 30, rng.randint(3, 30)))
        wording = rng.choice(COUNTS_UP)
        numbers, lead = range(1, b + 1), f"Counting to {b}:"
    elif way < 0.80:
        a, b = rng.choice((5, 10, 10, 10, 20, 20, rng.randint(3, 25))), 1
        wording = rng.choice(COUNTS_DOWN)
        numbers, lead = range(a, 0, -1), f"Counting down from {a}:"
    elif way < 0.97:
        a = rng.choice(tuple(STEPS))
        b = a * (rng.randint(5, 10) if rng.random() < 0.6 else 10)
        wording = rng.choice(COUNTS_BY).replace("{steps}", STEPS[a]).replace("{step}", str(a))
        numbers, lead = range(a, b + 1, a), f"Counting by {STEPS[a]} to {b}:"
    else:
        a, b = 1, 100
        wording = rng.choice(COUNTS_UP)
        numbers, lead = range(10, 101, 10), "Counting to 100 is a long way, so I go by tens:"
    text = f"{lead} {', '.join(map(str, numbers))}."
    words = _words(a, b)
    keep = (str(words["A"]), str(words["B"])) if "{A}" in wording or "{B}" in wording else ()
    question = wording.format_map(words)
    return Asked(question.rstrip(".?"), question, text, keep if "{A}" in wording else keep[1:])


# --- what numbers are like -----------------------------------------------------------------------

EVEN_OR_ODD = (
    "Is {a} even or odd?", "Is {a} odd or even?", "{a}: even or odd?", "Even or odd: {a}",
    "Is the number {a} even or odd?", "Tell me if {a} is even or odd.",
    "What kind of number is {a}, even or odd?",
)  # fmt: skip
IS_IT = (
    "Is {a} {kind}?", "Is {a} an {kind} number?", "Is the number {a} {kind}?",
    "Can you tell me if {a} is {kind}?", "Would you say {a} is {kind}?", "Is {A} {kind}?",
)  # fmt: skip


def even_or_odd(rng: random.Random) -> Asked:
    a = rng.randint(0, 100)
    truth, other = ("odd", "even") if a % 2 else ("even", "odd")
    ends = "odd numbers end in 1, 3, 5, 7 or 9" if a % 2 else "even numbers end in 0, 2, 4, 6 or 8"
    because = f"{a} is {truth}, because it ends in {a % 10}, and {ends}."
    if rng.random() < 0.5:
        question = rng.choice(EVEN_OR_ODD).format(a=a)
        return Asked(question, question, because)
    asked = rng.choice((truth, other))
    question = rng.choice(IS_IT).format_map({**_words(a, a), "kind": asked})
    return Asked(question, question, f"{'Yes' if asked == truth else 'No'}, {because}")


LARGER = {
    "larger": (
        "Which is larger, {a} or {b}?", "Which is bigger, {a} or {b}?", "Is {a} or {b} larger?",
        "What is more, {a} or {b}?", "Which number is greater, {a} or {b}?", "Is {a} or {b} more?",
        "Which of {a} and {b} is the larger number?", "What is bigger: {a} or {b}?",
    ),
    "smaller": (
        "Which is smaller, {a} or {b}?", "Is {a} or {b} smaller?", "What is less, {a} or {b}?",
        "Which number is smaller, {a} or {b}?", "What is smaller: {a} or {b}?",
        "Which of {a} and {b} is the smaller number?", "Which is less, {a} or {b}?",
    ),
    "?": (
        "Is {a} larger than {b}?", "Is {a} more than {b}?", "Is {a} bigger than {b}?",
        "Is {a} greater than {b}?", "Is it true that {a} is larger than {b}?",
        "is {a} bigger than {b}", "is {a} more than {b}", "{a} > {b}?", "is {a} higher than {b}",
    ),
}  # fmt: skip


def _compared(a: int, b: int) -> str:
    """What shows which is larger; a verdict follows it, so that it need not be guessed. The digits
    are compared from the left, and the first that differ decide."""
    digits = {1: "one digit", 2: "two digits", 3: "three digits", 4: "four digits"}
    if len(str(a)) != len(str(b)):
        high = max(a, b)
        more = f"{high} has more digits"
        return f"{a} has {digits[len(str(a))]}, and {b} has {digits[len(str(b))]}: {more}"
    if a < 10:
        return f"When you count, {min(a, b)} comes before {max(a, b)}"
    same: list[str] = []
    for name, place in (("hundreds", 100), ("tens", 10)):
        if a < place:
            continue
        one, other = a // place % 10, b // place % 10
        said = [f"{n} {name[:-1] if n == 1 else name}" for n in (one, other)]
        if one != other:
            lead = f"Both have {listed(same)}. " if same else ""
            more = f"{max(one, other)} is more than {min(one, other)}"
            return f"{lead}{a} has {said[0]}, and {b} has {said[1]}: {more}"
        same.append(said[0])
    one, other = a % 10, b % 10
    more = f"{max(one, other)} is more than {min(one, other)}"
    return f"Both have {listed(same)}, and the ones are {one} and {other}: {more}"


def comparing(rng: random.Random) -> Asked:
    a, b = rng.sample(range(101) if rng.random() < 0.8 else range(21), 2)
    if rng.random() < 0.15 and a % 10 and a < 100:
        b = a % 10 * 10 + a // 10  # the digits the other way round
        b = b if b != a else a + 1
    way = rng.choice((*LARGER, "?"))
    question = rng.choice(LARGER[way]).format(a=a, b=b)
    high, low = max(a, b), min(a, b)
    verdict = {
        "larger": f"{high} is larger than {low}", "smaller": f"{low} is smaller than {high}",
        "?": f"{high} is larger than {low}, and the answer is {'yes' if a > b else 'no'}",
    }[way]  # fmt: skip
    return Asked(question, question, f"{_compared(a, b)}. So {verdict}.")


IS_MORE = (
    "Is {x} more than {n}?", "is {x} more than {n}", "Is {x} larger than {n}?",
    "Is {x} greater than {n}?", "is {x} bigger than {n}?", "Is {x} over {n}?",
    "Does {x} make more than {n}?", "is {x} > {n}?", "{x} more than {n}?",
)  # fmt: skip
IS_LESS = (
    "Is {x} less than {n}?", "Is {x} smaller than {n}?", "is {x} less than {n}", "is {x} < {n}?",
    "Does {x} make less than {n}?", "Is {x} under {n}?", "{x} less than {n}?",
)  # fmt: skip
IS_EQUAL = (
    "Is {x} {n}?", "is {x} = {n}?", "Is {x} equal to {n}?", "is {x}={n}", "Does {x} make {n}?",
    "Is it true that {x} is {n}?", "{x} is {n}, right?", "is {x} really {n}",
)  # fmt: skip


def checking(rng: random.Random) -> Asked:
    """Whether a sum or a product is more than, less than or just some number."""
    sign = rng.choice("++-x")
    if sign == "x":
        a, b = rng.randint(2, 10), rng.randint(2, 10)
    else:
        a, b = rng.randint(2, 60), rng.randint(2, 40)
        a, b = max(a, b), min(a, b)
    made = {"+": a + b, "-": a - b, "x": a * b}[sign]
    wordings, holds = rng.choice(((IS_MORE, 1), (IS_MORE, 1), (IS_LESS, -1), (IS_EQUAL, 0)))
    n = max(0, made + rng.choice((0, rng.randint(-12, 12), rng.choice((-5, -2, -1, 1, 2, 5)))))
    said = f"{a} {sign} {b}" if rng.random() < 0.6 else f"{a}{sign}{b}"
    right = (made > n) - (made < n)
    relation = {1: "more than", -1: "less than", 0: "exactly"}[right]
    steps = solved(a, sign, b)
    answer = f"{steps} {'Yes' if right == holds else 'No'}, {made} is {relation} {n}."
    wording = rng.choice(wordings)
    return Asked(key_of(a, sign, b, wording), sentence(wording.format(x=said, n=n)), answer)


NEXT = (
    "What comes after {a}?", "What number comes after {a}?", "Which number comes after {a}?",
    "What is the next number after {a}?", "What is one more than {a}?", "The number after {a}",
    "Which number follows {a}?", "Next number after {a}?", "What is the number after {A}?",
)  # fmt: skip
PREVIOUS = (
    "What comes before {a}?", "What number comes before {a}?", "Which number comes before {a}?",
    "What is the number before {a}?", "What is one less than {a}?", "The number before {a}",
    "Which number is just before {a}?", "Previous number of {a}?", "What comes just before {A}?",
)  # fmt: skip
BETWEEN = (
    "What number is between {a} and {b}?", "Which number is between {a} and {b}?",
    "What comes between {a} and {b}?", "The number between {a} and {b}",
    "What whole number lies between {a} and {b}?",
)  # fmt: skip


def neighbours(rng: random.Random) -> Asked:
    a = rng.randint(1, 100)
    way = rng.random()
    words = _words(a, a)
    if way < 0.42:
        question = rng.choice(NEXT).format_map(words)
        answer = f"After {a} comes {a + 1}. It is one more than {a}."
    elif way < 0.84:
        question = rng.choice(PREVIOUS).format_map(words)
        answer = f"Before {a} comes {a - 1}. It is one less than {a}."
    else:
        question = rng.choice(BETWEEN).format(a=a, b=a + 2)
        answer = f"Between {a} and {a + 2} is {a + 1}. It comes after {a} and before {a + 2}."
    return Asked(question, question, answer)


UPWARDS = (
    "Put {n} in order.", "Put these numbers in order: {n}", "Sort {n}.",
    "Sort these numbers: {n}", "Order {n} from smallest to largest.",
    "Arrange {n} from small to large.", "Sort the numbers {n}.",
    "Can you put {n} in order?", "What is the right order of {n}?",
)  # fmt: skip
DOWNWARDS = (
    "Order {n} from largest to smallest.", "Sort {n} from large to small.",
    "Put {n} in order, the largest first.", "Arrange {n} from largest to smallest.",
)  # fmt: skip
EXTREMES = {
    "largest": (
        "What is the largest of {n}?", "Which is the largest number: {n}?",
        "Find the largest number in {n}.", "What is the biggest of {n}?", "Maximum of {n}",
    ),
    "smallest": (
        "What is the smallest of {n}?", "Which is the smallest number: {n}?",
        "Find the smallest number in {n}.", "Minimum of {n}",
    ),
}  # fmt: skip


def ordering(rng: random.Random) -> Asked:
    numbers = rng.sample(range(1, 100) if rng.random() < 0.7 else range(1, 21), 4)
    plain = ", ".join(map(str, numbers))
    text = plain if rng.random() < 0.6 else listed(map(str, numbers))
    low, high = min(numbers), max(numbers)
    way = rng.random()
    if way < 0.5:
        question = rng.choice(UPWARDS).format(n=text)
        answer = (
            f"From smallest to largest, the order is {listed(map(str, sorted(numbers)))}. "
            f"The smallest is {low}, and the largest is {high}."
        )
    elif way < 0.7:
        question = rng.choice(DOWNWARDS).format(n=text)
        answer = (
            f"From largest to smallest, the order is "
            f"{listed(map(str, sorted(numbers, reverse=True)))}. "
            f"The largest is {high}, and the smallest is {low}."
        )
    else:
        kind = rng.choice(tuple(EXTREMES))
        question = rng.choice(EXTREMES[kind]).format(n=text)
        best = high if kind == "largest" else low
        answer = f"The {kind} of {listed(map(str, numbers))} is {best}."
    return Asked(question, question, answer)


TO_WORDS = (
    "Write {a} in words.", "How do you write {a} in words?", "Spell the number {a}.",
    "What is {a} in words?", "{a} in words", "How do you say {a}?",
    "Write the number {a} as a word.",    "How is {a} written in words?",
)  # fmt: skip
TO_DIGITS = (
    "Write {A} in digits.", "Write {A} as a number.", "What is {A} in digits?",
    "{A} in digits", "How do you write {A} with digits?", "Write the number {A} in figures.",
    "Which number is {A}?",
)  # fmt: skip


def number_words(rng: random.Random) -> Asked:
    a = rng.randint(0, 100)
    word = in_words(a)
    made = ""
    if 20 < a < 100 and a % 10:
        made = f" It is made of {a // 10} tens and {a % 10} one{'s' if a % 10 > 1 else ''}."
    if rng.random() < 0.55:
        question = rng.choice(TO_WORDS).format(a=a)
        return Asked(question, question, f"{a} in words is {word}.{made}")
    question = sentence(rng.choice(TO_DIGITS).format(A=word))
    return Asked(question, question, f"{sentence(word)} in digits is {a}.{made}", (word,))


# --- word problems -------------------------------------------------------------------------------

PROBLEMS = (
    # sign, the story and the question, what follows from it; {c} is the result
    ("+", "{n} has {a} {t}. {he} gets {b} more. How many {t} does {n} have now?",
     "{n} has {c} {t} now.", "apples pears marbles stickers books cards shells stamps"),
    ("+", "{n} has {a} red {t} and {b} blue {t}. How many {t} does {n} have?",
     "{n} has {c} {t}.", "marbles pens balloons buttons beads blocks"),
    ("+", "There are {a} {t} in a field, and {b} more come. How many {t} are in the field?",
     "There are {c} {t} in the field.", "cows sheep horses goats birds rabbits"),
    ("+", "{n} read {a} pages on Monday and {b} pages on Tuesday. How many pages is that?",
     "{n} read {c} pages.", "pages"),
    ("+", "A bus has {a} people in it. At a stop {b} people get on. How many are on the bus?",
     "There are {c} people on the bus.", "people"),
    ("+", "{n} walks {a} steps, rests, and then walks {b} steps. How many steps does {he_} walk?",
     "{n} walks {c} steps.", "steps"),
    ("+", "A baker makes {a} {t} in the morning and {b} {t} later. How many {t} is that?",
     "The baker makes {c} {t}.", "rolls cakes loaves pies buns"),
    ("+", "One box holds {a} {t} and another box holds {b} {t}. How many {t} are there?",
     "There are {c} {t}.", "eggs pencils cups nails toys lemons"),
    ("+", "{n} saves {a} coins and finds {b} more. How many coins does {he_} have?",
     "{n} has {c} coins.", "coins"),
    ("+", "A class has {a} girls and {b} boys. How many children are in the class?",
     "There are {c} children in the class.", "children"),
    ("+", "{n} picks {a} {t}, and a friend picks {b} {t}. How many {t} do they have together?",
     "Together they have {c} {t}.", "flowers cherries plums berries apples nuts"),
    ("-", "{n} has {a} {t} and gives away {b}. How many {t} are left?",
     "{n} has {c} {t} left.", "apples marbles stickers cards sweets shells"),
    ("-", "There are {a} {t} on a tree. {b} of them fly away. How many {t} stay?",
     "{c} {t} stay on the tree.", "birds crows sparrows owls"),
    ("-", "A shop has {a} {t} and sells {b}. How many {t} are left?",
     "The shop has {c} {t} left.", "lamps books hats chairs bikes kites"),
    ("-", "{n} has {a} coins and spends {b}. How many coins does {he_} still have?",
     "{n} still has {c} coins.", "coins"),
    ("-", "A book has {a} pages. {n} has read {b} of them. How many pages are left?",
     "There are {c} pages left.", "pages"),
    ("-", "There are {a} people on a train. {b} get off. How many people are still on it?",
     "There are still {c} people on the train.", "people"),
    ("-", "{n} bakes {a} {t}, and the family eats {b} of them. How many {t} are left?",
     "There are {c} {t} left.", "cookies pancakes buns pies muffins"),
    ("-", "A jar has {a} {t} in it. {n} takes out {b}. How many {t} are still in the jar?",
     "There are still {c} {t} in the jar.", "buttons beans coins sweets nuts"),
    ("-", "{n} needs {a} {t} and already has {b}. How many more {t} does {he_} need?",
     "{n} needs {c} more {t}.", "bricks tickets nails beads eggs"),
    ("-", "A rope is {a} meters long. {n} cuts off {b} meters. How long is the rope now?",
     "The rope is {c} meters long now.", "meters"),
    ("-", "{n} is {b} years old, and {his_} uncle is {a}. How many years older is the uncle?",
     "The uncle is {c} years older.", "years"),
    ("x", "{n} has {a} bags with {b} {t} in each. How many {t} are there?",
     "There are {c} {t}.", "apples oranges marbles nuts potatoes"),
    ("x", "A room has {a} rows of {b} chairs. How many chairs is that?",
     "There are {c} chairs.", "chairs"),
    ("x", "There are {a} {t}, and each has {b} flowers. How many flowers are there?",
     "There are {c} flowers.", "vases pots gardens bushes"),
    ("x", "{n} reads {b} pages a day. How many pages does {he_} read in {a} days?",
     "{n} reads {c} pages in {a} days.", "pages"),
    ("x", "One {t} costs {b} coins. How much do {a} of them cost?",
     "They cost {c} coins.", "ticket pen cup ball bun"),
    ("x", "There are {a} boxes. Each box holds {b} {t}. How many {t} are there?",
     "There are {c} {t}.", "eggs pencils candles cups lemons"),
    ("x", "{n} runs {b} miles every week. How many miles is that in {a} weeks?",
     "{n} runs {c} miles in {a} weeks.", "miles"),
    ("x", "A farmer plants {a} rows of trees with {b} trees in each row. How many trees is that?",
     "The farmer plants {c} trees.", "trees"),
    ("/", "{n} shares {a} {t} among {b} friends. How many {t} does each friend get?",
     "Each friend gets {c} {t}.", "apples sweets cookies cards grapes"),
    ("/", "{a} children make {b} teams of the same size. How many children are in a team?",
     "There are {c} children in a team.", "children"),
    ("/", "{n} puts {a} {t} into boxes of {b}. How many boxes does {he_} fill?",
     "{n} fills {c} boxes.", "eggs toys books pens lemons"),
    ("/", "A rope of {a} meters is cut into {b} equal pieces. How long is each piece?",
     "Each piece is {c} meters long.", "meters"),
    ("/", "{n} reads {b} pages a day. How many days does {he_} need for {a} pages?",
     "{n} needs {c} days.", "pages"),
    ("/", "{a} flowers are put into {b} vases, the same number in each. How many are in a vase?",
     "There are {c} flowers in each vase.", "flowers"),
    ("/", "{b} people pay {a} coins together, and all pay the same. How much does each pay?",
     "Each pays {c} coins.", "coins"),
)  # fmt: skip


# What happens to the things that somebody has: the sign, the verb now, after "he" and in the past,
# and what it may happen to.
DEEDS = (
    ("-", "eat", "eats", "ate", FOOD), ("-", "eat", "eats", "ate", FOOD),
    ("-", "give away", "gives away", "gave away", f"{FOOD} {THINGS}"),
    ("-", "lose", "loses", "lost", THINGS), ("-", "sell", "sells", "sold", f"{FOOD} {THINGS}"),
    ("-", "break", "breaks", "broke", "cups plates eggs toys lamps glasses pencils"),
    ("-", "use", "uses", "used", "eggs candles stamps tickets pencils balloons"),
    ("-", "drop", "drops", "dropped", "eggs plates glasses coins apples"),
    ("-", "spend", "spends", "spent", "coins dollars euros pounds"),
    ("+", "buy", "buys", "bought", f"{FOOD} {THINGS}"), ("+", "get", "gets", "got", THINGS),
    ("+", "find", "finds", "found", THINGS), ("+", "pick", "picks", "picked", FOOD),
)  # fmt: skip
OWN = (
    "{S} {have} {a} {t} and {do} {b}. How many {t} {has_s} {s} {left}?",
    "{S} {have} {a} {t} and {do} {b}. How many are {there}?",
    "{S} {have} {a} {t} and {do} {b}, how many {left_}?",
    "{S} {have} {a} {t} and {do} {b} how many {left_}",
    "{S} {have} {a} {t} and {s} {do} {b}. How many {t} {has_s} {s} {left}?",
    "{S} {have} {a} {t}, {s} {do} {b}, how many are {there}?",
    "If {s} {have} {a} {t} and {do} {b}, how many {has_s} {s} {left}?",
    "If {s} {have} {a} {t} and {do} {b}, how many {t} are {there}?",
    "{a} {t}, {s} {do} {b}, how many are {there}?",
    "{S} had {a} {t} and {did} {b}. How many now?",
    "{S} had {a} {t}, {did} {b}. How many {t} are {there}?",
    "{S} {have} {a} {t}. {S} {do} {b} of them. How many are {there}?",
)


def own_problems(rng: random.Random) -> Asked:
    """What "I have" or somebody has and does, as people type it."""
    sign, do, does, did, things = rng.choice(DEEDS)
    most = rng.choice((12, 20, 60))
    b = rng.randint(1, most // 2)
    a = b + rng.randint(1, most // 2) if sign == "-" else rng.randint(2, most // 2)
    c = a - b if sign == "-" else a + b
    name, _, _ = rng.choice(PEOPLE)
    mine = rng.random() < 0.65
    wording = rng.choice([w for w in OWN if sign == "-" or "of them" not in w])
    t = rng.choice(things.split())
    question = wording.format(
        S="I" if mine else name, s="I" if mine else name, have="have" if mine else "has",
        do=do if mine else does, did=did, has_s="do" if mine else "does", a=a, t=t,
        b=f"{b} more" if sign == "+" and rng.random() < 0.6 else b,
        left="have left" if sign == "-" else "have now", there="left" if sign == "-" else "there",
        left_="left" if sign == "-" else "now",
    )  # fmt: skip
    steps = worked(a, sign, b)
    task = "" if steps.startswith(f"{a} {sign} {b} ") else f"{a} {sign} {b}. "
    owner = "You have" if mine else f"{name} has"
    thing = t.removesuffix("es") if t.endswith(("oes", "xes", "ches", "sses")) else t[:-1]
    thing = {"cherries": "cherry", "strawberries": "strawberry"}.get(t, thing)
    count = f"{c} {thing if c == 1 else t}"
    closing = f"{owner} {count} left." if sign == "-" else f"{owner} {count} now."
    answer = f"Here we {MEANS[sign]}: {task}{steps} {closing}"
    return Asked(key_of(a, sign, b, f"own {do} {t}"), question, answer)


# What holds things, how the things lie in it, and what they may be.
HOLDERS = (
    ("bag", "in each", f"{FOOD} {THINGS}"), ("box", "in each", f"{FOOD} {THINGS}"),
    ("basket", "in each", FOOD), ("bowl", "in each", FOOD), ("plate", "on each", FOOD),
    ("jar", "in each", "cookies sweets nuts beans buttons coins pickles"),
    ("shelf", "on each", "books cups toys shells bottles"), ("table", "on each", "cups plates"),
    ("room", "in each", "chairs tables lamps beds windows"), ("tree", "on each", "birds apples"),
    ("page", "on each", "stickers stamps pictures words"), ("pocket", "in each", "coins keys"),
    ("car", "in each", "people children dogs"), ("team", "in each", "players children"),
    ("row", "in each", "chairs trees seats carrots"), ("pack", "in each", "cards pens eggs"),
    ("child", "for each", f"{FOOD} balloons pencils"), ("nest", "in each", "eggs"),
    ("vase", "in each", "flowers roses tulips"), ("bus", "in each", "people children"),
)  # fmt: skip
EACH = (
    "{S} {have} {a} {hs} with {b} {t} {in_each}. How many {t} {do} {s} have?",
    "{S} {have} {a} {hs} with {b} {t} {in_each} one. How many {t} is that?",
    "{S} {have} {a} {hs} and {b} {t} {in_each}. How many {t} altogether?",
    "{a} {hs} with {b} {t} {in_each}, how many {t}?",
    "{a} {hs}, {b} {t} {in_each}. How many {t} in total?",
    "{a} {hs} with {b} {t} {in_each} one. How many {t} are there in all?",
    "There are {a} {hs} with {b} {t} {in_each}. How many {t} are there?",
    "There are {a} {hs}, and there are {b} {t} {in_each} of them. How many {t} in all?",
    "If there are {b} {t} {in_each} {h}, how many {t} are there in {a} {hs}?",
    "If {s} {have} {a} {hs} with {b} {t} {in_each}, how many {t} {do} {s} have?",
    "how many {t} are {a} {hs} with {b} {t} {in_each}",
    "{S} {fill} {a} {hs} with {b} {t} {in_each}. How many {t} {do} {s} need?",
)
SHARE = (
    "{S} {have} {c} {t} and {put} the same number {in_}to {a} {hs}. How many {t} are {in_each}?",
    "{S} {share} {c} {t} among {a} friends. How many does each friend get?",
    "{c} {t} are shared by {a} children. How many does each child get?",
    "{S} {have} {c} {t} for {a} children. How many does each child get?",
    "{S} {put} {c} {t} {in_}to {a} {hs}, how many are {in_each}?",
    "{c} {t} {in_} {a} {hs}, the same in all. How many are {in_each}?",
    "How many {t} does each of {a} children get if there are {c} {t}?",
    "{c} {t}, {a} friends, how many for each",
    "{a} friends share {c} {t}. How many does each of them get?",
)


def grouped_problems(rng: random.Random) -> Asked:
    """Things in equal groups: how many there are, or how many in each."""
    holder, in_each, things = rng.choice(HOLDERS)
    a, b = rng.randint(2, 10), rng.randint(2, 10)
    c, t = a * b, rng.choice(things.split())
    name, _, _ = rng.choice(PEOPLE)
    mine = rng.random() < 0.4
    many = {"shelf": "shelves", "child": "children"}.get(holder, holder + "s")
    many = many if holder not in ("box", "bus") else holder + "es"
    wordings = SHARE if rng.random() < 0.4 and holder != "child" else EACH
    wording = rng.choice(wordings)
    question = wording.format(
        S="I" if mine else name, s="I" if mine else name, have="have" if mine else "has",
        fill="fill" if mine else "fills", put="put" if mine else "puts",
        share="share" if mine else "shares", do="do" if mine else "does", a=a, b=b, c=c, t=t,
        h=holder, hs=many, in_each=in_each, in_=in_each.split()[0],
    )  # fmt: skip
    key = f"{holder} {t} {name}"
    if wordings is EACH:
        steps, closing = worked(a, "x", b), f"There are {c} {t} in all."
        task = "" if steps.startswith(f"{a} x {b} ") else f"{a} x {b}. "
        return Asked(key_of(a, "x", b, key), question, f"Here we multiply: {task}{steps} {closing}")
    who = "friend" if "friend" in wording else "child" if "child" in wording else ""
    closing = f"Each {who} gets {b} {t}." if who else f"There are {b} {t} {in_each} {holder}."
    answer = f"Here we divide: {c} / {a}. {worked(c, '/', a)} {closing}"
    return Asked(key_of(c, "/", a, key), question, answer)


# What is worked out, and its two steps in their order ("r" is the result of the first).
ORDERS = (
    ("{a} + {b} {x} {c}", "b x c", "a + r"), ("{a} + {b} {x} {c}", "b x c", "a + r"),
    ("{a} {x} {b} + {c}", "a x b", "r + c"), ("{a} {x} {b} - {c}", "a x b", "r - c"),
    ("{a} - {b} {x} {c}", "b x c", "a - r"), ("({a} + {b}) {x} {c}", "a + b", "r x c"),
    ("({a} - {b}) {x} {c}", "a - b", "r x c"), ("{a} {x} ({b} + {c})", "b + c", "a x r"),
    ("{a} + {b} + {c}", "a + b", "r + c"), ("{a} + {b} - {c}", "a + b", "r - c"),
    ("{a} - {b} - {c}", "a - b", "r - c"), ("{a} - {b} + {c}", "a - b", "r + c"),
)  # fmt: skip
ASK_ORDERS = (
    "{t}", "{t}?", "{t} =", "{t} = ?", "What is {t}?", "what's {t}", "How much is {t}?",
    "Calculate {t}.", "Work out {t}.", "Compute {t}", "Solve {t}", "what does {t} make",
    "What is {t}, and why?", "Which comes first in {t}?", "can you calculate {t}?",
)  # fmt: skip


def orders(rng: random.Random) -> Asked:
    """Two signs in one task: brackets first, then times, then from left to right."""
    while True:
        form, *parts = rng.choice(ORDERS)
        times = "{x}" in form
        most = 9 if times else 40
        values = {name: rng.randint(2, most) for name in "abc"}
        if form.startswith(("{a} - {b}", "{a} +")) and times:
            values["a"] = rng.randint(1, 60)
        steps: list[Step] = []
        for part in parts:
            one, sign, other = part.split()
            steps.append((values[one], sign, values[other]))
            a, _, b = steps[-1]
            values["r"] = {"+": a + b, "-": a - b, "x": a * b}[sign]
            if values["r"] < 0 or values["r"] > 100 or (sign == "x" and max(a, b) > 12):
                break
        else:
            break
    sign = rng.choice("xx**")
    task = form.format(x=sign, **values)
    lead = "The brackets come first. " if "(" in form else ""
    if times and not lead:
        lead = "Times comes before plus and minus. "
    typed_task = task.replace(" ", "") if rng.random() < 0.35 else task
    question = rng.choice(ASK_ORDERS).format(t=typed_task)
    closing = f"So {task.replace('*', 'x')} = {values['r']}."
    if "(" in form:
        closing = f"So the result is {values['r']}."
    return several(question, steps, closing, lead or "From left to right. ") or orders(rng)


ADD_THREE = (
    "{a}+{b}+{c}", "{a} + {b} + {c}", "{a} + {b} + {c}?", "What is {a} + {b} + {c}?",
    "what's {a}+{b}+{c}", "What is {a} plus {b} plus {c}?", "{a} plus {b} plus {c}",
    "Add {a}, {b} and {c}.", "Can you add {a}, {b} and {c}?", "Please add up {a}, {b} and {c}.",
    "What is the sum of {a}, {b} and {c}?", "Sum of {a}, {b} and {c}", "How much is {a}+{b}+{c}?",
    "Add up {a}, {b}, {c}", "What do {a}, {b} and {c} make together?", "add {a} and {b} and {c}",
    "How much are {a}, {b} and {c} together?", "calculate {a} + {b} + {c}", "{a}, {b}, {c} summed",
    "I have {a}, {b} and {c}. What is the total?", "Total of {a}, {b} and {c}?",
)  # fmt: skip


def sums_of_three(rng: random.Random) -> Asked:
    """Three numbers, added from left to right."""
    most = rng.choice((5, 9, 20, 40))
    a, b, c = (rng.randint(1, most) for _ in range(3))
    if rng.random() < 0.15:
        b = c = a
    question = rng.choice(ADD_THREE).format(a=a, b=b, c=c)
    steps: list[Step] = [(a, "+", b), (a + b, "+", c)]
    closing = f"So {a} + {b} + {c} = {a + b + c}."
    return several(question, steps, closing, "From left to right. ") or sums_of_three(rng)


COSTS = (
    "A {t} costs {b} {m}. How much do {a} people pay?", "One {t} costs {b} {m}. What do {a} cost?",
    "A {t} costs {b} {m}. What do {a} friends pay together?",
    "{a} people buy a {t} for {b} {m} each. How much is it?",
    "If a {t} costs {b} {m}, how much is it for {a} people?",
    "{n} buys a {t} for each of {a} friends. One costs {b} {m}. How much does {n} pay?",
    "A {t} is {b} {m}. We are {a} people. What do we pay?", "{b} {m} for a {t}, how much for {a}?",
    "Each of {a} people pays {b} {m} for a {t}. How much money is that?",
    "a {t} is {b} {m}, how much are {a} of them",
    "We are {a} and a {t} is {b} {m}. What is the total?",
)  # fmt: skip
CHANGE = (
    "{n} buys {a} {ts} for {b} {m} each and pays with {p} {m}. How much does {n} get back?",
    "{a} {ts} cost {b} {m} each. {n} has {p} {m}. How much is left?",
    "I have {p} {m} and buy {a} {ts} for {b} {m} each. How much do I have left?",
)
OLDER = (
    # what is asked, the sign (of x and k) and the answer
    ("{n} is {x} years old. {o} is {k} years older. How old is {o}?", "+", "{o} is {r} years old."),
    ("{n} is {x}. {o} is {k} years older than {n}. How old is {o}?", "+", "{o} is {r} years old."),
    ("{o} is {k} years older than {n}. {n} is {x}. How old is {o}?", "+", "{o} is {r} years old."),
    ("If {n} is {x} and {o} is {k} years older, how old is {o}?", "+", "{o} is {r} years old."),
    ("{n} is {x} years old. {o} is {k} years younger. How old is {o}?", "-",
     "{o} is {r} years old."),
    ("{n} is {x}. {o} is {k} years younger than {n}. How old is {o}?", "-",
     "{o} is {r} years old."),
    ("{n} is {x} and {k} years older than {o}. How old is {o}?", "-", "{o} is {r} years old."),
    ("{n} is {x} years old and {o} is {k}. How much older is {n}?", "-", "{n} is {r} years older."),
    ("{n} is {x} now. How old will {n} be in {k} years?", "+", "{n} will be {r} years old."),
    ("{n} is {x} now. How old was {n} {k} years ago?", "-", "{n} was {r} years old."),
    ("I am {x}. My {s} is {k} years older. How old is my {s}?", "+", "Your {s} is {r} years old."),
    ("I am {x}, my {s} is {k} years younger. How old is my {s}?", "-",
     "Your {s} is {r} years old."),
    ("My {s} is {k} years older than me and I am {x}. How old is my {s}?", "+",
     "Your {s} is {r} years old."),
    ("I am {x} years old. How old will I be in {k} years?", "+", "You will be {r} years old."),
    ("{n} is {x}. {o} is twice as old. How old is {o}?", "2", "{o} is {r} years old."),
    ("{o} is twice as old as {n}, and {n} is {x}. How old is {o}?", "2", "{o} is {r} years old."),
    ("{n} is {x}. {o} is half as old. How old is {o}?", "h", "{o} is {r} years old."),
)  # fmt: skip
TWO_STEPS = (
    # the story, its steps, the answer; the numbers a, b and c, "r" the first result
    ("{n} has {a} {t}, gets {b} more and gives away {c}. How many {t} does {n} have now?",
     "a + b", "r - c", "{n} has {r} {t} now."),
    ("{n} has {a} {t}, loses {b} and finds {c}. How many {t} does {n} have?",
     "a - b", "r + c", "{n} has {r} {t}."),
    ("I have {a} {t}, I get {b} more and lose {c}. How many are left?",
     "a + b", "r - c", "You have {r} {t} left."),
    ("{n} has {a} bags with {b} {t} each and gives away {c}. How many {t} are left?",
     "a x b", "r - c", "There are {r} {t} left."),
    ("{n} has {a} boxes of {b} {t} and {c} more {t}. How many {t} is that?",
     "a x b", "r + c", "That is {r} {t}."),
    ("There are {a} red, {b} blue and {c} green {t}. How many {t} are there?",
     "a + b", "r + c", "There are {r} {t}."),
    ("There were {a} {t}. {n} took {b} and {o} took {c}. How many are left?",
     "a - b", "r - c", "There are {r} {t} left."),
    ("{n} has {a} {t}. {o} has {b} more than {n}. How many do they have together?",
     "a + b", "a + r", "Together they have {r} {t}."),
)  # fmt: skip


def one_more_step(rng: random.Random) -> Asked:
    """Prices, ages, and what takes two steps."""
    way = rng.random()
    names = {"n": someone(rng), "o": someone(rng), "t": rng.choice(THINGS.split())}
    names["s"] = rng.choice(("sister", "brother", "cousin", "friend", "mother", "uncle"))
    if names["n"] == names["o"]:
        return one_more_step(rng)
    if way < 0.35:
        a, b = rng.randint(2, 10), rng.randint(2, 12 if rng.random() < 0.7 else 20)
        thing, money = rng.choice(PRICED), rng.choice(MONEY)
        values = {**names, "a": a, "b": b, "t": thing, "m": money, "ts": _many(thing)}
        if way < 0.25:
            question = rng.choice(COSTS).format_map(values)
            asked = several(question, [(a, "x", b)], f"Together that is {a * b} {money}.")
            return asked or one_more_step(rng)
        b = rng.randint(2, 9)
        left = rng.randint(1, 100 - a * b)
        paid = next((p for p in (20, 50, 100) if p > a * b), 100) if way < 0.32 else a * b + left
        question = rng.choice(CHANGE).format_map({**values, "b": b, "p": paid})
        steps: list[Step] = [(a, "x", b), (paid, "-", a * b)]
        asked = several(question, steps, f"There {_are(paid - a * b, money)} left.")
        return asked or one_more_step(rng)
    if way < 0.7:
        form, sign, closing = rng.choice(OLDER)
        k = rng.randint(2, 12) if rng.random() < 0.7 else rng.randint(12, 30)
        x = rng.randint(4, 60) if sign != "-" else k + rng.randint(3, 40)
        x = 2 * rng.randint(2, 40) if sign == "h" else rng.randint(3, 45) if sign == "2" else x
        one: Step = {"+": (x, "+", k), "-": (x, "-", k), "2": (x, "+", x), "h": (x, "/", 2)}[sign]
        values = {**names, "x": x, "k": k}
        r = {"+": x + k, "-": x - k, "2": 2 * x, "h": x // 2}[sign]
        asked = several(form.format_map(values), [one], closing.format_map({**values, "r": r}))
        return asked or one_more_step(rng)
    form, first, second, closing = rng.choice(TWO_STEPS)
    small = rng.random() < 0.6
    while True:
        numbers = {key: rng.randint(2, 12 if small else 40) for key in "abc"}
        if "x" in first:
            numbers["a"], numbers["b"] = rng.randint(2, 9), rng.randint(2, 10)
        steps = []
        for part in (first, second):
            left_one, sign, right_one = part.split()
            a, b = numbers[left_one], numbers[right_one]
            steps.append((a, sign, b))
            numbers["r"] = {"+": a + b, "-": a - b, "x": a * b}[sign]
            if not 1 < numbers["r"] <= 100:
                break
        else:
            break
    values = {**names, **numbers}
    asked = several(form.format_map(values), steps, closing.format_map(values))
    return asked or one_more_step(rng)


def _many(thing: str) -> str:
    return f"{thing}es" if thing.endswith(("x", "ch", "sh")) else f"{thing}s"


def _are(number: int, money: str) -> str:
    return f"is 1 {money[:-1]}" if number == 1 else f"are {number} {money}"


def problems(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.25:
        return own_problems(rng)
    if way < 0.45:
        return grouped_problems(rng)
    if way < 0.8:
        return one_more_step(rng)
    story = rng.randrange(len(PROBLEMS))
    sign, question, closing, things = PROBLEMS[story]
    most = 60 if rng.random() < 0.5 else 20
    if sign == "+":
        a, b = rng.randint(2, most), rng.randint(2, 40 if most == 60 else 20)
        c = a + b
    elif sign == "-":
        b = rng.randint(2, most // 2)
        a = b + rng.randint(2, 40 if most == 60 else 15)
        c = a - b
    elif sign == "x":
        a, b = rng.randint(2, 10), rng.randint(2, 12)
        c = a * b
    else:
        b, c = rng.randint(2, 10), rng.randint(2, 12)
        a = b * c
    name, he, his = rng.choice(PEOPLE)
    words = {
        "n": name, "he": sentence(he), "he_": he, "his_": his, "a": a, "b": b, "c": c,
        "t": rng.choice(things.split()),
    }  # fmt: skip
    steps = worked(a, sign, b)
    task = "" if steps.startswith(f"{a} {sign} {b} ") else f"{a} {sign} {b}. "
    answer = f"Here we {MEANS[sign]}: {task}{steps} {closing}"
    key = key_of(a, sign, b, f"{story} {name}")
    return Asked(key, question.format_map(words), answer.format_map(words))


# --- what is too much ----------------------------------------------------------------------------

BEYOND = (
    "{x} is too much for me. I learned to reckon with numbers up to a thousand or so.",
    "Sorry, {x} is beyond me. I only learned to reckon with numbers up to a thousand or so.",
    "I would only be guessing at {x}. What I know are small sums, products and quotients.",
    "{x} is more than I learned. A calculator does that better than a tiny model.",
    "I cannot do {x}. I am a tiny model, and a calculator is better at that.",
)
OFFERS = ("Shall I work out {o}?", "But I can work out {o}, if you like.", "Would {o} do instead?")
AGREED = (
    "Yes", "Yes, please.", "Ok", "Sure", "Yes, do that.", "Go on.", "Please do.", "Good, do it.",
    "All right.", "Yes, go ahead.",
)  # fmt: skip
FRAMES = (
    "What is {x}?", "{x}", "What's {x}?", "Calculate {x}.", "Work out {x}.", "How much is {x}?",
)  # fmt: skip


def _large(rng: random.Random) -> int:
    return rng.randint(1001, rng.choice((2000, 9999, 99999)))


def _too_much(rng: random.Random) -> tuple[str, str]:
    """A question that is out of range, and what to call it."""
    way = rng.randrange(10)
    small, digit = rng.randint(2, 99), rng.randint(2, 9)
    if way <= 1:
        pair = [_large(rng), rng.choice((small, _large(rng)))]
        rng.shuffle(pair)
        x = f"{pair[0]} + {pair[1]}"
    elif way == 2:
        x = f"{_large(rng)} - {small}"
    elif way <= 4:
        pair = [rng.randint(111, 999), small + 110]
        rng.shuffle(pair)
        x = f"{pair[0]} {rng.choice('x*')} {pair[1]}"
    elif way == 5:
        x = f"{_large(rng)} / {rng.randint(11, 60)}"
    elif way == 6:
        x = f"{small}.{digit}{rng.randint(1, 9)} {rng.choice('x*')} {rng.randint(1, 20)}.{digit}"
    elif way == 7:
        x = f"the square root of {rng.choice((150, 200, 500, 1000, 777, 1234, 345, 98765))}"
    elif way == 8:
        x = f"{rng.choice((3, 7, 13, 17, 33, 37, 43, 65, 85))}% of {rng.randint(201, 990)}"
    else:
        x = f"{rng.randint(6, 19)} to the power of {rng.randint(5, 12)}"
    return sentence(rng.choice(FRAMES).format(x=x)), x


def _offer(rng: random.Random) -> tuple[int, str, int]:
    """A calculation that is no secret."""
    while True:
        sign = rng.choice("++-x")
        if sign == "x":
            return rng.randint(3, 12), "x", rng.randint(3, 9)
        a, b = rng.randint(11, 89), rng.randint(11, 89)
        if sign == "-":
            a, b = max(a, b), min(a, b)
        if not reserved(key_of(a, sign, b, "")):
            return a, sign, b


def _refusal(rng: random.Random) -> tuple[Asked, tuple[int, str, int]]:
    question, x = _too_much(rng)
    a, sign, b = _offer(rng)
    offer = rng.choice(OFFERS).format(o=f"{a} {sign} {b}")
    text = sentence(f"{rng.choice(BEYOND)} {offer}".format(x=x))
    return Asked(question, question, text), (a, sign, b)


def too_much(rng: random.Random) -> Asked:
    return _refusal(rng)[0]


# --- percent, rounding, rows, and sums of everyday life -----------------------------------------

AS_PERCENT = (
    "What is {f} as a percentage?", "{f} in percent", "{f} as a percentage",
    "How many percent is {f}?", "Turn {f} into percent.", "what percent is {f}",
    "How much is {f} in percent?", "{f} = ? percent",
)  # fmt: skip
FRACTIONS = {
    "1/2": "50", "1/4": "25", "3/4": "75", "1/5": "20", "2/5": "40", "3/5": "60", "4/5": "80",
    "1/10": "10", "3/10": "30", "7/10": "70", "9/10": "90", "1/100": "1", "a half": "50",
    "one half": "50", "a quarter": "25", "one quarter": "25", "three quarters": "75",
    "a fifth": "20", "a tenth": "10", "0.5": "50", "0.25": "25", "0.75": "75", "0.1": "10",
    "0.2": "20", "0.9": "90", "0.01": "1",
}  # fmt: skip


def as_percent(rng: random.Random) -> Asked:
    fraction = rng.choice(tuple(FRACTIONS))
    percent = FRACTIONS[fraction]
    question = sentence(rng.choice(AS_PERCENT).format(f=fraction))
    return Asked(
        question, question, sentence(f"{fraction} is {percent} percent: {percent} of 100 parts.")
    )


ROUNDING = (
    "Round {a} to the nearest {to}.", "round {a} to the nearest {to}",
    "What is {a} rounded to the nearest {to}?", "Round {a} to {to}s.",
    "{a} rounded to the nearest {to}", "Can you round {a} to the nearest {to}?",
    "What {to} is {a} nearest to?", "{a} to the nearest {to}?",
)  # fmt: skip


def rounding(rng: random.Random) -> Asked:
    """To the nearest ten or hundred; a five goes up."""
    to, name = rng.choice(((10, "ten"), (10, "ten"), (10, "10"), (100, "hundred"), (100, "100")))
    a = rng.randint(11, 99) if to == 10 and rng.random() < 0.8 else rng.randint(101, 999)
    low = a - a % to
    near = low + to * (a % to >= to // 2)
    why = f"{a} lies between {low} and {low + to}"
    if a % to == 0:
        answer = f"{a} is a round number already, so it stays {a}."
    elif a % to == to // 2:
        answer = f"{why}, right in the middle, and then one rounds up. So {a} is rounded to {near}."
    else:
        answer = f"{why}, and it is nearer to {near}. So {a} is rounded to {near}."
    wording = rng.choice([form for form in ROUNDING if name.isalpha() or "s." not in form])
    return Asked(f"round {a} {to}", sentence(wording.format(a=a, to=name)), answer)


GOES_ON = (
    "What comes next: {r}?", "What comes next: {r}, ...", "Continue: {r}",
    "{r}, ... what comes next?", "What is the next number: {r}?", "Continue the row {r}.",
    "Which number comes next: {r}?", "what comes after {r}", "Go on: {r}, ...",
    "Complete the sequence: {r}, ?", "next number: {r}", "Find the next number: {r}, ...", "{r}, ?",
    "How does this row go on: {r}",
)  # fmt: skip


def rows(rng: random.Random) -> Asked:
    """Rows of numbers with a step, or twice as much each time."""
    n = rng.choice((3, 4, 4, 5))
    way = rng.random()
    if way < 0.15:
        first = rng.choice((1, 2, 3, 5))
        row, rule = [first * 2**i for i in range(n + 3)], "is twice the one before"
        sign = "x 2"
    else:
        by = rng.choice((1, 2, 2, 3, 4, 5, 10))
        first = rng.choice((by, 1, rng.randint(0, 20)))
        row, rule = [first + by * i for i in range(n + 3)], f"is {by} more than the one before"
        sign = f"+ {by}"
        if way > 0.85:
            row, rule = row[::-1], f"is {by} less than the one before"
            sign = f"- {by}"
    r = ", ".join(map(str, row[:n]))
    question = rng.choice(GOES_ON).format(r=r)
    more = ", ".join(map(str, row[n + 1 :]))
    last = f"{row[n - 1]} {sign} = {row[n]}"
    answer = f"Each number {rule}: {last}. So {row[n]} comes next, and then {more}."
    mark, _, by_ = sign.partition(" ")
    key = f"row {r}" if mark == "x" else key_of(row[n - 1], mark, int(by_), r)
    return Asked(key, question, answer, (r,))


LEGS = {
    "dog": 4, "cat": 4, "cow": 4, "horse": 4, "sheep": 4, "lion": 4, "elephant": 4, "mouse": 4,
    "hen": 2, "duck": 2, "bird": 2, "owl": 2, "penguin": 2, "spider": 8, "ant": 6, "bee": 6,
    "beetle": 6, "fly": 6, "octopus": 8, "frog": 4, "table": 4, "chair": 4, "child": 2,
}  # fmt: skip
PARTS_OF = {"octopus": "arm"}
HOW_MANY_LEGS = (
    "How many {legs} do {n} {many} have?", "how many {legs} have {n} {many}",
    "{n} {many} have how many {legs}?", "How many {legs} do {n} {many} have together?",
    "Count the {legs} of {n} {many}.", "{legs} of {n} {many}?",
)  # fmt: skip


def legs(rng: random.Random) -> Asked:
    one = rng.choice(tuple(LEGS))
    part, n = PARTS_OF.get(one, "leg"), rng.randint(2, 10)
    many = {
        "sheep": "sheep",
        "mouse": "mice",
        "fly": "flies",
        "octopus": "octopuses",
        "child": "children",
    }.get(one, f"{one}s")
    said = in_words(n) if rng.random() < 0.4 else str(n)
    wording = rng.choice(HOW_MANY_LEGS)
    question = sentence(wording.format(legs=f"{part}s", n=said, many=many))
    answer = (
        f"{sentence(with_article(one))} has {LEGS[one]} {part}s. {step(n, 'x', LEGS[one])} "
        f"So {n} {many} have {n * LEGS[one]} {part}s."
    )
    return Asked(key_of(n, "x", LEGS[one], question), question, answer)


# What is done each day, and for how long: who, how many, what, and what it makes.
DAILY = (
    "{w} reads {n} pages a day. How many pages is that in {time}?|pages",
    "I walk {n} kilometres a day. How many kilometres in {time}?|kilometres",
    "{w} drinks {n} glasses of water every day. How many glasses in {time}?|glasses",
    "Our hens lay {n} eggs a day. How many eggs in {time}?|eggs",
    "{w} learns {n} new words a day. How many words in {time}?|words",
    "if i save {n} euros a day, how much do i have after {time}|euros",
    "{w} eats {n} apples a day. How many apples does that make in {time}?|apples",
    "a baker bakes {n} cakes a day, how many in {time}?|cakes",
    "I sleep {n} hours a night. How many hours is that in {time}?|hours",
    "{w} plants {n} trees a day. How many trees after {time}?|trees",
)  # fmt: skip
SPANS = {
    "one week": 7,
    "a week": 7,
    "7 days": 7,
    "three days": 3,
    "5 days": 5,
    "ten days": 10,
    "four days": 4,
    "10 days": 10,
}


def daily(rng: random.Random) -> Asked:
    form, _, what = rng.choice(DAILY).partition("|")
    time, n = rng.choice(tuple(SPANS)), rng.randint(2, 10)
    days = SPANS[time]
    question = form.format(w=someone(rng), n=n, time=time)
    week = "A week has 7 days. " if "week" in time else ""
    answer = f"{week}Here we multiply: {step(days, 'x', n)} That makes {days * n} {what}."
    return Asked(key_of(days, "x", n, question), sentence(question), answer)


PAID = (
    "A {t} costs {a} {m}. I pay with {b}. How much change do I get?",
    "i pay {a} {m} with a {b}, how much change",
    "The {t} is {a} {m} and I give {b}. What do I get back?",
    "How much change do I get from {b} if the {t} costs {a} {m}?",
    "a {t} costs {a} {m}, i pay with a {b}, change?",
    "I have {b} {m} and buy a {t} for {a}. How much is left?",
    "{w} buys a {t} for {a} {m} and pays with {b}. How much does {w} get back?",
    "I have {b} {m}, a {t} costs {a}. What is left?",
)  # fmt: skip
BOUGHT = (
    "book",
    "ticket",
    "cake",
    "pen",
    "hat",
    "toy",
    "plant",
    "lamp",
    "pizza",
    "ball",
    "game",
    "cup",
    "shirt",
    "map",
)


def change(rng: random.Random) -> Asked:
    """What one gets back, in whole coins."""
    b = rng.choice((5, 10, 20, 20, 50, 100))
    a = rng.randint(1, b - 1)
    money = rng.choice(("euros", "dollars", "coins", "pounds"))
    question = rng.choice(PAID).format(t=rng.choice(BOUGHT), a=a, b=b, m=money, w=someone(rng))
    left = f"1 {money[:-1]}" if b - a == 1 else f"{b - a} {money}"
    verb = "is" if b - a == 1 else "are"
    answer = f"Here we subtract: {step(b, '-', a)} {left} {verb} left."
    return Asked(key_of(b, "-", a, question), sentence(question), answer)


DOZENS = (
    "How many is {n} dozen?", "{n} dozen {t}, how many is that?", "How many {t} are {n} dozen?",
    "what is {n} dozen", "{n} dozen = ?", "How many {t} are in {n} dozen?",
)  # fmt: skip


def dozens(rng: random.Random) -> Asked:
    thing, n = rng.choice(("eggs", "rolls", "roses", "buttons", "cakes")), rng.randint(1, 9)
    if rng.random() < 0.4:
        b = rng.randint(1, 11)
        question = rng.choice(GONE).format(t=thing, b=b)
        return Asked(
            key_of(12, "-", b, question),
            sentence(question),
            f"A dozen is 12. {step(12, '-', b)} {12 - b} {'is' if b == 11 else 'are'} left.",
        )
    said = ("one", "a")[rng.randrange(2)] if n == 1 else rng.choice((str(n), in_words(n)))
    question = sentence(rng.choice(DOZENS).format(n=said, t=thing))
    answer = (
        "A dozen is 12."
        if n == 1
        else f"A dozen is 12, and {n} x 12 = {12 * n}. So {in_words(n)} dozen are {12 * n}."
    )
    return Asked(f"dozen {n} {question}", question, answer)


CENTS = (
    "I have {b} {m} and {t} costs {p}. How much is left?",
    "i have {b} {m}, {t} is {p}, how much is left",
    "{T} costs {p} {m}. I pay with {b}. How much change do I get?",
    "{b} {m} minus {p}, what is left?", "What is {b} minus {p}?", "how much is {b} - {p}",
    "I pay {p} {m} with a {b}. What do I get back?",
    "{T} is {p} {m} and I have {b} {m}, what is left over?", "{b} - {p}", "{b} minus {p}",
)  # fmt: skip
SNACKS = ("an ice cream", "a coffee", "a roll", "a newspaper", "a bus ticket", "a juice", "a pen")


def cents(rng: random.Random) -> Asked:
    """What is left of whole coins after a price with cents, counted up from the price."""
    whole = rng.randint(0, 9)
    part = 5 * rng.randint(1, 19) if rng.random() < 0.3 else 10 * rng.randint(1, 9)
    b = rng.choice((whole + 1, whole + 2, 5, 10, 20))
    if b <= whole:
        return cents(rng)
    price, gap = f"{whole}.{part:02}", f"0.{100 - part:02}"
    money, snack = rng.choice(("euros", "dollars", "pounds")), rng.choice(SNACKS)
    wording = rng.choice(CENTS)
    question = wording.format(b=b, m=money, t=snack, T=sentence(snack), p=price)
    left = f"{b - whole - 1}.{100 - part:02}"
    more = f", and from {whole + 1} to {b} it is {b - whole - 1}" if b > whole + 1 else ""
    unit = f" {money} are left" if "{m}" in wording else f" is the result of {b} - {price}"
    answer = f"From {price} to {whole + 1} it is {gap}{more}. So {left}{unit}."
    return Asked(f"cents {b} {price}", sentence(question), answer, (price,))


IS_PRIME = (
    "Is {n} prime?", "is {n} prime", "Is {n} a prime number?", "is {n} a prime", "{n} prime?",
    "Can you tell me if {n} is prime?", "Is {n} a prime number or not?", "is the number {n} prime",
)  # fmt: skip


def primes(rng: random.Random) -> Asked:
    n = rng.randint(2, 100)
    by = next(d for d in range(2, n + 1) if n % d == 0)
    if by == n:
        answer = f"Yes, {n} is a prime number: only 1 and {n} divide it."
    else:
        answer = f"No, {n} is not a prime number, because {by} x {n // by} = {n}."
    question = rng.choice(IS_PRIME).format(n=n)
    return Asked(f"prime {n} {question}", question, answer)


GONE = (
    "a dozen {t} minus {b}", "I had a dozen {t} and {b} broke. How many are left?",
    "A dozen {t}, {b} are gone. How many now?", "A dozen {t} less {b} is how many?",
)  # fmt: skip
DECIMALS = (
    "What is larger, {a} or {b}?", "what is bigger, {a} or {b}", "Which is more: {a} or {b}?",
    "{a} or {b}, what is more?", "Is {a} larger than {b}?", "is {a} more than {b}",
    "Which is the larger number, {a} or {b}?",
)  # fmt: skip


def decimals(rng: random.Random) -> Asked:
    """Two numbers below one: the tenths are compared first, then the hundredths."""
    a, b = rng.sample(range(5, 100, 5) if rng.random() < 0.7 else range(1, 100), 2)
    said = {n: f"0.{n:02}".rstrip("0") for n in (a, b)}
    wording = rng.choice(DECIMALS)
    high, low = max(a, b), min(a, b)
    why = f"{said[high]} is {high} hundredths, and {said[low]} is only {low}."
    answer = f"{said[high]} is larger than {said[low]}: {why}"
    if wording.lower().startswith("is"):
        answer = f"{'Yes' if a > b else 'No'}, {answer}"
    return Asked(f"decimals {low} {high}", wording.format(a=said[a], b=said[b]), answer)


KINDS = Kinds({
    quantities.percentages: 9, quantities.discounts: 4, quantities.parts_of: 14,
    quantities.conversions: 16, quantities.rates: 10, quantities.stories: 34,
    as_percent: 1.5, rounding: 3, rows: 5, legs: 2.5, daily: 3, change: 4, dozens: 1.5,
    decimals: 2, cents: 3, primes: 2.5, sums_of_three: 7,
    sums: 24, differences: 18, products: 17, quotients: 20, by_zero: 0.5, tables: 1.5, doubles: 4,
    rounds: 2, orders: 9, counting: 18, even_or_odd: 2.5,
    comparing: 5, neighbours: 3,
    ordering: 2.5, number_words: 2.5, problems: 20, checking: 3, too_much: 3,
})  # fmt: skip
MORE = ("And {x}?", "and {x}", "And what is {x}?", "What about {x}?", "Now {x}.", "Ok, and {x}?")


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if not held_out and rng.random() < 0.03:  # an offer that is taken
        asked, (a, sign, b) = _refusal(rng)
        while reserved(asked.key):
            asked, (a, sign, b) = _refusal(rng)
        yes = typed(rng, Asked("", rng.choice(AGREED), ""))
        return chat(typed(rng, asked), asked.answer, yes, solved(a, sign, b))
    asked = KINDS.draw(rng, held_out)
    turns = [typed(rng, asked), asked.answer]
    if held_out:
        return chat(*turns)
    way = rng.random()
    if way < 0.06:
        a, sign, b = _offer(rng)
        x = f"{a}{sign}{b}" if rng.random() < 0.3 else f"{a} {sign} {b}"
        turns += [typed(rng, Asked("", rng.choice(MORE).format(x=x), "")), solved(a, sign, b)]
    elif way < 0.2:
        return _chain(rng)
    return chat(*turns)


def _chain(rng: random.Random) -> Conversation:
    """A calculation, and what is done with its result one thing after another."""
    asked = Kinds({sums: 4, differences: 3, products: 5, quantities.parts_of: 1}).draw(rng, False)
    turns = [typed(rng, asked), asked.answer]
    last = re.search(r"(?:=|of \d+ is) (\d+)\.(?! .*= \d)", asked.answer)
    if last is None or "minus" in asked.answer:
        return _chain(rng)
    result, steps = int(last[1]), rng.choice((1, 1, 2, 2, 3))
    for _ in range(40):  # a result may be one that nothing fits
        if len(turns) > 2 * steps:
            break
        if found := quantities.next_step(rng, result):
            question, answer, result = found
            turns += [question, answer]
    return chat(*turns)
