"""What somebody says of himself, and asks for later: name, age, town, work, pets, what he likes.

It teaches three rules on many names and words: what was told is copied from the conversation; what
was not told cannot be known; and "my" is never "your": "How old am I?" is about the user, "How old
are you?" about the model.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus import definitions, manners, subjects
from assets.demo.recipe.corpus.school import reserved
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    chatty,
    mostly_first,
    sentence,
    with_article,
)

JOBS = (
    "student", "teacher", "doctor", "nurse", "cook", "baker", "painter", "pilot", "farmer",
    "gardener", "driver", "engineer", "programmer", "designer", "lawyer", "librarian", "writer",
    "musician", "singer", "actor", "dentist", "vet", "carpenter", "plumber", "electrician",
    "waiter",
    "waitress", "hairdresser", "photographer", "journalist", "scientist", "mechanic", "cashier",
    "secretary", "manager", "translator", "tailor", "postman", "policeman", "firefighter", "sailor",
    "bus driver", "truck driver", "shop assistant", "web developer", "data scientist", "researcher",
    "architect", "accountant", "butcher", "fisherman", "florist", "barber", "builder", "cleaner",
    "coach", "dancer", "judge", "lifeguard", "miner", "optician", "pharmacist", "receptionist",
    "social worker", "taxi driver", "tour guide", "football player", "retired teacher",
    "bookseller",
)  # fmt: skip
HOBBIES = (
    "reading", "swimming", "running", "cooking", "baking", "dancing", "painting", "drawing",
    "singing", "hiking", "fishing", "gardening", "knitting", "sewing", "cycling", "climbing",
    "skiing", "sailing", "surfing", "skating", "camping", "chess", "photography", "pottery", "yoga",
    "writing", "gaming", "coding", "travelling", "football", "tennis", "basketball", "volleyball",
    "golf", "rowing", "riding", "archery", "astronomy", "bird watching", "card games",
    "board games",
    "video games", "playing the piano", "playing the guitar", "playing the violin",
    "collecting stamps", "collecting coins", "origami", "karate", "judo", "boxing", "juggling",
    "woodwork", "magic tricks", "puzzles", "crosswords", "playing chess", "walking", "jogging",
    "playing football", "watching films", "listening to music", "building robots",
)  # fmt: skip
PETS = (
    "dog", "cat", "rabbit", "hamster", "parrot", "horse", "goldfish", "turtle", "guinea pig",
    "mouse", "kitten", "puppy", "pony", "goat", "duck", "hedgehog", "lizard", "snake", "canary",
    "budgie", "donkey", "ferret", "frog", "pig", "rat", "chicken", "sheep", "tortoise",
)  # fmt: skip
PET_NAMES = (
    "Rex", "Bella", "Luna", "Max", "Coco", "Charlie", "Rocky", "Milo", "Buddy", "Daisy", "Lucky",
    "Oreo", "Simba", "Nala", "Molly", "Toby", "Biscuit", "Pepper", "Ginger", "Shadow", "Snowy",
    "Fluffy", "Spot", "Bruno", "Kiki", "Mimi", "Felix", "Tiger", "Honey", "Peanut", "Pickle",
    "Waffles", "Muffin", "Cookie", "Misty", "Smokey", "Bubbles", "Nemo", "Pablo", "Ziggy", "Bonnie",
    "Clyde", "Pumpkin", "Mocha", "Hazel", "Maple", "Otis", "Poppy", "Rusty", "Sunny", "Tilly",
    "Willow", "Winnie", "Zorro", "Balu", "Fritz", "Momo", "Socks", "Patch", "Bandit",
)  # fmt: skip
FOODS = (
    "pizza", "pasta", "soup", "rice", "bread", "cheese", "chocolate", "ice cream", "cake", "salad",
    "fish", "chicken", "sushi", "tacos", "curry", "pancakes", "waffles", "eggs", "noodles",
    "potatoes", "burgers", "lasagna", "dumplings", "apples", "bananas", "strawberries", "mangoes",
    "cherries", "grapes", "oranges", "tomatoes", "carrots", "mushrooms", "popcorn", "pie",
    "cookies",
    "honey", "yogurt", "porridge", "beans", "toast", "sandwiches", "sausages", "peanut butter",
    "spaghetti", "risotto", "ramen", "couscous", "falafel", "goulash", "paella", "french fries",
)  # fmt: skip
DRINKS = (
    "tea", "coffee", "water", "milk", "orange juice", "apple juice", "lemonade", "hot chocolate",
    "green tea", "iced tea", "tomato juice", "mint tea", "cocoa", "black coffee", "ginger ale",
)  # fmt: skip
SPORTS = (
    "football", "tennis", "basketball", "swimming", "running", "volleyball", "hockey", "golf",
    "cricket", "rugby", "baseball", "handball", "skiing", "cycling", "judo", "boxing", "badminton",
    "table tennis", "rowing", "climbing", "gymnastics", "surfing", "fencing", "karate",
)  # fmt: skip
SCHOOL = (
    "maths", "history", "art", "music", "biology", "physics", "chemistry", "geography", "English",
    "French", "Spanish", "Latin", "sport", "science", "drama", "computer science",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
SEASONS = ("spring", "summer", "autumn", "winter")
TONGUES = (
    "Spanish", "German", "French", "Italian", "Polish", "Portuguese", "Dutch", "Swedish", "Danish",
    "Norwegian", "Finnish", "Greek", "Turkish", "Arabic", "Hindi", "Chinese", "Japanese", "Korean",
    "Russian", "Czech", "Hungarian", "Romanian", "Urdu", "Bengali", "Vietnamese", "Thai", "Swahili",
)  # fmt: skip
ANIMALS = (
    "dog", "cat", "horse", "elephant", "tiger", "lion", "panda", "dolphin", "owl", "fox", "wolf",
    "bear", "penguin", "giraffe", "rabbit", "monkey", "koala", "otter", "whale", "eagle", "turtle",
    "zebra", "squirrel", "hedgehog", "octopus", "deer", "frog", "butterfly",
)  # fmt: skip


def _name(rng: random.Random) -> str:
    return rng.choice(subjects.FIRST_NAMES) if rng.random() < 0.6 else subjects.rare_name(rng)


SHE = ("sister", "mother", "daughter", "wife", "aunt", "grandmother", "mom", "girlfriend")
HE = ("brother", "father", "son", "husband", "uncle", "grandfather", "dad", "boyfriend")
ANYBODY = ("best friend", "teacher", "boss", "neighbour", "cousin", "friend", "doctor", "baby")


def _relative(rng: random.Random) -> tuple[str, str]:
    who, names = rng.choice(
        ((SHE, subjects.WOMEN), (HE, subjects.MEN), (ANYBODY, subjects.FIRST_NAMES))
    )
    return rng.choice(names) if rng.random() < 0.8 else subjects.rare_name(rng), rng.choice(who)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something about the user. Forms have `{v}` for it, `{w}` for a second word, `{av}` for it
    with its article; `known` follows "so far I know that"."""

    key: str
    draw: Callable[[random.Random], tuple[str, str]]
    tells: tuple[str, ...]
    remark: tuple[str, ...]
    asks: tuple[str, ...]
    answer: str
    known: str
    untold: str  # what cannot be known
    example: str  # how it could be told
    yours: tuple[str, ...] = ()  # the same question about the model
    topic: str = ""  # the topic of `manners` that answers it
    weight: float = 1


