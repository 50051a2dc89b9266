"""Figures of the screen and of a round: what "2.35×", "α 72%" or "γ4" says, how many tokens a
round gives, which of two lanes is faster.

What it teaches: the number of the question goes into the answer, the kind of figure decides what
is said about it, and what is worked out is shown before the result.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    sentence,
    typed_with,
)

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
LANES = ("the draft lane", "the medusa lane", "the eagle lane", "lane 2", "lane 3", "lane 4")


@dataclass(frozen=True, slots=True)
class Figure:
    """A form that may hold `{v}`, the figure as it is typed, and the answer to it."""

    form: str
    figure: str
    answer: str
    keep: tuple[str, ...]


MEANS = (
    "what does {v} mean", "what does {v} mean", "what is {v}", "what's {v}", "{v}?",
    "{v} means what",
    "it says {v}, what is that", "what is the {v} [here|there|on my screen|at the top|in the box]",
    "i see {v}, what does it mean", "[a lane|lane 3|my lane|the eagle lane] says {v}, what is that",
    "{v}, is that good", "is {v} good", "is {v} good or bad", "i got {v}, is that good",
    "meaning of {v}",
    "explain {v}", "explain the {v} [please|to me|]",
    "there is {v} in the pane, what does it tell me",
    "what does the number {v} mean", "[medusa|eagle|the draft lane|lane 2] shows {v}, what now",
    "{v} - good?", "how do i read {v}", "what should i think of {v}", "[so|ok], {v} means",
)  # fmt: skip
NEUTRAL = tuple(form for form in MEANS if "good" not in form and "think" not in form)


def speedups(rng: random.Random) -> Figure:
    value = rng.choice((rng.uniform(0.4, 1.3), rng.uniform(1.05, 3.4), rng.uniform(1.3, 2.9)))
    number = f"{value:.{rng.choice((1, 2, 2))}f}"
    typed = number + rng.choice(("x", "×", "x", " x"))
    verdict = (
        "That is a good speedup." if value >= 1.95
        else "That is a fair speedup." if value >= 1.35
        else "That is only a small gain." if value >= 1.05
        else "That is no gain." if value >= 0.95
        else "So it is slower than lane 1 here."
    )  # fmt: skip
    answer = f"{number}× means that the lane is {number} times as fast as plain decoding. {verdict}"
    return Figure(rng.choice(MEANS), typed, answer, (number,))


def rates(rng: random.Random) -> Figure:
    value = rng.randint(8, 100)
    typed = rng.choice(
        ("α {}%", "α {}%", "alpha {}%", "acceptance {}%", "an acceptance rate of {}%")
    )
    verdict = (
        "That is good." if value >= 70
        else "That is fair." if value >= 40
        else "That is low, so drafting seldom pays."
    )  # fmt: skip
    answer = f"α {value}% means that {value} of 100 tested guesses were accepted. {verdict}"
    return Figure(rng.choice(MEANS), typed.format(value), answer, (str(value),))


def taus(rng: random.Random) -> Figure:
    number = f"{rng.uniform(1.0, 6.5):.{rng.choice((1, 1, 2))}f}"
    typed = rng.choice(("τ {}", "τ {}", "tau {}", "{} tokens per pass", "a tau of {}")).format(
        number
    )
    answer = (
        f"τ {number} means that one pass of the large model gave {number} tokens on average. "
        "Plain decoding has 1."
    )
    return Figure(rng.choice(MEANS), typed, answer, (number,))


def speeds(rng: random.Random) -> Figure:
    number = f"{rng.uniform(5, 400):.{rng.choice((0, 1))}f}"
    typed = number + rng.choice((" tok/s", " tok/s", " tokens per second", " tok/sec", "tok/s"))
    answer = (
        f"{number} tok/s means that the lane writes {number} tokens in a second. "
        "People read about 5 a second."
    )
    return Figure(rng.choice(NEUTRAL), typed, answer, (number,))


def gammas(rng: random.Random) -> Figure:
    value = rng.randint(1, 16)
    typed = rng.choice(("γ{}", "γ {}", "gamma {}", "gamma = {}", "γ={}")).format(value)
    many = "token is" if value == 1 else "tokens are"
    answer = (
        f"γ{value} means that up to {value} {many} guessed in a round. "
        f"So a round gives at most {value + 1} tokens."
    )
    return Figure(rng.choice(NEUTRAL), typed, answer, (str(value),))


def waits(rng: random.Random) -> Figure:
    number = f"{rng.uniform(0.02, 3):.2f}"
    typed = rng.choice(("TTFT {}s", "TTFT {} s", "ttft {}s", "a TTFT of {} seconds")).format(number)
    answer = (
        f"TTFT {number} s means that the first token came after {number} seconds. Lower is better."
    )
    return Figure(rng.choice(NEUTRAL), typed, answer, (number,))


def lengths(rng: random.Random) -> Figure:
    value = rng.randint(3, 256)
    answer = f"{value} tok means that the answer has {value} tokens so far."
    return Figure(rng.choice(NEUTRAL), f"{value} tok", answer, (str(value),))


def differences(rng: random.Random) -> Figure:
    value = rng.randint(2, 240)
    answer = (
        f"≠AR@{value} means that the lane differs from lane 1 from token {value} on. "
        "That can be rounding, or chance at a temperature above 0."
    )
    return Figure(rng.choice(NEUTRAL), f"≠AR@{value}", answer, (str(value),))


GIVEN = (
    "{g} tokens are [guessed|drafted] and {a} are [right|accepted], how many does the round give",
    "{a} of {g} [guesses|drafts|drafted tokens] are [right|accepted]. how many tokens does "
    "the round give",
    "gamma is {g} and {a} [guesses|tokens] are accepted, how many tokens come out",
    "if {a} of {g} [guesses|drafts] [fit|are accepted|are right], how many tokens do i get",
    "the drafter guesses {g} and {a} are right. [what does the round give|how many tokens "
    "in total]",
    "how many tokens does a round give with {a} of {g} accepted",
    "{g} drafted, {a} accepted, how many tokens",
)  # fmt: skip
FAILED = (
    "{g} tokens are [guessed|drafted] and the {nth} is [wrong|rejected], how many does the "
    "round give",
    "the {nth} of {g} [guesses|drafts] is [wrong|rejected]. how many tokens does the round give",
    "{g} guesses, the {nth} one is wrong, how many tokens [stay|do i get|come out] in total",
    "a drafter guesses {g} tokens and the target rejects the {nth}. how many tokens does "
    "the round give",
    "gamma {g}, the {nth} guess is rejected, how many tokens",
)  # fmt: skip


def rounds(rng: random.Random) -> Figure:
    """How many tokens a round gives."""
    drafted = rng.randint(2, 8)
    failed = rng.random() < 0.5
    accepted = rng.randint(0, drafted - 1 if failed else drafted)
    form = rng.choice(FAILED if failed else GIVEN).replace("{g}", str(drafted))
    form = form.replace("{a}", str(accepted))
    if accepted == 1:
        form = form.replace("1 are", "1 is").replace("1 [guesses|tokens] are", "1 guess is")
    if failed:
        form = form.replace("{nth}", ORDINALS[accepted])
    if accepted == drafted:
        first = f"All {drafted} guesses stay, and the large model adds a bonus token."
    elif accepted == 0:
        first = "No guess stays, and the large model adds its own token."
    else:
        stay = "guess stays" if accepted == 1 else "guesses stay"
        first = f"{accepted} {stay}, and the large model adds its own token."
    total = accepted + 1
    answer = (
        f"{first} {accepted} + 1 = {total}, so the round gives {total} token{'s' * (total > 1)}."
    )
    return Figure(form, "", answer, (str(drafted), ORDINALS[accepted], str(accepted)))


TWO_LANES = (
    "{p} has {a}× and {q} has {b}×, which is faster", "{p} shows {a}x and {q} {b}x. who wins",
    "which is faster, {p} with {a}x or {q} with {b}x", "{p} {a}×, {q} {b}×, which one is better",
    "i get {a}x in {p} and {b}x in {q}, which is faster",
    "{a}x for {p}, {b}x for {q}. [who won|who is first]",
)  # fmt: skip


def races(rng: random.Random) -> Figure:
    """Which of two lanes is faster."""
    p, q = rng.sample(LANES[3:] if rng.random() < 0.5 else LANES[:3], 2)
    a, b = rng.sample(range(80, 360), 2)
    form = rng.choice(TWO_LANES).replace("{p}", p).replace("{q}", q)
    form = form.replace("{a}", f"{a / 100:.2f}").replace("{b}", f"{b / 100:.2f}")
    best = p if a > b else q
    high, low = max(a, b) / 100, min(a, b) / 100
    answer = f"{high:.2f}× is more than {low:.2f}×, so {best} is faster."
    return Figure(form, "", answer, (f"{a / 100:.2f}", f"{b / 100:.2f}", p, q))


TIMES = (
    "how long do {n} tokens take at {r} [tok/s|tokens per second]",
    "{n} tokens at {r} [tok/s|tokens per second], how [long|many seconds]",
    "how long is an answer of {n} tokens at {r} [tok/s|tokens a second]",
    "with {r} tok/s, how long do i wait for {n} tokens",
)  # fmt: skip
RATIOS = (
    "lane 1 has {r} tok/s and {p} has {n} tok/s, what is the speedup",
    "{r} tok/s without and {n} tok/s with drafting, what is the speedup",
    "what is the speedup from {r} to {n} tok/s", "{r} tok/s before, {n} tok/s after. speedup",
    "how many times faster is {n} tok/s than {r} tok/s",
)  # fmt: skip


def divided(rng: random.Random) -> Figure:
    """How long an answer takes, or how large a speedup is."""
    rate = rng.choice((10, 20, 24, 30, 40, 50, 60, 80, 100, 120, 150, 200))
    if rng.random() < 0.4:
        seconds = rng.randint(2, 10)
        form, end = rng.choice(TIMES), f"so it takes {seconds} seconds."
        many, result = rate * seconds, str(seconds)
    else:
        halves = rng.randint(3, 8)
        result = str(halves // 2) if halves % 2 == 0 else f"{halves / 2}"
        form, end, many = rng.choice(RATIOS), f"so the speedup is {result}×.", rate * halves // 2
    form = (
        form.replace("{n}", str(many)).replace("{r}", str(rate)).replace("{p}", rng.choice(LANES))
    )
    return Figure(form, "", f"{many} / {rate} = {result}, {end}", (str(many), str(rate)))


KINDS: dict[Callable[[random.Random], Figure], float] = {
    speedups: 6, rates: 5, taus: 4, speeds: 3, gammas: 4, waits: 2, lengths: 1.5, differences: 1.5,
    rounds: 6, races: 3, divided: 3,
}  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    while True:
        (kind,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
        figure = kind(rng)
        if (zlib.crc32("/".join(figure.keep).encode()) % 16 == 0) == held_out:
            break
    text = " ".join(alternative(rng, figure.form).split()).replace("{v}", figure.figure)
    if text[-1] not in "?.!" and rng.random() < 0.6:
        text += "?"
    text = sentence(text) if text[0].isascii() and rng.random() < 0.5 else text
    kept = {*figure.keep, figure.figure}
    typed = typed_with(rng, text, *kept)
    return chat(typed, figure.answer)
