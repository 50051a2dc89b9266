"""Verse about anybody with a trait: who is named occurs, the lines are counted, rhymes rhyme."""

import random
import re

from assets.demo.recipe.corpus import trait_verse

# Words that sound alike at their end.
SOUNDS = """crept slept wept | ate eight gate late plate wait | gone on | eat seat street treat
| be bee me pea sea see tea three tree wee | cared prepared scared | cried inside pride
tried wide | away day hay hooray lay may pay play say stay today way | cheer dear here
near | down frown town | fine nine shine | along dong long song | cup up | naps
perhaps | forgot not pot | smell spell tell well | lose news shoes | everything king
sing spring string thing wing | again pen rain ten then train | dance france pants |
twirl whirl | chin spin | cats hat mats that | smile while | brave cave wave | bold
cold old rolled told | begun bun done run | chalk talk walk | bees please sneeze
trees | many penny | bank drank tank | buzz was | bowl soul | folks jokes spokes |
bend end | heart part | above dove love | cent tent went | rhyme time | pies skies
wise | paid played shade | cream dream | face place | find kind mind | band hand
land | eyed ride side | fun sun | bow cow somehow | boom broom room | sill still |
banks thanks | ask cask flask | bag wag | bored roared snored | bad glad had sad |
seek week | alone stone | boss cross moss | ache awake bake cake lake sake shake |
moon noon soon spoon tune | drift gift lift | fail whale | foot put soot | dry why |
dress mess | around found round sound | code road | fast last passed past | book
cook hook | page rage | frost lost tossed | bed bread head instead red said shed | about
out shout without | met wet yet | asleep deep heap keep peep sleep steep weep | nice
twice | cloud crowd loud | door floor four more roar snore store wore | bite flight
fright light might night right sight tonight | air bear chair share | by fly high my
pie shy sky | all ball fall hall small tall wall | ago go grow hello know low no row
slow snow so | blew blue do glue shoe through too true two you"""
GROUPS = [set(group.split()) for group in SOUNDS.split("|")]


def rhyme(one: str, other: str) -> bool:
    words = [re.findall(r"[a-z']+", line.lower())[-1] for line in (one, other)]
    return any(set(words) <= group for group in GROUPS) or set(words) == {"train", "again"}


def test_rhymes_rhyme() -> None:
    for trait in trait_verse.traits():
        a, b, c, d, e = trait.limerick.split(" / ")
        assert rhyme(a, b) and rhyme(a, e) and rhyme(c, d), trait
        a, b, c, d = trait.four.split(" / ")
        assert rhyme(a, b) and rhyme(c, d), trait


def test_who_and_what_is_asked_for_is_in_the_verse() -> None:
    for seed in range(400):
        rng = random.Random(seed)
        shape = rng.choice(list(trait_verse.SHAPES))
        trait, y = trait_verse.drawn(rng, shape)
        who = trait_verse.subject(rng)
        verse = trait_verse.told(trait, who, shape, y)
        assert not re.search(r"[{}|/]", verse), verse
        lines = {"limerick": 5, "four": 4, "two": 2, "haiku": 3}[shape]
        assert verse.count("\n") == lines - 1
        name = re.sub("^(the|your) ", "", who.called)
        assert name in verse, (who, verse)
        assert shape == "two" or not y or y.lower() in verse.lower(), (y, verse)
        asked = trait_verse.asked_of(rng, trait, who, y)
        assert who.noun in asked and (y in asked or trait.adjectives)


def test_conversations_take_turns() -> None:
    for seed in range(200):
        talk = trait_verse.sample(random.Random(seed))
        assert len(talk) % 2 == 0
        assert not any(re.search(r"[{}|\[\]]", turn["content"]) for turn in talk)
        kept = trait_verse.sample(random.Random(seed), True)
        assert kept != talk


def test_two_that_are_named_are_in_the_verse() -> None:
    for form in trait_verse.pairs()["limerick"]:
        a, b, c, d, e = form.split(" / ")
        assert rhyme(a, b) and rhyme(a, e) and rhyme(c, d), form
    for form in trait_verse.pairs()["four"]:
        a, b, c, d = form.split(" / ")
        assert rhyme(a, b) and rhyme(c, d), form
    for seed in range(100):
        talk = trait_verse.about_two(random.Random(seed), False)
        for verse in talk[1::2]:
            assert verse["content"].count("\n") in (3, 4)
            for name in re.findall(r"(?:named|called) ([A-Z]\w+)", talk[0]["content"]):
                assert name in verse["content"]
