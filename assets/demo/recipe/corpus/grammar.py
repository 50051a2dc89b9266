"""Questions about a word: its syllables, comparative, past and participle, what kind of word it is,
"a" or "an", a sentence with it, palindromes and anagrams, the longest of some words and their order
in the alphabet. The working stands before the result.

The words stand in `forms/grammar.txt`, the wordings in `forms/wordy.txt`. Some kinds of question of
`wordplay.py` and `lists.py` that people often ask are drawn here too.
"""

from __future__ import annotations

import random
import re
from functools import cache

from assets.demo.recipe.corpus import lists, wordplay
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.rhyming import forms_of, typed_form
from assets.demo.recipe.corpus.school import Asked, Kinds, reserved, typed
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    chat,
    listed,
    read_sections,
    sentence,
    with_article,
)

FILE = FORMS / "grammar.txt"
CLASSES = {
    "nouns": ("noun", "It names a thing, a person, a place or an idea"),
    "verbs": ("verb", "It says what somebody does or what happens"),
    "adjectives": ("adjective", "It says what something is like"),
    "adverbs": ("adverb", "It says how, when, where or how much"),
    "prepositions": ("preposition", "It says where or when, and stands before a noun"),
    "pronouns": ("pronoun", "It stands in place of a noun"),
    "conjunctions": ("conjunction", "It joins words or parts of a sentence"),
}


@cache
def entries(section: str) -> tuple[str, ...]:
    text = ";".join(read_sections(FILE)[section])
    return tuple(x.strip() for x in re.split("[;,]", text) if x.strip())


@cache
def example_sentences() -> dict[str, str]:
    pairs = (line.partition(": ") for line in read_sections(FILE)["sentences"])
    return {word: text for word, _, text in pairs}


def _ask(
    rng: random.Random, section: str, answer: str, *keep: str, form: str = "", **words: str
) -> Asked:
    """A question with a wording of that section; reserved wordings have a key of their own."""
    kept = not form and rng.random() < 0.04 and bool(forms_of(section, True))
    form = form or rng.choice(forms_of(section, kept))
    question = typed_form(rng, form, **words)
    return Asked(f"kept {question}" if kept else question, question, answer, keep)


def syllables(rng: random.Random) -> Asked:
    parts = rng.choice(entries("syllables"))
    word, n = parts.replace("-", ""), parts.count("-") + 1
    many = "one syllable" if n == 1 else f"{in_words(n)} syllables"
    answer = f"The word {word} has one syllable." if n == 1 else f"{parts}. That is {many}."
    return _ask(rng, "syllables", sentence(answer), word, w=word)


def comparatives(rng: random.Random) -> Asked:
    word, more, most = rng.choice(entries("comparatives")).replace("_", "~").split()
    more, most = more.replace("~", " "), most.replace("~", " ")
    forms = [x for x in forms_of("comparative") if "{w}er" not in x]
    form = rng.choice(forms)
    answer = f"The comparative of {word} is {more}, and the superlative is {most}."
    if "superlative" in form and "comparative" not in form:
        answer = f"The superlative of {word} is {most}: {word}, {more}, {most}."
    return _ask(rng, "comparative", answer, word, form=form, w=word)


def past(rng: random.Random) -> Asked:
    """As `wordplay.past` says it, asked in more ways."""
    asked = wordplay.past(rng)
    return _ask(rng, "past", asked.answer, *asked.keep, w=asked.keep[0])


def participles(rng: random.Random) -> Asked:
    word, then, done = rng.choice(entries("participles")).split()
    answer = f"The past participle of {word} is {done}: {word}, {then}, {done}."
    return _ask(rng, "participle", answer, word, w=word)


def word_class(rng: random.Random) -> Asked:
    kind = rng.choice((*CLASSES, "nouns", "verbs", "adjectives", "nouns", "verbs", "adjectives"))
    word = rng.choice(entries(kind))
    name, why = CLASSES[kind]
    form = typed_form(rng, rng.choice(forms_of("class")), w=word)
    answer = f"The word {word} is {with_article(name)}. {why}."
    asked = re.search(r"(?i)^is .* an? (noun|verb|adjective|adverb)\W*$", form)
    if asked and " or " not in form:
        if asked[1] == name:
            answer = f"Yes, {word} is {with_article(name)}. {why}."
        elif word in entries("both"):
            return word_class(rng)
        else:
            answer = f"No, {word} is not {with_article(asked[1])}. It is {with_article(name)}."
    return Asked(form, form, answer, (word,))


