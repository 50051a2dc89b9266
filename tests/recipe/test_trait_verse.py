"""Verse about anybody with a trait: who is named occurs, the lines are counted, rhymes rhyme."""

import random
import re

from assets.demo.recipe.corpus import trait_verse

# Words that sound alike at their end.
SOUNDS = """slept crept wept | bed instead head bread said | night light bite flight tonight
sight right might | late eight wait ate plate gate | gone on | eat treat street seat
| me three tea see be sea wee bee tree | scared cared prepared | hall all fall ball
wall small tall | true you through do two blue too | tried cried pride wide inside |
more four door floor wore store roar snore | day away lay may stay hooray say play
pay way today | cheer here dear near | frown town down | shine nine fine | along
song long dong | up cup | noon soon spoon moon | naps perhaps | forgot pot not |
spell well smell tell | shoes news lose | sing thing everything spring king string
wing | train rain again pen ten then | so hello low go no ago snow slow know | dance
pants france | twirl whirl | spin chin | chair air share | cake lake shake bake ache
| mats cats hat that | shy by pie sky fly | while smile | brave cave wave | bold
cold old told rolled | done bun run begun | talk walk chalk | trees bees sneeze
please | broom room | keep heap sleep steep asleep | many penny | round sound |
drank tank bank | buzz was | bowl soul | jokes folks spokes | bend end | sad had bad
| part heart | love dove above | went tent cent | time rhyme | wise skies pies |
played shade paid | dream cream | place face | shout about without | kind find mind
| fast past last passed | loud cloud | met wet yet | band land hand | ride side eyed
| my by | sun fun | weep sleep"""
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
