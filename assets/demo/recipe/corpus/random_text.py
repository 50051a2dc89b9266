"""Random numbers, names, letters, dice: text without a pattern, where no draft pays.

Every kind has its forms of asking (`!` marks the ones that are kept for held-out samples) and a
maker of what is asked for. `{n}` in a form is how many, `{low}` and `{high}` the range, `{options}`
what to choose from.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from assets.demo.recipe.corpus import subjects
from assets.demo.recipe.corpus.copying import number_word
from assets.demo.recipe.corpus.text import Conversation, as_typed, chat, listed, sentence

Draw = Callable[[random.Random, "Wish"], str]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIGNS = "!?+-*%$#"
MONTHS = (
    ("January", 31), ("February", 28), ("March", 31), ("April", 30), ("May", 31), ("June", 30),
    ("July", 31), ("August", 31), ("September", 30), ("October", 31), ("November", 30),
    ("December", 31),
)  # fmt: skip
RANKS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen",
    "king", "ace",
)  # fmt: skip
SUITS = ("hearts", "diamonds", "clubs", "spades")
RANGES = (
    (1, 10), (1, 20), (1, 50), (1, 100), (1, 1000), (0, 9), (0, 99), (10, 99), (100, 999),
    (5, 15), (20, 40), (50, 60), (1, 6), (1, 49), (200, 300), (1, 5), (30, 70), (1, 12),
)  # fmt: skip


@dataclass(slots=True)
class Wish:
    """What one question asks for."""

    n: int = 1
    low: int = 1
    high: int = 100
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Kind:
    """`name` and `names` are what comes out, one or several; `draw` makes one of them."""

    name: str
    names: str
    draw: Draw
    one: tuple[str, ...]
    several: tuple[str, ...] = ()
    most: int = 10


def _password(rng: random.Random, wish: Wish) -> str:
    usual = LETTERS + LETTERS.upper() + "0123456789"
    signs = [rng.choice(usual) for _ in range(rng.randint(7, 11))]
    signs.insert(rng.randrange(len(signs)), rng.choice(SIGNS))
    return "".join(signs)


def _date(rng: random.Random, wish: Wish) -> str:
    month, days = rng.choice(MONTHS)
    return f"{rng.randint(1, days)} {month}"


def _phone(rng: random.Random, wish: Wish) -> str:
    return f"{rng.randrange(100, 1000)} {rng.randrange(100, 1000)} {rng.randrange(1000, 10000)}"


def _username(rng: random.Random, wish: Wish) -> str:
    return rng.choice(subjects.COLOURS) + rng.choice(subjects.ANIMALS) + str(rng.randrange(100))


def _nonsense(rng: random.Random, wish: Wish) -> str:
    animal, thing, other = rng.choice(subjects.ANIMALS), *rng.sample(subjects.OBJECTS, 2)
    verb = rng.choice(("paints", "sells", "hides", "carries", "follows", "forgets", "washes"))
    first, second = rng.sample(subjects.COLOURS, 2)
    where = rng.choice(("under", "behind", "beside", "on top of"))
    return f"The {first} {animal} {verb} the {second} {thing} {where} the {other}"


KINDS = (
    Kind(
        "random number", "random numbers",
        lambda rng, wish: str(rng.randint(wish.low, wish.high)),
        ("Give me a random number.", "Random number", "Say a random number.",
         "Give me a random number between {low} and {high}.", "Choose any number at random.",
         "Pick a random number from {low} to {high}.", "Generate a random number.",
         "Roll a random number from {low} to {high}.", "I need a random number.",
         "Draw a random number between {low} and {high}.", "random number {low}-{high}",
         "!Tell me a random number.", "!Any random number between {low} and {high}, please."),
        ("Give me {n} random numbers.", "{n} random numbers", "List {n} random numbers.",
         "Write {n} random numbers between {low} and {high}.", "I need {n} random numbers.",
         "Generate {n} random numbers from {low} to {high}.", "Print {n} random numbers.",
         "Show me {n} random numbers.", "Make a list of {n} random numbers.",
         "Name {n} random numbers between {low} and {high}.", "Can you write {n} random numbers?",
         "!Please give me {n} random numbers.", "!Draw {n} random numbers from {low} to {high}."),
    ),
    Kind(
        "random digit", "random digits", lambda rng, wish: str(rng.randrange(10)),
        ("Give me a random digit.", "Random digit", "!Say a random digit."),
        ("Give me {n} random digits.", "Write {n} random digits.", "A row of {n} random digits",
         "!Show me {n} random digits."),
    ),
    Kind(
        "random letter", "random letters", lambda rng, wish: rng.choice(LETTERS),
        ("Give me a random letter.", "Random letter", "Pick a random letter.",
         "Say any letter at random.", "!Choose a random letter."),
        ("Give me {n} random letters.", "Write {n} random letters.", "{n} random letters",
         "Generate {n} random letters.", "I need {n} letters at random.",
         "!Type {n} random letters."),
    ),
    Kind(
        "random password", "random passwords", _password,
        ("Give me a random password.", "Make up a password.", "Generate a password.",
         "Random password", "I need a new password.", "Create a random password.",
         "!Think of a random password."),
        ("Give me {n} random passwords.", "Generate {n} passwords.", "Make up {n} passwords.",
         "!List {n} random passwords."), 6,
    ),
    Kind(
        "random PIN", "random PINs",
        lambda rng, wish: "".join(rng.choice("0123456789") for _ in range(4)),
        ("Give me a random PIN.", "Make up a PIN.", "Random PIN", "I need a random PIN code.",
         "!Generate a PIN."),
        ("Give me {n} random PINs.", "!Make up {n} PINs."),
    ),
    Kind(
        "made-up word", "made-up words", lambda rng, wish: subjects.made_up(rng),
        ("Make up a word.", "Invent a word.", "Give me a made-up word.", "Invent a new word.",
         "Say a word that does not exist.", "Give me a nonsense word.", "!Make up a new word."),
        ("Make up {n} words.", "Invent {n} words.", "Give me {n} made-up words.",
         "Write {n} words that do not exist.", "{n} nonsense words", "!Invent {n} new words."), 8,
    ),
    Kind(
        "made-up name", "made-up names",
        lambda rng, wish: subjects.made_up(rng).capitalize(),
        ("Make up a name for a planet.", "Invent a name for a wizard.", "Give me a fantasy name.",
         "Make up a name for a dragon.", "Invent a name for a town.", "!Make up a fantasy name."),
        ("Make up {n} fantasy names.", "Invent {n} names for planets.",
         "Give me {n} made-up names.", "!Invent {n} fantasy names."), 8,
    ),
    Kind(
        "random name", "random names",
        lambda rng, wish: rng.choice(subjects.FIRST_NAMES),
        ("Give me a random name.", "Random name", "Pick a random name.", "Say any first name.",
         "I need a random first name.", "!Choose a random name."),
        ("Give me {n} random names.", "List {n} random names.", "{n} random names",
         "Write {n} random first names.", "I need {n} random names for a story.",
         "Generate {n} random names.", "Name {n} random people.", "!Say {n} random names."), 8,
    ),
    Kind(
        "random full name", "random full names",
        lambda rng, wish: (
            f"{rng.choice(subjects.FIRST_NAMES)} {rng.choice(subjects.LAST_NAMES)}"
        ),
        ("Give me a random full name.", "Make up a first and a last name.",
         "Invent a name for a person.", "!Make up a full name."),
        ("Give me {n} random full names.", "Make up {n} first and last names.",
         "!Invent {n} names for people."), 6,
    ),
    Kind(
        "random colour", "random colours", lambda rng, wish: rng.choice(subjects.COLOURS),
        ("Give me a random colour.", "Random colour", "Pick a random color.",
         "Say any colour at random.", "!Choose a random colour."),
        ("Give me {n} random colours.", "List {n} random colors.", "{n} random colours",
         "Write {n} colours in a random order.", "!Pick {n} random colours."), 8,
    ),
    Kind(
        "roll of a die", "rolls of a die", lambda rng, wish: str(rng.randint(1, 6)),
        ("Roll a die.", "Roll a dice.", "Throw a dice.", "Roll the dice.", "roll d6",
         "!Throw a die for me."),
        ("Roll {n} dice.", "Roll a die {n} times.", "Throw {n} dice.", "{n} dice rolls",
         "Roll the dice {n} times.", "!Throw a die {n} times."),
    ),
    Kind(
        "flip of a coin", "flips of a coin", lambda rng, wish: rng.choice(("heads", "tails")),
        ("Flip a coin.", "Toss a coin.", "Heads or tails?", "Throw a coin.", "coin flip",
         "!Please flip a coin."),
        ("Flip {n} coins.", "Flip a coin {n} times.", "Toss a coin {n} times.", "{n} coin flips",
         "!Throw a coin {n} times."),
    ),
    Kind(
        "random telephone number", "random telephone numbers", _phone,
        ("Make up a telephone number.", "Give me a random phone number.", "Invent a phone number.",
         "!Write a random phone number."),
        ("Make up {n} telephone numbers.", "Give me {n} random phone numbers.",
         "!Write {n} random phone numbers."), 6,
    ),
    Kind(
        "random word", "random words",
        lambda rng, wish: rng.choice(subjects.OBJECTS + subjects.ANIMALS),
        ("Give me a random word.", "Random word", "Say a random word.", "Pick any word.",
         "I need a random word.", "!Choose a random word."),
        ("Give me {n} random words.", "Write {n} random words.", "{n} random words",
         "List {n} random words.", "Say {n} random words.", "Random list of {n} things",
         "!Type {n} random words."),
    ),
    Kind(
        "random animal", "random animals", lambda rng, wish: rng.choice(subjects.ANIMALS),
        ("Give me a random animal.", "Random animal", "Pick a random animal.",
         "!Choose a random animal."),
        ("Give me {n} random animals.", "List {n} random animals.", "!Pick {n} random animals."), 8,
    ),
    Kind(
        "random city", "random cities", lambda rng, wish: rng.choice(subjects.CITIES),
        ("Give me a random city.", "Random city", "Pick a city at random.",
         "!Choose a random city."),
        ("Give me {n} random cities.", "List {n} random cities.", "!Pick {n} random cities."), 8,
    ),
    Kind(
        "random date", "random dates", _date,
        ("Give me a random date.", "Random date", "Pick any day of the year.",
         "!Choose a random date."),
        ("Give me {n} random dates.", "Write {n} random dates.", "!Pick {n} random dates."), 7,
    ),
    Kind(
        "random time", "random times",
        lambda rng, wish: f"{rng.randrange(24):02}:{rng.randrange(60):02}",
        ("Give me a random time.", "Random time of the day", "!Pick a random time."),
        ("Give me {n} random times.", "!Write {n} random times."), 8,
    ),
    Kind(
        "random card", "random cards",
        lambda rng, wish: f"the {rng.choice(RANKS)} of {rng.choice(SUITS)}",
        ("Draw a card.", "Pick a card.", "Pick a card, any card.", "Random card",
         "Draw a random card.", "!Take a card."),
        ("Draw {n} cards.", "Deal me {n} cards.", "Pick {n} random cards.", "!Take {n} cards."), 6,
    ),
    Kind(
        "random user name", "random user names", _username,
        ("Make up a user name.", "Give me a random username.", "Invent a username.",
         "!Generate a user name."),
        ("Make up {n} user names.", "Give me {n} random usernames.", "!Generate {n} usernames."), 7,
    ),
    Kind(
        "random colour code", "random colour codes",
        lambda rng, wish: f"#{rng.randrange(1 << 24):06x}",
        ("Give me a random colour code.", "Random hex colour", "!Make up a hex colour."),
        ("Give me {n} random colour codes.", "!Write {n} random hex colours."), 6,
    ),
    Kind(
        "random year", "random years", lambda rng, wish: str(rng.randrange(1000, 2100)),
        ("Give me a random year.", "Random year", "!Pick a random year."),
        ("Give me {n} random years.", "!Write {n} random years."),
    ),
    Kind(
        "nonsense sentence", "nonsense sentences", _nonsense,
        ("Write a random sentence.", "Give me a nonsense sentence.", "Say something random.",
         "Write a sentence that makes no sense.", "Random sentence", "!Make up a random sentence."),
    ),
    Kind(
        "choice", "choices", lambda rng, wish: rng.choice(wish.options),
        ("Pick one: {options}.", "Choose one of these: {options}.",
         "Pick one at random: {options}.",
         "Which one? {options}?", "Choose for me: {options}.", "{options}? You choose.",
         "Take one at random: {options}.", "!Please pick one: {options}."),
    ),
    Kind(
        "random order", "random orders",
        lambda rng, wish: listed(rng.sample(wish.options, len(wish.options))),
        ("Shuffle this: {options}.", "Put these in a random order: {options}.",
         "Shuffle these words: {options}.", "Mix these up: {options}.",
         "!Give me a random order of: {options}."),
    ),
    Kind(
        "random shopping list", "random shopping lists",
        lambda rng, wish: listed(rng.sample(subjects.FRUITS, rng.randint(4, 8))),
        ("Write a random shopping list.", "Give me a shopping list.", "Make a shopping list.",
         "Make up a shopping list.", "Random shopping list", "Write me a shopping list.",
         "What could be on a shopping list?", "!Invent a shopping list."),
    ),
    Kind(
        "row of lottery numbers", "rows of lottery numbers",
        lambda rng, wish: listed(map(str, sorted(rng.sample(range(1, 50), 6)))),
        ("Give me lottery numbers.", "Lottery numbers", "Which lottery numbers should I take?",
         "Make up six lottery numbers.", "Six lottery numbers, please.",
         "Generate lottery numbers.", "!What will the lottery numbers be?"),
    ),
    Kind(
        "row of zeros and ones", "rows of zeros and ones",
        lambda rng, wish: " ".join(rng.choice("01") for _ in range(rng.randint(6, 16))),
        ("Give me random bits.", "Write random zeros and ones.", "Random binary digits",
         "Write a row of zeros and ones.", "!Show me random zeros and ones."),
    ),
    Kind(
        "row of random letters", "rows of random letters",
        lambda rng, wish: "".join(rng.choice(LETTERS) for _ in range(rng.randint(8, 20))),
        ("Write random letters.", "Random letters", "Type something random.",
         "Hit the keys at random.", "Write a random string.", "Generate a random string.",
         "!Make up a random string."),
    ),
)  # fmt: skip
WEIGHTS = [4, 1, 2, 2, 1, 2, 1, 3, 1, 2, 2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1]
POOLS = (
    subjects.FRUITS, subjects.ANIMALS, subjects.COLOURS, subjects.OBJECTS, subjects.CITIES,
    subjects.FIRST_NAMES,
)  # fmt: skip
REMARKS = (
    "No draft can guess that.",
    "There is no pattern in it, so drafting hardly pays here.",
    "Whoever guessed that was lucky.",
    "I made it up.",
    "Watch the drafts: they can only guess here.",
)
MAY_RETURN = {"random digit", "random letter", "roll of a die", "flip of a coin"}
WARNINGS = {
    "random password": "Please do not use it for anything important.",
    "random PIN": "Please do not use it for anything important.",
    "row of lottery numbers": "Nobody knows which numbers will win.",
    "random telephone number": "It is made up, so please do not call it.",
}


def _answer(rng: random.Random, kind: Kind, wish: Wish, count: str) -> str:
    if wish.n == 1:
        thing = kind.draw(rng, wish)
        if kind.name == "choice":
            text = f"I choose {thing}."
        elif kind.name in ("row of random letters", "row of zeros and ones"):
            text = f"Here is a {kind.name}: {thing}"
        else:
            text = f"Here is a {kind.name}: {thing}."
        if kind.name in WARNINGS:
            return f"{text} {WARNINGS[kind.name]}"
        joint = " " if text.endswith(".") else "\n"
        return text + (joint + rng.choice(REMARKS) if rng.random() < 0.25 else "")
    things: list[str] = []
    while len(things) < wish.n:
        thing = kind.draw(rng, wish)
        if kind.name in MAY_RETURN or wish.high - wish.low < 20 or thing not in things:
            things.append(thing)
    head = f"Here are {count} {kind.names}"
    if rng.random() < 0.25:
        return f"{head}:\n" + "\n".join(f"- {thing}" for thing in things)
    return f"{head}: {', '.join(things)}."


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    kind = rng.choices(KINDS, WEIGHTS)[0]
    forms = kind.several if kind.several and rng.random() < 0.6 else kind.one
    form = rng.choice([form for form in forms if form.startswith("!") == held_out]).lstrip("!")
    low, high = rng.choice(RANGES) if "{low}" in form else (1, 100)
    wish = Wish(rng.randint(2, kind.most) if "{n}" in form else 1, low, high)
    if "{options}" in form:
        wish.options = rng.sample(rng.choice(POOLS), rng.randint(3, 6))
    word = number_word(wish.n)
    count = word if rng.random() < 0.6 else str(wish.n)
    joined = listed(wish.options) if wish.options else ""
    if kind.name == "choice":
        joined = " or ".join(joined.rsplit(" and ", 1))
    text = as_typed(rng, sentence(form.format(n=count, low=low, high=high, options=joined)))
    return chat(text, _answer(rng, kind, wish, word))
