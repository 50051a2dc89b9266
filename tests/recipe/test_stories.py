"""A story takes over what its request names: the hero, the names, the friend, what shall happen."""

from __future__ import annotations

import random
import re

import pytest

from assets.demo.recipe.corpus import pairs, stories, verse
from assets.demo.recipe.corpus.plots import heroes, plots
from assets.demo.recipe.corpus.tales import Wish, tell

# Plots that are told on request, and what of them the request names.
WISHED = {
    "likes": "love", "hates": "hate", "sneeze": "stuff", "collect": "one2", "turns-into": "what",
    "forgets": "what", "misses": "miss", "odd": "strange",
    "can": "can", "finds": "thing",
}  # fmt: skip


def wishes(count: int) -> list[Wish]:
    rng = random.Random(3)
    found: list[Wish] = []
    while len(found) < count:
        request = stories._request(rng, False)
        if request is not None:
            found.append(request[1])
    return found


def test_a_story_names_what_was_wished_for() -> None:
    rng = random.Random(4)
    for wish in wishes(800):
        story = tell(rng, wish)
        assert wish.name in story.text, wish
        assert not wish.friend or re.search(rf"\b{wish.friend}\b", story.text), (wish, story.text)
        place = wish.place[2] if wish.place and wish.length != "three" else ""
        assert place.lower() in story.text.lower(), (wish, story.text)
        for let in ("skill", "loss", "fear", "dream", "trouble"):
            assert story.context.get(let, "") in story.text, (wish, story.text)
        wanted = story.context.get(WISHED.get(wish.plot, ""), "").lower()
        assert wanted in story.text.lower(), (wish, story.text)


def test_a_story_begins_with_the_line_that_is_given() -> None:
    rng, seen = random.Random(9), 0
    while seen < 20:
        request, answer = (turn["content"] for turn in stories.sample(rng)[:2])
        given = re.search(r'(?:starts|begins) with (?:the sentence )?"([^"]+\.)"', request)
        if given and "title" not in request:
            assert given[1].lower() in answer.lower().partition(".")[0].rpartition("\n")[2] + ".", (
                request
            )
            seen += 1


def test_a_short_story_has_both_that_were_asked_for() -> None:
    rng = random.Random(8)
    for plot in plots():
        if plot.has_friend and "animal" in plot.kinds:
            for _ in range(10):
                wish = Wish(hero="cat", friend="yeti", length="short", plot=plot.name)
                assert "yeti" in tell(rng, wish).text, plot.name


@pytest.mark.parametrize("hero", ["girl", "boy"])
def test_the_pronoun_follows_the_hero(hero: str) -> None:
    rng = random.Random(5)
    he = heroes()[hero][1]
    for _ in range(50):
        story = tell(rng, Wish(hero=hero, name="Noor", plot="lose"))
        assert story.context["he"] == he
        assert re.search(rf"Noor .*\b{he}\b", story.text, re.IGNORECASE | re.DOTALL)


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("source", [stories, pairs, verse])
def test_what_is_told_is_plain_text(source: object, held_out: bool) -> None:
    rng = random.Random(6)
    for _ in range(300):
        for turn in source.sample(rng, held_out)[:2]:  # type: ignore[attr-defined]
            assert not re.search(r"[{}\[\]|]|  | [.,]", turn["content"].replace(" ...", "")), turn
        answer = turn["content"]
        assert not re.search(r"\b[Aa] (?!one-|uni)[aeio]\w|\b[Aa]n [b-df-gj-np-tv-z]", answer), (
            answer
        )


def test_both_of_a_pair_are_in_the_story() -> None:
    rng = random.Random(7)
    for _ in range(200):
        request, answer = (turn["content"] for turn in pairs.sample(rng))
        names = re.search(r"(?:named|called) ([A-Z]\w+) and ([A-Z]\w+)", request)
        if names:
            assert names[1] in answer and names[2] in answer, (request, answer)


def test_a_first_line_has_about_five_syllables() -> None:
    counted = {"a slow computer": 5, "my old table": 4, "the broken bicycle": 6, "a shoe": 2}
    assert {text: verse.syllables(text) for text in counted} == counted


def test_verse_on_request_keeps_its_lines_and_its_subject() -> None:
    rng = random.Random(4)
    for _ in range(200):
        for kind, lines in (("wholimerick", 5), ("occasion", 4)):
            turns, key = verse._made(rng, kind, False)
            subject = key.split("/")[1 if kind == "wholimerick" else 0]
            assert subject.lower() in turns[0].lower()
            assert len(turns[1].split("\n")) == lines
            if kind == "wholimerick":
                assert subject.removeprefix("my ") in turns[1].split("\n")[0]
        asked, *rest = verse._made(rng, "knock", False)[0]
        assert re.search(r"(?i)knock", asked) and rest[0] == "Who's there?"
        if len(rest) > 2:
            assert rest[2].lower() == f"{rest[1].rstrip('.')} who?".lower()


def test_a_wish_can_be_told_in_the_past() -> None:
    told = {
        "who loses his hat": "who lost his hat", "that cannot sing": "that could not sing",
        "who is afraid of mice": "who was afraid of mice", "who tries to swim": "who tried to swim",
        "who wants to finish": "who wanted to finish", "who loses it and finds it again": "",
        "with a red hat": "", "who always sings": "",
    }  # fmt: skip
    assert {now: stories.in_the_past(now) for now in told} == {
        now: past or now for now, past in told.items()
    }