def _one(words: tuple[str, ...]) -> Callable[[random.Random], tuple[str, str]]:
    return lambda rng: (rng.choice(words), "")


FACTS = (
    Fact(
        "name", lambda rng: (_name(rng), ""),
        ("my name is {v}", "i am {v}", "i'm {v}", "call me {v}", "you can call me {v}",
         "people call me {v}", "i am called {v}", "the name is {v}", "my friends call me {v}",
         "my first name is {v}", "please call me {v}", "my name's {v}"),
        ("Nice to meet you, {v}!", "It is nice to meet you, {v}!"),
        ("what is my name", "what's my name", "whats my name", "do you know my name",
         "[do you|can you] [still |]remember my name", "who am i", "say my name", "tell me my name",
         "what am i called", "how am i called", "what was my name[ again|]", "my name?",
         "do you [still |]know who i am", "can you tell me my name", "and what is my name",
         "[have you forgotten|did you forget] my name", "what did i say my name was",
         "so what's my name", "what name did i give you", "do u know my name"),
        "Your name is {v}.", "your name is {v}", "your name", "My name is Anna",
        ("what is your name", "what's your name", "whats your name", "do you have a name",
         "tell me your name", "what are you called", "and your name", "what should i call you"),
        "name", 5,
    ),
    Fact(
        "age", lambda rng: (str(rng.randrange(6, 90)), ""),
        ("i am {v} years old", "i'm {v}", "i am {v}", "my age is {v}", "i'm {v} years old",
         "i turned {v} this year", "i just turned {v}", "im {v}", "i am {v} now"),
        ("{v} is a good age!", "So you are {v}, a good age!"),
        ("how old am i", "what is my age", "whats my age", "do you know how old i am",
         "do you know my age", "how old am i now", "tell me my age", "[can you |]guess my age",
         "how many years old am i", "what age am i", "how old do you think i am", "my age?",
         "can you tell how old i am", "do you remember how old i am", "say how old i am",
         "how old did i say i am", "and how old am i"),
        "You are {v} years old.", "you are {v} years old", "how old you are",
        "I am 30 years old",
        ("how old are you", "what is your age", "whats your age", "do you have an age",
         "tell me your age", "when were you made", "and how old are you", "how old r u"),
        "age", 5,
    ),
    Fact(
        "town", lambda rng: (rng.choice(subjects.CITIES), ""),
        ("i live in {v}", "i am from {v}", "my home is in {v}", "i come from {v}",
         "i'm from {v}", "i live and work in {v}", "i moved to {v}", "my home town is {v}",
         "i am in {v}", "i have lived in {v} for years"),
        ("{v} sounds nice!", "I would like to see {v} one day!"),
        ("where do i live", "where am i from", "which city do i live in", "what city am i in",
         "do you know where i live", "in which city do i live", "where is my home",
         "what is my home town", "tell me where i live", "do you remember where i live",
         "where did i say i live", "can you say where i live", "where am i", "and where do i live",
         "which town am i from", "guess where i live"),
        "You live in {v}.", "you live in {v}", "where you live", "I live in Oslo",
        ("where do you live", "where are you from", "where are you", "where is your home",
         "and where do you live", "where do you come from"),
        "where are you from", 4,
    ),
    Fact(
        "country", lambda rng: (rng.choice(subjects.COUNTRIES), ""),
        ("i come from {v}", "i was born in {v}", "i grew up in {v}", "my family is from {v}"),
        ("{v} is a country that I would like to see!", "{v} sounds interesting!"),
        ("which country am i from", "what country do i come from", "what is my country",
         "do you know which country i am from", "in which country was i born",
         "where was i born", "tell me which country i come from"),
        "You come from {v}.", "you come from {v}", "which country you come from",
        "I come from Italy", (), "", 1.5,
    ),
    Fact(
        "job", _one(JOBS),
        ("i am {av}", "i work as {av}", "i'm {av}", "my job is {av}", "i am {av} by profession",
         "i have been {av} for years", "i earn my money as {av}"),
        ("{Av} has interesting work!", "That is good work!"),
        ("what is my job", "what do i do for a living", "what do i work as", "whats my job",
         "do you know my job", "what am i by profession", "do you remember my job",
         "what is my work", "what did i say my job was", "tell me what my job is", "what do i do",
         "guess my job"),
        "You are {av}.", "you are {av}", "your job", "I am a teacher",
        ("what is your job", "do you have a job", "whats your job", "what do you do all day",
         "and what is your job"),
        "hobby", 3,
    ),
    Fact(
        "hobby", _one(HOBBIES),
        ("my hobby is {v}", "i like {v}", "i love {v}", "my favourite hobby is {v}",
         "in my free time i enjoy {v}", "i enjoy {v}", "my biggest hobby is {v}"),
        ("{V} is a fine hobby!", "{V} sounds like fun!"),
        ("what is my hobby", "what do i like to do", "whats my hobby", "do you know my hobby",
         "what do i do in my free time", "which hobby do i have", "do you remember my hobby",
         "what do i do for fun", "what is my favourite hobby", "tell me my hobby"),
        "Your hobby is {v}.", "your hobby is {v}", "your hobby", "My hobby is swimming",
        ("what is your hobby", "do you have a hobby", "what are your hobbies",
         "what do you do for fun", "and what is your hobby"),
        "hobby", 2,
    ),
    Fact(
        "pet", lambda rng: (rng.choice(PET_NAMES), rng.choice(PETS)),
        ("my {w} is called {v}", "i have {aw} called {v}", "i have {aw} named {v}",
         "my {w}'s name is {v}", "i have {aw} and its name is {v}", "we have {aw} called {v}",
         "the name of my {w} is {v}", "my {w} {v} is sitting next to me"),
        ("{v} is a good name for {aw}!", "Say hello to {v} from me!"),
        ("what is my {w} called", "what is the name of my {w}", "what is my {w}'s name",
         "whats my {w}s name", "do you know the name of my {w}", "how is my {w} called",
         "do you remember my {w}'s name", "what did i call my {w}", "tell me my {w}'s name",
         "which name does my {w} have"),
        "Your {w} is called {v}.", "your {w} is called {v}", "what your {w} is called",
        "My {w} is called Bello", ("do you have a pet", "do you have a {w}", "have you got a pet"),
        "favourite animal", 3,
    ),
    Fact(
        "colour", _one(subjects.COLOURS),
        ("my favourite colour is {v}", "my favorite color is {v}", "i like {v} best",
         "{v} is my favourite colour", "the colour i love most is {v}"),
        ("{V} is a beautiful colour!", "{V} is a good choice!"),
        ("what is my favourite colour", "what is my favorite color", "whats my favorite color",
         "which colour do i like best", "do you know my favourite colour", "which colour do i like",
         "do you remember my favourite colour", "what colour do i love most",
         "guess my favourite colour", "tell me my favorite color"),
        "Your favourite colour is {v}.", "your favourite colour is {v}", "your favourite colour",
        "My favourite colour is blue",
        ("what is your favourite colour", "whats your favorite color", "and your favourite colour",
         "which colour do you like best", "do you have a favourite colour"),
        "favourite colour", 2,
    ),
    Fact(
        "food", _one(FOODS),
        ("my favourite food is {v}", "i like to eat {v}", "i love eating {v}",
         "my favorite food is {v}",
         "i could eat {v} every day", "what i like to eat most is {v}"),
        ("{V} must be delicious!", "Good to know that you like {v}!"),
        ("what is my favourite food", "what do i like to eat", "whats my favorite food",
         "do you know what i like to eat", "which food do i like best", "what food do i love",
         "do you remember my favourite food", "guess my favourite food",
         "tell me my favourite food"),
        "Your favourite food is {v}.", "your favourite food is {v}", "your favourite food",
        "My favourite food is pizza",
        ("what is your favourite food", "what do you like to eat", "whats your favorite food",
         "and your favourite food"),
        "favourite food", 2,
    ),
    Fact(
        "drink", _one(DRINKS),
        ("my favourite drink is {v}", "i like to drink {v}", "i drink {v} every morning"),
        ("{V} is a good drink!", "A cup of {v} would be nice now!"),
        ("what is my favourite drink", "what do i like to drink", "what do i drink",
         "do you know what i like to drink", "which drink do i like", "whats my favorite drink"),
        "Your favourite drink is {v}.", "your favourite drink is {v}", "your favourite drink",
        "My favourite drink is tea",
    ),
    Fact(
        "sport", _one(SPORTS),
        ("my favourite sport is {v}", "the sport i do is {v}", "my sport is {v}",
         "the sport i like best is {v}"),
        ("{V} is a great sport!", "{V} keeps you fit!"),
        ("what is my favourite sport", "which sport do i do", "what sport do i like",
         "do you know my favourite sport", "whats my sport", "which sport did i say i like"),
        "Your sport is {v}.", "your sport is {v}", "your sport", "My favourite sport is tennis",
    ),
    Fact(
        "subject", _one(SCHOOL),
        ("my favourite subject is {v}", "the subject i like best is {v}",
         "at school i like {v} best", "my best subject is {v}"),
        ("{V} is an interesting subject!", "{V} is a good subject!"),
        ("what is my favourite subject", "which subject do i like best", "what is my best subject",
         "do you know my favourite subject", "whats my favorite subject at school"),
        "Your favourite subject is {v}.", "your favourite subject is {v}",
        "your favourite subject", "My favourite subject is art",
    ),
    Fact(
        "animal", _one(ANIMALS),
        ("my favourite animal is the {v}", "my favorite animal is the {v}",
         "the animal i like best is the {v}", "my favourite animal is {av}"),
        ("The {v} is a wonderful animal!", "I know stories about {av}!"),
        ("what is my favourite animal", "which animal do i like best", "whats my favorite animal",
         "do you know my favourite animal", "do you remember which animal i like"),
        "Your favourite animal is the {v}.", "your favourite animal is the {v}",
        "your favourite animal", "My favourite animal is the fox",
        ("what is your favourite animal", "whats your favorite animal", "and your favourite animal",
         "which animal do you like best"),
        "favourite animal", 1.5,
    ),
    Fact(
        "season", _one(SEASONS),
        ("my favourite season is {v}", "i like {v} best of all seasons",
         "{v} is my favourite season"),
        ("{V} is a lovely time!", "Many people like {v}!"),
        ("what is my favourite season", "which season do i like best", "whats my favorite season",
         "do you remember my favourite season"),
        "Your favourite season is {v}.", "your favourite season is {v}", "your favourite season",
        "My favourite season is spring",
    ),
    Fact(
        "birthday", lambda rng: (f"{rng.choice(MONTHS)} {rng.randint(1, 28)}", ""),
        ("my birthday is on {v}", "i was born on {v}", "my birthday is {v}",
         "i have my birthday on {v}"),
        ("{v} is a good day for a cake!", "Then I wish you a happy {v}!"),
        ("when is my birthday", "when was i born", "do you know my birthday", "whats my birthday",
         "what day is my birthday", "on which day was i born", "do you remember my birthday",
         "tell me when my birthday is", "when do i have my birthday"),
        "Your birthday is on {v}.", "your birthday is on {v}", "when your birthday is",
        "My birthday is on May 4",
        ("when is your birthday", "when were you born", "do you have a birthday"),
        "age", 2,
    ),
    Fact(
        "tongue", _one(TONGUES),
        ("my first language is {v}", "i speak {v} at home", "my mother tongue is {v}"),
        ("{V} is a beautiful language, but I know only English!",
         "I know only English, so I admire that!"),
        ("what is my first language", "which language do i speak at home",
         "what is my mother tongue", "what language do i speak"),
        "Your first language is {v}.", "your first language is {v}", "your first language",
        "My first language is Spanish",
        ("which languages do you speak", "what language do you speak", "what is your language"),
        "languages", 1.5,
    ),
    Fact(
        "relative", _relative,
        ("my {w} is called {v}", "my {w}'s name is {v}", "the name of my {w} is {v}",
         "i have {aw} called {v}"),
        ("Say hello to {v} from me!", "{v} is a nice name!"),
        ("what is my {w} called", "what is my {w}'s name", "what is the name of my {w}",
         "whats my {w}s name", "do you know my {w}'s name", "do you remember my {w}'s name",
         "tell me the name of my {w}", "how is my {w} called"),
        "Your {w} is called {v}.", "your {w} is called {v}", "what your {w} is called",
        "My {w} is called Kim", (), "", 2.5,
    ),
    Fact(
        "number", lambda rng: (str(rng.randrange(2, 100)), ""),
        ("my lucky number is {v}", "my favourite number is {v}", "{v} is my lucky number"),
        ("{v} is a good number!", "I will keep the number {v} in mind!"),
        ("what is my lucky number", "what is my favourite number", "whats my number",
         "which number is my lucky number", "do you remember my number"),
        "Your lucky number is {v}.", "your lucky number is {v}", "your lucky number",
        "My lucky number is 7",
        ("what is your lucky number", "what is your favourite number", "and your favourite number"),
        "favourite number", 1,
    ),
)  # fmt: skip
AFTER = (
    "What can I do for you?", "I will remember it in this conversation.",
    "What would you like to do?", "Thank you for telling me.",
)  # fmt: skip
ABOUT_ME = (
    "what do you know about me", "what did i tell you[ about me|]",
    "tell me what you know about me",
    "do you know anything about me", "what have i told you[ so far|]", "do you remember me",
    "what do you remember about me", "describe me", "say something about me", "sum up what i said",
)  # fmt: skip
SOFT = (
    "", "", "", "", "hi, ", "hello, ", "hey ", "hi! ", "hello! ", "good morning, ", "by the way, ",
    "hi there, ", "ok, ", "well, ", "just so you know, ", "good evening, ",
)  # fmt: skip
ASKED_SOFT = ("", "", "", "", "", "so ", "ok, ", "and ", "hey, ", "now ", "quick question: ",
              "test: ", "hm, ", "tell me, ")  # fmt: skip
