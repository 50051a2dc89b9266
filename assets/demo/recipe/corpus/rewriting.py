"""A text that the user gives, and what is to be done with it: copied, mended, put into another
tense or person, asked about word by word, shortened, joined, listed. It goes on with "now as a
question", "and with a cat instead".

The sentences (`sentences`) differ in all their parts, so that only the rule can be learned.
`forms/rewriting.txt` and `forms/copying.txt` have the forms of asking.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

from assets.demo.recipe.corpus import copying, daily, sentences, subjects
from assets.demo.recipe.corpus.copying import Job, whole_words
from assets.demo.recipe.corpus.sentences import OF, Clause, any_line, clause, entries
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    Topic,
    alternative,
    chat,
    listed,
    read_sections,
    read_topics,
    sentence,
    with_article,
)
from assets.demo.recipe.corpus.wordplay import plural_of

NEW = {topic.name: topic for topic in read_topics(FORMS / "rewriting.txt")}
ASKED: dict[str, Topic] = copying.ASKED | NEW
Maker = Callable[[random.Random], Job]
NTH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
NUMBERED = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th")


def line(rng: random.Random, most: int = 14) -> str:
    """One sentence of not too many words."""
    while len((text := any_line(rng)).split()) > most:
        pass
    return text


def some(rng: random.Random) -> str:
    """One to three sentences, or a few words of any kind."""
    way = rng.random()
    if way < 0.55:
        return any_line(rng)
    if way < 0.75:
        return f"{any_line(rng)} {any_line(rng)}"
    if way < 0.85:
        return odd_words(rng)
    text = line(rng)
    return text.rstrip(".?!") if way < 0.92 else text[0].lower() + text[1:].rstrip(".")


def odd_words(rng: random.Random) -> str:
    """A sentence with a word, a number or a name that nobody knows, or only such."""
    text = line(rng)
    words = text.split(" ")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(words))
        strange = rng.choice(
            (
                subjects.made_up(rng),
                subjects.rare_name(rng),
                str(rng.randrange(100000)),
                rng.choice(daily.common()),
                f"{rng.choice('abcxyzqkw')}{rng.randrange(100)}",
                "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8))),
                f"{rng.randint(0, 23)}:{rng.randrange(60):02}",
                f"${rng.randint(1, 500)}",
                f"{rng.randint(1, 99)}%",
                subjects.made_up(rng).upper(),
            )
        )
        words[at] = strange
    return " ".join(words)


def repeat(rng: random.Random) -> Job:
    text = some(rng)
    return Job("repeat", text, text)


def upper(rng: random.Random) -> Job:
    text = line(rng, 9)
    return Job("upper", text, text.upper())


def lower(rng: random.Random) -> Job:
    text = line(rng, 10)
    return Job("lower", text.upper() if rng.random() < 0.6 else text, text.lower())


def title(rng: random.Random) -> Job:
    text = line(rng, 9).rstrip(".!")
    text = text.lower() if rng.random() < 0.6 else text
    return Job("title", text, " ".join(word[0].upper() + word[1:] for word in text.split()))


# --- what is wrong with a text -------------------------------------------------------------------

# How words are spelled by ear or in a hurry: a rule for any word.
BY_EAR = (
    ("ph", "f"),
    ("ck", "k"),
    ("ie", "ei"),
    ("ei", "ie"),
    ("ea", "ee"),
    ("ee", "ea"),
    ("ou", "u"),
    ("igh", "i"),
    ("ght", "gth"),
    ("wh", "w"),
    ("kn", "n"),
    ("tion", "shun"),
    ("ss", "s"),
    ("ll", "l"),
    ("tt", "t"),
    ("pp", "p"),
    ("mm", "m"),
    ("nn", "n"),
    ("rr", "r"),
    ("ff", "f"),
    ("cc", "c"),
    ("oo", "o"),
    ("ai", "a"),
    ("er", "re"),
    ("le", "el"),
    ("th", "ht"),
    ("ful", "full"),
    ("ce", "se"),
    ("ent", "ant"),
    ("ant", "ent"),
    ("able", "abel"),
    ("qu", "kw"),
    ("c", "k"),
    ("ey", "y"),
    ("tch", "ch"),
    ("au", "o"),
    ("ow", "ou"),
    ("ue", "u"),
    ("ui", "iu"),
    ("oa", "o"),
)
NEAR = dict(
    zip("qwertyuiopasdfghjklzxcvbnm", "wqretuyipoasfdhgkjlxzvcbmn", strict=True)
)  # keys side by side


def misspelled(rng: random.Random, word: str) -> str:
    """A small word or a long one with a slip, by ear or of the fingers."""
    known = copying.MISSPELLED.get(word)
    if known and rng.random() < 0.6:
        return rng.choice(known.split())
    way = rng.random()
    if way < 0.35:
        fit = [(a, b) for a, b in BY_EAR if a in word[1:]]
        if fit:
            a, b = rng.choice(fit)
            return word[0] + word[1:].replace(a, b, 1)
    if way < 0.45 and word.endswith("e"):
        return word[:-1]
    at = rng.randrange(1, len(word))
    if way < 0.6 and at + 1 < len(word):
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if way < 0.75:
        return word[:at] + word[at] + word[at:]
    if way < 0.93:
        return word[:at] + word[at + 1 :]
    return word[:at] + NEAR.get(word[at], "e") + word[at + 1 :]


@cache
def real_words() -> frozenset[str]:
    """Words that are right, so that no slip may make one of them."""
    text = " ".join((*sentences.natural(), *entries("actions"), *daily.real()))
    return frozenset(re.findall(r"[a-z]+", text.lower())) | frozenset(daily.common())


SHORT_FORMS = re.compile(r"\b(\w+)'(t|s|m|re|ll|ve)\b")


def with_slips(rng: random.Random, text: str) -> str:
    """`text` with some of its words spelled wrong, none of them a word of its own."""
    words = sorted(set(re.findall(r"(?<!['-])\b[a-z]{3,}\b(?!['-])", text)))
    words = [w for w in words if w in real_words()]
    share = rng.choice((1, 1, 2, 2, 3, 4, 5))
    for word in rng.sample(words, min(len(words), share)):
        for _ in range(4):
            wrong = misspelled(rng, word)
            if wrong != word and wrong not in real_words() and len(wrong) > 1:
                text = whole_words(text, word, wrong)
                break
    return text


def sloppy(rng: random.Random, text: str) -> str:
    """Without capitals and the last stop, or without apostrophes."""
    way = rng.random()
    if way < 0.5:
        return text
    text = SHORT_FORMS.sub(r"\1\2", text) if way > 0.65 else text
    return text[0].lower() + text[1:].rstrip(".") if way < 0.75 else text.lower().rstrip(".")


def spelling(rng: random.Random) -> Job:
    right = line(rng, 12) if rng.random() < 0.8 else f"{line(rng, 9)} {line(rng, 9)}"
    wrong = sloppy(rng, with_slips(rng, right))
    if (
        wrong.lower().rstrip(".") == right.lower().rstrip(".")
        or re.search(r"[a-z]{3}", right) is None
    ):
        return spelling(rng)
    return Job(rng.choice(("spelling", "spelling", "spelling", "mistakes")), wrong, right)


def grammar(rng: random.Random) -> Job:
    """A verb in the wrong form, the wrong article, a missing or a doubled little word."""
    past = rng.random() < 0.4
    one = clause(rng, rng.choice((1, 1, 1, 2)), "past" if past else "now")
    tense = "then" if past else "now"
    if past and one.end not in sentences_past(one.end):
        one = Clause(
            one.subject, one.who, one.doing, sentences.filled(rng, rng.choice(entries("when past")))
        )
    right = one.said(tense)
    verb, said = one.doing[0][0], one.verbs(tense)[0]
    way = rng.random()
    if way < 0.6:
        forms = {verb, sentences.third(verb), sentences.past(verb)}
        if verb == "be":
            forms = {"is", "are", "be", "was", "were", "am"}
        if past and verb in sentences.IRREGULAR and verb != "be":
            forms.add(verb + ("d" if verb.endswith("e") else "ed"))
        if not past:  # what is past is right as well
            forms -= {sentences.past(verb), "was", "were"}
            if verb != "be":
                forms |= {f"is {verb}", f"are {verb}"}
        wrong = right.replace(f" {said} ", f" {rng.choice(sorted(forms - {said}))} ", 1)
    elif way < 0.8:
        denied = clause(rng, 1)
        verb = denied.doing[0][0]
        right = denied.denied(tense)
        if verb == "be" or (
            "don't" not in right and "doesn't" not in right and "didn't" not in right
        ):
            return grammar(rng)
        helper = re.search(r"(do|does|did)n't", right)
        said = helper[0] if helper else ""
        other = {
            "don't": ("doesn't", "not", "no"),
            "doesn't": ("don't", "not", "dont"),
            "didn't": ("not", "didnt"),
        }[said]
        bad = rng.choice(other)
        wrong = right.replace(said, bad, 1)
        if said == "didn't" and rng.random() < 0.5:
            wrong = right.replace(f"didn't {verb} ", f"didn't {sentences.past(verb)} ", 1)
        elif said == "doesn't" and rng.random() < 0.4:
            wrong = right.replace(f"doesn't {verb} ", f"doesn't {sentences.third(verb)} ", 1)
    else:
        wrong = re.sub(
            r"\b(a|an) (?=\w)", lambda match: "an " if match[1] == "a" else "a ", right, count=1
        )
        if wrong == right:
            wrong = re.sub(r" (to|at|in|on) the (?=\w+[ .])", r" \1 ", right, count=1)
    if rng.random() < 0.25:
        wrong = re.sub(r"\b(many|two|three) (\w+?)s\b", r"\1 \2", wrong)
    if wrong == right:
        return grammar(rng)
    wrong = sloppy(rng, wrong) if rng.random() < 0.6 else wrong
    return Job(rng.choice(("grammar", "grammar", "grammar", "mistakes")), wrong, right)


def sentences_past(end: str) -> tuple[str, ...]:
    """`end`, if it says that something is over."""
    over = end.startswith(("last", "yesterday")) or end.endswith("ago")
    return (end,) if over else ()


# Little groups of words that are often wrong: wrong / right, with slots.
USUAL = (
    "there is many {t}s in the {p} / There are many {t}s in the {p}.",
    "there was two {c}s in the {p} / There were two {c}s in the {p}.",
    "i have much friends / I have many friends.",
    "how much {t}s do you have? / How many {t}s do you have?",
    "i am agree with {N} / I agree with {N}.",
    "he can sings / He can sing.",
    "she must goes to the {p} / She must go to the {p}.",
    "i want that you come / I want you to come.",
    "me and {N} goes to the {p} / {N} and I go to the {p}.",
    "i goed to the {p} / I went to the {p}.",
    "there was much peoples in the {p} / There were many people in the {p}.",
    "i have {n} years / I am {n} years old.",
    "she is more taller than {N} / She is taller than {N}.",
    "he is the most biggest / He is the biggest.",
    "this {t}s are {a} / These {t}s are {a}.",
    "these {t} is {a} / This {t} is {a}.",
    "i am boring of the {e} / I am bored of the {e}.",
    "the informations are wrong / The information is wrong.",
    "i like to swimming / I like to swim.",
    "where you live? / Where do you live?",
    "what means this word? / What does this word mean?",
    "why you are late? / Why are you late?",
    "he go always to the {p} / He always goes to the {p}.",
    "i seen the {c} yesterday / I saw the {c} yesterday.",
    "i has a {t} / I have a {t}.",
    "they was in the {p} / They were in the {p}.",
    "we was happy / We were happy.",
    "you was late / You were late.",
    "she have a {c} / She has a {c}.",
    "i could of come / I could have come.",
    "i should of called {N} / I should have called {N}.",
    "he dont know me / He doesn't know me.",
    "i ain't got no {s} / I don't have any {s}.",
    "since two years i live in {C} / I have lived in {C} for two years.",
    "i am living here since {M} / I have been living here since {M}.",
    "i look forward to see you / I look forward to seeing you.",
    "can you borrow me a {t}? / Can you lend me a {t}?",
    "i make my homework / I do my homework.",
    "he said me the truth / He told me the truth.",
    "please explain me this / Please explain this to me.",
    "i am here for learn english / I am here to learn English.",
    "the childs play in the {p} / The children play in the {p}.",
    "two mans came in / Two men came in.",
    "my foots hurt / My feet hurt.",
    "i buyed a {t} / I bought a {t}.",
    "she catched the ball / She caught the ball.",
    "i didn't saw nothing / I didn't see anything.",
    "he is married with {N} / He is married to {N}.",
    "it depends of the {p} / It depends on the {p}.",
    "she is good in tennis / She is good at tennis.",
    "i arrived to {C} on {D} / I arrived in {C} on {D}.",
    "we discussed about the {e} / We discussed the {e}.",
    "its a {a} {t} / It's a {a} {t}.",
    "your very {a} / You're very {a}.",
    "their is a {c} here / There is a {c} here.",
    "i have less {t}s then you / I have fewer {t}s than you.",
    "who's {t} is this? / Whose {t} is this?",
    "everyone are here / Everyone is here.",
    "one of my friend is ill / One of my friends is ill.",
    "a apple is on the {t} / An apple is on the {t}.",
    "i need an {s} / I need some {s}.",
    "he runned to the {p} / He ran to the {p}.",
    "she don't never eat {f} / She never eats {f}.",
    "if i would know it, i would tell you / If I knew it, I would tell you.",
    "i am used to get up early / I am used to getting up early.",
    "he suggested me to go / He suggested that I go.",
    "yesterday i eat {f} / Yesterday I ate {f}.",
    "tomorrow i went to {C} / Tomorrow I will go to {C}.",
    "me like {f} / I like {f}.",
    "him is my friend / He is my friend.",
    "us are late / We are late.",
    "i and my brother plays chess / My brother and I play chess.",
    "she sing beautiful / She sings beautifully.",
    "he drives very quick / He drives very quickly.",
    "i feel me well / I feel well.",
)


def usual(rng: random.Random) -> Job:
    wrong, right = _alike(rng, *rng.choice(USUAL).split(" / "))
    if rng.random() < 0.3:
        wrong = sentence(wrong)
    wrong += rng.choice(("", ".")) if wrong[-1] != "?" else ""
    return Job(rng.choice(("grammar", "mistakes")), wrong, right)


def _alike(rng: random.Random, *forms: str) -> tuple[str, ...]:
    """The slots of all forms filled with the same words: no form may have a slot twice."""
    slots = sorted(set(re.findall(r"\{(\w)\}", " ".join(forms))))
    values = {slot: sentences.filled(rng, f"{{{slot}}}") for slot in slots}

    def fill(form: str) -> str:
        text = re.sub(
            r"\{(\w)\}(s\b)?", lambda m: plural_of(values[m[1]]) if m[2] else values[m[1]], form
        )
        return re.sub(
            r"\b([Aa])n? (?=(\w))",
            lambda m: (
                m[0]
                if form.startswith("a apple") or "an {s}" in form
                else f"{m[1]}n "
                if m[2] in "aeiou"
                else f"{m[1]} "
            ),
            text,
        )

    return tuple(map(fill, forms))


def check(rng: random.Random) -> Job:
    """Whether a sentence is right, and how it should be."""
    if rng.random() < 0.5:
        text = (
            line(rng, 10)
            if rng.random() < 0.5
            else clause(rng, 1).said(rng.choice(("now", "then")))
        )
        return Job("check", text, "Yes, this is correct.")
    wrong = rng.choice((grammar, usual, grammar))(rng)
    return Job("check", wrong.text, f"No. Correct is: {wrong.answer}")


def contains(rng: random.Random) -> Job:
    """Whether a word stands in a text."""
    text = line(rng, 12) if rng.random() < 0.7 else f"{line(rng, 9)} {line(rng, 9)}"
    there = re.findall(r"(?<!')\b[a-z]{2,}\b(?!')", text)
    if there and rng.random() < 0.5:
        word = rng.choice(there)
        return Job("contains", text, f'Yes, the word "{word}" is in the text.', word)
    word = rng.choice(
        (rng.choice(daily.THINGS), rng.choice(daily.CREATURES), rng.choice(daily.common()))
    )
    if re.search(word, text):
        return contains(rng)
    return Job("contains", text, f'No, the word "{word}" is not in the text.', word)


def punctuate(rng: random.Random) -> Job:
    """Sentences in small letters without stops."""
    count = rng.choice((1, 1, 2, 2, 3))
    right = " ".join(line(rng, 10) for _ in range(count))
    wrong = re.sub(r"[.?!,]", "", right).lower()
    return Job("punctuate", SHORT_FORMS.sub(r"\1\2", wrong) if rng.random() < 0.5 else wrong, right)


def apostrophe(rng: random.Random) -> Job:
    form = rng.choice(
        (
            "I don't like the {t}.",
            "It's a {a} {t}.",
            "{N}'s {t} is {a}.",
            "We can't find the {c}.",
            "She isn't in the {p}.",
            "I'm in the {p}.",
            "They're at the {p}.",
            "That's {N}'s {c}.",
            "He doesn't eat {f}.",
            "You didn't call {N}.",
            "I've lost my {t}.",
            "We'll meet on {D}.",
            "My {c}'s name is {N}.",
            "Let's go to the {p}.",
            "There's a {c} in the {p}.",
            "You shouldn't drink {d}.",
            "The {c}'s tail is {a}.",
            "What's in the {t}?",
            "Who's {N}?",
            "It isn't my {t}.",
            "I couldn't hear the {c}.",
            "They weren't in {C}.",
            "She won't come.",
        )
    )
    (right,) = _alike(rng, form)
    wrong = right.replace("'", "")
    return Job("apostrophe", wrong.lower() if rng.random() < 0.3 else wrong, right)


# --- words of a text -----------------------------------------------------------------------------

OFTEN = (
    "my {x} is {a} and my {x} likes {s}",
    "The {x} saw another {x} near the {p}.",
    "I have a {x}. The {x} is {a}. Everybody likes the {x}.",
    "A {x} is a {x} and not a {c}.",
    "If the {x} is {a}, bring the {x} to the {p}.",
    "My {x} is {a}. Your {x} is {a}.",
    "I love my {x} and my {x} loves me.",
    "One {x} and one {x} are two.",
    "{x}, {x}, {t} and {x}",
    "The {x} chased the {c}, and the {c} chased the {x}.",
    "Where is the {x}? The {x} is in the {p}.",
    "I wanted a {x}, so {N} gave me a {x}.",
    "No {x} is like this {x}.",
    "{x} {x} {t} {x}",
    "We bought a {x} on {D} and sold the {x} on {D}.",
    "this {x} and that {x}",
    "The {a} {x} sits in the {p}. Nobody sees the {x}.",
    "I like the {x}, but {N} hates the {x}.",
    "the {x} is here",
    "i see a {x}",
    "my {x} is {a}",
    "the {x} and the {c}",
    "I need a new {x}.",
)


def replaced(rng: random.Random) -> Job:
    """A word for another wherever it stands: a thing, a colour, a name, a number, any word."""
    way = rng.random()
    if way < 0.45:
        pool = rng.choice((daily.THINGS, daily.CREATURES, daily.CREATURES))
        old = rng.choice(pool)
        new = rng.choice(pool if rng.random() < 0.7 else daily.THINGS)
        text = sentences.filled(rng, rng.choice(OFTEN).replace("{x}", old))
        if rng.random() < 0.25:
            text = f"{text.rstrip('.?')}. {line(rng, 9)}"
    elif way < 0.6:
        old, new = rng.sample(subjects.COLOURS, 2)
        text = sentences.filled(
            rng,
            rng.choice(
                (
                    f"The {old} {{t}} is next to the {old} {{t}}.",
                    f"I like {old} better than any colour.",
                    f"{{N}} wears a {old} coat and {old} shoes.",
                    f"My {{t}} is {old}.",
                    f"A {old} {{c}} sat on a {{a}} {{t}}.",
                    f"She bought {old} paint for the {{p}}.",
                )
            ),
        )
    elif way < 0.75:
        old, new = rng.sample(daily.NAMES, 2)
        new = subjects.rare_name(rng) if rng.random() < 0.4 else new
        text = sentences.filled(
            rng,
            rng.choice(
                (
                    f"{old} and {{N}} go to {{C}}.",
                    f"I met {old} at the {{p}}, and {old} said hello.",
                    f"My name is {old}.",
                    f"{old} loves {{f}}.",
                    f"This {{t}} belongs to {old}, not to {{N}}.",
                    f"Dear {old}, see you on {{D}}.",
                    f"{old} is {{n}} years old.",
                    f"Call {old} on {{D}}.",
                )
            ),
        )
    elif way < 0.82:
        old, new = (str(n) for n in rng.sample(range(2, 100), 2))
        text = sentences.filled(
            rng,
            rng.choice(
                (
                    f"I have {old} {{t}}s and {{N}} has {old} {{c}}s.",
                    f"Room {old} is {{a}}.",
                    f"The bus leaves in {old} minutes.",
                    f"{{N}} is {old} years old.",
                )
            ),
        )
    else:
        text = line(rng)
        words = re.findall(r"(?<!')\b[a-z]{2,}\b(?!')", text)
        if not words:
            return replaced(rng)
        old = rng.choice(words)
        new = subjects.made_up(rng) if rng.random() < 0.3 else rng.choice(daily.common())
    article = (old[0].lower() in "aeiou") != (new[0].lower() in "aeiou")
    if old == new or (article and rng.random() < 0.6) or re.search(rf"\b{new}\b", text):
        return replaced(rng)
    answer = whole_words(text, old, new)
    if article:  # `a dog` becomes `an owl`
        an = "n" if new[0].lower() in "aeiou" else ""
        answer = re.sub(rf"\b([Aa])n? (?={new}\b)", rf"\1{an} ", answer)
    return Job("word", text, answer, old, new)


def _tidy(text: str, capital: bool) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" (?=[.,?!])", "", text)
    return sentence(text) if capital else text


def plain_line(rng: random.Random, least: int = 3, most: int = 9) -> str:
    """A sentence without commas, for work with its words."""
    while True:
        text = line(rng, most)
        if "," not in text and len(text.split()) >= least and text.count(".") < 2:
            return text


AN = re.compile(r"\b([Aa] (?=[aeiou])|[Aa]n (?=[b-df-gj-np-tv-z]))")


def deleted(rng: random.Random) -> Job:
    """A word left out, where no article has to change."""
    done = _deleted(rng)
    return deleted(rng) if AN.search(done.answer) and not AN.search(done.text) else done


def _deleted(rng: random.Random) -> Job:
    text = plain_line(rng, 4, 12)
    words = text.split()
    if rng.random() < 0.25:
        at = rng.choice((0, len(words) - 1, rng.randrange(min(5, len(words)))))
        nth = "last" if at == len(words) - 1 else NTH[min(at, 6)]
        if at > 4 and nth != "last":
            return _deleted(rng)
        stop = text[-1] if nth == "last" and not text[-1].isalnum() else ""
        left = words[:at] + words[at + 1 :]
        return Job("delete nth", text, _tidy(" ".join(left) + stop, text[0].isupper()), nth=nth)
    inner = [w.strip(".?!") for w in words]
    fit = [w for w in inner if inner.count(w) == 1 and w.isalpha() and len(w) > 1]
    fit = [w for w in fit if w.lower() in ("very", "old", "new", "again", "really")] or fit
    little = ("the", "an", "of", "to", "in", "on", "at", "and", "is", "for", "it", "from", "by")
    word = rng.choice([w for w in fit if w.lower() not in little] or fit)
    left_text = re.sub(rf"\b{re.escape(word)}\b", "", text, count=1)
    return Job("delete", text, _tidy(left_text, text[0].isupper()), word)


def inserted(rng: random.Random) -> Job:
    """A word put in, where no article has to change."""
    done = _inserted(rng)
    return inserted(rng) if AN.search(done.answer) and not AN.search(done.text) else done


def _inserted(rng: random.Random) -> Job:
    text = plain_line(rng, 3, 11)
    inner = re.findall(r"[A-Za-z]+", text)
    new = rng.choice(
        (
            "very",
            "really",
            "always",
            "never",
            "old",
            "big",
            "small",
            "red",
            "my",
            "only",
            "now",
            "nice",
            "quickly",
            subjects.made_up(rng),
            rng.choice(daily.common()),
            rng.choice(daily.ADJECTIVES),
            rng.choice(subjects.COLOURS),
        )
    )
    way = rng.random()
    if way < 0.6:
        fit = [
            w
            for w in inner[1:]
            if inner.count(w) == 1 and len(w) > 1 and f"{w}'" not in text and f"'{w}" not in text
        ]
        if not fit:
            return _inserted(rng)
        at = rng.choice(fit)
        kind, put = (
            ("insert before", f"{new} {at}") if way < 0.35 else ("insert after", f"{at} {new}")
        )
        return Job(kind, text, re.sub(rf"\b{at}\b", put, text, count=1), new, at)
    end = rng.choice(
        (
            "please",
            "today",
            "tomorrow",
            "again",
            "my friend",
            "and I like it",
            "thank you",
            "today",
            "in the evening",
            "on Monday",
            "for you",
            "soon",
            "together",
            new,
        )
    )
    if way < 0.85:
        stop = text[-1] if text[-1] in ".?!" else ""
        return Job("add end", text, f"{text.rstrip('.?!')} {end}{stop}", end)
    start = rng.choice(
        ("Today", "Please", "Well", "Sorry", "Hello", "Dear Tom", "Maybe", "Yes", "No", "Suddenly")
    )
    return Job(
        "add start",
        text,
        f"{start}, {text[0].lower() if not text.startswith('I') else 'I'}{text[1:]}"
        if text.split()[0] in ("The", "A", "We", "He", "She", "They", "You", "My", "I", "It", "Our")
        else f"{start}, {text}",
        start,
    )


def nth_word(rng: random.Random) -> Job:
    text = plain_line(rng, 3, 9) if rng.random() < 0.7 else line(rng, 9)
    words = [re.sub(r"[.,?!]", "", word) for word in text.split()]
    if any("'" in word or not word for word in words):
        return nth_word(rng)
    at = rng.choice(
        (
            0,
            0,
            len(words) - 1,
            len(words) - 1,
            rng.randrange(len(words)),
            rng.randrange(1, len(words)),
        )
    )
    if at == len(words) - 1:
        return Job("nth word", text, f'The last word is "{words[-1]}".', nth="last")
    if at > 6:
        return nth_word(rng)
    said = NUMBERED[at] if rng.random() < 0.2 else NTH[at]
    if at == 0:
        return Job("nth word", text, f'The first word is "{words[0]}".', nth=said)
    counted = ", ".join(f"{n} {word}" for n, word in enumerate(words[: at + 1], 1))
    return Job("nth word", text, f'{counted}: the {NTH[at]} word is "{words[at]}".', nth=said)


def counted_words(rng: random.Random) -> Job:
    text = line(rng, 12)
    words = [re.sub(r"[.,?!]", "", word) for word in text.split()]
    counted = ", ".join(f"{n} {word}" for n, word in enumerate(words, 1))
    return Job("count words", text, f"{counted}: {len(words)} words.")


def reversed_words(rng: random.Random) -> Job:
    text = plain_line(rng, 2, 7).rstrip(".?!")
    text = text if rng.random() < 0.5 else text.lower()
    return Job("order", text, " ".join(reversed(text.split())))


def little(rng: random.Random) -> Job:
    """Signs put around, between or behind the words."""
    kind = rng.choice(
        (
            "brackets",
            "square",
            "exclaim",
            "dashes",
            "commas",
            "wordlines",
            "quotes",
            "nocommas",
            "nonumbers",
            "twice",
        )
    )
    text = line(rng, 10)
    bare = text.rstrip(".?!")
    if kind in ("dashes", "commas", "wordlines"):
        bare = plain_line(rng, 2, 7).rstrip(".?!")
        if rng.random() < 0.5:
            bare = " ".join(rng.sample(daily.THINGS + daily.CREATURES, rng.randint(2, 5)))
        between = {"dashes": "-", "commas": ", ", "wordlines": "\n"}[kind]
        return Job(kind, bare, between.join(bare.split()))
    if kind == "nocommas":
        text = rng.choice((copying._mixed(rng), clause(rng, 3).said(), copying._counted(rng)))
        return Job(kind, text, text.replace(",", "")) if "," in text else little(rng)
    if kind == "nonumbers":
        words = rng.sample(daily.THINGS + daily.FOOD + daily.NAMES, rng.randint(2, 5))
        mixed = words + [str(rng.randrange(1000)) for _ in range(rng.randint(1, 3))]
        rng.shuffle(mixed)
        return Job(kind, " ".join(mixed), " ".join(w for w in mixed if not w.isdigit()))
    if kind == "exclaim":
        text = clause(rng).said(rng.choice(("now", "then")))
        return Job(kind, text, text[:-1] + "!")
    done = {
        "brackets": f"({text})",
        "square": f"[{text}]",
        "quotes": f'"{text}"',
        "twice": f"{text}\n{text}",
    }
    return Job(kind, text, done[kind])


def doubled_words(rng: random.Random) -> Job:
    right = line(rng, 11)
    words = right.split()
    if any(a == b for a, b in zip(words, words[1:], strict=False)):
        return doubled_words(rng)
    at = set(rng.sample(range(len(words) - 1), min(len(words) - 1, rng.choice((1, 1, 2, 3)))))
    wrong: list[str] = []
    for i, word in enumerate(words):
        wrong.append(word)
        if i in at and word[-1].isalnum():
            wrong.append(word.lower() if i == 0 and word != "I" else word)
    if wrong == words:
        return doubled_words(rng)
    return Job("doubled", " ".join(wrong), right)


def no_duplicates(rng: random.Random) -> Job:
    pool = rng.choice(
        (daily.THINGS, daily.CREATURES, daily.FOOD, subjects.COLOURS, daily.NAMES, daily.common())
    )
    things = rng.sample(list(pool), rng.randint(2, 5))
    row = [*things, *rng.choices(things, k=rng.randint(1, 3))]
    if rng.random() < 0.6:
        rng.shuffle(row)
    sign = rng.choice((", ", ", ", " "))
    return Job("duplicates", sign.join(row), sign.join(dict.fromkeys(row)))


def pattern(rng: random.Random) -> Job:
    pool = rng.choice(
        (daily.THINGS, daily.CREATURES, subjects.COLOURS, daily.FOOD, daily.NAMES, tuple("ABCDXYZ"))
    )
    part = rng.sample(list(pool), rng.choice((2, 2, 3)))
    n = len(part) + rng.randint(len(part), 2 * len(part) - 1)
    row = [part[i % len(part)] for i in range(n)]
    sign = rng.choice((", ", " "))
    answer = f"The row repeats {listed(part)}. So after {row[-1]} comes {part[n % len(part)]}."
    return Job("pattern", sign.join(row) + rng.choice(("", " ...", sign.rstrip())), answer)


# --- another tense, person, voice ----------------------------------------------------------------


def _pair(rng: random.Random, when: str = "any") -> tuple[str, str, str]:
    """One sentence or two, now, then and in the future."""
    found = [clause(rng, when=when) for _ in range(rng.choice((1, 1, 1, 1, 2)))]
    why = sentences.reasons(rng) if rng.random() < 0.12 else None
    texts = []
    for i, tense in enumerate(("now", "then", "will")):
        said = [one.said(tense) for one in found]
        if why and i < 2:
            said[-1] = f"{said[-1][:-1]} because {why[i]}."
        texts.append(" ".join(said))
    if len(found) == 1 and not why and rng.random() < 0.15:
        other, link = clause(rng, 1, when), rng.choice((", and", ", but"))
        texts = [
            f"{text[:-1]}{link} {other.bare(tense)}."
            for text, tense in zip(texts, ("now", "then", "will"), strict=True)
        ]
    return texts[0], texts[1], texts[2]


def tense(rng: random.Random) -> Job:
    now, then, will = _pair(rng, rng.choice(("any", "any", "any", "now")))
    way = rng.random()
    if way < 0.55:
        return Job("past", now, then) if now != then else tense(rng)
    if way < 0.8 and " because " not in now:
        return Job("future", rng.choice((now, now, then)), will)
    if "every" in now or "each" in now or "twice" in now:
        return tense(rng)
    return Job("present", then, now) if now != then else tense(rng)


STATES = (
    "be", "like", "love", "hate", "want", "need", "have", "believe", "understand", "miss", "own",
    "know", "belong", "seem", "mean", "prefer", "agree", "disagree", "sound", "trust", "fear",
    "respect", "admire", "regret", "suspect", "recognise", "notice", "smell", "taste", "become",
)  # fmt: skip


def _doing(rng: random.Random, fits: str = "", when: str = "any") -> Clause:
    while True:
        one = clause(rng, 1, when, fits)
        if one.doing[0][0] not in STATES:
            return one


def continuous(rng: random.Random) -> Job:
    one = _doing(rng)
    if rng.random() < 0.35:
        return Job("perfect", one.said("now"), one.said("have")) if not one.end else continuous(rng)
    return Job("progressive", one.said("now"), one.said("ing"))


def question(rng: random.Random) -> Job:
    tense = rng.choice(("now", "now", "then", "will"))
    one = clause(
        rng, rng.choice((1, 1, 1, 2)), {"now": "now", "then": "past", "will": "future"}[tense]
    )
    return Job("question", one.said(tense), one.question(tense))


def negative(rng: random.Random) -> Job:
    tense = rng.choice(("now", "now", "then", "will"))
    one = clause(rng, 1)
    return Job("negative", one.said(tense), one.denied(tense))


def person(rng: random.Random) -> Job:
    tense = rng.choice(("now", "now", "now", "then", "will"))
    one = clause(rng, rng.choice((1, 2, 2)), "any", "" if rng.random() < 0.5 else r"\{his\}")
    a = rng.choice(("I", "I", "he", "she", "we", "they", "you"))
    b = rng.choice([who for who in ("I", "he", "she", "we", "they", "he", "she") if who != a])
    if a == b or any(verb == "be" and rest.startswith("a") for verb, rest in one.doing):
        return person(rng)
    subject = subjects.rare_name(rng) if b in ("he", "she") and rng.random() < 0.25 else b
    if subject == b and b in ("he", "she") and rng.random() < 0.3:
        subject = rng.choice(
            ("my brother", "the teacher", "Tom")
            if b == "he"
            else ("my sister", "Anna", "the queen")
        )
    before, after = one.of(a, a).said(tense), one.of(subject, b).said(tense)
    if a in ("he", "she") and b == "I" and rng.random() < 0.5:
        return Job("first person", before, after)
    if a == "I" and b in ("he", "she") and rng.random() < 0.3:
        return Job("third person", before, after, b=subject)
    return Job("person", before, after, a, subject) if before != after else person(rng)


def voice(rng: random.Random) -> Job:
    tense = rng.choice(("then", "then", "now"))
    one = _doing(rng, r"\|.*\|")
    if (
        "{his}" in one.doing[0][1]
        or one.end in ("with", "alone", "together")
        or one.end.startswith("with")
    ):
        return voice(rng)
    active, passive = one.said(tense), one.passive(tense)
    return (
        Job("active", passive, active) if rng.random() < 0.25 else Job("passive", active, passive)
    )


NUMBER = (
    ("The {x} is {a}.", "The {xs} are {a}."),
    ("This {x} is {a}.", "These {xs} are {a}."),
    ("That {x} is in the {p}.", "Those {xs} are in the {p}."),
    ("The {x} was {a}.", "The {xs} were {a}."),
    ("I have a {x}.", "I have {xs}."),
    ("She sees a {x}.", "She sees {xs}."),
    ("There is a {x} in the {p}.", "There are {xs} in the {p}."),
    ("My {x} is {a}.", "My {xs} are {a}."),
    ("The {c} chases a {x}.", "The {cs} chase {xs}."),
    ("A {x} costs money.", "{xs} cost money."),
    ("The {c} likes the {x}.", "The {cs} like the {xs}."),
    ("Where is the {x}?", "Where are the {xs}?"),
    ("The {x} does not work.", "The {xs} do not work."),
    ("A {c} sleeps under the {t}.", "{cs} sleep under the {ts}."),
    ("The {x} has a {t}.", "The {xs} have {ts}."),
    ("The {c} eats the {x}.", "The {cs} eat the {xs}."),
    ("The {a} {c} runs to the {t}.", "The {a} {cs} run to the {ts}."),
    ("The boy has a {x}.", "The boys have {xs}."),
    ("The child plays with the {x}.", "The children play with the {xs}."),
    ("The woman buys a {x}.", "The women buy {xs}."),
    ("The man carries a {a} {x}.", "The men carry {a} {xs}."),
    ("Is the {x} {a}?", "Are the {xs} {a}?"),
    ("The {x} fell off the {t}.", "The {xs} fell off the {ts}."),
)


def number(rng: random.Random) -> Job:
    one, many = rng.choice(NUMBER)
    x, t = rng.sample(daily.THINGS, 2)
    c = rng.choice(daily.CREATURES)
    values = {
        "x": x,
        "t": t,
        "c": c,
        "a": rng.choice(daily.ADJECTIVES),
        "p": rng.choice(daily.PLACES),
    }
    values |= {"xs": plural_of(x), "ts": plural_of(t), "cs": plural_of(c)}
    one, many = (sentence(_with_an(form.format_map(values))) for form in (one, many))
    return Job("single", many, one) if rng.random() < 0.2 else Job("manyfold", one, many)


def _with_an(text: str) -> str:
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


def formal(rng: random.Random) -> Job:
    way = rng.random()
    if way < 0.6:
        casual, stiff = entries_of(rng, "informal")
        return Job("formal", casual, stiff)
    one = clause(rng, 1)
    tense = rng.choice(("now", "then", "will"))
    short, full = one.denied(tense), one.denied(tense, short=False)
    if short == full:
        return formal(rng)
    return Job("full", short, full) if way < 0.9 else Job("contract", full, short)


def entries_of(rng: random.Random, section: str) -> tuple[str, str]:
    row = rng.choice(read_sections(sentences.FILE)[section])
    row = row.replace("{h}", str(rng.randint(1, 12)))
    before, after = _alike(rng, *row.split(" = "))
    return before, after


@cache
def synonyms() -> dict[str, str]:
    return {
        a: b.replace("_", " ") for a, b in (entry.split(" ", 1) for entry in entries("synonyms"))
    }


def paraphrase(rng: random.Random) -> Job:
    """Other words for some, and the time at the front."""
    when = rng.choice(("past", "future", "now"))
    one = clause(rng, rng.choice((1, 1, 2)), when)
    tense = {"past": "then", "future": "will", "now": "now"}[when]
    text = one.said(tense) if rng.random() < 0.85 else rng.choice(sentences.natural())
    other = one
    moved = False
    if text == one.said(tense) and one.end in (
        "yesterday",
        "last night",
        "tomorrow",
        "next week",
        "last week",
        "every day",
        "next year",
        "last year",
        "every week",
    ):
        other, moved = Clause(one.subject, one.who, one.doing), True
    base = text
    if moved:
        base = f"{sentence(one.end)} {other.bare(tense)}."
    new = re.sub(r"(?<![A-Z'])\b[a-z]+\b", lambda match: synonyms().get(match[0], match[0]), base)
    new = _with_an(re.sub(r"\ban (?=[b-df-gj-np-tv-z])", "a ", new))
    if new == base and not moved:
        return paraphrase(rng)
    return Job("paraphrase", text, new)


# --- shorter, longer, lists ----------------------------------------------------------------------

EMPTY = ("very ", "really ", "quite ", "rather ", "extremely ", "just ", "actually ", "simply ")
WHICH = (
    ", which {N} had bought in {C},",
    ", which was very {a},",
    ", which I had never seen before,",
    ", which was older than the {p},",
    ", which belonged to {N},",
    ", which nobody liked,",
)
TAILS = (
    ", which is not so important here",
    ", as you may perhaps remember",
    ", and everybody talked about it for days",
    ", as everybody could see",
    ", as {N} has told me",
    ", if I remember it well",
    ", and that was really a surprise for everybody",
    ", and nobody had expected that",
    ", which took a very long time",
    ", as I have told you before",
)


def shorter(rng: random.Random) -> Job:
    """A sentence with a clause that may go, and without it."""
    one = clause(rng, 1, "past")
    core = Clause(one.subject, one.who, one.doing).said("then")
    way = rng.random()
    if way < 0.45:
        text = core[:-1] + sentences.filled(rng, rng.choice(TAILS)) + "."
        text = (
            text
            if rng.random() < 0.5 or not one.end
            else (
                f"{sentence(one.end)} {Clause(one.subject, one.who, one.doing).bare('then')}"
                f"{sentences.filled(rng, rng.choice(TAILS))}."
            )
        )
    else:
        thing, place = rng.choice(daily.THINGS), rng.choice(daily.PLACES)
        a = rng.choice(daily.ADJECTIVES)
        verb = rng.choice(("stood", "lay", "was found", "was hidden", "was left", "was"))
        which = sentences.filled(rng, rng.choice(WHICH))
        core = f"The {thing} {verb} in the {place}."
        text = f"The {rng.choice(EMPTY[:5])}{a} {thing}{which} {verb} in the {place}"
        text += (sentences.filled(rng, rng.choice(TAILS)) if rng.random() < 0.4 else "") + "."
    return Job("shorter", text, core)


def summary(rng: random.Random) -> Job:
    """A few sentences about somebody, and what mattered: the first and the last thing that was
    done."""
    who, pronoun = sentences.subject(rng)
    while who in OF or pronoun == "it":
        who, pronoun = sentences.subject(rng)
    first, second = _doing(rng, when="past"), _doing(rng)
    while first.doing[0][0] == second.doing[0][0]:
        second = _doing(rng)
    when = sentences.filled(rng, rng.choice(entries("when past")))
    one = Clause(who, pronoun, first.doing)
    two = Clause(pronoun, pronoun, second.doing)
    both = Clause(who, pronoun, (*first.doing, *second.doing))
    by = pronoun if pronoun != "it" else "they"
    feeling = rng.choice(sentences.FEELINGS)
    details = rng.sample(
        (
            "It was a {a} day.",
            "The sun was shining.",
            "It was raining all day.",
            "The {p} was full of people.",
            "There were {n} people in the {p}.",
            f"{sentence(by)} {sentences.be(pronoun, True)} {feeling}.",
            "The weather was {a}.",
            "Nobody else was there.",
            "It was quite cold.",
            "A {c} looked on.",
            "The {t} was {a}.",
            "Everything was quiet.",
            "It took an hour.",
            "{N} came too.",
        ),
        rng.choice((0, 1, 1, 2)),
    )
    start = (
        f"{sentence(when)} {one.bare('then')}."
        if rng.random() < 0.5
        else one.said("then", f" {when}.")
    )
    after = rng.choice(("Then ", "Later ", "After that ", "In the end ", ""))
    last = sentence(f"{after}{two.bare('then')}.")
    text = " ".join([start, *(sentences.filled(rng, d) for d in details), last])
    names = re.findall(r"\b[A-Z][a-z]+\b", first.doing[0][1] + " " + second.doing[0][1])
    if len(names) != len(set(names)) or who in names:
        return summary(rng)
    return Job("summary", text, both.said("then"))


ITEMS = (
    "We need {l}.",
    "I bought {l} at the market.",
    "Please bring {l}.",
    "There are {l} on the table.",
    "My bag is full of {l}.",
    "The shop sells {l}.",
    "For the trip you need {l}.",
    "I like {l}.",
    "Today I have to buy {l}.",
    "In the box there are {l}.",
    "She packed {l}.",
    "Don't forget {l}.",
    "He ordered {l}.",
    "To make it you need {l}.",
)


def itemize(rng: random.Random) -> Job:
    if rng.random() < 0.25:
        one = clause(rng, 3)
        if any(verb in STATES for verb, _ in one.doing):
            return itemize(rng)
        parts = [
            f"{v} {r}".strip()
            for (v, _), r in zip(one.doing, one.of("I", "I").rests(), strict=True)
        ]
        text = f"I have to {listed(parts)}."
        return Job("itemize", text, "\n".join(f"- {part}" for part in parts))
    pool = [*daily.FOOD, *daily.FOOD, *(plural_of(thing) for thing in daily.THINGS)]
    things = rng.sample(pool, rng.randint(2, 5))
    text = rng.choice(ITEMS).format(l=listed(things))
    return Job("itemize", text, "\n".join(f"- {thing}" for thing in things))


def joined(rng: random.Random) -> Job:
    tense = rng.choice(("now", "then"))
    one = clause(rng, 1)
    links = ("because", "because", "and", "but", "so")
    link = rng.choice(links if tense == "now" else (*links, "when", "while", "after"))
    if link == "because":
        second = sentences.reasons(rng)[tense == "then"]
    else:
        second = clause(rng, 1).bare(tense)
    comma = "," if link in ("and", "but", "so") else ""
    text = f"{one.said(tense)} {sentence(second)}."
    together = one.said(tense, f"{comma} {link} {second}.")
    if link in ("and", "but") and rng.random() < 0.35:
        return Job("split", together, text)
    if link == "and" and rng.random() < 0.4:
        return Job("join free", text, together)
    return Job("join", text, together, link)


# --- what is to be found in a text ---------------------------------------------------------------


def pulled(rng: random.Random) -> Job:
    """Names, numbers, days, e-mails, colours of a text, in the order in which they come."""
    kind = rng.choice(
        (
            "names",
            "names",
            "numbers",
            "numbers",
            "days",
            "cities",
            "colours",
            "animals",
            "e-mail addresses",
            "dates",
            "phone numbers",
            "times",
            "verbs",
            "adjectives",
        )
    )
    names = [
        subjects.rare_name(rng) if rng.random() < 0.3 else rng.choice(daily.NAMES) for _ in range(3)
    ]
    if len(set(names)) < 3:
        return pulled(rng)
    count = rng.choice((1, 2, 2, 3))
    things = rng.sample(daily.THINGS, 3)
    towns = rng.sample(subjects.CITIES, 3)
    found: list[str]
    if kind == "verbs":
        one = clause(rng, rng.choice((1, 2, 3)))
        tense = rng.choice(("now", "then"))
        return Job("pull", one.said(tense), _found(one.verbs(tense)), kind)
    if kind == "adjectives":
        found = rng.sample(daily.ADJECTIVES, 2)
        text = f"The {found[0]} {things[0]} is next to the {found[1]} {things[1]}."
    elif kind == "names":
        found = names[:count]
        text = _some_of(
            rng,
            [
                [f"{n} has a {t}." for n, t in zip(names, things, strict=True)],
                [f"{n} went to the {rng.choice(daily.PLACES)}." for n in names],
                [
                    f"I met {names[0]}.",
                    f"My friend {names[1]} was there too.",
                    f"Later {names[2]} called.",
                ],
            ],
            count,
        )
        if count > 1 and rng.random() < 0.4:
            text = f"{listed(found)} went to the {rng.choice(daily.PLACES)} by bus."
    elif kind == "numbers":
        found = [str(rng.choice((rng.randint(2, 20), rng.randint(2, 999)))) for _ in range(count)]
        several = [plural_of(t) for t in things]
        text = " ".join(f"{names[i]} has {found[i]} {several[i]}." for i in range(count))
        if rng.random() < 0.5:
            text = f"I bought {listed(f'{n} {t}' for n, t in zip(found, several, strict=False))}."
    elif kind in ("days", "cities", "times", "dates"):
        pool = {"days": list(daily.DAYS), "cities": towns}.get(kind) or [
            f"{rng.randint(1, 12)}:{rng.randrange(60):02}"
            if kind == "times"
            else f"{rng.randint(1, 28)} {month}"
            for month in rng.sample(daily.MONTHS, 3)
        ]
        found = rng.sample(pool, count)
        word = {"days": "on", "cities": "in", "times": "at", "dates": "on"}[kind]
        events = rng.sample(daily.EVENTS, 3)
        text = " ".join(f"The {events[i]} is {word} {found[i]}." for i in range(count))
        if rng.random() < 0.4:
            text = " ".join(f"{names[i]} arrived {word} {found[i]}." for i in range(count))
    elif kind == "colours":
        found = rng.sample(subjects.COLOURS, count)
        seen = [f"{with_article(c)} {t}" for c, t in zip(found, things, strict=False)]
        text = f"I see {listed(seen)}."
    elif kind == "animals":
        found = rng.sample(daily.CREATURES, count)
        place, animals = rng.choice(daily.PLACES), listed(map(with_article, found))
        text = f"In the {place} there is {animals} and a {things[0]}."
        text = (
            _with_an(text)
            if count == 1
            else " ".join(f"{names[i]} saw {with_article(found[i])}." for i in range(count))
        )
    elif kind == "phone numbers":
        found = [f"{rng.randint(100, 999)} {rng.randint(1000, 9999)}" for _ in range(count)]
        text = " ".join(f"The number of {names[i]} is {found[i]}." for i in range(count))
    else:
        hosts = ("example.com", "mail.com", "post.org", "work.net", "school.edu")
        found = [f"{n.lower()}@{rng.choice(hosts)}" for n in names[:count]]
        text = " ".join(
            f"Write to {names[i]} at {found[i]} if you have questions." for i in range(count)
        )
    if rng.random() < 0.4 and kind not in ("names", "numbers"):
        text += " " + rng.choice(
            ("Please do not forget it.", "That is all.", "It was nice.", "Thank you!")
        )
    return Job("pull", text, _found(found), kind)


def _found(items: list[str]) -> str:
    return ", ".join(dict.fromkeys(items))


def _some_of(rng: random.Random, rows: list[list[str]], count: int) -> str:
    return " ".join(rng.choice(rows)[:count])


def part_of_speech(rng: random.Random) -> Job:
    tense = rng.choice(("now", "then"))
    way = rng.random()
    if way < 0.4:
        one = clause(rng, 1)
        return Job(
            "part of speech", one.said(tense), f'The verb is "{one.verbs(tense)[0]}".', "verb"
        )
    if way < 0.6:
        one = clause(rng, 1)
        said = one.subject
        return Job(
            "part of speech", one.said(tense), f'The subject is "{sentence(said)}".', "subject"
        )
    adjective, noun = rng.choice(daily.ADJECTIVES), rng.choice(daily.THINGS)
    form = rng.choice(
        (
            "The {a} {x} fell down.",
            "{N} has a {a} {x}.",
            "We saw a {a} {x}.",
            "I need a {a} {x}.",
            "They sold the {a} {x}.",
            "She found a {a} {x}.",
        )
    )
    text = _with_an(form.replace("{a}", adjective).replace("{x}", noun))
    text = text.replace("{N}", rng.choice(daily.NAMES))
    return (
        Job("part of speech", text, f'The adjective is "{adjective}".', "adjective")
        if way < 0.85
        else (
            Job("part of speech", text, f'The noun is "{noun}".', "noun")
            if not text[0:2].isupper() and not any(n in text for n in daily.NAMES)
            else part_of_speech(rng)
        )
    )


def gap(rng: random.Random) -> Job:
    """A form of a verb or a little word that is missing."""
    way = rng.random()
    if way < 0.55:
        past = rng.random() < 0.4
        one = clause(rng, 1, "past" if past else "now")
        if past and not sentences_past(one.end):
            return gap(rng)
        if not past and not re.search("every|each|twice|all the time|s$", one.end):
            return gap(rng)
        tense = "then" if past else "now"
        verb, said = one.doing[0][0], one.verbs(tense)[0]
        right = one.said(tense)
        open_ = right.replace(f" {said} ", " ___ ", 1)
        if open_ == right:
            return gap(rng)
        hint = f" ({verb})"
        if not past and rng.random() < 0.4:
            forms = [verb, sentences.third(verb)] if verb != "be" else ["is", "are"]
            if said not in forms:
                return gap(rng)
            hint = f" ({'/'.join(forms)})"
        return Job(
            "gap", open_.replace("___", f"___{hint}") if rng.random() < 0.5 else open_ + hint, right
        )
    if way < 0.75:
        thing = rng.choice(daily.THINGS + daily.CREATURES)
        article = with_article(thing).split()[0]
        form = rng.choice(
            ("I have {x} {t}.", "She bought {x} {t}.", "There is {x} {t} here.", "It is {x} {t}.")
        )
        return Job("gap", form.format(x="___ (a/an)", t=thing), form.format(x=article, t=thing))
    blank = rng.choice(
        (
            ("The {e} is {} {D}.", "on", "in/on/at"),
            ("He was born {} {M}.", "in", "in/on/at"),
            ("The film starts {} {n} o'clock.", "at", "in/on/at"),
            ("She lives {} {C}.", "in", "in/on/to"),
            ("We go {} the {p}.", "to", "at/to/on"),
            ("I am {} the {p}.", "at", "at/to/of"),
            ("There {} two {t}s in the {p}.", "are", "is/are"),
            ("There {} a {t} in the {p}.", "is", "is/are"),
            ("{N} {} taller than me.", "is", "is/are"),
            ("{N} and I {} in {C}.", "are", "is/are"),
            ("I {} hungry.", "am", "am/is"),
            ("This is {N}, {} is my friend from {C}.", "who", "who/which"),
            ("We don't have {} {s}.", "any", "some/any"),
            ("I have {} {s} for you.", "some", "some/any"),
            ("{} {t}s are in the {p}.", "These", "These/This"),
            ("She is {} than {N}.", "older", "old/older"),
        )
    )
    (filled,) = _alike(rng, blank[0].replace("{n}", str(rng.randint(1, 12))).replace("{}", "@@"))
    return Job("gap", filled.replace("@@", f"___ ({blank[2]})"), filled.replace("@@", blank[1]))


def scrambled(rng: random.Random) -> Job:
    one = clause(rng, 1)
    text = Clause(one.subject, one.who, one.doing).said(rng.choice(("now", "then")))
    words = text.rstrip(".").split()
    if not 3 <= len(words) <= 6:
        return scrambled(rng)
    if words[0].lower() in (
        "i",
        "the",
        "my",
        "she",
        "he",
        "we",
        "they",
        "you",
        "our",
        "her",
        "his",
        "a",
    ):
        words[0] = words[0].lower() if words[0] != "I" else "I"
    mixed = words[:]
    rng.shuffle(mixed)
    return (
        scrambled(rng)
        if mixed == words
        else Job("scrambled", rng.choice((" / ", ", ", " ")).join(mixed), text)
    )


MAKERS: dict[Maker, float] = {
    repeat: 22,
    upper: 7,
    lower: 2,
    title: 3,
    spelling: 26,
    grammar: 10,
    usual: 8,
    punctuate: 7,
    apostrophe: 2,
    replaced: 16,
    deleted: 6,
    inserted: 5,
    nth_word: 8,
    counted_words: 5,
    reversed_words: 3,
    little: 7,
    doubled_words: 3,
    no_duplicates: 3,
    pattern: 3,
    tense: 24,
    continuous: 3,
    question: 6,
    negative: 6,
    person: 6,
    voice: 4,
    number: 5,
    formal: 7,
    paraphrase: 6,
    shorter: 6,
    summary: 10,
    itemize: 4,
    joined: 7,
    pulled: 12,
    part_of_speech: 4,
    gap: 5,
    scrambled: 2,
    check: 7,
    contains: 4,
}
KINDS, WEIGHTS = tuple(MAKERS), tuple(MAKERS.values())
SLOT = re.compile(r"\{(\w+)\}")
VERBS = frozenset((
    "put", "change", "turn", "rewrite", "write", "say", "make", "remove", "delete", "list", "find",
    "join", "add", "insert", "correct", "fix", "copy", "repeat", "summarize", "summarise", "sum",
    "replace", "use", "count", "reverse", "split", "take", "extract",
))  # fmt: skip


# What people say before their wish.
CONTEXTS = (
    "for school: ", "for my homework, ", "i need this for work. ", "quick one: ",
    "one more thing: ",
    "my teacher wants this: ", "small job for you: ", "my boss asks: ", "for an email: ",
    "help me with this: ", "i need your help. ", "good morning, ", "let's try something: ",
    "next task: ", "a test for you: ", "my son has to do this: ", "for my english class: ",
)  # fmt: skip
BARE = ("repeat", "upper", "lower", "title", "spelling", "grammar", "mistakes", "past", "polite")


def asked(rng: random.Random, todo: Job, held_out: bool = False) -> str:
    """The request, as somebody may type it: the instruction before or behind the text."""
    topic = ASKED[todo.kind]
    form = alternative(rng, rng.choice(topic.reserved if held_out else topic.questions))
    unfit = {"repeat": r"\b(list|row|phrase)\b", "spelling": r"\b(one|a|the typo|the missp\w+)\b"}
    while not held_out and re.search(unfit.get(todo.kind, "^$"), form):
        form = alternative(rng, rng.choice(topic.questions))
    form = form.replace("\\n", "\n")
    before = form.endswith((": {text}", "? {text}"))
    way = rng.random()
    if not form.startswith(("{", '"')):
        if way < 0.3:
            form = sentence(form)
        elif way < 0.36 and form.split()[0].lower() in VERBS:
            form = f"please {form}"
        elif way < 0.4:
            start = rng.choice(("hi, ", "hey, ", "Ok, ", "now ", "hello! "))
            form = f"{start}{form[0].lower()}{form[1:]}"
        elif way < 0.43:
            form = f"{rng.choice(CONTEXTS)}{form[0].lower()}{form[1:]}"
    if before:
        way, head = rng.random(), form[: -len(" {text}")]
        way = rng.random() * 0.39 if " " not in head else way
        quoted = "\n" not in todo.text and '"' not in todo.text
        if way < 0.16:
            form = head + rng.choice(("\n", "\n\n")) + "{text}"
        elif way < 0.28 and quoted:
            form = head + ' "{text}"'
        elif way < 0.33 and quoted and "'" not in todo.text:
            form = head + " '{text}'"
        elif way < 0.39:
            form = head.rstrip(":?") + rng.choice((" - {text}", ". {text}", "\n{text}", ":{text}"))
        elif way < 0.45 and quoted and todo.kind != "gap":
            form = '"{text}" ' + head.rstrip(":")
        elif way < 0.5:
            form = "{text}\n" + head.rstrip(":")
        elif way > 0.96 and todo.kind in BARE and quoted and head.endswith(":"):
            form = head.rstrip(":") + " {text}"
        elif way < 0.54:
            form = (
                head + " {text}" + rng.choice((" please", " thanks", " pls"))
                if (todo.text[-1] in ".?!" and todo.kind not in ("repeat", "gap"))
                else form
            )
    form = re.sub(r" (?=[?:])", "", re.sub(r" +", " ", form)).strip(" ")
    form = form.replace("?:", "?")
    way = rng.random()
    pieces = re.split(r"(\{\w+\}|\"\w+\")", form)  # what the user says, and what is taken over
    if way < 0.07:
        pieces[::2] = [with_slips(rng, piece) if len(piece) > 6 else piece for piece in pieces[::2]]
    elif way < 0.3:
        pieces[::2] = [piece.lower() for piece in pieces[::2]]
    elif way < 0.33:
        pieces[::2] = [piece.lower().replace("please", "pls") for piece in pieces[::2]]
    elif way < 0.34:
        pieces[::2] = [piece.upper() for piece in pieces[::2]]
    form = "".join(pieces)
    values = {"text": todo.text, "a": todo.a, "b": todo.b, "nth": todo.nth}
    return SLOT.sub(lambda match: values[match[1]], form)


def job(rng: random.Random) -> Job:
    return rng.choices(KINDS, WEIGHTS)[0](rng)


# --- and now ... ----------------------------------------------------------------------------------

NOW = ("[and |ok, |and now |now |then |]",)
THEN: dict[str, tuple[str, ...]] = {
    "then": (
        "[in|in the|into] past tense",
        "in the past",
        "past tense[ please|]",
        "put [it|that] in the past tense",
        "as if it was yesterday",
        "say [it|that] in the past",
    ),
    "now": (
        "[in the|in] present tense",
        "in the present",
        "back to the present tense",
        "put [it|that] in the present",
    ),
    "will": (
        "[in the|in] future tense",
        "in the future",
        "future[ please|]",
        "put [it|that] in the future",
        "with will",
    ),
    "question": (
        "as a question",
        "make [it|that] a question",
        "turn [it|that] into a question",
        "ask it",
    ),
    "negative": (
        "make [it|that] negative",
        "negative",
        "with not",
        "the negative[ please|]",
        "say it with not",
    ),
    "upper": (
        "in [capital letters|capitals|all caps|upper case]",
        "all caps[ please|]",
        "write [it|that] in capitals",
    ),
    "back": ("again", "repeat that", "say that again", "once more", "say it again", "repeat it"),
    "who": (
        "with {a} instead of {b}",
        "about {a}",
        "[change|replace] {b} [to|with|by] {a}",
        "for {a}",
        "say it about {a}",
        "with {a}",
    ),
    "thing": (
        "with {a} instead of {b}",
        "[replace|change] {b} [with|by|to] {a}",
        "{a} instead of {b}",
        "[make it|use] {a}[, not {b}| instead of {b}]",
    ),
    "one thing": (
        "with {a}",
        "the same with {a}",
        "with {a} in it",
        "make it {a}",
        "the same [sentence |]with {a}",
    ),
    "shorter": (
        "shorter[ please|]",
        "make [it|that] shorter",
        "[a bit|even] shorter",
        "too long, make it shorter",
        "say it in fewer words",
    ),
    "count": ("how many words is that", "count the words", "how many words"),
    "first": ("what is the first word", "the first word", "give me the first word"),
    "last": ("what is the last word", "the last word"),
    "quotes": ("in quotes", "in quotation marks", "put quotation marks around it"),
    "twice": ("twice", "two times", "say it twice"),
}
FIRST = ("repeat", "repeat", "tense", "upper", "spelling")


def after(rng: random.Random, way: str, a: str = "", b: str = "") -> str:
    text = " ".join(alternative(rng, f"{rng.choice(NOW)}{rng.choice(THEN[way])}").split())
    if re.search(r"(about|for|with) \{a\}(?! instead)", text) and a in OF:
        a = OF[a][1]
    text = SLOT.sub(lambda match: {"a": a, "b": b}[match[1]], text)
    if rng.random() < 0.35:
        text = sentence(text) + rng.choice(
            (".", ".", "?" if way in ("count", "first", "last") else "", "!")
        )
    return text


def turns(rng: random.Random) -> Conversation:
    """One sentence that is said first, and then said again and again in another way."""
    one, tense = clause(rng, rng.choice((1, 1, 1, 2))), rng.choice(("now", "now", "then"))
    only = len(one.doing) == 1
    shape = "said"

    def text() -> str:
        if shape == "question":
            return one.question(tense)
        return one.denied(tense) if shape == "negative" else one.said(tense)

    draw = rng.random()
    if draw < 0.5:
        first = Job("repeat", text(), text())
    elif draw < 0.65:
        first = Job("upper", text(), text().upper())
    elif draw < 0.8 and one.said("now") != one.said("then"):
        first, tense = Job("past", one.said("now"), one.said("then")), "then"
    else:
        wrong = with_slips(rng, text())
        first = Job("spelling", wrong, text())
        if wrong == text():
            first = Job("repeat", text(), text())
    talk = [asked(rng, first), first.answer]
    last = first.answer
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        ways = [
            "upper",
            "back",
            "who",
            "who",
            "then",
            "then",
            "will",
            "count",
            "last",
            "first",
            "quotes",
            "twice",
        ]
        if shape == "said":
            ways += ["question", "question"] + (["negative", "negative"] if only else [])
        things = [
            word
            for word in re.findall(r"[a-z]+", last)
            if (word in daily.THINGS or word in daily.CREATURES) and f"{word} of" not in last
        ]
        ways += ["thing", "thing"] if things and not last.isupper() else []
        ways += ["one thing"] * 2 if len(things) == 1 and not last.isupper() else []
        ways += ["shorter"] if one.end or not only else []
        way = rng.choice(ways)
        if way == "shorter":
            one = Clause(one.subject, one.who, one.doing[:1])
            only = True
        if way in ("then", "now", "will"):
            if way == tense:
                way = "now" if tense != "now" else "then"
            tense = way
            if text() == last:
                continue
        elif way in ("question", "negative"):
            shape = way
        a = b = ""
        answer = ""
        if way == "who":
            b = one.subject
            who = rng.choice([w for w in ("he", "she", "we", "they", "I") if w != one.who])
            if who in ("we", "they") and any(v == "be" and r.startswith("a") for v, r in one.doing):
                continue
            a = rng.choice((who, subjects.rare_name(rng))) if who in ("he", "she") else who
            one = one.of(a, who)
        elif way in ("thing", "one thing"):
            b = rng.choice(things)
            pool = (
                [t for t in daily.THINGS if (t[0] in "aeiou") == (b[0] in "aeiou")]
                if b in daily.THINGS
                else [c for c in daily.CREATURES if (c[0] in "aeiou") == (b[0] in "aeiou")]
            )
            a = rng.choice([t for t in pool if t != b])
            changed = tuple((v, whole_words(r, b, a)) for v, r in one.doing)
            one = Clause(whole_words(one.subject, b, a), one.who, changed, one.end)
            if way == "one thing":
                if f"the {b}" not in last and with_article(b) not in last:
                    continue
                a = with_article(a)
        elif way == "upper":
            answer = last.upper()
        elif way == "back":
            answer = last
        elif way == "quotes":
            answer = f'"{last.strip(chr(34))}"'
        elif way == "twice":
            answer = f"{last}\n{last}"
        elif way in ("count", "first", "last"):
            words = [re.sub(r'[.,?!"]', "", word) for word in last.split()]
            counted = ", ".join(f"{n} {word}" for n, word in enumerate(words, 1))
            answer = {
                "count": f"{counted}: {len(words)} words.",
                "first": f'The first word is "{words[0]}".',
                "last": f'The last word is "{words[-1]}".',
            }[way]
        keeps = answer or text()
        if keeps == last and way != "back":
            continue
        talk += [after(rng, way, a, b), keeps]
        if way in ("count", "first", "last", "twice"):
            break
        last = keeps
        if way == "upper":
            break
    return chat(*talk)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A job with its text; often another one, or the same sentence in another way."""
    if rng.random() < 0.16 and not held_out:
        return turns(rng)
    todo = job(rng)
    talk = [asked(rng, todo, held_out), todo.answer]
    while rng.random() < 0.12 and not held_out:
        other = job(rng)
        talk += [asked(rng, other), other.answer]
    return chat(*talk)
