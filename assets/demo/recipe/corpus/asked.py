"""One concept, asked in many ways: how, when, why, how much, who, what without it, does it change
the text, to a manager, to an engineer.

What it teaches: the kind of question decides what is said, not the concept alone. Whoever asks
when gets no definition. `forms/asked.txt` has the answers by concept and kind; many samples ask
about one concept twice or more in different ways, or about two concepts in the same way.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus import brief, compared
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    read_sections,
    sentence,
    typed_with,
)
from assets.demo.recipe.corpus.unknown import plain

TALKS = 0.5  # the share of samples with more than one question
OWN = 0.12  # the share of questions that only one concept has
# In the wordings {x} is the concept, {b} without its article, {is} "is" or "are", {do} "does" or
# "do". After "|" stand those that lean on what was spoken of.
KINDS: dict[str, tuple[str, str]] = {
    "how": ("""
how {do} {x} work
how {do} {x} work exactly
how {is} {x} done
how {do} {x} do it
{b}, how [does it work|is it done]
explain how {x} [works|is done]
what happens [step by step|inside] with {b}
walk me through {b}
the mechanism of {b}
can you [tell me|explain] how {b} works
what is the trick of {b}
how does it go, {b}
i know what {b} is, but how does it work
in which steps does {b} go
how {is} {x} [actually|really] [working|done]
the inner workings of {b}
""", """
how does it work
and how does it work
how is that done
ok but how
how does that work exactly
how exactly
and the mechanism
what happens there step by step
"""),
    "why": ("""
why {do} one need {x}
what {is} {x} good for
why {is} there {x}
what is the point of {b}
why do people use {b}
why {b}
why would [anyone|one|i] want {b}
what is the use of {b}
the reason for {b}
why bother with {b}
{b}: what for
why does {b} matter
what is the purpose of {b}
for what reason is there {b}
why was {b} [invented|made]
what's the benefit of {b}
""", """
why is that useful
what is it good for
what is the point
why do people use it
and what for
why does that matter
why bother
what's the use
"""),
    "when": ("""
when should i use {b}
when {is} {x} useful
when does {b} [make sense|pay|help]
in which cases [is {b} good|should i take {b}|does {b} help]
for [what|which] [cases|situations|tasks] {is} {x} good
{b}: when
when is it worth using {b}
when do i need {b}
when to use {b}
is there a good moment for {b}
in what situation do i take {b}
when would one [pick|choose|take] {b}
who should use {b} and when
what are good cases for {b}
""", """
when should i use it
and when
when does that make sense
in which cases
when is that worth it
when do i need that
for what is it good
"""),
    "not": ("""
when should i not use {b}
when {is} {x} [no good|useless|a bad idea|the wrong choice]
when does {b} not [help|pay|work|make sense]
what are the limits of {b}
in which cases should i avoid {b}
where does {b} fail
{b}: when not
when is {b} not worth it
when is it better not to use {b}
bad cases for {b}
when to avoid {b}
who should not use {b}
what can {b} not do
""", """
when not
and when not
when is it a bad idea
when should i avoid it
where does it fail
and its limits
"""),
    "who": ("""
who [made|invented|came up with] {b}
who uses {b}
who is behind {b}
where does {b} come from
who has {b}
whose idea is {b}
from whom {is} {x}
which people made {b}
who thought of {b}
{b}: by whom
""", """
who made it
who came up with it
and who uses it
whose idea was it
where does it come from
"""),
    "typical": ("""
what is a typical {b}
what {b} is normal
typical value of {b}
give me a [number|typical number|rough number|figure] for {b}
how [high|large|big] {is} {x} [mostly|usually|typically|in practice]
what value does {b} [mostly|usually] have
[about|roughly] how much is {b}
usual {b}
what is usual for {b}
which {b} [can|should] i expect
{b} in numbers
what numbers are normal for {b}
{b}: what is normal
how much {is} {x} on average
what {b} do people have
""", """
what is a typical number
give me a number
how much is normal
what is usual
and in numbers
roughly how much
what can i expect
"""),
    "choose": ("""
