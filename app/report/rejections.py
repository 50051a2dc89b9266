"""Where a drafter guesses wrong: every rejection, and how often it is right by level, by its own
confidence and by kind of token. Only tested levels count, up to and including the first
rejection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from app.text.token_event import TokenEvent
from decoding.round import Round
from decoding.stats import ratio

Step = tuple[Round, Sequence[TokenEvent]]  # a round and its displayed tokens
BINS = 5  # of the drafter's confidence
BEGINNING = 8  # tokens of an answer that are its beginning
CLOSING = "\"'”’)»"  # behind the end of a sentence
ENDS = f" {CLOSING}"  # what kind_of looks behind


class TokenKind(StrEnum):
    """The role of a token in the text."""

    WORD = "first of a word"
    INSIDE = "inside a word"
    NAME = "name"
    NUMBER = "number"
    PUNCTUATION = "punctuation"  # and space
    SPECIAL = "no text"  # the end of the answer, a part of a character


@dataclass(frozen=True, slots=True)
class Level:
    """A tested level of a draft. `guess` is the drafter's likeliest node there, `parent` the node
    before it, `emitted` the token that the answer got. `accepted`: one of the guesses was right;
    `first`: the likeliest one was. `position`: the number of tokens before it in the answer."""

    record: Round
    depth: int
    parent: int
    guess: int
    emitted: TokenEvent
    accepted: bool
    first: bool
    kind: TokenKind
    position: int


@dataclass(frozen=True, slots=True)
class Rejection:
    """`token` was the drafter's likeliest, `wanted` the token emitted instead. `rank` is the rank
    of `token` for the target, from 1; `p` its probability for the target before temperature and
    cuts, `q` the drafter's; `entropy` the target's, in bits. None if not known; the rank also if it
    is below those that are recorded."""

    round: int
    depth: int
    token: int
    wanted: int
    kind: TokenKind
    rank: int | None
    p: float | None
    q: float | None
    entropy: float | None


@dataclass(slots=True)
class Tally:
    """The number of `tested` levels, of those with an `accepted` guess, and of those where the
    `first` guess was right."""

    tested: int = 0
    accepted: int = 0
    first: int = 0

    @property
    def rate(self) -> float | None:
        return ratio(self.accepted, self.tested)

    @property
    def first_rate(self) -> float | None:
        return ratio(self.first, self.tested)


@dataclass(slots=True)
class Bin:
    """Tested guesses with a drafter's probability from `low` up to the next bin: their number, the
    sum of their probabilities, and how many were right."""

    low: float
    guesses: int = 0
    confidence: float = 0.0
    right: int = 0

    @property
    def mean(self) -> float | None:
        return ratio(self.confidence, self.guesses)

    @property
    def rate(self) -> float | None:
        return ratio(self.right, self.guesses)


@dataclass(slots=True)
class Tallies:
    """How often a drafter was right over all tested levels, by level, by kind of token, by place in
    the answer and by its own confidence."""

    tested: int = 0
    depths: dict[int, Tally] = field(default_factory=dict)
    kinds: dict[TokenKind, Tally] = field(default_factory=dict)
    begins: dict[bool, Tally] = field(default_factory=dict)  # whether at the beginning
    bins: list[Bin] = field(default_factory=lambda: [Bin(each / BINS) for each in range(BINS)])

    @classmethod
    def of(cls, levels: Iterable[Level]) -> Self:
        found = cls()
        for level in levels:
            found.add(level)
        return found

    def add(self, level: Level) -> None:
        self.tested += 1
        for counts in (
            self.depths.setdefault(level.depth, Tally()),
            self.kinds.setdefault(level.kind, Tally()),
            self.begins.setdefault(level.position < BEGINNING, Tally()),
        ):
            counts.tested += 1
            counts.accepted += level.accepted
            counts.first += level.first
        record = level.record
        for node in record.shape.children[level.parent] if record.q else ():
            q = record.q[node]
            here = self.bins[min(int(q * BINS), BINS - 1)]
            here.guesses += 1
            here.confidence += q
            here.right += record.tokens[node] == level.emitted.id

    @property
    def by_level(self) -> dict[int, Tally]:
        return {depth: self.depths[depth] for depth in sorted(self.depths)}

    @property
    def by_kind(self) -> dict[str, Tally]:
        return {str(kind): self.kinds[kind] for kind in TokenKind if kind in self.kinds}

    @property
    def by_place(self) -> dict[str, Tally]:
        """At the beginning of an answer, where there is little context, and later."""
        names = {True: f"first {BEGINNING} tokens", False: "later tokens"}
        return {name: self.begins[each] for each, name in names.items() if each in self.begins}

    @property
    def calibration(self) -> list[Bin]:
        """All tested guesses in `BINS` bins of the drafter's own probability; [] if none was
        recorded. A calibrated drafter is right as often as its mean confidence."""
        return self.bins if any(each.guesses for each in self.bins) else []


@dataclass(slots=True)
class DraftOutcomes:
    """The tested levels of an answer, round by round: their tallies, and the rejections."""

    reader: LevelReader
    tallies: Tallies = field(default_factory=Tallies)
    rejected: list[Rejection] = field(default_factory=list)

    def add(self, record: Round, tokens: Sequence[TokenEvent]) -> None:
        levels = [*self.reader.levels(record, tokens)]
        for level in levels:
            self.tallies.add(level)
        self.rejected += rejections(levels)


@dataclass(slots=True)
class LevelReader:
    """Reads the rounds of an answer in order. `before` is the text before the next one, as far as
    the kind of a token depends on it; `position` the number of tokens there."""

    before: str = ""
    position: int = 1  # the first token came with the prefill

    def levels(self, record: Round, tokens: Sequence[TokenEvent]) -> Iterator[Level]:
        """Yield the tested levels of a round; `tokens` are displayed."""
        emitted = [token for token in tokens if not token.fate.discarded]
        children, path = record.shape.children, (0, *record.accepted)
        for depth, token in enumerate(emitted, 1):
            if depth <= record.tested:
                parent = path[depth - 1]
                guess = children[parent][0]
                yield Level(
                    record,
                    depth,
                    parent,
                    guess,
                    token,
                    depth <= len(record.accepted),
                    depth <= len(record.accepted) and path[depth] == guess,
                    kind_of(token.text, self.before),
                    self.position,
                )
            text = self.before + token.text
            self.before = text[max(len(text.rstrip(ENDS)) - 1, 0) :]
            self.position += 1


def levels_of(steps: Iterable[Step], begun: str = "") -> Iterator[Level]:
    """Yield the tested levels of an answer's rounds, in order; `begun` is the text before them."""
    reader = LevelReader(begun)
    for record, tokens in steps:
        yield from reader.levels(record, tokens)