CORRECTED = ("no, {t}", "sorry, {t}", "actually {t}", "i made a mistake, {t}", "wrong, {t}")
MORE_SELVES = (
    ("last name", "surname", "family name"), ("street",), ("shoe size",),
    ("height",), ("weight",), ("email address", "email"),
    ("eye colour", "eye color"), ("hair colour", "hair color"), ("nickname",), ("star sign",),
    ("blood type",), ("favourite song", "favorite song"), ("favourite film", "favorite movie"),
    ("favourite book", "favorite book"), ("car",), ("school",),
    ("salary",), ("dream job",), ("middle name",), ("favourite band", "favorite band"),
    ("favourite game", "favorite game"), ("username",),
)  # fmt: skip
MORE_ASKS = (
    "what is my {x}", "whats my {x}", "do you know my {x}", "tell me my {x}",
    "can you guess my {x}",
    "do you know what my {x} is", "my {x}?", "and what is my {x}", "do you remember my {x}",
    "can you tell me my {x}",
)  # fmt: skip


class Told:
    """A fact with its value."""

    def __init__(self, rng: random.Random, fact: Fact, held_out: bool) -> None:
        self.rng, self.fact = rng, fact
        for _ in range(40):  # short lists may hold none that is kept back
            self.v, self.w = fact.draw(rng)
            if reserved(self.v) == held_out:
                break

    def put(self, form: str) -> str:
        text = alternative(self.rng, form)
        text = text.replace("{aw}", with_article(self.w) if self.w else "").replace("{w}", self.w)
        text = text.replace("{av}", with_article(self.v)).replace("{v}", self.v)
        return text.replace("{V}", sentence(self.v)).replace("{Av}", sentence(with_article(self.v)))


