"""Words, letters, the calendar and small knowledge of things: what follows a list or a rule.

The lists stand in `words.txt`: sections in brackets, entries parted by semicolons or lines.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterable, Sequence
from pathlib import Path

from assets.demo.recipe.corpus import daily, facts
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.school import Asked, Kinds, typed
from assets.demo.recipe.corpus.subjects import FIRST_NAMES, made_up, rare_name, split
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    FORMS,
    Conversation,
    chat,
    early,
    listed,
    read_sections,
    sentence,
    with_article,
)


def _sections() -> dict[str, list[str]]:
    """The entries of `words.txt` by section; a line of a named list is one entry."""
    text = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for block in re.split(r"^\[", text, flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("]\n")
        whole = name in ("groups", "sizes", "sentence words", "frames")
        entries = re.split(r"\n" if whole else r"[;\n]", body)
        found[name] = [entry.strip() for entry in entries if entry.strip()]
    return found


WORDS = _sections()


def _pairs(section: str) -> list[tuple[str, str]]:
    return [(entry.rpartition(" ")[0], entry.rpartition(" ")[2]) for entry in WORDS[section]]


def _named_lists(section: str, by: str) -> dict[str, list[str]]:
    parts = [entry.partition(": ") for entry in WORDS[section]]
    return {name: [item.strip() for item in items.split(by)] for name, _, items in parts}


def _ask(
    rng: random.Random, wordings: tuple[str, ...], answer: str, *keep: str, **words: object
) -> Asked:
    """One of `wordings`, filled in; the question itself is what it is kept apart by."""
    form = rng.choice(wordings)
    if "w" in words and '"' not in form and rng.random() < 0.12:
        form = form.replace("{w}", '"{w}"')
    question = sentence(form.format_map(words))
    return Asked(question, question, sentence(answer), keep)


# --- words and their relatives -------------------------------------------------------------------

OPPOSITES: dict[str, str] = {}
for _one, _other in _pairs("opposites"):
    OPPOSITES.setdefault(_one, _other)
    OPPOSITES.setdefault(_other, _one)
# The words of `thesaurus.py`, each with its others, and a few that have only one.
OTHER_WORDS: dict[str, tuple[str, ...]] = {
    word: tuple(others.split(", "))
    for line in read_sections(FORMS / "thesaurus.txt")["words"]
    for word, _, others in [line.partition(" | ")[0].partition(": ")]
}
SYNONYMS = {
    word: OTHER_WORDS[word][0] if word in OTHER_WORDS else other
    for word, other in _pairs("synonyms")
}
PLURALS = dict(_pairs("plurals"))


def _plural(noun: str) -> str:
    """By the rule."""
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return f"{noun}es"
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if re.search(r"(?i)(?<!hu)(?<!ger)(?<!ro)man$", noun):
        return f"{noun[:-3]}men"
    return f"{noun}s"


REGULAR = {noun: _plural(noun) for line in WORDS["regular nouns"] for noun in line.split()}
PAST = [tuple(entry.split(" ", 2)) for entry in WORDS["past"]]
SAME_SOUND = {frozenset(entry.split()) for entry in WORDS["homophones"]}
RHYMES: dict[str, list[str]] = {}
for _entry in WORDS["rhymes"]:
    for _word in _entry.split():
        _others = [x for x in _entry.split() if x != _word and {x, _word} not in SAME_SOUND]
        RHYMES.setdefault(_word, _others)

ASK_OPPOSITE = (
    "What is the opposite of {w}?", "Opposite of {w}", "What's the opposite of {w}?",
    "Tell me the opposite of {w}.", "Which word is the opposite of {w}?", "{w}: opposite?",
    "What word means the opposite of {w}?", "Give me the opposite of {w}.", "Antonym of {w}",
    "Do you know the opposite of {w}?", "What is the antonym of {w}?", "The opposite of {w} is ...",
    "the opposite of {w}", "whats the opposite of {w}", "opposite of the word {w}", "{w} opposite",
    "an antonym for {w}", "What is the opposite of the word {w}?", "the opposite of {w} please",
    "Name the opposite of {w}.", "opposite word of {w}", "what is opposite to {w}",
)  # fmt: skip
ASK_SYNONYM = (
    "What is another word for {w}?", "Another word for {w}", "What is a synonym for {w}?",
    "Synonym for {w}", "Give me a synonym of {w}.", "Which word means the same as {w}?",
    "What word means the same as {w}?", "How else can I say {w}?", "A different word for {w}?",
    "Do you know another word for {w}?", "Tell me a word that means the same as {w}.",
)  # fmt: skip
ASK_PLURAL = (
    "What is the plural of {w}?", "Plural of {w}", "What's the plural of {w}?", "{w}: plural?",
    "Tell me the plural of {w}.", "How do you write the plural of {w}?", "One {w}, two ...?",
    "What is the plural form of {w}?", "Give me the plural of {w}.",
    "What do you call more than one {w}?", "Do you know the plural of {w}?", "plural of {w}",
    "{w} plural", "whats the plural of {w}", "more than one {w}", "plural form of {w}",
    "the plural of {w}", "how do you say {w} in the plural", "two {w} or what?",
)  # fmt: skip
ASK_PAST = (
    "What is the past tense of {w}?", "Past tense of {w}", "What's the past tense of {w}?",
    "Tell me the past tense of {w}.", "Give me the past tense of {w}.", "{w}: past tense?",
    "Put {w} in the past tense.", "What is the past form of {w}?",
    "Today I {w}, yesterday I ...?", "How do you say {w} in the past?",
    "What does {w} become in the past tense?",
)  # fmt: skip
ASK_RHYME = (
    "What rhymes with {w}?", "Which word rhymes with {w}?", "Tell me a word that rhymes with {w}.",
    "Find a rhyme for {w}.", "Rhymes with {w}", "Give me a rhyme for {w}.", "Rhyme for {w}?",
    "Do you know a word that rhymes with {w}?", "What words rhyme with {w}?",
    "I need a word that rhymes with {w}.", "Can you rhyme something with {w}?",
    "Rhyme something with {w}.", "Something that rhymes with {w}", "a word that rhymes with {w}",
    "a rhyme for {w}", "words that rhyme with {w}", "rhymes for {w}", "Name a rhyme for {w}.",
    "some words that rhyme with {w}", "whats a rhyme for {w}", "{w} rhymes with what?",
)  # fmt: skip


def opposites(rng: random.Random) -> Asked:
    word = early(rng, tuple(OPPOSITES))
    answer = f"The opposite of {word} is {OPPOSITES[word]}."
    if OPPOSITES.get(OPPOSITES[word]) == word:
        answer += f" And the opposite of {OPPOSITES[word]} is {word}."
    return _ask(rng, ASK_OPPOSITE, answer, word, w=word)


def another_word(word: str) -> str:
    """The answer that names one, and then the others."""
    first, *more = OTHER_WORDS.get(word, (SYNONYMS.get(word, ""),))
    said = f'"{word}"' if " " in word else word
    also = f" You can also say {' or '.join(more[:2])}." if more else ""
    return f"Another word for {said} is {first}.{also}"


def synonyms(rng: random.Random) -> Asked:
    word = early(rng, tuple(SYNONYMS))
    answer = another_word(word)
    return _ask(rng, ASK_SYNONYM, answer, word, w=word)


def plurals(rng: random.Random) -> Asked:
    if rng.random() < 0.35:
        word = rng.choice(tuple(PLURALS))
        many = PLURALS[word]
        more = "The word stays the same." if many == word else f"One {word}, two {many}."
        if many == word:
            more = f"The word stays the same: one {word}, two {many}."
    else:
        word = rng.choice(tuple(REGULAR))
        many = REGULAR[word]
        more = f"One {word}, two {many}."
    return _ask(rng, ASK_PLURAL, f"The plural of {word} is {many}. {more}", word, w=word)


def past(rng: random.Random) -> Asked:
    word, then, rest = rng.choice(PAST)
    answer = f"The past tense of {word} is {then}. For example: Yesterday I {then} {rest}."
    if word in ("let", "shine", "become", "steal"):
        answer = f"The past tense of {word} is {then}. For example: Last week I {then} {rest}."
    return _ask(rng, ASK_PAST, answer, word, w=word)


def rhyming(word: str, n: int | None = None) -> str:
    """The answer that has `n` rhymes, or as many as there are; the first of the family mostly."""
    words = RHYMES[word]
    if n == 1 or (len(words) == 1 and n is None):
        return f"One word that rhymes with {word} is {words[0]}."
    if n and n > len(words):
        known = (
            "one word that rhymes"
            if len(words) == 1
            else f"{in_words(len(words))} words that rhyme"
        )
        return f"I know only {known} with {word}: {listed(words)}."
    return f"These words rhyme with {word}: {listed(words[: n or 5])}."


def rhymes(rng: random.Random) -> Asked:
    word = early(rng, tuple(RHYMES))
    asked = _ask(rng, ASK_RHYME, "", word, w=word)
    one = re.search(r"\ba (word|rhyme)|which word|rhyme for", asked.question.lower())
    return asked._replace(answer=rhyming(word, 1 if one else None))


# --- letters -------------------------------------------------------------------------------------

GROUPS = {
    entry.partition(": ")[0].partition(" = ")[0]: entry.partition(": ")[2].split(", ")
    for entry in WORDS["groups"]
}
KINDS_OF = {
    entry.partition(": ")[0].partition(" = ")[2]: entry.partition(": ")[2].split(", ")
    for entry in WORDS["groups"]
    if " = " in entry
}
# What people ask for first.
FIRST_GROUPS = (
    "fruits", "animals", "colours", "planets", "days of the week", "months", "vegetables",
    "countries", "cities", "birds", "flowers", "sports",
)  # fmt: skip
SENTENCE_WORDS = _named_lists("sentence words", ",")
FRAMES = _named_lists("frames", ";")
_POOLS: tuple[Iterable[str], ...] = (
    OPPOSITES, SYNONYMS, PLURALS, REGULAR, RHYMES, *GROUPS.values(), *SENTENCE_WORDS.values(),
)  # fmt: skip
VOCABULARY = sorted({w for pool in _POOLS for w in pool if re.fullmatch("[a-z]{3,8}", w)})
SHORT = [word for word in VOCABULARY if len(word) <= 6]
# Every word of the hand-written answers: what is to be copied or spelled must be more than can be
# learned by heart.
TEXT = " ".join(path.read_text(encoding="utf-8") for path in sorted(ANSWERS.glob("facts_*.txt")))
TEXT_WORDS = sorted(set(re.findall(r"\b[a-z]{2,11}\b", TEXT)))
COMMON = daily.common()
# Words and how they are often spelled wrong.
MISSPELLED = {
    entry.split()[0]: entry.split()[1:]
    for row in read_sections(FORMS / "misspelled.txt")["misspelled"]
    for entry in row.split("; ")
    if entry.split(" ", 1)[0].isalpha()
}
KNOWN = frozenset(COMMON) | frozenset(MISSPELLED)
LETTERS = string.ascii_lowercase
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
)  # fmt: skip

ASK_SPELL = (
    "spell {w}", "how do u spell {w}", "can you spell {w} for me", "spell out {w}",
    "How do you spell {w}?", "Spell {w}.", "Spell the word {w}.", "How is {w} spelled?",
    "Can you spell {w}?", "Please spell {w}.", "Spell {w} letter by letter.",
    "What letters are in {w}?", "What is the spelling of {w}?", "Spelling of {w}",
    "Say the letters of {w}.", "spell {w} letter by letter", "Spell {w} letter by letter, please.",
    "Spell the word {w} letter by letter.", "Can you spell {w} letter by letter?", "letters of {w}",
    "Write {w} letter by letter.", "Give me the letters of {w}.", "Spell out the word {w} for me.",
    "write {w} with dashes between the letters", "Put a dash between the letters of {w}.",
    "spelling please: {w}", "Which letters make the word {w}?", "break {w} into letters",
    "spell: {w}", "spell the word {w}", "the word {w}, letter by letter", "how to spell {w}",
    "how do i spell {w}", "{w} letter by letter", "spell it: {w}", "how do you spell the word {w}",
    "Spell out {w} letter by letter.", "{w}, spelled out", "Please spell the word {w} for me.",
)  # fmt: skip
ASK_SPELL_NAME = (
    "My name is {w}. Spell it.", "Spell the name {w}.", "Spell my name: {w}", "spell {w}",
    "Spell {w}.", "How do you spell {w}?", "How is the name {w} spelled?",
    "Spell my name, it is {w}.", "Can you spell the name {w}?", "Spell {w} letter by letter.",
    "My name is {w}, can you spell it?", "i am {w}, spell my name",
    "Say the letters of the name {w}.",
)  # fmt: skip
ASK_JOIN = (
    "Put these letters together: {x}", "What word is {x}?", "Join the letters {x}.",
    "What does {x} spell?", "Which word do I spell: {x}", "{x} is what word?", "Read this: {x}",
    "Put the letters {x} into one word.",
)  # fmt: skip
ASK_COUNT_LETTERS = (
    "How many letters are in {w}?", "How many letters does {w} have?",
    "Count the letters in {w}.", "How long is the word {w}?", "Number of letters in {w}",
    "How many letters are in the word {w}?", "How many letters does the word {w} have?",
)  # fmt: skip
ASK_FIRST = (
    "What is the {end} letter of {w}?", "{end} letter of {w}", "What's the {end} letter of {w}?",
    "What is the {end} letter in the word {w}?", "Which letter is the {end} one in {w}?",
    "Tell me the {end} letter of {w}.", "Which is the {end} letter of the word {w}?",
)  # fmt: skip
ASK_STARTS = (
    "What letter does {w} start with?", "Which letter does {w} begin with?",
    "What does the word {w} start with?", "With which letter does {w} begin?",
)  # fmt: skip
ASK_VOWELS = (
    "Which vowels are in {w}?", "What are the vowels in {w}?", "Find the vowels in {w}.",
    "Vowels in {w}", "How many vowels are in {w}?", "How many vowels does {w} have?",
    "Tell me the vowels of {w}.", "Which letters of {w} are vowels?",
)  # fmt: skip
ASK_BACKWARDS = (
    "reverse {w}", "{w} in reverse", "What is {w} spelled backwards?", "spell {w} backwards pls",
    "Write {w} backwards.", "What is {w} backwards?", "Reverse the word {w}.", "{w} backwards",
    "Spell {w} backwards.", "Reverse {w}.", "How do you write {w} backwards?",
    "Can you say {w} backwards?", "Turn the word {w} around.",
)  # fmt: skip
ASK_AFTER = (
    "What letter comes after {x}?", "Which letter comes after {x}?",
    "What comes after the letter {x}?",
    "What is the letter after {x}?", "Letter after {x}?", "Which letter follows {x}?",
    "In the alphabet, what comes after {x}?", "What is the next letter after {x}?",
)  # fmt: skip
ASK_BEFORE = (
    "What letter comes before {x}?", "Which letter comes before {x}?",
    "What is the letter before {x}?",
    "What comes before the letter {x}?", "Letter before {x}?", "Which letter is before {x}?",
    "In the alphabet, what comes before {x}?",
)  # fmt: skip
ASK_PLACE = (
    "What is the {n} letter of the alphabet?", "Which letter is the {n} in the alphabet?",
    "{n} letter of the alphabet", "Tell me the {n} letter of the alphabet.",
    "What's the {n} letter in the alphabet?",
)  # fmt: skip
FIRST_LETTERS = (
    "What are the first {n} letters of the alphabet?", "the first {n} letters of the alphabet",
    "Say the first {n} letters of the alphabet.", "first {n} letters",
    "alphabet, first {n} letters", "Write the first {n} letters.",
    "Name the first {n} letters of the alphabet.",
)  # fmt: skip
ASK_IS_VOWEL = (
    "Is {x} a vowel?", "Is {x} a vowel or a consonant?", "Is the letter {x} a vowel?",
    "Is {x} a consonant?", "What is {x}, a vowel or a consonant?", "Vowel or consonant: {x}",
)  # fmt: skip
ALPHABET = (
    ("Say the alphabet.", "Tell me the alphabet.", "List the letters.",
     "What are the letters of the alphabet?", "Can you say the alphabet?", "Recite the alphabet.",
     "The alphabet, please.", "Write the alphabet.", "Do you know the alphabet?"),
    "The alphabet is " + ", ".join(LETTERS) + ". It has 26 letters.",
)  # fmt: skip
HOW_MANY = (
    (("What are consonants?", "Which letters are consonants?", "What is a consonant?",
      "How many consonants are there?", "Explain consonants."),
     "Consonants are all letters that are not vowels, such as b, c, d, f and g. There are 21."),
    (("What is the last letter of the alphabet?", "Last letter of the alphabet",
      "Which letter comes last in the alphabet?", "How does the alphabet end?"),
     "The last letter of the alphabet is z. It is the 26th letter."),
)  # fmt: skip


def spelled(word: str) -> str:
    return "-".join(word)


# What people ask to have spelled: its letters must be known by heart, for it is few tokens.
ASKED_WORDS = WORDS["asked words"]


def _any_word(rng: random.Random, known: list[str]) -> str:
    """A word that is often asked for, one of `known`, or one that nobody has seen: its letters can
    only be read off."""
    way = rng.random()
    if way < 0.2:
        return early(rng, ASKED_WORDS)
    if way < 0.6:
        return rng.choice(COMMON)
    if way < 0.9:
        word: str = rng.choice(known if way < 0.75 else TEXT_WORDS)
        return word
    return made_up(rng)


ASK_SPELL_WRONG = (
    "how do you spell {w}",
    "How do you spell {w}?",
    "how is {w} spelled",
    "spell {w}",
    "{w} spelling",
    "correct spelling of {w}",
    "What is the correct spelling of {w}?",
    "how do you write {w}",
    "how to spell {w}",
    "how do you spell {w} correctly",
    "the right spelling of {w}",
    "can you spell {w}",
    "how is {w} written",
    "spell {w} correctly",
    "fix this word: {w}",
    "Correct this word: {w}",
    "the word {w}, how is it spelled",
)
ASK_WHICH = (
    "{a} or {b}?",
    "Is it {a} or {b}?",
    "Which is right, {a} or {b}?",
    "is it spelled {a} or {b}",
    "Which spelling is correct: {a} or {b}?",
    "do you write {a} or {b}",
    "{a} or {b}, which is right",
)


ASK_RIGHT = (
    "is {w} spelled right",
    "Is {w} spelled correctly?",
    "is it spelled {w}",
    "{w} - is that right?",
    "did i spell {w} right",
    "Is {w} correct?",
    "is {w} the right spelling",
    "Do you write {w}?",
    "is {w} right or wrong",
)


def misspelling(rng: random.Random) -> Asked:
    """A word as many people write it, or with a slip, and how it is written."""
    if rng.random() < 0.6:
        word = rng.choice(tuple(MISSPELLED))
        wrong = rng.choice(MISSPELLED[word])
    else:
        word = rng.choice([word for word in COMMON if len(word) > 5])
        wrong = slipped(rng, word)
        if wrong in KNOWN:
            return misspelling(rng)
    answer = f"The word {word} is spelled {spelled(word)}. It has {len(word)} letters."
    if rng.random() < 0.2:
        a, b = rng.sample((word, wrong), 2)
        return _ask(
            rng, ASK_WHICH, f"The right spelling is {word}: {spelled(word)}.", a, b, a=a, b=b
        )
    if rng.random() < 0.35:
        if rng.random() < 0.45:
            return _ask(rng, ASK_RIGHT, f"Yes, {word} is right: {spelled(word)}.", word, w=word)
        answer = f"No. The word {word} is spelled {spelled(word)}."
        return _ask(rng, ASK_RIGHT, answer, wrong, w=wrong)
    return _ask(rng, ASK_SPELL_WRONG, answer, wrong, w=wrong)


def slipped(rng: random.Random, word: str) -> str:
    """`word` with two letters swapped, or one lost or doubled, behind its first letter."""
    at = rng.randrange(1, len(word) - 1)
    way = rng.randrange(3)
    if way == 0 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + (word[at] * 2 if way == 1 else "") + word[at + 1 :]


def spelling(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.22:
        name = rare_name(rng) if rng.random() < 0.8 else rng.choice(split(FIRST_NAMES)[0])
        answer = f"The name {name} is spelled {spelled(name)}. It has {len(name)} letters."
        return _ask(rng, ASK_SPELL_NAME, answer, name, w=name)
    word = _any_word(rng, VOCABULARY)
    if way < 0.32:
        letters = rng.choice(("-", " ", ", ")).join(word)
        return _ask(rng, ASK_JOIN, f"The letters {spelled(word)} make {word}.", letters, x=letters)
    if rng.random() < 0.6:
        answer = f"The word {word} is spelled {spelled(word)}. It has {len(word)} letters."
        return _ask(rng, ASK_SPELL, answer, word, w=word)
    answer = f"Spelled {spelled(word)}, the word {word} has {len(word)} letters."
    return _ask(rng, ASK_COUNT_LETTERS, answer, word, w=word)


def letters_of_words(rng: random.Random) -> Asked:
    word = _any_word(rng, VOCABULARY)
    way = rng.random()
    if way < 0.4:
        answer = f"The first letter of {word} is {word[0]}. The word is spelled {spelled(word)}."
        if rng.random() < 0.5:
            return _ask(rng, ASK_STARTS, answer, word, w=word)
        return _ask(rng, ASK_FIRST, answer, word, w=word, end="first")
    if way < 0.55:
        answer = f"The last letter of {word} is {word[-1]}. The word is spelled {spelled(word)}."
        return _ask(rng, ASK_FIRST, answer, word, w=word, end="last")
    if way < 0.8:
        vowels = [letter for letter in word if letter in "aeiou"]
        if not vowels:
            answer = f"The word {word} is spelled {spelled(word)}. It has no a, e, i, o or u."
        elif len(vowels) == 1:
            answer = (
                f"The word {word} is spelled {spelled(word)}. It has one vowel, and that is "
                f"{vowels[0]}."
            )
        else:
            answer = (
                f"The word {word} is spelled {spelled(word)}. Its vowels are {listed(vowels)}, so "
                f"it has {in_words(len(vowels))}."
            )
        return _ask(rng, ASK_VOWELS, answer, word, w=word)
    word = _any_word(rng, SHORT)
    back = word[::-1]
    answer = (
        f"The word {word} is spelled {spelled(word)}. Backwards, that is {spelled(back)}, {back}."
    )
    return _ask(rng, ASK_BACKWARDS, answer, word, w=word)


def alphabet(rng: random.Random) -> Asked:
    way = rng.random()
    at = rng.randrange(1, 25)
    x = LETTERS[at] if rng.random() < 0.5 else LETTERS[at].upper()
    same = str.upper if x.isupper() else str.lower
    near = f"{LETTERS[at - 1]}, {LETTERS[at]}, {LETTERS[at + 1]}"
    if way < 0.35:
        answer = f"The letter {same(LETTERS[at + 1])} comes after {x}: {same(near)}."
        return _ask(rng, ASK_AFTER, answer, x=x)
    if way < 0.65:
        answer = f"The letter {same(LETTERS[at - 1])} comes before {x}: {same(near)}."
        return _ask(rng, ASK_BEFORE, answer, x=x)
    if way < 0.75:
        n = rng.randrange(len(ORDINALS))
        to_there = ", ".join(LETTERS[: n + 1])
        answer = f"The {ORDINALS[n]} letter of the alphabet is {LETTERS[n]}: {to_there}."
        return _ask(rng, ASK_PLACE, answer, ORDINALS[n], n=ORDINALS[n])
    if way < 0.85:
        if x in "aeiouAEIOU":
            answer = f"The letter {x} is a vowel. The vowels are a, e, i, o and u."
        elif x in "yY":
            answer = f"The letter {x} is mostly a consonant, but in happy it sounds like a vowel."
        else:
            answer = f"The letter {x} is a consonant. Only a, e, i, o and u are vowels."
        return _ask(rng, ASK_IS_VOWEL, answer, x=x)
    if way < 0.9:
        return _ask(rng, *ALPHABET)
    if way < 0.95:
        n = rng.randint(2, 10)
        answer = f"The first {in_words(n)} letters of the alphabet are {listed(LETTERS[:n])}."
        return _ask(rng, FIRST_LETTERS, answer, n=in_words(n) if rng.random() < 0.6 else n)
    return _ask(rng, *rng.choice(HOW_MANY))


# --- what is done with words ---------------------------------------------------------------------

ASK_SENTENCE = (
    "Write a sentence with the word {w}.", "Make a sentence with {w}.", "Use {w} in a sentence.",
    "A sentence with {w}", "Give me a sentence with the word {w}.",
    "Can you use {w} in a sentence?",
    "Write a short sentence with {w}.", "Write a sentence about {w}, just one.",
    "I need a sentence with {w} in it.", "Sentence with the word {w}, please.",
    "Put the word {w} into a sentence.", 'Make a sentence with the word "{w}".',
)  # fmt: skip
ASK_FINISH = (
    "Finish the sentence: {s} ...", "Complete the sentence: {s} ...", "{s} ...",
    "Finish this sentence: {s} ...", "How does this sentence end: {s} ...", "Fill in: {s} ___",
    "What is the missing word: {s} ___", "Complete this: {s} ...", "Go on: {s} ...",
)  # fmt: skip
ASK_SORT = (
    "Sort these words: {l}", "Put these words in alphabetical order: {l}", "Sort {l} by alphabet.",
    "Put {l} in alphabetical order.", "Sort the words {l}.", "Alphabetical order of {l}",
    "Can you sort these words for me: {l}", "Order these words from a to z: {l}",
)  # fmt: skip
ASK_WORD_COUNT = (
    'How many words are in "{s}"?', 'Count the words: "{s}"', 'How many words does "{s}" have?',
    'Count the words in this sentence: "{s}"', 'Count the words in "{s}".',
    'How many words are in the sentence "{s}"?', 'Number of words in "{s}"',
)  # fmt: skip
ASK_REPEAT = (
    "Say {w} {n} times.", "Say {w} {n} times.", "Repeat {w} {n} times.", "Write {w} {n} times.",
    "Repeat the word {w} {n} times.", "Can you say {w} {n} times?", "{w}, {n} times please",
    "Please repeat {w} {n} times.", "Write the word {w} {n} times.", "Say the word {w} {n} times.",
    "Say {w} {n} times in a row.", "Print {w} {n} times.", "Can you write {w} {n} times?",
    'Say "{w}" {n} times.', 'Write "{w}" {n} times.', 'Write the sentence "{w}" {n} times.',
    'repeat "{w}" {n} times', "say {w} {n} times please", "i want you to say {w} {n} times",
    "Type {w} {n} times.", "{n} times {w}", "{w} {n} times", 'Say "{w}" {n} times.',
    'say "{w}" {n} times', 'Repeat "{w}" {n} times.', 'write "{w}" {n} times please',
    'type "{w}" {n} times', 'can you say "{w}" {n} times', '"{w}" {n} times',
    'print "{w}" {n} times', 'repeat the sentence "{w}" {n} times', 'say {n} times "{w}"',
)  # fmt: skip
MANY = 6  # from which number on things are counted, a line each
PHRASES = (
    "I will be good", "I love you", "I am sorry", "I will not be late", "good morning", "hi",
    "echo", "I will do my homework", "thank you very much", "I can do it", "no problem", "beep",
    "la la la", "never give up", "I must not talk in class", "the moon is bright", "tick tock",
    "I am happy", "hello", "yes", "no", "banana", "please", "hooray", "good night", "thank you",
    "sorry", "wow", "hello world", "I am here", "go", "well done", "ice cream", "ha",
    "happy birthday", "cheese",
)  # fmt: skip
FINISH = [tuple(entry.split(" = ")) for entry in WORDS["finish"]]


def _sentence_with(rng: random.Random, kind: str, word: str) -> str:
    frame = rng.choice(FRAMES[kind])
    text = frame.format(w=word, aw=with_article(word), Aw=sentence(with_article(word)))
    return text + ("?" if text.startswith(("Where", "Why")) else ".")


def sentences(rng: random.Random) -> Asked:
    kind = rng.choice(tuple(SENTENCE_WORDS))
    word = rng.choice(SENTENCE_WORDS[kind])
    answer = f"Here is a sentence with the word {word}: {_sentence_with(rng, kind, word)}"
    return _ask(rng, ASK_SENTENCE, answer, word, w=word)


def finishing(rng: random.Random) -> Asked:
    start, end = rng.choice(FINISH)
    answer = f"{start} {end}. The missing word is {end}."
    return _ask(rng, ASK_FINISH, answer, start, s=start)


def sorting(rng: random.Random) -> Asked:
    words: list[str] = []
    while len(words) < 4:
        word = rng.choice(SHORT)
        if all(word[0] != other[0] for other in words):
            words.append(word)
    words = words[: rng.randint(3, 4)]
    asked = ", ".join(words) if rng.random() < 0.7 else listed(words)
    order = sorted(words)
    answer = (
        f"In alphabetical order, the words are {listed(order)}. "
        f"They begin with {listed(word[0] for word in order)}."
    )
    return _ask(rng, ASK_SORT, answer, *words, l=asked)


def counting_words(rng: random.Random) -> Asked:
    while True:
        kind = rng.choice(tuple(SENTENCE_WORDS))
        text = _sentence_with(rng, kind, rng.choice(SENTENCE_WORDS[kind]))
        words = re.findall(r"[a-z']+", text.lower())
        if len(words) <= 9 and '"' not in text:
            break
    steps = ", ".join(f"{n} {word}" for n, word in enumerate(words, 1))
    answer = f"I count the words: {steps}. That makes {len(words)} words."
    return _ask(rng, ASK_WORD_COUNT, answer, text, s=text)


def in_a_row(items: Sequence[str], last: str = " and ") -> str:
    """The items behind a colon; many of them are numbered, so that none is lost in counting."""
    if len(items) >= MANY:
        return ":\n" + "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))
    return f": {', '.join(items[:-1])}{last}{items[-1]}."


def repeating(rng: random.Random) -> Asked:
    word = rng.choice(rng.choice((SHORT, VOCABULARY, PHRASES)))
    way = rng.random()
    if way < 0.08:
        word = made_up(rng)
    elif way < 0.5:
        word = daily.note(rng)
    elif way < 0.65:
        word = rng.choice(COMMON)
    elif way < 0.75:
        word = " ".join(rng.choice(COMMON) for _ in range(rng.randint(2, 4)))
    n = rng.choice((2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 8, 9, 10, 10, 10, 12, 20))
    times = in_words(n) if rng.random() < 0.5 else str(n)
    answer = f"Here is {word} {in_words(n)} times{in_a_row([word] * n, ', ')}"
    forms = tuple(form for form in ASK_REPEAT if " " not in word or "the word" not in form)
    return _ask(rng, forms, answer, word, times, w=word, n=times)


LANGUAGES = (
    "French", "Spanish", "German", "Italian", "Japanese", "Chinese", "Russian", "Arabic", "Latin",
    "Dutch", "Polish", "Turkish", "Greek", "Swedish", "Hindi", "Korean", "Portuguese", "Danish",
)  # fmt: skip
ASK_TRANSLATE = (
    "How do you say {w} in {g}?", "What is {w} in {g}?", "Translate {w} to {g}.", "{w} in {g}",
    "Translate {w} into {g}.", "What does {w} mean in {g}?", "What's the {g} word for {w}?",
    "How do I say {w} in {g}?", "Can you translate {w} to {g}?", "Say {w} in {g}.",
)  # fmt: skip
ASK_LANGUAGE = (
    "Do you speak {g}?", "Can you speak {g}?", "Do you know {g}?", "Can you write {g}?",
    "Speak {g} with me.", "Answer in {g}.", "Do you understand {g}?",
)  # fmt: skip


def languages(rng: random.Random) -> Asked:
    tongue = rng.choice(LANGUAGES)
    if rng.random() < 0.35:
        answer = (
            f"I do not know {tongue}. I am a tiny model, and English is the only language that I "
            "learned."
        )
        return _ask(rng, ASK_LANGUAGE, answer, tongue, g=tongue)
    word = rng.choice(("hello", "thank you", "good morning", "yes", *rng.sample(VOCABULARY, 8)))
    answer = f"I do not know {word} in {tongue}, because I learned only English."
    if word in OPPOSITES:
        answer += f" What I can say is that the opposite of {word} is {OPPOSITES[word]}."
    elif " " not in word:
        answer += f" What I can do is spell it: {spelled(word)}."
    return _ask(rng, ASK_TRANSLATE, answer, word, tongue, w=word, g=tongue)


# --- the calendar --------------------------------------------------------------------------------

DAYS = tuple(GROUPS["days of the week"])
MONTHS = tuple(GROUPS["months"])
LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
SEASONS = ("spring", "summer", "autumn", "winter")
SEASON_MONTHS = {
    "spring": "March, April and May", "summer": "June, July and August",
    "autumn": "September, October and November", "winter": "December, January and February",
}  # fmt: skip
SEASON_WORDS = {
    "spring": "The days grow longer, and the first flowers open.",
    "summer": "It is the warmest season, and the days are long.",
    "autumn": "The leaves turn red and yellow and fall.",
    "winter": "It is the coldest season, and it may snow.",
}
ASK_NEXT = (
    "What comes after {x}?", "What {k} comes after {x}?", "Which {k} comes after {x}?",
    "What is the {k} after {x}?", "Which {k} follows {x}?", "{k} after {x}?", "What's after {x}?",
    "What is the next {k} after {x}?", "Tell me the {k} after {x}.", "Which {k} is after {x}?",
    "what {k} is after {x}", "{x} comes before which {k}?", "what is after {x}", "after {x}?",
)  # fmt: skip
ASK_PREVIOUS = (
    "What comes before {x}?", "What {k} comes before {x}?", "Which {k} comes before {x}?",
    "What is the {k} before {x}?", "{k} before {x}?", "What's before {x}?",
    "Tell me the {k} before {x}.", "Which {k} is right before {x}?", "Which {k} is before {x}?",
    "what {k} is before {x}", "{x} comes after which {k}?", "what is before {x}", "before {x}?",
)  # fmt: skip
ASK_TOMORROW = (
    "Today is {x}. What day is tomorrow?", "If today is {x}, what is tomorrow?",
    "It is {x} today. What day is it tomorrow?", "Today is {x}, so tomorrow is ...?",
)  # fmt: skip
ASK_YESTERDAY = (
    "Today is {x}. What day was yesterday?", "If today is {x}, what was yesterday?",
    "It is {x} today. What day was it yesterday?", "Today is {x}, so yesterday was ...?",
)  # fmt: skip
ASK_NTH = (
    "What is the {n} {k}?", "Which {k} is the {n}?", "What's the {n} {k} of the {big}?",
    "Which is the {n} {k} of the {big}?", "{n} {k} of the {big}", "Tell me the {n} {k}.",
)  # fmt: skip
ASK_LENGTH = (
    "How many days does {x} have?", "How many days are in {x}?", "How long is {x}?", "Days in {x}",
    "How many days are there in {x}?", "What is the number of days in {x}?",
    "How many days has {x}?",
)  # fmt: skip
ASK_SEASON = (
    "In which season is {x}?", "What season is {x} in?", "Which season is {x} in?",
    "What season does {x} belong to?", "Is {x} in summer or in winter?", "Season of {x}?",
)  # fmt: skip
ASK_MONTHS_OF = (
    "Which months are in {x}?", "What are the months of {x}?", "When is {x}?", "What is {x}?",
    "Tell me about {x}.", "What months belong to {x}?", "Months of {x}", "What is {x} like?",
)  # fmt: skip
LISTS = (
    (("What is the weekend?", "Which days are the weekend?", "When is the weekend?",
      "Weekend days?",
      "What days belong to the weekend?"),
     "The weekend is Saturday and Sunday. The other five days are weekdays."),
    (("What are weekdays?", "Name the weekdays.", "Which days are weekdays?", "List the weekdays.",
      "On which days do most people work?"),
     "The weekdays are Monday, Tuesday, Wednesday, Thursday and Friday."),
    (("Which months have 30 days?", "What months have 30 days?", "Months with 30 days",
      "Name the months with thirty days."),
     "April, June, September and November have 30 days. February has 28 or 29, and all other "
     "months have 31."),
    (("Which month is the shortest?", "What is the shortest month?", "Shortest month of the year",
      "Which month has the fewest days?"),
     "February is the shortest month. It has 28 days, and 29 days in a leap year."),
)  # fmt: skip


def calendar(rng: random.Random) -> Asked:
    way = rng.random()
    days = rng.random() < 0.5
    names, kind, big = (DAYS, "day", "week") if days else (MONTHS, "month", "year")
    at = rng.randrange(len(names))
    x, after, before = names[at], names[(at + 1) % len(names)], names[at - 1]
    if way < 0.25:
        i = names.index(after)
        answer = f"After {x} comes {after}, the {ORDINALS[i]} {kind} of the {big}."
        return _ask(rng, ASK_NEXT, answer, x, x=x, k=kind)
    if way < 0.45:
        i = names.index(before)
        answer = f"Before {x} comes {before}, the {ORDINALS[i]} {kind} of the {big}."
        return _ask(rng, ASK_PREVIOUS, answer, x, x=x, k=kind)
    if way < 0.53:
        at = rng.randrange(7)
        x, after, before = DAYS[at], DAYS[(at + 1) % 7], DAYS[at - 1]
        if rng.random() < 0.5:
            answer = f"If today is {x}, tomorrow is {after}."
            return _ask(rng, ASK_TOMORROW, answer, x, x=x)
        answer = f"If today is {x}, yesterday was {before}."
        return _ask(rng, ASK_YESTERDAY, answer, x, x=x)
    if way < 0.63:
        answer = f"{x} is the {ORDINALS[at]} {kind} of the {big}. It comes after {before}."
        return _ask(rng, ASK_NTH, answer, ORDINALS[at], n=ORDINALS[at], k=kind, big=big)
    at = rng.randrange(12)
    x = MONTHS[at]
    if way < 0.72:
        answer = f"{x} has {LENGTHS[at]} days."
        if x == "February":
            answer = "February has 28 days. In a leap year it has 29."
        return _ask(rng, ASK_LENGTH, answer, x, x=x)
    season = SEASONS[(at - 2) % 12 // 3]
    if way < 0.79:
        answer = f"{x} is in {season}, at least in the north. {SEASON_WORDS[season]}"
        return _ask(rng, ASK_SEASON, answer, x, x=x)
    if way < 0.86:
        season = rng.choice(SEASONS)
        i = SEASONS.index(season)
        way = rng.random()
        if way < 0.6:
            answer = (
                f"{season} is the season of {SEASON_MONTHS[season]}, at least in the north. "
                f"{SEASON_WORDS[season]}"
            )
            return _ask(rng, ASK_MONTHS_OF, answer, season, x=season)
        if way < 0.8:
            answer = (
                f"After {season} comes {SEASONS[(i + 1) % 4]}. {SEASON_WORDS[SEASONS[(i + 1) % 4]]}"
            )
            return _ask(rng, ASK_NEXT, answer, season, x=season, k="season")
        answer = f"Before {season} comes {SEASONS[i - 1]}. {SEASON_WORDS[SEASONS[i - 1]]}"
        return _ask(rng, ASK_PREVIOUS, answer, season, x=season, k="season")
    return _ask(rng, *rng.choice(LISTS))


ROWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "days of the week": (
        DAYS,
        ("days of the week", "weekdays from Monday to Sunday", "days", "seven days of the week"),
    ),
    "months of the year": (MONTHS, ("months of the year", "months", "twelve months")),
    "letters of the alphabet": (tuple(LETTERS), ("letters of the alphabet", "alphabet", "letters")),
    "seasons": (SEASONS, ("seasons", "four seasons")),
    "planets": (
        tuple(GROUPS["planets"]),
        ("planets", "planets of the solar system", "eight planets"),
    ),
}
ASK_REVERSE = (
    "{r} in reverse order",
    "List the {r} in reverse order.",
    "the {r} in reverse order",
    "Say the {r} backwards.",
    "the {r} backwards",
    "{r} backwards",
    "Name the {r} in reverse.",
    "Give me the {r} in reverse order.",
    "Tell me the {r} from last to first.",
    "Can you say the {r} backwards?",
    "List the {r} from the last to the first.",
    "Write the {r} backwards.",
    "{r} from the end to the beginning",
    "{r} in reverse",
    "what are the {r} in reverse order",
    "Recite the {r} backwards.",
    "reverse the {r}",
    "say the {r} in the opposite order",
    "list all {r} backwards",
    "{r}, but backwards",
)
ASK_RANGE = (
    "{r} from {x} to {y}",
    "List the {r} from {x} to {y}.",
    "the {r} from {x} to {y}",
    "Name the {r} between {x} and {y}, with both.",
    "Say the {r} from {x} to {y}.",
    "which {r} are there from {x} to {y}",
    "Write the {r} from {x} to {y}.",
    "from {x} to {y}",
    "Give me all {r} from {x} to {y}.",
)
ASK_STEP = (
    "every second one of the {r}",
    "Say every second of the {r}.",
    "List every other one of the {r}.",
    "every second of the {r}, starting with {x}",
    "every other of the {r}, please",
    "the {r}, but only every second one",
    "Name every second one of the {r}, beginning with {x}.",
)
ASK_START = (
    "{r} starting with {x}",
    "List the {r}, starting with {x}.",
    "the {r} beginning with {x}",
    "Say the {r}, but start with {x}.",
    "the {r}, but begin at {x}",
    "Name the {r} starting from {x}.",
)
ASK_COUNT_BACK = (
    "count backwards from {x} to {y}", "Count down from {x} to {y}.", "from {x} down to {y}",
    "the numbers from {x} to {y} backwards", "Count back from {x} to {y}.", "count from {x} to {y}",
    "Write the numbers from {x} to {y}.", "{x} to {y} in reverse", "List the numbers {x} to {y}.",
)  # fmt: skip
ASK_COUNT_STEP = (
    "count from {x} to {y} in steps of {s}", "Count in steps of {s} from {x} to {y}.",
    "count by {s} from {x} to {y}", "numbers from {x} to {y} in steps of {s}",
)  # fmt: skip


def _numbers(rng: random.Random) -> Asked:
    """Numbers up, down, or in steps."""
    low, step = rng.randint(0, 20), rng.choice((1, 1, 1, 2, 2, 3, 5, 10))
    many = [low + step * i for i in range(rng.randint(4, 13))]
    if rng.random() < 0.6:
        many.reverse()
    x, y = many[0], many[-1]
    answer = f"From {x} to {y}: {', '.join(map(str, many))}."
    if step > 1:
        return _ask(rng, ASK_COUNT_STEP, answer, x=x, y=y, s=step)
    down = x > y
    forms = tuple(
        form for form in ASK_COUNT_BACK
        if down or not re.search("back|down|reverse", form)
    )  # fmt: skip
    if "reverse" in (form := rng.choice(forms)) or "to {y} backwards" in form:
        return _ask(rng, (form,), answer, x=y, y=x)
    return _ask(rng, (form,), answer, x=x, y=y)


def in_order(rng: random.Random) -> Asked:
    """A row that everybody knows, backwards, in part, in steps, or from another start."""
    if rng.random() < 0.2:
        return _numbers(rng)
    name = rng.choice((*ROWS, "days of the week", "months of the year", "days of the week"))
    row, said = ROWS[name]
    r = said[0] if rng.random() < 0.6 else rng.choice(said)
    way = rng.random()
    if way < 0.5:
        answer = f"The {name} in reverse order are {listed(reversed(row))}."
        return _ask(rng, ASK_REVERSE, answer, r=r)
    at = rng.randrange(len(row) - 2)
    if way < 0.72 and len(row) > 4:
        if row in (DAYS, MONTHS):  # they go on from the start
            part = (row[at + 1 :] + row[: at + 1])[: rng.randint(3, len(row) - 1)]
        else:
            part = row[at : rng.randrange(at + 2, len(row)) + 1]
            part = part[::-1] if rng.random() < 0.2 else part
        x, y = part[0], part[-1]
        answer = f"From {x} to {y}: {', '.join(part)}."
        return _ask(rng, ASK_RANGE, answer, x, y, r=r, x=x, y=y)
    if way < 0.86 and len(row) > 4:
        begin = rng.choice((0, 0, 1))
        forms = tuple(form for form in ASK_STEP if begin == 0 or "{x}" in form)
        answer = f"Every second one, from {row[begin]} on: {', '.join(row[begin::2])}."
        return _ask(rng, forms, answer, row[begin], r=r, x=row[begin])
    turned = row[at:] + row[:at]
    answer = f"Starting with {row[at]}: {', '.join(turned)}."
    return _ask(rng, ASK_START, answer, row[at], r=r, x=row[at])


# --- things, animals and groups ------------------------------------------------------------------

COLOURS = dict(_pairs("colours"))
# `facts` asks of the others, and what one source keeps back the other must not train.
COLOURS_ASKED = tuple(
    thing for thing in COLOURS if thing not in {name for name, *_ in facts.rows(facts.THINGS)}
)
MIXES = [tuple(entry.split(" ", 2)) for entry in WORDS["mixes"]]
SOUNDS = [tuple(entry.split()) for entry in WORDS["sounds"]]
BABIES = dict(_pairs("babies"))
HOMES = dict(_pairs("homes"))
SIDES = {name: int(count) for name, count in _pairs("shapes")}
TIERS = [entry.split(", ") for entry in WORDS["sizes"]]
LIVING = ("animal", "bird", "fish", "insect")

ASK_COLOUR = (
    "What colour is {x}?", "What color is {x}?", "Which colour does {x} have?", "Colour of {x}",
    "Tell me the colour of {x}.", "What is the color of {x}?", "What is the colour of {x}?",
    "Do you know the colour of {x}?", "Which color is {x}?",
)  # fmt: skip
ASK_MIX = (
    "What colour do you get from {a} and {b}?", "Mix {a} and {b}.",
    "What happens if you mix {a} and {b}?", "{a} and {b} make which colour?",
    "What color do {a} and {b} make?", "What do you get when you mix {a} and {b}?",
    "What color do you get when you mix {a} and {b}?", "Mixing {a} and {b} gives what color?",
    "What colour do you get by mixing {a} with {b}?", "{a} plus {b} is which color?",
    "What color is {a} mixed with {b}?", "If I mix {a} and {b}, what do I get?",
)  # fmt: skip
ASK_SOUND = (
    "What sound does {x} make?", "What does {x} say?", "What noise does {x} make?",
    "Which sound does {x} make?", "What sounds do {many} make?", "How does {x} sound?",
    "Tell me the sound of {x}.", "What do {many} say?", "Sound of {x}?",
)  # fmt: skip
ASK_WHO_SAYS = (
    "Which animal says {s}?", "What animal says {s}?", "Who says {s}?", "What says {s}?",
    "Which animal makes the sound {s}?",
)  # fmt: skip
ASK_BABY = (
    "What is a baby {x} called?", "What do you call a baby {x}?", "Baby {x}?",
    "What is the name of a baby {x}?", "What is a young {x} called?", "How is a baby {x} called?",
    "What do you call a young {x}?", "Tell me what a baby {x} is called.",
)  # fmt: skip
ASK_HOME = (
    "Where does {x} live?", "Where do {many} live?", "What is the home of {x}?", "Home of {x}?",
    "What is the home of {x} called?", "Where does {x} sleep?", "What do {many} live in?",
    "Tell me where {x} lives.",
)  # fmt: skip
ASK_SIDES = (
    "How many sides does {x} have?", "How many corners does {x} have?", "Sides of {x}",
    "What is {x}?", "How many sides are in {x}?", "Tell me about {x}.", "Describe {x}.",
    "What does {x} look like?", "How many angles does {x} have?",
)  # fmt: skip
ASK_SHAPE = (
    "Which shape has {n} sides?", "What shape has {n} sides?", "What has {n} sides?",
    "What is a shape with {n} sides called?", "Name a shape with {n} sides.",
)  # fmt: skip
ASK_LIST = (
    "Name {n} {g}.", "Tell me {n} {g}.", "List {n} {g}.", "Give me {n} {g}.", "{n} {g}, please.",
    "Can you name {n} {g}?", "I need {n} {g}.", "Write down {n} {g}.", "A list of {n} {g}",
    "Make a list of {n} {g}.", "Can you list {n} {g}?", "What are {n} {g}?", "{n} {g}",
)  # fmt: skip
ASK_SOME = (
    "Name some {g}.", "What {g} do you know?", "Which {g} do you know?", "List some {g}.",
    "Tell me some {g}.", "What are some {g}?", "Give me a list of {g}.", "Examples of {g}",
    "Do you know any {g}?", "A few {g}, please.", "{g}", "some {g}", "{g}, please",
)  # fmt: skip
# Groups that are listed whole, and what they are called then.
WHOLE = {
    "days of the week": "days of the week", "months": "months of the year",
    "planets": "planets of the solar system",
}  # fmt: skip
ASK_WHOLE = (
    "List the {g}.", "Name the {g}.", "What are the {g}?", "{g}, please", "The {g} in order",
    "Tell me the {g}.", "Name all {g}.", "List all the {g} in order.", "Say the {g}.", "{g}",
    "Give me the {g}.", "Can you list the {g}?", "What are the {g}, in order?", "All {g}",
    "Please list the {g}.", "Can you name the {g}?", "Do you know the {g}?",
)  # fmt: skip
ASK_MEMBER = (
    "Is {x} {k}?", "Is {x} {k}?", "Would you call {x} {k}?", "Can you tell me if {x} is {k}?",
    "Does {x} count as {k}?", "Is {x} really {k}?",
)  # fmt: skip
ASK_KIND = (
    "What kind of thing is {x}?", "Which group does {x} belong to?", "What sort of thing is {x}?",
    "To which group does {x} belong?", "In which group is {x}?",
    "Into which group would you put {x}?",
)  # fmt: skip
ASK_BIGGER = (
    "Which is bigger, {a} or {b}?", "What is bigger, {a} or {b}?", "Which is larger, {a} or {b}?",
    "What is larger: {a} or {b}?", "Bigger: {a} or {b}?", "Which of them is bigger: {a} or {b}?",
    "Is {a} or {b} bigger?",
)  # fmt: skip
ASK_SMALLER = (
    "Which is smaller, {a} or {b}?", "What is smaller, {a} or {b}?", "Smaller: {a} or {b}?",
    "Is {a} or {b} smaller?", "Which of them is smaller: {a} or {b}?",
)  # fmt: skip
ASK_IS_BIGGER = (
    "Is {a} bigger than {b}?", "Is {a} larger than {b}?", "Is it true that {a} is bigger than {b}?",
    "Would you say {a} is bigger than {b}?",
)  # fmt: skip


def colours(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.5:
        thing = rng.choice(COLOURS_ASKED)
        colour = COLOURS[thing]
        other = [x for x in COLOURS if COLOURS[x] == colour and x != thing]
        answer = f"{thing} is {colour}."
        if other:
            answer += f" {sentence(rng.choice(other))} is {colour} too."
        return _ask(rng, ASK_COLOUR, answer, x=thing)
    if way < 0.85:
        one, two, made = rng.choice(MIXES)
        a, b = rng.sample((one, two), 2)
        answer = f"{a} and {b} make {made}. That is how it goes when you mix paint."
        return _ask(rng, ASK_MIX, answer, a, b, a=a, b=b)
    a = rng.choice(("red", "green", "yellow", "white"))
    items = rng.sample(GROUPS[f"things that are {a}"], 3)
    ask = (
        "What is {a}?", "Name something {a}.", "Which things are {a}?", "What is {a}, for example?",
        "Tell me something that is {a}.", "Give me something {a}.",
    )  # fmt: skip
    return _ask(rng, ask, f"Things that are {a} are, for example, {listed(items)}.", a, a=a)


def plural_of(noun: str) -> str:
    return PLURALS.get(noun, REGULAR.get(noun, _plural(noun)))


def animals(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.3:
        name, verb, sound = rng.choice(SOUNDS)
        answer = f"{with_article(name)} {verb}. It says {sound}."
        return _ask(rng, ASK_SOUND, answer, x=with_article(name), many=plural_of(name))
    if way < 0.4:
        name, verb, sound = rng.choice(
            [s for s in SOUNDS if s[0] not in ("crow", "hen", "cricket")]
        )
        answer = f"{with_article(name)} says {sound}. We say that it {verb}."
        return _ask(rng, ASK_WHO_SAYS, answer, s=sound)
    if way < 0.7:
        name = rng.choice(tuple(BABIES))
        answer = f"A baby {name} is called {with_article(BABIES[name])}."
        if name in HOMES:
            answer += f" {sentence(with_article(name))} lives in {with_article(HOMES[name])}."
        return _ask(rng, ASK_BABY, answer, name, x=name)
    name = rng.choice(tuple(HOMES))
    answer = f"{with_article(name)} lives in {with_article(HOMES[name])}."
    if name in BABIES:
        answer += f" Its baby is called {with_article(BABIES[name])}."
    return _ask(rng, ASK_HOME, answer, x=with_article(name), many=plural_of(name))


def shapes(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.2:
        answer = "A cube has six sides, and each of them is a square. It has eight corners."
        return _ask(rng, ASK_SIDES, answer, x="a cube")
    if way < 0.8:
        name = rng.choice(
            [shape for shape in SIDES if shape not in ("triangle", "square", "rectangle")]
        )
        count = in_words(SIDES[name])
        more = {
            "rhombus": " All sides of a rhombus have the same length.",
        }.get(name, "")
        answer = f"{with_article(name)} is a shape with {count} sides and {count} corners.{more}"
        return _ask(rng, ASK_SIDES, answer, x=with_article(name))
    name = rng.choice([shape for shape in SIDES if SIDES[shape] > 4])
    n = in_words(SIDES[name]) if rng.random() < 0.5 else str(SIDES[name])
    answer = f"{with_article(name)} has {in_words(SIDES[name])} sides. It has as many corners."
    if rng.random() < 0.15:
        n, answer = "four", "A square and a rectangle have four sides. So does a rhombus."
    return _ask(rng, ASK_SHAPE, answer, n=n)


def lists(rng: random.Random) -> Asked:
    group = rng.choice(FIRST_GROUPS if rng.random() < 0.7 else tuple(GROUPS))
    if group in WHOLE:
        name = WHOLE[group] if rng.random() < 0.7 else group
        answer = f"The {name} are {listed(GROUPS[group])}."
        return _ask(rng, ASK_WHOLE, answer, group, g=name)
    if rng.random() < 0.7 or group == "languages":
        n = rng.choice((2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 8, 9, 10, 10, 10))
        count = in_words(n) if rng.random() < 0.6 else str(n)
        asked = _ask(rng, ASK_LIST, "", group, n=count, g=group)
    else:
        n = 5
        asked = _ask(rng, ASK_SOME, "", group, g=group)
    # Always from the start: what comes next is plain, so nothing is said twice.
    items = GROUPS[group][:n]
    return asked._replace(answer=f"Here are {in_words(n)} {group}{in_a_row(items)}")


def members(rng: random.Random) -> Asked:
    kind = rng.choice(tuple(KINDS_OF))
    thing = rng.choice(KINDS_OF[kind])
    one, a_kind = with_article(thing), with_article(kind)
    friend = with_article(rng.choice([item for item in KINDS_OF[kind] if item != thing]))
    way = rng.random()
    if way < 0.3:
        answer = f"{one} is {a_kind}. {sentence(friend)} is one too."
        return _ask(rng, ASK_KIND, answer, thing, x=one)
    if way < 0.62:
        answer = f"Yes, {one} is {a_kind}. {sentence(friend)} is one too."
        return _ask(rng, ASK_MEMBER, answer, thing, kind, x=one, k=a_kind)
    others = [k for k in KINDS_OF if k != kind and not (k in LIVING and kind in LIVING)]
    other = rng.choice(others)
    if kind in ("fruit", "vegetable") and rng.random() < 0.5:
        other = "vegetable" if kind == "fruit" else "fruit"
    answer = f"No, {one} is not {with_article(other)}. It is {a_kind}."
    return _ask(rng, ASK_MEMBER, answer, thing, other, x=one, k=with_article(other))


def _sized(thing: str) -> str:
    return f"the {thing}" if thing in ("sun", "moon") else with_article(thing)


def sizes(rng: random.Random) -> Asked:
    low = rng.randrange(len(TIERS) - 2)
    high = rng.randrange(low + 2, len(TIERS))
    small, big = rng.choice(TIERS[low]), rng.choice(TIERS[high])
    a, b = rng.sample((_sized(small), _sized(big)), 2)
    way = rng.random()
    bigger = f"{_sized(big)} is bigger than {_sized(small)}"
    smaller = f"{_sized(small)} is smaller than {_sized(big)}"
    if way < 0.45:
        answer = f"{bigger}. The {small} is the smaller of the two."
        return _ask(rng, ASK_BIGGER, answer, small, big, a=a, b=b)
    if way < 0.75:
        answer = f"{smaller}. The {big} is the bigger of the two."
        return _ask(rng, ASK_SMALLER, answer, small, big, a=a, b=b)
    if a == _sized(big):
        answer = f"Yes, {bigger}. The {small} is the smaller of the two."
    else:
        answer = f"No, {smaller}. The {big} is the bigger of the two."
    return _ask(rng, ASK_IS_BIGGER, answer, small, big, a=a, b=b)


KINDS = Kinds({
    opposites: 16, synonyms: 14, plurals: 5, past: 6, rhymes: 16, spelling: 18, misspelling: 9,
    in_order: 9, letters_of_words: 8,
    alphabet: 5, sentences: 9, finishing: 3, sorting: 3, counting_words: 3, repeating: 12,
    languages: 1.5, calendar: 10, colours: 8, animals: 6, shapes: 2, lists: 24,
    members: 5, sizes: 5,
})  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    asked = KINDS.draw(rng, held_out)
    turns = [typed(rng, asked), asked.answer]
    if not held_out and rng.random() < 0.06:
        asked = KINDS.draw(rng, held_out)
        turns += [typed(rng, asked), asked.answer]
    return chat(*turns)
