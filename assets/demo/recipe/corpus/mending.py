"""Sentences as learners of English write them, with one to five mistakes, and how they are right.

A sentence is put together from parts (`Part`); each has its right form and the wrong ones that are
usual: verbs, articles, plurals, words without a plural, prepositions, the order of words,
questions. What has no mistake stays as it is. Afterwards somebody may ask what was changed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from assets.demo.recipe.corpus import daily, rewriting, sentences
from assets.demo.recipe.corpus.copying import MISSPELLED, Job, number_word, whole_words
from assets.demo.recipe.corpus.sentences import OF, SECOND, be, done, entries, ing, past, third
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    listed,
    read_sections,
    sentence,
    with_article,
)
from assets.demo.recipe.corpus.wordplay import plural_of


@dataclass(frozen=True, slots=True)
class Part:
    """Some words, and how they are often wrong."""

    right: str
    wrong: tuple[str, ...] = ()


Parts = list[Part]
Pattern = Callable[[random.Random], Parts]


def part(right: str, *wrong: str) -> Part:
    return Part(right, tuple(dict.fromkeys(one for one in wrong if one != right)))


def cut(rng: random.Random, form: str) -> Part:
    """`right/wrong/wrong`, filled."""
    right, *wrong = form.split("/")
    return part(right, *wrong)


# --- nouns ----------------------------------------------------------------------------------------

# What has no plural, with what it is counted by.
UNCOUNTED = dict(
    entry.split(" ")
    for entry in """