def written(rng: random.Random, text: str, question: bool = False) -> str:
    """`text`, all small letters but for names, as somebody may have typed it."""
    way = rng.random()
    stop = "?" if question else rng.choice((".", ".", ".", "!"))
    if text[-1] in "?!.":
        stop = ""
    if way < 0.42:
        words = text.replace(" i ", " I ").replace(" i'm ", " I'm ")
        return sentence(words) + stop
    if way < 0.6:
        return text + (stop if rng.random() < 0.4 else "")
    if way < 0.75:
        return chatty(rng, text)
    if way < 0.9:
        return sentence(text)
    return text.lower()


@cache
def _mine() -> dict[str, str]:
    return {topic.name: topic.answers[0] for topic in manners.TOPICS}


def _weighed(rng: random.Random, many: int) -> list[Fact]:
    found: list[Fact] = []
    while len(found) < many:
        (fact,) = rng.choices(FACTS, [fact.weight for fact in FACTS])
        if fact not in found:
            found.append(fact)
    return found


def asking(rng: random.Random, told: Told) -> str:
    ask = told.put(rng.choice(told.fact.asks))
    soft = rng.choice(ASKED_SOFT)
    if (soft, ask[:4]) == ("tell me, ", "tell") or (soft, ask[:3]) == ("and ", "and"):
        soft = ""
    return written(rng, soft + ask, not ask.startswith(("tell", "say", "guess")))