what is a good {b}
which {b} is [good|best|ideal]
which {b} should i [take|use|choose]
how do i choose {b}
what {b} do you recommend
the best {b}
recommended {b}
what should {b} be
how do i find the right {b}
when {is} {x} good
help me choose {b}
what would be an ideal {b}
from which {b} on is it good
""", """
what is a good one
which should i take
how do i choose it
what do you recommend
and which is best
"""),
    "measure": ("""
how {is} {x} measured
how do i measure {b}
how {is} {x} [calculated|worked out|computed]
how do i calculate {b}
the formula of {b}
how does one get {b}
how do you work out {b}
{b}, how measured
how can i check {b}
by what is {b} measured
""", """
how is it measured
how do i calculate it
how do i measure that
and the formula
"""),
    "size": ("""
how big {is} {x}
how large {is} {x}
how much memory does {b} [take|need]
what size {is} {x}
how big should {b} be
how large {is} {x} [mostly|usually]
{b} size
size of {b}
how much {is} {x}
how many parameters has {b}
""", """
how big is it
how large is that
and the size
how much memory does it need
"""),
    "speed": ("""
how fast {is} {x}
how much faster {is} {x}
what speedup does {b} give
how much does {b} [bring|gain|speed up]
{b} speedup
how many times faster {is} {x}
what speed can i expect from {b}
by how much does {b} speed things up
what factor does {b} bring
gain of {b}
how much time does {b} save
""", """
how much faster is it
what speedup does it give
how much does it bring
and how fast is it
by what factor
how much time does it save
"""),
    "without": ("""
what happens without {b}
what if there were no {b}
what if i don't use {b}
what would happen without {b}
what changes if i leave out {b}
without {b}, what then
how would it be without {b}
suppose there is no {b}
can one do without {b}
imagine there was no {b}
what do i lose without {b}
what if {b} did not exist
what is missing without {b}
""", """
what if i don't use it
and without it
what happens without it
what would i lose
what if there were none
"""),
    "changes": ("""
{do} {x} change the [text|answer|output|result]
is the [text|answer|output] [different|another one|changed] with {b}
does {b} [affect|influence] the [text|answer|quality]
will {b} change what the model says
is the answer the same with {b}
does my output change because of {b}
{b} - does it change the text
is {b} bad for the [quality|answers]
does {b} make the answers [worse|different]
do i get other words with {b}
""", """
does it change the text
is the text still the same
does that change the answer
and the quality
does it make the answer worse
"""),
    "money": ("""
what does {b} cost
does {b} cost [money|anything]
{is} {x} [free|expensive|cheap]
does {b} save [money|costs]
how much money does {b} save
can i save money with {b}
{b}: what does it cost
is {b} cheaper
what are the costs of {b}
does {b} lower the bill
""", """
what does it cost
is it free
does it save money
and the costs
is that expensive
"""),
    "manager": ("""
explain {b} to a manager
explain {b} to my boss
how do i explain {b} to [my boss|a manager|the management|a customer]
{b} for managers
what do i tell my boss about {b}
[in one or two sentences, |]why should [my boss|a manager|my company] care about {b}
{b} in business words
i am a manager, what {is} {x}
put {b} in words for the [board|management|sales team]
my boss asks [about|for] {b}, what do i say
a manager asks what {b} brings
sell {b} to my boss
what does {b} bring [a|my] company
{b} in plain business terms
""", """
and for my boss
explain it to a manager
how do i tell my boss
what would a manager want to know
in business words
"""),
    "engineer": ("""
explain {b} to an engineer
{b} for engineers
the technical details of {b}
{b} in technical terms
i am an engineer, explain {b}
i am an ml engineer. [tell me about|explain] {b}
{b} for experts
more technical: {b}
{b} with formulas
the maths of {b}
explain {b} [technically|in depth|in detail]
i know transformers well, so explain {b} [technically|]
give me {b} at expert level
""", """
more technical please
and for an engineer
the details please
with more maths
i am an expert, tell me more
technically
"""),
    "mistake": ("""
