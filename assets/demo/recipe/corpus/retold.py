"""A sentence or two in another tense, of another person, as a question, negative, passive or in the
plural, and then again in another way: "now with 'they' instead of she", "and in the future?".

All is made of `sentences.Clause`, with more than five hundred verbs. What was changed first stays
changed, until something else is wanted of it.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from assets.demo.recipe.corpus import rewriting, sentences, subjects
from assets.demo.recipe.corpus.copying import Job
from assets.demo.recipe.corpus.sentences import OF, Clause, be, clause, done, entries, ing
from assets.demo.recipe.corpus.text import Conversation, alternative, chat, listed, sentence

TIMED = {"now": "now", "then": "past", "will": "future"}
PRONOUNS = ("I", "you", "he", "she", "we", "they")
HERS = ("she", "he", "it", "they", "we", "I", "you")


def helped(one: Clause, helper: str, tense: str, shape: str) -> str:
    """A sentence with a helping verb: `she can sing`, `is she singing?`."""
    many = one.who in sentences.SECOND
    is_ = be(one.who, tense == "then")
    has = {"now": "have" if many else "has", "then": "had", "will": "will have"}[tense]
    said = {
        "ing": "will be" if tense == "will" else is_,
        "can": {"now": "can", "then": "could", "will": "will be able to"}[tense],
        "have to": f"{has} to",
        "perfect": has,
        "going": f"{is_} going to",
    }[helper]
    form = {"ing": ing, "perfect": done}.get(helper, str)
    verbs = [form(verb) for verb, _ in one.doing]
    if helper == "have to" and tense != "will" and shape != "said":
        do = "did" if tense == "then" else "do" if many else "does"
        said = f"{do} have to"
    first, _, more = said.partition(" ")
    if shape == "question":
        return sentence(f"{first} {one.subject} {one._join(verbs, more)}?")
    if shape == "denied":
        nt = {"am": "am not", "will": "won't", "can": "can't"}.get(first, f"{first}n't")
        said = f"{nt} {more}".strip()
        doing = re.sub(r"\bsome\b", "any", one._join(verbs, said))
        return sentence(f"{one.subject} {doing}.")
    return sentence(f"{one.subject} {one._join(verbs, said)}.")


@dataclass(frozen=True, slots=True)
class Telling:
    """One clause, or two of the same person: in one sentence or in two."""

    clauses: tuple[Clause, ...]
    tense: str = "now"
    shape: str = "said"
    helper: str = ""  # "ing", "can", "have to", "perfect", "going": of one clause
    link: str = ""  # between two clauses: ", and", ", but"; nothing if they are two sentences

    def text(self) -> str:
        first = self.clauses[0]
        if self.helper:
            return helped(first, self.helper, self.tense, self.shape)
        if self.shape == "question":
            return first.question(self.tense)
        if self.shape == "denied":
            return first.denied(self.tense)
        if len(self.clauses) == 1:
            return first.said(self.tense)
        second = self.clauses[1]
        if self.link:
            return first.said(self.tense, f"{self.link} {second.bare(self.tense)}.")
        return f"{first.said(self.tense)} {second.said(self.tense)}"

    def of(self, subject: str, who: str) -> Telling:
        """Of another person: the second clause has the pronoun."""
        after = who if len(self.clauses) > 1 else ""
        first = self.clauses[0].of(subject, who)
        return replace(self, clauses=(first, *(one.of(after, who) for one in self.clauses[1:])))

    @property
    def subject(self) -> str:
        return self.clauses[0].subject

    @property
    def who(self) -> str:
        return self.clauses[0].who

    @property
    def one(self) -> bool:
        """Whether it can be a question or negative: one clause."""
        return len(self.clauses) == 1


def fits(one: Clause, who: str) -> bool:
    """No `we are a cook`."""
    single = any(verb == "be" and rest.startswith(("a ", "an ")) for verb, rest in one.doing)
    single = single or any(
        verb == "become" and rest.startswith(("a ", "an ")) for verb, rest in one.doing
    )
    return not (single and who in ("we", "they", "you")) and not (
        one.end == "together" and who not in ("we", "they")
    )


def plain(rng: random.Random) -> Clause:
    """One to three verbs, often a pronoun before them and nothing at the end."""
    while True:
        one = clause(rng, rng.choice((1, 1, 2, 2, 2, 3)), "any")
        if rng.random() < 0.5:
            who = rng.choice(PRONOUNS + ("he", "she"))
            one = one.of(who, who)
        if one.who == "it" or not fits(one, one.who) or re.search(r"\bown\b", str(one.doing)):
            continue
        if any(
            word in one.end
            for word in (
                "tomorrow",
                "yesterday",
                "last",
                "ago",
                "next",
                "in an hour",
                "soon",
                "later",
                "two days",
            )
        ):
            one = replace(one, end="")
        if rng.random() < 0.5:
            one = replace(one, end="")
        return one


def telling(rng: random.Random) -> Telling:
    first = plain(rng)
    tense = rng.choice(("now", "now", "now", "now", "then", "then", "will"))
    way = rng.random()
    if way < 0.17 and not any(verb in rewriting.STATES for verb, _ in first.doing):
        helper = rng.choice(("ing", "ing", "can", "can", "have to", "perfect", "going"))
        tense = rng.choice(
            ("now", "now", "then") if helper == "going" else ("now", "now", "then", "will")
        )
        if helper in ("perfect", "going"):
            first = replace(first, end="")
        shape = rng.choice(("said", "said", "said", "question", "denied"))
        shape = "said" if shape == "denied" and len(first.doing) > 1 else shape
        return Telling((first,), tense, shape, helper)
    if way < 0.27 and len(first.doing) == 1:
        return Telling((first,), tense, rng.choice(("question", "denied")))
    if way < 0.78:
        return Telling((first,), tense)
    second = plain(rng)
    pronoun = first.who
    if first.subject.endswith(" I"):
        return telling(rng)
    while not fits(second, pronoun):
        second = plain(rng)
    second = second.of(pronoun, pronoun)
    return Telling(
        (first, second),
        tense,
        link=rng.choice(
            ("", "", ", and", ", but", " because", " when")
            if tense == "then"
            else ("", "", ", and", ", but", " because")
        ),
    )


# How the next way is asked for. {a} is the person wanted, {b} the one that is there.
ASKS: dict[str, tuple[str, ...]] = {
    "then": (
        "[in|in the|into the|to the] past tense",
        "in the past",
        "past tense",
        "past",
        "[put|change] it [in|into|to] the past",
        "say it in the past",
        "as if it [was|happened|were] yesterday",
        "and yesterday",
        "the same in the past",
        "with the verbs in the past",
        "simple past",
        "back to the past",
        "make it past tense",
        "[rewrite|write] [it|that] in the past tense",
        "what about the past",
    ),
    "now": (
        "[in|in the|into the] present tense",
        "in the present",
        "present tense",
        "present",
        "put it in the present",
        "back to the present",
        "say it in the present",
        "the same in the present",
        "simple present",
        "make it present tense",
        "[rewrite|write] [it|that] in the present tense",
    ),
    "will": (
        "[in|in the|into the|to the] future tense",
        "in the future",
        "future tense",
        "future",
        "put it in the future",
        "and tomorrow",
        "say it in the future",
        "the same in the future",
        "with will",
        "make it future",
        "[rewrite|write] [it|that] in the future tense",
        "as if it happens tomorrow",
        "what about the future",
        "and the future",
    ),
    "who": (
        "with {a}",
        "with {a} instead of {b}",
        "with {a}, not {b}",
        "the same with {a}",
        "{a} instead of {b}",
        "use {a}",
        "use {a} instead of {b}",
        "[change|replace] {b} [to|with|by] {a}",
        "for {a}",
        "about {a}",
        "[say|write|put] it with {a}",
        "[make|let] it [be |]{a}",
        "what about {a}",
        "put {a} in the place of {b}",
        "start with {a}",
        "[rewrite|write] it with {a}",
        "and {a}",
        "same but {a}",
        "same sentence with {a}",
        "[how is it|how does it go|what is it] with {a}",
        "make the subject {a}",
        "{a}",
        "[write|do] the same for {a}",
        "same thing with {a}, please",
    ),
    "question": (
        "as a question",
        "[make|turn] it [into |]a question",
        "ask it",
        "a question please",
        "question form",
        "and as a question",
        "put it as a question",
    ),
    "denied": (
        "[make|put] it negative",
        "negative",
        "in the negative",
        "with not",
        "say the opposite with not",
        "the negative form",
        "deny it",
        "not",
    ),
    "said": (
        "back to a [statement|normal sentence]",
        "as a [statement|normal sentence]",
        "not as a question",
        "without the question",
    ),
    "yes": (
        "without not",
        "[make|put] it positive",
        "positive again",
        "without the negation",
        "not negative",
    ),
    "upper": ("in capitals", "in capital letters", "all caps", "in upper case"),
    "same": ("again", "say it again", "repeat it", "one more time", "once more please"),
    "count": ("how many words is that", "count the words", "how many words"),
}
BEFORE = "[||||now |now |and |and |ok, now |and now |then |ok |good, now |great, and |thanks. now ]"
QUOTE = ("{}", "{}", '"{}"', "'{}'")


def another(rng: random.Random, way: str, a: str = "", b: str = "") -> str:
    form = alternative(rng, rng.choice(ASKS[way]))
    before = alternative(rng, BEFORE)
    if before.strip() and form.split()[0] in ("and", "what"):
        before = ""
    shown = rng.choice(QUOTE)
    if (
        re.search(r"(with|for|about|of) \{a\}", form)
        and a in OF
        and shown == "{}"
        and rng.random() < 0.25
        and "of {a}" not in form
    ):
        a = OF[a][1]
    form = form.replace("{a}", shown.format(a)).replace(
        "{b}",
        (shown if rng.random() < 0.6 else "{}").format(
            b[0].lower() + b[1:] if b.startswith(("The ", "My ")) else b
        ),
    )
    text = " ".join(f"{before}{form}".split())
    way_ = rng.random()
    if way_ < 0.3:
        text = sentence(text) + rng.choice(
            (".", ".", "!", "?" if "what" in text or "how" in text else ".")
        )
    elif way_ < 0.4:
        text = sentence(text)
    elif way_ < 0.5:
        text += rng.choice(("?", " please", " pls", "."))
    return text


STARTS = (
    "past",
    "past",
    "past",
    "past",
    "future",
    "future",
    "present",
    "person",
    "person",
    "person",
    "question",
    "negative",
    "repeat",
    "passive",
    "progressive",
    "perfect",
    "plural people",
)


def changed(rng: random.Random, now: Telling) -> tuple[Job, Telling] | None:
    """The first wish, and what there is then."""
    kind = rng.choice(STARTS)
    text = now.text()
    if now.helper == "going" and kind == "future":
        return None
    if now.shape != "said" and kind in (
        "question",
        "negative",
        "perfect",
        "progressive",
        "passive",
    ):
        return None
    if now.helper and kind in ("perfect", "progressive", "passive"):
        return None
    if kind in ("past", "future", "present"):
        tense = {"past": "then", "future": "will", "present": "now"}[kind]
        new = replace(now, tense=tense)
        if new.text() == text or (
            now.link in (" because", " when") and "will" in (tense, now.tense)
        ):
            return None
        return Job(kind, text, new.text()), new
    if kind == "person":
        after = somebody(rng, now)
        if after is None:
            return None
        new, a, b = after
        return Job("person", text, new.text(), b, a), new
    if kind in ("question", "negative"):
        if not now.one or (kind == "negative" and len(now.clauses[0].doing) > 1):
            return None
        new = replace(now, shape={"question": "question", "negative": "denied"}[kind])
        return Job(kind, text, new.text()), new
    if kind == "repeat":
        return Job("repeat", text, text), now
    first = now.clauses[0]
    if kind == "progressive":
        if (
            not now.one
            or now.tense != "now"
            or any(verb in rewriting.STATES for verb, _ in first.doing)
        ):
            return None
        return Job(kind, text, first.said("ing")), now
    if kind == "perfect":
        if not now.one or now.tense == "will" or first.end:
            return None
        return Job(kind, text, first.said("have")), now
    if kind == "passive":
        one = rewriting._doing(rng, r"\|.*\|")
        if (
            "{his}" in one.doing[0][1]
            or one.end in ("alone", "together")
            or one.end.startswith("with")
        ):
            return None
        return Job(kind, one.said(now.tense), passive(one, now.tense)), now
    return None


def passive(one: Clause, tense: str) -> str:
    """Of a clause with an object between bars, also in the future."""
    if tense != "will":
        return one.passive(tense)
    text = one.passive("now")
    return re.sub(r" (is|are) ", " will be ", text, count=1)


def somebody(rng: random.Random, now: Telling) -> tuple[Telling, str, str] | None:
    """The same of somebody else: what is told, who it is, who it was."""
    free = [
        who for who in PRONOUNS if who != now.who and all(fits(one, who) for one in now.clauses)
    ]
    if not free:
        return None
    who = rng.choice(free)
    a, b = who, now.subject
    if who in ("he", "she") and rng.random() < 0.35:
        women, men = subjects.split(subjects.WOMEN)[0], subjects.split(subjects.MEN)[0]
        a = rng.choice(women if who == "she" else men)
        if rng.random() < 0.3:
            a = "my sister" if who == "she" else "my brother"
    elif who == "they" and rng.random() < 0.3:
        a = rng.choice(entries("many"))
        a = listed(rng.sample(subjects.split(subjects.WOMEN)[0], 2)) if rng.random() < 0.4 else a
    text = now.text()
    if a not in OF and re.search(rf"\b{re.escape(a.split()[-1])}\b", text):
        return None
    new = now.of(a, who)
    return (new, a, b) if new.text() != text else None


def follow(rng: random.Random, now: Telling, last: str) -> tuple[str, str, Telling] | None:
    """The next wish, what comes out, and what there is then."""
    ways = ["who"] * 6 + ["then", "now", "will"] * 2 + ["same", "upper", "count"]
    if now.one:
        single = len(now.clauses[0].doing) == 1
        if now.shape == "said":
            ways += ["question"] * 2 + ["denied"] * 2 * single
        else:
            ways += ["said" if now.shape == "question" else "yes"] * 2
    way = rng.choice(ways)
    if now.helper == "going" and way == "will":
        return None
    if way == "who":
        after = somebody(rng, now)
        if after is None:
            return None
        new, a, b = after
        return another(rng, way, a, b), new.text(), new
    if way in ("then", "now", "will"):
        if now.link in (" because", " when") and "will" in (way, now.tense):
            return None
        new = replace(now, tense=way)
        if new.text() == now.text():
            return None
        return another(rng, way), new.text(), new
    if way in ("question", "denied", "said", "yes"):
        new = replace(now, shape="said" if way in ("said", "yes") else way)
        return another(rng, way), new.text(), new
    if way == "upper":
        return another(rng, way), last.upper(), now
    if way == "same":
        return another(rng, way), last, now
    words = [re.sub(r"[.,?!]", "", word) for word in last.split()]
    counted = ", ".join(f"{n} {word}" for n, word in enumerate(words, 1))
    return another(rng, way), f"{counted}: {len(words)} words.", now


def reported(rng: random.Random) -> tuple[Job, Telling] | None:
    """`Anna said, "I like tea."` as `Anna said that she liked tea.`, and the other way round."""
    who, pronoun = sentences.subject(rng)
    named = subjects.FIRST_NAMES
    unknown = re.fullmatch(r"[A-Z][a-z]+", who) and who not in named
    if pronoun == "it" or who in OF or who.endswith(" I") or unknown:
        return None
    now = plain(rng)
    said_by = "I" if pronoun in ("he", "she") else "we"
    if not fits(now, said_by) or not fits(now, pronoun):
        return None
    tense = rng.choice(("now", "now", "will"))
    direct = now.of(said_by, said_by).said(tense)
    inner = now.of(pronoun, pronoun).bare("then" if tense == "now" else "will")
    inner = inner.replace(" will ", " would ", 1)
    asked = rng.choice(
        (
            f'{sentence(who)} said, "{direct}"',
            f'{sentence(who)} said: "{direct}"',
            f'"{direct[:-1]}," said {who}.',
        )
    )
    told = f"{sentence(who)} said that {inner}."
    if rng.random() < 0.2:
        return Job("direct", told, f'{sentence(who)} said, "{direct}"'), Telling((now,))
    return Job("reported", asked, told), Telling((now,))


def longer(rng: random.Random) -> tuple[Job, Telling] | None:
    """A short sentence, and the same with a time before it and a reason behind it."""
    now = plain(rng)
    now = replace(now, end="", doing=now.doing[:1])
    tense = rng.choice(("now", "then"))
    if not fits(now, now.who):
        return None
    when = sentences.filled(
        rng, rng.choice(entries("when past" if tense == "then" else "when now"))
    )
    why = sentences.reasons(rng)[tense == "then"]
    long = f"{sentence(when)} {now.bare(tense)} because {why}."
    names = re.findall(r"\b[A-Z][a-z]+\b", now.bare(tense))
    if any(name in why for name in names):
        return None
    return Job("longer", now.said(tense), long), Telling((now,))


def third_person(rng: random.Random) -> tuple[Job, Telling] | None:
    """What I do, as what she does, where nobody is named."""
    now = telling(rng)
    if not all(fits(one, who) for one in now.clauses for who in ("I", "she")):
        return None
    mine, hers = now.of("I", "I"), now.of("she", "she")
    return Job("third person free", mine.text(), hers.text()), hers


def plural_people(rng: random.Random) -> tuple[Job, Telling] | None:
    """`The boy runs` as `the boys run`: the subject in the plural, and back."""
    one, many = rng.choice(SUBJECTS)
    now = plain(rng)
    if not fits(now, "they") or "{his}" in str(now.doing):
        return None
    tense = rng.choice(("now", "now", "now", "then"))
    single = Telling((now.of(f"the {one}", "he"),), tense)
    several = Telling((now.of(f"the {many}", "they"),), tense)
    if rng.random() < 0.3:
        return Job("single", several.text(), single.text()), single
    return Job("manyfold", single.text(), several.text()), several


SUBJECTS = tuple(
    (one, many)
    for one, many in (
        ("boy", "boys"),
        ("girl", "girls"),
        ("child", "children"),
        ("man", "men"),
        ("woman", "women"),
        ("student", "students"),
        ("teacher", "teachers"),
        ("farmer", "farmers"),
        ("nurse", "nurses"),
        ("policeman", "policemen"),
        ("lady", "ladies"),
        ("baby", "babies"),
        ("thief", "thieves"),
        ("neighbour", "neighbours"),
        ("guest", "guests"),
        ("worker", "workers"),
        ("king", "kings"),
        ("queen", "queens"),
        ("knight", "knights"),
        ("driver", "drivers"),
        ("dancer", "dancers"),
        ("actor", "actors"),
        ("actress", "actresses"),
        ("tourist", "tourists"),
        ("doctor", "doctors"),
        ("fisherman", "fishermen"),
        ("secretary", "secretaries"),
        ("waitress", "waitresses"),
        ("grandchild", "grandchildren"),
        ("stranger", "strangers"),
    )
)


OTHERS = (plural_people, plural_people, reported, reported, longer, third_person)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    while True:
        now = telling(rng)
        way = rng.random()
        make = rng.choice(OTHERS) if way < 0.2 else None
        found = make(rng) if make else changed(rng, now)
        if found is not None:
            break
    todo, now = found
    talk = [rewriting.asked(rng, todo, held_out), todo.answer]
    if held_out or rng.random() < 0.3:
        return chat(*talk)
    if todo.kind in (
        "passive",
        "progressive",
        "perfect",
        "single",
        "manyfold",
        "reported",
        "direct",
        "longer",
    ):
        return chat(*talk)
    last = todo.answer
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        next_ = follow(rng, now, last)
        if next_ is None:
            continue
        question, answer, now = next_
        talk += [question, answer]
        if answer.isupper() or ": " in answer:
            break
        last = answer
    return chat(*talk)