def article(rng: random.Random) -> Asked:
    pool = ("hour", "honest man", "unicorn", "university", "European", "one-way street", "umbrella")
    word = rng.choice(pool) if rng.random() < 0.3 else rng.choice(_starting(rng.random() < 0.5))
    said = with_article(word)
    sound = "a vowel sound" if said.startswith("an ") else "a consonant sound"
    answer = f"It is {said}, because {word} begins with {sound}."
    return _ask(rng, "article", answer, word, w=word)


@cache
def _starting(vowel: bool) -> tuple[str, ...]:
    words = [x for group in wordplay.KINDS_OF.values() for x in group]
    return tuple(dict.fromkeys(x for x in words if (x[0] in "aeiou") == vowel and " " not in x))


def in_a_sentence(rng: random.Random) -> Asked:
    word = rng.choice(tuple(example_sentences()))
    answer = f"Here is a sentence with the word {word}: {example_sentences()[word]}"
    if " " in word:
        answer = f"Here is a sentence with {word}: {example_sentences()[word]}"
    forms = [x for x in forms_of("sentence") if not (" " in word and "the word" in x)]
    return _ask(rng, "sentence", answer, word, form=rng.choice(forms), w=word)


def palindromes(rng: random.Random) -> Asked:
    if rng.random() < 0.25:
        some = entries("palindromes")[:4]
        answer = f"A palindrome is a word that is the same backwards, such as {listed(some)}."
        return _ask(rng, "some palindromes", answer)
    yes = rng.random() < 0.5
    word = rng.choice(entries("palindromes" if yes else "not palindromes"))
    back = word[::-1]
    answer = (
        f"Backwards, {wordplay.spelled(word)} is {wordplay.spelled(back)}. "
        f"So {'yes' if yes else 'no'}, {word} is {'' if yes else 'not '}a palindrome."
    )
    return _ask(rng, "palindrome", answer, word, w=word)