def not_told(told: Told) -> str:
    """What is said of a fact that was not told."""
    fact = told.fact
    return told.put(
        f"You have not told me {fact.untold} yet. "
        f'Say "{fact.example}", and I will remember it in this conversation.'
    )


def of_itself(rng: random.Random, fact: Fact) -> tuple[str, str]:
    question = rng.choice([form for form in fact.yours if "{w}" not in form])
    return written(rng, question, True), _mine()[fact.topic]


def telling(rng: random.Random, tolds: list[Told]) -> tuple[str, str]:
    """Some facts at once, and what is said to them."""
    tells = [told.put(rng.choice(told.fact.tells)) for told in tolds]
    joint = rng.choice((" and ", ", ", ". ", " and "))
    text = joint.join(tells) if len(tells) < 3 else f"{tells[0]}, {tells[1]} and {tells[2]}"
    text = written(rng, rng.choice(SOFT) + text)
    remarks = [told.put(mostly_first(rng, told.fact.remark)) for told in tolds[:2]]
    return text, f"{' '.join(remarks)} {mostly_first(rng, AFTER)}"


def all_known(tolds: list[Told]) -> str:
    """All that was told, in a sentence."""
    parts = [told.put(told.fact.known) for told in tolds]
    text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{sentence(text)}. That is what you have told me."


