"""The draft of one round: a tree of tokens, and the drafter's probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from decoding.device import upload
from decoding.trees.shape import TreeShape, chain


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The shape of a tree as device tensors, before the host has read it: `parents` [n] (the root's
    is 0), `seen` bool [n, n] (row i sees column j if j is i or an ancestor of i), and the rank of
    each node among its drafter's guesses, `ranks` [n]. `deepest` is an upper bound of the depth."""

    parents: Tensor
    seen: Tensor
    ranks: Tensor
    deepest: int

    is_chain = False  # unknown to the host

    @property
    def depths(self) -> Tensor:
        """[n]; the root's is 0."""
        return self.seen.sum(-1) - 1

    def __len__(self) -> int:
        return len(self.parents)


class DraftTree:
    """`tokens` [n] on the target's device, `tokens[0]` the last committed token. A tree that was
    built on the device has `links`; until it has learned its `shape`, reading that is a sync."""

    def __init__(self, shape: TreeShape | Links, tokens: Tensor) -> None:
        self.tokens = tokens
        self.links = shape if isinstance(shape, Links) else None
        self._shape = None if isinstance(shape, Links) else shape

    @property
    def shape(self) -> TreeShape:
        if self._shape is None:
            assert self.links is not None
            self.learn(self.links.parents.tolist())
        assert self._shape is not None
        return self._shape

    @property
    def linked(self) -> TreeShape | Links:
        """The shape without a sync: the device's, if there is one."""
        return self.links or self.shape

    def learn(self, parents: Sequence[int]) -> None:
        """Set the shape from the parents that were read from the device."""
        self._shape = TreeShape((-1, *parents[1:]))

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool:
    """All guesses of a drafter, before it selects those to verify: `tokens` [n], `parents` [n]
    (indices into the pool, -1 the root) and `scores` [n], log-probabilities summed from the root.
    Each expanded node has `width` guesses: the i-th guess has rank i % width. The pool has `levels`
    levels."""

    tokens: Tensor
    parents: Tensor
    scores: Tensor
    width: int
    levels: int

    def columns(self) -> dict[str, Tensor]:
        """For each guess its token, its parent, and the probability of the path down to it."""
        scores = self.scores.exp()
        return {"pool_tokens": self.tokens, "pool_parents": self.parents, "pool_scores": scores}

    def own_p(self, guesses: Tensor) -> Tensor:
        """The probability of each of these guesses after its parent, [len(guesses)]."""
        parents = self.parents[guesses]
        above = self.scores[parents.clamp_min(0)].masked_fill(parents < 0, 0.0)
        return (self.scores[guesses] - above).exp()


@dataclass(slots=True, eq=False)
class Draft:
    """What a drafter proposes.

    `q` [n-1, V] is the distribution that each drafted node was *sampled* from, warped like the
    target's; None if the tokens were chosen deterministically (argmax, top-k, copies). `own_p` then
    computes the drafter's probability of each drafted token after its parent, [n-1], if it has one;
    it is only called if probabilities are recorded. `ranks` [n] is each node's rank among the
    drafter's guesses (the root's is 0), () if there is only one guess per node or if they are still
    `unread`. `pool` has all guesses, and `kept` [n-1] the indices of those in the tree; None if
    everything is verified.
    """

    tree: DraftTree
    q: Tensor | None = None
    own_p: Callable[[], Tensor] | None = None
    ranks: tuple[int, ...] = ()
    pool: CandidatePool | None = None
    kept: Tensor | None = None

    @property
    def unread(self) -> tuple[Tensor, ...]:
        """What the next transfer from the device should include for `learn`, each [n]."""
        links = self.tree.links
        return () if links is None else (links.parents, links.ranks)

    def learn(self, *unread: Sequence[float]) -> None:
        """Set shape and ranks from what was `unread`."""
        if unread:
            parents, ranks = unread
            self.tree.learn([int(parent) for parent in parents])
            self.ranks = tuple(map(int, ranks))

    def best_chain(self) -> Draft:
        """The chain of most likely guesses, for targets that only verify chains."""
        shape = self.tree.shape
        if shape.is_chain:
            return self
        nodes = [0]
        while children := shape.children[nodes[-1]]:
            nodes.append(children[0])
        device = self.tree.tokens.device
        index, below = upload(nodes, device), upload([node - 1 for node in nodes[1:]], device)
        own_p = self.own_p
        return Draft(
            DraftTree(chain(len(nodes) - 1), self.tree.tokens[index]),
            own_p=None if own_p is None else lambda: own_p()[below],
            ranks=tuple(self.ranks[node] for node in nodes) if self.ranks else (),
            pool=self.pool,
            kept=None if self.kept is None else self.kept[below],
        )
