"""Two things set side by side in one sentence, and questions with yes or no about one of them.

What it teaches: the answer names both things in the order of the question and says of each what it
is, and a yes or no stands first, with its reason. `forms/compared.txt` has the things by groups,
`forms/traits.txt` who does what, and `forms/letters.txt` what letters stand for.
"""

from __future__ import annotations

import random
import re
import zlib
from functools import cache

from assets.demo.recipe.corpus.brief import spoken_of, taken
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    read_sections,
    sentence,
    typed_with,
)

PAIRS, LONG = 0.5, 0.15  # the shares of samples that compare, and of those about letters
DIFFERENCE = (
    "what is the difference between {a} and {b}", "difference between {a} and {b}", "{a} vs {b}",
    "{a} or {b}, what is the difference", "how does {a} differ from {b}", "{a} versus {b}",
    "how is {a} different from {b}", "compare {a} and {b}", "compare {a} with {b}",
    "what's the difference between {a} and {b}", "{a} and {b}, what is different",
    "is {a} the same as {b}", "are {a} and {b} the same", "{a}, {b}: difference",
    "what has {a} to do with {b}", "explain the difference between {a} and {b}",
    "i mix up {a} and {b}, help", "i always confuse {a} and {b}", "{a} and {b} - same thing",
    "tell me how {a} and {b} differ", "whats the diff between {a} and {b}",
)  # fmt: skip
SHORT = (
    "{a} vs {b} in one sentence", "difference between {a} and {b} in one sentence",
    "what is the difference between {a} and {b}, in one sentence", "{a} or {b}, in short",
    "briefly, how does {a} differ from {b}", "{a} vs {b} tldr", "tl;dr {a} vs {b}",
    "one sentence on {a} and {b}", "compare {a} and {b} in one sentence", 
    "{a} against {b}, briefly",
    "short: what is the difference between {a} and {b}", "{a} vs {b}, one sentence please",
)  # fmt: skip
# How each trait is asked for, and how it is said with and without "not".
TRAITS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "need training": (
        ("does {x} need training", "do i have to train {x}", "is training needed for {x}",
         "{x} without training, possible", "must {x} be trained", "does {x} have to be trained"),
        "needs training", "needs no training"),
    "need a second model": (
        ("does {x} need a second model", "does {x} need a draft model", "is {x} a second model",
         "does {x} need another model", "a second model for {x}", "do i need two models for {x}"),
        "needs a second model", "needs no second model"),
    "use a tree": (
        ("does {x} use a tree", "is there a tree in {x}", "does {x} draft a tree",
         "{x}: tree or not", "does {x} make a tree of guesses"),
        "uses a tree", "uses no tree"),
    "change the text": (
        ("does {x} change the text", "does {x} change the answer", "does {x} change what is said",
         "is the answer changed by {x}", "will {x} change my output", "does {x} affect the quality",
         "does {x} alter the text"),
        "changes the text", "does not change the text"),
    "read the model's inner states": (
        ("does {x} read the hidden states", "does {x} look inside the model",
         "does {x} use the model's hidden states", "does {x} know what the model thinks"),
        "reads the model's inner states", "does not read the model's inner states"),
    "help with new text": (
        ("does {x} help with new text", "is {x} good for new text", "does {x} work for stories",
         "can {x} guess new text", "does {x} help if nothing repeats"),
        "helps with new text", "does not help with new text"),
    "make the model smarter": (
        ("does {x} make the model smarter", "does {x} make the answers better",
         "are the answers better with {x}", "does {x} improve the answers",
         "is a model smarter with {x}"),
        "makes the model smarter", "does not make the model smarter"),
    "make the first token faster": (
        ("does {x} make the first token faster", "does {x} shorten the TTFT",
         "does {x} help with TTFT",
         "is the first token faster with {x}", "does {x} make the wait at the start shorter"),
        "makes the first token faster", "does not make the first token faster"),
    "work on a CPU": (
        ("does {x} work on a CPU", "can i use {x} on a CPU", "{x} on a cpu, possible",
         "does {x} work without a GPU", "is {x} possible without a graphics card"),
        "works on a CPU", "does not work on a CPU"),
    "need the internet": (
        ("does {x} need the internet", "does {x} need an internet connection",
         "does {x} work offline",
         "is the internet needed for {x}", "does {x} go online"),
        "needs the internet", "needs no internet"),
    "need a GPU": (
        ("does {x} need a GPU", "do i need a GPU for {x}", "is a graphics card needed for {x}",
         "must i have a GPU for {x}", "{x}: GPU needed", "does {x} require a graphics card"),
        "needs a GPU", "needs no GPU"),
    "work with every model": (
        ("does {x} work with every model", "does {x} work with any model",
         "can i use {x} with every llm", "is {x} possible with all models",
         "{x} with any model, possible", "does {x} fit every model"),
        "works with every model", "does not work with every model"),
    "take extra memory": (
        ("does {x} take extra memory", "does {x} need more memory", "does {x} cost memory",
         "is extra memory needed for {x}", "do i need more RAM for {x}"),
        "takes extra memory", "takes hardly any extra memory"),
    "have weights of its own": (
        ("does {x} have weights of its own", "does {x} have its own weights",
         "does {x} have parameters", "are there weights in {x}", "is {x} made of weights"),
        "has weights of its own", "has no weights of its own"),
    "guess several places at once": (
        ("does {x} guess several places at once", "does {x} guess all tokens at once",
         "does {x} draft in one step", "are the guesses of {x} made at the same time",
         "does {x} make its guesses in parallel"),
        "guesses several places at once", "does not guess several places at once"),
    "make the answer faster": (
        ("does {x} make the answer faster", "does {x} speed things up", "is it faster with {x}",
         "does {x} help the speed", "does {x} bring more tokens per second"),
        "makes the answer faster", "does not make the answer faster"),
}  # fmt: skip
TOO = ("and {x}", "and {x}", "what about {x}", "and what about {x}", "{x} too", "how about {x}",
       "ok, and {x}", "also {x}", "{x}", "does {x} too", "same for {x}")  # fmt: skip


