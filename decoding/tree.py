"""The draft of one round as a tree of tokens. Node 0 is the root: the last committed token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class TreeShape:
    """Parents of the nodes, parents before children; `parents[0]` is -1."""

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.parents or self.parents[0] != -1:
            raise ValueError("a tree begins with its root, whose parent is -1")
        for node, parent in enumerate(self.parents[1:], 1):
            if not 0 <= parent < node:
                raise ValueError(f"node {node}: its parent {parent} must come before it")

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def is_chain(self) -> bool:
        return self.parents == tuple(range(-1, len(self.parents) - 1))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        depths = [0]
        for parent in self.parents[1:]:
            depths.append(depths[parent] + 1)
        return tuple(depths)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents[1:], 1):
            children[parent].append(node)
        return tuple(map(tuple, children))

    def path(self, node: int) -> tuple[int, ...]:
        """Nodes from the root (left out) down to `node`."""
        nodes: list[int] = []
        while node > 0:
            nodes.append(node)
            node = self.parents[node]
        return tuple(reversed(nodes))

    def ancestors(self) -> Tensor:
        """bool [n, n]: row i sees column j when j is i or an ancestor of i."""
        seen = np.eye(len(self), dtype=bool)  # numpy: a tenth of torch's time a row
        for node, parent in enumerate(self.parents[1:], 1):
            seen[node] |= seen[parent]
        return torch.from_numpy(seen)


@lru_cache(maxsize=256)
def chain(gamma: int) -> TreeShape:
    """A root with `gamma` drafted tokens behind it, one after the other."""
    return TreeShape(tuple(range(-1, gamma)))


@dataclass(frozen=True, slots=True, eq=False)
class DraftTree:
    """`tokens` [n] on the target's device, `tokens[0]` the last committed token."""

    shape: TreeShape
    tokens: Tensor

    def __len__(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool:
    """All that a drafter guessed before it chose what to verify: `tokens` [n], `parents` [n]
    (indices into the pool, -1 the root), `scores` [n] summed log-probabilities from the root, and
    how many guesses each node that was run gave (`width`): the i-th guess has rank i % width.
    `levels` is how deep it is."""

    tokens: Tensor
    parents: Tensor
    scores: Tensor
    width: int
    levels: int

    def columns(self) -> dict[str, Tensor]:
        """What is known of each guess, the probability of the path down to it as its score."""
        scores = self.scores.exp()
        return {"pool_tokens": self.tokens, "pool_parents": self.parents, "pool_scores": scores}

    def own_p(self, guesses: Tensor) -> Tensor:
        """The probability of each of these guesses behind its parent, [len(guesses)]."""
        parents = self.parents[guesses]
        above = self.scores[parents.clamp_min(0)].masked_fill(parents < 0, 0.0)
        return (self.scores[guesses] - above).exp()


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """What a drafter proposes.

    `q` [n-1, V] is the distribution that each drafted node was *sampled* from, warped like the
    target's; None when the tokens were chosen deterministically (argmax, top-k, copies); `own_p`
    then works out the drafter's own probability of each drafted token behind its parent, [n-1],
    where it has one: for who watches. `ranks` [n] is each node's rank among the drafter's guesses
    (the root's is 0), () where there is one guess only. `pool` is all that was guessed, `kept`
    [n-1] what of it became the tree; None where everything is verified.
    """

    tree: DraftTree
    q: Tensor | None = None
    own_p: Callable[[], Tensor] | None = None
    ranks: tuple[int, ...] = ()
    pool: CandidatePool | None = None
    kept: Tensor | None = None