def rejections(levels: Iterable[Level]) -> list[Rejection]:
    return [_rejection(level) for level in levels if not level.accepted]


def _rejection(level: Level) -> Rejection:
    record, guess, parent = level.record, level.guess, level.parent
    token = record.tokens[guess]
    likely = [each for each, _, _ in record.top[parent]] if record.top else []
    return Rejection(
        record.index,
        level.depth,
        token,
        level.emitted.id,
        level.kind,
        likely.index(token) + 1 if token in likely else None,
        record.model_p[guess] if record.model_p else None,
        record.q[guess] if record.q else None,
        record.entropies[parent] if record.entropies else None,
    )


def kind_of(text: str, before: str) -> TokenKind:
    """Return the kind of a token with this text after the text `before`."""
    if not text:
        return TokenKind.SPECIAL
    word = text.strip()
    if any(char.isdigit() for char in word):
        return TokenKind.NUMBER
    if not any(char.isalpha() for char in word):
        return TokenKind.PUNCTUATION
    if not text[0].isspace() and before[-1:].isalnum():
        return TokenKind.INSIDE
    letters = word.lstrip("([{\"'“‘«-")
    ahead = (before + text[: len(text) - len(text.lstrip())]).rstrip(" ")
    begins = ahead.rstrip(CLOSING)[-1:] in ("", "\n", ".", "!", "?", ":")
    return (
        TokenKind.NAME if letters[:1].isupper() and letters[1:] and not begins else TokenKind.WORD
    )