@cache
def groups() -> tuple[tuple[tuple[str, str], ...], ...]:
    """Things that may be compared with each other, each with what it is or does."""
    found = []
    for lines in read_sections(FORMS / "compared.txt").values():
        things = [line.split(" | ") for line in lines]
        found.append(tuple((name, does) for name, does in things))
    return tuple(found)


@cache
def traits() -> tuple[tuple[str, bool, str, str], ...]:
    """A trait, whether the thing has it, the thing, and why."""
    found = []
    for trait, lines in read_sections(FORMS / "traits.txt").items():
        for line in lines:
            verdict, _, rest = line.partition(" ")
            thing, _, why = rest.partition(": ")
            found.append((trait, verdict == "yes", thing, why))
    return tuple(found)


def compare(rng: random.Random, held_out: bool) -> list[tuple[str, str, tuple[str, ...]]]:
    """The difference of two things."""
    while True:
        group = rng.choices(groups(), [len(of) for of in groups()])[0]
        (a, does), (b, other) = rng.sample(group, 2)
        key = "/".join(sorted((a, b)))
        if (zlib.crc32(key.encode()) % 12 == 0) != held_out:
            continue
        short = spoken_of(a, b) or rng.random() < 0.35
        form = rng.choice(SHORT if short else DIFFERENCE)
        bare = re.sub if rng.random() < 0.4 else (lambda _, __, name: name)
        first, second = (str(bare(r"^(a|an|the) ", "", name)) for name in (a, b))
        question = form.format(a=first, b=second)
        if not taken(question):
            break
    same = re.match(r"(is|are) .* the same|.* same thing$", form)
    answer = f"{a} {does}, while {b} {other}."
    answer = f"No. {sentence_of(answer)}" if same else sentence_of(answer)
    return [(question, answer, (a, b))]


def decide(rng: random.Random, held_out: bool) -> list[tuple[str, str, tuple[str, ...]]]:
    """A question with yes or no, and now and then the same one about something else."""
    while True:
        trait, has, thing, why = rng.choice(traits())
        asks, yes, no = TRAITS[trait]
        form = rng.choice(asks)
        question = form.format(x=thing)
        key = f"{trait}/{thing}/{form}"
        if (zlib.crc32(key.encode()) % 12 == 0) == held_out and not taken(question):
            break
    turned = re.search(r"without training|work offline", form) is not None
    others = [entry for entry in traits() if entry[0] == trait and entry[2] != thing]
    turns = [(question, has, thing, why)]
    for _, other_has, other, other_why in rng.sample(others, rng.choice((0, 0, 0, 1, 1, 2))):
        turns.append((rng.choice(TOO).format(x=other), other_has, other, other_why))
    return [
        (
            asked,
            f"{'Yes' if holds != turned else 'No'}, {name} {yes if holds else no}: {reason}.",
            (name,),
        )
        for asked, holds, name, reason in turns
    ]


LETTERS = (
    "what does {x} stand for", "what does {x} stand for", "{x} stands for", "{x} stands for what",
    "{x} is short for what", "what is {x} short for", "what do the letters {x} mean", "{x} in full",
    "what does the abbreviation {x} mean", "spell out {x}", "meaning of the letters {x}",
    "the long form of {x}", "expand {x}", "{x} abbreviation", "what is the full form of {x}",
    "what do the letters in {x} stand for", "full form of {x}", "{x} full form",
)  # fmt: skip


@cache
def letters() -> tuple[tuple[str, str], ...]:
    lines = (FORMS / "letters.txt").read_text(encoding="utf-8").splitlines()
    return tuple((short, long) for short, _, long in (line.partition(" | ") for line in lines))


def expand(rng: random.Random, held_out: bool) -> list[tuple[str, str, tuple[str, ...]]]:
    """What letters stand for; now and then of two in turn."""
    turns: list[tuple[str, str, tuple[str, ...]]] = []
    while True:
        short, long = rng.choice(letters())
        form = rng.choice(LETTERS)
        if (zlib.crc32(f"{short}/{form}".encode()) % 12 == 0) == held_out:
            question = form.format(x=short)
            if not taken(question):
                break
    turns.append((question, f"{short} stands for {long}.", (short,)))
    if rng.random() < 0.25:
        other, its = rng.choice([entry for entry in letters() if entry[0] != short])
        turns.append((rng.choice(TOO[:6]).format(x=other), f"{other} stands for {its}.", (other,)))
    return turns


def sentence_of(text: str) -> str:
    return (
        text
        if text.startswith(
            ("vLLM", "specchat", "llama.cpp", "int8", "heads ", "--", "α", "τ", "γ", "tok/s")
        )
        else sentence(text)
    )


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    draw = rng.random()
    way = compare if draw < PAIRS else expand if draw < PAIRS + LONG else decide
    texts: list[str] = []
    for question, answer, keep in way(rng, held_out):
        text = alternative(rng, question)
        asks = re.search(r"(?i)\b(what|how|is|are|does|do|can|must|will|and)\b", text)
        if asks and rng.random() < 0.7:
            text += "?"
        text = re.sub(r"\bi\b", "I", text) if rng.random() < 0.6 else text
        text = sentence_of(text) if rng.random() < 0.6 else text
        words = [word for name in keep for word in re.sub(r"^(a|an|the) ", "", name).split()]
        texts += [text if texts else typed_with(rng, text, *words), answer]
    return chat(*texts)
