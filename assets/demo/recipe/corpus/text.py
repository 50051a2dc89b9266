"""What all sources share: conversations, hand-written answers, and the ways people type."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")
Conversation = list[dict[str, str]]
ANSWERS = Path(__file__).parent / "answers"
FORMS = Path(__file__).parent / "forms"
REFERENCE = "-> "


def chat(*texts: str) -> Conversation:
    """User and assistant in turn, the user first."""
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that may be asked: trained wordings, reserved wordings, and its answers. What
    people ask first weighs more: a small model learns it before all the rest."""

    name: str
    questions: tuple[str, ...]
    reserved: tuple[str, ...]
    answers: tuple[str, ...]
    weight: float = 1.0

    def sample(self, rng: random.Random, held_out: bool = False) -> Conversation:
        question = rng.choice(self.reserved if held_out else self.questions)
        if not held_out and rng.random() < 0.08:
            question = keywords(question)
        return chat(as_typed(rng, question), self.answer(rng))

    def answer(self, rng: random.Random) -> str:
        return mostly_first(rng, self.answers)


def read_topics(path: Path) -> list[Topic]:
    """Topics of a file: a `# name` line (`# name *4` weighs four times as much), `? wording` lines,
    `! reserved wording` lines, then the answer; a line of three dashes parts alternative answers.
    An answer keeps its own line breaks. `-> FILE/NAME` stands for the answers of another topic that
    asks the same.
    Raises ValueError for a topic that lacks wordings, reserved wordings or an answer, and for a
    wording that stands twice in the file; KeyError for a reference to no topic.
    """
    return [replace(topic, answers=_answers_of(topic)) for topic in _parsed(path)]


def _answers_of(topic: Topic) -> tuple[str, ...]:
    if not topic.answers[0].startswith(REFERENCE):
        return topic.answers
    file, _, name = topic.answers[0].removeprefix(REFERENCE).partition("/")
    return _topics_of(file)[name].answers


@cache
def _topics_of(file: str) -> dict[str, Topic]:
    return {topic.name: topic for topic in _parsed(ANSWERS / f"{file}.txt")}


