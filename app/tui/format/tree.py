"""Formats the draft tree of one round, one line for each node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.text.terminal_text import token_name
from app.tui.format.numbers import ordinal, probability
from decoding.round import Pruned, Round, TokenFate

ROOT, PRUNED = "root", "pruned"  # lines without a fate: the root, and guesses left out of the tree
OWN_FATES = (TokenFate.BONUS, TokenFate.CORRECTION, TokenFate.PLAIN)
NODE_MARKS: dict[str, str] = {  # by fate; each has a component class of the tree view
    ROOT: "●",
    TokenFate.ACCEPTED: "✓",
    TokenFate.REJECTED: "✗",
    TokenFate.DROPPED: "·",
    PRUNED: "○",
    **dict.fromkeys(OWN_FATES, "◆"),  # the target's own token, which ends the round
}
PRUNED_SHOWN = 2  # pruned guesses shown for a node; the others are counted


@dataclass(frozen=True, slots=True)
class TreeLine:
    """`branch` has the bars of the levels above, `arm` leads to the node, thick if it is accepted.
    `fate` is a TokenFate, ROOT or PRUNED. `guess` is the rank among the drafter's guesses, `score`
    the drafter's probability of the path down to the node, `p` the target's probability of the
    token after its parent; in a greedy round before sampling settings."""

    branch: str
    arm: str
    fate: str
    token: str
    guess: str
    score: str
    p: str
    what: str

    @property
    def mark(self) -> str:
        return NODE_MARKS[self.fate]


def tree_lines(
    record: Round,
    texts: Mapping[int, str],
    *,
    model: str = "target",
    heads: bool = False,
    tight: bool = False,
) -> list[TreeLine]:
    """Return the lines of a round's tree. `model`: the name of the verifying model. `heads`: each
    level was guessed by a head of its own. `tight`: one column per level instead of two."""
    return list(_Writer(record, texts, model, heads, tight).lines())


class _Writer:
    def __init__(
        self, record: Round, texts: Mapping[int, str], model: str, heads: bool, tight: bool
    ) -> None:
        self.record, self.texts, self.model = record, texts, model
        self.heads, self.tight = heads, tight
        # After temperature 0 one token has all of the probability, which says nothing.
        self.p = record.p if record.sampled else record.model_p or record.p
        self.pruned: dict[int, list[Pruned]] = {}
        for guess in record.pruned:
            self.pruned.setdefault(guess.parent, []).append(guess)

    def lines(self) -> Iterator[TreeLine]:
        token = token_name(self.record.tokens[0], self.texts)
        yield TreeLine("", "", ROOT, token, "", "", "", "the last committed token")
        yield from self._below(0, "", 1)

    def _below(self, node: int, branch: str, depth: int) -> Iterator[TreeLine]:
        record = self.record
        children = record.shape.children[node]
        own = node == record.last_node and not record.cut
        pruned = self.pruned.get(node, [])
        for number, child in enumerate(children, 1):
            last = number == len(children) and not own and not pruned
            fate = record.fate(child)
            yield TreeLine(
                branch,
                self._arm(last, fate is TokenFate.ACCEPTED),
                fate,
                token_name(record.tokens[child], self.texts),
                self._guess(child, depth),
                probability(record.scores[child]) if record.scores else "",
                probability(self.p[child]) if self.p else "",
                explain_fate(record, self.texts, child),
            )
            bar = " " if last else "│"
            yield from self._below(child, branch + (bar if self.tight else bar + " "), depth + 1)
        yield from self._pruned(pruned, branch, own)
        if own:
            token = token_name(record.emitted[-1], self.texts)
            fate = record.fate(-1)
            yield TreeLine(branch, self._arm(True, True), fate, token, "", "", "", self._end(fate))

    def _pruned(self, guesses: list[Pruned], branch: str, own: bool) -> Iterator[TreeLine]:
        for number, guess in enumerate(guesses[:PRUNED_SHOWN], 1):
            rest = len(guesses) - PRUNED_SHOWN if number == PRUNED_SHOWN else 0
            more = f" (and {rest} more)" if rest > 0 else ""
            last = number == min(len(guesses), PRUNED_SHOWN) and not own
            yield TreeLine(
                branch,
                self._arm(last, False),
                PRUNED,
                token_name(guess.token, self.texts),
                ordinal(guess.rank),
                probability(guess.score),
                "",
                f"pruned: others were likelier{more}",
            )

    def _arm(self, last: bool, accepted: bool) -> str:
        arm = ("┕━" if last else "┝━") if accepted else ("└─" if last else "├─")
        return arm[:1] if self.tight else arm

    def _guess(self, node: int, depth: int) -> str:
        rank = ordinal(self.record.ranks[node]) if self.record.ranks else ""
        return f"h{depth} {rank}".rstrip() if self.heads else rank

    def _end(self, fate: TokenFate) -> str:
        if fate is TokenFate.PLAIN:
            return f"the {self.model}'s own token"
        return f"{fate}: the target's own"


def explain_fate(record: Round, texts: Mapping[int, str], node: int) -> str:
    """Return why a node of the round's tree was accepted, rejected or never tested."""
    parent, accepted = record.parents[node], (0, *record.accepted)
    match record.fate(node):
        case TokenFate.ACCEPTED:
            return "accepted"
        case TokenFate.REJECTED:
            return _why_rejected(record, texts, parent)
    while parent not in accepted:
        parent = record.parents[parent]
    at_end = record.cut and parent == record.last_node
    return "after the end of the answer" if at_end else "its parent was rejected"


def _why_rejected(record: Round, texts: Mapping[int, str], parent: int) -> str:
    sibling = next((node for node in record.accepted if record.parents[node] == parent), None)
    if sibling is not None:
        name = token_name(record.tokens[sibling], texts)
        # Typical acceptance keeps the longest path; both siblings may have passed.
        return f"{'another path was kept' if record.lossy else 'a sibling was chosen'}: {name}"
    own = token_name(record.emitted[-1], texts)
    if record.lossy:
        return f"too unlikely; the target drew {own}"
    if record.chosen:
        return f"the target chose {token_name(record.chosen[parent], texts)} instead"
    return f"p/q too small; the target drew {own}"
