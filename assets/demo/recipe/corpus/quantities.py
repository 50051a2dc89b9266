"""Sums that come with a story or a unit: percentages, conversions, speeds and prices, and word
problems of two steps.

The working always stands before its result: a small model that writes from left to right computes
in the working, and what it says before that would be a guess.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus.school import Asked, reserved
from assets.demo.recipe.corpus.steps import Step, in_words, several, step
from assets.demo.recipe.corpus.subjects import rare_name
from assets.demo.recipe.corpus.text import (
    FORMS,
    alternative,
    listed,
    read_sections,
    sentence,
    with_article,
)

# --- percentages ---------------------------------------------------------------------------------

PERCENTS = (
    "[what's|what is|whats|calculate|work out|compute|tell me|how much is|] {p}[%| percent] of {a}",
    "[what's|what is|how much is] {p}[%| percent] of {a}?",
    "[can you calculate|can you work out|do you know] {p}[%| percent] of {a}?",
    "{p}[%| percent| per cent] [of|from] {a}[|?| =| = ?|, please]",
    "if i take {p}[%| percent] of {a}, [what do i get|how much is it|what is that]?",
    "{p}% tip on [a bill of|] {a} [euros|dollars], how much [is that|is it]?",
    "a {t} costs {a} euros. how much is {p}[%| percent] of that?",
    "{a}, and {p}[%| percent] of it[?| is how much?]",
)  # fmt: skip
DISCOUNTS = (
    "a {t} costs {a} euros and [is {p}% off|gets {p}% cheaper]. what does it cost[| now]?",
    "a {t} for {a} euros with {p}% off, [how much is that|what do i pay]?",
    "[what is|how much is] {a} minus {p}%?", "{a} euros minus {p} percent",
    "there is {p}% off a {t} of {a} dollars. what is the new price?",
)  # fmt: skip
RAISES = (
    "[what is|how much is] {a} plus {p}%?", "{a} euros plus {p} percent",
    "a {t} costs {a} euros and becomes {p}% [dearer|more expensive]. what does it cost now?",
    "a bill of {a} dollars plus {p}% tip, [how much is that|what do i pay]?",
)  # fmt: skip
GOODS = (
    "coat", "bike", "lamp", "table", "phone", "chair", "jacket", "book", "game", "watch", "bag",
    "tent", "sofa", "camera", "hat", "guitar", "pair of shoes", "rug", "radio", "clock",
)  # fmt: skip
SHARES = (1, 100, 5, 10, 10, 15, 15, 20, 20, 25, 25, 30, 40, 50, 60, 70, 75, 80, 90)


def percent_steps(p: int, a: int) -> tuple[str, int]:
    """How `p` percent of `a` is found, and the result, which has to be a whole number."""
    result = a * p // 100
    if p == 100:
        return f"100% of {a} is all of it.", result
    if p == 1:
        return f"1% is one of a hundred, and {a} / 100 = {result}.", result
    if p == 50:
        return f"50% is one half, and {a} / 2 = {result}.", result
    if p in (25, 75):
        half, quarter = a // 2, a // 4
        text = f"25% is a quarter, half of the half: half of {a} is {half}, and half of {half} is "
        text += f"{quarter}."
        return (text if p == 25 else f"{text} 75% is 3 x {quarter} = {result}."), result
    tenth = a // 10
    text = f"10% of {a} is a tenth, and {a} / 10 = {tenth}."
    if p == 10:
        return text, result
    if p in (5, 15):
        text += f" 5% is half of that, and {tenth} / 2 = {tenth // 2}."
        more = f" 15% is 10% and 5%: {tenth} and {tenth // 2} make {result}."
        return text + (more if p == 15 else ""), result
    times = p // 10
    return f"{text} {p}% is {times} times that, and {times} x {tenth} = {result}.", result


def _share(rng: random.Random) -> tuple[int, int]:
    """A percentage, and a round number of which it is whole."""
    p = rng.choice(SHARES)
    if p in (25, 75):
        a = 4 * rng.randint(1, 12) if rng.random() < 0.4 else 20 * rng.randint(1, 15)
    elif p in (1, 100):
        a = 100 * rng.randint(1, 9)
    elif p in (5, 15):
        a = 20 * rng.randint(1, 15)
    else:
        a = 10 * rng.randint(1, 25) if rng.random() < 0.8 else 100 * rng.randint(1, 9)
    return p, a


def percentages(rng: random.Random) -> Asked:
    p, a = _share(rng)
    question = alternative(rng, rng.choice(PERCENTS)).format(p=p, a=a, t=rng.choice(GOODS))
    steps, result = percent_steps(p, a)
    return Asked(f"{p}% of {a}", tidy(question), f"{steps} So {p}% of {a} is {result}.")


def discounts(rng: random.Random) -> Asked:
    """A price that goes down or up by a percentage."""
    p, a = _share(rng)
    steps, part = percent_steps(p, a)
    sign, forms = rng.choice((("-", DISCOUNTS), ("-", DISCOUNTS), ("+", RAISES)))
    result = a - part if sign == "-" else a + part
    if p > 50 or p == 1 or a > 200:
        return discounts(rng)
    question = alternative(rng, rng.choice(forms)).format(p=p, a=a, t=rng.choice(GOODS))
    unit = next((unit for unit in ("euros", "dollars") if unit in question), "")
    last = several(question, [(a, sign, part)], f"So it is {result}{unit and f' {unit}'}.")
    if last is None:
        return discounts(rng)
    first = f"First {p}% of {a}: {steps}"
    said = last.answer.partition(": ")[2]
    return Asked(last.key, tidy(question), f"{first} Then {said}")


# --- halves, quarters, thirds --------------------------------------------------------------------

OF = (
    "[what's|what is|whats|calculate|work out|tell me|how much is|] {x} of {a}[|?]",
    "[what's|what is|how much is] {x} of {a}?", "{x} of {a}[|?| is how much?| =]",
    "[can you tell me|do you know] [what|how much] {x} of {a} is?",
    "[i have|i got|there are] {a} [{t}|{t}|euros] and [give away|lose|eat] {x}. how many is that?",
    "{n} has {a} {t}. {x} of them are red. how many are red?",
)  # fmt: skip
PARTS = (
    ("half", "half", "half"), ("half", "half", "one half"), ("half", "half", "half"),
    ("quarter", "a quarter", "[a quarter|one quarter|a fourth]"), ("third", "a third", "a third"),
    ("quarters", "three quarters", "three quarters"), ("thirds", "two thirds", "two thirds"),
    ("fifth", "a fifth", "[a fifth|one fifth]"), ("tenth", "a tenth", "[a tenth|one tenth]"),
)  # fmt: skip


def halvable(a: int) -> list[int]:
    """`a` in parts of which each is easy to halve: 76 is 60 and 16, 350 is 200, 140 and 10."""
    parts, rest = [], 0
    for place in (100, 10, 1):
        rest += a // place * place if place == 100 else a // place % 10 * place
        even = rest - rest % (2 * place)
        rest -= even
        if even:
            parts.append(even)
    return parts


def half_of(a: int) -> tuple[str, int]:
    """How an even number is halved, by its hundreds, tens and ones, and its half."""
    parts, half = halvable(a), a // 2
    if a < 20:
        return f"half of {a} is {half}", half  # known by heart
    if len(parts) == 1:
        place, name = (100, "hundreds") if a % 100 == 0 and a > 100 else (10, "tens")
        few = half // place
        many = f"1 {name[:-1]} is {half}" if few == 1 else f"{few} {name} are {half}"
        return f"{a} is {a // place} {name}, half of {a // place} is {few}, and {many}", half
    halves = listed(f"half of {n} is {n // 2}" for n in parts)
    made = listed(str(n // 2) for n in parts)
    return f"{a} is {listed(map(str, parts))}, {halves}, and {made} make {half}", half


def part_steps(part: str, a: int) -> tuple[str, int]:
    """How a part of `a` is found, and the result."""
    if part == "half":
        steps, result = half_of(a)
        known = steps.startswith("half")
        return f"{a} is {result} and {result}." if known else f"{sentence(steps)}.", result
    if part.startswith("quarter"):
        first, half = half_of(a)
        second, quarter = half_of(half)
        text = f"A quarter is half of the half. {sentence(first)}. {sentence(second)}."
        if part == "quarter":
            return text, quarter
        return f"{text} Three of them: 3 x {quarter} = {3 * quarter}.", 3 * quarter
    if part == "tenth":
        return f"{a} / 10 = {a // 10}.", a // 10
    by = 3 if part.startswith("third") else 5
    text = step(a, "/", by)
    return (text, a // by) if part[-1] != "s" else (
        f"A third first: {text} Two of them: 2 x {a // 3} = {2 * (a // 3)}.", 2 * (a // 3)
    )  # fmt: skip


def parts_of(rng: random.Random) -> Asked:
    part, called, said = rng.choice(PARTS)
    way = rng.random()
    if part == "half":
        a = 10 * rng.randint(2, 60) if way < 0.5 else 2 * rng.randint(5, 99)
    elif part.startswith("quarter"):
        a = 20 * rng.randint(1, 20) if way < 0.5 else 4 * rng.randint(2, 25)
    else:
        by = {"third": 3, "thirds": 3, "fifth": 5, "tenth": 10}[part]
        a = by * rng.randint(2, 12) if way < 0.6 or by == 10 else 10 * by * rng.randint(1, 6)
    words = {"x": said, "a": str(a), "t": rng.choice(THINGS.split()), "n": someone(rng)}
    form = rng.choice(OF[:4] if rng.random() < 0.75 else OF)
    for slot, word in words.items():
        form = form.replace(f"{{{slot}}}", word)
    steps, result = part_steps(part, a)
    key = f"{part} of {a}" if a > 20 else f"{part} of {a}|{form}"
    question = tidy(alternative(rng, form))
    if question.startswith("There are") and "give away" in question:
        question = question.replace("give away", "lose")
    return Asked(key, question, f"{steps} So {called} of {a} is {result}.")


# --- units ---------------------------------------------------------------------------------------

UNITS = (
    # larger, smaller, how many, most of the larger, how often it is asked for
    ("hour", "minute", 60, 12, 8), ("day", "hour", 24, 7, 5), ("week", "day", 7, 12, 5),
    ("minute", "second", 60, 12, 5), ("year", "month", 12, 12, 4), ("year", "week", 52, 3, 1),
    ("meter", "centimeter", 100, 20, 4), ("kilometer", "meter", 1000, 20, 4),
    ("centimeter", "millimeter", 10, 20, 2), ("kilogram", "gram", 1000, 20, 4),
    ("liter", "milliliter", 1000, 9, 2), ("euro", "cent", 100, 20, 3),
    ("dollar", "cent", 100, 20, 2), ("tonne", "kilogram", 1000, 9, 1), ("decade", "year", 10, 9, 1),
    ("century", "year", 100, 9, 1), ("dozen", "egg", 12, 9, 1),
)  # fmt: skip
SHORT = {
    "meter": "m", "centimeter": "cm", "kilometer": "km", "millimeter": "mm", "kilogram": "kg",
    "gram": "g", "liter": "l", "milliliter": "ml", "minute": "min", "hour": "h",
}  # fmt: skip
DOWN = (
    "how many {small} [are there |are ]in {large}?", "how many {small} are in {large}?",
    "how many {small} [does|has] {large} have?", "{large} in {small}[|?| =| = ?]",
    "how many {small} [make|make up] {large}?", "[what is|what's|how much is] {large} in {small}?",
    "[convert|change|turn] {large} [to|into] {small}", "{large} [are|is] how many {small}?",
    "{large} to {small}", "how long is {large} in {small}?", "{small} in {large}[|?]",
    "[tell me |do you know |can you tell me ]how many {small} there are in {large}",
)  # fmt: skip
UP = (
    "how many {large} are {small}?", "[what is|what's|how much is] {small} in {large}?",
    "[convert|change|turn] {small} [to|into] {large}", "{small} in {large}[|?| =]",
    "how many {large} [do|will] {small} make?", "{small} [are|is] how many {large}?",
    "{small} to {large}",
)  # fmt: skip
CALLED = {"century": "centuries", "dozen": "dozen"}


def units(count: int, unit: str) -> str:
    """`1 hour`, `3 hours`."""
    return f"{count} {unit if count == 1 else CALLED.get(unit, f'{unit}s')}"


def times(n: int, each: int) -> str:
    """`n x each`, where `each` may be a hundred or a thousand."""
    if each in (10, 100, 1000):
        zeros = {10: "a zero", 100: "two zeros", 1000: "three zeros"}[each]
        return f"{n} with {zeros} is {n * each}, so {n} x {each} = {n * each}."
    return step(n, "x", each)


def _has(big: str, small: str, each: int) -> str:
    one = "An hour" if big == "hour" else f"A {big}"
    return f"{one} has {each} {small}s."


def _fit_unit(question: str, large: str) -> str:
    """The verb that fits one or more."""
    many = not large.startswith(("1 ", "a ", "an ", "one ", "half "))
    if many:
        question = question.replace("does ", "do ").replace(f"{large} is ", f"{large} are ")
    else:
        question = question.replace(f"{large} are how", f"{large} is how")
    question = question.replace(" has " + large + " have", " have " + large)
    return question


def _form(rng: random.Random, forms: tuple[str, ...], big: str) -> str:
    """One of `forms` that fits the unit."""
    time = big in ("hour", "day", "week", "minute", "year", "decade", "century")
    return alternative(rng, rng.choice([form for form in forms if time or "long" not in form]))


def conversions(rng: random.Random) -> Asked:
    """From a unit to a smaller or a larger one; a third of them with a half."""
    big, small, each, most, _ = rng.choices(UNITS, [row[4] for row in UNITS])[0]
    way, n = rng.random(), rng.randint(1, most)
    if way < 0.25 and each % 2 == 0 and big not in ("dozen", "tonne"):
        return _with_half(rng, big, small, each, min(n, 5))
    total = n * each
    if way < 0.7 or total > 20000 or n == 1:
        large = units(n, big)
        if n == 1:
            large = with_article(big) if rng.random() < 0.7 else f"one {big}"
        elif n < 13 and rng.random() < 0.2:
            large = f"{in_words(n)} {CALLED.get(big, f'{big}s')}"
        smalls = f"{small}s"
        if big in SHORT and small in SHORT and rng.random() < 0.35:
            large, smalls = f"{n} {SHORT[big]}", SHORT[small]
        form = _form(rng, DOWN, big).format(large=large, small=smalls)
        question = sentence(_fit_unit(form, large))
        answer = _has(big, small, each)
        if n > 1:
            answer += f" {times(n, each)} So {units(n, big)} are {units(total, small)}."
        return Asked(f"{n} {big} {question}", question, answer)
    larges, said = CALLED.get(big, f"{big}s"), units(total, small)
    if big in SHORT and small in SHORT and rng.random() < 0.35:
        larges, said = SHORT[big], f"{total} {SHORT[small]}"
    question = sentence(alternative(rng, rng.choice(UP)).format(large=larges, small=said))
    why = f"{total} / {each} = {n}"
    if each in (10, 100, 1000):
        zeros = {10: "a zero", 100: "two zeros", 1000: "three zeros"}[each]
        why = f"{total} without {zeros} is {n}, so {why}"
    else:
        rows = ", ".join(f"{i} x {each} = {i * each}" for i in range(1, n + 1))
        why = f"{rows}. So {why}"
    answer = f"{_has(big, small, each)} {why}. So {units(total, small)} are {units(n, big)}."
    return Asked(f"{n} {big} {question}", question, answer)


def _with_half(rng: random.Random, big: str, small: str, each: int, n: int) -> Asked:
    half = each // 2
    total = n * each + half
    many = CALLED.get(big, f"{big}s")
    if rng.random() < 0.2:
        large, total = f"half {with_article(big)}", half
        answer = (
            f"{_has(big, small, each)} Half of {each} is {half}. So {large} is {half} {small}s."
        )
    else:
        large = f"{in_words(n)} and a half {many}" if rng.random() < 0.7 else f"{n}.5 {many}"
        if n == 1 and rng.random() < 0.6:
            large = f"{with_article(big)} and a half"
        whole = f"{times(n, each)} " if n > 1 else ""
        answer = (
            f"{_has(big, small, each)} {whole}Half of {each} is {half}. {n * each} and {half} make "
            f"{total}. So {large} {'is' if ' and a half' in large and n == 1 else 'are'} "
            f"{total} {small}s."
        )
    form = _form(rng, DOWN, big).format(large=large, small=f"{small}s")
    question = sentence(_fit_unit(form, large))
    return Asked(f"half {n} {big} {question}", question, answer)


# --- so much in an hour, so much a kilo ----------------------------------------------------------


@cache
def _rows(section: str) -> tuple[list[str], ...]:
    """The lines of a section of `problems.txt`, by their parts."""
    return tuple(
        line.split(" | ", 3 if section == "rates" else 2)
        for line in read_sections(PROBLEMS)[section]
    )


PROBLEMS = FORMS / "problems.txt"
TRAINS = ("train", "train", "car", "car", "bus", "bike", "boat", "truck", "ship", "motorbike")
BY_THE_KILO = ("apples", "pears", "rice", "cheese", "nuts", "tomatoes", "flour", "grapes", "fish")
DRINKS = ("milk", "juice", "oil", "water", "paint", "petrol")


def rates(rng: random.Random) -> Asked:
    """So much in an hour or for a kilo, for some of them, or for some and a half."""
    unit, amounts, closing, form = rng.choice(_rows("rates"))
    b = int(rng.choice(amounts.split()))
    n = rng.randint(2, 8 if b <= 50 else 4)
    half = rng.random() < 0.4 and b % 2 == 0 and unit not in ("day", "week")
    many = f"{unit}s"
    said = in_words(n) if rng.random() < 0.5 else str(n)
    time = f"{said} {many}"
    if half:
        time = rng.choice((f"{in_words(n)} and a half {many}", f"{n}.5 {many}",
                           f"{n} and a half {many}"))  # fmt: skip
    elif unit == "day" and rng.random() < 0.4:
        n, time = 7, rng.choice(("a week", "one week", "7 days"))
    words = {
        "train": rng.choice(TRAINS), "n": someone(rng), "t": rng.choice(THINGS.split()),
        "f": rng.choice(BY_THE_KILO), "l": rng.choice(DRINKS), "b": b, "time": time,
    }  # fmt: skip
    question = alternative(rng, form).format_map(words)
    r = n * b + (b // 2 if half else 0)
    closing = closing.format(r=r, **words)
    if " miles " in question:
        closing = closing.replace("kilometers", "miles")
    week = "A week has 7 days. " if "week" in time and unit == "day" else ""
    steps = f"{week}Here we multiply: {step(n, 'x', b)}"
    if half:
        steps += f" Half {with_article(unit)} more: half of {b} is {b // 2}. "
        steps += f"{n * b} and {b // 2} make {r}."
    key = f"{n} {half} {question}"
    return Asked(key, tidy(question), f"{steps} {closing}")


# --- word problems -------------------------------------------------------------------------------

BOYS = ("Tom", "Ben", "Sam", "Max", "Leo", "Paul", "Noah", "Adam", "Omar", "Finn")
GIRLS = ("Anna", "Mia", "Lily", "Emma", "Nora", "Lucy", "Ella", "Zoe", "Sara", "Maya")
PEOPLE = (
    *((name, "he", "his") for name in BOYS),
    *((name, "she", "her") for name in GIRLS),
)  # fmt: skip
FOOD = (
    "apples pears plums cookies sweets grapes cakes eggs carrots bananas cherries nuts oranges "
    "pizzas sandwiches strawberries chocolates muffins tomatoes"
)
THINGS = (
    "marbles stickers books cards shells stamps coins pens balloons buttons beads blocks pencils "
    "balls hats cups toys stones keys candles flowers socks chairs shirts dollars euros tickets"
)
MONEY = ("euros", "dollars", "pounds", "coins")
PRICED = (
    "ticket", "pizza", "book", "coffee", "sandwich", "pen", "burger", "ball", "cake", "shirt",
    "lamp", "meal", "juice", "notebook", "plant", "toy", "lunch box", "bus ride", "museum visit",
    "breakfast",
)  # fmt: skip
BOXES = ("boxes", "bags", "packs", "baskets", "jars", "crates", "sacks", "drawers")


def tidy(question: str) -> str:
    """A question with its capitals."""
    question = re.sub(r"([.?!] )([a-z])", lambda m: m[1] + m[2].upper(), " ".join(question.split()))
    return sentence(re.sub(r"\bi\b", "I", question))


def someone(rng: random.Random) -> str:
    return rare_name(rng) if rng.random() < 0.3 else str(rng.choice(PEOPLE)[0])


def _numbers(rng: random.Random) -> dict[str, int]:
    most = rng.choice((12, 20, 20, 50, 80))
    b = rng.randint(2, max(3, most // 2))
    k, j = rng.randint(2, 10), rng.randint(2, 6)
    a = b + rng.randint(1, most)
    return {
        "a": a, "b": b, "c": rng.randint(2, 15), "k": k, "k2": rng.randint(2, 12), "j": j,
        "d": rng.randint(2, 12) if rng.random() < 0.6 else rng.choice((12, 15, 20, 24, 25, 30, 50)),
        "w": k * rng.randint(2, 12), "e": 2 * rng.randint(2, 30), "two": 2, "j2": rng.randint(2, 9),
        "j3": rng.randint(2, 9), "j4": rng.randint(2, 6), "big": 10 * rng.randint(5, 20),
        "pay": rng.choice((10, 20, 50, 50, 100, 100)), "a2": rng.randint(2, 30),
        "b2": rng.randint(2, 15), "more": a + b, "h": rng.randint(1, 8),
    }  # fmt: skip


def _worked_out(numbers: dict[str, int], parts: list[str]) -> list[Step]:
    """The steps with their numbers; none if there is a result that does not fit a story."""
    steps: list[Step] = []
    for part in parts:
        one, sign, other = part.split()
        a, b = numbers[one], numbers[other]
        if sign == "/" and a % b:
            return []
        numbers["r"] = {"+": a + b, "-": a - b, "x": a * b, "/": a // b}[sign]
        numbers.setdefault("q", numbers["r"])
        steps.append((a, sign, b))
        if not 1 < numbers["r"] <= 300:
            return []
    return steps


def _plural(thing: str) -> str:
    return f"{thing}es" if thing.endswith(("x", "ch", "sh")) else f"{thing}s"


def stories(rng: random.Random) -> Asked:
    """A word problem of one step, of two or of three."""
    parts, closing, form = rng.choice(_rows("stories"))
    while True:
        numbers = _numbers(rng)
        if steps := _worked_out(numbers, parts.split(", ")):
            break
    things = rng.choice((FOOD, THINGS)).split()
    names: list[str] = []
    while len(names) < 3:
        if (name := someone(rng)) not in names:
            names.append(name)
    p, p2 = rng.sample(PRICED, 2)
    words = {
        "n": names[0], "o": names[1], "z": names[2], "t": rng.choice(things),
        "m": rng.choice(MONEY[:3]), "p": p, "p2": p2, "ps": _plural(p), "ps2": _plural(p2),
        "boxes": rng.choice(BOXES), "one": rng.choice(("a", "one")),
    }  # fmt: skip
    while words["t"] in ("euros", "dollars"):
        words["t"] = rng.choice(things)
    spelled = rng.random() < 0.12
    said = {k: in_words(n) if spelled and n < 13 else str(n) for k, n in numbers.items()}
    question = alternative(rng, form).format_map({**words, **said})
    asked = several(tidy(question), steps, closing.format_map({**words, **numbers}))
    return asked or stories(rng)


# --- what is done with the last result -----------------------------------------------------------

THEN = {
    "+": ("and plus {b}?", "plus {b}", "plus {b}?", "and {b} more?", "+{b}", "add {b}",
          "and add {b}", "now add {b}", "now plus {b}", "+ {b}?", "and + {b}",
          "ok, and plus {b}", "add {b} to that", "plus {b} more?", "and what is that plus {b}?",
          "then add {b}", "and {b} on top", "add {b} to the result", "{b} more",
          "now put {b} more on it", "and if i add {b}?", "{b} added to that", "increase it by {b}"),
    "-": ("minus {b}?", "and minus {b}?", "minus {b}", "-{b}", "take away {b}", "and less {b}?",
          "subtract {b}", "now minus {b}", "and now subtract {b}", "- {b}?", "take {b} from that",
          "and if i take away {b}?", "what is that minus {b}?", "ok minus {b}", "now {b} less",
          "take {b} off that", "take {b} off it", "remove {b}", "and without {b}?",
          "subtract {b} from that", "now take {b} away again", "minus {b} from the result",
          "take {b} away from it", "and {b} less?", "reduce it by {b}", "then less {b}"),
    "x": ("and times {b}?", "times {b}", "times {b}?", "and that times {b}?", "now times {b}",
          "x{b}", "* {b}", "multiply that by {b}", "and multiplied by {b}?",
          "now multiply by {b}", "what is that times {b}?",
          "ok, times {b}", "now {b} times that", "{b} times that", "and {b} times as much?",
          "multiply the result by {b}", "take that {b} times"),
    "/": ("divided by {b}?", "and divided by {b}?", "/ {b}", "now divide by {b}",
          "divide it by {b}", "/{b}", "and that divided by {b}?",
          "divide that by {b}", "share it by {b}", "divide the result by {b}",
          "shared by {b}?", "split it in {b}"),
}  # fmt: skip
TWICE = (
    "and twice that?",
    "double that",
    "now double it",
    "and doubled?",
    "double it",
    "times two",
)
HALVED = (
    "the half of it",
    "now the half",
    "half of the result",
    "and half of that?",
    "half of that",
    "now halve it",
    "halve it",
    "and half of it?",
)


def next_step(rng: random.Random, last: int) -> tuple[str, str, int] | None:
    """What may be asked of the last result, the answer and what comes out; none if the draw
    was not a good one."""
    sign = rng.choice("++--xxx/")
    b = rng.randint(2, 12) if sign in "x/" or rng.random() < 0.6 else rng.randint(2, 60)
    form = rng.choice(THEN[sign])
    if sign == "x" and rng.random() < 0.2:
        b, form = 2, rng.choice(TWICE)
    if sign == "/" and rng.random() < 0.6:
        b, form = 2, rng.choice(HALVED)
    fits = {
        "+": last + b <= 300, "-": last > b, "x": 0 < last * b <= 300 and min(last, b) <= 12,
        "/": last >= b and last % b == 0 and last // b <= 60,
    }[sign]  # fmt: skip
    asked = several("", [(last, sign, b)], "")
    if not fits or last <= 0 or asked is None or reserved(asked.key):
        return None
    made = {"+": last + b, "-": last - b, "x": last * b, "/": last // b}[sign]
    question = form.format(b=in_words(b) if rng.random() < 0.12 else b)
    steps = step(last, sign, b)
    if not steps.startswith(f"{last} {sign} {b} "):
        steps = f"The last result was {last}. {steps}"
    else:
        steps = f"The last result was {last}, and {steps}"
    way = rng.random()
    if way > 0.3:
        question = sentence(question)
    return question.rstrip("?") if way < 0.5 else question, steps, made