def told_and_asked(rng: random.Random, held_out: bool) -> Conversation:
    many = rng.choices((1, 2, 3), (5, 4, 2))[0]
    tolds = [Told(rng, fact, held_out) for fact in _weighed(rng, many)]
    turns: list[str] = []
    if many > 1 and rng.random() < 0.5:
        turns += telling(rng, tolds)
    else:
        for told in tolds:
            turns += telling(rng, [told])
    if rng.random() < 0.12:
        at = rng.randrange(len(tolds))
        if tolds[at].fact.key in ("name", "age", "town", "colour", "pet", "birthday"):
            other = Told(rng, tolds[at].fact, held_out)
            other.w = tolds[at].w
            tolds[at] = other
            tell = other.put(rng.choice(other.fact.tells[:2]))
            turns.append(written(rng, rng.choice(CORRECTED).replace("{t}", tell)))
            turns.append(f"Thank you, now I know it better. {other.put(other.fact.answer)}")
    if rng.random() < 0.3:
        turns += [turn["content"] for turn in definitions.sample(rng, held_out)[:2]]
    way = rng.random()
    if way < 0.12:
        turns += [written(rng, alternative(rng, rng.choice(ABOUT_ME)), True), all_known(tolds)]
        return chat(*turns)
    for told in rng.sample(tolds, rng.randint(1, len(tolds))):
        turns += [asking(rng, told), told.put(told.fact.answer)]
    way = rng.random()
    if way < 0.25:
        keys = [told.fact.key for told in tolds]
        others = [f for f in _weighed(rng, 6) if f.key not in keys and "{w}" not in f.untold]
        near = {"town", "country"}
        others = [f for f in others if not (f.key in near and near & set(keys))]
        if others:
            other = Told(rng, others[0], held_out)
            turns += [asking(rng, other), not_told(other)]
    elif way < 0.4 and tolds[0].fact.topic:
        turns += of_itself(rng, tolds[0].fact)
    return chat(*turns)


