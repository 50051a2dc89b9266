"""The draft tree of one round as lines: a node each, and in words what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.text.terminal_text import one_line
from decoding.round import Pruned, Round

OWN = "◆"  # the target's own token, which ends the round


class Life(StrEnum):
    """What became of a line's token; each has a component class of the tree view."""

    ROOT = "root"
    LIVED = "lived"
    DIED = "died"  # its parent lived, so it was looked at
    NEVER = "never"  # behind a dead one, or behind the end
    PRUNED = "pruned"  # guessed, but not worth verifying
    OWN = "own"


MARKS = {
    Life.ROOT: "●",
    Life.LIVED: "✓",
    Life.DIED: "✗",
    Life.NEVER: "·",
    Life.PRUNED: "○",
    Life.OWN: OWN,
}
PRUNED_SHOWN = 2  # of the guesses behind one node; the others are counted


@dataclass(frozen=True, slots=True)
class TreeLine:
    """`branch` are the bars of the levels above, `arm` leads to this node: a thick one to a node
    that lived. `guess` is its rank among the drafter's guesses, `score` the drafter's probability
    of the path down to it, `p` the target's of the token behind its parent."""

    branch: str
    arm: str
    life: Life
    token: str
    guess: str
    score: str
    p: str
    what: str

    @property
    def mark(self) -> str:
        return MARKS[self.life]


def token_name(token: int, texts: Mapping[int, str]) -> str:
    """A token's text with its spaces made visible; its number where the text is not known, or
    where it has none of its own (a special token)."""
    return one_line(texts.get(token, "")).replace(" ", "·") or f"#{token}"


def ordinal(rank: int) -> str:
    """A rank counted from 0: 1st, 2nd, 3rd, 4th, 11th."""
    number = rank + 1
    end = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{end or 'th'}"


def probability(p: float) -> str:
    if 0.0 < p < 0.0005:
        return "<.001"
    return "1.00" if p >= 0.9995 else f"{p:.3f}".removeprefix("0")


def tree_lines(
    record: Round,
    texts: Mapping[int, str],
    *,
    model: str = "target",
    heads: bool = False,
    tight: bool = False,
) -> list[TreeLine]:
    """The round's tree from the top. `model`: whose pass it was. `heads`: a node was guessed by the
    head of its depth. `tight`: one column a level instead of two."""
    return list(_Writer(record, texts, model, heads, tight).lines())


def fate(record: Round, texts: Mapping[int, str], node: int) -> tuple[Life, str]:
    """What became of a node of the round's tree, and why."""
    return _Writer(record, texts).fate(node)