bread loaf;water bottle;milk bottle;cheese piece;paper sheet;rice bag;sugar bag;coffee cup;tea cup
soup bowl;music piece;chocolate bar;soap bar;meat piece;butter piece;flour bag;salt bag;juice glass
advice piece;information piece;furniture piece;luggage piece;news piece;jewellery piece;wood piece
honey jar;jam jar;pasta plate;salad bowl;oil bottle;glue tube;toast slice;ham slice;lemonade glass
cereal bowl;equipment piece;rubbish bag;yoghurt pot;petrol litre;homework piece;cotton piece
""".replace("\n", ";")
    .strip(";")
    .split(";")
)
EATEN = (
    "bread",
    "cheese",
    "rice",
    "soup",
    "chocolate",
    "meat",
    "jam",
    "honey",
    "pasta",
    "salad",
    "toast",
    "ham",
    "cereal",
    "yoghurt",
)
DRUNK = ("water", "milk", "coffee", "tea", "juice", "lemonade")
KEPT = (
    "paper",
    "sugar",
    "soap",
    "butter",
    "flour",
    "salt",
    "furniture",
    "luggage",
    "wood",
    "oil",
    "glue",
    "equipment",
    "jewellery",
    "cotton",
    "rice",
    "bread",
    "cheese",
    "milk",
)
TOLD = ("advice", "information", "news")
# Plurals that are not made with s, and how they are wrong.
IRREGULAR = {
    "child": ("children", "childs", "childrens", "childes"),
    "man": ("men", "mans", "mens"),
    "woman": ("women", "womans", "womens"),
    "person": ("people", "persons", "peoples"),
    "tooth": ("teeth", "tooths", "teeths"),
    "foot": ("feet", "foots", "feets"),
    "mouse": ("mice", "mouses", "mices"),
    "goose": ("geese", "gooses"),
    "sheep": ("sheep", "sheeps"),
    "fish": ("fish", "fishs"),
    "knife": ("knives", "knifes"),
    "wife": ("wives", "wifes"),
    "leaf": ("leaves", "leafs"),
    "shelf": ("shelves", "shelfs"),
    "wolf": ("wolves", "wolfs"),
    "loaf": ("loaves", "loafs"),
    "potato": ("potatoes", "potatos"),
    "tomato": ("tomatoes", "tomatos"),
    "box": ("boxes", "boxs"),
    "watch": ("watches", "watchs"),
    "city": ("cities", "citys"),
    "baby": ("babies", "babys"),
    "story": ("stories", "storys"),
    "party": ("parties", "partys"),
    "family": ("families", "familys"),
    "dish": ("dishes", "dishs"),
    "bus": ("buses", "buss"),
    "country": ("countries", "countrys"),
    "cherry": ("cherries", "cherrys"),
    "key": ("keys", "keies"),
    "sandwich": ("sandwiches", "sandwichs"),
    "deer": ("deer", "deers"),
    "thief": ("thieves", "thiefs"),
}
EDIBLE = (
    "apple",
    "egg",
    "orange",
    "banana",
    "sandwich",
    "tomato",
    "potato",
    "carrot",
    "onion",
    "pear",
    "biscuit",
    "pancake",
    "pizza",
    "lemon",
    "cherry",
    "cake",
    "melon",
    "plum",
    "olive",
    "ice cream",
)


def plurals(noun: str) -> tuple[str, tuple[str, ...]]:
    """`books`, and `book`: how it is wrong."""
    if noun in IRREGULAR:
        right, *wrong = IRREGULAR[noun]
        return right, (*wrong, *(() if right == noun else (noun,)))
    right = plural_of(noun)
    by_rule = f"{noun}s"
    return right, (noun, noun) if by_rule == right else (noun, by_rule)


def one(rng: random.Random, noun: str, adjective: bool = True) -> Part:
    """`a book`."""
    said = noun
    if adjective and rng.random() < 0.35:
        said = f"{rng.choice(daily.ADJECTIVES)} {noun}"
    right = with_article(said)
    article = right.partition(" ")[0]
    other = "a" if article == "an" else "an"
    wrong = [f"{other} {said}", said, f"{article} {plurals(noun)[0]}" if said == noun else said]
    return part(right, *wrong, *([f"a {said}"] * (article == "an")))


def several(rng: random.Random, noun: str) -> Part:
    """`two books`."""
    right, wrong = plurals(noun)
    number = rng.choice((2, 2, 3, 3, 4, 5, 6, rng.randint(7, 40)))
    count = rng.choice(
        (number_word(number), number_word(number), str(number), "many", "some", "several", "a few")
    )
    found = [f"{count} {form}" for form in wrong]
    if count == "many":
        found += [f"much {right}", f"much {wrong[0]}"]
    if count == "a few":
        found += [f"a little {right}"]
    return part(f"{count} {right}", *found)


def mass(rng: random.Random, noun: str) -> Part:
    """`some bread`, `two loaves of bread`."""
    way = rng.random()
    many = f"{noun}es" if noun.endswith(("s", "sh", "ch")) else f"{noun}s"
    if noun == "news":
        many = "newses"
    if way < 0.4:
        return part(f"some {noun}", with_article(noun), f"some {many}", with_article(many))
    if way < 0.78:
        measure, number = UNCOUNTED[noun], rng.choice((2, 2, 3, 3, 4, 5, 6))
        count = rng.choice((number_word(number), str(number)))
        measures = plurals(measure)[0]
        return part(
            f"{count} {measures} of {noun}",
            f"{count} {noun}",
            f"{count} {many}",
            f"{count} {noun}",
            f"{count} {measure} of {noun}",
        )
    if way < 0.9:
        return part(f"a lot of {noun}", f"many {many}", f"many {noun}", f"a lot of {many}")
    return part(f"a little {noun}", f"a few {noun}", f"few {many}")


def thing(rng: random.Random) -> Part:
    noun = rng.choice((*daily.THINGS, *IRREGULAR, "child", "man", "woman"))
    noun = rng.choice(daily.THINGS) if noun in ("person", "wife", "foot") else noun
    way = rng.random()
    if way < 0.35:
        return one(rng, noun)
    if way < 0.75:
        return several(rng, noun)
    if way < 0.88:
        right, _ = plurals(noun)
        this = rng.choice((("these", "this"), ("those", "that")))
        return part(
            f"{this[0]} {right}", f"{this[1]} {right}", *([f"{this[0]} {noun}"] * (right != noun))
        )
    this = rng.choice((("this", "these"), ("that", "those")))
    return part(f"{this[0]} {noun}", f"{this[1]} {noun}")


def eaten(rng: random.Random) -> Part:
    way = rng.random()
    if way < 0.5:
        return mass(rng, rng.choice(EATEN))
    return (one if way < 0.65 else several)(rng, rng.choice(EDIBLE))


def drunk(rng: random.Random) -> Part:
    return mass(rng, rng.choice(DRUNK))


def bought(rng: random.Random) -> Part:
    return rng.choice((thing, thing, eaten, eaten, drunk, lambda r: mass(r, rng.choice(KEPT))))(rng)


# Verbs with such objects.
WITH = (
    ("buy", bought),
    ("buy", bought),
    ("sell", bought),
    ("eat", eaten),
    ("eat", eaten),
    ("drink", drunk),
    ("bring", bought),
    ("get", bought),
    ("order", eaten),
    ("find", thing),
    ("see", thing),
    ("lose", thing),
    ("take", thing),
    ("break", thing),
    ("carry", bought),
    ("draw", thing),
    ("steal", bought),
    ("choose", thing),
    ("give me", bought),
    ("send me", thing),
    ("show me", thing),
    ("pay for", bought),
    ("look for", thing),
    ("want", bought),
    ("need", bought),
    ("have", bought),
    ("cook", eaten),
    ("prepare", eaten),
    ("throw away", bought),
    ("forget", thing),
    ("hide", thing),
    ("keep", thing),
    ("make", eaten),
    ("catch", lambda r: several(r, r.choice(("fish", "mouse", "bird")))),
    ("hear", lambda r: mass(r, "news")),
    ("give me", lambda r: mass(r, r.choice(TOLD))),
    ("ask for", lambda r: mass(r, r.choice(("advice", "information", "water", "paper")))),
    ("know", lambda r: several(r, r.choice(("person", "story", "word", "song")))),
    (
        "meet",
        lambda r: several(r, r.choice(("person", "child", "woman", "man", "friend", "teacher"))),
    ),
    ("teach", lambda r: several(r, r.choice(("child", "student", "woman", "man")))),
    ("visit", lambda r: several(r, r.choice(("city", "country", "friend", "museum", "family")))),
    ("read", lambda r: several(r, r.choice(("story", "book", "page", "letter")))),
    ("write", lambda r: several(r, r.choice(("story", "letter", "email", "page", "word")))),
)


# --- verbs ----------------------------------------------------------------------------------------


def subject(rng: random.Random) -> tuple[Part, str]:
    """Who does it."""
    who, pronoun = sentences.subject(rng)
    while pronoun == "it":
        who, pronoun = sentences.subject(rng)
    if who in OF:
        wrong = {"he": ("him",), "she": ("her",), "we": ("us",), "they": ("them",), "I": ("me",)}
        return part(who, *(wrong.get(who, ()) if rng.random() < 0.15 else ())), pronoun
    if rng.random() < 0.12:
        friend = rng.choice((*daily.NAMES, "my brother", "my sister", "my friend", "my mother"))
        return part(
            f"{friend} and I", f"me and {friend}", f"I and {friend}", f"{friend} and me"
        ), "we"
    return part(who), pronoun


def overdone(verb: str) -> tuple[str, ...]:
    """`buyed`, `boughted`."""
    if verb not in sentences.IRREGULAR or verb == "be":
        return ()
    ed = verb + ("d" if verb.endswith("e") else "ed")
    then, finished = past(verb), done(verb)
    more = () if then in (verb, finished) else (finished,)
    return (ed, ed, *more, *((f"{then}ed",) if then.endswith(("t", "k", "w")) else ()))


def verb_part(rng: random.Random, verb: str, who: str, tense: str) -> Part:
    """A verb, and its wrong forms in this tense."""
    one_, s, then, ing_ = verb, third(verb), past(verb), ing(verb)
    many = who in SECOND
    if verb == "be":
        now, before = be(who), be(who, True)
        other = "are" if now in ("is", "am") else "is"
        if tense == "then":
            return part(
                before,
                now,
                "were" if before == "was" else "was",
                "be",
                "" if rng.random() < 0.2 else now,
            )
        return (
            part(f"will {verb}", "will is", "will")
            if tense == "will"
            else part(now, other, "be", "")
        )
    if tense == "now":
        right = one_ if many else s
        return part(
            right, one_ if not many else s, one_ if not many else s, ing_, f"{be(who)} {one_}"
        )
    if tense == "then":
        found = (
            one_,
            one_,
            one_ if many else s,
            *overdone(verb),
            ing_,
            f"was {one_}",
            f"have {one_}",
        )
        return part(then, *found)
    if tense == "will":
        return part(f"will {one_}", f"will {s}", f"will to {one_}", f"will {ing_}", f"will {then}")
    if tense == "ing":
        is_ = be(who)
        return part(
            f"{is_} {ing_}",
            ing_,
            f"{is_} {one_}",
            f"{'are' if is_ in ('is', 'am') else 'is'} {ing_}",
        )
    has = "have" if many else "has"
    return part(
        f"{has} {done(verb)}",
        f"{has} {one_}",
        f"{'has' if many else 'have'} {done(verb)}",
        *([f"{has} {then}"] * (then != done(verb))),
        f"{has} {ing_}",
    )


TIMES = {
    "then": (
        "yesterday",
        "yesterday",
        "last night/on last night/last nights",
        "last week/in last week/the last week",
        "two days ago/before two days/two day ago/ago two days",
        "last Monday/at last Monday/on last Monday",
        "last summer/in the last summer",
        "three weeks ago/three week ago/before three weeks",
        "an hour ago/a hour ago/before one hour",
        "last year/the last year/in last year",
        "yesterday evening/yesterday at evening",
        "in 2015/at 2015/on 2015",
        "a week ago/before a week",
        "last Friday/in last Friday",
        "two years ago/two year ago/since two years ago",
        "yesterday morning/yesterday in the morning",
        "last month/in last month",
    ),
    "now": (
        "every day/every days/all days/everyday",
        "every morning/every mornings/all mornings",
        "every week/each weeks/every weeks",
        "on Sundays/at Sundays/in Sundays",
        "twice a week/two time a week/twice in week",
        "in the evening/at the evening/on the evening",
        "at night/in night/on night",
        "every year/every years",
        "in the morning/at the morning/in morning",
        "every summer/every summers",
        "three times a week/three time a week/three times in week",
        "once a month/one time in month",
        "at the weekend/in the weekend",
        "after school/after the school",
    ),
    "will": (
        "tomorrow/in tomorrow",
        "next week/in next week/the next week",
        "next Monday/on next Monday",
        "next year/in next year",
        "soon",
        "on Friday/in Friday/at Friday",
        "in two days/after two day/in two day",
        "tomorrow morning/tomorrow at the morning",
        "in July/on July/at July",
        "in an hour/in a hour",
    ),
    "ing": ("now", "right now", "at the moment/in the moment", "at the moment/on this moment"),
    "have": ("already/yet", "just"),
}
OFTEN = ("always", "often", "usually", "never", "sometimes")


def rest_parts(rng: random.Random, rest: str) -> Parts:
    """What stands behind a verb, word by word: articles and names may be wrong."""
    found: Parts = []
    words = rest.split()
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        last = at == len(words) - 1
        if word in ("a", "an") and not last:
            found.append(part(word, "an" if word == "a" else "a", ""))
        elif word == "the" and before in ("to", "in", "at", "on", "of") and not last:
            found.append(part(word, "") if rng.random() < 0.5 else part(word))
        elif word[0].isupper():
            found.append(part(word, word.lower()))
        else:
            found.append(part(word))
    return found


def doing(rng: random.Random, who: str, tense: str) -> Parts:
    """A verb and what it is done to."""
    if rng.random() < 0.5:
        verb, make = rng.choice(WITH)
        if tense == "ing" and verb in ("want", "need", "have", "know", "forget", "hear", "see"):
            return doing(rng, who, tense)
        first, _, more = verb.partition(" ")
        return [verb_part(rng, first, who, tense), *([part(more)] if more else []), make(rng)]
    while True:
        form = rng.choice(entries("actions"))
        verb, _, rest = form.partition(" ")
        if verb in ("be",) and tense in ("ing", "have"):
            continue
        if (verb in rewriting.STATES and tense == "ing") or (
            verb == "be" and "be a" in form and who in ("we", "they", "you")
        ):
            continue
        break
    rest = sentences.filled(rng, rest).replace("{his}", OF[who][0]).replace("|", "")
    return [verb_part(rng, verb, who, tense), *rest_parts(rng, rest)]


def told(rng: random.Random) -> Parts:
    """Somebody does one thing or two, now, in the past or later, with the time before or behind."""
    tense = rng.choice(("then", "then", "then", "then", "now", "now", "now", "will", "ing", "have"))
    who, pronoun = subject(rng)
    first = doing(rng, pronoun, tense)
    if tense == "have":
        has = first[0]
        aux, _, verb = has.right.partition(" ")
        wrong = [w for w in has.wrong if w.startswith(("have ", "has "))]
        now = rng.choice(("already", "just", "never"))
        moved = part(f"{aux} {now} {verb}", *(w.replace(" ", f" {now} ", 1) for w in wrong))
        return [who, moved, *first[1:]]
    parts = [who, *first]
    if tense == "now" and rng.random() < 0.3 and first[0].right not in ("is", "are", "am"):
        often = rng.choice(OFTEN)
        did = first[0]
        turned = part(
            f"{often} {did.right}",
            *(f"{often} {w}" for w in did.wrong[:1]),
            f"{did.right} {often}",
        )
        return [who, turned, *first[1:]]
    if rng.random() < 0.4 and tense in ("then", "now", "will"):
        second = doing(rng, pronoun, tense)
        if tense == "will":
            verb = second[0].right.removeprefix("will ")
            second[0] = part(verb, third(verb), f"to {verb}", ing(verb))
        if second[0].right != first[0].right:
            parts += [part("and"), *second]
    when = cut(rng, rng.choice(TIMES[tense]))
    if tense == "have":
        return parts
    if rng.random() < 0.5 and tense != "ing":
        return [when, *parts]
    return [*parts, when]


def verbs_of(rng: random.Random) -> tuple[str, str]:
    while True:
        verb, _, rest = rng.choice(entries("actions")).partition(" ")
        if verb not in rewriting.STATES and "{his}" not in rest:
            return verb, sentences.filled(rng, rest).replace("|", "")


def denied(rng: random.Random) -> Parts:
    who, pronoun = subject(rng)
    verb, rest = verbs_of(rng)
    then = past(verb)
    if rng.random() < 0.5:
        found = part(
            f"didn't {verb}",
            f"didn't {then}",
            f"not {then}",
            f"don't {then}",
            f"didn't {third(verb)}",
            f"didnt {verb}",
            f"did not {then}",
            f"no {then}",
        )
        return [who, found, *rest_parts(rng, rest), cut(rng, rng.choice(TIMES["then"]))]
    if pronoun in SECOND:
        found = part(
            f"don't {verb}",
            f"doesn't {verb}",
            f"not {verb}",
            f"don't {third(verb)}",
            f"dont {verb}",
            f"no {verb}",
        )
    else:
        found = part(
            f"doesn't {verb}",
            f"don't {verb}",
            f"not {verb}",
            f"doesn't {third(verb)}",
            f"doesnt {verb}",
            f"don't {third(verb)}",
        )
    return [who, found, *rest_parts(rng, rest), cut(rng, rng.choice(TIMES["now"]))]


def asked(rng: random.Random) -> Parts:
    who, pronoun = subject(rng)
    while pronoun == "I" or who.right.endswith(" I"):
        who, pronoun = subject(rng)
    w = who.right
    verb, rest = verbs_of(rng)
    then, s = past(verb), third(verb)
    many = pronoun in SECOND
    do, no = ("do", "does") if many else ("does", "do")
    word = rng.choice(("where", "when", "why", "how often", "", ""))
    if rng.random() < 0.5:
        found = [
            f"did {w} {verb}",
            f"did {w} {then}",
            f"{w} {then}",
            f"does {w} {then}",
            f"did {w} {s}",
            f"{w} did {verb}",
        ]
    else:
        found = [
            f"{do} {w} {verb}",
            f"{no} {w} {verb}",
            f"{w} {verb if many else s}",
            f"{do} {w} {s}" if not many else f"does {w} {verb}",
        ]
    full = [f"{word} {one_}".strip() for one_ in found]
    if not word:
        full = [one_ for one_ in full if not one_.startswith(w)]
    if verb == "go" and rest.startswith("to ") and word == "where":
        rest = ""
    return [part(full[0], *full[1:]), *rest_parts(rng, rest), Part("?")]


def modal(rng: random.Random) -> Parts:
    who, _ = subject(rng)
    verb, rest = verbs_of(rng)
    can = rng.choice(("can", "must", "should", "could", "may", "can't", "might", "shouldn't"))
    found = part(f"{can} {verb}", f"{can} to {verb}", f"{can} {third(verb)}", f"{can} {past(verb)}")
    return [who, found, *rest_parts(rng, rest)]


def there(rng: random.Random) -> Parts:
    place = part(
        sentences.filled(
            rng, rng.choice(("in the {p}", "on the {t}", "near the {p}", "under the {t}"))
        )
    )
    before = rng.random() < 0.4
    way = rng.random()
    if way < 0.6:
        verb = (
            part("there were", "there was", "there is", "it was")
            if before
            else part("there are", "there is", "it is", "there be", "have")
        )
        noun = several(
            rng, rng.choice((*daily.THINGS, *daily.CREATURES, "child", "person", "man", "woman"))
        )
        return [verb, noun, place, *([cut(rng, rng.choice(TIMES["then"]))] if before else [])]
    verb = (
        part("there was", "there were")
        if before
        else part("there is", "there are", "it is", "have")
    )
    noun = (
        one(rng, rng.choice((*daily.THINGS, *daily.CREATURES)))
        if way < 0.8
        else mass(rng, rng.choice(tuple(UNCOUNTED)[:20]))
    )
    only = tuple(w for w in noun.wrong if w.startswith(("a ", "an ")))
    noun = Part(noun.right, only)  # `there were dog` may be one or several
    if re.search(r"\b(two|three|four|five|six|\d)\b", noun.right):
        return there(rng)
    return [verb, noun, place, *([cut(rng, rng.choice(TIMES["then"]))] if before else [])]


COMPARED = dict(
    entry.split(":")
    for entry in """
