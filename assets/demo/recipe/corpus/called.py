"""The name of what is described: "what do you call a river that falls over a cliff", "who repairs
pipes", "I have a long neck and eat leaves. What am I?".

What it teaches: definitions the other way round. The name comes first, then what is said of the
thing wherever else one asks what it is. `forms/called.txt` has the clues, the riddles and the ways
of asking; the countries come from the table of `facts`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus import definitions, facts, verse
from assets.demo.recipe.corpus.definitions import bare
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    as_typed,
    chat,
    read_sections,
    sentence,
    spoken,
    with_article,
    wordings,
)

FILE = FORMS / "called.txt"
KEPT = "! "
# Nouns that may stand behind "which": the last word before "that" or "with".
HEADS = frozenset(
    """
    animal bird fish insect reptile pet cat bear ape mammal lizard tool instrument machine device
    vehicle building shop room place country city mountain planet star gas metal material
    fruit vegetable drink food sport game season flower tree plant illness organ feeling science
    language season holiday toy thing monster book furniture clothing body face house person
    """.split()  # noqa: SIM905 (a list would be four times as long)
)
# Who does something in "what people put in a vase".
DOERS = frozenset(
    """
    you we people children sailors surfers astronomers scientists skaters geologists grandmothers
    hikers rabbits Germans Americans Italians vegetarians journalists pupils students parents
    lamps plants tires miners cyclists pigs mice dogs vampires bears pirates firefighters smurfs
    girls policemen cowboys
    """.split()  # noqa: SIM905
)
# What happens in "what beats in your chest".
HAPPENS = re.compile(
    r"what (is|makes|keeps|comes|hangs|moves|burns|carries|takes|goes|holds|rises|causes|blows|"
    r"falls|probably|rings|turns|whistles|opens|protects|beats|can|rumbles|runs|grew|grows|melts|"
    r"warns|removes|writes|agrees|shows) "
)
BASE = re.compile(r"(?<=ch|sh|ss|go|do)e$|(?<=[xo])e$")  # "teaches": what is left too much
MODAL = re.compile(r"(is|are|can|must|should) ")
NO_HEAD = re.compile(r"\b(in|on|from|where|who|only|kind|feather|bulb|leaves)\b|(?<!part|iece) of ")
OPEN = re.compile(r" (that|which|who) ")  # a part of a sentence that "has" does not fit before
# Those who do something in "the tree that birds build nests in".
MANY = frozenset(
    """
    this always witches cats birds acorns girls things raisins pickles magnets trees fires babies
    monkeys slugs
    """.split()  # noqa: SIM905
)
THE = re.compile(rf"the (?!\w+est )(\w+ )?({'|'.join(HEADS)}) ")
VERBS = {
    "have": "has", "am": "is", "was": "was", "can": "can", "cannot": "cannot", "could": "could",
    "must": "must", "do": "does", "go": "goes", "will": "will",
}  # fmt: skip
# What a riddle has where its second verb would have to change too.
BARE = re.compile(
    r"\b(and|but) (am|crackle|do|eat|go|make|never|pull|run|say|show|sit|sleep)\b|\bthey\b|"
    r"\bmyself\b|\bthe more\b"
)
PERSON = re.compile(r"^[^.]*\b(person|man|woman|doctor|robber|performer|entertainer|dead)\b")
SAID = re.compile(r"\b(call|called|calls|words?|names?|term|say|profession|job)\b", re.IGNORECASE)
BEFORE = re.compile(r"(an?|the|one|our) ")
# Countries of which the table says what holds for others too.
SHARED = frozenset(
    """
    Paraguay Serbia Niger Fiji Samoa Guatemala Uganda Cameroon Nicaragua Sweden Finland Uzbekistan
    Afghanistan Slovakia Libya Laos Thailand Angola Liberia Mali Sudan
    """.split()  # noqa: SIM905
) | {"Saudi Arabia", "North Macedonia"}
# How often a thing of the file, a country and a riddle is asked for.
SHARES = (0.72, 0.07, 0.21)


@dataclass(frozen=True, slots=True)
class Thing:
    """`one` as it stands behind "that is": "a cat", "the moon", "coffee"."""

    one: str
    text: str
    clues: tuple[str, ...]
    kept: tuple[str, ...] = ()

    @property
    def proper(self) -> bool:
        """Whether nothing else of its kind is called so."""
        return self.one.startswith("the ") or self.one[0].isupper()

    @property
    def many(self) -> bool:
        """Whether it is spoken of as of many: scissors."""
        return bool(re.match(rf"{re.escape(self.one)} (are|do) ", self.text, re.IGNORECASE))


@cache
def elsewhere() -> frozenset[str]:
    """Wordings that other sources answer."""
    tables = (topic for table, _ in facts.tables() for topic in table)
    taken = {bare(w) for topic in tables for w in (*topic.questions, *topic.reserved)}
    return frozenset(taken | definitions.told().keys())


@cache
def taught() -> dict[str, tuple[str, str]]:
    """How a thing is spoken of and what is said of it, by its name."""
    found = {}
    for table, _ in facts.tables():
        for topic in table:
            for wording in topic.questions:
                if re.match("What is [^?]*[?]$", wording):
                    one = wording[8:-1]
                    found[one] = (one, topic.answers[0])
    for wording, text in definitions.told().items():
        if wording.startswith("what is "):
            found[wording[8:]] = (wording[8:], text)
    return found | {each.noun: (each.one, each.text) for each in definitions.definitions()}


def _thing(name: str, clues: Sequence[str]) -> Thing:
    one, text = taught()[name]
    kept = tuple(x.removeprefix(KEPT) for x in clues if x.startswith(KEPT))
    return Thing(one, text, tuple(x for x in clues if not x.startswith(KEPT)), kept)


@cache
def things() -> tuple[Thing, ...]:
    """The best known first. Raises KeyError for a thing of which nothing is taught."""
    rows = [re.split(r" *\| *", line) for line in read_sections(FILE)["things"]]
    return tuple(_thing(name, clues) for name, *clues in rows)


@cache
def countries() -> tuple[Thing, ...]:
    made = []
    for name, capital, where, fact in facts.rows(facts.COUNTRIES):
        if name not in taught():
            continue
        clues = [] if name in capital else [f"the country whose capital is {capital}"]
        if name not in SHARED:
            clues += [f"the country in {where} that {fact}", f"which country {fact}"]
        if clues:
            made.append(_thing(name, clues))
    return tuple(made)


@cache
def riddles() -> tuple[tuple[Thing, tuple[str, ...], tuple[str, ...]], ...]:
    """Things with the riddles that are trained and those that are kept back."""
    found: dict[str, list[str]] = {}
    for line in read_sections(FILE)["riddles"]:
        name, _, text = line.removeprefix(KEPT).partition(" | ")
        found.setdefault(name, []).append(KEPT * line.startswith(KEPT) + text)
    for text, answer in verse._rows("riddles.txt"):  # those that the model asks
        name = BEFORE.sub("", answer)
        if name in found and not text.startswith(("The ", "You ")):
            found[name].append(text)
    rows = [(_thing(name, texts), texts) for name, texts in found.items()]
    return tuple((thing, thing.clues, thing.kept) for thing, _ in rows)


def which(clue: str) -> str:
    """The clue as a question, or "" where it does not make one."""
    if clue.startswith(("which ", "who ")):
        return clue
    if clue.startswith("what "):
        doer, _, rest = clue.removeprefix("what ").partition(" ")
        if HAPPENS.match(clue):
            return clue
        if match := re.match(
            r"what ((?:an?|the) \w+) (?!is|has|was|does|two)(\w+[^s\W])s\b(.*)", clue
        ):
            one, verb, rest = match.groups()
            base = f"{verb[:-2]}y" if verb.endswith("ie") else BASE.sub("", verb)
            return f"what does {one} {base}{rest}"
        return f"what do {doer} {rest}" if doer in DOERS and not MODAL.match(rest) else ""
    if match := re.match(r"(?:a|the) person who (.+)", clue):
        return f"who {match[1]}"
    if match := re.match(r"(?:a|the) person you (.+)", clue):
        return f"who do you {match[1]}"
    match = re.match(r"(?:an?|the) ([\w' -]+?),? (that|with|you|people|for) (.+)", clue)
    if match is None:
        return ""
    head, joined, rest = match.groups()
    if head.split()[-1] not in HEADS or NO_HEAD.search(head):
        return ""
    asked = "what" if head == "thing" else f"which {head}"
    if joined == "with":
        return "" if OPEN.search(f" {rest}") or head.endswith("person") else f"{asked} has {rest}"
    if joined == "for":
        return f"{asked} is for {rest}" if re.match(r"\w+ing (?!.* that )", rest) else ""
    doer, _, then = (rest if joined == "that" else f"{joined} {rest}").partition(" ")
    if doer in DOERS:
        return "" if MODAL.match(then) else f"{asked} do {doer} {then}"
    verb = re.match(r"(\w+s|can|cannot|grew|lived|won)$", doer)
    return f"{asked} {rest}" if joined == "that" and verb and doer not in MANY else ""


def noun_phrase(rng: random.Random, clue: str) -> str:
    """The clue as it stands behind "what do you call", in one of several ways."""
    if clue.startswith("what "):
        thing = rng.choice(("the thing", "something", "a thing"))
        that = " that" if HAPPENS.match(clue) or rng.random() < 0.6 else ""
        return f"{thing}{that} {clue[5:]}"
    if match := re.match(r"(?:a|the) person (?=who|you)", clue):
        person = rng.choice(("a person", "a person", "someone", "somebody", "the person"))
        return f"{person} {clue[match.end() :]}"
    way = rng.random()
    if way < 0.06 and clue.startswith(("the ", "a ", "an ")):
        return clue.partition(" ")[2]  # as those write who learn English
    if way < 0.2 and THE.match(clue):
        return f"that {clue[4:]}"
    if way < 0.4 and clue.startswith("the thing "):
        return f"something {clue[10:]}" if clue.startswith("the thing that ") else f"a {clue[4:]}"
    return clue


def named(thing: Thing, question: str) -> str:
    """The name, and what is said of the thing: it "is called" so where the question is about the
    word, and else it "is" that."""
    be = "Those are" if thing.many else "That is"
    called = " called" if SAID.search(question) and not thing.proper else ""
    return f"{be}{called} {thing.one}. {thing.text}"


def _form(rng: random.Random, section: str, held_out: bool) -> str:
    return rng.choice(wordings(FILE, section, held_out)).replace("{}", "")


def _described(rng: random.Random, thing: Thing, clue: str, kept_form: bool) -> tuple[str, str]:
    """A question with the clue, and its answer."""
    question = which(clue)
    if clue.startswith("when "):
        asked = spoken(rng, _form(rng, "when", kept_form).replace("{x}", clue))
    elif question and (rng.random() < 0.4 or clue.startswith(("which ", "who "))):
        form = _form(rng, "which", kept_form)
        if not re.search(r"^\{q\}|[:,.] \{q\}", form):  # "do you know what you eat soup with"
            question = re.sub(rf" do (?=({'|'.join(DOERS)}) )", " ", question, count=1)
            question = clue if question.startswith("what does ") else question
        if question.startswith("which ") and rng.random() < 0.5:
            question = f"what {question[6:]}"
        asked = spoken(rng, form.replace("{q}", question))
        if asked.endswith(".") and rng.random() < 0.5:
            asked = f"{asked[:-1]}?"
    else:
        section = rng.choices(("asks", "one"), (9, 1))[0]
        if thing.one in _jobs() and "a person who " in clue and rng.random() < 0.2:
            section = "job"
        form = _form(rng, section, kept_form)
        asked = spoken(rng, form.replace("{x}", noun_phrase(rng, clue)))
        if section == "one":
            return asked, f"{sentence(thing.one)}."
    return asked, named(thing, asked)


@cache
def _jobs() -> frozenset[str]:
    return frozenset(with_article(row[0]) for row in facts.rows(facts.JOBS))


def of_it(riddle: str) -> str:
    """A riddle of somebody who says "I", about "it": "It has a long neck, and it eats leaves." It
    is "" where that cannot be said so simply."""
    if BARE.search(riddle):
        return ""

    def said(match: re.Match[str]) -> str:
        often, verb = match[1] or "", match[2]
        end = "es" if verb.endswith(("o", "ss", "sh", "ch", "x")) else "s"
        if re.search("[^aeiou]y$", verb):
            verb, end = verb[:-1], "ies"
        return f"it {often}{VERBS.get(match[2], verb + end)}"

    text = re.sub(r"\bI ((?:never|always|often|only) )?(\w+)", said, riddle)
    return sentence(re.sub(r"\bmy\b", "its", re.sub(r"\bme\b", "it", text)))


def _riddle(rng: random.Random, held_out: bool) -> tuple[str, str]:
    kept_text = held_out and rng.random() < 0.5
    while True:
        thing, trained, kept = rng.choice(riddles())
        if texts := kept if kept_text else trained:
            break
    text, section, be = rng.choice(texts), "riddle", "You are"
    if rng.random() < 0.35 and not (thing.many or PERSON.search(thing.text)) and of_it(text):
        text, section, be = of_it(text), "riddle it", "It is"
    form = _form(rng, section, held_out and not kept_text)
    return spoken(rng, form.replace("{r}", text)), f"{be} {thing.one}. {thing.text}"


def _known(rng: random.Random) -> Thing:
    """One of the things, the best known somewhat more often."""
    return things()[int(len(things()) * rng.random() ** 1.5)]


def _asked(rng: random.Random, held_out: bool) -> tuple[str, str]:
    while True:
        kind = rng.choices(("thing", "country", "riddle"), SHARES)[0]
        if kind == "riddle":
            question, answer = _riddle(rng, held_out)
        else:
            thing = _known(rng) if kind == "thing" else rng.choice(countries())
            kept_clue = held_out and bool(thing.kept) and rng.random() < 0.7
            clue = rng.choice(thing.kept if kept_clue else thing.clues)
            question, answer = _described(rng, thing, clue, held_out and not kept_clue)
        if bare(question) not in elsewhere():
            return question, answer


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A thing that is described, or two after each other, and how it is called."""
    turns: list[str] = []
    for _ in range(1 if rng.random() < 0.85 else 2):
        question, answer = _asked(rng, held_out)
        turns += [as_typed(rng, question), answer]
    return chat(*turns)
