"""Rhymes, other words, grammar and lists: what is said of a word is what the tables say."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import grammar, naming, rhyming, thesaurus
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.text import Conversation
from assets.demo.recipe.corpus.wordplay import OTHER_WORDS, RHYMES, SAME_SOUND

SOURCES = (rhyming, thesaurus, naming, grammar)


def drawn(module: object, count: int, held_out: bool = False) -> list[Conversation]:
    rng = random.Random(5)
    return [module.sample(rng, held_out) for _ in range(count)]  # type: ignore[attr-defined]


def items_of(text: str) -> list[str]:
    numbered = re.findall(r"(?m)^\d+\. (.+)$", text)
    return numbered or re.split(r", | and ", text.partition(": ")[2].rstrip("."))


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("module", SOURCES)
def test_a_sample_is_a_plain_conversation(module: object, held_out: bool) -> None:
    for turns in drawn(module, 300, held_out):
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2)
        for turn in turns:
            text = turn["content"]
            assert text.strip() and text.isascii(), text
            assert not re.search(r"[{}\[\]|]|  ", text), text


def test_no_word_rhymes_with_itself_or_with_one_that_sounds_the_same() -> None:
    checked = 0
    for turns in drawn(rhyming, 1500):
        named: list[str] = []
        for turn in turns[1::2]:
            found = re.match(r"These words rhyme with (\w+)( too)?: ", turn["content"])
            if not found:
                continue
            words = items_of(turn["content"])
            assert set(words) <= set(RHYMES[found[1]]) and len(set(words)) == len(words)
            assert not {found[1]} & set(words)
            assert not any(frozenset((found[1], word)) in SAME_SOUND for word in words)
            if found[2]:
                assert not set(words) & set(named), turns
            named = words
            checked += 1
    assert checked > 800


def test_another_word_is_another_one() -> None:
    assert all(word not in others and others for word, others in OTHER_WORDS.items())
    for turns in drawn(thesaurus, 600):
        for turn in turns[1::2]:
            found = re.match(r"Another word for ([\w' -]+) is ([^.]+)\.", turn["content"])
            assert not found or found[1] != found[2]
            found = re.match(r"The opposite of ([\w' -]+) is ([^.]+)\.", turn["content"])
            assert not found or thesaurus.antonyms()[found[1]] == found[2]


def test_a_list_goes_on_with_new_things_of_its_kind() -> None:
    more = rank = 0
    for turns in drawn(naming, 2500):
        first = turns[1]["content"]
        start = re.match(r"Here are (\w+) ([^:]+):", first)
        if not start:
            continue
        group, named = start[2], items_of(first)
        if any(" and " in x for x in naming.kinds()[group]):
            continue
        assert len(named) == len(set(named)) and in_words(len(named)) == start[1]
        assert set(named) <= set(naming.kinds()[group])
        for turn in turns[3::2]:
            text = turn["content"]
            found = re.match(r"Here are (\w+) more:", text)
            if found and not any(" without " in x["content"] for x in turns):
                others = items_of(text)
                assert not set(others) & set(named), turns
                assert set(others) <= set(naming.kinds()[group])
                assert in_words(len(others)) == found[1]
                named += others
                more += 1
            elif found := re.match(r"The [\w ]+ of them (?:is|are) (?:the )?(.+)\.", text):
                assert found[1] in naming.kinds()[group]
                rank += 1
            elif found := re.match(r"\w+ of them start(?:s)? with (\w): ", text):
                assert all(item[0].upper() == found[1] for item in items_of(text)), text
            elif not text.startswith("Another one is"):
                named = items_of(text) if text.startswith("Here are") else named
    assert more > 150 and rank > 50, (more, rank)


def test_what_is_said_of_a_word_is_right() -> None:
    rng = random.Random(4)
    for _ in range(300):
        found = re.match(r"([\w-]+)\. That is (\w+) syll", grammar.syllables(rng).answer)
        assert not found or in_words(found[1].count("-") + 1) == found[2]
        said = grammar.longest(rng).answer
        counted = dict(re.findall(r"(\w+) has (\d+) letters", said))
        assert all(len(word) == int(count) for word, count in counted.items())
        by = sorted((word.lower() for word in counted), key=len)
        assert said.endswith(f"{by[-1] if 'longest' in said else by[0]}."), said
        said = grammar.alphabetical(rng).answer
        words = re.split(r", | and ", re.findall(r"the words are (.+?)\. They", said)[0])
        assert words == sorted(words)
        word = grammar.palindromes(rng)
        if word.keep:
            assert ("So yes" in word.answer) == (word.keep[0] == word.keep[0][::-1])
        pair = grammar.anagrams(rng)
        if len(pair.keep) == 2:
            assert ("So yes" in pair.answer) == (sorted(pair.keep[0]) == sorted(pair.keep[1]))


def test_roman_numerals_add_up() -> None:
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    for number in (*range(1, 400), 1999, 2026):
        text = "".join(letters for _, letters in grammar.roman_parts(number))
        signs = [values[x] for x in text]
        after = [*signs[1:], 0]
        assert sum(-a if a < b else a for a, b in zip(signs, after, strict=True)) == number
