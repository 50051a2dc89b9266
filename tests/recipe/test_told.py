"""Stories take over hero, number, deed and length from the request, and stay consistent after."""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import told

SENTENCE = re.compile(r'(?<=[.!?]) (?=[A-Z"])')


def test_what_is_told_is_plain_text() -> None:
    rng = random.Random(3)
    for at in range(300):
        for message in told.sample(rng, at % 3 == 0):
            text = message["content"]
            assert not re.search(r"[{}\[\]<>|*]|  | [.,](?!\.)|\b[Aa] [aeio](?!ne)\w", text), text


def test_a_story_says_who_it_is_about_and_has_the_length_asked_for() -> None:
    rng = random.Random(4)
    for _ in range(300):
        _, tale, _ = told.make(rng, False)
        story = told.told(tale)
        assert tale.heroes.said in SENTENCE.split(story)[0]
        if tale.length in ("1", "2", "3") and '"' not in story:
            assert len(SENTENCE.split(story)) == int(tale.length), story
        if tale.heroes.many:
            assert not re.search(r"\b(he|she) (was|had|wanted)\b.{0,5}$", story)


def test_each_block_tells_in_the_singular_and_the_plural() -> None:
    rng = random.Random(5)
    one = told.Heroes("a zebu", "a zebu named Tom", "Tom", ("Tom",), "he")
    two = told.Heroes("two zebus", "two zebus", "the two zebus", (), "they")
    for block in told.blocks():
        for heroes, wrong in (
            (one, r"\b(they were|Tom were|We|we are)\b$"),
            (two, r"\. The two zebus (was|is|has)\b"),
        ):
            slots = told.slots_for(rng, heroes, block)
            for plot in block.plots:
                tale = told.Tale(block, heroes, block.deeds[0][1], plot, slots, "", "long")
                story = told.told(tale)
                assert not re.search(wrong, story), story
                # The helper is introduced once.
                assert story.count(slots["a f"]) + story.count(slots["a f"].capitalize()) <= 1