big:bigger;small:smaller;tall:taller;old:older;young:younger;fast:faster;slow:slower;cheap:cheaper
long:longer;short:shorter;hot:hotter;cold:colder;nice:nicer;easy:easier;happy:happier;heavy:heavier
strong:stronger;rich:richer;loud:louder;clean:cleaner;dirty:dirtier;funny:funnier;busy:busier
early:earlier;late:later;hard:harder;thin:thinner;fat:fatter;sad:sadder;high:higher;deep:deeper
bright:brighter;dark:darker;kind:kinder;lazy:lazier;noisy:noisier;pretty:prettier;warm:warmer
""".replace("\n", ";")
    .strip(";")
    .split(";")
)
LONG = (
    "expensive",
    "interesting",
    "beautiful",
    "difficult",
    "important",
    "dangerous",
    "comfortable",
    "careful",
    "famous",
    "popular",
    "useful",
    "boring",
    "modern",
    "exciting",
    "intelligent",
    "patient",
)


def compared(rng: random.Random) -> Parts:
    who, pronoun = subject(rng)
    is_ = verb_part(rng, "be", pronoun, "now")
    is_ = Part(is_.right, tuple(w for w in is_.wrong if w))
    person = rng.choice((*daily.NAMES, "my brother", "me", "his friend", "her sister"))
    than = f"than {person}"
    other = part(
        than, than.replace("than", "then"), than.replace("than", "as"), than.replace("than", "that")
    )
    way = rng.random()
    if way < 0.55:
        word = rng.choice(tuple(COMPARED))
        more = COMPARED[word]
        return [who, is_, part(more, f"more {word}", f"more {more}"), other]
    if way < 0.7:
        word, wrong = rng.choice(
            (
                ("better", ("more good", "gooder", "more better")),
                ("worse", ("more bad", "badder", "worser")),
            )
        )
        return [who, is_, part(word, *wrong), other]
    word = rng.choice(LONG)
    er = f"{word.removesuffix('e')}er"
    return [who, is_, part(f"more {word}", er, f"more {er}"), other]


def superlative(rng: random.Random) -> Parts:
    who, pronoun = subject(rng)
    while pronoun in ("we", "they"):
        who, pronoun = subject(rng)
    word = rng.choice(tuple(COMPARED))
    most = re.sub("er$", "est", COMPARED[word])
    found = part(
        f"the {most}", f"the most {word}", f"the most {most}", most, f"the {COMPARED[word]}"
    )
    if rng.random() < 0.35:
        long = rng.choice(LONG)
        found = part(
            f"the most {long}",
            f"the {long.removesuffix('e')}est",
            f"most {long}",
            f"the more {long}",
        )
    noun = rng.choice(
        ("in the class", "in the world", "in the family", "of all", "in the team", "in the village")
    )
    wrong = noun.replace("in the", "of the") if noun.startswith("in") else noun
    return [who, verb_part(rng, "be", pronoun, "now"), found, part(noun, wrong)]


GERUND = ("enjoy", "finish", "avoid", "practise", "keep", "stop", "miss", "suggest")
INFINITIVE = (
    "want",
    "need",
    "hope",
    "decide",
    "plan",
    "promise",
    "learn",
    "agree",
    "refuse",
    "try",
)
BEHIND = (
    "good at/good in",
    "interested in/interested for",
    "afraid of/afraid from",
    "tired of/tired from",
    "bad at/bad in",
    "proud of/proud on",
    "bored of/bored from",
)


def gerund(rng: random.Random) -> Parts:
    who, pronoun = subject(rng)
    verb, rest = verbs_of(rng)
    more = rest_parts(rng, rest)
    way = rng.random()
    past_ = rng.random() < 0.4
    tense = "then" if past_ else "now"
    if way < 0.35:
        first = verb_part(rng, rng.choice(GERUND), pronoun, tense)
        parts = [
            who,
            Part(first.right, first.wrong[:2]),
            part(ing(verb), f"to {verb}", verb),
            *more,
        ]
    elif way < 0.7:
        first = verb_part(rng, rng.choice(INFINITIVE), pronoun, tense)
        parts = [
            who,
            Part(first.right, first.wrong[:2]),
            part(f"to {verb}", ing(verb), verb, f"to {ing(verb)}", f"to {past(verb)}"),
            *more,
        ]
    else:
        first = verb_part(rng, "be", pronoun, tense)
        parts = [
            who,
            Part(first.right, tuple(w for w in first.wrong if w)),
            cut(rng, rng.choice(BEHIND)),
            part(ing(verb), f"to {verb}", verb),
            *more,
        ]
    return [cut(rng, rng.choice(TIMES["then"])), *parts] if past_ else parts


ADVERBS = dict(
    entry.split(":")
    for entry in """
