"""Long-winded sentences and how they are short, informal ones and how they are formal, formal ones
in simple words, rude ones and how they are friendly.

What is said with too many words follows tables of phrases in `forms/plainer.txt`: a sentence is
made of some of them, and the short one of what they stand for. Nothing else is left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

from assets.demo.recipe.corpus import copying, daily, rewriting, sentences
from assets.demo.recipe.corpus.copying import Job
from assets.demo.recipe.corpus.sentences import OF, SECOND, be, entries, ing, past, third
from assets.demo.recipe.corpus.text import FORMS, Conversation, chat, read_sections, sentence
from assets.demo.recipe.corpus.wordplay import OPPOSITES

FILE = FORMS / "plainer.txt"
Pair = tuple[str, str]


@cache
def pairs(section: str) -> tuple[Pair, ...]:
    rows = [line.split(" = ") for line in read_sections(FILE)[section]]
    return tuple((row[0], row[1]) for row in rows)


@cache
def lines(section: str) -> tuple[str, ...]:
    return tuple(read_sections(FILE)[section])


@cache
def plain_words(section: str) -> dict[str, str]:
    """`buy` -> `purchase`: the last words of an entry are the formal ones."""
    found = {}
    for entry in (one.strip() for line in lines(section) for one in line.split(";")):
        words = entry.split()
        cut = words.index("fail") if "fail" in words else len(words) - 1
        found[" ".join(words[:cut])] = " ".join(words[cut:])
    return found


def deed(rng: random.Random) -> tuple[str, str]:
    """Something to do, and doing it."""
    while True:
        verb, _, rest = rng.choice(entries("actions")).partition(" ")
        if (
            verb in rewriting.STATES
            or "{his}" in rest
            or verb in ("decide", "try", "promise", "begin", "plan", "start", "hope")
        ):
            continue
        rest = sentences.filled(rng, rest).replace("|", "")
        return f"{verb} {rest}".strip(), f"{ing(verb)} {rest}".strip()


def same(rng: random.Random, *forms: str) -> list[str]:
    """The slots of all forms filled with the same words."""
    base, doing = deed(rng)
    pools: dict[str, list[str]] = {}
    out = []
    for form in forms:
        seen: dict[str, int] = {}

        def fill(match: re.Match[str], seen: dict[str, int] = seen) -> str:
            slot, many = match[1], match[2]
            if slot in "VG":
                return {"V": base, "G": doing}[slot] + (many or "")
            at = seen.get(slot, 0)
            seen[slot] = at + 1
            have = pools.setdefault(slot, [])
            while len(have) <= at:
                new = (
                    str(rng.randint(2, 30)) if slot == "n" else sentences.filled(rng, f"{{{slot}}}")
                )
                if new not in have:
                    have.append(new)
            noun = have[at]
            return (
                daily.PLURAL.sub(daily._many, f"{noun}s")
                if many and slot in "tc"
                else noun + (many or "")
            )

        text = re.sub(r"\{([A-Za-z])\}(s\b)?", fill, form)
        out.append(
            re.sub(
                r"\b([Aa])n? (?=(\w))", lambda m: f"{m[1]}{'n' if m[2] in 'aeiou' else ''} ", text
            )
        )
    return out


def conjugated(phrase: str, who: str, tense: str) -> str:
    """`make a start` as `made a start`."""
    verb, _, rest = phrase.partition(" ")
    often = ""
    if verb == "usually":
        often, (verb, _, rest) = "usually ", rest.partition(" ")
    if tense == "will":
        return f"will {often}{verb} {rest}".strip()
    if verb == "be":
        said = be(who, tense == "then")
    elif tense == "then":
        said = past(verb)
    else:
        said = verb if who in SECOND else third(verb)
    return f"{often}{said} {rest}".strip()


def subject(rng: random.Random) -> tuple[Pair, str]:
    if rng.random() < 0.13:
        found = rng.choice(pairs("people"))
        return found, "she" if re.match(
            "each|the (wo)?man|the person|a friend", found[0]
        ) else "they"
    who, pronoun = sentences.subject(rng)
    while pronoun == "it":
        who, pronoun = sentences.subject(rng)
    return (who, who), pronoun


def doubled(rng: random.Random, verb: Pair) -> Pair:
    """`decide to {V}` with something to do that says the same twice itself."""
    if not re.search(r"\{[VG]\}", verb[0]) or rng.random() < 0.7:
        return verb
    halves = []
    for half, said in zip(verb, rng.choice(pairs("doubled verbs")), strict=True):
        first, _, more = said.partition(" ")
        halves.append(half.replace("{V}", said).replace("{G}", f"{ing(first)} {more}"))
    return halves[0], halves[1]


def wordy(rng: random.Random) -> Pair:
    """A sentence with too many words, and with fewer."""
    way = rng.random()
    if way < 0.2:
        text, answer = same(rng, *rng.choice(pairs("requests")))
        if not text.endswith("?"):
            text += "?" if text.startswith("Would") else "."
        return text, answer if answer[-1] in ".?" else f"{answer}."
    (long_who, who), pronoun = subject(rng)
    tense = rng.choice(("then", "then", "then", "now", "will"))
    before = ("", "")
    kind = rng.random()
    if kind < 0.6:
        verb = rng.choice(pairs("verbs"))
        while (tense == "will" and verb[1].startswith(("usually", "{V}"))) or (
            verb[1].startswith("{V}") and tense == "now"
        ):
            verb = rng.choice(pairs("verbs"))
        verb = doubled(rng, verb)
        long_verb, short_verb = same(rng, *(half.replace("{his}", OF[pronoun][0]) for half in verb))
        long_verb, short_verb = (conjugated(one, pronoun, tense) for one in (long_verb, short_verb))
    elif kind < 0.75:
        tense = "now"
        verb = rng.choice(pairs("modals"))
        has = "have" if pronoun in SECOND else "has"
        verb = doubled(rng, verb)
        long_verb, short_verb = same(
            rng, *(half.replace("{is}", be(pronoun)).replace("{has}", has) for half in verb)
        )
    else:
        tense = "then"
        noun = rng.choice(pairs("nouns"))
        act = rng.choice(
            (
                "buy",
                "find",
                "see",
                "bring",
                "need",
                "carry",
                "lose",
                "sell",
                "get",
                "take",
                "notice",
                "want",
                "order",
            )
        )
        long_noun, short_noun = same(rng, *noun)
        done = conjugated(act, pronoun, "then")
        long_verb, short_verb = f"{done} {long_noun}", f"{done} {short_noun}"
    long_end, short_end = ("", "")
    plain = kind >= 0.75 or not re.search(r"^(to|in order)\b| to \w+ ", long_verb)
    if rng.random() < (0.55 if plain else 0.25):
        section = "adjuncts" if tense == "then" or rng.random() < 0.4 else f"adjuncts {tense}"
        end = rng.choice(pairs(section))
        if not plain and re.search(r"\{[VG]\}", end[0]):
            end = ("for the whole day", "all day")
        long_end, short_end = same(rng, *end)
    long_core = " ".join(f"{long_who} {long_verb} {long_end}".split())
    core = " ".join(f"{who} {short_verb} {short_end}".split())
    names = re.findall(r"\b[A-Z][a-z]+\b", long_core)
    if len(set(names)) < len(names):
        return wordy(rng)
    if tense == "then" and rng.random() < 0.45:
        link = rng.choice(("because", "because", "because", "although", "when"))
        state = rng.choice(pairs("states"))
        if rng.random() < 0.3:
            reason = sentences.reasons(rng)[1]
            state = (reason, reason)
        long_link = rng.choice(lines(link))
        long_before, short_before = same(rng, f"{long_link} {state[0]}", f"{link} {state[1]}")
        before = (long_before, short_before)
    elif tense != "then" and rng.random() < 0.2:
        if_ = sentences.reasons(rng)[0]
        before = (f"{rng.choice(lines('if'))} {if_}", f"if {if_}")
    if before[0] and rng.random() < 0.6:
        text, answer = f"{before[0]}, {long_core}", f"{before[1]}, {core}"
    elif before[0]:
        text, answer = f"{long_core} {before[0]}", f"{core} {before[1]}"
    else:
        text, answer = long_core, core
    if rng.random() < 0.25:
        text = f"{rng.choice(lines('empty'))} {text}"
    text, answer = f"{sentence(text)}.", f"{sentence(answer)}."
    return (text, answer) if len(text) > len(answer) else wordy(rng)


def shorter(rng: random.Random) -> Job:
    """A long-winded sentence, or two."""
    found = [wordy(rng) for _ in range(rng.choice((1, 1, 1, 1, 1, 2)))]
    text, answer = (" ".join(one[i] for one in found) for i in (0, 1))
    return Job(rng.choice(("tighten", "tighten", "shorter")), text, answer)


FULL = {
    "can't": "cannot",
    "won't": "will not",
    "don't": "do not",
    "doesn't": "does not",
    "didn't": "did not",
    "isn't": "is not",
    "aren't": "are not",
    "wasn't": "was not",
    "weren't": "were not",
    "it's": "it is",
    "I'm": "I am",
    "we'll": "we will",
    "I'd": "I would",
    "we're": "we are",
    "I'll": "I will",
    "couldn't": "could not",
    "shouldn't": "should not",
    "let's": "let us",
    "they're": "they are",
    "you're": "you are",
    "I've": "I have",
    "that's": "that is",
    "haven't": "have not",
    "hasn't": "has not",
}
# Formal words that are as simple as those they stand for.
NOT_SIMPLE = (
    "provide",
    "select",
    "receive",
    "request",
    "large",
    "children",
    "mother",
    "father",
    "people",
    "friend",
    "police",
    "simple",
    "many",
    "look",
    "Dear",
    "damage",
    "return",
    "rest",
    "settle",
    "combine",
    "alter",
    "return",
    "gentlemen",
    "manager",
)


def filled(rng: random.Random, form: str) -> str:
    return same(rng, form)[0]


def expanded(text: str) -> str:
    """Without short forms."""
    return re.sub(
        r"\b(\w+'\w+)",
        lambda m: FULL.get(m[0], sentence(FULL[m[0].lower()]) if m[0].lower() in FULL else m[0]),
        text,
    )


def stiff(rng: random.Random) -> Pair:
    """An everyday sentence, and the same in formal words."""
    way = rng.random()
    if way < 0.2:
        text, answer = same(rng, *rng.choice(pairs("formal lines")))
        text = text if text.endswith("?") else f"{text}."
        return text, answer if answer[-1] in ".?" or answer.startswith(
            ("Dear", "Kind")
        ) else f"{answer}."
    if way < 0.6:
        kind = rng.choice(("verbs", "verbs", "events"))
        verbs = plain_words(f"formal {kind}")
        verb = rng.choice(tuple(verbs))
        form = rng.choice(lines("event frames" if kind == "events" else "formal frames"))
        formal = verbs[verb]
        if re.search(r"^(We|They|I) \{1\}", form) and ("yesterday" in form or rng.random() < 0.5):
            first, _, more = verb.partition(" ")
            first_formal, _, more_formal = formal.partition(" ")
            verb = f"{past(first)} {more}".strip()
            formal = f"{past(first_formal)} {more_formal}".strip()
        texts = same(rng, form.replace("{1}", verb), form.replace("{1}", formal))
        return texts[0], expanded(texts[1])
    words = plain_words("formal words")
    form = rng.choice(lines("formal sentences"))
    form = re.sub(r"\{2:([^}]*)\}", lambda m: f"<{rng.choice(m[1].split('|'))}>", form)
    formal = re.sub(r"<([^>]*)>", lambda m: words[m[1]], form)
    text, answer = same(rng, re.sub(r"[<>]", "", form), formal)
    return sentence(text), expanded(sentence(answer))


def formal(rng: random.Random) -> Job:
    text, answer = stiff(rng)
    if rng.random() < 0.25:
        text = (
            text[0].lower() + text[1:].rstrip(".") if not text.startswith("I") else text.rstrip(".")
        )
    return Job("formal", text, answer)


def letter(rng: random.Random) -> Job:
    """A short message to a friend, and the same for a letter."""
    to, by = rng.sample(daily.NAMES, 2)
    found: list[Pair] = []
    count = rng.choice((1, 1, 2, 3))
    while len(found) < count:
        one = stiff(rng)
        if one[1][-1] in ".?" and not any(name in " ".join(one) for name in (to, by)):
            found.append(one)
    hi = rng.choice(("Hi", "Hey", "Hello", "hi", "hey"))
    bye = rng.choice(("Bye", "See you", "Cheers", "Love", "Take care", "bye"))
    easy, formal_ = " ".join(one[0] for one in found), " ".join(one[1] for one in found)
    if rng.random() < 0.5:
        return Job("formal", f"{hi} {to}, {easy}", f"Dear {to}, {formal_}")
    return Job(
        "formal", f"{hi} {to}, {easy} {bye}, {by}", f"Dear {to}, {formal_} Kind regards, {by}"
    )


SPELLINGS = (
    "colour color;favourite favorite;neighbour neighbor;centre center;theatre theater;grey gray"
    ";travelled traveled;travelling traveling;cancelled canceled;realise realize;metre meter"
    ";organise organize;recognise recognize;apologise apologize;litre liter;flavour flavor"
    ";honour honor;humour humor;behaviour behavior;harbour harbor;labour labor;rumour rumor"
    ";catalogue catalog;dialogue dialog;programme program;tyre tire;pyjamas pajamas;plough plow"
    ";jewellery jewelry;traveller traveler;defence defense;licence license;analyse analyze"
    ";cheque check;colourful colorful;favour favor;fibre fiber;storey story;mum mom"
    ";moustache mustache;sceptical skeptical;marvellous marvelous;skilful skillful;kerb curb"
)
AMERICAN = dict(entry.split() for entry in SPELLINGS.split(";"))
SPELLED = (
    "My {0} is in the {p}.",
    "I like this {0}.",
    "The {0} is next to the {p}.",
    "{N} talks about the {0}.",
    "What a nice {0}!",
    "The {0} is {a}.",
    "We need a {0} and a {1}.",
    "This {0} is not my {1}.",
    "Is that your {0}?",
    "{0}, {1}",
    "{0}",
    "{0} and {1}",
    "{0} {1}",
    "The word {0} is on the {t}.",
)
NAMED = (
    "colour",
    "neighbour",
    "centre",
    "theatre",
    "metre",
    "litre",
    "flavour",
    "harbour",
    "rumour",
    "catalogue",
    "dialogue",
    "programme",
    "tyre",
    "plough",
    "traveller",
    "licence",
    "cheque",
    "favour",
    "moustache",
    "kerb",
)


def american(rng: random.Random) -> Job:
    """British spelling and American spelling."""
    form = rng.choice(SPELLED)
    pool = NAMED if re.search(r"[a-zA-Z] ?\{0\}|\{0\} is", form) else tuple(AMERICAN)
    a, b = rng.sample(pool, 2)
    british = sentence(filled(rng, form.replace("{0}", a).replace("{1}", b)))
    if not form.startswith("{0}") and rng.random() < 0.2:
        british = f"{british} My favourite colour is {rng.choice(('grey', 'blue', 'red'))}."
    us = re.sub(r"[A-Za-z]+", lambda m: _like(m[0], AMERICAN.get(m[0].lower(), m[0])), british)
    if rng.random() < 0.35:
        return Job("british", us, british)
    return Job("american", british, us)


def _like(word: str, new: str) -> str:
    return sentence(new) if word[0].isupper() else new


def simple(rng: random.Random) -> Job:
    """Formal words, and what everybody says: the short forms stay full."""
    easy, text = stiff(rng)
    while (
        any(easy == line.split(" = ")[0] for line in lines("formal lines"))
        or "please" in text.lower()
    ):
        easy, text = stiff(rng)
    answer = expanded(easy)
    if text == answer or any(re.search(rf"\b{word}", text) for word in NOT_SIMPLE):
        return simple(rng)
    return Job("simple", text, answer)


def softer(rng: random.Random) -> Job:
    text, answer = same(rng, *rng.choice(pairs("softer")))
    end = "" if text.endswith("?") else rng.choice((".", ".", "!", ""))
    answer = answer if answer[-1] in ".?!" else f"{answer}."
    return Job("polite", f"{text}{end}", answer)


def _opposites() -> dict[str, str]:
    """Adjectives that have one opposite, whatever they are said of."""
    left = (
        "old",
        "new",
        "light",
        "heavy",
        "short",
        "tall",
        "kind",
        "free",
        "strange",
        "boring",
        "dark",
    )
    return {a: b for a, b in OPPOSITES.items() if a in daily.ADJECTIVES and a not in left}


CONTRARY = (
    "The {t} is {0}.",
    "The {0} {t} is in the {p}.",
    "{N} has a {0} {t}.",
    "The {c} is {0} and {1}.",
    "My {t} is {0}, but your {t} is {1}.",
    "I saw a {0} {c} near the {1} {p}.",
    "It was {0} in {C}.",
    "The {0} {c} sat on the {1} {t}.",
    "{N} is always {0}.",
    "The {p} was {0} and {1}.",
    "The {e} was {0}.",
    "The {d} is {0}.",
    "They live in a {0} house.",
    "She is {0} and {1}.",
)


def opposite(rng: random.Random) -> Job:
    """The adjectives of a sentence, each with its opposite."""
    known = _opposites()
    a, b = rng.sample(sorted(known), 2)
    if known[a] == b:
        return opposite(rng)
    form = rng.choice(CONTRARY)
    text, answer = same(
        rng,
        form.replace("{0}", a).replace("{1}", b),
        form.replace("{0}", known[a]).replace("{1}", known[b]),
    )
    return Job("opposite", sentence(text), sentence(answer))


PIRATE = {
    "my": "me",
    "you": "ye",
    "your": "yer",
    "is": "be",
    "are": "be",
    "am": "be",
    "friend": "matey",
    "friends": "mateys",
    "hello": "ahoy",
    "yes": "aye",
    "the": "th'",
    "and": "an'",
    "of": "o'",
    "money": "gold",
    "car": "ship",
    "house": "ship",
    "boss": "captain",
    "man": "lad",
    "woman": "lass",
    "old": "ol'",
    "to": "t'",
    "for": "fer",
    "beer": "rum",
    "tea": "rum",
    "teacher": "captain",
}
LINES = (
    "My {t} is {a}.",
    "Hello my friend, where is the {p}?",
    "You are late for the {e}.",
    "The {p} is {a} and the {t} is {a}.",
    "My boss is in {C}.",
    "Where is my {t}?",
    "Your {c} is {a}.",
    "I want to go to the {p}.",
    "We are looking for the {t} of {N}.",
    "Yes, the {t} is for you.",
    "Give me the {t}!",
    "My friends are in the {p}.",
    "This {c} is my friend.",
    "The old man is looking for your money.",
    "I am {a} and you are {a}.",
    "Do you have a {t} for my {c}?",
    "{N} and {N} are going to {C}.",
    "The {e} is on {D}.",
)


def styled(rng: random.Random) -> Job:
    """As a pirate says it, word by word, or full of joy, or sad about it."""
    text = filled(rng, rng.choice(LINES))
    way = rng.random()
    if way < 0.5:
        said = re.sub(r"[A-Za-z]+", lambda m: _like(m[0], PIRATE.get(m[0].lower(), m[0])), text)
        return Job("pirate", text, f"Arr! {said}")
    if text.endswith("?"):
        return styled(rng)
    if way < 0.8:
        return Job("excited", text, f"Wow, great news! {text[:-1]}!")
    return Job("sadder", text, f"Oh dear, what a pity. {text[:-1]}...")


MAKERS: dict[Callable[[random.Random], Job], float] = {
    shorter: 58,
    formal: 13,
    letter: 6,
    simple: 10,
    softer: 10,
    american: 5,
    opposite: 5,
    styled: 4,
    copying._demand: 3,
}
KINDS, WEIGHTS = tuple(MAKERS), tuple(MAKERS.values())


def job(rng: random.Random) -> Job:
    return rng.choices(KINDS, WEIGHTS)[0](rng)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    todo = job(rng)
    talk = [rewriting.asked(rng, todo, held_out), todo.answer]
    while not held_out and rng.random() < 0.2:
        other = job(rng)
        if other.kind == todo.kind and rng.random() < 0.4:
            start = rng.choice(
                ("and this: ", "now this one: ", "and: ", "the same with this: ", "this one too: ")
            )
            talk += [f"{start}{other.text}", other.answer]
        else:
            talk += [rewriting.asked(rng, other), other.answer]
    return chat(*talk)
