"""Conversations in which a later question can be understood only by an earlier one: "And of
Spain?", "which of them is faster?", "another one", "shorter please", "what is my name?".

What is asked first is a question of another source, kept apart as it is there.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

from assets.demo.recipe.corpus import (
    arithmetic,
    definitions,
    facts,
    lists,
    logic,
    subjects,
    wordplay,
)
from assets.demo.recipe.corpus.school import Asked, reserved, typed
from assets.demo.recipe.corpus.subject import read_subject
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    Conversation,
    Topic,
    as_typed,
    chat,
    chatty,
    early,
    listed,
    mostly_first,
    read_topics,
    sentence,
    spoken,
    typed_with,
    with_article,
)
from assets.demo.recipe.corpus.unknown import plain
from assets.demo.recipe.corpus.verse import _rows

Talk = Callable[[random.Random, bool], list[str]]
AND = (
    "and {x}", "what about {x}", "and what about {x}", "ok, and {x}", "how about {x}", "{x}",
    "now {x}", "same question for {x}", "then {x}", "and {x} please",
    "ok {x}", "thanks. and {x}", "cool, and {x}",
)  # fmt: skip


def said(rng: random.Random, form: str, *keep: str) -> str:
    """A follow-up as it is typed: short, mostly in small letters."""
    text = spoken(rng, form)
    way = rng.random()
    if way < 0.4:
        text = text.lower().rstrip(".?")
    elif way < 0.5:
        text = chatty(rng, text)
    small = text.lower()
    kept = all(word.lower() in small for word in keep)
    return text if kept else spoken(rng, form)


def then(rng: random.Random, x: str) -> str:
    form = rng.choice(AND)
    if x.startswith("of "):
        form = rng.choice(("and {x}", "ok, and {x}", "{x}", "thanks. and {x}"))
    text = form.replace("{x}", x)
    way = rng.random()
    if way < 0.5:
        return text.lower() if rng.random() < 0.7 else text
    return f"{sentence(text)}?"


# --- what comes in rows --------------------------------------------------------------------------


def asked_of(
    rng: random.Random, kind: Callable[[random.Random], Asked], held_out: bool, fits: str = ""
) -> Asked:
    while True:
        asked = kind(rng)
        if reserved(asked.key) == held_out and re.search(fits, asked.answer):
            return asked


@cache
def capitals() -> dict[str, Topic]:
    """Topics of capitals by their country."""
    return {
        topic.name.removeprefix("capital of "): topic
        for topic in facts.tables()[0][0]
        if topic.name.startswith("capital of ")
    }


def countries(rng: random.Random, held_out: bool) -> list[str]:
    known = [name for name, topic in capitals().items() if topic.weight > 1]
    names = rng.sample(known if rng.random() < 0.7 else list(capitals()), rng.choice((2, 2, 3, 4)))
    first, *more = (capitals()[name] for name in names)
    turns = [as_typed(rng, rng.choice(first.reserved if held_out else first.questions))]
    turns.append(first.answer(rng))
    for name, topic in zip(names[1:], more, strict=True):
        of = f"of {name}" if rng.random() < 0.35 else name
        turns += [then(rng, of), topic.answer(rng)]
    return turns


def products(rng: random.Random, held_out: bool) -> list[str]:
    turns: list[str] = []
    sign, forms = rng.choice((("x", arithmetic.PRODUCTS), ("+", arithmetic.SUMS)))
    a = 0
    seen: set[int] = set()
    for i in range(rng.choice((2, 2, 3))):
        while True:
            a = a if i else rng.randint(2, 10)
            b = rng.randint(2, 10)
            if b in seen or a == b:
                continue
            asked = arithmetic.calculation(a, sign, b, early(rng, forms))
            if reserved(asked.key) == held_out or (i and held_out):
                break
        seen.add(b)
        question = typed(rng, asked) if not i else then(rng, f"{a} {sign} {b}")
        turns += [question, asked.answer]
    return turns


# Kinds of question about one word, and how their answer begins where a word alone may follow.
OF_WORDS: tuple[tuple[Callable[[random.Random], Asked], str], ...] = (
    (wordplay.opposites, ""),
    (wordplay.plurals, ""),
    (wordplay.synonyms, ""),
    (wordplay.past, ""),
    (wordplay.rhymes, ""),
    (wordplay.spelling, "^The word"),
)


def words(rng: random.Random, held_out: bool) -> list[str]:
    """Opposites, plurals, rhymes, letters: a word after another."""
    kind, fits = rng.choice(OF_WORDS)
    asked = asked_of(rng, kind, held_out, fits)
    turns = [typed(rng, asked), asked.answer]
    for _ in range(rng.choice((1, 1, 2))):
        other = asked_of(rng, kind, False, fits)
        turns += [then(rng, other.keep[0]), other.answer]
    return turns


OF_LETTERS = {
    "back": ("and backwards", "backwards", "now backwards", "spell it backwards", "and in reverse",
             "now in reverse", "the other way round"),
    "upper": ("in capitals", "again in capitals", "in capital letters", "with capital letters",
              "now in capital letters", "in upper case"),
    "many": ("how many letters is that", "how many letters are that", "how long is it",
             "count the letters", "how many letters does it have"),
    "first": ("what is the first letter", "the first letter", "which letter is the first"),
    "last": ("what is the last letter", "the last letter", "and the last letter", "which is the"
             " last letter"),
    "spaces": ("with spaces", "with spaces please", "without the dashes", "no dashes"),
    "again": ("again", "once more", "say that again", "repeat that"),
}  # fmt: skip


def letters(rng: random.Random, held_out: bool) -> list[str]:
    """A word that is spelled, and what else may be asked about its letters."""
    asked = asked_of(rng, wordplay.spelling, held_out, "^The word")
    word, shown = asked.keep[0], wordplay.spelled(asked.keep[0])
    said_of = {
        "back": f"Backwards, that is {shown[::-1]}, {word[::-1]}.",
        "upper": f"{shown.upper()}.",
        "many": f"Spelled {shown}, the word {word} has {len(word)} letters.",
        "first": f"The first letter of {word} is {word[0]}. The word is spelled {shown}.",
        "last": f"The last letter of {word} is {word[-1]}. The word is spelled {shown}.",
        "spaces": f"{' '.join(word)}.",
        "again": asked.answer,
    }
    turns = [typed(rng, asked), asked.answer]
    for way in rng.sample(tuple(OF_LETTERS), rng.choice((1, 1, 2, 2, 3))):
        turns += [said(rng, rng.choice(OF_LETTERS[way])), said_of[way]]
    return turns


ONE_WORD = ("in one word", "just the word", "only the word", "one word please", "just one word",
            "only one word", "shorter", "shorter please", "only the answer", "just the answer",
            "in one word please")  # fmt: skip


def one_word(rng: random.Random, held_out: bool) -> list[str]:
    """An answer, and nothing but the word that was asked for."""
    kind = rng.choice((wordplay.opposites, wordplay.plurals, wordplay.synonyms, wordplay.past))
    asked = asked_of(rng, kind, held_out, r"^[^.]+ is \w+\.")
    match = re.match(r"[^.]+ is (\w+)\.", asked.answer)
    word = match[1] if match else asked.answer
    return [typed(rng, asked), asked.answer, said(rng, rng.choice(ONE_WORD)), f"{sentence(word)}."]


def more_rhymes(rng: random.Random, held_out: bool) -> list[str]:
    """Rhymes, and one that was not named after another."""
    while True:
        asked = asked_of(rng, wordplay.rhymes, held_out)
        word = asked.keep[0]
        named = re.findall(r"\w+", asked.answer)
        left = [rhyme for rhyme in wordplay.RHYMES[word] if rhyme not in named]
        if left or rng.random() < 0.15:
            break
    turns = [typed(rng, asked), asked.answer]
    if not left:
        return [
            *turns,
            said(rng, rng.choice(MORE_WORDS)),
            f"I know no other word that rhymes with {word}.",
        ]
    for rhyme in left[: rng.choice((1, 1, 2, 3))]:
        turns += [
            said(rng, rng.choice(MORE_WORDS)),
            f"Another word that rhymes with {word} is {rhyme}.",
        ]
    return turns


MORE_WORDS = (
    "another one",
    "one more",
    "another",
    "one more please",
    "another one please",
    "do you have another one",
    "and one more",
    "give me another one",
    "a different one",
)


ORDERED = {
    "days of the week": wordplay.DAYS, "months of the year": wordplay.MONTHS,
    "seasons": logic.SEASONS, "planets": tuple(wordplay.GROUPS["planets"]),
    "letters of the alphabet": tuple(wordplay.LETTERS),
}  # fmt: skip
ASK_ORDERED = ("what are the {r}", "list the {r}", "name the {r}", "say the {r}", "the {r}",
               "tell me the {r}", "the {r}, please", "can you list the {r}")  # fmt: skip
OF_ORDERED = {
    "back": ("and backwards", "backwards", "now backwards", "and in reverse", "in reverse order",
             "now in reverse order", "and the other way round", "from the last to the first"),
    "second": ("only every second one", "now every second one", "every other one"),
    "first": ("now only the first three", "only the first three", "just the first three",
              "the first three"),
    "last": ("now only the last three", "only the last three", "just the last three",
             "the last three"),
    "upper": ("again in capitals", "in capitals", "now in capital letters"),
    "many": ("how many are that", "how many are there", "count them", "how many is that"),
}  # fmt: skip


def in_order(rng: random.Random, held_out: bool) -> list[str]:
    """A row that everybody knows, and what is then asked of it."""
    while True:
        name = rng.choice(tuple(ORDERED))
        question = rng.choice(ASK_ORDERED).replace("{r}", name)
        if reserved(f"in order {question}") == held_out:
            break
    row = list(ORDERED[name])
    turns = [said(rng, question, name), f"The {name} are {listed(row)}."]
    answers = {
        "back": f"The {name} in reverse order are {listed(reversed(row))}.",
        "second": f"Every second one, from {row[0]} on: {', '.join(row[::2])}.",
        "first": f"The first three are {listed(row[:3])}.",
        "last": f"The last three are {listed(row[-3:])}.",
        "upper": f"THE {name.upper()} ARE {', '.join(row).upper()}.",
        "many": f"There are {len(row)} {name}.",
    }
    ways = rng.sample(tuple(OF_ORDERED), rng.choice((1, 1, 2, 2, 3)))
    for way in sorted(ways, key="many".__ne__):  # counted is the whole row
        turns += [said(rng, rng.choice(OF_ORDERED[way])), answers[way]]
    return turns


def rows(rng: random.Random, held_out: bool) -> list[str]:
    """The day, month, season, letter or number after one, and after another."""
    names = rng.choice((logic.SEASONS, wordplay.DAYS, wordplay.MONTHS))
    while True:
        asked = logic.following(rng)
        if reserved(asked.key) == held_out and asked.keep[0] in names:
            break
    turns = [typed(rng, asked), asked.answer]
    after = "so after" in asked.answer
    others = [i for i, name in enumerate(names) if name != asked.keep[0]]
    for at in rng.sample(others, rng.choice((1, 2, 2))):
        x, y = names[at], names[(at + (1 if after else -1)) % len(names)]
        word = "after" if after else "before"
        order = f"{x}, {y}" if after else f"{y}, {x}"
        turns += [then(rng, rng.choice((x, f"{word} {x}"))),
                  f"Order: {order}, so {word} {x} comes {y}."]  # fmt: skip
    return turns


def things(rng: random.Random, held_out: bool) -> list[str]:
    """What a thing is, and another."""
    while True:
        first, *more = (early(rng, definitions.definitions()) for _ in range(rng.choice((2, 2, 3))))
        question, answer = definitions._asked(rng, first, held_out)
        if first not in more:
            break
    turns = [question, answer]
    for one in more:
        turns += [then(rng, one.one), one.text]
    return turns


def sounds(rng: random.Random, held_out: bool) -> list[str]:
    forms = wordplay.ASK_SOUND
    while True:
        first, *more = rng.sample(wordplay.SOUNDS, rng.choice((2, 3)))
        question = rng.choice(forms).format(
            x=with_article(first[0]), many=wordplay.plural_of(first[0])
        )
        if reserved(sentence(question)) == held_out:
            break
    turns = [typed_with(rng, sentence(question), first[0]), _sound(first)]
    for one in more:
        turns += [then(rng, with_article(one[0])), _sound(one)]
    return turns


def _sound(row: tuple[str, ...]) -> str:
    name, verb, sound = row
    return f"{sentence(with_article(name))} {verb}. It says {sound}."


# --- the subject ---------------------------------------------------------------------------------

METHODS = {"Medusa": "Medusa", "EAGLE": "EAGLE", "a draft model": "draft model",
           "prompt lookup": "prompt lookup"}  # fmt: skip
ASPECTS = {
    "lossless": ("[and |]does it change the [text|answer]", "is it lossless", "is the text the same"
                 " then", "[and |]will the answer be worse", "does that change what it writes"),
    "training": ("do I need to train it", "[and |]does it need training", "must it be trained",
                 "do i have to train something [for that|then]"),
    "speed": ("how fast is it", "how much faster is that", "[and |]what speedup does it give"),
    "CPU": ("does it work on a cpu", "and on a cpu", "does it need a big graphics card",
            "do i need a gpu for [it|that]"),
    "pros and cons": ("is it any good", "what are the pros and cons", "and the bad side of it"),
}  # fmt: skip
TRY = ("can I try [that|it] here", "[can|could] i test it here", "is it in this app",
       "how do i try it here", "does this app have it")  # fmt: skip
FASTER = ("which [of them|of the two|one] is faster", "which is [better|faster] then",
          "[and |]what is the difference", "so which one is faster")  # fmt: skip
LANES = {"Medusa": "medusa lane", "EAGLE": "eagle lane", "a draft model": "draft lane",
         "prompt lookup": "lookup lane"}  # fmt: skip


@cache
def named() -> dict[str, Topic]:
    return {topic.name: topic for topic in read_subject().topics}


@cache
def versus() -> dict[frozenset[str], Topic]:
    found = {}
    for name, topic in named().items():
        pair = name.split(" vs ")
        if len(pair) == 2:
            found[frozenset(pair)] = topic
    return found


def methods(rng: random.Random, held_out: bool) -> list[str]:
    name, other = rng.sample(tuple(METHODS), 2)
    first = named()[name]
    turns = [as_typed(rng, rng.choice(first.reserved if held_out else first.questions))]
    turns.append(first.answer(rng))
    if rng.random() < 0.45:
        turns += [then(rng, other), named()[other].answer(rng)]
        pair = versus().get(frozenset((METHODS[name], METHODS[other])))
        if pair and rng.random() < 0.7:
            return [*turns, said(rng, rng.choice(FASTER)), pair.answer(rng)]
        name = other
    for aspect in rng.sample(tuple(ASPECTS), rng.choice((1, 1, 2))):
        topic = named().get(f"{METHODS[name]}: {aspect}")
        if topic:
            turns += [said(rng, rng.choice(ASPECTS[aspect])), topic.answer(rng)]
    if rng.random() < 0.35 or len(turns) == 2:
        lane = named()[LANES[name]].answer(rng)
        turns += [said(rng, rng.choice(TRY)), f"Yes, this app can do it. {lane}"]
    return turns


IDENTITY = {topic.name: topic for topic in read_topics(ANSWERS / "identity.txt")}
ABOUT = {
    "who made you": ("[and |]who made you", "who built you then", "and who made you"),
    "size": ("how big are you then", "and how big are you", "how large are you"),
    "why small": ("why so small", "why are you so small then", "and why so tiny"),
    "training data": ("and on what", "trained on what", "on what were you trained then"),
    "what can you do": ("what can you do then", "so what can you do", "and what are you good at"),
    "where run": ("where do you run then", "and where do you run"),
    "human": ("so you are not human", "are you human then"),
}  # fmt: skip


def itself(rng: random.Random, held_out: bool) -> list[str]:
    first = IDENTITY[rng.choice(("who are you", "name", "other assistants"))]
    turns = [as_typed(rng, rng.choice(first.reserved if held_out else first.questions))]
    turns.append(first.answer(rng))
    for name in rng.sample(tuple(ABOUT), rng.choice((1, 2, 2, 3))):
        if name == "training data" and len(turns) < 4:
            continue
        form = rng.choice(ABOUT[name])
        if name == "training data":
            form = "and on what were you trained"
        turns += [said(rng, form), IDENTITY[name].answer(rng)]
    return turns if len(turns) > 2 else itself(rng, held_out)


# --- one more, shorter, again --------------------------------------------------------------------

MORE = (
    "another one", "one more", "again", "another", "one more please", "another one please", "more",
    "tell me another", "give me another one", "next one", "next", "do you have another one",
    "encore",
    "and another one", "one more time", "haha, another one", "a different one",
    "can i have another",
    "good one, one more", "i know that one, another",
)  # fmt: skip
SHORTER = (
    "shorter please", "shorter", "in one sentence", "in one sentence please", "too long", "tldr",
    "short version", "make it shorter", "that is too long", "can you say it shorter", "briefly",
    "in short", "just one sentence", "sum it up in one sentence",
)  # fmt: skip
REPEAT = ("say that again", "repeat that", "again please", "can you repeat that",
          "what did you say",
          "pardon", "repeat your answer", "one more time please", "say it again")  # fmt: skip
UPPER = ("now in capital letters", "in capitals", "now in upper case",
         "say that in capital letters",
         "write it in capitals", "in big letters please", "same in caps")  # fmt: skip
COUNT = ("how many words was that", "how many words is that", "count the words of your answer",
         "how many words did you use", "how many words does your answer have")  # fmt: skip
FIRST = {
    "joke": ("tell me a [good |funny |]joke", "a joke[ please|]", "joke", "make me laugh"),
    "riddle": ("[give|tell|ask] me a riddle", "a riddle[ please|]", "do you have a riddle"),
    "fact": ("tell me a fact", "a [fun |]fact please", "give me a fact about something"),
    "name": ("give me a random name", "a random name[ please|]", "make up a name"),
}  # fmt: skip


def _one(rng: random.Random, kind: str) -> str:
    if kind == "joke":
        return " ".join(early(rng, _rows("jokes.txt"))[:2])
    if kind == "riddle":
        return f"{early(rng, _rows('riddles.txt'))[0]} What am I?"
    if kind == "name":
        return f"{subjects.rare_name(rng) if rng.random() < 0.4 else rng.choice(logic.NAMES)}."
    text = early(rng, definitions.definitions()).text
    return text.partition(". ")[0].rstrip(".") + "."


def another(rng: random.Random, held_out: bool) -> list[str]:
    kind = rng.choice(("joke", "joke", "joke", "riddle", "riddle", "fact", "name"))
    while True:
        question = spoken(rng, rng.choice(FIRST[kind]))
        question = question + (" " + rng.choice(("Please.", "Thanks.")) if held_out else "")
        if held_out or not reserved(plain(question)):
            break
    turns = [question if held_out else as_typed(rng, question), _one(rng, kind)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        while (text := _one(rng, kind)) in turns:
            pass
        turns += [said(rng, rng.choice(MORE)), text]
    return turns


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!]) (?=[A-Z])", text)


def reworded(rng: random.Random, held_out: bool) -> list[str]:
    """An explanation, and only its first sentence."""
    if rng.random() < 0.5:
        question, answer = definitions._asked(rng, early(rng, definitions.definitions()), held_out)
    else:
        (topic,) = rng.choices(read_subject().topics, cum_weights=read_subject().weights)
        question = as_typed(rng, rng.choice(topic.reserved if held_out else topic.questions))
        answer = topic.answer(rng)
    first, *more = sentences(answer)
    if not more or len(first) < 25 or "```" in answer or "\n" in answer:
        return reworded(rng, held_out)
    return [question, answer, said(rng, rng.choice(SHORTER)), first]


def said_again(rng: random.Random, held_out: bool) -> list[str]:
    asked = asked_of(
        rng,
        rng.choice(
            (wordplay.sizes, logic.days, logic.reading, logic.is_more, wordplay.opposites,
             wordplay.calendar, wordplay.synonyms, wordplay.members)
        ),
        held_out,
    )  # fmt: skip
    answer = asked.answer
    turns = [typed(rng, asked), answer]
    short = len(answer.split()) <= 8
    way = rng.choice((REPEAT, UPPER, COUNT) if short else (REPEAT, UPPER))
    turns.append(said(rng, rng.choice(way)))
    if way is REPEAT:
        return [*turns, answer]
    if way is UPPER:
        return [*turns, answer.upper()]
    numbered = ", ".join(f"{i} {w.strip('.,')}" for i, w in enumerate(answer.split(), 1))
    return [*turns, f"{numbered}: {len(answer.split())} words."]


REMARKS = {
    ("thanks", "thank you", "thx", "ok thanks", "great, thanks", "perfect, thank you"): (
        "You are welcome! Ask me more if you like.", "Gladly! What else would you like to know?"),
    ("cool", "nice", "wow", "interesting", "good", "great", "awesome"): (
        "I am glad you like it. What comes next?", "Thank you! Ask me something else if you like."),
    ("ok", "okay", "i see", "alright", "k", "yes", "got it"): (
        "Good! What would you like to know next?", "Fine. Ask me whatever you like."),
    ("no", "nope", "nah"): (
        "All right. Then ask me something else, or say what you meant.",),
    ("lol", "haha", "lmao", "hahaha"): (
        "I am glad that you laugh! Shall I tell you a joke as well?",),
    ("wrong", "that is wrong", "that's not right", "false", "incorrect"): (
        "I am sorry. I am a tiny model and make mistakes. What would be right?",),
    ("that is not what I asked", "not what i asked", "that was not my question",
     "you got me wrong"): (
        "I am sorry, then I did not understand you. Please ask it again in other words.",),
    ("are you sure", "sure?", "really?", "is that true", "are you certain", "are you really sure",
     "is that right", "is that correct", "r u sure"): (
        "As far as I know, yes. But I am a tiny model and can be wrong, so check what matters.",),
}  # fmt: skip


def remarks(rng: random.Random, held_out: bool) -> list[str]:
    kind = rng.choice(
        (logic.sample, wordplay.sample, definitions.sample, facts.sample, lists.sample)
    )
    turns = [turn["content"] for turn in kind(rng, held_out)][:2]
    words, answers = rng.choice(tuple(REMARKS.items()))
    return [*turns, said(rng, rng.choice(words)), mostly_first(rng, answers)]


# --- what was told before ------------------------------------------------------------------------

TOLD: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str]] = {
    "name": (
        ("my name is {x}", "i am called {x}", "hi, my name is {x}", "you can call me {x}"),
        ("Nice to meet you, {x}!", "Hello, {x}! What can I do for you?"),
        ("what is my name", "do you remember my name", "what was my name again", "whats my name",
         "so what is my name"), "Your name is {x}."),
    "colour": (
        ("my favourite colour is {x}", "i like {x} best of all colours",
         "the colour i love is {x}"),
        ("{X} is a fine colour!", "I will keep in mind that you like {x}."),
        ("what is my favourite colour", "which colour do i like", "do you remember my colour"),
        "Your favourite colour is {x}."),
    "pet": (
        ("my dog is called {x}", "i have a dog, its name is {x}", "my dog's name is {x}"),
        ("{X} is a good name for a dog!", "Say hello to {x} from me!"),
        ("what is my dog called", "what is the name of my dog", "do you remember my dog's name"),
        "Your dog is called {x}."),
    "city": (
        ("i live in {x}", "i am from {x}", "my city is {x}", "my home is in {x}"),
        ("How nice, {x}! I know it only by its name.", "I will keep in mind: {x}."),
        ("where do i live", "where is my home", "do you remember where i live",
         "which city do i live in"), "You said that your home is in {x}."),
    "number": (
        ("remember the number {x}", "keep {x} in mind", "please remember this number: {x}",
         "the secret number is {x}"),
        ("All right, I will remember {x}.", "The number is {x}. I keep it in mind."),
        ("what was the number", "which number was it", "do you remember the number", "the number?",
         "what number did i tell you"), "The number was {x}."),
}  # fmt: skip


def told(rng: random.Random, held_out: bool) -> list[str]:
    what = rng.choice(tuple(TOLD))
    tells, replies, asks, answer = TOLD[what]
    while True:
        if what in ("name", "pet"):
            x = logic.somebody(rng)
        elif what == "colour":
            x = rng.choice(subjects.COLOURS)
        elif what == "city":
            x = rng.choice(subjects.CITIES)
        else:
            x = str(rng.choice((rng.randint(1, 99), rng.randint(100, 9999))))
        form = rng.choice(tells).replace("{x}", x)
        if reserved(f"told {plain(form)}") == held_out:
            break
    reply = rng.choice(replies).replace("{x}", x).replace("{X}", sentence(x))
    turns = [typed_with(rng, spoken(rng, form).replace("?", "."), x), reply]
    for _ in range(rng.choice((0, 1, 1, 2))):
        asked = asked_of(
            rng, rng.choice((logic.following, wordplay.opposites, logic.is_more)), False
        )
        turns += [typed(rng, asked), asked.answer]
    return [*turns, said(rng, rng.choice(asks)), answer.replace("{x}", x)]


KINDS: dict[Talk, float] = {
    letters: 7, one_word: 5, more_rhymes: 5, in_order: 7,
    countries: 14, products: 8, words: 12, rows: 9, things: 8, sounds: 4, methods: 18, itself: 8,
    another: 14, reworded: 9, said_again: 10, remarks: 12, told: 14,
}  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    (kind,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
    return chat(*kind(rng, held_out))