def at_once(rng: random.Random, held_out: bool) -> Conversation:
    """Told and asked in one message."""
    told = Told(rng, _weighed(rng, 1)[0], held_out)
    tell, ask = told.put(rng.choice(told.fact.tells)), told.put(rng.choice(told.fact.asks[:5]))
    text = f"{rng.choice(SOFT)}{tell}{rng.choice((', ', '. ', '. so ', ' - '))}{ask}"
    return chat(written(rng, text, True), told.put(told.fact.answer))


def untold(rng: random.Random, held_out: bool) -> Conversation:
    """Asked without having been told; often the same question about the model before or after."""
    told = Told(rng, _weighed(rng, 1)[0], held_out)
    turns = [asking(rng, told), not_told(told)]
    way = rng.random()
    if way < 0.35 and told.fact.topic:
        own = of_itself(rng, told.fact)
        turns = [*turns, *own] if rng.random() < 0.6 else [*own, *turns]
    elif way < 0.6:
        turns += telling(rng, [told])
        if rng.random() < 0.7:
            turns += [asking(rng, told), told.put(told.fact.answer)]
    return chat(*turns)


def mine_or_yours(rng: random.Random, held_out: bool) -> Conversation:
    """One question, about the user or about the model."""
    fact = rng.choice([fact for fact in FACTS if fact.topic])
    if rng.random() < 0.5:
        return chat(*of_itself(rng, fact))
    told = Told(rng, fact, held_out)
    return chat(asking(rng, told), not_told(told))


