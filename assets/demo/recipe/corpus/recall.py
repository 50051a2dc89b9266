"""What the user has told, or has not told: a name, a pet, a plan, where the keys are, what was
bought. The same words ask for it either way, so that a model learns to look at the conversation.

Where it was told, some turns ago and among other things, it is taken from there. Where it was not,
the answer always has one form: "You have not told me what your fox is called yet." What is told
instead is often near: the name of the cat where the fox is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assets.demo.recipe.corpus import arithmetic, definitions, personal, subjects, unknown
from assets.demo.recipe.corpus.personal import written
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    mostly_first,
    read_sections,
    sentence,
    with_article,
)

LISTS = read_sections(FORMS / "recall.txt")
ROWS = {
    name: [[part.strip() for part in line.split("|")] for line in LISTS[name]]
    for name in ("favourite", "is", "deed", "plan")
}


@dataclass(frozen=True, slots=True)
class Item:
    """Something about the user: what it is told and asked with, all in small letters."""

    key: str
    value: str
    tells: tuple[str, ...]
    asks: tuple[str, ...]
    reserved: tuple[str, ...]
    known: str  # it told back, "your fox is called Kim"
    untold: str  # "what your fox is called"
    example: str  # how it could be told

    @property
    def answer(self) -> str:
        said = "you said that " if self.key.startswith("about") else ""
        return f"{sentence(said + self.known)}."

    @property
    def not_told(self) -> str:
        return f"You have not told me {self.untold} yet. {self.invited}"

    @property
    def invited(self) -> str:
        return f'Say "{self.example}", and I will remember it in this conversation.'


def _yours(text: str) -> str:
    return " ".join({"my": "your", "i": "you"}.get(word, word) for word in text.split())


WHO = ("singer", "writer", "painter", "composer", "teacher", "superhero")


def favourite(rng: random.Random) -> Item:
    noun, *values = rng.choice(ROWS["favourite"])
    v = rng.choice(values)
    f = rng.choice(("favourite", "favourite", "favorite"))
    what = "who" if noun in WHO else "what"
    return Item(
        f"favourite: {noun}", v,
        (f"my {f} {noun} is {v}", f"the {noun} [that |]i like best is {v}",
         f"{v} is my {f} {noun}", f"my {f} {noun} has always been {v}"),
        (f"{what} is my {f} {noun}", f"{what}s my {f} {noun}", f"which {noun} do i like best",
         f"which {noun} is my {f} one", f"what {noun} is my {f}", f"do you know my {f} {noun}",
         f"do you remember my {f} {noun}", f"tell me my {f} {noun}", f"my {f} {noun}?",
         f"which {noun} did i say i like [best|most]", f"{what} did i say my {f} {noun} was",
         f"can you tell me which {noun} i like best", f"which {noun} do i love most",
         f"guess my {f} {noun}"),
        (f"the {noun} i like more than all others is what",
         f"can you name the {noun} that is my {f}"),
        f"your favourite {noun} is {v}", f"your favourite {noun}",
        f"My favourite {noun} is {values[0]}",
    )  # fmt: skip


def attribute(rng: random.Random) -> Item:
    noun, *values = rng.choice(ROWS["is"])
    v = rng.choice(values)
    many = v[-1] == "s" and noun in ("biggest fear", "allergy")
    return Item(
        f"is: {noun}", v,
        (f"my {noun} is {v}", f"my {noun} is {v}" if many else f"{v} is my {noun}",
         f"my {noun}: {v}", f"you should know that my {noun} is {v}"),
        (f"what is my {noun}", f"whats my {noun}", f"do you know my {noun}", f"my {noun}?",
         f"do you [still |]remember my {noun}", f"tell me my {noun}",
         f"what did i say my {noun} was", f"what was my {noun}[ again|]",
         f"can you tell me my {noun}", f"say my {noun}", f"guess my {noun}",
         f"i forgot my {noun}, what is it"),
        (f"did i mention my {noun}, and what is it", f"please say what my {noun} is"),
        f"your {noun} is {_yours(v)}", f"your {noun}", f"My {noun} is {values[0]}",
    )  # fmt: skip


def named(rng: random.Random) -> Item:
    noun, v = rng.choice(LISTS["named"]), personal.Told(rng, personal.FACTS[0], False).v
    if rng.random() < 0.4:
        v = rng.choice(personal.PET_NAMES)
    return Item(
        f"named: {noun}", v,
        (f"my {noun} is called {v}", f"the name of my {noun} is {v}", f"my {noun}'s name is {v}",
         f"i have {with_article(noun)} called {v}", f"i called my {noun} {v}",
         f"i have {with_article(noun)} and its name is {v}", f"i gave my {noun} the name {v}"),
        (f"what is my {noun} called", f"what is the name of my {noun}",
         f"what did i call my {noun}", f"what's my {noun}'s name", f"how is my {noun} called",
         f"do you know the name of my {noun}", f"do you remember what my {noun} is called",
         f"which name does my {noun} have", f"what name did i give my {noun}",
         f"tell me the name of my {noun}", f"the name of my {noun}?",
         f"what did i say my {noun} was called", f"say the name of my {noun}",
         f"guess the name of my {noun}", f"do you know how my {noun} is called"),
        (f"how did i name my {noun}", f"to what name does my {noun} answer"),
        f"your {noun} is called {v}", f"what your {noun} is called", f"My {noun} is called Kim",
    )  # fmt: skip


def relative(rng: random.Random) -> Item:
    v, noun = personal._relative(rng)
    return Item(
        f"named: {noun}", v,
        (f"my {noun} is called {v}", f"the name of my {noun} is {v}", f"my {noun}'s name is {v}",
         f"i have {with_article(noun)} called {v}", f"{v} is my {noun}"),
        (f"what is my {noun} called", f"what is the name of my {noun}",
         f"what's my {noun}'s name", f"how is my {noun} called", f"who is my {noun}",
         f"do you know the name of my {noun}", f"do you remember my {noun}'s name",
         f"what did i say my {noun}'s name was", f"tell me the name of my {noun}",
         f"the name of my {noun}?", f"do you know how my {noun} is called"),
        (f"which name did i say my {noun} has", f"how do people call my {noun}"),
        f"your {noun} is called {v}", f"what your {noun} is called", f"My {noun} is called Kim",
    )  # fmt: skip


def place(rng: random.Random) -> Item:
    many = rng.random() < 0.35
    noun, v = rng.choice(LISTS["things" if many else "thing"]), rng.choice(LISTS["where"])
    d = rng.choice(("my", "my", "the"))
    your = _yours(d)
    be = "are" if many else "is"
    return Item(
        f"place: {noun}", v,
        (f"{d} {noun} {be} {v}", f"i put {d} {noun} {v}", f"i left {d} {noun} {v}",
         f"i keep {d} {noun} {v}", f"{d} {noun} {be} always {v}"),
        (f"where {be} {d} {noun}", f"where did i put {d} {noun}", f"where did i leave {d} {noun}",
         f"do you know where {d} {noun} {be}", f"can you tell me where {d} {noun} {be}",
         f"i can't find {d} {noun}, where {be} {'they' if many else 'it'}", f"{d} {noun}, where",
         f"do you remember where {d} {noun} {be}", f"where did i say {d} {noun} {be}",
         f"tell me where {d} {noun} {be}", f"i am looking for {d} {noun}",
         f"have you seen {d} {noun}", f"where could {d} {noun} be",
         f"help me find {d} {noun}"),
        (f"in which place {be} {d} {noun}", f"where do i have to look for {d} {noun}"),
        f"{your} {noun} {be} {_yours(v)}", f"where {your} {noun} {be}",
        f"{sentence(d)} {noun} {be} {'on the shelf' if 'shelf' not in v else 'in the drawer'}",
    )  # fmt: skip


def deed(rng: random.Random) -> Item:
    base, past, when, *values = rng.choice(ROWS["deed"])
    v = rng.choice(values)
    you = _yours(when)
    return Item(
        f"deed: {base} {when}", v,
        (f"i {past} {v} {when}", f"{when} i {past} {v}", f"i {past} {v} {when}, you know"),
        (f"what did i {base} {when}", f"do you know what i {past} {when}",
         f"do you remember what i {past} {when}", f"what did i say i {past} {when}",
         f"tell me what i {past} {when}", f"what was it that i {past} {when}",
         f"{when}, what did i {base}", f"can you say what i {past} {when}",
         f"guess what i {past} {when}", f"what did i tell you that i {past} {when}"),
        (f"which thing did i {base} {when}", f"what have i told you i {past} {when}"),
        f"you {past} {_yours(v)} {you}", f"what you {past} {you}",
        f"I {past} {values[0]} {when}",
    )  # fmt: skip


def plan(rng: random.Random) -> Item:
    base, *values = rng.choice(ROWS["plan"])
    v = rng.choice(values)
    want = rng.choice(("want to", "want to", "plan to", "would like to"))
    do = "would i like to" if want.startswith("would") else f"do i {want}"
    return Item(
        f"plan: {base}", v,
        (f"i {want} {base} {v}", f"one day i {want} {base} {v}", f"i {want} {base} {v} this year",
         f"my plan is to {base} {v}", f"i am going to {base} {v}"),
        (f"what {do} {base}", f"do you know what i {want} {base}",
         f"do you remember what i {want} {base}", f"what did i say i {want} {base}",
         f"tell me what i {want} {base}", f"what am i going to {base}",
         f"what was it that i {want} {base}", f"what is it i {want} {base}",
         f"guess what i {want} {base}", f"what did i plan to {base}"),
        (f"what have i planned to {base}", f"what did i tell you that i hope to {base}"),
        f"you want to {base} {_yours(v)}", f"what you want to {base}",
        f"I want to {base} {values[0]}",
    )  # fmt: skip


def event(rng: random.Random) -> Item:
    noun, v = rng.choice(LISTS["event"]), rng.choice(LISTS["when"])
    return Item(
        f"event: {noun}", v,
        (f"my {noun} is {v}", f"i have my {noun} {v}", f"{v} is my {noun}",
         f"my {noun} will be {v}"),
        (f"when is my {noun}", f"do you know when my {noun} is", f"when do i have my {noun}",
         f"do you remember when my {noun} is", f"when did i say my {noun} is", f"my {noun}, when",
         f"tell me when my {noun} is", f"what time is my {noun}", f"when will my {noun} be",
         f"on which day is my {noun}", f"i forgot when my {noun} is"),
        (f"when does my {noun} take place", f"for when have i planned my {noun}"),
        f"your {noun} is {v}", f"when your {noun} is", f"My {noun} is on Friday",
    )  # fmt: skip


NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
           "twelve", "thirteen", "twenty", "thirty", "4", "6", "12", "15", "25", "40")  # fmt: skip


def count(rng: random.Random) -> Item:
    noun, v = rng.choice(LISTS["count"]), rng.choice(NUMBERS)
    return Item(
        f"count: {noun}", v,
        (f"i have {v} {noun}", f"i've got {v} {noun}", f"i own {v} {noun}")
        [: 2 if noun in ("sisters", "brothers", "children", "cousins", "friends", "neighbours",
                         "uncles") else 3],
        (f"how many {noun} do i have", f"how many {noun} have i got",
         f"do you know how many {noun} i have", f"tell me how many {noun} i have",
         f"do you remember how many {noun} i have", f"how many {noun} did i say i have",
         f"what is the number of my {noun}", f"my {noun}, how many",
         f"guess how many {noun} i have",
         f"can you tell how many {noun} i have"),
        (f"how large is the number of my {noun}", f"count my {noun}"),
        f"you have {v} {noun}", f"how many {noun} you have", f"I have three {noun}",
    )  # fmt: skip


def colour(rng: random.Random) -> Item:
    noun, v = rng.choice(LISTS["coloured"]), rng.choice(subjects.COLOURS)
    return Item(
        f"colour: {noun}", v,
        (f"my {noun} is {v}", f"the colour of my {noun} is {v}", f"i have {v} hair"
         if noun == "hair" else f"i have {with_article(v)} {noun}"),
        (f"what colour is my {noun}", f"which colour is my {noun}", f"what color is my {noun}",
         f"which colour does my {noun} have", f"what is the colour of my {noun}",
         f"do you know what colour my {noun} is", f"what colour did i say my {noun} is",
         f"do you remember the colour of my {noun}", f"guess the colour of my {noun}",
         f"tell me the color of my {noun}", f"is my {noun} red or blue or what"),
        (f"of what colour is my {noun}", f"say in which colour my {noun} is"),
        f"your {noun} is {v}", f"what colour your {noun} is", f"My {noun} is blue",
    )  # fmt: skip


SOME = ("friend", "sister", "brother", "aunt", "uncle", "cousin", "neighbour", "colleague",
        "roommate", "nephew", "niece", "pen friend")  # fmt: skip


def about(rng: random.Random) -> Item:
    who, v = rng.choice(LISTS["person"]), rng.choice(LISTS["clause"])
    return Item(
        f"about: {who}", v,
        (f"my {who} {v}", f"you know, my {who} {v}",
         f"{f'i have {with_article(who)} who' if who in SOME else f'my {who}'} {v}"),
        (f"what did i say about my {who}", f"what do you know about my {who}",
         f"what did i tell you about my {who}", f"do you remember what i said about my {who}",
         f"tell me [something|what you know] about my {who}", f"do you know my {who}",
         f"what have i told you about my {who}", f"do you know anything about my {who}",
         f"what was it i said about my {who}", f"say something about my {who}"),
        (f"which thing did i mention about my {who}", f"and what of my {who}, what did i say"),
        f"your {who} {v}", f"anything about your {who}", f"My {who} likes tea",
    )  # fmt: skip


def home_of(rng: random.Random) -> Item:
    who, v = rng.choice(LISTS["person"]), rng.choice(subjects.CITIES)
    return Item(
        f"home of: {who}", v,
        (f"my {who} lives in {v}", f"my {who}'s home is in {v}", f"my {who} lives in {v} now"),
        (f"where does my {who} live", f"in which [city|town] does my {who} live",
         f"do you know where my {who} lives", f"where did i say my {who} lives",
         f"do you remember where my {who} lives", f"tell me where my {who} lives",
         f"which city is my {who} in", f"guess where my {who} lives"),
        (f"where is the home of my {who}", f"in what place can i visit my {who}"),
        f"your {who} lives in {v}", f"where your {who} lives", f"My {who} lives in Oslo",
    )  # fmt: skip


def job_of(rng: random.Random) -> Item:
    who, v = rng.choice(LISTS["person"]), rng.choice(personal.JOBS)
    while who in ("teacher", "boss", "doctor", "dentist", "coach", "landlord", "piano teacher",
                  "colleague"):  # fmt: skip
        who = rng.choice(LISTS["person"])
    a = with_article(v)
    return Item(
        f"job of: {who}", v,
        (f"my {who} is {a}", f"my {who} works as {a}", f"my {who}'s job is {a}"),
        (f"what is my {who}'s job", f"what does my {who} do for a living",
         f"what does my {who} work as", f"what did i say my {who}'s job is",
         f"do you know what my {who} does", f"do you remember my {who}'s job",
         f"which job does my {who} have", f"what is my {who} by profession"),
        (f"how does my {who} earn money", f"what work does my {who} do"),
        f"your {who} is {a}", f"your {who}'s job", f"My {who} is a nurse",
    )  # fmt: skip


def age_of(rng: random.Random) -> Item:
    who = rng.choice([*LISTS["person"], "dog", "cat", "horse", "house", "car"])
    v = str(rng.randrange(18, 80) if who in LISTS["person"] else rng.randrange(2, 15))
    return Item(
        f"age of: {who}", v,
        (f"my {who} is {v} years old", f"my {who} is {v}",
         f"my {who} turned {v} [yesterday|in May]"),
        (f"how old is my {who}", f"what is the age of my {who}", f"do you know how old my {who} is",
         f"how old did i say my {who} is", f"do you remember how old my {who} is",
         f"tell me how old my {who} is", f"guess how old my {who} is"),
        (f"what age has my {who}", f"how many years old is my {who}"),
        f"your {who} is {v} years old", f"how old your {who} is",
        f"My {who} is {'30' if who in LISTS['person'] else 'ten'} years old",
    )  # fmt: skip


def gift(rng: random.Random) -> Item:
    v, who = rng.choice(subjects.OBJECTS), rng.choice(LISTS["person"])
    return Item(
        f"gift: {who}", v,
        (f"my {who} gave me {with_article(v)}", f"i got {with_article(v)} from my {who}",
         f"my {who} gave me {with_article(v)} for my birthday"),
        (f"what did my {who} give me", f"what did i get from my {who}",
         f"do you know what my {who} gave me", f"do you remember what my {who} gave me",
         f"what did i say my {who} gave me", f"tell me what my {who} gave me"),
        (f"which present did my {who} give me", f"what was the gift of my {who}"),
        f"your {who} gave you {with_article(v)}", f"what your {who} gave you",
        f"My {who} gave me a book",
    )  # fmt: skip


WORDS = {"word": "lamp", "number": "7", "code": "1234", "secret word": "apple", "letter": "B",
         "magic word": "moon", "door code": "555", "safe word": "banana"}  # fmt: skip


def kept_word(rng: random.Random) -> Item:
    noun = rng.choice(tuple(WORDS))
    letters, any_word = "ABCDEFGHKLMNPRSTUVWXYZ", rng.choice(subjects.OBJECTS)
    v = {
        "number": str(rng.randrange(2, 1000)), "code": str(rng.randrange(1000, 10000)),
        "letter": rng.choice(letters), "door code": str(rng.randrange(100, 1000)),
    }.get(noun, subjects.made_up(rng) if rng.random() < 0.5 else any_word)  # fmt: skip
    return Item(
        f"word: {noun}", v,
        (f"remember the {noun} {v}", f"the {noun} is {v}", f"keep this {noun} in mind: {v}",
         f"please remember this {noun}: {v}", f"don't forget the {noun} {v}"),
        (f"what was the {noun}", f"which {noun} did i tell you", f"do you remember the {noun}",
         f"what {noun} did i say", f"tell me the {noun}", f"what is the {noun} again",
         f"do you know the {noun} i told you", f"which {noun} did i ask you to remember",
         f"repeat the {noun} i gave you", f"what was the {noun} i told you"),
        (f"the {noun} i mentioned, what was it", f"which {noun} should you keep in mind"),
        f"the {noun} is {v}", f"{with_article(noun)}", f"The {noun} is {WORDS[noun]}",
    )  # fmt: skip


# Extra asks for what `personal` has, and those kept back.
SELVES = {
    "name": (("what did i say my name was", "did i tell you my name", "you know my name?",
              "which name did i tell you", "how do i call myself", "what do people call me"),
             ("by what name do i go", "what did i tell you to call me")),
    "town": (("what city did i say i live in", "where do i have my home", "which place am i from",
              "in what town am i at home"),
             ("what place do i call home", "which city did i name as mine")),
    "colour": (("which colour is my favourite one", "what colour do i love",
                "which color did i say is my favorite", "my colour, what was it"),
               ("of all colours, which one is mine", "which colour did i say that i prefer")),
    "age": (("what did i say about my age", "did i tell you how old i am", "my age, please"),
            ("how many birthdays have i had", "what age did i name")),
    "food": (("which food did i say i like", "what do i love to eat", "my favourite dish?"),
             ("what food makes me happy", "which meal do i love most")),
    "number": (("can you repeat my number", "which number did i say is mine"),
               ("the number i like, what is it", "what number brings me luck")),
    "job": (("how do i earn my money", "what did i tell you about my work", "where's my work"),
            ("what kind of work do i do", "which profession did i name")),
    "birthday": (("on what date did i say i was born", "which day is my birthday"),
                 ("when do i blow out candles", "what date is my birthday on")),
}  # fmt: skip


ALIKE = {"pet": "named", "relative": "named", "number": "word"}


def oneself(rng: random.Random) -> Item:
    """What `personal` knows of: the name, the age, the town."""
    (fact,) = rng.choices(personal.FACTS, [fact.weight for fact in personal.FACTS])
    told = personal.Told(rng, fact, False)
    mine = fact.untold.replace("your ", "my ").replace("you ", "i ")
    more, kept = SELVES.get(fact.key, ((), (f"did i say {mine}, and what was it",)))
    v = told.v
    known = told.put(fact.known)
    return Item(
        f"{ALIKE.get(fact.key, 'self')}: {told.w or fact.key}", v,
        tuple(told.put(tell) for tell in fact.tells),
        tuple(told.put(ask) for ask in (*fact.asks, *more * 2)),
        tuple(told.put(ask) for ask in kept),
        known, told.put(fact.untold), told.put(fact.example),
    )  # fmt: skip


KINDS: dict[Callable[[random.Random], Item], float] = {
    favourite: 9, attribute: 9, named: 8, relative: 4, place: 9, deed: 8, plan: 5, event: 5,
    count: 5, colour: 4, about: 6, home_of: 3, job_of: 3, age_of: 3, gift: 3, kept_word: 4,
    oneself: 14,
}  # fmt: skip
REMARKS = (
    "Good to know! I will remember that {k}.",
    "Thank you for telling me that {k}.",
    "I see, {k}. What can I do for you?",
)
NO_QUESTION = ("tell", "say", "guess", "help", "i am looking", "repeat", "please s", "count")
GUESS = (
    "guess", "just guess", "but you must know", "try", "try anyway", "think harder", "come on",
    "make a guess", "you should know that", "then guess", "say anything", "please try", "why not",
)  # fmt: skip
CLAIM = (
    "are you sure", "really?", "but i told you", "i did tell you", "yes i have", "think again",
    "you forgot it?", "i told you before", "i have told you", "i said it yesterday", "look again",
    "you knew it before",
)  # fmt: skip
GUESS_KEPT, CLAIM_KEPT = ("take a wild guess", "have a go"), ("surely i told you", "yes i did")


def same(key: str, other: str) -> bool:
    """Whether one of them answers what is asked of the other."""
    (kind, noun), (kind_2, noun_2) = key.split(": "), other.split(": ")
    return key == other or ("about" in (kind, kind_2) and noun == noun_2)


def drawn(rng: random.Random, not_these: Sequence[str] = ()) -> Item:
    while True:
        (kind,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
        item = kind(rng)
        if not any(same(item.key, key) for key in not_these):
            return item


def neighbour(rng: random.Random, item: Item) -> Item:
    """Another thing of the same kind."""
    kinds = [kind for kind in KINDS if kind not in (oneself, relative)]
    for _ in range(60):
        other = rng.choice(kinds)(rng)
        alike = other.key.split(": ")[0] == item.key.split(": ")[0]
        if alike and not same(other.key, item.key):
            return other
    return drawn(rng, (item.key,))


def asking(rng: random.Random, item: Item, held_out: bool) -> str:
    ask = alternative(rng, rng.choice(item.reserved if held_out else item.asks))
    question = not ask.startswith(NO_QUESTION)
    if not held_out and not ask.startswith(("so ", "and ")) and rng.random() < 0.2:
        ask = rng.choice(("so ", "and ", "ok, ", "by the way, ", "hey, ", "now ", "hm, ")) + ask
    return written(rng, ask, question)


def telling(rng: random.Random, item: Item) -> list[str]:
    tell = alternative(rng, rng.choice(item.tells))
    text = written(rng, rng.choice(personal.SOFT) + tell)
    return [text, mostly_first(rng, REMARKS).replace("{k}", item.known)]


def between(rng: random.Random) -> list[str]:
    """A question about something else, and its answer."""
    way = rng.random()
    if way < 0.45:
        return [turn["content"] for turn in definitions.sample(rng, False)[:2]]
    if way < 0.7:
        return [turn["content"] for turn in arithmetic.sample(rng, False)[:2]]
    return list(unknown.question(rng))


def told(rng: random.Random, held_out: bool) -> Conversation:
    """Told among other things, and asked for later."""
    item = drawn(rng)
    if rng.random() < 0.08:
        ask = alternative(rng, rng.choice(item.reserved if held_out else item.asks))
        text = f"{alternative(rng, rng.choice(item.tells))}. {ask}"
        return chat(written(rng, text, True), item.answer)
    turns, keys = [], [item.key]
    parts = [telling(rng, item)]
    for _ in range(rng.choices((0, 1, 2), (4, 4, 2))[0]):
        other = neighbour(rng, item) if rng.random() < 0.5 else drawn(rng, keys)
        if not any(same(other.key, key) for key in keys):
            keys.append(other.key)
            parts.append(telling(rng, other))
    rng.shuffle(parts)
    parts += [between(rng) for _ in range(rng.choices((0, 1, 2, 3), (3, 4, 3, 2))[0])]
    for part in parts:
        turns += part
    turns += [asking(rng, item, held_out), item.answer]
    if rng.random() < 0.2 and not held_out:
        other = neighbour(rng, item)
        if not any(same(other.key, key) for key in keys):
            turns += [asking(rng, other, False), other.not_told]
    return chat(*turns)


def untold(rng: random.Random, held_out: bool) -> Conversation:
    """Asked without having been told, first of all or after other things were told."""
    item = drawn(rng)
    turns: list[str] = []
    if rng.random() < 0.6:
        parts: list[list[str]] = []
        if rng.random() < 0.7:
            parts.append(telling(rng, neighbour(rng, item)))
        if rng.random() < 0.4:
            parts.append(telling(rng, drawn(rng, (item.key,))))
        parts += [between(rng) for _ in range(rng.choices((0, 1, 2), (3, 4, 2))[0])]
        rng.shuffle(parts)
        for part in parts:
            turns += part
    turns += [asking(rng, item, held_out), item.not_told]
    way = rng.random()
    if way < 0.15:
        turns += doubted(rng, item, held_out)
    elif way < 0.4 and not held_out:
        turns += telling(rng, item)
        if rng.random() < 0.7:
            turns += [asking(rng, item, False), item.answer]
    return chat(*turns)


def doubted(rng: random.Random, item: Item, held_out: bool) -> list[str]:
    """The user wants a guess, or says that he told it; it stays untold."""
    if rng.random() < 0.5:
        doubt = rng.choice(GUESS_KEPT if held_out else GUESS)
        reply = "I cannot guess it, for I see only this conversation."
    else:
        doubt = rng.choice(CLAIM_KEPT if held_out else CLAIM)
        reply = "I am sorry, but it does not stand in this conversation."
    return [written(rng, doubt, doubt in ("are you sure", "why not")), f"{reply} {item.invited}"]


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """Half told, half not, in the same words."""
    return told(rng, held_out) if rng.random() < 0.5 else untold(rng, held_out)