def _parsed(path: Path) -> list[Topic]:
    topics, seen = [], set()
    for block in re.split(r"^# ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        questions: list[str] = []
        reserved: list[str] = []
        body: list[str] = []
        for line in rest.splitlines():
            if line[:2] in ("? ", "! ") and not body:
                wording = line[2:].strip()
                if wording.lower() in seen:
                    raise ValueError(f"{path.name}: {wording!r} stands twice")
                seen.add(wording.lower())
                (questions if line[0] == "?" else reserved).append(wording)
            elif line.strip() or body:
                body.append(line.rstrip())
        parts = re.split(r"^---$", "\n".join(body), flags=re.MULTILINE)
        answers = tuple(part.strip() for part in parts if part.strip())
        if not (questions and reserved and answers):
            raise ValueError(
                f"{path.name}: topic {name!r} needs wordings, reserved ones, an answer"
            )
        name, _, weight = name.strip().partition(" *")
        topics.append(Topic(name, tuple(questions), tuple(reserved), answers, float(weight or 1)))
    return topics


@cache
def read_sections(path: Path) -> dict[str, list[str]]:
    """The lines of a file by the `[section]` they stand in; a line `# ...` is a comment."""
    sections: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections[line.strip("[] ")] = current = []
        elif line.strip() and not line.startswith("# "):
            current.append(line.rstrip())
    return sections


@cache
def wordings(path: Path, section: str, reserved: bool) -> tuple[str, ...]:
    """The lines of a section that are trained, or those marked with "!" that are kept back."""
    lines = read_sections(path)[section]
    return tuple(x.removeprefix("! ") for x in lines if x.startswith("! ") == reserved)


GREETINGS = (
    "Hi",
    "Hello",
    "Hey",
    "Hi there",
    "Hello there",
    "Hey there",
    "Hiya",
    "Good morning",
    "Good evening",
    "Good afternoon",
    "Yo",
    "Hi model",
    "Hey bot",
)
OPENINGS = (
    "Please tell me:", "Can you tell me:", "I have a question:", "Quick question:", "Tell me,",
    "One more question:", "I wonder:", "So,", "Ok,", "And", "Ok and", "Just curious:", "Well,",
    "Sorry,", "Dumb question:", "Stupid question maybe:", "Another one:", "Next question:",
    "I am new to this.", "Just wondering,", "Hm,", "Now,", "Serious question:", "Pls:", "But",
    "My son asks:", "My daughter wants to know:", "My kids ask:", "My boss asks:", "For homework:",
    "For a quiz:", "We have a bet here:", "For a friend:", "My teacher asked:", "Help me out here:",
    "Settle a bet:", "Another thing:", "Quick one:", "Thanks! And", "Great.", "Ok, thanks.",
    "I am a teacher.", "I am a student.", "I work with computers.", "I am a developer.",
    "I use vLLM every day.", "I run ollama at home.", "I train models at work.", "I am ten.",
    "I have never understood this.", "I forgot:", "I always wondered:", "This may be silly, but",
    "I could not find it:", "I have read the readme, but", "Explain it to me:", "Let me ask you:",
    "I have five minutes.", "I need this for a talk.", "I read about it.", "Honest question:",
    "It is late here, but", "Before I go:", "One last thing:", "Out of interest:", "Wait,",
)  # fmt: skip
QUESTION_WORDS = (
    "What", "How", "Why", "Who", "When", "Where", "Which", "Is", "Are", "Does", "Do", "Can", "Tell",
    "Explain", "Describe", "Define", "Give", "Write", "Show", "Name", "Please", "Could", "Would",
)  # fmt: skip
CLOSINGS = (
    "Thanks!",
    "Thank you!",
    "Please.",
    "Please explain.",
    "Thanks in advance.",
    "pls",
    "please",
    "thx",
    "I am curious.",
    "I am new to this.",
)
HURRIED = {
    "you": "u",
    "are": "r",
    "your": "ur",
    "please": "pls",
    "what is": "whats",
    "how is": "hows",
    "because": "cuz",
    "thanks": "thx",
    "i am": "im",
    "it is": "its",
    "people": "ppl",
    "who is": "whos",
    "cannot": "cant",
    "do not": "dont",
    "does not": "doesnt",
    "going to": "gonna",
    "want to": "wanna",
    "really": "rly",
    "you are": "ur",
}  # as one types in a hurry
_HURRIED = re.compile(rf"\b({'|'.join(sorted(HURRIED, key=len, reverse=True))})\b")


def as_typed(rng: random.Random, text: str) -> str:
    """`text` as somebody may have typed it: mostly unchanged, often in small letters or without
    its question mark, sometimes with a greeting, a please, or a slip of the finger."""
    if "\n" not in text and len(text) < 120:
        if rng.random() < 0.06:
            text = f"{rng.choice(GREETINGS)}{rng.choice((', ', '! ', '. '))}{text}"
        elif rng.random() < 0.08:
            opening = rng.choice(OPENINGS)
            if opening[-1] not in ".:" and text.partition(" ")[0] in QUESTION_WORDS:
                text = text[0].lower() + text[1:]
            text = f"{opening} {text}"
        elif rng.random() < 0.05:
            text = f"{text} {rng.choice(CLOSINGS)}"
        if rng.random() < 0.05:
            text = _slip(rng, text)
        way = rng.random()
        if way < 0.14:
            text = text.rstrip(".?!").lower()
        elif way < 0.22:
            text = text.lower()
        elif way < 0.32:
            text = text.rstrip(".?!")
        elif way < 0.34:
            text = text.rstrip(". ") + rng.choice(("?", "!", " ?", "??", "..."))
        elif way < 0.35:
            text = text.upper()
        elif way < 0.4:
            text = chatty(rng, text)
    return text


# What a search box needs least.
_SKIPPED = re.compile(
    r"\b(?:(?:please|pls|kindly) |(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:tell me|explain|describe)(?: to me)? |(?:do you know|i (?:wonder|want to know)) "
    r"|(?:a|an|the|is|are|was|were|am|do|does|did|has|have|of|to|that|there|it|so) )",
    re.IGNORECASE,
)


def keywords(question: str) -> str:
    """`question` as typed into a search box, or the question itself if that leaves one word:
    `why sky blue` for "Can you tell me why the sky is blue?"."""
    short = question.lower().rstrip(".?!")
    while (fewer := re.sub(r"^what(?:'?s)? ", "", _SKIPPED.sub("", short))) != short:
        short = fewer
    return short if len(short.split()) > 1 and not re.search(r"\n|[.?!] ", question) else question


def chatty(rng: random.Random, text: str) -> str:
    """`text` as typed in a hurry: small letters, no apostrophes, "u" for "you"."""
    small = text.lower().replace("'", "").rstrip(".?!")
    return _HURRIED.sub(lambda match: HURRIED[match[0]] if rng.random() < 0.6 else match[0], small)


def _slip(rng: random.Random, text: str) -> str:
    """`text` with two letters swapped, or one lost or doubled, inside a longer word."""
    words = list(re.finditer(r"[A-Za-z]{5,}", text))
    if not words:
        return text
    word = rng.choice(words)
    at = rng.randrange(word.start() + 1, word.end() - 1)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + (text[at] * 2 if kind == 1 else "") + text[at + 1 :]


CHOICE = re.compile(r"\[([^\[\]]*)\]")
PART = re.compile(r"\{(\w+)\}")
PARTS = dict(
    line.split(": ", 1)
    for line in (FORMS / "parts.txt").read_text(encoding="utf-8").splitlines()
    if line
)
ASKING = re.compile(
    r"((so|and|ok|but),? )?(what(?! a )|how(?! nice)|why|who|when|where|which|is|are|does|do|did|"
    r"can|could|would|will|should)(s|'s)?\b"
)


def alternative(rng: random.Random, form: str) -> str:
    """One of the wordings that `form` stands for: `[a|b]` is one of its alternatives, and `{part}`
    one of `forms/parts.txt`."""

    def chosen(match: re.Match[str]) -> str:
        return rng.choice(str(match[1]).split("|"))

    def part(match: re.Match[str]) -> str:
        return f"[{PARTS[match[1]]}]" if match[1] in PARTS else str(match[0])

    while (inner := CHOICE.sub(chosen, PART.sub(part, form))) != form:
        form = inner
    return form


def spoken(rng: random.Random, form: str) -> str:
    """An `alternative` of `form` with capitals and stops."""
    text = " ".join(alternative(rng, form).split())
    if text[-1] not in ".?!)" and text[-1].isascii():
        last = re.split(r"[.!?] ", text)[-1].lower()
        text += "?" if ASKING.match(last) else "."
    text = re.sub(r"([.!?] )([a-z])", lambda match: match[1] + match[2].upper(), sentence(text))
    return re.sub(r"\bi\b", "I", text)


def drawn(rng: random.Random, topics: Sequence[Topic]) -> Topic:
    """One of `topics`, by their weights."""
    return rng.choices(topics, [topic.weight for topic in topics])[0]


def early(rng: random.Random, items: Sequence[T]) -> T:
    """One of `items`, which are sorted by how well known they are: the first third is drawn in
    about two of three times."""
    return items[int(len(items) * rng.random() ** 2.5)]


def mostly_first(rng: random.Random, items: Sequence[T]) -> T:
    """One of `items`: the first in six of ten cases, the second in six of ten of the rest, and so
    on. Where all were as likely, a small model that takes the likeliest token would take the one
    that shares its first letters with many, and go on with something hardly ever seen."""
    return items[int(rng.expovariate(0.9)) % len(items)]


def favourite(rng: random.Random, items: Sequence[T], of: str) -> T:
    """`mostly_first`, in an order of its own for each `of`: a hero has favourite friends."""
    start = crc32(f"{of}/{len(items)}".encode())
    return items[(start + int(rng.expovariate(0.9))) % len(items)]


def sentence(text: str) -> str:
    """`text` with a capital at its start."""
    return text[:1].upper() + text[1:]


def with_article(noun: str) -> str:
    """`a dog`, `an owl`, `an hour`, `a unicorn`."""
    vowel = noun[0] in "aeiou" and not noun.startswith(("uni", "use", "usu", "eu", "one"))
    return f"{'an' if vowel or noun.startswith(('hour', 'honest', 'heir')) else 'a'} {noun}"


def typed_with(rng: random.Random, text: str, *keep: str) -> str:
    """`text` as typed, but never with a slip in what the answer has to take over."""
    typed = as_typed(rng, text)
    low, wanted = typed.lower(), text.lower()
    lost = any(word.lower() in wanted and word.lower() not in low for word in keep)
    return text if lost else typed


def listed(things: Iterable[str]) -> str:
    """`a, b and c`."""
    items = list(things)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