def more_untold(rng: random.Random, held_out: bool) -> Conversation:
    """Other things that nobody tells a model."""
    names = rng.choice(MORE_SELVES)
    x = rng.choice(names)
    question = rng.choice(MORE_ASKS).format(x=x)
    return chat(
        written(rng, question, True),
        f"You have not told me your {x} yet, and I see only what you type here.",
    )  # fmt: skip


def years_later(rng: random.Random, held_out: bool) -> Conversation:
    """An age some years from now or ago."""
    age, years = rng.randrange(6, 80), rng.choice((1, 1, 1, 2, 3, 5, 10))
    later = rng.random() < 0.65
    if not later:
        age, years = max(age, 12), min(years, 5)
    tell = rng.choice((f"i am {age}", f"i'm {age}", f"i am {age} years old", f"im {age}"))
    when = (
        rng.choice(("next year", "in one year", "in a year"))
        if later and years == 1
        else f"in {years} years"
        if later
        else rng.choice(("last year", "one year ago", "a year ago"))
        if years == 1
        else f"{years} years ago"
    )
    ask = f"how old {'will i be' if later else 'was i'} {when}"
    told = age + years if later else age - years
    sign = "+" if later else "-"
    verb = "will be" if later else "were"
    answer = f"{age} {sign} {years} = {told}, so you {verb} {told} years old {when}."
    if rng.random() < 0.35:
        told_first = f"{age} is a good age! {mostly_first(rng, AFTER)}"
        return chat(written(rng, tell), told_first, written(rng, ask, True), answer)
    if rng.random() < 0.3:
        text = f"{ask} if i am {age} now"
    else:
        text = f"{tell}{rng.choice(('. ', ', '))}{ask}"
    return chat(written(rng, text, True), answer)


KINDS = {
    told_and_asked: 9, untold: 6, mine_or_yours: 5, at_once: 2.5, more_untold: 2, years_later: 1,
}  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    # What the user tells is what is kept back: the questions alone are too few.
    kinds = {kind: KINDS[kind] for kind in (told_and_asked, at_once)} if held_out else KINDS
    (kind,) = rng.choices(tuple(kinds), tuple(kinds.values()))
    return kind(rng, held_out)
