"""Concepts of language models and decoding in the length that was asked for: one sentence, two, or
so that a child understands; and conversations that lean on such an answer ("why?", "shorter", "and
Medusa?", "so why not all words at once").

`forms/brief.txt` has the concepts. What it teaches: the wish decides the length and the kind of
the answer, and a follow-up is about the concept that was spoken of last.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus import facts
from assets.demo.recipe.corpus.subject import read_subject
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    FORMS,
    Conversation,
    Topic,
    alternative,
    as_typed,
    chat,
    read_sections,
    read_topics,
    sentence,
    typed_with,
)
from assets.demo.recipe.corpus.unknown import plain

TALKS = 0.45  # the share of samples with more than one question
# In the forms {x} is the concept as it is spoken of, {b} without its article, {is} "is" or "are";
# {who} and {job} are those of `forms/parts.txt`.
ONE = (
    "what {is} {x} in one sentence", "what {is} {x}, in one sentence", "{b} in one sentence",
    "explain {x} in one sentence", "in one sentence, what {is} {x}", "{b}, one sentence please",
    "one sentence about {x}", "tl;dr {b}", "tldr {b}", "{b} tldr", "what {is} {x}, briefly",
    "briefly, what {is} {x}", "in short, what {is} {x}", "{b} in a nutshell",
    "a quick definition of {b}", "define {b} in one line", "give me {x} in a single sentence",
    "sum up {x} in one sentence", "one line on {b}", "the shortest explanation of {b} [please|]",
    "what {is} {x}? one sentence only", "what {is} {x}? answer in one sentence",
    "what {is} {x}? keep it short", "explain {x} but keep it to one sentence", "{b} in short",
    "describe {x} in one short sentence",
    "can you [say|explain|tell me] in one sentence what {x} {is}",
    "what {is} {x} [in brief|in a nutshell|shortly]", "just one sentence: what {is} {x}",
    "i have ten seconds, what {is} {x}", "[short|quick|brief] answer [please|pls|]: what {is} {x}",
    "explain {x} to {who} in one sentence", "tell me {x} in a sentence", "{b} - short version",
    "{b} explained in [one|a single|1] sentence", "only one sentence please, what {is} {x}",
    "[short|brief|quick] [explanation|summary|description] of {b}", "{b} in 1 sentence",
    "how would you put {x} in one sentence", "explain {x} [briefly|shortly|quickly]",
    "one sentence on what {x} {is}",
)  # fmt: skip
TWO = (
    "what {is} {x} in two sentences", "{b} in two sentences", "explain {x} in two sentences",
    "explain {x} in 2 sentences", "in two sentences, what {is} {x}", "two sentences about {x}",
    "what {is} {x}? two sentences please", "sum up {x} in two sentences", "two lines on {b}",
    "what {is} {x}? [answer|explain] in two [short|] sentences", "{b}, two sentences max",
    "explain {x} to {who} in two sentences", "give me two sentences on {x}",
    "can you [say|explain] in two sentences what {x} {is}", "{b} in two lines",
    "describe {x} in a couple of sentences", "{b} in 2 sentences pls",
    "explain {x} in no more than two sentences", "what {is} {x}, in two short sentences",
)  # fmt: skip
CHILD = (
    "explain {x} like i am five", "explain {x} like i'm 5", "eli5 {b}", "{b} eli5", "eli5: {b}",
    "explain {x} to {who} in simple words", "explain {x} to a child", "{b} for kids",
    "explain {x} to a five year old", "what {is} {x} for a child", "{b} for a child",
    "explain {x} as if i were [five|six|ten]", "{b} for dummies",
    "explain {x} like i am [ten|a kid|a child]",
    "i know nothing about AI, [so|] what {is} {x}", "i know nothing about AI. what {is} {x}",
    "i am a {job} and [i|] know very little about AI. [can you tell me|tell me] in simple "
    "words what {x} {is}",
    "i am a {job}. [can you|please] explain {x} in simple words",
    "i'm a {job}, not a technical person. what {is} {x}",
    "i am a {job} and i have never heard of {b}. [what is that|explain it simply]",
    "how would you explain {x} to {who}", "how do i explain {x} to {who}",
    "explain {x} so that {who} [understands|gets] it",
    "what {is} {x}, [in baby words|for a complete beginner]",
    "what {is} {x} in [very|really] simple words", "{b} in [very simple|easy|baby] words",
    "{b} without jargon", "explain {x} without [jargon|technical words|any jargon]",
    "my [daughter|son|grandma|mother] asks what {x} {is}, [how do i say it|what do i tell "
    "her|help]",
    "explain {x} as simple as possible", "i don't understand {x}, make it really easy",
    "make {x} easy for me", "{b}, but for [a five year old|children|a beginner]",
    "how do you explain {x} to a kid", "a simple picture for {b}",
    "what {is} {x} like? i am [nine|ten|eleven]",
    "tell {who} what {x} {is}, very simply", "give me an analogy for {b}",
    "what can one compare {x} with",
)  # fmt: skip
EXAMPLE = (
    "give me an example of {b}", "an example of {b}", "example for {b}",
    "show me an example of {b}",
    "can you give [me|] an example of {b}", "{b}, an example please", "{b} example",
)  # fmt: skip
WITH_EXAMPLE = (
    "what {is} {x}? give [me|] an example", "explain {x} with an example", "{b} with an example",
    "what {is} {x}, with an example", "define {b} and give an example", "{b} by example",
    "explain {x} and show [me|] an example", "tell me what {x} {is} with one example",
)  # fmt: skip
DOWNSIDE = (
    "what is the downside of {b}", "downsides of {b}", "what are the disadvantages of {b}",
    "what is bad about {b}", "the drawback of {b}", "what's the catch with {b}", "cons of {b}",
    "what speaks against {b}", "any disadvantage of {b}", "problems with {b}",
)  # fmt: skip
HERE = (
    "where do i see {x} [here|in the app|on the screen|]", "where {is} {x} on the screen",
    "where can i find {x} here", "how do i see {x} in specchat", "show me {x} on the screen",
    "{b}, where is that on my screen", "where in the app {is} {x}",
)  # fmt: skip
SINGLE: dict[str, tuple[float, tuple[str, ...]]] = {
    "one": (30, ONE), "two": (10, TWO), "child": (26, CHILD), "example": (5, EXAMPLE),
    "one example": (6, WITH_EXAMPLE), "downside": (6, DOWNSIDE), "here": (6, HERE),
}  # fmt: skip

# What is asked after an answer, by what answers it.
AFTER: dict[str, tuple[str, ...]] = {
    "why": (
        "why", "why?", "why", "but why", "why is that", "and why", "how come", "why so",
        "why though",
        "why would one do that", "what is the reason",
        "why does one need that", "and why is that", "so why is that done", "why do they do that",
    ),
    "example": (
        "example", "give me an example", "for example", "an example please", "example?", "such as",
        "can you give an example", "like what", "show me an example", "and an example",
        "an instance",
        "could you give me one example", "e.g.", "what would be an example", "example pls",
    ),
    "downside": (
        "what's the downside", "and the downside", "what is the catch", "any disadvantages", "cons",
        "what is bad about it", "and the drawbacks", "what speaks against it", "downsides",
        "is there a downside", "what's the problem with it", "sounds good, what's the catch",
    ),
    "you": (
        "is that what you do", "do you do that", "do you do that too", "and you", "do you use it",
        "is that how you work", "are you doing that", "do you have that too", "what about you",
        "and do you use that", "do you do this as well", "same with you",
    ),
    "here": (
        "where do i see that", "where is that on the screen", "where is it here", "show me where",
        "and in this app", "where in the app", "can i see it here", "how do i see that here",
        "where can i see that", "and here", "is that on the screen",
    ),
    "child": (
        "simpler please", "simpler", "can you say that more simply", "i don't get it", "eli5",
        "too complicated", "i do not understand", "explain it to a child", "in simple words",
        "easier please", "like i am five", "and for a child", "huh", "still don't get it",
        "explain like i'm five", "too technical for me", "say it so that my mother understands",
        "i'm not technical, again please", "what does that mean in plain words", "make it easier",
    ),
    "one": (
        "shorter", "shorter please", "too long", "tldr", "tl;dr", "in one sentence",
        "one sentence please",
        "make it shorter", "in short", "and in one sentence", "can you shorten that", "briefly",
        "sum it up", "just one sentence", "short version", "and now in one sentence",
        "in a nutshell",
    ),
    "two": ("more", "tell me more", "go on", "and", "a bit more please", "more please",
    "more about it"),
}  # fmt: skip
NEXT = (
    "and {b}", "and {b}?", "what about {b}", "and what {is} {x}", "how about {b}", "ok, and {b}",
    "and what is {b} then" , "now {b}", "and {x}", "same for {b}", "what {is} {x} then",
    "ok what {is} {x}",
)  # fmt: skip
FIRST = (
    "what {is} {x}", "what {is} {x}", "explain {x}", "what does {b} mean",
    "tell me about {b}", "{b}",
    "what's {x}", "can you explain {x}", "what exactly {is} {x}", "i don't know what {x} {is}",
    "{x}, what is that", "what do you mean by {b}", "help me understand {x}", "define {b}",
)  # fmt: skip
BEFORE = ("", "", "", "", "", "", "ok, ", "hm, ", "i see. ", "thanks. ", "ah, ", "cool. ")
# Names that never begin with a capital.
SMALL = ("specchat", "vLLM", "llama.cpp", "safetensors", "bfloat16", "float32")
# Concepts that are topics of the same kind under another name: these have the full answer.
TOPICS = {
    "an LLM": "what is a large language model", "open weights": "open weights model",
    "specchat": "what am I looking at", "autoregressive lane": "ar lane", "a lane": "lane",
    "an AI agent": "what is an AI agent", "training": "how are LLMs trained",
    "the context window": "context window", "AI": "artificial intelligence", "a CPU": "a cpu",
    "a GPU": "a gpu",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Concept:
    """What may be said about one concept; `said` is by the keys of the file."""

    name: str
    names: tuple[str, ...]
    said: dict[str, str]
    after: tuple[str, ...]  # the concepts that may be asked for next
    own: tuple[tuple[tuple[str, ...], str], ...]  # follow-ups of its own, and their answers

    def answer(self, key: str) -> str:
        return " ".join(self.said[part] for part in key.split())


@cache
def concepts() -> dict[str, Concept]:
    """Raises ValueError for a concept without its three answers, and for an unknown next one."""
    found = {}
    for name, lines in read_sections(FORMS / "brief.txt").items():
        own = []
        said: dict[str, str] = {}
        for line in lines:
            asks, arrow, answer = line.partition(" => ")
            if arrow:
                own.append((tuple(asks.split(" / ")), answer))
            else:
                key, _, text = line.partition(": ")
                said[key] = text
        names, after = (tuple(said.pop(key, "").split(" | ")) for key in ("names", "next"))
        if not {"one", "two", "child"} <= said.keys() <= {*AFTER}:
            raise ValueError(f"brief.txt: {name!r} has {sorted(said)}")
        said["child"] = re.sub(r"^It(?= (is|says|cuts|does)\b)", _named(names[0]), said["child"])
        said["two"] = f"{said['one']} {said['two']}"
        found[name] = Concept(name, names, said, after, tuple(own))
    for concept in found.values():
        if missing := set(concept.after) - found.keys():
            raise ValueError(f"brief.txt: no {missing} after {concept.name!r}")
    return found


@cache
def _weights() -> tuple[float, ...]:
    """What has follow-ups of its own is asked most."""
    return tuple(1 + 0.35 * len(one.said) + len(one.own) for one in concepts().values())


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    (concept,) = rng.choices(tuple(concepts().values()), _weights())
    return (talk if rng.random() < TALKS else single)(rng, concept, held_out)


def kept(name: str, form: str) -> bool:
    """Whether this form about this concept is kept out of the training text."""
    return zlib.crc32(f"{name}/{form}".encode()) % 16 == 0


def single(rng: random.Random, concept: Concept, held_out: bool) -> Conversation:
    """A question with a wish about the answer."""
    forms = {
        kind: [form for form in asked if kept(concept.name, form) == held_out]
        for kind, (_, asked) in SINGLE.items()
        if set(kind.split()) <= concept.said.keys()
    }
    kinds = [kind for kind, some in forms.items() if some]
    if not kinds:  # none is kept out
        return sample(rng, held_out)
    (kind,) = rng.choices(kinds, [SINGLE[kind][0] for kind in kinds])
    form = rng.choice(forms[kind])
    text = _filled(rng, form, concept)
    if taken(text):
        return single(rng, concept, held_out)
    return chat(_typed(rng, text), concept.answer(kind))


def talk(rng: random.Random, concept: Concept, held_out: bool) -> Conversation:
    """An explanation, and one to three turns that lean on it."""
    given = rng.choice(("two", "two", "two", "one", "child"))
    first = FIRST if given == "two" else SINGLE[given][1]
    form = rng.choice([form for form in first if "{who}" not in form])
    texts = [
        _typed(rng, _filled(rng, form, concept)),
        full(rng, concept) if given == "two" else concept.answer(given),
    ]
    done = {given}
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        turn = _leaning(rng, concept, done, held_out)
        if turn is None:
            break
        question, answer, concept = turn
        texts += [question, answer]
    if len(texts) == 2:
        return single(rng, concept, held_out)
    return chat(*texts)


@cache
def _topics() -> dict[str, Topic]:
    wide = [topic for path in sorted(ANSWERS.glob("wide_*.txt")) for topic in read_topics(path)]
    known = (*wide, *facts.topics(), *read_subject().topics)
    return {topic.name: topic for topic in known}


@cache
def _taken() -> frozenset[str]:
    topics = [
        topic
        for path in sorted(ANSWERS.glob("*.txt"))
        if path.name != "definitions.txt"
        for topic in read_topics(path)
    ]
    return frozenset(plain(q) for topic in topics for q in (*topic.questions, *topic.reserved))


def taken(question: str) -> bool:
    """Whether a topic of `answers` has this question, with an answer of its own."""
    return plain(question) in _taken()


def spoken_of(a: str, b: str) -> bool:
    """Whether there is a topic that compares the two."""
    return any(f"{x} vs {y}" in _topics() for x, y in ((_bare(a), _bare(b)), (_bare(b), _bare(a))))


def full(rng: random.Random, concept: Concept) -> str:
    """The answer to a plain "What is X?", which another source may have."""
    for name in (TOPICS.get(concept.name, concept.name), f"what is {concept.name}"):
        if name in _topics():
            return _topics()[name].answer(rng)
    return concept.answer("two")


def _leaning(
    rng: random.Random, concept: Concept, done: set[str], held_out: bool
) -> tuple[str, str, Concept] | None:
    """A question about what was said last, its answer, and what is now spoken of."""
    found: list[
        tuple[str, str, str, Concept]
    ] = []  # a key, a question, an answer, and the new subject
    for asks, answer in concept.own:
        found += [(asks[0], ask, answer, concept) for ask in asks]
    own = len(found)
    for key, asks in AFTER.items():
        if key in concept.said and not (key == "one" and "one" in done):
            if key == "two" and done & {"two"}:
                continue
            answer = concept.said[key]
            if key == "two":
                answer = answer.removeprefix(concept.said["one"]).strip()
            found += [(key, ask, answer, concept) for ask in asks]
    for name in concept.after:
        other = concepts()[name]
        found += [(name, form, other.answer("two"), other) for form in NEXT]
    usable = [
        (index, entry)
        for index, entry in enumerate(found)
        if entry[0] not in done and kept(concept.name, entry[1]) == held_out
    ]
    if not usable:
        return None
    keys = sorted({entry[0] for _, entry in usable})
    first = {entry[0] for index, entry in usable if index < own}
    (key,) = rng.choices(keys, [1.6 if one in first else 1 for one in keys])
    _, form, answer, subject = rng.choice([entry for _, entry in usable if entry[0] == key])
    if subject is not concept:
        done.clear()
        done.add("two")
        text = _filled(rng, form, subject)
    else:
        done.add(key)
        text = form
        alone = re.match(r"(and|so|ok|but|huh|hm|now|tl|e\.g|eli)", text) is None
        text = rng.choice(BEFORE) + text if alone else text
    return _said(rng, text), answer, subject


def _filled(rng: random.Random, form: str, concept: Concept) -> str:
    name = concept.names[int(len(concept.names) * rng.random() ** 1.7)]
    words = {"x": name, "b": _bare(name), "is": _is(name)}
    text = " ".join(alternative(rng, form).split())
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", word)
    return re.sub(r"\ba (?=[aeiou])", "an ", text)


def _named(name: str) -> str:
    return name if name in SMALL else sentence(name)


def _bare(name: str) -> str:
    return re.sub(r"^(a|an|the) ", "", name)


def _is(name: str) -> str:
    many = re.search(r"[^s]s$|^latency and", name) and not re.search(
        "experts|^tps|^an? |^llms?$", name
    )
    return "are" if many else "is"


def _typed(rng: random.Random, text: str) -> str:
    if text[-1] not in "?.!" and re.search(
        r"(?i)(^|[.,:?] )(what|why|how|where|can|do|is|could)\b", text
    ):
        text += "?"
    elif text[-1] not in "?.!" and rng.random() < 0.5:
        text += "."
    text = re.sub(r"([.?!] )([a-z])", lambda match: match[1] + match[2].upper(), sentence(text))
    text = re.sub(r"\bi\b", "I", text)
    keep = re.findall(r"five|child|kid|dummies|one|two|simple|short|brief", text)
    return typed_with(rng, text, *keep) if rng.random() < 0.8 else as_typed(rng, text)


def _said(rng: random.Random, text: str) -> str:
    """A follow-up as it is typed: mostly in small letters, often without its question mark."""
    if rng.random() < 0.45:
        text = sentence(text)
    asks = re.search(
        r"(?i)(^|[,.] )(and|so|do|does|can|is|are|what|why|how|which|where|any)\b", text
    )
    if text[-1].isalnum() and rng.random() < 0.55:
        text += "?" if asks else rng.choice((".", ""))
    return re.sub(r"\bi\b", "I", text) if rng.random() < 0.5 else text