class _Writer:
    def __init__(
        self,
        record: Round,
        texts: Mapping[int, str],
        model: str = "target",
        heads: bool = False,
        tight: bool = False,
    ) -> None:
        self.record, self.texts, self.model = record, texts, model
        self.heads, self.tight = heads, tight
        self.path = (0, *record.accepted)
        self.children = children_of(record)
        self.pruned: dict[int, list[Pruned]] = {}
        for guess in record.pruned:
            self.pruned.setdefault(guess.parent, []).append(guess)
        # Cut by the end of the answer: the round has no token of the target's own.
        self.cut = len(record.emitted) == len(record.accepted)

    def lines(self) -> Iterator[TreeLine]:
        token = token_name(self.record.tokens[0], self.texts)
        yield TreeLine("", "", Life.ROOT, token, "", "", "", "the last committed token")
        yield from self._below(0, "", 1)

    def _below(self, node: int, branch: str, depth: int) -> Iterator[TreeLine]:
        children = self.children[node]
        own = node == self.path[-1] and not self.cut
        pruned = self.pruned.get(node, [])
        for place, child in enumerate(children):
            last = place == len(children) - 1 and not own and not pruned
            life, what = self.fate(child)
            yield TreeLine(
                branch,
                self._arm(last, life is Life.LIVED),
                life,
                token_name(self.record.tokens[child], self.texts),
                self._guess(child, depth),
                probability(self.record.scores[child]) if self.record.scores else "",
                probability(self.record.p[child]) if self.record.p else "",
                what,
            )
            bar = " " if last else "│"
            yield from self._below(child, branch + (bar if self.tight else bar + " "), depth + 1)
        yield from self._pruned(pruned, branch, own)
        if own:
            yield TreeLine(
                branch, self._arm(True, True), Life.OWN, self._own(), "", "", "", self._end()
            )

    def _pruned(self, guesses: list[Pruned], branch: str, own: bool) -> Iterator[TreeLine]:
        for place, guess in enumerate(guesses[:PRUNED_SHOWN]):
            rest = len(guesses) - PRUNED_SHOWN if place == PRUNED_SHOWN - 1 else 0
            more = f" (and {rest} more)" if rest > 0 else ""
            last = place == min(len(guesses), PRUNED_SHOWN) - 1 and not own
            yield TreeLine(
                branch,
                self._arm(last, False),
                Life.PRUNED,
                token_name(guess.token, self.texts),
                ordinal(guess.rank),
                probability(guess.score),
                "",
                f"pruned: others were likelier{more}",
            )

    def _arm(self, last: bool, lived: bool) -> str:
        arm = ("┕━" if last else "┝━") if lived else ("└─" if last else "├─")
        return arm[:1] if self.tight else arm

    def _guess(self, node: int, depth: int) -> str:
        rank = ordinal(self.record.ranks[node]) if self.record.ranks else ""
        return f"h{depth} {rank}".rstrip() if self.heads else rank

    def _own(self) -> str:
        return token_name(self.record.emitted[-1], self.texts)

    def _end(self) -> str:
        if not self.record.drafted:
            return f"the {self.model}'s own token"
        failed = self.record.tested > len(self.record.accepted)
        return f"{'correction' if failed else 'bonus'}: the target's own token"

    def fate(self, node: int) -> tuple[Life, str]:
        record = self.record
        if node in self.path:
            return Life.LIVED, "accepted"
        above = parent = record.parents[node]
        while above not in self.path:
            above = record.parents[above]
        if self.cut and above == self.path[-1]:
            return Life.NEVER, "behind the end of the answer"
        if above != parent:
            return Life.NEVER, "its parent was rejected"
        return Life.DIED, self._why(parent)

    def _why(self, parent: int) -> str:
        """Why a node died whose parent lived."""
        record = self.record
        sibling = next((node for node in record.accepted if record.parents[node] == parent), None)
        if sibling is not None:
            name = token_name(record.tokens[sibling], self.texts)
            # Typical acceptance keeps the longest path; both siblings may have passed.
            return f"{'another path was kept' if record.lossy else 'a sibling was chosen'}: {name}"
        if record.lossy:
            return f"too unlikely; the target drew {self._own()}"
        if record.chosen:
            return f"the target chose {token_name(record.chosen[parent], self.texts)} instead"
        return f"p/q too small; the target drew {self._own()}"


def children_of(record: Round) -> list[list[int]]:
    """Each node's children, the drafter's better guesses first."""
    children: list[list[int]] = [[] for _ in record.parents]
    for node, parent in enumerate(record.parents[1:], 1):
        children[parent].append(node)
    if record.ranks:
        for siblings in children:
            siblings.sort(key=lambda node: record.ranks[node])
    return children


def time_bar(parts: Sequence[float], cells: int, glyphs: str = "█▒░") -> str:
    """The parts of a time, each as long as its share; what took any time has a cell."""
    total = sum(parts)
    if total <= 0.0:
        return ""
    widths = [max(1, round(part / total * cells)) if part > 0 else 0 for part in parts]
    widest = widths.index(max(widths))
    widths[widest] = max(1, widths[widest] + cells - sum(widths))
    return "".join(glyph * width for glyph, width in zip(glyphs, widths, strict=True))