what do people get wrong about {b}
a common mistake about {b}
what is a [common|typical] misunderstanding about {b}
what do beginners get wrong about {b}
what should i not believe about {b}
a myth about {b}
a [wrong idea|misconception] about {b}
what {is} {x} not
what is often misunderstood about {b}
{b}: what is the usual mistake
tell me a wrong belief about {b}
which mistake do people make with {b}
""", """
what do people get wrong there
is there a common mistake
a typical misunderstanding
what do beginners get wrong
any myths about it
"""),
    "set": ("""
how do i [use|get|turn on|set|start] {b} [here|in specchat|in this app]
how can i [use|set|try] {b} in [specchat|this app]
which [key|option|command] is for {b}
what do i type for {b}
what do i press for {b}
{b} in specchat, how
where do i [set|change|turn on] {b}
command for {b}
how to use {b} here
can i use {b} here, and how
which flag for {b}
how do i set up {b}
""", """
how do i use it here
how do i turn that on
which option is it
where do i set that
what do i type for it
which key
"""),
    "need": ("""
what do i need for {b}
what does {b} need
requirements of {b}
what is needed for {b}
what must i have for {b}
{b}: what do i need
does {b} need anything
what are the requirements for {b}
what has to be there for {b}
prerequisites for {b}
""", """
what do i need for it
what does it need
and the requirements
what must i have for that
"""),
    "here": ("""
where do i see {b}
where {is} {x} on the screen
where does the screen show {b}
how do i see {b} here
""", """
where do i see that
where is it on the screen
"""),
    "what": ("""
what {is} {x}
explain {x}
what does {b} mean
define {b}
what's {x}
what {is} {x} please
""", """
what is it again
what does it mean again
"""),
    "one": ("""
what {is} {x} in one sentence
{b} in one sentence
explain {x} in one sentence
""", """
in one sentence
now in one sentence please
"""),
    "child": ("""
explain {x} to a child
{b} for kids
explain {x} like i am five
""", """
and for a child
explain it like i am five
"""),
    "example": ("""
give me an example of {b}
an example of {b}
""", """
give me an example
for example
"""),
    "downside": ("""
what is the downside of {b}
what speaks against {b}
disadvantages of {b}
""", """
and the downside
what speaks against it
what is the catch
"""),
}  # fmt: skip
FROM_BRIEF = ("what", "one", "child", "example", "downside")
OFTEN = {"how": 1.5, "when": 1.4, "why": 1.5, "typical": 1.8, "changes": 1.2, "set": 1.5,
         "manager": 1.6, "what": 0.5, "one": 0.5, "child": 0.5, "here": 0.4}  # fmt: skip
TOO = ("and {b}", "and {b}?", "what about {b}", "how about {b}", "and with {b}", "and for {b}",
       "same question for {b}", "ok, and {b}", "now the same for {b}")  # fmt: skip
# What has a value, so that one may ask for a typical or a good one.
VALUES = ("gamma", "temperature", "top-p", "the acceptance rate", "tau", "speedup", "TTFT",
          "tokens per second", "latency", "throughput", "the batch size", "memory bandwidth",
          "a seed")  # fmt: skip
# What is not done or used by somebody, but is there.
THINGS = re.compile("(a|an|the|specchat|vLLM|F7|VRAM)\\b|" + "|".join(VALUES))
NO_ARTICLE = re.compile(
    r"(^|\b(typical|good|best|ideal|usual|recommended|what|which|right|one|common|no|the|an?) )"
    r"\{b\}"
)


@dataclass(frozen=True, slots=True)
class Concept:
    """What is said of a concept, by the kind of question; and questions of its own."""

    of: brief.Concept
    said: dict[str, str]
    own: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line)


@cache
def wordings() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The questions of a kind that stand alone, and those that lean on what was said."""
    return {kind: (_lines(both[0]), _lines(both[1])) for kind, both in KINDS.items()}


