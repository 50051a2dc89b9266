"""The steps of sums, products and quotients, from left to right as a tiny model can follow them:
what is worked out stands before its result wherever it is not known by heart."""

from __future__ import annotations

from assets.demo.recipe.corpus.school import Asked, reserved
from assets.demo.recipe.corpus.text import sentence

ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
TENS = (
    "zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip


def in_words(number: int) -> str:
    """`forty-seven`, for numbers from 0 to 100."""
    if number < 20:
        return ONES[number]
    if number == 100:
        return "one hundred"
    return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")


# --- the steps ---------------------------------------------------------------------------------


def key_of(a: int, sign: str, b: int, wording: str) -> str:
    """What a calculation is kept apart by: its numbers, or for a fact its wording."""
    low, high = sorted((a, b))
    if sign == "+" and high > 9:
        return f"{low} + {high}"
    if sign == "-" and not (high < 20 and low < 10):
        return f"{high} - {low}"
    return f"{a} {sign} {b}|{wording}"


def added(a: int, b: int) -> str:
    """The steps of `a + b`, and the result."""
    total, low, high = a + b, min(a, b), max(a, b)
    if low == 0:
        return f"{a} + {b} = {total}. Adding zero changes nothing."
    if low == high == 100:
        return "100 + 100 = 200. Two hundreds make 200."
    if high == 100:
        return f"{a} + {b} = {total}. A hundred and {low} more make {total}."
    if low == 1 and high < 10:
        return f"{a} + {b} = {total}. The number after {high} is {total}."
    if total <= 10:
        steps = ", ".join(str(n) for n in range(high + 1, total + 1))
        return f"{a} + {b} = {total}. Counting on from {high}: {steps}."
    if high < 10:
        return (
            f"{a} + {b} = {total}, because {high} + {10 - high} = 10 and {total - 10} more "
            f"make {total}."
        )
    ones = a % 10 + b % 10
    text = f"The ones first: {a % 10} + {b % 10} = {ones}. "
    tens = [n // 10 for n in (a, b) if n > 9]
    if ones > 9:
        text += f"That is {ones - 10}, and 1 to carry. "
        tens.append(1)
    if len(tens) == 1:
        text += f"The tens stay {tens[0]}. "
    else:
        # Beyond 99 in words, for these may be two numbers that are kept back.
        plus, makes = ("+", "=") if max(tens[:2]) < 10 else ("and", "make")
        text += f"Then the tens: {tens[0]} {plus} {tens[1]} {makes} {tens[0] + tens[1]}"
        # One step at a time: three numbers at once are too much for a tiny model.
        text += f", and 1 more is {sum(tens)}. " if len(tens) == 3 else ". "
    return f"{text}{_together(total)}, so {a} + {b} = {total}."


def _together(total: int) -> str:
    """`That makes 8 tens and 5 ones`: the digits of the result in their order."""
    tens, ones = divmod(total, 10)
    return (
        f"That makes {tens} ten{'' if tens == 1 else 's'} and {ones} one{'' if ones == 1 else 's'}"
    )


def taken(a: int, b: int) -> str:
    """The steps of `a - b`, and the result."""
    if a < b:
        return (
            f"{b} is larger than {a}, so the result is below zero. I turn it around: {b} - {a}. "
            f"{taken(b, a)} And {a} - {b} = -{b - a}, that is minus {b - a}."
        )
    rest = a - b
    if b == 0:
        return f"{a} - 0 = {a}. Taking away zero changes nothing."
    if rest == 0:
        return f"{a} - {b} = 0. A number minus itself is always 0."
    if b == 1:
        return f"{a} - 1 = {rest}. The number before {a} is {rest}."
    if a < 20 and b < 10 and rest < 10:
        steps = ", ".join(f"{a} - {n} = {a - n}" for n in range(1, b + 1))
        return f"One by one: {steps}. So {a} - {b} = {rest}."
    if a == 100 and b % 10 == 0:
        return f"100 is 10 tens, and 10 tens minus {b // 10} tens are {rest // 10} tens. " + (
            f"So 100 - {b} = {rest}."
        )
    if a == 100:
        text = f"100 is 9 tens and 10 ones. The ones first: 10 - {b % 10} = {rest % 10}. "
        tens = [9]
    elif a % 10 < b % 10:
        text = (
            f"The ones first: {a % 10} is less than {b % 10}, so I borrow a ten: "
            f"{a % 10 + 10} - {b % 10} = {rest % 10}. "
        )
        tens = [a // 10, 1]
    else:
        text = f"The ones first: {a % 10} - {b % 10} = {rest % 10}. "
        tens = [a // 10]
    if b > 9:
        tens.append(b // 10)
    if len(tens) == 1:
        text += f"The tens stay {tens[0]}. "
    else:
        # Beyond 199 in words, for these may be two numbers that are kept back.
        minus, makes = ("-", "=") if tens[0] < 20 else ("less", "is")
        left = tens[0] - tens[1]
        text += f"Then the tens: {tens[0]} {minus} {tens[1]} {makes} {left}"
        more = f", and {left} {minus} {tens[-1]} {makes} {left - tens[-1]}. "
        text += more if len(tens) == 3 else ". "
    return f"{text}{_together(rest)}, so {a} - {b} = {rest}."


def multiplied(a: int, b: int) -> str:
    """`a x b` within the tables, and why."""
    product = a * b
    if 0 in (a, b):
        return f"{a} x {b} = 0. Zero times any number is zero."
    if 1 in (a, b):
        return f"{a} x {b} = {product}. One times a number is the number itself."
    if 10 in (a, b):
        other = a if b == 10 else b
        return f"{a} x {b} = {product}. Ten times {other} is {other} with a zero at its end."
    if max(a, b) > 10:
        high, low = max(a, b), min(a, b)
        tens, ones = high - high % 10, high % 10
        if not ones:
            return f"{tens // 10} x {low} = {tens // 10 * low}. With a zero, {a} x {b} = {product}."
        return (
            f"{tens} x {low} = {tens * low}, and {ones} x {low} = {ones * low}. "
            f"{tens * low} and {ones * low} make {product}. So {a} x {b} = {product}."
        )
    if a == 2:
        return f"2 x {b} = {product}, because twice {b} is {b} and {b} more."
    return f"{row(min(a, b), max(a, b))}. So {a} x {b} = {product}."


def row(times: int, b: int) -> str:
    """The table of `b` as far as it is needed: `1 x 4 = 4, 2 x 4 = 8, 3 x 4 = 12`."""
    return ", ".join(f"{n} x {b} = {n * b}" for n in range(1, times + 1))


def divided(a: int, b: int) -> str:
    """`a / b` as on paper, with what is left over: where a digit says that there are tens, these
    come first. The rest goes up the table, as products do, for a small model knows no quotients by
    heart."""
    times, left = divmod(a, b)
    if b == 1:
        return f"{a} / 1 = {a}. Divided by one, a number stays the same."
    if a == 0:
        return f"0 / {b} = 0. Zero shared among {b} is zero for each."
    if not times:
        return f"{b} is more than {a}. So {a} / {b} = 0 with a remainder of {left}."
    ends = f"So {a} / {b} = {times}{f' with a remainder of {left}' if left else ''}."
    text, rest = "", a
    if b < 10 and times >= 10:
        tens, over = divmod(a // 10, b)
        rest = over * 10 + a % 10
        text = f"The tens first: {a // 10} / {b} = {tens}"
        if not over:
            remain = f", and {left} {'is' if left == 1 else 'are'} left over" if left else ""
            return f"{text}. Then the ones: {rest} / {b} = {rest // b}{remain}. {ends}"
        text += f", and {over} {'ten is' if over == 1 else 'tens are'} left over. "
        text += f"With the ones that is {rest}. "
    text += row(rest // b, b)
    if left:
        text += f", {rest // b + 1} x {b} = {(rest // b + 1) * b}. That is too much. "
        text += f"{rest} is {rest - left} and {left}"
    return f"{text}. {ends}"


def worked(a: int, sign: str, b: int) -> str:
    """The steps and the result of any of the four."""
    way = {"+": added, "-": taken, "x": multiplied, "/": divided}[sign]
    return way(a, b)


def solved(a: int, sign: str, b: int) -> str:
    """A whole answer: what is asked first, unless the steps begin with it."""
    steps = worked(a, sign, b)
    if steps.startswith(f"{a} {sign} {b} "):
        return steps
    return f"Let me work out {a} {sign} {b}. {steps}"


def step(a: int, sign: str, b: int) -> str:
    """One of several steps, with what is worked out in front of it."""
    steps = worked(a, sign, b)
    return steps if steps.startswith(f"{a} {sign} {b} ") else f"{a} {sign} {b}. {steps}"


Step = tuple[int, str, int]
MEANS = {"+": "add", "-": "subtract", "x": "multiply", "/": "divide"}


def several(question: str, steps: list[Step], closing: str, lead: str = "") -> Asked | None:
    """A question that takes these steps; none where only some of them are reserved."""
    keys = [key_of(*one, question) for one in steps]
    pairs = [key for key in keys if "|" not in key]
    if len({reserved(key) for key in pairs}) > 1:
        return None
    said = [f"{'Then' if i else 'First'} {step(*one)}" for i, one in enumerate(steps)]
    if len(steps) == 1:
        lead, said = f"Here we {MEANS[steps[0][1]]}: ", [step(*steps[0])]
    return Asked((pairs or keys)[0], sentence(question), f"{lead}{' '.join(said)} {closing}")