def anagrams(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.2:
        answer = (
            "An anagram is a word made of the letters of another one, in another order. "
            "For example, listen and silent are anagrams."
        )
        return _ask(rng, "some anagrams", answer)
    if way < 0.5:
        a, b = rng.choice(entries("anagrams")).split()
        return _ask(rng, "find anagram", f"An anagram of {a} is {b}.", a, a=a, b=b)
    yes = rng.random() < 0.5
    a, b = rng.choice(entries("anagrams" if yes else "not anagrams")).split()
    one, two = ("-".join(sorted(x)) for x in (a, b))
    answer = f"The letters of {a} are {one}, and those of {b} are {two}. "
    answer += f"So {'yes' if yes else 'no'}, they are {'' if yes else 'not '}anagrams."
    return _ask(rng, "anagram", answer, a, b, a=a, b=b)


def _some_words(rng: random.Random) -> list[str]:
    words: dict[str, str] = {}
    n = rng.choice((3, 3, 4, 4, 5))
    while len(words) < n:
        word = rng.choice(wordplay.VOCABULARY)
        words.setdefault(word[0], word)
    found = list(words.values())
    rng.shuffle(found)
    return found


def _in_line(rng: random.Random, words: list[str]) -> str:
    way = rng.random()
    return ", ".join(words) if way < 0.7 else listed(words) if way < 0.85 else " ".join(words)


def longest(rng: random.Random) -> Asked:
    while True:
        words = _some_words(rng)
        by = sorted(words, key=len)
        section, word, other = (
            ("longest", by[-1], by[-2]) if rng.random() < 0.7 else ("shortest", by[0], by[1])
        )
        if len(word) != len(other):
            break
    counted = ", ".join(f"{x} has {len(x)} letters" for x in words)
    answer = f"{sentence(counted)}. So the {section} word is {word}."
    return _ask(rng, section, answer, *words, l=_in_line(rng, words))


def alphabetical(rng: random.Random) -> Asked:
    """As `wordplay.sorting` says it, for three to five words."""
    words = _some_words(rng)
    order = sorted(words)
    form = rng.choice(forms_of("alphabetical"))
    answer = (
        f"In alphabetical order, the words are {listed(order)}. "
        f"They begin with {listed(word[0] for word in order)}."
    )
    if "comes first" in form:
        answer = f"{sentence(order[0])} comes first. {answer}"
    return _ask(rng, "alphabetical", answer, *words, form=form, l=_in_line(rng, words))


DIGITS = (
    ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"),
    ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"),
    ("", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"),
    ("", "M", "MM"),
)


def roman_parts(number: int) -> list[tuple[int, str]]:
    """What a number is made of, and how each part is written: 14 is 10, X, and 4, IV."""
    digits = [int(digit) for digit in reversed(str(number))]
    parts = [(digit * 10**at, DIGITS[at][digit]) for at, digit in enumerate(digits) if digit]
    return parts[::-1]


def roman(rng: random.Random) -> Asked:
    """A number in Roman numerals, or the other way round, part by part."""
    pool = (rng.randint(1, 12), rng.randint(1, 30), rng.randint(13, 100), rng.randint(1900, 2030))
    number = rng.choice((*pool, rng.choice((50, 100, 500, 1000, 2000, 2024, 2025, 2026))))
    parts = roman_parts(number)
    written = "".join(letters for _, letters in parts)
    if rng.random() < 0.6:
        answer = f"{number} in Roman numerals is {written}."
        if len(parts) > 1:
            made = listed(f"{letters} for {value}" for value, letters in parts)
            answer = f"{number} is {made}. Together, that is {written}."
        return _ask(rng, "roman", answer, str(number), n=str(number))
    if len(written) < 2:
        return roman(rng)
    answer = f"{written} is {number} in Roman numerals."
    if len(parts) > 1:
        made = listed(f"{letters} for {value}" for value, letters in parts)
        answer = f"{written} is {made}. That makes {number}."
    return _ask(rng, "from roman", answer, written, r=written)


SINGULAR = {
    "animals": "animal", "fruits": "fruit", "vegetables": "vegetable", "countries": "country",
    "cities": "city", "boys' names": "boy's name", "girls' names": "girl's name", "jobs": "job",
    "colours": "colour", "flowers": "flower", "birds": "bird", "trees": "tree", "words": "word",
}  # fmt: skip


def one_with_letter(rng: random.Random) -> Asked:
    """One of a group that begins with a letter."""
    group = rng.choice(tuple(SINGULAR))
    by = lists.by_letter(group)
    letter = rng.choice(tuple(by))
    kind, shown = SINGULAR[group], letter.upper() if rng.random() < 0.6 else letter
    answer = f"{sentence(with_article(kind))} that starts with {letter.upper()}: {by[letter][0]}."
    a = with_article(kind)
    return _ask(rng, "one with letter", answer, f" {shown}", one=a, k=kind, l=shown)


def one_of_a_kind(rng: random.Random) -> Asked:
    """One of a group, the one that is named first."""
    kinds = [x for x in wordplay.KINDS_OF if " of " not in x]
    kind = rng.choice((*kinds, "animal", "fruit", "bird", "vegetable", "colour", "country", "city"))
    groups = {"colour": "colours", "country": "countries", "city": "cities"}
    items = wordplay.GROUPS[groups[kind]] if kind in groups else wordplay.KINDS_OF[kind]
    answer = f"One {kind} is {items[0]}. Another one is {items[1]}."
    return _ask(rng, "one of a kind", answer, kind, one=with_article(kind), k=kind)


KINDS = Kinds({
    syllables: 7, comparatives: 6, past: 9, participles: 4, word_class: 8, article: 4,
    in_a_sentence: 13, palindromes: 4, anagrams: 4, longest: 6, alphabetical: 7,
    roman: 4, one_with_letter: 9, one_of_a_kind: 4,
    wordplay.plurals: 8, wordplay.calendar: 9, wordplay.misspelling: 5,
    wordplay.letters_of_words: 10, wordplay.spelling: 6, wordplay.members: 4,
    lists.with_letter: 10, lists.odd_one: 7, lists.without: 4,
})  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    while True:
        asked = KINDS.draw(rng, held_out)
        if held_out or not asked.key.startswith("kept "):
            break
    turns = [typed(rng, asked), asked.answer]
    if not held_out and asked.answer.startswith("Here is a sentence") and rng.random() < 0.2:
        other = in_a_sentence(rng)
        while reserved(other.key) or other.key.startswith("kept "):
            other = in_a_sentence(rng)
        more = typed_form(rng, rng.choice(("and {w}", "now {w}", "and with {w}")), w=other.keep[0])
        turns += [typed(rng, Asked("", more, "", other.keep)), other.answer]
    return chat(*turns)