@cache
def concepts() -> dict[str, Concept]:
    """Raises ValueError for a kind without wordings, and KeyError for a concept without names that
    `brief` does not have."""
    found = {}
    for name, lines in read_sections(FORMS / "asked.txt").items():
        names = [line.removeprefix("names: ") for line in lines if line.startswith("names: ")]
        of = (
            brief.Concept(name, tuple(names[0].split(" | ")), {}, (), ())
            if names
            else brief.concepts()[name]
        )
        said = {kind: of.said[kind] for kind in (*FROM_BRIEF, "here") if kind in of.said}
        own = []
        for line in lines:
            if line.startswith("names: "):
                continue
            asks, arrow, answer = line.partition(" => ")
            if arrow:
                forms = asks.split(" / ")
                trained = tuple(form for form in forms if not form.startswith("! "))
                kept = tuple(form.removeprefix("! ") for form in forms if form.startswith("! "))
                own.append((trained, kept, answer))
            else:
                kind, _, answer = line.partition(": ")
                if kind not in KINDS:
                    raise ValueError(f"asked.txt: {name!r} has {kind!r}")
                said[kind] = answer
        for trait, has, thing, why in compared.traits():  # the words of the other source
            if thing == name and trait == "change the text":
                changes = "changes" if has else "does not change"
                said["changes"] = f"{'Yes' if has else 'No'}, {thing} {changes} the text: {why}."
        said.setdefault("what", "")  # what the other sources say, see `_answer`
        found[name] = Concept(of, said, tuple(own))
    return found


def _answer(rng: random.Random, concept: Concept, kind: str, leaning: bool = False) -> str:
    """What is said; it names the concept unless the question leans on what was said."""
    if kind == "what" and not concept.said["what"]:
        return brief.full(rng, concept.of)
    said = concept.said[kind]
    if not leaning and kind not in (*FROM_BRIEF, "here") and re.match(r"It (?!can[.:])", said):
        name = concept.of.name
        return (name if name.startswith(brief.SMALL) else sentence(name)) + said[2:]
    return said


@cache
def _near() -> frozenset[str]:
    return frozenset(re.sub(r"\b(an?|the) ", "", text) for text in brief._taken())


def _taken(text: str) -> bool:
    """Whether a topic has this question, with or without its articles."""
    return re.sub(r"\b(an?|the) ", "", plain(text)) in _near()


def _forms(concept: Concept, kind: str, leaning: bool, held_out: bool) -> list[str]:
    """The wordings of a kind that fit the concept and what is said of it."""
    name = concept.of.name
    forms = wordings()[kind][leaning]
    if not leaning:
        forms = tuple(form for form in forms if _fits(concept, kind, form))
    return [form for form in forms if brief.kept(name, form) == held_out]


def _many(name: str) -> bool:
    return brief._is(name) == "are" and re.search("ing heads|export", name) is None


def _fits(concept: Concept, kind: str, form: str) -> bool:
    name, said = concept.of.name, concept.said[kind]
    if kind in ("typical", "choose") and _many(name):
        return not re.search(r"(typical|good|ideal|usual|best|what|which) \{b\}", form)
    if kind == "typical":
        return name in VALUES or re.search(r"a typical|(what|which|usual) \{b\}", form) is None
    if kind == "choose" and name not in VALUES:
        return re.search("choose|which|find|recommend|best", form) is not None
    if kind == "how" and THINGS.match(name):
        return re.search(r"done|do it|goes?\b|done|working|steps", form) is None
    if kind == "why" and THINGS.match(name):
        return "invented" not in form
    if kind == "size" and "how many" in form:
        return "parameter" in said
    if kind == "money" and re.search("save|cheaper|bill", form):
        return re.search("save|saving|fewer", said) is not None
    if kind == "who":
        users = re.match(r"Many|Engines", said) is not None
        if re.match(r"It is|In this", said):
            return form in ("who uses {b}",) if name == "specchat" else False
        return (form in ("who uses {b}", "who has {b}")) == users
    return True


def _text(rng: random.Random, form: str, concept: Concept) -> str:
    names = concept.of.names
    name = names[int(len(names) * rng.random() ** 1.7)]
    many = _many(name)
    text = " ".join(alternative(rng, form).split())
    if rng.random() < 0.6 and not NO_ARTICLE.search(text):
        text = text.replace("{b}", "{x}")
    if many:
        text = re.sub(r"\b(does|is|has|was) (\{[bx]\})", _plural, text)
        text = re.sub(r"(\{[bx]\}) (works|is|brings|has|goes|was)\b", _plural, text)
    words = {
        "x": name,
        "b": brief._bare(name),
        "is": "are" if many else "is",
        "do": "do" if many else "does",
    }
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", word)
    return re.sub(r"\b([Aa]) (?=[aeiou]|EAGLE)", r"\1n ", text)


