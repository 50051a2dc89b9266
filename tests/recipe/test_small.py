"""Small pieces of writing carry what was asked for."""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import plots, small, verse
from assets.demo.recipe.corpus.text import read_sections


def test_the_same_seed_gives_the_same_sample() -> None:
    for seed in range(50):
        assert small.sample(random.Random(seed)) == small.sample(random.Random(seed))


def test_an_acrostic_spells_its_word() -> None:
    rng = random.Random(5)
    for _ in range(200):
        (asked, said), key = small.acrostics(rng)
        lines = [line.partition(" - ") for line in said.split("\n")]
        assert "".join(letter for letter, _, _ in lines).lower() == key.removeprefix("acrostic/")
        assert key.removeprefix("acrostic/") in asked.lower()
        assert all(text.startswith(letter) for letter, _, text in lines)
        assert len({text for _, _, text in lines}) == len(lines)


def test_a_poem_has_the_lines_asked_for() -> None:
    rng = random.Random(5)
    numbers = {"two": 2, "2": 2, "four": 4, "4": 4, "eight": 8, "8": 8}
    seen = 0
    for _ in range(600):
        turns, _ = small.poems(rng)
        match = re.search(r"\b(two|2|four|4|eight|8)[ -]lines?\b", turns[0], re.IGNORECASE)
        if match:
            seen += 1
            lines = [line for line in turns[1].split("\n") if line]
            assert len(lines) == numbers[match[1].lower()], turns
        if len(turns) > 2 and re.search("shorte|too long|two lines", turns[2].lower()):
            assert turns[1].startswith(turns[3]), turns
            assert len(turns[3]) < len(turns[1]), turns
    assert seen > 50


def test_names_and_days_are_carried() -> None:
    rng = random.Random(5)
    for _ in range(200):
        for make in (small.wishes, small.thanks, small.emails, small.invitations):
            (asked, said), key = make(rng)
            for word in key.split("/")[-1].removeprefix("dear ").split():
                assert word.lower() in said.lower(), (asked, said)
                assert word.lower() in asked.lower(), (asked, said)


def test_a_hint_is_the_first_letter() -> None:
    rng = random.Random(5)
    answers = {row[0]: row[1] for row in verse._rows("riddles.txt")}
    for _ in range(200):
        turns, _ = small.riddles(rng)
        if len(turns) > 3 and turns[3].startswith("It begins"):
            answer = answers[turns[1].removesuffix(" What am I?")]
            word = re.sub("^(a|an|the|your) ", "", answer)
            assert turns[3] == f"It begins with the letter {word[0].upper()}."


def test_twisters_repeat_their_letter() -> None:
    for line in read_sections(small.FILE)["twisters"]:
        letter, _, text = line.partition(": ")
        words = re.findall("[a-z]+", text.lower())
        assert sum(word[0] == letter for word in words) >= 0.6 * len(words), line


def test_themes_have_a_beginning_a_middle_and_an_end() -> None:
    for theme, lines in read_sections(verse.POEMS).items():
        assert {line[0] for line in lines} == {"o", "m", "c"}, theme
        assert sum(line[0] == "m" for line in lines) >= 2, theme
        assert all(" / " in line for line in lines), theme
    for theme, lines in read_sections(plots.DATA / "haiku.txt").items():
        assert {line[0] for line in lines} == {"a", "b", "c"}, theme
