"""Short questions as people type them: "half of 50", "100 - 1", "opposite of hot", "does x rhyme
with y", "four things for a picnic". The answers are worked out, so that they are right.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus import arithmetic, facts, lists, quantities, wordplay
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.school import Asked, Kinds
from assets.demo.recipe.corpus.steps import key_of, solved
from assets.demo.recipe.corpus.subject import read_subject
from assets.demo.recipe.corpus.text import (
    Conversation,
    Topic,
    alternative,
    as_typed,
    chat,
    listed,
    sentence,
)
from assets.demo.recipe.corpus.unknown import plain

TELLS = re.compile("(i need|name|give|tell|list|take|subtract|add|halve|.*(pls|=$))")  # no question


def _form(rng: random.Random, forms: tuple[str, ...], **words: object) -> str:
    """One of `forms`, filled in, with or without its question mark."""
    text = " ".join(alternative(rng, rng.choice(forms)).format_map(words).split())
    if text[-1].isalnum() and not TELLS.match(text) and rng.random() < 0.4:
        text += "?"
    return sentence(text) if rng.random() < 0.3 else text


# --- numbers -------------------------------------------------------------------------------------

HALF = (
    "half of {a}", "half of {a}", "[the|a] half of {a}", "half {a}", "{a} halved", "halve {a}",
    "[whats|what's|what is] half of {a}", "{a} cut in half", "half of {a} is", "and half of {a}",
    "half of {a} pls", "[so |]what is half of {a}", "{a} in half", "tell me half of {a}",
)  # fmt: skip
DOUBLE = (
    "double {a}", "double {a}", "double of {a}", "twice {a}", "{a} doubled", "2 times {a}",
    "[whats|what's|what is] double {a}", "[whats|what's|what is] twice {a}", "{a} twice",
    "two times {a}", "double {a} pls", "double {a} is", "the double of {a}",
)  # fmt: skip
MINUS = (
    "{a} - {b}", "{a} - {b}", "{a}-{b}", "{a} - {b} =", "{a}-{b}=", "{a} minus {b}",
    "{a} take away {b}", "{a} less {b}", "{b} less than {a}", "{b} fewer than {a}",
    "[whats|what is] {b} less than {a}", "take {b} from {a}", "subtract {b} from {a}",
    "[whats|what's] {a} minus {b}", "{a} - {b} = ?", "take {b} away from {a}",
)  # fmt: skip
PLUS = (
    "{a} + {b}", "{a}+{b}", "{a} + {b} =", "{a} plus {b}", "{a} and {b}", "{b} more than {a}",
    "[whats|what is] {b} more than {a}", "add {b} to {a}", "[whats|what's] {a} plus {b}",
    "{a}+{b}=", "sum of {a} and {b}", "{a} and {b} more", "{a} + {b} = ?",
)  # fmt: skip
TIMES = (
    "{a} times {b}", "{a} x {b}", "{a}x{b}", "{a}*{b}", "{a} * {b}", "{a} x {b} =",
    "[whats|what's] {a} times {b}", "{a} multiplied by {b}", "{a} {b}s", "product of {a} and {b}",
)  # fmt: skip
BIGGER = (
    "is {a} bigger than {b}", "is {a} larger than {b}", "{a} bigger than {b}", "{a} > {b}",
    "is {a} more than {b}", "{a} more than {b}", "is {a} greater than {b}", "is {a} > {b}",
    "[so |]is {a} higher than {b}", "is {a} over {b}", "{a} larger than {b}, yes or no",
    "is {a} bigger than {b}, yes or no",
)  # fmt: skip
SMALLER = (
    "is {a} smaller than {b}", "is {a} less than {b}", "{a} smaller than {b}", "{a} < {b}",
    "is {a} lower than {b}", "is {a} < {b}", "is {a} under {b}", "{a} below {b}",
)  # fmt: skip
AFTER = (
    "next number after {a}", "number after {a}", "what comes after {a}", "after {a} comes",
    "{a} and then", "the one after {a}", "whats after {a}", "[and |]after {a}", "{a}, next",
    "which number is after {a}", "{a} + 1",
)  # fmt: skip
BEFORE = (
    "number before {a}", "what comes before {a}", "the one before {a}", "whats before {a}",
    "before {a} comes", "[and |]before {a}", "which number is before {a}", "number just before {a}",
    "{a} - 1",
)  # fmt: skip


def halves(rng: random.Random) -> Asked:
    a = 10 * rng.randint(1, 20) if rng.random() < 0.5 else 2 * rng.randint(1, 60)
    steps, result = quantities.part_steps("half", a)
    question = _form(rng, HALF, a=a)
    key = f"half of {a}" if a > 20 else f"half of {a}|{plain(question)}"
    return Asked(key, question, f"{steps} So half of {a} is {result}.", (str(a),))


def doubles(rng: random.Random) -> Asked:
    a = rng.randint(1, 100)
    question = _form(rng, DOUBLE, a=a)
    answer = f"To double {a}, I add {a} to itself. {arithmetic.added(a, a)} Double {a} is {2 * a}."
    return Asked(key_of(a, "+", a, plain(question)), question, answer, (str(a),))


def _near(rng: random.Random, a: int) -> int:
    """A number that is often taken from `a` or added to it."""
    way = rng.random()
    if way < 0.55:
        return rng.choice((1, 1, 2, 3, 5, 10, rng.randint(1, 9)))
    return rng.randint(1, max(1, min(a, 99)))


def differences(rng: random.Random) -> Asked:
    a = rng.choice((100, 10 * rng.randint(1, 10), rng.randint(2, 100), rng.randint(2, 30)))
    b = _near(rng, a)
    a, b = max(a, b), min(a, b)
    question = _form(rng, MINUS, a=a, b=b)
    key = key_of(a, "-", b, plain(question))
    return Asked(key, question, solved(a, "-", b), (str(a), str(b)))


def sums(rng: random.Random) -> Asked:
    a = rng.choice((10 * rng.randint(1, 9), rng.randint(1, 99), rng.randint(1, 30)))
    b = _near(rng, 99)
    question = _form(rng, PLUS, a=a, b=b)
    return Asked(key_of(a, "+", b, plain(question)), question, solved(a, "+", b), (str(a), str(b)))


def products(rng: random.Random) -> Asked:
    a, b = rng.randint(1, 10), rng.randint(2, 10)
    question = _form(rng, TIMES[:-2] if a == b else TIMES, a=a, b=b)
    return Asked(key_of(a, "x", b, plain(question)), question, solved(a, "x", b), (str(a), str(b)))


def bigger(rng: random.Random) -> Asked:
    """What shows which is larger, and only then the verdict."""
    a, b = rng.sample(range(101) if rng.random() < 0.8 else range(1000), 2)
    high, low = max(a, b), min(a, b)
    if len(str(a)) == len(str(b)) > 2:
        return bigger(rng)
    more = rng.random() < 0.65
    question = _form(rng, BIGGER if more else SMALLER, a=a, b=b)
    verdict = "yes" if (a > b) == more else "no"
    said = f"{high} is larger than {low}" if more else f"{low} is smaller than {high}"
    answer = f"{arithmetic._compared(a, b)}. So {said}, and the answer is {verdict}."
    return Asked(f"compare {low} {high}", question, answer, (str(a), str(b)))


def neighbours(rng: random.Random) -> Asked:
    a = rng.randint(1, 100)
    if rng.random() < 0.25:
        a = 10 * rng.randint(1, 20) - (rng.random() < 0.6)  # where the tens change
    if rng.random() < 0.55:
        question = _form(rng, AFTER[:-1], a=a)
        answer = f"After {a} comes {a + 1}. It is one more than {a}."
    else:
        question = _form(rng, BEFORE[:-1], a=a)
        answer = f"Before {a} comes {a - 1}. It is one less than {a}."
    return Asked(plain(question), question, answer, (str(a),))


# --- words ---------------------------------------------------------------------------------------

OPPOSITE = (
    "opposite of {w}", "opposite of {w}", "opposite of {w}", "the opposite of {w}", "{w} opposite",
    "opposite {w}", "[whats|what's|what is] the opposite of {w}", "antonym of {w}", "opp of {w}",
    "{w}, the opposite", 'opposite of "{w}"', "the opposite of {w} is", "{w} - opposite",
    "not {w} but", "[what's|what is] the opposite of \"{w}\"", "opposite for {w}",
    "[and |]the opposite of {w}", "i need the opposite of {w}", "word for the opposite of {w}",
)  # fmt: skip
DO_RHYME = (
    "does {a} rhyme with {b}", "does {a} rhyme with {b}", "do {a} and {b} rhyme",
    "{a} and {b}, do they rhyme",
    "does {a} rhyme on {b}", "is {a} a rhyme for {b}", "{a} rhymes with {b}, right",
    "rhyme or not: {a}, {b}", "[can|could] i rhyme {a} with {b}", "do the words {a} and {b} rhyme",
    'does "{a}" rhyme with "{b}"', "is {a} / {b} a rhyme", "does {a} go with {b} in a rhyme",
    "would {a} rhyme with {b}",
)  # fmt: skip
RHYMED = (
    "{n} words that rhyme with {w}", "{n} rhymes for {w}", "{n} rhymes with {w}", "{n} {w} rhymes",
    "{n} words rhyming with {w}", "rhymes for {w}, {n} of them", "{w}: {n} rhymes",
    "give me {n} rhymes for {w}", "name {n} words that rhyme with {w}",
    "i need {n} rhymes for {w}", '{n} words that rhyme with "{w}"',
)  # fmt: skip


def opposites(rng: random.Random) -> Asked:
    word = rng.choice(tuple(wordplay.OPPOSITES))
    other = wordplay.OPPOSITES[word]
    answer = f"The opposite of {word} is {other}."
    if wordplay.OPPOSITES.get(other) == word:
        answer += f" And the opposite of {other} is {word}."
    question = _form(rng, OPPOSITE, w=word)
    return Asked(plain(question), question, answer, (word,))


def ending(word: str) -> str:
    """The letters from the last vowel that is heard: `ouse` of house, `ee` of tree."""
    found = re.search(r"[aeiouy]+[^aeiouy]+e$|[aeiouy]+[^aeiouy]*$", word)
    return found[0] if found else word


def _last_sound(word: str) -> str:
    """The group of sounds a word ends in, vowels in one: words of two groups never rhyme."""
    bare = word.removesuffix("e") if re.search(r"[aeiouy][^aeiouy]+e$", word) else word
    groups = {"k": "kcqgx", "s": "szc", "t": "td", "p": "pb", "f": "fv", "m": "mn", "l": "l"}
    for name, letters in groups.items():
        if bare[-1] in letters:
            return name
    return "vowel" if bare[-1] in "aeiouyw" else bare[-1]


def do_rhyme(rng: random.Random, word: str = "") -> Asked:
    """Whether two words rhyme, with what they end in."""
    word = word or rng.choice(tuple(wordplay.RHYMES))
    if rng.random() < 0.55:
        other = rng.choice(wordplay.RHYMES[word])
        one, two = ending(word), ending(other)
        end = one if len(one) <= len(two) else two
        alike = word.endswith(end) and other.endswith(end)
        why = f"both end in -{end}" if alike else "both end in the same sound"
        answer = f"Yes, {word} rhymes with {other}: {why}."
        if alike and {word, other} & {end}:
            answer = f"Yes, {word} rhymes with {other}: they end in the same sound."
    else:
        while True:
            other = rng.choice(tuple(wordplay.RHYMES))
            ends = _last_sound(word), _last_sound(other)
            if ends[0] != ends[1] and not re.search("gh$|h$", word + " " + other):
                break
            word = rng.choice(tuple(wordplay.RHYMES))
        answer = (
            f"No, {word} does not rhyme with {other}: {word} ends in -{ending(word)}, and {other} "
            f"in -{ending(other)}."
        )
    question = _form(rng, DO_RHYME, a=word, b=other)
    low, high = sorted((word, other))
    return Asked(f"rhyme {low} {high}", question, answer, (word, other))


def rhymed(rng: random.Random) -> Asked:
    """So many words with a rhyme, or as many as there are."""
    word = rng.choice([word for word in wordplay.RHYMES if len(wordplay.RHYMES[word]) > 2])
    n = rng.choice((2, 3, 3, 3, 3, 4))
    said = in_words(n) if rng.random() < 0.6 else str(n)
    answer = wordplay.rhyming(word, n)
    question = _form(rng, RHYMED, n=said, w=word)
    return Asked(plain(question), question, answer, (word, said))


# --- things for a purpose ------------------------------------------------------------------------

FOR = (
    "{n} things for {p}", "{n} things [i|we] need for {p}", "{n} things to take along for {p}",
    "name {n} things for {p}", "list {n} things for {p}", "{n} things one needs for {p}",
    "give me {n} things for {p}", "{n} things you need for {p}", "i need {n} things for {p}",
    "[which|what] {n} things do i need for {p}", "tell me {n} things for {p}",
    "{n} useful things for {p}", "what {n} things should i bring for {p}",
)  # fmt: skip
AS_LIST = (", as a list", " as a list", ", list please", ", one per line", " in a list")


def things_for(rng: random.Random) -> Asked:
    """As many different things as asked."""
    place, items = rng.choice(lists._rows("packing"))
    cooked = rng.random() < 0.35
    if cooked:
        place, items = rng.choice(lists._rows("shopping"))
    n = rng.randint(2, len(items))
    chosen = items[:n] if rng.random() < 0.6 else tuple(rng.sample(items, n))
    said = in_words(n) if rng.random() < 0.7 else str(n)
    question = alternative(rng, rng.choice(FOR)).format(n=said, p=place)
    answer = f"{sentence(in_words(n))} things for {place}: {listed(chosen)}."
    if rng.random() < 0.3:
        question += rng.choice(AS_LIST)
        answer = "\n".join(f"- {item}" for item in chosen)
    your = answer.replace(" my ", " your ")
    return Asked(plain(question), question, your, (said, place))


# --- so many sentences ----------------------------------------------------------------------------

IN_SENTENCES = (
    "{q} in {n}", "in {n}: {q}", "{q}, in {n}", "{q}, but only in {n}", "{q} (in {n})",
    "{q} please use {n}", "answer in {n}: {q}", "{q}, {n} please", "{q}, not more than {n}",
    "with {n}: {q}", "{q} - {n} will do", "just {n}: {q}",
)  # fmt: skip


def in_sentences(rng: random.Random) -> Asked:
    """An explanation of one sentence or two: the first ones of the answer."""
    one = rng.choice(read_subject().topics) if rng.random() < 0.6 else rng.choice(_facts())
    answer = one.answer(rng)
    parts = re.split(r"(?<=[.?!]) (?=[A-Z])", answer)
    n = rng.choice((1, 2, 2, 2, 3))
    if (
        len(parts) <= n
        or "\n" in answer
        or not len(parts[0]) > 25
        or parts[n - 1].endswith("reasons.")
    ):
        return in_sentences(rng)
    question = rng.choice(one.questions).rstrip(".?!")
    said = "one sentence" if n == 1 else f"{in_words(n)} sentences" if n == 3 else (
        rng.choice(("two sentences", "two sentences", "2 sentences"))
    )  # fmt: skip
    form = rng.choice(IN_SENTENCES[:-1] if n == 1 else IN_SENTENCES)
    text = form.format(q=question, n=said)
    return Asked(f"sentences {question}", text, " ".join(parts[:n]), (question, said))


@cache
def _facts() -> tuple[Topic, ...]:
    return tuple(facts.topics())


KINDS = Kinds({
    in_sentences: 8,
    halves: 9, doubles: 7, differences: 14, sums: 7, products: 5, bigger: 10, neighbours: 8,
    opposites: 18, do_rhyme: 10, rhymed: 10, things_for: 9,
})  # fmt: skip
KEPT = ("here goes: ", "a quick one, ", "short one: ", "let me see, ")  # before what is kept back
JUST = ("quick: ", "hey, ", "and ", "ok, ", "so ", "now ", "pls: ", "hi, ")


def typed(rng: random.Random, asked: Asked) -> str:
    """The question as it is typed in a hurry, mostly in small letters and without more words."""
    way = rng.random()
    if way < 0.06:
        return rng.choice(JUST) + asked.question[0].lower() + asked.question[1:]
    if way < 0.1:
        return f"{asked.question.rstrip('?')} {rng.choice(('please', 'pls', 'thanks'))}"
    if way < 0.3:
        text = as_typed(rng, sentence(asked.question))
        if all(word.lower() in text.lower() for word in asked.keep):
            return text
    return asked.question


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    asked = KINDS.draw(rng, held_out)
    if held_out:
        return chat(f"{rng.choice(KEPT)}{asked.question}", asked.answer)
    turns = [typed(rng, asked), asked.answer]
    while rng.random() < 0.25 and len(turns) < 8:
        asked = KINDS.draw(rng, False)
        turns += [typed(rng, asked), asked.answer]
    return chat(*turns)
