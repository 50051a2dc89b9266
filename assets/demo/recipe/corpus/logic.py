"""Small questions that are thought out rather than known: what comes next, which one does not
belong, who is the tallest, what stands in a text of two sentences.

Each answer names its reason first, so that what follows from it can be read off.
"""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import subjects
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.school import Asked, Kinds, typed
from assets.demo.recipe.corpus.text import (
    Conversation,
    chat,
    listed,
    sentence,
    spoken,
    with_article,
)
from assets.demo.recipe.corpus.unknown import plain
from assets.demo.recipe.corpus.wordplay import (
    DAYS,
    KINDS_OF,
    LETTERS,
    MONTHS,
    SHORT,
    TIERS,
)

SEASONS = ("spring", "summer", "autumn", "winter")
TELLS = re.compile(
    "(sort|order|put|find|tell|name|go on|continue|complete|count|pick|spot|next one|compare|"
    "smallest|alphabetical|abc|small|odd)\\b|.*(please|pls|tell me|{u}|{t})",
    re.IGNORECASE,
)  # no question
NAMES, _ = subjects.split(subjects.FIRST_NAMES)


def ask(
    rng: random.Random, forms: tuple[str, ...], answer: str, *keep: str, **words: object
) -> Asked:
    """One of `forms`, spoken and filled in; it is kept apart by what it says."""
    question = spoken(rng, rng.choice(forms))
    if question[-1] == "." and question[-3:] != "..." and not TELLS.match(question):
        question = f"{question[:-1]}?"
    for name, value in words.items():
        question = question.replace(f"{{{name}}}", str(value))
    return Asked(plain(question), sentence(question), sentence(answer), keep)


def somebody(rng: random.Random) -> str:
    return subjects.rare_name(rng) if rng.random() < 0.35 else rng.choice(NAMES)


