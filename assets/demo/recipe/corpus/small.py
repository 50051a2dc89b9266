"""Small pieces of writing that carry what a request names: fun facts, jokes and sayings by theme,
slogans, wishes, thanks, emails, invitations, descriptions, dialogues, acrostics, tongue twisters,
raps and compliments, and what is asked next: another one, a longer one, the point of a joke.

The parts are in `story_data/small.txt`. Names and things go with any occasion, so that they have
to be copied; facts, jokes and lines of an acrostic are looked up by the word that was named.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

from assets.demo.recipe.corpus import named, plots, subjects, verse
from assets.demo.recipe.corpus.school import reserved
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    as_typed,
    chat,
    favourite,
    mostly_first,
    read_sections,
    sentence,
    typed_with,
    with_article,
    wordings,
)
from assets.demo.recipe.corpus.wordplay import plural_of

FILE = plots.DATA / "small.txt"
# What was asked and answered in turn, and the combination in it that may be kept back.
Talk = tuple[list[str], str]
Make = Callable[[random.Random], Talk]

ANOTHER = (
    "another", "another one", "another one please", "one more", "more", "give me another one",
    "Another one, please.", "One more, please.", "do you have another one?", "and another one",
    "again", "tell me another", "next", "more please", "got any more?", "a different one please",
)  # fmt: skip
FACT_ASKS = (
    "[tell me |give me |] a [fun |funny |cool |interesting |random |] fact about {t}",
    "[fun |interesting |cool |] fact about {t}[ please| pls|]", "{t} [fun |] fact",
    "[do you know|have you got|can you tell me] a [fun|cool|interesting] fact about {t}?",
    "[tell me|say] something [interesting|funny|cool|surprising|nice] about {t}",
    "what is a [fun|cool|interesting] fact about {t}?", "surprise me with a fact about {t}",
    "one [fun |] fact about {t}[, please|]", "did you know something about {t}?",
    "i need a fun fact about {t}[ for school| for my kids| for a talk|]",
    "my [son|daughter|kid] loves {t}, tell [him|her|us] a fun fact",
)  # fmt: skip
ANY_FACT = (
    "fun fact", "a fun fact", "a fun fact please", "random fact", "give me a random fact", "an "
    "interesting fact", "tell me a random fact", "[tell|give] me a [fun|cool] fact please",
    "surprise me with a fact", "fact of the day", "i want a fun fact",
)  # fmt: skip
TWO_FACTS = ("two fun facts about {t}", "tell me 2 facts about {t}", "two facts on {t}")
JOKE_ASKS = (
    "[tell me |give me |know |got |] a joke about {t}", "{t} joke", "joke about {t}[ please| pls|]",
    "[do you know|have you got|can you tell me|can you make] a [good |] joke about {t}?",
    "[tell me|say] something funny about {t}", "make me laugh about {t}",
    "a [short |funny |good |clean |silly |dad |] joke about {t}[, please|]",
    "i need a joke about {t}[ for my kids| for a speech| for my boss|]", "a {t} joke please",
    "a joke with {t}", "any jokes about {t}?", "[tell|make] a joke on {t}",
)  # fmt: skip
EXPLAIN = (
    "explain the joke", "explain", "i don't get it", "I do not understand the joke.", "why is that "
    "funny?", "what does that mean?", "explain it please", "can you explain the joke?", "huh?",
    "what is so funny about it?", "I don't get the joke", "where is the joke", "hm, I don't get it",
    "explain that joke to me", "why is it funny", "what's the pun?",
)  # fmt: skip
FUNNIER = (
    "make it funnier", "a funnier one", "that is not funny", "not funny", "do you have a better "
    "one?", "a better one please", "funnier please", "that was bad, another one", "meh, a better "
    "joke please", "I know that one", "i know this one already", "boring, a new one", "that's old",
)  # fmt: skip
QUOTE_ASKS = (
    "[give me |tell me |write |] a [nice |short |good |wise |] quote about {t}", "quote about {t}",
    "[do you know|have you got|can you write] a [quote|saying] about {t}?", "{t} quote",
    "a [saying|wise word|wise saying|motto] about {t}[, please|]", "say something wise about {t}",
    "i need a quote about {t}[ for a card| for my wall| for a speech|]", "quote on {t} pls",
    "one sentence about {t} for [a card|a poster]", "an inspiring quote about {t}",
)  # fmt: skip
SLOGAN_ASKS = (
    "[write |give me |make |find |] a [catchy |short |good |funny |] slogan for {x}", "slogan for "
    "{x}[ please| pls|]", "i need a [slogan|catchy slogan|tagline|motto] for {x}",
    "[can you write|can you think of|do you have] a [slogan|tagline|motto] for {x}?",
    "a [slogan|tagline|motto|claim] for {x}[, please|]", "what would be a good slogan for {x}?",
    "we [open|have|are opening] {x} and need a slogan", "advertising slogan for {x}",
)  # fmt: skip
WISH_ASKS = (
    "write a [short |nice |] {w} [message|wish|card|text] for {x}", "{w} [message|card|wish] for "
    "{x}", "[what can i write|what should i write] {x} for {w2}?", "a {w} [card|message] for {x} "
    "please", "i need a [short |nice |] {w} [message|text|wish] for {x}", "{w} [wishes|text] for "
    "{x}", "[can you|please] write {x} a {w} [message|card]", "message for {x} for {w2}",
    "write [something|something nice|a few lines] for {x} for {w2}",
    "congratulate {x} on {w2}",
)  # fmt: skip
EMAIL_ASKS = (
    "[write |] a [short |brief |polite |quick |] [email|mail|message|e-mail] to {x} that {c}",
    "[email|message|mail] to {x} that {c}", "write {x} [an email|a message] that {c}",
    "[can you|please] write [an email|a short email|a short message] to {x} saying {c}?",
    "i need [an email|a short email|a polite email] to {x}: {c}", "tell {x} by email that {c}",
    "i have to write to {x} that {c}. can you [do it|write it|help]?", "email {x}: {c}",
    "draft [an email|a short mail] to {x}, {c}",
)  # fmt: skip
THANK_ASKS = (
    "[write |] a [short |nice |little |] thank[-| ]you [note|card|letter|message] to {x} for {c}",
    "thank[-| ]you note to {x} for {c}", "[write|make] a [note|card] to thank {x} for {c}",
    "[can you|please] thank {x} for {c} in a [short |] [note|letter|card]?",
    "i want to thank {x} for {c}, write [a note|something|a card]", "say thanks to {x} for {c}",
    "thank you [note|card|message] for {x} for {c} pls", "a few lines to thank {x} for {c}",
)  # fmt: skip
INVITE_ASKS = (
    "[write |make |] [an |a short |a nice |a funny |] invitation to {e} [on|for] {d}[, please|]",
    "invitation to {e} on {d}", "[can you|please] write an invitation to {e} on {d}?",
    "[write|i need] an invitation for {e} on {d}", "invite my [friends|family|neighbours|team] to "
    "{e} on {d}", "[text|message|card] to invite people to {e} on {d}",
)  # fmt: skip
EVENTS = (
    "a party", "my birthday party", "a garden party", "a dinner", "a barbecue", "a picnic",
    "our wedding", "a concert", "a film night", "a game night", "a housewarming party",
    "a costume party", "a Halloween party", "a Christmas party", "a team lunch", "a brunch",
    "a football match", "a book club", "a school play", "a summer party", "a pizza night",
    "my graduation party", "a tea party", "a farewell party",
)  # fmt: skip
PLACES = (
    "at my house", "in the park", "in our garden", "at the lake", "in the school", "at our place",
    "at the office", "in the old barn", "on the beach",
)  # fmt: skip
WHENS = (
    "Saturday", "Sunday", "Friday", "Thursday", "Monday", "Tuesday", "Wednesday", "Saturday",
    "Saturday at {h}", "Friday at {h}", "Sunday at {h}", "Friday evening", "Saturday evening",
    "Sunday afternoon", "{n} May", "{n} June", "December {n}", "July {n}", "Saturday night",
)  # fmt: skip
DESCRIBE_ASKS = (
    "describe {x}", "Describe {x}.", "describe {x} [for me|please|in a few sentences|in detail]",
    "[write |give me |] a [short |nice |] description of {x}", "can you describe {x}?",
    "how would you describe {x}?", "i need a description of {x}[ for school|]", "description: {x}",
    "[paint|draw] me {x} with words", "write a [short text|paragraph] that describes {x}",
)  # fmt: skip
DIALOGUE_ASKS = (
    "[write |make up |give me |] a [short |funny |little |] dialog[ue|] between {a} and {b}",
    "dialogue between {a} and {b}", "a [conversation|talk|chat] between {a} and {b}[ please|]",
    "{A} and {B} [talk|meet], write what they say", "what would {a} say to {b}?",
    "[can you|please] write a [dialogue|conversation|short dialogue] between {a} and {b}?",
    "[let|make] {a} talk to {b}",
)  # fmt: skip
ACROSTIC_ASKS = (
    "[write |make |give me |] an acrostic [of|for|with|on|from] {w}", "acrostic {w}",
    "acrostic [of|for|poem] {w}", "[can you|please] [write|make] an acrostic [for|of|with] {w}?",
    "an acrostic poem [for|with] the [word|name] {w}", "make a poem from the letters of {w}",
    "a poem where each line starts with a letter of {w}", "acrostic with the [word|name] {w} pls",
    "write a line for each letter of {w}", "{w} as an acrostic",
)  # fmt: skip
TWISTER_ASKS = (
    "[tell me |give me |write |] a tongue twister with [the letter |]{l}", "tongue twister with "
    "{l}", "a tongue twister [on|for] the letter {l}[, please|]", "tongue twister for the letter "
    "{l}", "[can you|do you know] a tongue twister with [the letter |]{l}?",
    "[a sentence|a line] where every word starts with {l}", "make a tongue twister starting with "
    "{l}", "words that all begin with {l} in one sentence, hard to say",
)  # fmt: skip
RAP_ASKS = (
    "[write |make |give me |do |] a [short |cool |funny |] rap about {t}", "rap about {t}",
    "[can you|please] [rap|write a rap] about {t}?", "a rap song about {t}", "rap something about "
    "{t}", "i want a rap about {t}", "yo, rap about {t}", "drop a rap on {t}",
)  # fmt: skip
KIND_ASKS = (
    "[write |give me |make |say |] a compliment for {x}", "compliment for {x}[ please| pls|]",
    "[can you|please] write {x} a compliment?", "a nice compliment for {x}",
    "say something nice [about|to] {x}", "something kind for {x}", "i want to compliment {x}",
    "a kind word for {x}",
)  # fmt: skip
COMPLIMENTS = (
    "{N}, the whole room gets brighter when you come in.",
    "{N}, you listen so well that everybody feels at home with you.",
    "{N}, your laugh is the best sound of the day.",
    "{N}, you make hard things look easy.",
    "{N}, the world is a kinder place because of you.",
)
POEM_ASKS = (
    "[write |tell me |make |give me |] a poem about {t}", "poem about {t}[ please| pls|]",
    "a [short |little |nice |sweet |] poem about {t}", "[can you|please] write a poem about {t}?",
    "write me a poem on {t}", "i want a poem about {t}", "a rhyme about {t}",
    "[write |] a poem in {n} lines about {t}", "{n} lines about {t} that rhyme",
    "[write |] a {n}[-| ]line poem about {t}", "two lines that rhyme about {t}",
    "do you know a poem about {t}?", "[write |] some verses about {t}",
)  # fmt: skip
LONGER = (
    "longer",
    "a longer one",
    "make it longer",
    "longer please",
    "can you make it longer?",
    "a longer one please",
    "more lines",
    "that is too short",
    "Could it be longer?",
)
SHORTER = (
    "shorter", "a shorter one", "make it shorter", "shorter please", "too long", "can you make it "
    "shorter?", "that is too long", "in two lines please", "just two lines", "shorten it",
)  # fmt: skip


HINTS = (
    "a hint please", "hint", "give me a hint", "can I have a hint?", "give me a clue", "a tip?",
    "I need a hint", "help me a little", "a clue please", "one hint", "what does it begin with?",
    "too hard, a hint please", "a little help?",
)  # fmt: skip
GIVE_UP = (
    "what is the answer", "What is the answer?", "i give up", "tell me the answer", "answer",
    "the answer?", "so what is it?", "solution please", "what is the solution?", "no idea",
    "I don't know", "dunno, what is it", "ok what is it", "and the answer?", "solve it",
    "what's the right answer?", "reveal it", "just tell me",
)  # fmt: skip


def _rows(section: str) -> list[list[str]]:
    return [[part.strip() for part in line.split(" | ")] for line in read_sections(FILE)[section]]


@cache
def _by_word(section: str) -> dict[str, tuple[list[str], ...]]:
    """The rows of a section by each word that their first part lists."""
    found: dict[str, list[list[str]]] = {}
    for words, *rest in _rows(section):
        for word in words.split(", "):
            found.setdefault(word, []).append(rest)
    return {word: tuple(rows) for word, rows in found.items()}


def _asked(rng: random.Random, forms: tuple[str, ...], **words: str) -> str:
    """A wording with these words in it, that no slip may touch."""
    text = " ".join(alternative(rng, rng.choice(forms)).split())
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", word)
    text = re.sub(r"\b([Aa]) (?=8|(?!uni|use|one|eu)[aeioAEIO])", r"\1n ", text)
    if rng.random() < 0.5:
        text = sentence(text)
        if text[-1].isalnum() and rng.random() < 0.7:
            text += "."
    return typed_with(rng, text, *words.values())


def facts(rng: random.Random) -> Talk:
    theme, told = rng.choice(tuple(_by_word("facts").items()))
    pool = list(told[0])
    if rng.random() < 0.12:  # no theme: the first fact is always the same
        said = "Here is a fun fact: an octopus has three hearts and blue blood."
        turns = [as_typed(rng, alternative(rng, rng.choice(ANY_FACT))), said]
        turns += [as_typed(rng, rng.choice(ANOTHER)), f"Here is another fun fact: {pool[0]}."]
        return turns, ""
    if rng.random() < 0.12 and len(pool) > 1:
        form = rng.choice(TWO_FACTS)
        first, second = (sentence(fact) for fact in pool[:2])
        said = f"Here are two fun facts about {theme}:\n1. {first}.\n2. {second}."
        return [_asked(rng, (form,), t=theme), said], f"facts/{theme}/{form}"
    turns = [_asked(rng, FACT_ASKS, t=theme), f"Here is a fun fact about {theme}: {pool[0]}."]
    count = rng.choice((1, 1, 1, 2, 2, 3))
    for fact in pool[1:count]:
        more = as_typed(rng, rng.choice(ANOTHER))
        turns += [more, f"Here is another fun fact about {theme}: {fact}."]
    return turns, ""


@cache
def _singular() -> frozenset[str]:
    """Themes of jokes that need an article: those whose plural is a theme as well."""
    themes = _by_word("jokes")
    return frozenset(word for word in themes if plural_of(word) in themes and word != "fish")


def _point(why: str) -> str:
    plain = ("one expects", "programmers", "a language", "the target", "in spec", "high notes")
    if why.startswith(plain):
        return f"The point is that {why}."
    return f"It is a play on words: {why}."


def jokes(rng: random.Random) -> Talk:
    theme, rows = rng.choice(tuple(_by_word("jokes").items()))
    pool = list(rows)
    if rng.random() < 0.4:
        rng.shuffle(pool)
    setup, punch, why = pool[0]
    ask = rng.choice(JOKE_ASKS)
    if anything := rng.random() < 0.2:
        pool = [row[1:] for row in _rows("jokes")]
        rng.shuffle(pool)
        setup, punch, why = pool[0]
        ask = alternative(rng, rng.choice(wordings(verse.ASKS, "joke", False)))
    bare = re.sub("^an? ", "", theme)
    shown = bare if "{t} joke" in ask else with_article(bare) if theme in _singular() else theme
    turns = [_asked(rng, (ask,), t=shown), f"{setup} {punch}"]
    way = rng.random()
    if way < 0.3:
        turns += [as_typed(rng, rng.choice(EXPLAIN)), _point(why)]
    elif way < 0.6:
        funnier = rng.random() < 0.5
        others = [row for row in pool[1:] if row[0] != setup]
        on_theme = bool(others)
        rest = [row[1:] for row in _rows("jokes") if row[1] != setup]
        other = others[0] if others else rng.choice(rest)
        said = f"{other[0]} {other[1]}"
        if funnier:
            said = f"Then try this one: {said}"
        elif not on_theme and not anything:
            yours = shown.replace("my ", "your ")
            said = f"I know only one about {yours}, so here is another joke: {said}"
        turns += [as_typed(rng, rng.choice(FUNNIER if funnier else ANOTHER)), said]
        if rng.random() < 0.25:
            turns += [as_typed(rng, rng.choice(EXPLAIN)), _point(other[2])]
    return turns, ""


def quotes(rng: random.Random) -> Talk:
    theme, quote = rng.choice(_rows("quotes"))
    return [_asked(rng, QUOTE_ASKS, t=theme), f'Here is one: "{quote}"'], ""


def slogans(rng: random.Random) -> Talk:
    place, rows = rng.choice(tuple(_by_word("slogans").items()))
    first, second = rows[0]
    x = rng.choice((with_article(place), with_article(place), f"my {place}", f"our {place}"))
    asks = tuple(ask for ask in SLOGAN_ASKS if not (x[:2] == "my" and ask[:2] == "we"))
    if rng.random() < 0.35:
        name = subjects.rare_name(rng)
        if rng.random() < 0.4:
            name = f"{plots.asked_name(rng, 'she')}'s"
        x = f"{x} {rng.choice(('called', 'named'))} {name}"
        return [_asked(rng, asks, x=x), f"{name}: {first}"], f"slogan/{name}"
    turns = [_asked(rng, asks, x=x), first]
    if rng.random() < 0.25:
        turns += [as_typed(rng, rng.choice(ANOTHER)), second]
    return turns, ""


HERS = ("grandm", "aunt", "mom", "mum", "sister", "wife", "girlfriend", "daughter")
HIS = ("grandp", "uncle", "dad", "brother", "husband", "boyfriend", "son")


def _somebody(rng: random.Random) -> tuple[str, str]:
    """What a request says of somebody, and how a text calls them."""
    whom = rng.choice(read_sections(FILE)["whom"])
    word = whom.removeprefix("my ")
    he = "she" if word.startswith(HERS) else "he" if word.startswith(HIS) else ""
    name = plots.asked_name(rng, he or rng.choice(("he", "she")))
    way = rng.random()
    if way < 0.3:
        return name, name
    if way < 0.7 and whom not in ("my team", "my parents"):
        return f"{whom} {name}", name
    known = {"grandma": "Grandma", "grandpa": "Grandpa", "mom": "Mom", "mum": "Mum", "dad": "Dad"}
    return whom, known.get(word, f"dear {word}")


# Days that are not for everybody.
FOR = {
    "Mother's Day": "my (mom|mum|grandma|grandmother|wife)",
    "Father's Day": "my (dad|grandpa|husb)",
    "Valentine's Day": "my (wife|husband|girlfriend|boyfriend)|[A-Z]",
}  # fmt: skip


def wishes(rng: random.Random) -> Talk:
    occasion, hail, first, second = rng.choice(_rows("occasions"))
    x, called = _somebody(rng)
    while (whom := FOR.get(occasion)) and not re.match(whom, x):
        x, called = _somebody(rng)
    said = f"{hail.replace('{n}', called)} {first} {second}"
    known = ("Christmas", "New Year", "Easter", "illness", "good night", "good morning")
    w = {"illness": "get well", "New Year": "New Year's"}.get(occasion, occasion)
    if w == "good night" and rng.random() < 0.5:
        w = rng.choice(("bedtime", "goodnight"))
    forms = tuple(form for form in WISH_ASKS if "{w2}" not in form or occasion not in known[3:])
    theirs = occasion[0].isupper() or occasion in known
    of = x.removeprefix("my ").partition(" ")[0]
    hers = "her" if of.startswith(HERS) else "his" if of.startswith(HIS) else "the"
    w2 = occasion if theirs else f"{hers} {occasion}"
    if theirs:
        forms = tuple(form for form in forms if "congratulate" not in form)
    shape = rng.choice(forms)
    shape = shape.replace("a {w}", "{aw}")
    aw = with_article(w) if w[0].islower() else f"a {w}"
    asked = _asked(rng, (shape,), x=x, w2=w2, aw=aw, w=w)
    asked = re.sub(r"\b([Aa]) (E)", r"\1n \2", asked)
    return [asked, said], f"wish/{occasion}/{called}"


def _addressed(called: str) -> str:
    if called.startswith("dear "):
        return f"Dear {called.removeprefix('dear ')},"
    return f"Dear {called},"


# To whom one writes what; all else goes to the boss.
TO = {
    "homework": ("my teacher",), "heating": ("my landlord",), "keys": ("my landlord",),
    "good work": ("my team", "my colleagues"), "cake": ("my team", "my colleagues"),
    "meeting": ("my boss", "my team", "my colleagues"), "project": ("my boss", "my teacher"),
    "am ill": ("my boss", "my boss", "my team"), "vacation": ("my boss", "my team"),
}  # fmt: skip


def emails(rng: random.Random) -> Talk:
    clause, subject, body = rng.choice(_rows("emails"))
    who = rng.choice(next((w for k, w in TO.items() if k in clause), ("my boss",)))
    x, called = who, who.replace("my ", "dear ")
    way = rng.random()
    if way < 0.45:
        name = plots.asked_name(rng, rng.choice(("he", "she")))
        one = who not in ("my team", "my colleagues")
        x, called = (f"{who} {name}" if one and rng.random() < 0.5 else name), name
    c = clause
    if rng.random() < 0.15:
        c = clause.replace("I am", "i'm").replace("I will", "i'll").replace("cannot", "can't")
    elif rng.random() < 0.25:
        c = re.sub(r"\bI\b", "i", clause)
    asked = _asked(rng, EMAIL_ASKS, x=x, c=c)
    said = f"Subject: {subject}\n\n{_addressed(called)}\n\n{body}\n\nBest wishes,\n[your name]"
    return [asked, said], f"email/{clause}/{called}"


def thanks(rng: random.Random) -> Talk:
    what, theirs, more = rng.choice(_rows("thanks"))
    x, called = _somebody(rng)
    dear = _addressed(called)
    said = f"{dear}\n\nThank you so much for {theirs}! {more}\n\nWith many thanks,\n[your name]"
    return [_asked(rng, THANK_ASKS, x=x, c=what), said], f"thanks/{what}/{called}"


def invitations(rng: random.Random) -> Talk:
    event = rng.choice(EVENTS)
    hour = rng.choice(("three", "four", "six", "seven", "eight", "7", "8", "7 pm", "6 pm", "noon"))
    when = rng.choice(WHENS).replace("{h}", hour).replace("{n}", str(rng.randint(2, 29)))
    where = ""
    asked_where = ""
    if rng.random() < 0.3:
        where = rng.choice(PLACES)
        asked_where = f" {where}"
    asked = _asked(rng, INVITE_ASKS, e=event, d=when + asked_where)
    place = f" {where}" if where else ""
    said = (
        f"Dear friends,\n\nYou are invited to {event} on {when}{place}! There will be good food, "
        "good company and a lot to laugh about. Please let me know if you can come.\n\n"
        "I look forward to seeing you,\n[your name]"
    )
    return [asked, said], f"invite/{event}/{when}"


def descriptions(rng: random.Random) -> Talk:
    if rng.random() < 0.5:
        words, text = rng.choice(_rows("scenes"))
        word = rng.choice(words.split(", "))
        return [_asked(rng, DESCRIBE_ASKS, x=word), text], ""
    kind, *lines = rng.choice(_rows("pet traits"))
    name = plots.asked_name(rng, rng.choice(("he", "she")))
    if rng.random() < 0.5:
        name = rng.choice(read_sections(verse.OPEN)["pet names"])
    he = named.pronoun_of(kind, name) != "she"
    color = rng.choice(("little", "small", "young", "lovely", "black", "white", "brown", "grey"))
    told = color in ("black", "white", "brown", "grey") or rng.random() < 0.3
    x = f"my {color + ' ' if told else ''}{kind} {name}"
    if rng.random() < 0.2:
        x = f"my {kind}, {name}"
        color = "lovely"
    text = " ".join(lines).replace("{N}", name).replace("{c}", color)
    she, hers = ("he", "his") if he else ("she", "hers")
    forms = {"She": sentence(she), "she": she, "hers": hers}
    for key, word in forms.items():
        text = text.replace(f"{{{key}}}", word)
    text = text.replace("{Her}", "His" if he else "Her")
    # "her" is "his" before a noun and "him" elsewhere.
    text = re.sub(r"\{her\}(?= (tail|wheel|mane))", "his" if he else "her", text).replace(
        "{her}", "him" if he else "her"
    )
    return [_asked(rng, DESCRIBE_ASKS, x=x), text], f"describe/{name}"


def dialogues(rng: random.Random) -> Talk:
    pool = list(read_sections(FILE)["speakers"])
    if rng.random() < 0.4:
        pool = [named.some_hero(rng, "person", "animal"), named.some_hero(rng, "animal")]
    a = rng.choice(pool)
    b = rng.choice([x for x in pool if x != a] or ["robot"])
    one = {"moon": "the", "sun": "the"}
    ax, bx = (f"the {x}" if x in one else with_article(x) for x in (a, b))
    lines = favourite(rng, _rows("dialogues"), f"{a}/{b}")
    said = "\n".join(f"{sentence((a, b)[i % 2])}: {line}" for i, line in enumerate(lines))
    asked = _asked(rng, DIALOGUE_ASKS, a=ax, b=bx, A=ax, B=bx)
    return [asked, said], f"dialogue/{a}/{b}"


@cache
def acrostic_lines() -> dict[str, tuple[str, ...]]:
    rows = (line.partition(": ") for line in read_sections(FILE)["acrostic"])
    return {letter: tuple(lines.split(" | ")) for letter, _, lines in rows}


def acrostics(rng: random.Random) -> Talk:
    words = ("sun", "moon", "star", "cat", "dog", "love", "home", "hope", "rain", "snow", "tree",
             "bird", "fish", "summer", "winter", "spring", "autumn", "friend", "mother", "father",
             "mom", "mum", "dad", "school", "music", "happy", "peace", "light", "flower", "garden",
             "draft", "token", "dream", "smile", "ocean", "bread", "cake", "tea", "heart", "family",
             "book", "horse", "robot", "cloud", "river", "night")  # fmt: skip
    word = rng.choice(words)
    if rng.random() < 0.5:
        word = plots.asked_name(rng, rng.choice(("he", "she")))
    letters = [letter for letter in word.lower() if letter in acrostic_lines()]
    if len(letters) != len(word) or len(word) > 9:
        return acrostics(rng)
    seen: dict[str, int] = {}
    lines = []
    for letter in letters:
        at = seen.get(letter, 0)
        seen[letter] = at + 1
        known = acrostic_lines()[letter]
        if at >= len(known):
            return acrostics(rng)
        lines.append(f"{letter.upper()} - {known[at]}")
    shown = rng.choice((word, word.upper(), word.upper(), word.capitalize()))
    return [_asked(rng, ACROSTIC_ASKS, w=shown), "\n".join(lines)], f"acrostic/{word.lower()}"


def twisters(rng: random.Random) -> Talk:
    letter, _, text = rng.choice(read_sections(FILE)["twisters"]).partition(": ")
    shown = letter.upper() if rng.random() < 0.6 else letter
    return [_asked(rng, TWISTER_ASKS, l=shown), text], ""


def raps(rng: random.Random) -> Talk:
    theme, many = verse.open_theme(rng)
    while many:
        theme, many = verse.open_theme(rng)
    if rng.random() < 0.35:
        theme, _, said = rng.choice(read_sections(FILE)["theme raps"]).partition(" | ")
    else:
        shown = re.sub("^my ", "your ", theme)
        said = favourite(rng, read_sections(FILE)["raps"], theme).replace("{t}", shown)
    told = "\n".join(sentence(line) for line in said.split(" / "))
    return [_asked(rng, RAP_ASKS, t=theme), told], f"rap/{theme}"


def compliments(rng: random.Random) -> Talk:
    x, called = _somebody(rng)
    said = favourite(rng, COMPLIMENTS, called).replace("{N}", sentence(called))
    turns = [_asked(rng, KIND_ASKS, x=x), said]
    if rng.random() < 0.2:
        other = rng.choice([text for text in COMPLIMENTS if text[5:] not in said])
        turns += [as_typed(rng, rng.choice(ANOTHER)), other.replace("{N}", sentence(called))]
    return turns, f"compliment/{called}"


# Other names of themes.
ALSO = {
    "the sea": ("the ocean", "the sea"), "autumn": ("fall", "autumn"),
    "love": ("true love", "love"),
    "a cat": ("a kitten", "cats", "kitties"), "a dog": ("a puppy", "dogs"),
    "football": ("soccer", "football"), "my mother": ("my mom", "my mum", "mom", "mothers"),
    "my father": ("my dad", "dad", "fathers"),
    "my grandma": ("my grandmother", "grandma", "my nana"),
    "artificial intelligence": ("AI", "ai"), "programming": ("coding", "code"),
    "friendship": ("friends", "my best friend"), "the forest": ("the woods", "a forest"),
    "a computer": ("my laptop", "computers"), "a rabbit": ("a bunny", "bunnies"),
    "sleep": ("sleeping", "going to bed"), "a teacher": ("my teacher", "teachers"),
    "Christmas": ("xmas", "Christmas Eve"), "the night": ("nighttime", "a dark night"),
    "rain": ("a rainy day", "the rain"), "snow": ("the first snow", "the snow"),
    "winter": ("a winter day", "wintertime"), "spring": ("springtime", "a spring morning"),
    "summer": ("summertime", "a summer day"), "a family": ("my family", "family"),
}  # fmt: skip


def variants(theme: str) -> tuple[str, ...]:
    """How people may name a theme of a poem: `a cat`, `cats`, `my cat`, `the cat`."""
    return (*_forms(theme), *ALSO.get(theme, ()))


def _forms(theme: str) -> tuple[str, ...]:
    article, _, noun = theme.partition(" ")
    if article in ("a", "an"):
        many = plural_of(noun) if " " not in noun else f"{noun}s"
        return (theme, theme, many, f"my {noun}", f"the {noun}", noun)
    if article == "the" and noun not in ("night", "morning"):
        return (theme, theme, noun)
    if article == "my":
        return (theme, theme, f"my {noun}", f"a {noun}")
    return (theme,)


def _longer(rng: random.Random, theme: str, said: str) -> str:
    """The poem with more couplets between its first and its last one: four lines or eight."""
    lines = said.split("\n")
    parts = verse.couplets(theme)
    first, last = lines[:2], lines[2:] or verse.verse_of(rng, [mostly_first(rng, parts["c"])])
    if len(lines) == 2 and rng.random() < 0.5:
        return "\n".join(first + last)
    others = [verse.verse_of(rng, [couplet]) for couplet in parts["m"]]
    others = [couplet for couplet in others if couplet != last][:2]
    if len(others) < 2:
        others.append(verse.verse_of(rng, [parts["c"][0]]))
    return "\n".join(first + others[0]) + "\n\n" + "\n".join(others[1] + last)


LOVED = ("wife", "husband", "girlfriend", "boyfriend", "partner", "love", "fiancee", "fiance")
DEDICATED_ASKS = {
    "love": ("[write |make |] a [short |sweet |] love poem for {x}", "love poem for {x}[ please|]",
             "a romantic poem for {x}", "[can you|please] write a love poem [for|to] {x}?",
             "something romantic for {x}, with rhymes", "a love poem to {x}"),
    "birthday": ("[write |make |] a [short |nice |funny |] birthday [poem|rhyme] for {x}",
                 "birthday poem for {x}[ please|]", "[can you|please] write {x} a birthday poem?",
                 "a birthday [verse|rhyme] for {x}", "it is {x}'s birthday, write a poem",
                 "poem for the birthday of {x}"),
    "thanks poem": ("[write |make |] a [short |nice |] thank[-| ]you [poem|rhyme] for {x}",
                    "a poem to thank {x}", "thank you poem for {x}[ please|]",
                    "i want to thank {x} with a [poem|rhyme]", "[can you|please] write a poem "
                    "to thank {x}?"),
}  # fmt: skip


def dedicated(rng: random.Random) -> Talk:
    """A poem of love, thanks or good wishes for a birthday, with the name of whom it is for."""
    kind = rng.choice(tuple(DEDICATED_ASKS))
    x, called = _somebody(rng)
    if kind == "love":
        word = rng.choice(LOVED[:4]) if rng.random() < 0.8 else rng.choice(LOVED)
        name = plots.asked_name(rng, "she" if word in ("wife", "girlfriend") else "he")
        x, called = (f"my {word} {name}", name) if rng.random() < 0.5 else (f"my {word}", "my love")
    lines = 4 if rng.random() < 0.7 else 8
    if kind == "birthday":
        rows = read_sections(verse.OPEN)["birthday"]
        name = called.removeprefix("dear ")
        kin = name if called.startswith("dear ") else "friend"
        if called in ("Grandma", "Grandpa", "Mom", "Mum", "Dad") or called.startswith("dear "):
            rows = [row for row in rows if "the name" not in row]
        parts = verse.filled(rows, n=name, k=kin.lower(), ak=with_article(kin.lower()))
    else:
        parts = verse.filled(read_sections(FILE)[kind], n=called)
    asked = _asked(rng, DEDICATED_ASKS[kind], x=x)
    if "short" in asked:
        lines = 4
    turns = [asked, verse.poem(rng, called, lines, parts)]
    if lines == 8 and rng.random() < 0.3:
        turns += [as_typed(rng, rng.choice(SHORTER)), "\n".join(turns[1].split("\n")[:2])]
    return turns, f"{kind}/{called}"


HAIKU_ASKS = (
    "[write |make |tell me |give me |] a haiku about {t}", "haiku about {t}", "haiku {t}",
    "[can you|please] write a haiku [about|on] {t}?", "a {t} haiku", "i want a haiku about {t}",
    "one haiku about {t}, please", "try a haiku about {t}", "5-7-5 poem about {t}",
    "three lines about {t}, a haiku", "a short japanese poem about {t}",
)  # fmt: skip


def haikus(rng: random.Random) -> Talk:
    """A haiku about a theme that has lines of its own, and another one."""
    theme = rng.choice(tuple(read_sections(plots.DATA / "haiku.txt")))
    shown = rng.choice(variants(theme))
    ask = rng.choice(HAIKU_ASKS)
    if "a {t} haiku" in ask:
        shown = re.sub("^(an?|the) ", "", theme)
    said = verse.haiku(rng, theme)
    turns = [_asked(rng, (ask,), t=shown), said]
    if rng.random() < 0.25:
        again = verse.haiku(rng, theme)
        while again[:12] == said[:12]:
            again = verse.haiku(rng, theme)
        turns += [as_typed(rng, rng.choice(ANOTHER)), again]
    return turns, f"haiku/{shown}/{ask}"


def riddles(rng: random.Random) -> Talk:
    """A riddle, a hint (the first letter), and the answer."""
    text, answer = rng.choice(verse._rows("riddles.txt"))
    question = alternative(rng, rng.choice(wordings(verse.ASKS, "riddle", False)))
    turns = [as_typed(rng, question), f"{text} What am I?"]
    word = re.sub("^(a|an|the|your) ", "", answer)
    if rng.random() < 0.6:
        turns += [as_typed(rng, rng.choice(HINTS)), f"It begins with the letter {word[0].upper()}."]
    if rng.random() < 0.7:
        turns += [as_typed(rng, rng.choice(GIVE_UP)), f"The answer is: {answer}."]
        if rng.random() < 0.4:
            other = rng.choice([row for row in verse._rows("riddles.txt") if row[0] != text])
            turns += [as_typed(rng, rng.choice(ANOTHER)), f"{other[0]} What am I?"]
    return turns, "riddle"  # never kept back: `verse` asks in the same words


def poems(rng: random.Random) -> Talk:
    """A poem about a theme that has couplets of its own, and the same longer or shorter."""
    theme = rng.choice(tuple(read_sections(verse.POEMS)))
    shown = rng.choice(variants(theme))
    form = rng.choice(POEM_ASKS)
    count = rng.choice((2, 4, 4, 8))
    number = {2: ("two", "2"), 4: ("four", "4"), 8: ("eight", "8")}[count]
    lines = count if "{n}" in form else 2 if form.startswith("two") else 0
    if not lines:
        lines = 4 if rng.random() < 0.75 or "short" in form else 8
    asked = _asked(rng, (form.replace("{n}", rng.choice(number)),), t=shown)
    said = verse.poem(rng, theme, 4 if "short" in asked and lines == 8 else lines)
    lines = len([line for line in said.split("\n") if line])
    turns = [asked, said]
    way = rng.random()
    if way < 0.2 and lines < 8:
        turns += [as_typed(rng, rng.choice(LONGER)), _longer(rng, theme, said)]
    elif way < 0.4 and lines > 2:
        turns += [as_typed(rng, rng.choice(SHORTER)), "\n".join(said.split("\n")[:2])]
    elif way < 0.55 and lines > 2:
        again = verse.poem(rng, theme, lines)
        while again[:20] == said[:20]:  # another one begins otherwise
            again = verse.poem(rng, theme, lines)
        turns += [as_typed(rng, rng.choice(ANOTHER)), again]
    elif way < 0.65:
        other = rng.choice([x for x in read_sections(verse.POEMS) if x != theme])
        ask = rng.choice(
            ("now about {t}", "and about {t}?", "the same about {t}", "one about {t} please",
             "now one about {t}", "about {t} instead", "can you do {t} too?")
        )  # fmt: skip
        turns += [_asked(rng, (ask,), t=other), verse.poem(rng, other, lines)]
    return turns, f"poem/{shown}/{form}"


KINDS: dict[Make, float] = {
    facts: 12, jokes: 16, quotes: 5, slogans: 6, wishes: 10, emails: 7, thanks: 6, invitations: 5,
    descriptions: 8, dialogues: 6, acrostics: 8, twisters: 2, raps: 4, compliments: 4, riddles: 7,
    poems: 26, dedicated: 8, haikus: 8,
}  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for a small piece of writing, that piece, and perhaps what is asked next."""
    while True:
        (make,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
        turns, key = make(rng)
        key = key or turns[0].lower()
        if reserved(key) == held_out:
            return chat(*turns)
