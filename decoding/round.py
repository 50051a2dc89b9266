"""The record of one round, as plain data shared by statistics, JSON documents and the screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from decoding.trees.shape import TreeShape, tree_shape


class TokenFate(StrEnum):
    """What became of a token."""

    FIRST = "first"  # sampled from the prefill's logits, before any round
    PLAIN = "plain"  # the target's token in a round that drafted nothing
    ACCEPTED = "accepted"  # drafted, tested, kept
    REJECTED = "rejected"  # drafted, tested, thrown away
    DROPPED = "dropped"  # drafted after a rejected token or after the end, never tested
    BONUS = "bonus"  # the target's own token after a path that was accepted to its end
    CORRECTION = "correction"  # the target's own token where a draft was rejected

    @property
    def discarded(self) -> bool:
        """Drafted and shown, but never part of the text."""
        return self is TokenFate.REJECTED or self is TokenFate.DROPPED


@dataclass(frozen=True, slots=True)
class Pruned:
    """A guess below node `parent` that was pruned from the tree: its rank among the parent's
    guesses, and the drafter's probability of the whole path down to it."""

    parent: int
    token: int
    rank: int
    score: float


Likely = tuple[int, float, float]  # an id, its probability before and after warping


@dataclass(frozen=True, slots=True)
class TokenProbs:
    """The target's prediction at the position of one token: its `entropy` in bits before warping
    (temperature, top-k, top-p, min-p), the likeliest tokens, and the actual token's two
    probabilities."""

    entropy: float
    top: tuple[Likely, ...]
    own_p: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Round:
    """One target pass in decoding.

    `tokens[0]` is the root, the last committed token; `parents[i]` is the index of node i's parent
    (-1 for the root), parents come before children. `accepted` lists the accepted nodes from top
    to bottom, root excluded; `emitted` the ids committed by this round: the accepted nodes' tokens
    and the bonus, cut at the end of the generation. `tested` counts the levels of the path at
    which the current node had children. Times are in seconds; `total_seconds` also holds what is
    none of the three parts. `gamma` is the longest path that the drafter was asked for: the
    setting, or less where the generation had to end.

    `chosen[i]` is the target's own next token at node i (its argmax or its draw); empty for a
    sampled chain, where drafts pass by p/q instead. `ranks[i]` is node i's rank among its drafter's
    guesses, empty where there is one guess only.

    The rest is recorded only on demand (`Decoder.record_probabilities`), else empty; before and
    after mean before and after warping (temperature, top-k, top-p, min-p). `p[i]` is the target's
    probability of node i's token given its parent, after; `model_p[i]` the same before; `q[i]` the
    drafter's own, where it has one. `draws[i]` is the uniform number that a sampled chain's node i
    was tested with (the root's is 0): accepted when it is below p/q. `entropies[i]`, in bits, is
    that of the target's prediction after node i, before; `top[i]` are its likeliest tokens.
    `own_p` are both probabilities of the target's own token that ended the round, None where the
    round was cut. `scores[i]` is the drafter's probability of the whole path down to node i and
    `pruned` what it guessed but left out, where it chose its tree among more guesses (EAGLE).
    Under the typical rule `tempered_p[i]` is node i's probability after temperature alone and
    `thresholds[i]` what it had to exceed (1 and 0 for the root).
    """

    index: int
    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    accepted: tuple[int, ...]
    emitted: tuple[int, ...]
    tested: int
    draft_seconds: float
    verify_seconds: float
    accept_seconds: float
    total_seconds: float
    sampled: bool = False  # at a temperature above 0
    lossy: bool = False  # by typical acceptance, which changes the distribution
    chosen: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    p: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    pruned: tuple[Pruned, ...] = ()
    model_p: tuple[float, ...] = ()
    q: tuple[float, ...] = ()
    draws: tuple[float, ...] = ()
    entropies: tuple[float, ...] = ()
    top: tuple[tuple[Likely, ...], ...] = ()
    own_p: tuple[float, float] | None = None
    tempered_p: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = ()
    gamma: int = 0

    @property
    def drafted(self) -> int:
        """Nodes of the tree, root excluded."""
        return len(self.tokens) - 1

    @property
    def shape(self) -> TreeShape:
        """The shape of the drafted tree."""
        return tree_shape(self.parents)

    @property
    def last_node(self) -> int:
        """The last accepted node, or the root; the target's own token follows it."""
        return self.accepted[-1] if self.accepted else 0

    @property
    def cut(self) -> bool:
        """Whether the generation ended within the path, so that its continuation is unknown."""
        return len(self.emitted) == len(self.accepted)

    @property
    def rejected_path(self) -> tuple[int, ...]:
        """The most likely drafts after the last accepted node; () if the round was cut."""
        if self.cut:
            return ()
        children, node, path = self.shape.children, self.last_node, []
        while children[node]:
            node = children[node][0]
            path.append(node)
        return tuple(path)

    def parent(self, node: int) -> int:
        """Return the node that a token follows: its parent, or the last accepted node for the
        target's own token (-1)."""
        return self.parents[node] if node > 0 else self.last_node

    def fate(self, node: int) -> TokenFate:
        """Return the fate of a drafted node, or of the target's own token (-1)."""
        if node < 0:
            if not self.drafted:
                return TokenFate.PLAIN
            return TokenFate.CORRECTION if self.tested > len(self.accepted) else TokenFate.BONUS
        if node in self.accepted:
            return TokenFate.ACCEPTED
        parent = self.parents[node]
        tested = parent == 0 or parent in self.accepted
        if tested and not (self.cut and parent == self.last_node):
            return TokenFate.REJECTED
        return TokenFate.DROPPED

    def without_probabilities(self) -> Round:
        """Make a copy without `chosen`, `ranks` and recorded probabilities; `q` stays, for
        calibration."""
        return replace(
            self, chosen=(), ranks=(), p=(), scores=(), pruned=(), model_p=(), draws=(),
            entropies=(), top=(), own_p=None, tempered_p=(), thresholds=(),
        )  # fmt: skip
