"""Everyday text that cannot be guessed: sentences of what people do, write on notes and send each
other, put together from many words, and single sentences of all hand-written answers.

A model learns to copy in general only from texts that differ in all their words.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache

from assets.demo.recipe.corpus import subjects
from assets.demo.recipe.corpus.text import ANSWERS, sentence

IRREGULAR = {
    "be": ("is", "was"), "have": ("has", "had"), "go": ("goes", "went"), "buy": ("buys", "bought"),
    "sell": ("sells", "sold"), "give": ("gives", "gave"), "find": ("finds", "found"),
    "stand": ("stands", "stood"), "meet": ("meets", "met"), "sit": ("sits", "sat"),
    "run": ("runs", "ran"), "take": ("takes", "took"), "eat": ("eats", "ate"),
    "put": ("puts", "put"), "feed": ("feeds", "fed"), "sleep": ("sleeps", "slept"),
    "break": ("breaks", "broke"), "get": ("gets", "got"), "bring": ("brings", "brought"),
    "come": ("comes", "came"), "drink": ("drinks", "drank"), "hang": ("hangs", "hung"),
    "leave": ("leaves", "left"), "read": ("reads", "read"), "know": ("knows", "knew"),
    "see": ("sees", "saw"), "forget": ("forgets", "forgot"), "lie": ("lies", "lay"),
    "grow": ("grows", "grew"), "light": ("lights", "lit"), "teach": ("teaches", "taught"),
    "begin": ("begins", "began"), "write": ("writes", "wrote"), "show": ("shows", "showed"),
    "draw": ("draws", "drew"), "ring": ("rings", "rang"), "become": ("becomes", "became"),
    "say": ("says", "said"), "let": ("lets", "let"), "pay": ("pays", "paid"),
    "keep": ("keeps", "kept"), "shine": ("shines", "shone"), "wear": ("wears", "wore"),
    "lose": ("loses", "lost"), "think": ("thinks", "thought"), "win": ("wins", "won"),
    "cut": ("cuts", "cut"), "fall": ("falls", "fell"), "do": ("does", "did"),
    "make": ("makes", "made"), "drive": ("drives", "drove"), "ride": ("rides", "rode"),
    "sing": ("sings", "sang"), "swim": ("swims", "swam"), "catch": ("catches", "caught"),
    "build": ("builds", "built"), "send": ("sends", "sent"), "spend": ("spends", "spent"),
    "tell": ("tells", "told"), "hear": ("hears", "heard"), "feel": ("feels", "felt"),
    "throw": ("throws", "threw"), "hide": ("hides", "hid"), "choose": ("chooses", "chose"),
    "speak": ("speaks", "spoke"), "wake": ("wakes", "woke"), "fly": ("flies", "flew"),
    "lend": ("lends", "lent"), "hold": ("holds", "held"), "sweep": ("sweeps", "swept"),
}  # fmt: skip
DOUBLED = {"stop", "travel", "plan", "drop", "shop", "hug", "clap", "pat", "jog", "chat"}


def conjugated(verb: str, past: bool, plural: bool) -> str:
    """`walk` as `walks`, `walk` or `walked`."""
    if verb == "be" and plural:
        return "were" if past else "are"
    if verb in IRREGULAR and (past or not plural):
        return IRREGULAR[verb][past]
    if not past:
        if plural:
            return verb
        if re.search(r"[^aeiou]y$", verb):
            return verb[:-1] + "ies"
        return verb + ("es" if re.search(r"(s|sh|ch|x|o)$", verb) else "s")
    if verb in DOUBLED:
        return verb + verb[-1] + "ed"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split(","))


NAMES = subjects.split(subjects.FIRST_NAMES)[0]
DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = _words("January February March April June July August September October November December")
PLACES = _words("""
station market park library museum office school kitchen garden garage bakery bank beach bridge
harbour airport hospital hotel cinema theatre castle church cafe restaurant playground gym forest
village farm zoo stadium supermarket pharmacy bathroom bedroom cellar attic balcony hall classroom
basement lobby workshop bookshop tower pool lake river cottage barn factory courtyard canteen
""")
THINGS = _words("""
book lamp basket bottle box hat coat key letter map cup plate spoon knife bag ball rope ladder
bucket candle blanket drum flute bell kite boat wheel hammer brush mirror clock ring coin stone
feather pillow chair table bench carpet curtain pencil ticket umbrella scarf jar pot kettle barrel
lantern whistle purse notebook picture camera phone laptop printer radio guitar piano violin bicycle
helmet jacket jumper shirt shoe boot sock glove belt button towel suitcase rucksack wallet watch
passport envelope parcel stamp folder report poster calendar newspaper magazine screen keyboard
cable charger battery torch tent oven fridge freezer sofa shelf drawer cupboard desk door window
fence gate hose shovel rake saw drill nail screw paintbrush vase bowl fork pan tray teapot jug
sandwich cake pie pizza apple pear lemon melon carrot onion potato tomato mushroom pumpkin egg
biscuit pancake doll puzzle robot rocket balloon crown sword shield treasure trumpet microphone
bus tram taxi lorry tractor motorbike train ship canoe wagon trolley engine machine microscope
""")
CREATURES = _words("""
cat dog horse cow sheep goat pig duck goose hen fox wolf bear rabbit mouse squirrel deer lion tiger
monkey parrot owl frog turtle snail donkey camel penguin seal whale dolphin crab robin swan pony
hamster lizard hedgehog badger otter beaver giraffe elephant zebra kangaroo crocodile octopus eagle
sparrow pigeon beetle spider butterfly bee ant
""")
STUFF = _words("""
bread milk butter cheese flour sugar salt rice honey tea coffee jam soup fish juice soap paper wool
water wood glass sand snow chocolate cream pasta salad garlic oil pepper cereal yoghurt medicine
money paint glue cotton ink rope music homework furniture luggage petrol
""")
FOOD = _words("""
bread cheese rice jam soup fish chocolate pasta salad cereal yoghurt honey cake pizza pancakes
apples pears carrots potatoes beans noodles cherries plums mushrooms tomatoes nuts eggs grapes
""")
DRINKS = _words("tea coffee milk juice water lemonade cocoa")
ADJECTIVES = _words("""
red blue green yellow black white big small old new good bad happy sad hot cold fast slow long
short high low late early nice kind dark loud quiet ready hungry tired free broken clean dirty
empty full heavy light cheap expensive open closed soft hard wet dry round square narrow wide
strange famous funny boring clever brave polite rude lazy busy calm nervous proud careful fresh
sweet sour salty bitter warm cool thick thin sharp wooden golden silver purple orange pink brown
grey ancient modern lovely ugly gentle sleepy thirsty curious lonely grumpy shiny dusty sticky
""")
PEOPLE = _phrases("""
my brother, my sister, my mother, my father, my uncle, my aunt, my grandmother, my neighbour,
our teacher, the doctor, the baker, the postman, the driver, the nurse, the cook, the mayor,
the plumber, my boss, the farmer, the manager, her cousin, his friend, the captain, the singer,
the dentist, the gardener, the guide, the librarian, the waiter, the painter, my daughter, my son
""")
MANY_PEOPLE = _phrases("""
we, they, you, I, I, I, we, the children, my parents, our friends, the neighbours, the students,
the teachers, two men, three girls, the players, the guests, most people, the workers
""")
EVENTS = _words("""
meeting party concert lesson exam match wedding dinner lunch breakfast interview workshop class
picnic film race play lecture festival appointment show tour flight holiday barbecue rehearsal
""")
WHENS = _phrases("""
today, tomorrow, tonight, at noon, at six, at eight, on {D}, on {D} morning, next week, in {M},
after lunch, before dinner, in the evening, in the morning, at half past nine, on the weekend,
at midnight, soon, later, after work, in an hour, at the weekend, next {D}, before {D}
""")
USUALLY = _phrases("""
every day, every morning, every week, in the evening, on {D}s, after school, after work, at night,
before breakfast, in {M}, in the afternoon, at noon, with {N}, with a friend, near the {p}, alone
""")
# What somebody does: a verb in its base form, and to what.
ACTIONS = _phrases("""
walk to the {p}, buy fresh {s}, go to the {p}, open the {t}, close the {t}, clean the {p}, cook {f},
bring a {t}, find a {a} {t}, lose the {t}, sell the {a} {t}, read a {a} book, write a letter to {N},
call {N}, meet {N} at the {p}, help {N}, visit the {p}, paint the {t}, repair the {t}, wash the {t},
feed the {c}, watch the {c}, see a {a} {c}, drink {d}, eat {f}, play in the {p}, work in the {p},
wait at the {p}, run to the {p}, sit in the {p}, sleep in the {p}, take the {t}, carry a {a} {t},
give the {t} to {N}, show {N} the {p}, send a {t} to {N}, draw a {c}, build a {t}, make a {t},
hide the {t} in the {p}, keep the {t} in a {t}, put the {t} in the {p}, pay for the {t}, forget the
{t}, want a {a} {t}, like the {a} {c}, need a new {t}, look for the {t}, talk about the {p},
dance in the {p}, sing in the {p}, swim in the lake, drive to the {p}, ride to the {p}, travel to
{C}, fly to {C}, live in {C}, stay in {C}, dream of {C}, think of {N}, laugh at the {c}, order {d},
learn about the {c}, hear a {c}, catch a {c}, plant a tree, arrive at the {p}, leave the {p},
wear a {a} coat, win a {t}, choose the {a} {t}, tell {N} a story, ask {N} a question, borrow a {t},
cut the {s}, throw the {t} away, hold the {t}, stop at the {p}, plan a trip to {C}, drop the {t},
push the {t}, pull the {t}, turn on the {t}, knock at the door, smile at {N}, thank {N}, follow the
{c}, chase the {c}, hug {N}, miss {N}, love {f}, bake a {a} cake, cross the bridge, enter the {p},
get a {t} from {N}, speak with {N}, sweep the {p}, spend {n} euros, wake up at six, study in the {p}
""")
# Notes, news and remarks; small letters stand for words of the lists above.
NOTES = (
    "see you at the {p}", "see you at the {p} {w}", "meet me at the {p} {w}", "i am at the {p}",
    "the {e} is {w}", "the {e} is in the {p}", "the {e} starts {w}", "no {e} {w}", "{t} for sale",
    "please bring the {t} to the {p}", "please close the {t}", "do not touch the {t}",
    "beware of the {c}", "the {t} is {a}", "my {t} is {a}", "{N} has a {a} {t}",
    "where is the {a} {t}", "the {c} is in the {p}", "there is a {c} in the {p}",
    "{n} {a} {c}s", "the {p} is closed {w}", "the {p} is {a} and the {p} is {a}", "happy {e}",
    "i love {s}", "{s} and {s}", "we need {s} and {s}", "good luck with the {e}", "{a} {c}",
    "never forget your {t}", "the {a} {c} sleeps", "i left my {t} at the {p}", "call {N} {w}",
    "{N} and {N} are here", "the {t} costs {n} euros", "keep the {p} clean", "my {c} likes {f}",
    "{c}s are {a}", "{t}s are {a}", "{s} is {a}", "do you have a {t}", "who took my {t}",
    "we are late for the {e}", "the {t} belongs to {N}", "welcome to {C}", "greetings from {C}",
    "a {t} in the {p}", "{N} lives in {C}", "i will call you {w}", "we moved to {C} in {M}",
    "turn left at the {p}", "the {t} is under the {t}", "the {t} is next to the {t}", "{a} {a} {t}",
    "everybody likes the {a} {c}", "thanks for the {t}", "sorry about the {t}", "{t} {t} {t}",
    "the {e} in {C} was {a}", "please send {N} the {t} {w}", "{N} is {a} today", "stop the {t}",
)  # fmt: skip
# Sentences as they stand in a longer text.
NEWS = (
    "The {e} is on {D} in the {p}.", "The {e} on {D} starts at {h} o'clock.",
    "We will meet on {D} at the {p}.", "{N} comes back from {C} on {D}.",
    "Please bring your {t} on {D}.", "The {p} is closed on {D}.", "On {D} {N} has a {e}.",
    "{N} lost a {a} {t} in {C}.", "The {t} is {a}, but the {t} is {a}.", "My {c} is called {N}.",
    "{N} paid {n} euros for the {t}.", "There are {n} {t}s in the {p}.",
    "It was very {a} in {C} in {M}.",
    "I think the {a} {t} belongs to {N}.", "Nobody knows where the {a} {c} is.",
    "The {p} in {C} is quite {a}.", "I will send you the {t} before {D}.",
    "If it rains, we stay in the {p}.", "Do not forget the {t} and the {s}.",
    "{N} and {N} will cook {f} with {f}.", "The train to {C} leaves at {h}.",
    "She gave the {t} to {N} and the {t} to {N}.", "He looks at the {c} and smiles.",
    "We have no {s}, so we need to go to the {p}.", "The new {t} is better than the old one.",
    "Does {N} still work in the {p}?", "What a {a} {c}!", "Have you seen the {a} {t}?",
    "They want to buy a {t}, a {t} and some {s}.", "The {e} has been moved from {D} to {D}.",
    "In {M} the {p} will be full of {c}s.", "Because of the {e}, the {p} opens at {h}.",
    "I am happy that {N} likes the {t}.", "When {N} came home, the {c} was {a}.",
)  # fmt: skip
_SLOT = re.compile(r"\{(\w)\}")


def filled(rng: random.Random, form: str) -> str:
    """`form` with a word in each slot, no noun twice."""
    used: set[str] = set()

    def word(match: re.Match[str]) -> str:
        slot = match[1]
        if slot in "nh":
            return str(rng.randint(2, 99) if slot == "n" else rng.randint(1, 12))
        if slot == "w":
            return filled(rng, rng.choice(WHENS))
        if slot == "N":
            return subjects.rare_name(rng) if rng.random() < 0.3 else rng.choice(NAMES)
        pool = POOLS[slot]
        while (found := rng.choice(pool)) in used:
            pass
        used.add(found)
        return found

    text = _SLOT.sub(word, form)
    return PLURAL.sub(_many, re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text))


POOLS = {
    "p": PLACES, "t": THINGS, "c": CREATURES, "s": STUFF, "a": ADJECTIVES, "e": EVENTS,
    "f": FOOD, "d": DRINKS, "D": DAYS, "M": MONTHS, "C": subjects.CITIES,
}  # fmt: skip
_ODD = {
    "knife": "knives", "shelf": "shelves", "sheep": "sheep", "fish": "fish", "deer": "deer",
    "mouse": "mice", "goose": "geese", "wolf": "wolves", "scarf": "scarves", "potato": "potatoes",
    "tomato": "tomatoes", "calf": "calves",
}  # fmt: skip
_NOUNS = sorted({*THINGS, *CREATURES}, key=len, reverse=True)
PLURAL = re.compile(rf"\b({'|'.join(_NOUNS)})s\b")


def _many(match: re.Match[str]) -> str:
    noun = str(match[1])
    if noun in _ODD:
        return _ODD[noun]
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}s"


def actions(rng: random.Random) -> tuple[str, str]:
    """One or two things that somebody does, now and in the past: the subject with its verbs."""
    several = rng.random() < 0.45
    who = rng.choice(MANY_PEOPLE if several else PEOPLE)
    if not several and rng.random() < 0.55:
        who = rng.choice(("he", "she", filled(rng, "{N}"), filled(rng, "{N}")))
    parts = [filled(rng, form) for form in rng.sample(ACTIONS, rng.choice((1, 1, 2, 2, 3)))]
    if rng.random() < 0.35:
        parts[-1] += f" {filled(rng, rng.choice(USUALLY))}"
    said = []
    for past in (False, True):
        doing = []
        for part in parts:
            verb, _, rest = part.partition(" ")
            doing.append(f"{conjugated(verb, past, several)} {rest}")
        joined = " and ".join(doing) if len(doing) < 3 else f"{doing[0]}, {' and '.join(doing[1:])}"
        said.append(sentence(f"{who} {joined}."))
    return said[0], said[1]


def command(rng: random.Random) -> str:
    """Something to be done, as one tells somebody to do it: `bring the red lamp to the office`."""
    verbs = ("want", "like", "need", "lose", "forget", "live", "dream", "miss", "love", "win",
             "arrive", "laugh", "see", "hear", "drop", "hate", "think", "spend")  # fmt: skip
    while (form := rng.choice(ACTIONS)).split()[0] in verbs:
        pass
    text = filled(rng, form)
    return f"{text} {filled(rng, rng.choice(WHENS))}" if rng.random() < 0.35 else text


def note(rng: random.Random) -> str:
    """A few words in small letters, as one sends them."""
    return filled(rng, rng.choice(NOTES))


def line(rng: random.Random) -> str:
    """One whole sentence."""
    way = rng.random()
    if way < 0.4:
        return filled(rng, rng.choice(NEWS))
    if way < 0.65:
        return actions(rng)[rng.randrange(2)]
    if way < 0.85:
        return rng.choice(real())
    text = sentence(note(rng)).replace(" i ", " I ")
    return text + ("?" if text.startswith(("Where", "Who", "Do you")) else rng.choice("..!"))


def text(rng: random.Random, most: int = 4) -> str:
    """Some sentences that do not have to do with each other."""
    return " ".join(line(rng) for _ in range(rng.randint(1, most)))


def _answers() -> str:
    """All hand-written answers, without the questions."""
    lines = [
        line
        for path in sorted(ANSWERS.glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line[:2] not in ("? ", "! ", "# ")
    ]
    return "\n".join(lines)


@cache
def real() -> tuple[str, ...]:
    """Sentences of the hand-written answers, whatever they are about."""
    found = re.findall(
        r"(?:(?<=[.!?] )|(?<=\n))[A-Z][A-Za-z',-]+(?: [A-Za-z',-]+){3,13}[.!?](?=\s)", _answers()
    )
    return tuple(sorted({one for one in found if len(one) < 90}))


@cache
def common() -> tuple[str, ...]:
    """Words that stand more than once in the answers, the frequent ones first."""
    counts = Counter(re.findall(r"\b[a-z]{3,14}\b", _answers()))
    own = {word for pool in (THINGS, CREATURES, STUFF, ADJECTIVES, PLACES, EVENTS) for word in pool}
    often = [word for word, count in counts.most_common() if count >= 3]
    return tuple(dict.fromkeys([*often, *sorted(own)]))