quick:quickly;slow:slowly;careful:carefully;bad:badly;good:well;loud:loudly;quiet:quietly;easy:easily
happy:happily;nice:nicely;perfect:perfectly;polite:politely;clear:clearly;fluent:fluently;angry:angrily
beautiful:beautifully;nervous:nervously;brave:bravely;patient:patiently;proud:proudly;sad:sadly
gentle:gently;serious:seriously;correct:correctly;sudden:suddenly;honest:honestly;safe:safely
""".replace("\n", ";")
    .strip(";")
    .split(";")
)
DONE_SO = (
    "sing",
    "speak",
    "drive",
    "work",
    "walk",
    "dance",
    "write",
    "play",
    "talk",
    "swim",
    "run",
    "cook",
    "answer",
    "move",
    "read",
    "smile",
    "act",
    "behave",
    "teach",
    "ride",
)


def adverb(rng: random.Random) -> Parts:
    who, pronoun = subject(rng)
    word = rng.choice(tuple(ADVERBS))
    very = rng.choice(("", "", "very ", "so ", "really "))
    if word in ("sudden", "safe") and very:
        very = ""
    wrong = [f"{very}{word}"] + (
        ["very goodly", "goodly"][: 1 + (not very)] if word == "good" else []
    )
    tense = rng.choice(("now", "now", "then"))
    verb = verb_part(rng, rng.choice(DONE_SO), pronoun, tense)
    parts = [who, verb, part(f"{very}{ADVERBS[word]}", *wrong)]
    return [*parts, cut(rng, rng.choice(TIMES["then"]))] if tense == "then" else parts


# Whole phrases: right / wrong / wrong, with slots of `daily`.
PHRASES = read_sections(FORMS / "mending.txt")["phrases"]


def phrase(rng: random.Random) -> Parts:
    form = rng.choice(PHRASES)
    slots = sorted(set(re.findall(r"\{(\w)\}", form)))
    values = {slot: sentences.filled(rng, f"{{{slot}}}") for slot in slots}
    if form.count("{N}") > 1 and "{N}'s" not in form:
        form = form.replace("{N}", rng.choice(daily.NAMES), 1)
    if "n" in values:
        values["n"] = str(rng.randint(2, 12))

    def fill(text: str) -> str:
        text = re.sub(
            r"\{(\w)\}(s\b)?",
            lambda m: (
                plural_of(values[m[1]]) if m[2] and m[1] in "tc" else values[m[1]] + (m[2] or "")
            ),
            text,
        )
        return text.strip()

    return [
        part(*(fill(one_) for one_ in piece.split("/")))
        for piece in form.split("|")
        if piece.strip()
    ]


ADJECTIVES_ = (
    "tired",
    "hungry",
    "happy",
    "late",
    "ill",
    "busy",
    "ready",
    "from Spain",
    "in the {p}",
    "at home",
    "very {a}",
)


def copula(rng: random.Random) -> Parts:
    who, pronoun = subject(rng)
    tense = rng.choice(("now", "now", "then"))
    verb = verb_part(rng, "be", pronoun, tense)
    more = rest_parts(
        rng,
        sentences.filled(
            rng, rng.choice(ADJECTIVES_).replace("{a}", rng.choice(sentences.FEELINGS))
        ),
    )
    if tense == "then":
        verb = Part(verb.right, tuple(w for w in verb.wrong if w))
        return [who, verb, *more, cut(rng, rng.choice(TIMES["then"]))]
    return [who, verb, *more, part("today")]


PATTERNS: dict[Pattern, float] = {
    told: 40,
    denied: 7,
    asked: 8,
    modal: 5,
    there: 6,
    compared: 5,
    superlative: 2,
    gerund: 6,
    adverb: 5,
    phrase: 24,
    copula: 4,
}
KINDS, WEIGHTS = tuple(PATTERNS), tuple(PATTERNS.values())


@dataclass(frozen=True, slots=True)
class Mended:
    """What was written, how it is right, and what was changed."""

    text: str
    answer: str
    changes: tuple[tuple[str, str], ...]


def spoken(texts: list[str]) -> str:
    """The words of a sentence with its stop."""
    text = re.sub(r" (?=[?,])", "", " ".join(one_ for one_ in texts if one_))
    return text if text.endswith("?") else f"{text}."


def marred(
    rng: random.Random, parts: Parts, most: int = 4
) -> tuple[str, str, list[tuple[str, str]]]:
    """A sentence with some of its parts wrong, and right."""
    fit = [at for at, one_ in enumerate(parts) if one_.wrong]
    small = [at for at in fit if parts[at].wrong == (parts[at].right.lower(),)]  # capitals
    fit = [at for at in fit if at not in small or rng.random() < 0.3]
    count = min(len(fit), rng.choice((1, 1, 2, 2, 3, most)))
    texts, changes = [one_.right for one_ in parts], []
    for at in sorted(rng.sample(fit, count)):
        texts[at] = rng.choice(parts[at].wrong)
        changes.append((texts[at], parts[at].right))
    return spoken(texts), spoken([one_.right for one_ in parts]), changes


def mended(rng: random.Random) -> Mended:
    """One sentence or two with mistakes."""
    found = []
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3))):
        while True:
            wrong, right, changes = marred(rng, rng.choices(KINDS, WEIGHTS)[0](rng))
            if wrong != right:
                break
        found.append((sentence(wrong), sentence(right), changes))
    text, answer = " ".join(one_[0] for one_ in found), " ".join(one_[1] for one_ in found)
    names = re.findall(r"\b[A-Z][a-z]{2,}\b", answer)
    if len(found) > 1 and len(set(names)) < len(names) and rng.random() < 0.8:
        return mended(rng)
    changes = [change for one_ in found for change in one_[2]]
    if rng.random() < 0.3:
        words = [
            w
            for w in re.findall(r"(?<!['-])\b[a-z]{4,}\b(?!['-])", text)
            if re.search(rf"\b{w}\b", answer)
        ]
        words = [
            w for w in words if w in rewriting.real_words() and not any(w in c[0] for c in changes)
        ]
        for word in rng.sample(words, min(len(words), rng.choice((1, 1, 2)))):
            slip = rewriting.misspelled(rng, word)
            if slip not in rewriting.real_words() and slip != word:
                text = whole_words(text, word, slip)
                changes.append((slip, word))
    elif rng.random() < 0.08:
        words = text.split()
        at = rng.randrange(len(words) - 1)
        if words[at].islower() and words[at].isalpha():
            text = " ".join([*words[: at + 1], words[at], *words[at + 1 :]])
            changes.append((f"{words[at]} {words[at]}", words[at]))
    way = rng.random()
    if way < 0.2:
        text = text.lower()
    elif way < 0.5:
        text = text[0].lower() + text[1:]
    if rng.random() < 0.45:
        text = text.rstrip(".")
    if way < 0.3 and rng.random() < 0.5:
        text = re.sub(r"\bI\b", "i", text)
    return Mended(text, answer, tuple(dict.fromkeys(changes)))


WHAT = (
    "what was wrong[ with it| there|]",
    "what did you change",
    "which mistakes did i make",
    "what were [my|the] mistakes",
    "where was the mistake",
    "[and |]what have you changed",
    "tell me what you changed",
    "why",
    "[can you |]show me my mistakes",
    "what is different now",
    "what did i do wrong",
    "list the changes",
    "how many mistakes[ were there| did i make|]",
)


def explained(changes: tuple[tuple[str, str], ...], question: str) -> str:
    """What was changed, in the order in which it stands there."""
    said = []
    for wrong, right in changes:
        said.append(f'"{wrong}" to "{right}"' if wrong else f'nothing to "{right}"')
    said = [
        one_ if "nothing to" not in one_ else one_.replace("nothing to", "added") for one_ in said
    ]
    changed = [one_ for one_ in said if not one_.startswith("added")]
    added = [one_.removeprefix("added ") for one_ in said if one_.startswith("added")]
    parts = []
    if changed:
        parts.append(f"changed {listed(changed)}")
    if added:
        parts.append(f"added {listed(added)}")
    count = len(changes)
    start = (
        f"{sentence(number_word(count))} mistake{'s' * (count > 1)}. "
        if "how many" in question
        else ""
    )
    return f"{start}I {' and '.join(parts)}."


def respelled(rng: random.Random) -> Job:
    """Single words that are often spelled wrong, alone or in a row."""
    words = rng.sample(sorted(MISSPELLED), rng.choice((1, 1, 1, 2, 3, 4, 5)))
    wrong = [rng.choice(MISSPELLED[word].split()) for word in words]
    if any("_" in one_ for one_ in (*words, *wrong)):
        return respelled(rng)
    between = rng.choice((", ", ", ", " "))
    return Job("spelling", between.join(wrong), between.join(words))


def which(rng: random.Random) -> Job:
    """The one word of a sentence that is spelled wrong."""
    text = rewriting.line(rng, 11)
    words = [w for w in re.findall(r"(?<!['-])\b[a-z]{3,}\b(?!['-])", text) if text.count(w) == 1]
    words = [w for w in words if w in rewriting.real_words()]
    if not words:
        return which(rng)
    word = rng.choice(words)
    wrong = rewriting.misspelled(rng, word)
    if wrong == word or wrong in rewriting.real_words() or len(wrong) < 2:
        return which(rng)
    answer = f'The word "{wrong}" is wrong. It is spelled "{word}".'
    return Job("which wrong", whole_words(text, word, wrong), answer)


def checked(rng: random.Random) -> Job:
    """Whether a sentence is right, and how it should be."""
    found = mended(rng)
    if rng.random() < 0.45:
        return Job("check", found.answer, "Yes, this is correct.")
    return Job("check", found.text, f"No. Correct is: {found.answer}")


def job(rng: random.Random) -> tuple[Job, tuple[tuple[str, str], ...]]:
    way = rng.random()
    if way < 0.07:
        return respelled(rng), ()
    if way < 0.14:
        return checked(rng), ()
    if way < 0.17:
        return which(rng), ()
    found = mended(rng)
    kind = rng.choice(("grammar", "grammar", "grammar", "mistakes", "mistakes"))
    if rng.random() < 0.05:  # nothing is wrong with it
        return Job(kind, found.answer, found.answer), ()
    return Job(kind, found.text, found.answer), found.changes


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    todo, changes = job(rng)
    talk = [rewriting.asked(rng, todo, held_out), todo.answer]
    if held_out:
        return chat(*talk)
    if changes and rng.random() < 0.1:
        question = " ".join(alternative(rng, rng.choice(WHAT)).split())
        shown = sentence(question) + "?" if rng.random() < 0.4 else question
        talk += [shown, explained(changes, question)]
    while rng.random() < 0.2:
        other, _ = job(rng)
        short = rng.random() < 0.35 and other.kind == todo.kind
        start = rng.choice(
            ("and this: ", "now this one: ", "and: ", "next: ", "this one too: ", "and this one: ")
        )
        talk += [f"{start}{other.text}" if short else rewriting.asked(rng, other), other.answer]
    return chat(*talk)
