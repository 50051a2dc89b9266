"""Sentences that are put together from many parts and can be said in another way: in the past, the
future, as a question, of somebody else, passive.

The parts are in `forms/sentences.txt`. All that is made of a sentence follows from its parts, so
that it is right by construction.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from functools import cache

from assets.demo.recipe.corpus import daily, subjects
from assets.demo.recipe.corpus.text import FORMS, read_sections, sentence

FILE = FORMS / "sentences.txt"


@cache
def entries(section: str) -> tuple[str, ...]:
    """What stands between the semicolons of a section."""
    return tuple(
        " ".join(part.split())
        for line in read_sections(FILE)[section]
        for part in line.split(";")
        if part.strip()
    )


@cache
def _words(section: str) -> frozenset[str]:
    return frozenset(word for line in read_sections(FILE)[section] for word in line.split())


IRREGULAR = {base: (past, done) for base, past, done in map(str.split, entries("irregular"))}
OF = {
    "I": ("my", "me"), "you": ("your", "you"), "he": ("his", "him"), "she": ("her", "her"),
    "it": ("its", "it"), "we": ("our", "us"), "they": ("their", "them"),
}  # fmt: skip
SECOND = frozenset(("I", "you", "we", "they"))  # whose verbs have no s
FEELINGS, JOBS = tuple(sorted(_words("feelings"))), tuple(sorted(_words("jobs")))


def third(verb: str) -> str:
    """`walk` as `walks`."""
    if verb in ("be", "have"):
        return {"be": "is", "have": "has"}[verb]
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(s|sh|ch|x|o|z)$", verb) else "s")


def past(verb: str) -> str:
    """`walk` as `walked`."""
    return IRREGULAR[verb][0] if verb in IRREGULAR else _ed(verb)


def done(verb: str) -> str:
    """`write` as `written`."""
    return IRREGULAR[verb][1] if verb in IRREGULAR else _ed(verb)


def _ed(verb: str) -> str:
    if verb in _words("doubled"):
        return f"{verb}{verb[-1]}ed"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def ing(verb: str) -> str:
    """`write` as `writing`."""
    if verb in _words("doubled") | _words("doubled ing"):
        return f"{verb}{verb[-1]}ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    drop = verb.endswith("e") and not verb.endswith("ee") and verb != "be"
    return (verb[:-1] if drop else verb) + "ing"


def be(who: str, before: bool = False) -> str:
    if before:
        return "was" if who in ("I", "he", "she", "it") else "were"
    return {"I": "am", "he": "is", "she": "is", "it": "is"}.get(who, "are")


@dataclass(frozen=True, slots=True)
class Clause:
    """Who does what: the subject, the pronoun for it, verbs with what stands behind them, and a
    few words at the end."""

    subject: str
    who: str
    doing: tuple[tuple[str, str], ...]
    end: str = ""

    def rests(self) -> list[str]:
        own = OF[self.who][0]
        return [rest.replace("{his}", own).replace("|", "") for _, rest in self.doing]

    def _join(self, said: list[str], before: str = "") -> str:
        parts = [f"{verb} {rest}".strip() for verb, rest in zip(said, self.rests(), strict=True)]
        doing = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return " ".join(part for part in (before, doing, self.end) if part)

    def verbs(self, tense: str) -> list[str]:
        """The verbs of the sentence: `now`, `then`, `will`, `ing`."""
        found = []
        for i, (verb, _) in enumerate(self.doing):
            if tense == "will":
                found.append(f"will {verb}" if not i else verb)
            elif tense == "ing":
                found.append(f"{be(self.who)} {ing(verb)}" if not i else ing(verb))
            elif tense == "was ing":
                found.append(f"{be(self.who, True)} {ing(verb)}" if not i else ing(verb))
            elif tense == "have":
                has = "have" if self.who in SECOND else "has"
                found.append(f"{has} {done(verb)}" if not i else done(verb))
            elif verb == "be":
                found.append(be(self.who, tense == "then"))
            elif tense == "then":
                found.append(past(verb))
            else:
                found.append(verb if self.who in SECOND else third(verb))
        return found

    def said(self, tense: str = "now", stop: str = ".") -> str:
        return sentence(f"{self.subject} {self._join(self.verbs(tense))}{stop}")

    def bare(self, tense: str) -> str:
        """As a part of a longer sentence."""
        return f"{self.subject} {self._join(self.verbs(tense))}"

    def question(self, tense: str = "now") -> str:
        verb = self.doing[0][0]
        who = self.subject
        if tense == "will":
            return sentence(f"will {who} {self._join([v for v, _ in self.doing])}?")
        if verb == "be":
            first, *more = self.verbs(tense)
            return sentence(f"{first} {who} {self._join(['', *more])}?".replace("  ", " "))
        do = "did" if tense == "then" else "do" if self.who in SECOND else "does"
        return sentence(f"{do} {who} {self._join([v for v, _ in self.doing])}?")

    def denied(self, tense: str = "now", short: bool = True) -> str:
        """Of a sentence with one verb: that it is not so."""
        verb = self.doing[0][0]
        not_ = "n't" if short else " not"
        if tense == "will":
            helper = "won't" if short else "will not"
        elif verb == "be":
            helper = be(self.who, tense == "then")
            helper = f"{helper} not" if helper == "am" else helper + not_
            return sentence(f"{self.subject} {self._join([''], helper)}.".replace("  ", " "))
        else:
            do = "did" if tense == "then" else "do" if self.who in SECOND else "does"
            helper = do + not_
        doing = re.sub(r"\bsome\b", "any", self._join([verb], helper))
        return sentence(f"{self.subject} {doing}.")

    def of(self, subject: str, who: str) -> Clause:
        return replace(self, subject=subject, who=who)

    def passive(self, tense: str) -> str:
        """Of a sentence with one verb and an object between bars."""
        verb, rest = self.doing[0]
        before, thing, more = rest.split("|")  # `turn off |the lamp| at night`
        several = re.search(r"(?<!s)s$|(men|children|people|geese|mice|feet|teeth)$", thing)
        several = several if thing.split()[-1] not in ("bus", "glass", "grass") else None
        is_ = be("they" if several else "it", tense == "then")
        by = self.subject if self.subject not in OF else OF[self.who][1]
        parts = (thing, is_, done(verb), before.strip(), more.strip(), f"by {by}", self.end)
        text = " ".join(part for part in parts if part) + "."
        return sentence(text.replace("{his}", OF[self.who][0]))


def filled(rng: random.Random, form: str) -> str:
    """`form` with its slots filled; {his} stays."""
    form = form.replace("{his}", "{{his}}")

    def own(match: re.Match[str]) -> str:
        if match[1] == "b":
            return rng.choice(FEELINGS)
        if match[1] == "j":
            return rng.choice(JOBS)
        return rng.choice([one for one in daily.PEOPLE if one.startswith("the ")])

    form = re.sub(r"\{([bjw])\}", own, form)
    return daily.filled(rng, form).replace("{{his}}", "{his}")


def subject(rng: random.Random) -> tuple[str, str]:
    """Who does something, and the pronoun that stands for it."""
    way = rng.random()
    if way < 0.26:
        who = rng.choice(("I", "I", "he", "she", "she", "we", "they", "you"))
        return who, who
    if way < 0.5:
        women, men = subjects.split(subjects.WOMEN)[0], subjects.split(subjects.MEN)[0]
        if rng.random() < 0.35:
            return subjects.rare_name(rng), rng.choice(("he", "she"))
        return (rng.choice(women), "she") if rng.random() < 0.5 else (rng.choice(men), "he")
    if way < 0.56:
        a, b = rng.sample(daily.NAMES, 2)
        return f"{a} and {b}", "they"
    if way < 0.7:
        return rng.choice(entries("many")), "they"
    if way < 0.75:
        return rng.choice(entries("animals one")), "it"
    name, _, gender = rng.choice(entries("one")).rpartition(" ")
    return name, "she" if gender == "f" else "he"


PETS = re.compile(
    r"(run|sleep|chase|eat \{f|watch \|the \{c|follow|jump|sit|drink \|\{d|play in|hide behind)"
)


@cache
def deeds(fits: str, who: str = "") -> tuple[str, ...]:
    """The actions that fit a pattern, and an animal or several people."""
    pool = [form for form in entries("actions") if re.search(fits, form)]
    if who == "it":
        pool = [form for form in pool if PETS.match(form) and "his" not in form]
    if who == "they":
        pool = [form for form in pool if not re.match(r"be a |be a \{j", form)]
    return tuple(pool)


def clause(rng: random.Random, verbs: int = 0, when: str = "any", fits: str = "") -> Clause:
    """Something that somebody does, with so many verbs."""
    who, pronoun = subject(rng)
    count = verbs or rng.choice((1, 1, 1, 2, 2, 3))
    pool = deeds(fits)
    if pronoun == "it":
        pool = deeds(fits, "it") or pool
        if not any(PETS.match(form) for form in pool):
            who = pronoun = "she"
    if pronoun in ("we", "they"):
        pool = deeds(fits, "they")
    doing = []
    for form in rng.sample(pool, min(count, len(pool))):
        verb, _, rest = form.partition(" ")
        doing.append((verb, filled(rng, rest)))
    if count > 1 and len({verb for verb, _ in doing}) < len(doing):
        return clause(rng, verbs, when, fits)
    one = any(verb == "be" and rest.startswith(("a ", "an ")) for verb, rest in doing)
    if one and pronoun in ("we", "they", "you"):  # `we are teachers` is another sentence
        return clause(rng, verbs, when, fits)
    end = ""
    if rng.random() < 0.45:
        end = filled(rng, rng.choice(entries(f"when {when}" if rng.random() < 0.6 else "when any")))
        if any(
            word in doing[-1][1].split() for word in ("with", "at", "for", "in", "home", "early")
        ):
            end = filled(rng, rng.choice(entries(f"when {when}"))) if when != "any" else ""
    if end == "together" and pronoun not in ("we", "they"):
        end = ""
    text = f"{who} {doing} {end}"
    names = re.findall(r"\b[A-Z][a-z]+\b", text)
    if len(names) != len(set(names)):
        return clause(rng, verbs, when, fits)
    return Clause(who, pronoun, tuple(doing), end)


@cache
def natural() -> tuple[str, ...]:
    return tuple(read_sections(FILE)["natural"])


def reasons(rng: random.Random) -> tuple[str, str]:
    """Why somebody does something, now and in the past."""
    form_now, form_then = rng.choice(entries("because")).split(" = ")
    seed = rng.random()
    now = filled(random.Random(seed), form_now)
    then = filled(random.Random(seed), form_then)
    return now, then


def any_line(rng: random.Random) -> str:
    """One sentence of any kind."""
    way = rng.random()
    if way < 0.3:
        return rng.choice(natural())
    if way < 0.42:
        return rng.choice(daily.real())
    tense = rng.choice(("now", "then", "then", "will"))
    one = clause(rng, when={"now": "now", "then": "past", "will": "future"}[tense])
    if way < 0.75:
        return one.said(tense)
    if way < 0.83:
        return one.question(tense)
    if way < 0.9:
        return clause(rng, 1).denied(tense, rng.random() < 0.7)
    if way < 0.95 and tense != "will":
        why = reasons(rng)[tense == "then"]
        return one.said(tense, f" because {why}.")
    other = clause(rng, 1)
    link = rng.choice((", and", ", but", " while", ", so"))
    return one.said(tense, f"{link} {other.bare(tense)}.")