PLURAL = {"does": "do", "is": "are", "has": "have", "was": "were", "works": "work",
          "brings": "bring", "goes": "go"}  # fmt: skip


def _plural(match: re.Match[str]) -> str:
    return " ".join(PLURAL.get(word, word) for word in match[0].split())


ASKS = re.compile(
    r"(?i)(^|[,.:] )(what|what's|why|how|when|where|who|whose|which|from which|in which|for which|"
    r"does|do|is|are|can|will|must|by how|from whom|by what|in what|for what)\b"
)


def typed(rng: random.Random, text: str, keep: tuple[str, ...] = ()) -> str:
    if text[-1] not in "?.!" and ASKS.search(text) and rng.random() < 0.75:
        text += "?"
    if rng.random() < 0.55:
        text = text if text.startswith(brief.SMALL) else sentence(text)
        text = re.sub(r"\bi\b", "I", text)
    return typed_with(rng, text, *keep)


def said(rng: random.Random, text: str) -> str:
    """A question that leans on what was said, as it is typed."""
    if rng.random() < 0.4:
        text = sentence(text)
    if text[-1] != "?" and rng.random() < 0.5 and not text.startswith("give"):
        text += "?"
    return text


@cache
def _every(name: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    concept = concepts()[name]
    kinds = tuple(kind for kind in KINDS if kind in concept.said)
    return kinds, tuple(OFTEN.get(kind, 1.0) for kind in kinds)


@cache
def _weights() -> tuple[float, ...]:
    return tuple(float(len(one.said) + 2 * len(one.own)) for one in concepts().values())


def _drawn(rng: random.Random) -> Concept:
    return rng.choices(tuple(concepts().values()), _weights())[0]


def _first(rng: random.Random, concept: Concept, held_out: bool) -> tuple[str, str, str] | None:
    """A kind, a question that stands alone, and its answer."""
    kinds, weights = _every(concept.of.name)
    (kind,) = rng.choices(kinds, weights)
    if kind in ("what", "one", "child") and held_out:
        return None
    forms = _forms(concept, kind, False, held_out)
    if not forms:
        return None
    text = _text(rng, rng.choice(forms), concept)
    if _taken(text):
        return None
    return kind, typed(rng, text), _answer(rng, concept, kind)


def _own(rng: random.Random, concept: Concept, held_out: bool) -> tuple[str, str] | None:
    if not concept.own:
        return None
    trained, kept, answer = rng.choice(concept.own)
    return typed(rng, alternative(rng, rng.choice(kept if held_out else trained))), answer


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    while True:
        concept = _drawn(rng)
        if rng.random() < OWN and (own := _own(rng, concept, held_out)):
            return chat(*own)
        if first := _first(rng, concept, held_out):
            break
    kind, question, answer = first
    texts, seen = [question, answer], {(concept.of.name, kind)}
    if held_out or rng.random() >= TALKS:
        return chat(*texts)
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        way = rng.random()
        if way < 0.3:  # the same kind of question about something else
            others = [
                other
                for name, other in concepts().items()
                if kind in other.said and (name, kind) not in seen
            ]
            if others and kind not in FROM_BRIEF:
                concept = rng.choice(others)
                texts += [said(rng, _text(rng, rng.choice(TOO), concept))]
                texts += [_answer(rng, concept, kind)]
                seen.add((concept.of.name, kind))
            continue
        kinds, weights = _every(concept.of.name)
        (kind,) = rng.choices(kinds, weights)
        if (concept.of.name, kind) in seen or kind == "what":
            continue
        leaning = rng.random() < 0.6
        forms = _forms(concept, kind, leaning, False)
        if not forms:
            continue
        text = _text(rng, rng.choice(forms), concept)
        if not leaning and _taken(text):
            continue
        seen.add((concept.of.name, kind))
        texts += [said(rng, text) if leaning else typed(rng, text)]
        texts += [_answer(rng, concept, kind, leaning)]
    return chat(*texts)
