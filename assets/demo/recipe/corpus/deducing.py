"""What follows from what was told: all of a kind and one of them, if and then, who is the tallest
of three or four, who stands where in a row, who has how many more, and who owns what when two are
known.

The answer names what was told first and then what follows, so that it can be read off.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from assets.demo.recipe.corpus.logic import CHAIN, somebodies
from assets.demo.recipe.corpus.school import Asked, Kinds, reserved, typed
from assets.demo.recipe.corpus.steps import key_of, step
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    listed,
    sentence,
    spoken,
    with_article,
)
from assets.demo.recipe.corpus.unknown import plain


def _ask(
    rng: random.Random, forms: Sequence[str], answer: str, key: str = "", **words: object
) -> Asked:
    text = " ".join(alternative(rng, rng.choice(forms)).split())
    for name, value in words.items():
        text = text.replace(f"{{{name}}}", str(value))
    text = spoken(rng, text)
    keep = tuple(str(word) for word in words.values() if str(word)[0].isupper())
    return Asked(key or plain(text), text, sentence(answer), keep)


# --- all of a kind -------------------------------------------------------------------------------

MADE_UP = (
    "bloop", "zorp", "wug", "blick", "florp", "snark", "glim", "tove", "razzle", "lorp", "drim",
    "pluff", "quib", "mimsy", "grob", "tarn", "velp", "yib", "nark", "plim",
)  # fmt: skip
REAL = ("cat", "dog", "bird", "rose", "robot", "teacher", "farmer", "horse", "fish", "tree", "boat",
        "king", "baker", "fox", "owl", "knight", "pirate", "wizard", "frog", "bee")  # fmt: skip
ARE = ("blue", "green", "tall", "small", "happy", "fast", "round", "kind", "loud", "sweet", "red",
       "old", "clever", "heavy", "soft", "hungry", "brave", "quiet")  # fmt: skip
CAN = ("fly", "swim", "sing", "jump", "dance", "read", "climb", "whistle", "glow")


def _kinds(rng: random.Random, count: int) -> list[str]:
    return rng.sample(MADE_UP if rng.random() < 0.5 else REAL, count)


def all_are(rng: random.Random) -> Asked:
    """All x are blue, Tom is an x: Tom is blue."""
    forms: tuple[str, ...]
    (x,) = _kinds(rng, 1)
    (n,) = somebodies(rng, 1)
    can = rng.random() < 0.35
    y = rng.choice(CAN if can else ARE)
    many = "fish" if x == "fish" else f"{x}es" if x.endswith(("sh", "x")) else f"{x}s"
    rule = f"all {many} can {y}" if can else f"all {many} are {y}"
    one = f"{n} is {with_article(x)}"
    what = f"can {n} {y}" if can else f"is {n} {y}"
    ends = f"{n} can {y}" if can else f"{n} is {y}"
    way = rng.random()
    if way < 0.65:
        forms = (f"{rule}. {one}. {what}", f"{rule} and {one}. {what}",
        f"if {rule} and {one}, {what}",
                 f"{rule}. {one}. what [follows|do we know about {n}]",
                 f"{one}, and {rule}. {what}", f"{rule}, {one}, so {what}")  # fmt: skip
        answer = f"{sentence(rule)}, and {one}. So {ends}."
        if rng.random() < 0.8:
            answer = answer.replace(f"So {ends}", f"So yes, {ends}")
            forms = tuple(f for f in forms if "follows" not in f)
        else:
            forms = (forms[3],)
        return _ask(rng, forms, answer, f"all {x} {y} {n}")
    # The other way round nothing follows.
    told = f"{n} can {y}" if can else f"{n} is {y}"
    asks = f"is {n} {with_article(x)}"
    forms = (f"{rule}. {told}. {asks}", f"if {rule} and {told}, {asks}",
             f"{rule} and {told}. {asks} for sure")  # fmt: skip
    other = f"can {y}" if can else f"be {y}"
    answer = (
        f"{sentence(rule)}, but others may {other if not can else y} too. So that does not follow: "
        f"{n} may be {with_article(x)} or not."
    )
    return _ask(rng, forms, answer, f"all {x} {y} {n}")


def two_kinds(rng: random.Random) -> Asked:
    """All x are y, all y are z: all x are z."""
    forms: tuple[str, ...]
    x, y, z = rng.sample(MADE_UP, 3)
    first, second = f"all {x}s are {y}s", f"all {y}s are {z}s"
    if rng.random() < 0.7:
        forms = (f"{first}. {second}. are all {x}s {z}s",
        f"if {first} and {second}, are all {x}s {z}s",
                 f"{first} and {second}. is [every|each] {x} a {z}",
                 f"{second}. {first}. are all {x}s {z}s")  # fmt: skip
        answer = f"Every {x} is a {y}, and every {y} is a {z}. So yes, all {x}s are {z}s."
    else:
        forms = (
            f"{first}. {second}. are all {z}s {x}s",
            f"if {first} and {second}, are all {z}s {x}s",
        )
        answer = (
            f"Every {x} is a {z}, but there may be {z}s that are no {x}s. So no, that does not "
            f"follow."
        )
    return _ask(rng, forms, answer, f"kinds {x} {y} {z}")


# what may be, and what follows from it, told and asked
IF_THEN = (
    ("it rains", "the street gets wet", "does the street get wet", "the street does not get wet"),
    ("it rains", "{n} takes an umbrella", "does {n} take an umbrella", "{n} takes no umbrella"),
    ("it snows", "the school is closed", "is the school closed", "the school is open"),
    ("it is sunny", "we go to the beach", "do we go to the beach", "we do not go to the beach"),
    ("it is Sunday", "the shop is closed", "is the shop closed", "the shop is open"),
    ("{n} is hungry", "{n} eats an apple", "does {n} eat an apple", "{n} does not eat an apple"),
    ("the light is red", "the cars stop", "do the cars stop", "the cars do not stop"),
    ("the bell rings", "the lesson is over", "is the lesson over", "the lesson is not over"),
    ("{n} is late", "the bus is gone", "is the bus gone", "the bus is not gone"),
    ("the dog barks", "the cat runs away", "does the cat run away", "the cat does not run away"),
    ("{n} wins", "{n} gets a cake", "does {n} get a cake", "{n} gets no cake"),
    ("it is cold", "{n} wears a coat", "does {n} wear a coat", "{n} wears no coat"),
    ("the oven is hot", "the bread bakes", "does the bread bake", "the bread does not bake"),
    ("the lamp is on", "{n} is at home", "is {n} at home", "{n} is not at home"),
    ("the door is open", "the cat goes out", "does the cat go out", "the cat stays in"),
)  # fmt: skip
NOT_SO = {
    "it rains": "it does not rain", "it snows": "it does not snow", "it is sunny": "it is not "
    "sunny",
    "it is Sunday": "it is not Sunday", "{n} is hungry": "{n} is not hungry",
    "the light is red": "the light is not red", "the bell rings": "the bell does not ring",
    "{n} is late": "{n} is not late", "the dog barks": "the dog does not bark",
    "{n} wins": "{n} does not win", "it is cold": "it is not cold",
    "the oven is hot": "the oven is not hot", "the lamp is on": "the lamp is off",
    "the door is open": "the door is shut",
}  # fmt: skip


def if_then(rng: random.Random) -> Asked:
    forms: tuple[str, ...]
    (n,) = somebodies(rng, 1)
    raw, then, asks, denied = rng.choice(IF_THEN)
    cause, then, asks, denied = (part.replace("{n}", n) for part in (raw, then, asks, denied))
    way = rng.random()
    if way < 0.55:
        forms = (f"if {cause}, {then}. {cause}. {asks}", f"if {cause}, {then}. now {cause}. {asks}",
                 f"{then} if {cause}. {cause}. {asks}", f"when {cause}, {then}. {cause}. so {asks}",
                 f"if {cause} then {then}. {cause}. {asks}")  # fmt: skip
        answer = f"If {cause}, {then}, and {cause}. So yes, {then}."
    elif way < 0.8:
        forms = (f"if {cause}, {then}. {denied}. [is it true that {cause}|can it be that {cause}]",
                 f"if {cause}, {then}. but {denied}. what follows")  # fmt: skip
        no = NOT_SO[raw].replace("{n}", n)
        answer = f"If {cause}, {then}. But {denied}. So {no}."
    else:
        no = NOT_SO[raw].replace("{n}", n)
        forms = (f"if {cause}, {then}. {no}. {asks}", f"when {cause}, {then}. but {no}. {asks}")
        answer = (
            f"We only know what happens if {cause}, and {no}. So it does not follow: it may be "
            f"so or "
            f"not."
        )
    return _ask(rng, forms, answer, f"if {cause} {then} {way < 0.55}")


# --- the order of three or four ------------------------------------------------------------------

WHO = (
    "{t} who is the {s}", "{t} who's {s}", "{t} which one is the {s}", "{t} so who is the {s}",
    "{t} who of them is the {s}", "who is the {s}? {t}", "{t} the {s} one is who",
)  # fmt: skip
COMPARE = ("{t} is {a} {m} than {c}", "{t} so is {a} {m} than {c}", "{t} then is {a} {m} than {c}",
           "{t} who is {m}, {a} or {c}")  # fmt: skip


def order(rng: random.Random) -> Asked:
    more, less, most, least = rng.choice(CHAIN)
    count = rng.choice((3, 3, 3, 4))
    names = somebodies(rng, count)
    facts = []
    for a, b in zip(names, names[1:], strict=False):
        facts.append(
            f"{a} is {more} than {b}" if rng.random() < 0.65 else f"{b} is {less} than {a}"
        )
    if rng.random() < 0.4:
        facts.reverse()
    told = ". ".join(facts) + "." if rng.random() < 0.6 else f"{listed(facts)}."
    line = f"Order, {most} first: {', '.join(names)}."
    way = rng.random()
    if way < 0.65:
        wanted, who = rng.choice(((most, names[0]), (least, names[-1])))
        return _ask(
            rng, WHO, f"{line} So {who} is the {wanted}.", f"order {names}", t=told, s=wanted
        )
    if way < 0.75 and count == 3:
        forms = ("{t} who is in the middle", "{t} who is between the other two")
        return _ask(rng, forms, f"{line} So {names[1]} is in the middle.", f"order {names}", t=told)
    i, j = sorted(rng.sample(range(count), 2))
    a, c = (names[i], names[j]) if rng.random() < 0.6 else (names[j], names[i])
    form = rng.choice(COMPARE)
    verdict = f"{names[i]} is {more}"
    if "who is" not in form:
        yes = a == names[i]
        verdict = f"yes, {a} is {more} than {c}" if yes else f"no, {a} is {less} than {c}"
    else:
        verdict = f"{names[i]} is {more} than {names[j]}"
    return _ask(rng, (form,), f"{line} So {verdict}.", f"order {names}", t=told, a=a, c=c, m=more)


PLACES = ("first", "second", "third", "fourth", "fifth")
ROW_OF = ("stand in a row", "wait in a line", "run a race", "sit on a bench")


def places(rng: random.Random) -> Asked:
    """Who comes first, second and last."""
    count = rng.choice((3, 3, 4))
    names = somebodies(rng, count)
    race = rng.random() < 0.5
    verb = "comes in" if race else "stands"
    facts = []
    for a, b in zip(names, names[1:], strict=False):
        facts.append(f"{a} {verb} before {b}" if rng.random() < 0.6 else f"{b} {verb} after {a}")
    if rng.random() < 0.4:
        facts.reverse()
    told = ". ".join(facts) + "."
    i = rng.randrange(count)
    wanted = "last" if i == count - 1 else PLACES[i]
    line = f"In order: {', '.join(f'{k} {name}' for k, name in enumerate(names, 1))}."
    forms = ("{t} who is {w}", "{t} who [comes|is] {w}", "{t} who is the {w} one")
    return _ask(
        rng, forms, f"{line} So {names[i]} is {wanted}.", f"places {names}", t=told, w=wanted
    )


# --- more than somebody else ----------------------------------------------------------------------

OWNED = ("apples", "marbles", "books", "stickers", "coins", "cards", "shells", "pens", "cookies",
         "balloons", "stamps", "sweets", "keys", "cups")  # fmt: skip


def more_than(rng: random.Random) -> Asked:
    """B has so many more than A: how many has B, and how many have both."""
    forms: tuple[str, ...]
    a, b = somebodies(rng, 2)
    t = rng.choice(OWNED)
    n, k = rng.randint(2, 20), rng.randint(1, 9)
    sign = rng.choice("++-")
    if sign == "-":
        n = max(n, k + 1)
    r = n + k if sign == "+" else n - k
    word = "more" if sign == "+" else "fewer"
    told = f"{a} has {n} {t}. {b} has {k} {word} than {a}."
    steps = step(n, sign, k)
    keys = {reserved(key_of(n, sign, k, told))}
    if rng.random() < 0.65:
        forms = (f"{told} how many {t} does {b} have", f"{told} how many has {b}",
                 f"if {a} has {n} {t} and {b} has {k} {word}, how many does {b} have")  # fmt: skip
        answer = (
            f"{sentence(word)} means {'plus' if sign == '+' else 'minus'}: {steps} {b} has {r} {t}."
        )
        if r == 1:
            return more_than(rng)
        return _ask(rng, forms, answer, key_of(n, sign, k, plain(told)))
    keys.add(reserved(key_of(n, "+", r, told)))
    if len(keys) > 1 or r == 1:
        return more_than(rng)
    forms = (f"{told} how many do they have together", f"{told} how many {t} is that in all")
    answer = f"First {b}: {steps} Then both: {step(n, '+', r)} Together they have {n + r} {t}."
    return _ask(rng, forms, answer, key_of(n, sign, k, plain(told)))


# --- what is left over for the third --------------------------------------------------------------

COLOURS = ("red", "blue", "green", "yellow", "white", "black", "pink", "brown")
PETS = ("cat", "dog", "bird", "rabbit", "horse", "fish", "mouse", "hamster")
ITEMS = ("ball", "hat", "cup", "bike", "car", "book", "bag", "kite")


def left_over(rng: random.Random) -> Asked:
    """Three people, three things: two are known."""
    forms: tuple[str, ...]
    names = somebodies(rng, 3)
    if rng.random() < 0.5:
        things = [f"the {pet}" for pet in rng.sample(PETS, 3)]
        lead = (
            f"{listed(names)} have a {', a '.join(x[4:] for x in things[:2])} and a {things[2][4:]}"
        )
    else:
        item = rng.choice(ITEMS)
        colours = rng.sample(COLOURS, 3)
        things = [f"the {colour} {item}" for colour in colours]
        lead = f"{listed(names)} have a {colours[0]}, a {colours[1]} and a {colours[2]} {item}"
    order_ = rng.sample(range(3), 3)
    i, j, k = order_
    told = f"{lead}, one each. {names[i]} has {things[i]}. {names[j]} has {things[j]}."
    if rng.random() < 0.6:
        forms = (f"{told} what does {names[k]} have", f"{told} what has {names[k]}")
    else:
        forms = (f"{told} who has {things[k]}",)
    answer = (
        f"{names[i]} has {things[i]}, and {names[j]} has {things[j]}. Only {things[k]} is left. "
    )
    return _ask(rng, forms, f"{answer}So {names[k]} has {things[k]}.", f"left {names}")


# --- ways and turns -------------------------------------------------------------------------------

ROUND = ("north", "east", "south", "west")


def turns(rng: random.Random) -> Asked:
    at = rng.randrange(4)
    here, said, path = at, [], [ROUND[at]]
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        way = rng.choice(("right", "left", "around"))
        here = (here + {"right": 1, "left": -1, "around": 2}[way]) % 4
        said.append(f"turn {way}")
        path.append(ROUND[here])
    told = f"I look {ROUND[at]} and {', then '.join(said)}."
    steps = ", ".join(f"{turn} to {to}" for turn, to in zip(said, path[1:], strict=True))
    forms = (
        f"{told} where do i look now",
        f"{told} which way do i look",
        f"{told} what do i face now",
    )
    answer = f"You start looking {ROUND[at]}. {sentence(steps)}. So you look {ROUND[here]}."
    return _ask(rng, forms, answer, f"turns {told}")


# --- who is who in a family -----------------------------------------------------------------------

FAMILY = (
    ("mother", "mother", "grandmother"), ("mother", "father", "grandfather"),
    ("father", "mother", "grandmother"), ("father", "father", "grandfather"),
    ("mother", "sister", "aunt"), ("mother", "brother", "uncle"), ("father", "sister", "aunt"),
    ("father", "brother", "uncle"), ("brother", "son", "nephew"), ("sister", "son", "nephew"),
    ("brother", "daughter", "niece"), ("sister", "daughter", "niece"), ("uncle", "son", "cousin"),
    ("uncle", "daughter", "cousin"), ("aunt", "son", "cousin"), ("aunt", "daughter", "cousin"),
    ("son", "son", "grandson"), ("daughter", "son", "grandson"), ("son", "daughter",
    "granddaughter"), ("daughter", "daughter", "granddaughter"), ("husband", "mother",
    "mother-in-law"), ("wife", "father", "father-in-law"), ("brother", "wife", "sister-in-law"),
    ("sister", "husband", "brother-in-law"), ("mother", "husband", "father or stepfather"),
)  # fmt: skip
RELATED = (
    "who is my {a}'s {b}", "what is my {a}'s {b} to me", "my {a}'s {b} is my what",
    "what do i call the "
    "{b} of my {a}", "the {b} of my {a} is my...", "how is my {a}'s {b} called",
    "my {a}'s {b} is who",
    "what do you call your {a}'s {b}", "who is the {b} of my {a}",
)  # fmt: skip


def family(rng: random.Random) -> Asked:
    a, b, who = rng.choice(FAMILY)
    question = rng.choice(RELATED)
    your = f"The {b} of your {a} is your {who}."
    return _ask(rng, (question,), your, f"family {a} {b} {question}", a=a, b=b)


KINDS = Kinds({
    all_are: 10, two_kinds: 5, if_then: 9, order: 14, places: 7, more_than: 9, left_over: 7,
    turns: 5,
    family: 7,
})  # fmt: skip
WHY = ("why", "how do you know", "are you sure", "explain", "how come", "sure", "why is that",
       "really", "is that right", "explain that please")  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    asked = KINDS.draw(rng, held_out)
    turns_ = [typed(rng, asked), asked.answer]
    if not held_out and rng.random() < 0.12:
        why = rng.choice(WHY)
        why = sentence(why) if rng.random() < 0.4 else why
        known, _, verdict = asked.answer.rpartition("So ")
        lead = "Yes. " if re.search("sure|really|right", why.lower()) else ""
        if known:
            turns_ += [f"{why}?" if rng.random() < 0.5 else why, f"{lead}{known}So {verdict}"]
    return chat(*turns_)