def somebodies(rng: random.Random, count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        if (name := somebody(rng)) not in found:
            found.append(name)
    return found


# --- what comes next -----------------------------------------------------------------------------

AFTER = (
    "[which|what] {k} [comes|is|follows] [right |just |directly |]after {x}",
    "after {x} comes [what|which {k}]", "after {x} comes...", "{x}, and then [what|which {k}]",
    "[what's|whats|what is|tell me] the {k} [after|that follows|following] {x}",
    "{x} is over. [what|which {k}] [comes next|is next|now]", "[what|which {k}] follows {x}",
    "[what|which {k}] do we get [after|when] {x}[| is over]", "{k} after {x}",
    "name the {k} [after|that comes after] {x}", "what comes next after {x}",
    "if it is {x} now, [what|which {k}] [comes|is] next", "next {k} after {x}",
    "do you know [what|which {k}] comes after {x}", "the {k} after {x} is...",
    "{x} comes before [what|which {k}]", "{x} ends and then [what|which {k}] starts",
)  # fmt: skip
BEFORE = (
    "[which|what] {k} [comes|is] [right |just |directly |]before {x}",
    "before {x} comes [what|which {k}]", "[what|which {k}] was before {x}", "{k} before {x}",
    "[what's|whats|what is|tell me] the {k} [before|that comes before] {x}",
    "name the {k} before {x}", "do you know [what|which {k}] comes before {x}",
    "if it is {x} now, [what|which {k}] came before", "the {k} before {x} is...",
    "{x} comes after [what|which {k}]", "{x} follows [what|which {k}]",
)  # fmt: skip
ROWS = (
    ("season", SEASONS, True), ("day", DAYS, True), ("month", MONTHS, True),
    ("letter", tuple(LETTERS.upper()), False),
)  # fmt: skip
NEXT_IN_ROW = (
    "what[ is|'s|s|] next: {r}, ...", "{r}, ...", "{r}, [what|and what] comes next",
    "what comes next in this row: {r}", "{r} and then", "continue: {r}", "go on: {r}, ...",
    "{r}, ? [what is missing|what goes there]", "which one is next: {r}",
    "complete the row: {r}, ...", "how does it go on: {r}", "next one please: {r}",
    "{r}... next", "what follows: {r}, ...",
)  # fmt: skip


def following(rng: random.Random) -> Asked:
    """After or before a season, a day, a month, a letter or a number."""
    later = rng.random() < 0.6
    if rng.random() < 0.15:
        n = rng.randrange(2, 100)
        kind, x, other = "number", str(n), str(n + 1 if later else n - 1)
    else:
        kind, row, round_ = rng.choice((*ROWS, ROWS[0]))
        at = rng.randrange(len(row)) if round_ else rng.randrange(1, len(row) - 1)
        x, other = row[at], row[(at + 1 if later else at - 1) % len(row)]
    if later:
        answer = f"Order: {x}, {other}, so after {x} comes {other}."
        return ask(rng, AFTER, answer, x, k=kind, x=x)
    return ask(rng, BEFORE, f"Order: {other}, {x}, so before {x} comes {other}.", x, k=kind, x=x)


def rows_of_words(rng: random.Random) -> Asked:
    kind, row, round_ = rng.choice(ROWS)
    count = rng.choice((2, 3, 3, 4))
    at = rng.randrange(len(row)) if round_ else rng.randrange(len(row) - count)
    shown = [row[(at + i) % len(row)] for i in range(count)]
    other = row[(at + count) % len(row)]
    what = "letters of the alphabet" if kind == "letter" else f"{kind}s in order"
    answer = f"These are the {what}: {', '.join([*shown, other])}. So {other} comes next."
    return ask(rng, NEXT_IN_ROW, answer, *shown, r=", ".join(shown))


def rows_of_numbers(rng: random.Random) -> Asked:
    way = rng.random()
    count = rng.choice((3, 4, 4, 5))
    step = rng.choice((1, 2, 2, 3, 4, 5, 5, 10, 10, 20))
    if way < 0.6:
        first = rng.choice((step, 0, 1, rng.randrange(1, 20)))
        row = [first + step * i for i in range(count + 1)]
        reason = f"Each number is {step} more than the one before: {row[-2]} + {step} = {row[-1]}."
    elif way < 0.85:
        last = step * rng.randrange(6)
        row = [last + step * i for i in range(count + 1)][::-1]
        reason = f"Each number is {step} less than the one before: {row[-2]} - {step} = {row[-1]}."
    else:
        first = rng.choice((1, 2, 3, 5))
        row = [first * 2**i for i in range(count + 1)]
        reason = f"Each number is twice the one before: {row[-2]} x 2 = {row[-1]}."
    shown = rng.choice((", ", ", ", " ")).join(map(str, row[:-1]))
    return ask(rng, NEXT_IN_ROW, f"{reason} So {row[-1]} comes next.", r=shown)


# --- groups --------------------------------------------------------------------------------------

CLEAR = (
    "animal", "fruit", "tree", "flower", "piece of furniture", "piece of clothing",
    "musical instrument", "vehicle", "part of the body", "colour",
)  # fmt: skip
WORDS_OF = {
    **KINDS_OF,
    "colour": ["red", "blue", "green", "yellow", "purple", "brown", "black", "white", "grey"],
    "fruit": ["apple", "pear", "banana", "lemon", "cherry", "plum", "peach", "grape", "mango",
              "melon", "pineapple", "kiwi", "strawberry", "apricot"],
    "flower": ["rose", "tulip", "daisy", "lily", "sunflower", "daffodil", "poppy", "orchid"],
    "musical instrument": ["piano", "violin", "guitar", "flute", "drum", "trumpet", "harp"],
}  # fmt: skip
ODD = (
    "[which|what|which one] is the odd one out[: | in this row: | here: ]{r}", "odd one out: {r}",
    "which [one|word] does not [belong|fit][| here| with the others]: {r}", "find the odd one: {r}",
    "what does not belong: {r}", "{r}: [which|what] is the odd one out",
    "{r} - [which one|what] does not fit", "one of these [is wrong|does not belong]: {r}",
    "which is different: {r}", "{r}, which one is the odd one", "[spot|pick] the odd one out: {r}",
    "which word is out of place: {r}",
)  # fmt: skip
WHICH_OF = (
    "which of these is {k}: {r}", "which one is {k}: {r}", "find the {b}: {r}",
    "{r}: which [one |]is {k}", "{r} - which of them is {k}", "which word is {k}: {r}",
    "one of these is {k}, which: {r}", "pick the {b}: {r}", "what is {k} here: {r}",
)  # fmt: skip


def many(kind: str) -> str:
    return f"{kind.replace('piece', 'pieces').replace('part', 'parts')}" + (
        "" if " of " in kind else "s"
    )


def one(word: str, kind: str) -> str:
    return word if kind == "colour" else with_article(word)


def odd_one_out(rng: random.Random) -> Asked:
    kind, other = rng.sample(CLEAR, 2)
    alike = rng.sample(WORDS_OF[kind], 3)
    odd = rng.choice(WORDS_OF[other])
    words = [*alike, odd]
    rng.shuffle(words)
    said = [f"{one(word, other if word == odd else kind)} is "
            f"{with_article(other if word == odd else kind)}" for word in words]  # fmt: skip
    answer = f"{listed(said)}. So {odd} is the odd one out, for the others are {many(kind)}."
    return ask(rng, ODD, answer, *words, r=rng.choice((", ", ", ", " ")).join(words))


def which_of_these(rng: random.Random) -> Asked:
    kind, *others = rng.sample(CLEAR, rng.choice((3, 4)))
    right = rng.choice(WORDS_OF[kind])
    words = [right, *(rng.choice(WORDS_OF[other]) for other in others)]
    kinds = dict(zip(words, (kind, *others), strict=True))
    rng.shuffle(words)
    said = [f"{one(w, kinds[w])} is {with_article(kinds[w])}" for w in words]
    answer = f"{listed(said)}. So it is {one(right, kind)}."
    return ask(
        rng, WHICH_OF, answer, *words, k=with_article(kind), b=kind, r=", ".join(words)
    )  # fmt: skip


# thing | what it is | what it is often taken for | why
TAKEN_FOR = [
    tuple(part.strip() for part in line.split("|"))
    for line in """
whale | mammal | fish | It breathes air and feeds its young with milk.
dolphin | mammal | fish | It breathes air and feeds its young with milk.
seal | mammal | fish | It breathes air and feeds its young with milk.
bat | mammal | bird | It has fur and no feathers.
penguin | bird | fish | It has feathers and lays eggs, but it cannot fly.
ostrich | bird | mammal | It has feathers and lays eggs, but it cannot fly.
hen | bird | mammal | It has feathers and lays eggs.
owl | bird | insect | It has feathers and lays eggs.
shark | fish | mammal | It breathes with gills.
trout | fish | mammal | It breathes with gills.
salmon | fish | bird | It breathes with gills.
eel | fish | snake | It breathes with gills.
spider | arachnid | insect | It has eight legs, and insects have six.
ant | insect | spider | It has six legs.
bee | insect | bird | It has six legs and no feathers.
butterfly | insect | bird | It has six legs and no feathers.
frog | amphibian | fish | It begins in water and later lives on land as well.
toad | amphibian | reptile | It begins in water and later lives on land as well.
snake | reptile | insect | It has scales and no legs.
turtle | reptile | fish | It breathes air and lays its eggs on land.
lizard | reptile | insect | It has scales and four legs.
crocodile | reptile | fish | It breathes air and lays its eggs on land.
cow | mammal | bird | It feeds its young with milk.
mouse | mammal | insect | It feeds its young with milk.
horse | mammal | reptile | It feeds its young with milk.
rose | flower | tree | It grows on a bush.
oak | tree | flower | It has a trunk of wood and can grow very tall.
carrot | vegetable | fruit | It is the root of a plant.
potato | vegetable | fruit | It grows under the ground.
apple | fruit | vegetable | It grows on a tree and holds the seeds.
banana | fruit | vegetable | It is sweet and grows on a large plant.
""".strip().splitlines()
]
IS_IT = (
    "is {x} {k}", "is {x} really {k}", "would you [say|think] {x} is {k}", "{x} is {k}, right",
    "so {x} is {k}", "can you call {x} {k}", "is it true that {x} is {k}", "{x} - is it {k}",
    "are {y} {z}", "are {y} really {z}", "do {y} belong to the {z}", "{y} are {z}, or not",
)  # fmt: skip
IRREGULAR = {"fish": "fish", "trout": "trout", "salmon": "salmon", "mouse": "mice",
             "butterfly": "butterflies", "ostrich": "ostriches", "cherry": "cherries",
             "potato": "potatoes", "sheep": "sheep"}  # fmt: skip


def plural(noun: str) -> str:
    return IRREGULAR.get(noun, f"{noun}s")


def is_it_a(rng: random.Random) -> Asked:
    thing, kind, other, why = rng.choice(TAKEN_FOR)
    asked = other if rng.random() < 0.6 else kind
    x, k = with_article(thing), with_article(asked)
    verdict = f"yes, {x} is {k}" if asked == kind else f"no, {x} is not {k}"
    answer = f"{x} is {with_article(kind)}. {why} So {verdict}."
    form = rng.choice(IS_IT)
    return ask(rng, (form,), answer, thing, x=x, k=k, y=plural(thing), z=plural(asked))


# --- more and less -------------------------------------------------------------------------------

# Each is more than all before it, for certain.
ORDERED = {
    ("bigger", "smaller"): "flea, mouse, rabbit, sheep, horse, elephant, whale",
    ("heavier", "lighter"): "feather, pencil, shoe, brick, bicycle, piano, car, ship",
    ("faster", "slower"): "snail, turtle, cyclist, cheetah, racing plane, rocket",
    ("hotter", "colder"): "ice cube, swimming pool, cup of hot tea, candle flame",
    ("longer", "shorter"): "pin, pencil, broom, bus, train",
    ("taller", "shorter"): "mouse, cat, goat, giraffe, church tower, mountain",
    ("louder", "quieter"): "whisper, speaking voice, drum, clap of thunder",
    ("older", "younger"): "baby, schoolchild, father, grandfather",
    ("softer", "harder"): "diamond, brick, apple, pillow",
    ("deeper", "shallower"): "puddle, bathtub, lake, ocean",
}
ORDERS = {words: tuple(things.split(", ")) for words, things in ORDERED.items()}
IS_MORE = (
    "is {a} {m} than {b}", "is {a} really {m} than {b}", "{a} {m} than {b}, [yes or no|true]",
    "would {a} be {m} than {b}", "do you think {a} is {m} than {b}",
    "is it [right|true] that {a} is {m} than {b}", "can {a} be {m} than {b}",
    "so is {a} {m} than {b}", "{a} is {m} than {b}, yes or no",
    "compare: is {a} {m} than {b}",
)  # fmt: skip
CHAIN_MOST = (
    "{t} who is the {s}", "{t} which of them is the {s}", "{t} [so |]who's the {s}",
    "who is the {s} if {u}", "{t} the {s} is...", "{t} tell me who is the {s}",
    "{t} [can you say |]who is {s} of all",
)  # fmt: skip
CHAIN = (
    ("taller", "shorter", "tallest", "shortest"), ("older", "younger", "oldest", "youngest"),
    ("faster", "slower", "fastest", "slowest"), ("stronger", "weaker", "strongest", "weakest"),
    ("richer", "poorer", "richest", "poorest"), ("heavier", "lighter", "heaviest", "lightest"),
)  # fmt: skip


def is_more(rng: random.Random) -> Asked:
    (more, less), things = rng.choice(tuple(ORDERS.items()))
    low, high = sorted(rng.sample(range(len(things)), 2))
    small, big = with_article(things[low]), with_article(things[high])
    a, b = rng.sample((small, big), 2)
    word = rng.choice((more, more, less))
    true = (a == big) == (word == more)
    # The same fact for each question, and behind it what follows from that.
    verdict = f"yes, {a} is {word} than {b}" if true else f"no, {a} is not {word} than {b}"
    answer = f"{big} is {more} than {small}. So {verdict}."
    return ask(rng, IS_MORE, answer, things[low], things[high], a=a, b=b, m=word)


def chains(rng: random.Random) -> Asked:
    more, less, most, least = rng.choice(CHAIN)
    a, b, c = names = somebodies(rng, 3)
    facts = [f"{a} is {more} than {b}", f"{b} is {more} than {c}"]
    if rng.random() < 0.3:
        facts[1] = f"{c} is {less} than {b}"
    if rng.random() < 0.3:
        facts.reverse()
    joint = rng.choice((". ", ", ", " and "))
    told = f"{joint.join(facts)}."
    wanted, who = rng.choice(((most, a), (least, c)))
    answer = f"Order, {most} first: {a}, {b}, {c}. So {who} is the {wanted}."
    text = told if joint != ", " or rng.random() < 0.5 else told.replace(".", ",")
    return ask(
        rng, CHAIN_MOST, answer, *names, t=sentence(text), u=" and ".join(facts), s=wanted
    )  # fmt: skip


# --- what animals have and can -------------------------------------------------------------------

# animal | what it has | what it does not have | what it can | what it cannot
TRAITS = {
    name: tuple(tuple(filter(None, part.strip().split(", "))) for part in parts)
    for name, *parts in (
        line.split(" | ")
        for line in """
fish | fins, eyes, gills | legs, arms, wool, feathers | swim | walk, talk
bird | feathers, two legs, a beak | four legs, fins, horns | lay eggs | give milk
dog | four legs, a tail, fur | wings, feathers, fins | bark, run, swim | fly, lay eggs
cat | four legs, a tail, whiskers | wings, fins, horns | climb, jump | fly, lay eggs
cow | four legs, a tail, hooves | wings, feathers, fins | give milk, walk | fly, climb trees
horse | four legs, hooves, a mane | horns, wings, fins | run, jump | fly, climb trees
snake | scales, a tongue, eyes | legs, wings, ears that we can see | crawl | fly, walk
spider | eight legs | wings, a beak, feathers | walk | fly, bark
bee | wings, six legs | fur like a bear, fins, a beak | fly, sting | bark, sing songs
elephant | a trunk, four legs, big ears | wings, fins, feathers | walk, swim | fly, jump
penguin | wings, feathers, two legs | four legs, hooves, horns | swim, walk | fly
duck | wings, feathers, two legs | four legs, horns, hooves | swim, fly | bark
frog | four legs, a long tongue | wings, fur, feathers | jump, swim | fly
rabbit | long ears, four legs, fur | wings, hooves, fins | hop, run | fly
whale | fins, a tail, lungs | legs, hooves, feathers | swim, dive | walk, fly
eagle | wings, a beak, claws | four legs, fins, fur | fly | bark, dive to the sea floor
butterfly | wings, six legs | bones, fins, a beak | fly | bark
ant | six legs | fur, fins, a beak | walk, carry things | sing, bark
ostrich | wings, feathers, long legs | fins, fur, horns | run | fly
turtle | a shell, four legs | wings, fur, feathers | walk slowly | fly
snail | a shell | legs, wings, bones | crawl | fly, run
sheep | wool, four legs, hooves | wings, fins, feathers | walk | fly
giraffe | a long neck, four legs | wings, fins, feathers | run | fly, climb trees
shark | fins, sharp teeth, gills | legs, feathers, fur | swim | walk, fly
bat | wings, fur, teeth | feathers, a beak, fins | fly | lay eggs
owl | wings, feathers, big eyes | four legs, fins, fur | fly, see at night | bark
table | legs | wings, eyes, a mouth | stand | walk, fly, talk
stone | weight | legs, wings, eyes | lie still | walk, fly, swim
car | wheels, doors | legs, wings, feathers | drive | fly, eat grass
""".strip().splitlines()
    )
}
HAS = (
    "does {x} have {y}", "has {x} got {y}", "do {xs} have {y}", "{xs} have {y}, right",
    "did you know if {xs} have {y}", "is it true that {x} has {y}", "{x} with {y}, is that real",
    "can {x} have {y}", "do all {xs} have {y}", "any {y} on {x}",
)  # fmt: skip
CAN = (
    "can {x} {y}", "can {xs} {y}", "is {x} able to {y}", "are {xs} able to {y}", "{xs} can {y}, no",
    "is it true that {xs} can {y}", "could {x} {y}", "do you think {x} can {y}",
    "{x} can {y}, [true|yes] or [false|no]",
)  # fmt: skip


def traits(rng: random.Random) -> Asked:
    name = rng.choice(tuple(TRAITS))
    has, lacks, can, cannot = TRAITS[name]
    x, xs = with_article(name), plural(name)
    forms: tuple[str, ...]
    if rng.random() < 0.55:
        yes = rng.random() < 0.5
        y = rng.choice(has if yes else lacks)
        verdict = f"yes, it has {y}" if yes else f"no, it does not have {y}"
        answer = f"{x} has {listed(has)}. So {verdict}."
        forms = HAS if y[:2] != "a " and " " not in y else HAS[:-2]
    else:
        yes = rng.random() < 0.5
        y = rng.choice(can if yes else cannot)
        answer = f"{x} can {listed(can)}. So {f'yes, it can {y}' if yes else f'no, it cannot {y}'}."
        forms = CAN
    return ask(rng, forms, answer, name[:-1], y, x=x, xs=xs, y=y)


TRUE_OR_FALSE = (
    "true or false: {t}", "true or false? {t}", "is this true: {t}", "{t} true or false",
    "right or wrong: {t}", "{t} is [that|this] [true|right|correct]", "{t} right or wrong",
    "[is it|it's] true or false that {u}", "true/false: {t}", "is it correct that {u}",
)  # fmt: skip


def true_or_false(rng: random.Random) -> Asked:
    way = rng.random()
    true = rng.random() < 0.5
    if way < 0.3:
        thing, kind, other, why = rng.choice(TAKEN_FOR)
        said = f"{with_article(thing)} is {with_article(kind if true else other)}"
        right = f"{with_article(thing)} is {with_article(kind)}. {why}"
    elif way < 0.55:
        (more, less), things = rng.choice(tuple(ORDERS.items()))
        low, high = sorted(rng.sample(range(len(things)), 2))
        small, big = with_article(things[low]), with_article(things[high])
        said = f"{big} is {more if true else less} than {small}"
        right = f"{big} is {more} than {small}."
    elif way < 0.75:
        name = rng.choice(tuple(TRAITS))
        has, lacks, _, _ = TRAITS[name]
        said = f"{with_article(name)} has {rng.choice(has if true else lacks)}"
        right = f"{with_article(name)} has {listed(has)}."
    elif way < 0.9:
        a, b = rng.randint(1, 10), rng.randint(1, 10)
        wrong = a + b + rng.choice((-1, 1, 2))
        said = f"{a} + {b} = {a + b if true else wrong}"
        right = f"{a} + {b} = {a + b}."
    else:
        at = rng.randrange(7)
        x, y = DAYS[at], DAYS[(at + (1 if true else rng.randint(2, 6))) % 7]
        said = f"{y} comes right after {x}"
        right = f"After {x} comes {DAYS[(at + 1) % 7]}."
    answer = f"{sentence(right)} So that is {'true' if true else 'false'}."
    t = sentence(said) if rng.random() < 0.5 else said
    return ask(rng, TRUE_OR_FALSE, answer, said, t=t, u=said)


# --- days ----------------------------------------------------------------------------------------

DAY_FORMS: dict[int, tuple[tuple[str, ...], str]] = {
    1: (
        ("yesterday was {x}, what [day |]is [it |]today", "if yesterday was {x}, what is today",
         "it was {x} yesterday. which day is today", "yesterday: {x}. today",
         "{x} was yesterday, so today is..."),
        "Yesterday was {x}, so today is {y}.",
    ),
    2: (
        ("yesterday was {x}, what is tomorrow", "if yesterday was {x}, what [day |]is tomorrow",
         "yesterday was {x}. which day [will it be|is it] tomorrow", "{x} was yesterday, tomorrow",
         "[what|which day] is tomorrow if yesterday was {x}"),
        "Yesterday was {x}, so today is {m}, and tomorrow is {y}.",
    ),
    -2: (
        ("tomorrow is {x}, what was yesterday", "if tomorrow is {x}, which day was yesterday",
         "tomorrow will be {x}. what day was it yesterday"),
        "Tomorrow is {x}, so today is {m}, and yesterday was {y}.",
    ),
    -1: (
        ("tomorrow is {x}, what is today", "if tomorrow is {x}, what day is it now",
         "tomorrow will be {x}. what day is today", "it is {x} tomorrow, so today is..."),
        "Tomorrow is {x}, so today is {y}.",
    ),
}  # fmt: skip
IN_DAYS = (
    "today is {x}, [what|which] day is [it |]in {n} days", "it is {x}. what day is it in {n} days",
    "what day is it {n} days after {x}", "{n} days after {x} is [what day|which day]",
    "if today is {x}, what will it be in {n} days", "today {x}, in {n} days",
    "it's {x} today. which day comes in {n} days", "{x} plus {n} days",
    "which weekday is {n} days from {x}",
)  # fmt: skip


def days(rng: random.Random) -> Asked:
    at = rng.randrange(7)
    x = DAYS[at]
    if rng.random() < 0.5:
        shift = rng.choice(tuple(DAY_FORMS))
        forms, answer = DAY_FORMS[shift]
        y, middle = DAYS[(at + shift) % 7], DAYS[(at + shift // 2) % 7]
        answer = answer.replace("{x}", x).replace("{m}", middle).replace("{y}", y)
        return ask(rng, forms, answer, x, x=x)
    n = rng.randint(2, 7)
    steps = [DAYS[(at + i) % 7] for i in range(1, n + 1)]
    answer = f"Counting {n} days on from {x}: {', '.join(steps)}. So it is {steps[-1]}."
    number = in_words(n) if rng.random() < 0.5 else str(n)
    return ask(rng, IN_DAYS, answer, x, number, x=x, n=number)


# --- reading -------------------------------------------------------------------------------------

READ_COLOURS = ("red", "blue", "green", "yellow", "black", "white", "brown", "grey", "pink")
READ_THINGS = tuple(
    thing for thing in subjects.OBJECTS if thing not in ("silver", "chair", "table")
)  # fmt: skip
PLACES = (
    "in the garden", "in the kitchen", "at school", "at the station", "in the park",
    "on the roof",
    "in the cellar", "at the beach", "in the library", "in the attic", "on the train",
    "in the barn",
    "at the market", "by the river", "in the museum", "at the bakery",
)  # fmt: skip
JOBS = (
    "baker", "teacher", "doctor", "farmer", "pilot", "painter", "gardener", "nurse", "cook",
    "singer", "driver", "writer", "plumber", "tailor", "dentist", "sailor",
)  # fmt: skip
TEXT_THEN = ("{t} {q}", "{t} {q}", "{t}\n{q}", "text: {t} question: {q}", "{q} {t}",
             "read this: {t} {q}", "{t} now tell me: {q}", "here is a text: {t} {q}")  # fmt: skip


def reading(rng: random.Random) -> Asked:
    """Two or three sentences about people nobody knows, and a question that one of them answers."""
    count = rng.choice((2, 2, 2, 3))
    names = somebodies(rng, count)
    way = rng.randrange(6)
    at = rng.randrange(count)
    who = names[at]
    keep: tuple[str, ...]
    if way == 0:
        things = [made_thing(rng) for _ in names]
        while len({t.split()[-1] for t in things}) < count:
            things = [made_thing(rng) for _ in names]
        verb = rng.choice(("has", "has", "has", "buys", "finds"))
        text = [f"{n} {verb} {with_article(t)}." for n, t in zip(names, things, strict=True)]
        colour, thing = things[at].split(" ", 1)
        base = {"has": "have", "buys": "buy", "finds": "find"}[verb]
        asked, said = rng.choice((
            (f"what does {who} {base}", f"{who} {verb} {with_article(things[at])}."),
            (f"who {verb} the {thing}", f"{who} {verb} the {thing}."),
            (f"which colour is the {thing}", f"The {thing} is {colour}."),
            (f"what colour is {who}'s {thing}", f"The {thing} of {who} is {colour}."),
        ))  # fmt: skip
        keep = (*names, *things)
    elif way == 1:
        places = rng.sample(PLACES, count)
        text = [f"{n} is {p}." for n, p in zip(names, places, strict=True)]
        asked, said = rng.choice((
            (f"where is {who}", f"{who} is {places[at]}."),
            (f"who is {places[at]}", f"{who} is {places[at]}."),
        ))  # fmt: skip
        keep = (*names, *places)
    elif way == 2:
        jobs = rng.sample(JOBS, count)
        text = [f"{n} is {with_article(j)}." for n, j in zip(names, jobs, strict=True)]
        asked, said = rng.choice((
            (f"what is {who}'s job", f"{who} is {with_article(jobs[at])}."),
            (f"who is the {jobs[at]}", f"The {jobs[at]} is {who}."),
            (f"what does {who} do for work", f"{who} is {with_article(jobs[at])}."),
        ))  # fmt: skip
        keep = (*names, *jobs)
    elif way == 3:
        when = rng.sample(DAYS, count)
        verb = rng.choice(("comes", "leaves", "arrives", "calls", "visits us"))
        base = {"comes": "come", "leaves": "leave", "arrives": "arrive", "calls": "call",
                "visits us": "visit us"}[verb]  # fmt: skip
        text = [f"{n} {verb} on {d}." for n, d in zip(names, when, strict=True)]
        asked, said = rng.choice((
            (f"when does {who} {base}", f"{who} {verb} on {when[at]}."),
            (f"who {verb} on {when[at]}", f"{who} {verb} on {when[at]}."),
        ))  # fmt: skip
        keep = (*names, *when)
    elif way == 4:
        ages = rng.sample(range(3, 90), count)
        text = [f"{n} is {a} years old." for n, a in zip(names, ages, strict=True)]
        asked, said = rng.choice((
            (f"how old is {who}", f"{who} is {ages[at]} years old."),
            (f"who is {ages[at]}", f"{who} is {ages[at]} years old."),
            ("who is the oldest", f"The ages are {listed(map(str, ages))}, and the largest of "
             f"them is {max(ages)}. So {names[ages.index(max(ages))]} is the oldest."),
        ))  # fmt: skip
        keep = tuple(names)
    else:
        pets = rng.sample(subjects.ANIMALS[:24], count)
        calls = _others(rng, names)
        text = [
            f"{n} has {with_article(p)} called {m}."
            for n, p, m in zip(names, pets, calls, strict=True)
        ]
        asked, said = rng.choice((
            (f"what is the {pets[at]} called", f"The {pets[at]} is called {calls[at]}."),
            (f"who has the {pets[at]}", f"{who} has the {pets[at]}."),
            (f"which animal does {who} have", f"{who} has {with_article(pets[at])}."),
            (f"who is {calls[at]}", f"{calls[at]} is the {pets[at]} of {who}."),
        ))  # fmt: skip
        keep = (*names, *pets, *calls)
    question = f"{sentence(asked)}?"
    form = rng.choice(TEXT_THEN).replace("{t}", " ".join(text)).replace("{q}", question)
    return Asked(plain(form), sentence(form), said, keep)


def made_thing(rng: random.Random) -> str:
    return f"{rng.choice(READ_COLOURS)} {rng.choice(READ_THINGS)}"


def _others(rng: random.Random, names: list[str]) -> list[str]:
    return [name for name in somebodies(rng, 2 * len(names) + 2) if name not in names][: len(names)]


# --- sorting and counting ------------------------------------------------------------------------

BY_ALPHABET = (
    "[sort|order] [these |]words [by the alphabet|alphabetically]: {r}",
    "{r} - in abc order please",
    "alphabetical order [please|pls]: {r}", "put these in alphabetical order: {r}",
    "[sort|order] from a to z: {r}", "{r}: sort them by the alphabet", "abc order: {r}",
)  # fmt: skip
BY_SIZE = (
    "[sort|order] by size: {r}", "[sort|order] from small to big: {r}", "smallest first: {r}",
    "put these in order of size: {r}", "{r}: order them from small to big", "small to big: {r}",
    "{r}, sort them by size please",
)  # fmt: skip
NUMBERS = ("[sort|order] these numbers: {r}", "{r} [in order|sorted] please", "smallest first: {r}",
           "put these numbers in order: {r}", "[sort|order] from small to big: {r}")  # fmt: skip
COUNT_WORDS = (
    'how many words are in "{r}"', "count the words: {r}", "how many words: {r}",
    "how many words does this have: {r}", "number of words in: {r}", "word count: {r}",
    'count [the |]words in "{r}"', "count words in this sentence: {r}",
    "how many words are in this sentence: {r}",
)  # fmt: skip
COUNT_LETTERS = (
    "how many letters [are in|has|does] the word {w}[| have]", "count the letters [of|in] {w}",
    "letters in {w}, how many", "{w} has how many letters", "how many letters in {w}",
    "how long is {w}, in letters", "letter count of {w}", "number of letters: {w}",
)  # fmt: skip
SENTENCES = (
    ("the", "my", "a", "our", "one", "this", "that"),
    ("small", "old", "red", "good", "happy", "big", "young", "quiet", "new", "tired"),
    ("cat", "dog", "man", "bird", "girl", "boy", "king", "horse", "fox", "mouse", "baker"),
    ("sat", "sang", "ran", "slept", "ate", "waited", "danced", "stood", "laughed"),
    ("here", "there", "today", "alone", "outside", "again", "in the sun", "on the hill",
     "with me", "at home", "all day long", "under a tree"),
)  # fmt: skip


def sorting(rng: random.Random) -> Asked:
    count = rng.choice((3, 3, 4))
    way = rng.random()
    if way < 0.5:
        words = rng.sample(SHORT, count)
        while len({word[0] for word in words}) < count:
            words = rng.sample(SHORT, count)
        right = sorted(words)
        first = ", ".join(word[0] for word in right)
        answer = f"In order of the alphabet: {', '.join(right)}. The first letters are {first}."
        return ask(rng, BY_ALPHABET, answer, *words, r=", ".join(words))
    if way < 0.75:
        tiers = sorted(rng.sample(range(0, 14, 2), count))
        right = [rng.choice(TIERS[tier]) for tier in tiers]
        words = rng.sample(right, count)
        answer = f"From small to big: {', '.join(right)}."
        return ask(rng, BY_SIZE, answer, *words, r=", ".join(words))
    numbers = rng.sample(range(1, 100), count)
    answer = f"In order, the smallest first: {', '.join(map(str, sorted(numbers)))}."
    return ask(rng, NUMBERS, answer, r=", ".join(map(str, numbers)))


def counting_words(rng: random.Random) -> Asked:
    parts = [rng.choice(part) for part in SENTENCES]
    if rng.random() < 0.4:
        del parts[1]
    if rng.random() < 0.3:
        del parts[-1]
    words = with_a(" ".join(parts)).split()
    numbered = ", ".join(f"{i} {word}" for i, word in enumerate(words, 1))
    answer = f"{numbered}: {len(words)} words."
    return ask(rng, COUNT_WORDS, answer, *words, r=" ".join(words))


def with_a(text: str) -> str:
    return re.sub(r"^a (?=[aeiou])", "an ", text)


def counting_letters(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.5:
        word = rng.choice(SHORT)
    else:
        word = subjects.made_up(rng) if way < 0.75 else somebody(rng)
    while len(word) > 10:
        word = subjects.made_up(rng)
    numbered = ", ".join(f"{i} {letter}" for i, letter in enumerate(word, 1))
    return ask(rng, COUNT_LETTERS, f"{numbered}: {word} has {len(word)} letters.", word, w=word)


KINDS = Kinds({
    following: 12, rows_of_words: 5, rows_of_numbers: 7, odd_one_out: 8, which_of_these: 7,
    is_it_a: 7, is_more: 7, chains: 9, traits: 9, true_or_false: 8, days: 8, reading: 16,
    sorting: 6, counting_words: 5, counting_letters: 4,
})  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    asked = KINDS.draw(rng, held_out)
    return chat(typed(rng, asked), asked.answer)
