"""Stories in which all that a request names is found again."""

import random
import re
from dataclasses import replace

from assets.demo.recipe.corpus import wished
from assets.demo.recipe.corpus.text import sentence


def sentences(text: str) -> int:
    return len(re.findall(r"[.!?](?= [A-Z]|$)", text))


def test_what_a_request_names_is_in_its_story_more_than_once() -> None:
    for seed in range(400):
        wish = wished.drawn(random.Random(seed))
        story = wished.told(wish)
        assert not re.search(r"[{}<>@]| {2}", story), story
        if wish.count:
            assert sentences(story) == wish.count, story
        for one in (wish.hero, wish.other):
            often = len(re.findall(re.escape(one.called), story, re.IGNORECASE))
            assert one.said.lower() in story.lower()
            assert wish.count or often >= 2, (one, story)
        if wish.kind.startswith(("all", "one")):
            thing = wish.slots.get("xp") or wish.slots.get("x")
            if thing and wish.kind != "all sing" and not wish.count:
                assert story.count(thing) >= 2 or wish.kind in (
                    "all travel",
                    "one habit",
                    "all play",
                    "all sing",
                    "all climb",
                ), story
            told = thing in story if thing else True
            assert told or wish.count or wish.kind in ("all sing", "all climb", "all play"), story
        assert not wish.place or wish.place in story
        assert (
            not wish.time
            or wish.count
            or wish.time.removeprefix("one ") in story.lower()
            or (wish.time in story or sentence(wish.time) in story)
        )


def test_a_request_names_what_the_story_is_made_of() -> None:
    for seed in range(400):
        rng = random.Random(seed)
        wish = wished.drawn(rng)
        asked = wished.request(rng, wish, False).lower()
        assert not re.search(r"[{}@|\[\]]", asked), asked
        assert wish.hero.noun in asked and wish.hero.name.lower() in asked
        if wish.other.noun not in wished.HELPERS:
            assert wish.other.noun in asked, asked
        assert not wish.place or wish.place.split()[-1].lower() in asked
        assert not wish.time or wish.time.split()[-1].lower() in asked


def test_a_story_that_is_told_again_keeps_its_names() -> None:
    changed = 0
    for seed in range(400):
        rng = random.Random(seed)
        wish = wished.drawn(rng)
        turns = wished.follow_up(rng, wish)
        assert len(turns) % 2 == 0
        for said in turns:
            assert not re.search(r"[{}@|\[\]]", said), said
        for answer in turns[1::2]:
            changed += answer.startswith("Once") and wish.other.noun in answer
    assert changed > 100


def test_one_more_person_is_in_the_story() -> None:
    for seed in range(100):
        rng = random.Random(seed)
        wish = wished.drawn(rng)
        who = wished.relative(rng, wish.hero)
        story = wished.told(replace(wish, more=(who,), count=0))
        assert story.lower().count(who.called.lower()) >= 2


def test_a_beginning_goes_on_where_it_stops() -> None:
    for seed in range(300):
        text, answer, _ = wished.begun(random.Random(seed))
        assert not re.search(r"[{}@|\[\]]", text + answer), text + answer
        assert not answer.startswith("Once upon")
        if text.lower().endswith((" and", " when")):
            assert answer[0].islower() or answer[0] in "AI", (text, answer)
        name = re.search(r"(?:named|called) ([A-Z]\w+)", text)
        if name:
            assert name[1] in answer, (text, answer)
