"""What a request names is taken over: hero, name, place, thing, child and length; and verse has its
subject, its lines and, where the place rhymes, its rhyme."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import named, rhymes
from assets.demo.recipe.corpus.named import Wish

SENTENCE = re.compile(r'(?<=[.!?])"?\s+(?=["A-Z])')
NUMBER = {word: n for n, words in (*named.NUMBERS.items(), *rhymes.NUMBERS.items())
          for word in words}  # fmt: skip


def told(count: int) -> list[tuple[str, Wish, str]]:
    rng = random.Random(3)
    found = []
    for _ in range(count):
        request, wish, _ = named.request(rng, False)
        found.append((request, wish, named.tell(rng, wish)))
    return found


def test_a_story_names_what_the_request_names() -> None:
    for request, wish, story in told(1500):
        asked, answer = request.lower(), story.lower()
        if wish.goes_on:  # what the beginning has named already
            answer = f"{asked} {answer}"
        named_there = [wish.name, wish.place, wish.child]
        named_there += [wish.words.get(slot, "") for slot in ("x", "v", "t", "y", "xs")]
        named_there += ["" if wish.own_hero else wish.hero.split()[-1]]
        for word in named_there:
            if word and word.lower() in asked:
                # "an inn" may be "the inn" at once, and "the inn" has to be there.
                bare = re.sub(r"^(\w+) an? ", "", word.lower())
                assert bare in answer, (request, word, story)


def test_hero_and_helper_are_two() -> None:
    rng = random.Random(2)
    for request, wish, story in told(1500):
        c = named._context(rng, wish)
        assert c["f"] != c["h"] and (c["f"][0] == "t" or c["f"][0] != wish.name[:1]), request
        if not named.skeletons()[wish.skeleton].two:
            assert c["f"].split()[-1] not in wish.hero, story
        assert not wish.child or wish.child == wish.name or wish.child[0] != wish.name[:1]
        if "one" in c and wish.words["one"][0].isupper():
            assert c["one"] in story and c["other"] in story and c["one"] != c["other"]


def test_two_that_meet_have_names_with_other_initials() -> None:
    rng, both = random.Random(2), 0
    for _ in range(2000):
        wish = Wish(hero="fox", name="Bella", pronoun="she")
        named._fill(rng, wish, named.skeletons()["meets"])
        assert wish.words["f"][0] != "B" and wish.words["f"] != "the fox"
        both += wish.words["f"][0].isupper()
    assert both > 300


def test_a_story_has_as_many_sentences_as_asked() -> None:
    seen = set()
    for request, wish, story in told(3000):
        if wish.length.isdigit():
            number = re.search(r"(?i)\b(three|four|five|[345])\b[ -]sentence", request)
            assert number and NUMBER[number[1].lower()] == int(wish.length), request
            assert len(SENTENCE.split(story)) == int(wish.length), (request, story)
            seen.add((wish.skeleton, wish.length))
    assert len({name for name, _ in seen}) > 30 and {n for _, n in seen} == {"3", "4", "5"}


def test_a_skeleton_has_three_sentences_and_two_more() -> None:
    rng = random.Random(1)
    for one in named.skeletons().values():
        assert [more for more, _ in one.brief].count(True) == 2, one.name
        assert [more for more, _ in one.brief].count(False) == 3, one.name
        assert one.full and (one.asks or one.bare or one.moods), one.name
    assert len(named.lexicon()) > 1000
    assert len({named.some_hero(rng) for _ in range(4000)}) > 800


def test_a_story_goes_on_from_the_beginning_that_is_given() -> None:
    checked = 0
    for request, wish, story in told(1500):
        if wish.begin:
            begun = re.search(rf"{wish.begin} [^.\"]*", request, re.IGNORECASE)
            first = SENTENCE.split(story)[0].rstrip(".").lower()
            if wish.goes_on:
                assert wish.begin.lower() not in story.lower(), (request, story)
                continue
            assert begun and first in begun[0].lower().replace(" - ", " "), (request, story)
            checked += 1
    assert checked > 50


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("source", [named, rhymes])
def test_what_is_told_is_plain_text(source: object, held_out: bool) -> None:
    rng = random.Random(6)
    for _ in range(800):
        asked, answer, *_ = (turn["content"] for turn in source.sample(rng, held_out))  # type: ignore[attr-defined]
        for text in (asked, answer):
            assert not re.search(r"[{}\[\]|]|  | [.,](?!\.)", text), text
        assert not re.search(r"\b[Aa] (?!one-|uni|use|eu)[aeio]\w", answer), answer
        assert not re.search(r"\b[Aa]n (?!hour|honest)[b-df-gj-np-tv-z]", answer), answer


def test_verse_has_its_subject_and_its_lines() -> None:
    rng = random.Random(4)
    for _ in range(1500):
        asked, keep, verse, key = rhymes.made(rng, False)
        kind, _, subject = key.partition("/")
        lines = [line for line in verse.split("\n") if line]
        assert keep.lower().split()[0] in asked.lower()
        if kind == "limerick":
            assert len(lines) == 5 and re.sub("^my ", "", subject) in lines[0]
        elif kind == "haiku":
            bare = re.sub("^(an?|the) ", "", subject.lower())  # left out of a line that is full
            assert len(lines) == 3 and bare in lines[0].lower()
        else:
            number = re.search(r"(?i)\b(two|three|four|six|eight|ten|2|3|4|6|8|10)[ -]+line", asked)
            number = number or re.search(
                r"(?i)\b(two|three|four|six|eight|ten|\d+) \w+ lines", asked
            )
            assert len(lines) == (NUMBER[number[1].lower()] if number else 4), (asked, verse)
            assert subject.rpartition("/")[2].lower() in verse.lower().replace("\n", " ")


def test_only_a_place_that_rhymes_ends_the_first_line() -> None:
    rng = random.Random(5)
    leeds = rhymes.limerick(rng, "a man from Leeds", "he").split("\n")
    assert leeds[0].endswith("a man from Leeds") and leeds[1].endswith("seeds.")
    assert leeds[4].endswith("beads.")
    for who in ("a man from Florble", "a caterpillar", "Zomir"):
        assert not rhymes.limerick(rng, who, "he").split("\n")[0].endswith(who)
    assert len(rhymes.endings()) > 250
