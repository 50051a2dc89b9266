"""The draft tree of one round as lines: a node each, and in words what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.tui.safe_text import one_line
from decoding.round import Round

OWN = "◆"  # the target's own token, which ends the round


class Life(StrEnum):
    """What became of a line's token; each has a component class of the tree view."""

    ROOT = "root"
    LIVED = "lived"
    DIED = "died"  # its parent lived, so it was looked at
    NEVER = "never"  # behind a dead one, or behind the end
    OWN = "own"


MARKS = {Life.ROOT: "●", Life.LIVED: "✓", Life.DIED: "✗", Life.NEVER: "·", Life.OWN: OWN}


@dataclass(frozen=True, slots=True)
class TreeLine:
    """`branch` are the bars of the levels above, `arm` leads to this node: a thick one to a node
    that lived. `guess` is its rank among the drafter's guesses, `p` the target's probability."""

    branch: str
    arm: str
    life: Life
    token: str
    guess: str
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
    record: Round, texts: Mapping[int, str], *, heads: bool = False, tight: bool = False
) -> list[TreeLine]:
    """The round's tree from the top. `heads`: a node was guessed by the head of its depth.
    `tight`: one column a level instead of two."""
    return list(_Writer(record, texts, heads, tight).lines())


class _Writer:
    def __init__(self, record: Round, texts: Mapping[int, str], heads: bool, tight: bool) -> None:
        self.record, self.texts, self.heads, self.tight = record, texts, heads, tight
        self.path = (0, *record.accepted)
        self.children = children_of(record)
        # Cut by the end of the answer: the round has no token of the target's own.
        self.cut = len(record.emitted) == len(record.accepted)

    def lines(self) -> Iterator[TreeLine]:
        token = token_name(self.record.tokens[0], self.texts)
        yield TreeLine("", "", Life.ROOT, token, "", "", "the last committed token")
        yield from self._below(0, "", 1)

    def _below(self, node: int, branch: str, depth: int) -> Iterator[TreeLine]:
        children = self.children[node]
        own = node == self.path[-1] and not self.cut
        for place, child in enumerate(children):
            last = place == len(children) - 1 and not own
            life, what = self.fate(child)
            yield TreeLine(
                branch,
                self._arm(last, life is Life.LIVED),
                life,
                token_name(self.record.tokens[child], self.texts),
                self._guess(child, depth),
                probability(self.record.p[child]) if self.record.p else "",
                what,
            )
            bar = " " if last else "│"
            yield from self._below(child, branch + (bar if self.tight else bar + " "), depth + 1)
        if own:
            yield TreeLine(
                branch, self._arm(True, True), Life.OWN, self._own(), "", "", self._end()
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
            return "the target's own token"
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
