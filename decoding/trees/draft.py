"""The draft of one round: a tree of tokens, and the drafter's probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from decoding.device import download, upload
from decoding.trees.shape import TreeShape, chain, tree_shape
from decoding.trees.tensors import TreeTensors, tree_tensors


class DraftTree:
    """`tokens` [n] on the target's device, `tokens[0]` the last committed token. The host does not
    know the shape of a tree that was grown on a GPU until it has read it."""

    def __init__(self, shape: TreeShape | TreeTensors, tokens: Tensor) -> None:
        self.tokens = tokens
        self._shape = shape if isinstance(shape, TreeShape) else None
        self._tensors = shape if isinstance(shape, TreeTensors) else None

    @classmethod
    def of_chain(cls, ids: Sequence[int], device: torch.device) -> DraftTree:
        """Make a chain of tokens, one after the other, from the root on."""
        return cls(chain(len(ids) - 1), upload(ids, device))

    @property
    def shape(self) -> TreeShape:
        """The shape on the host. A sync if the host does not know it yet."""
        if self._shape is None:
            self.set_parents(download(self.tensors.parents))
        assert self._shape is not None
        return self._shape

    @property
    def tensors(self) -> TreeTensors:
        """The shape on the device; never a sync."""
        if self._tensors is None:
            self._tensors = tree_tensors(self.shape, self.tokens.device)
        return self._tensors

    @property
    def is_chain(self) -> bool:
        """Whether the host knows that the tree is a chain."""
        return self._shape is not None and self._shape.is_chain

    def set_parents(self, parents: Sequence[int]) -> None:
        """Set the shape from `tensors.parents`, read from the device."""
        self._shape = tree_shape((-1, *parents[1:]))

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

    def copy(self) -> CandidatePool:
        tokens, parents, scores = self.tokens.clone(), self.parents.clone(), self.scores.clone()
        return CandidatePool(tokens, parents, scores, self.width, self.levels)

    def columns(self) -> dict[str, Tensor]:
        """Return for each guess its token, its parent, and the probability of the path down to
        it."""
        scores = self.scores.exp()
        return {"pool_tokens": self.tokens, "pool_parents": self.parents, "pool_scores": scores}

    def draft_p(self, guesses: Tensor) -> Tensor:
        """Compute the probability of each of these guesses after its parent, [len(guesses)]."""
        parents = self.parents[guesses]
        above = self.scores[parents.clamp_min(0)].masked_fill(parents < 0, 0.0)
        return (self.scores[guesses] - above).exp()


@dataclass(slots=True, eq=False)
class Draft:
    """What a drafter proposes.

    `q` [n-1, V] is the distribution that each drafted node was *sampled* from, warped like the
    target's; None if the tokens were chosen deterministically (argmax, top-k, copies). `draft_p`
    then computes the drafter's probability of each drafted token after its parent, [n-1], if it has
    one; it is only called if probabilities are recorded. `ranks` [n] is each node's rank among the
    drafter's guesses (the root's is 0), () if there is only one guess per node. `pool` has all
    guesses, and `kept` [n-1] the indices of those in the tree; None if everything is verified.

    `shape_on_device`: parents and ranks, each [n], of a tree whose shape the host does not know
    yet, else (). The next transfer from the device should include them, for `set_shape`.
    """

    tree: DraftTree
    q: Tensor | None = None
    draft_p: Callable[[], Tensor] | None = None
    ranks: tuple[int, ...] = ()
    pool: CandidatePool | None = None
    kept: Tensor | None = None
    shape_on_device: Sequence[Tensor] = ()

    def set_shape(self, *shape: Sequence[float]) -> None:
        """Set shape and ranks from `shape_on_device`, as read by the host."""
        if shape:
            parents, ranks = shape
            self.tree.set_parents([int(parent) for parent in parents])
            self.ranks = tuple(map(int, ranks))

    def best_chain(self) -> Draft:
        """Return the chain of most likely guesses, for targets that only verify chains."""
        shape = self.tree.shape
        if shape.is_chain:
            return self
        nodes = [0]
        while children := shape.children[nodes[-1]]:
            nodes.append(children[0])
        device = self.tree.tokens.device
        index, below = upload(nodes, device), upload([node - 1 for node in nodes[1:]], device)
        draft_p = self.draft_p
        return Draft(
            DraftTree(chain(len(nodes) - 1), self.tree.tokens[index]),
            draft_p=None if draft_p is None else lambda: draft_p()[below],
            ranks=tuple(self.ranks[node] for node in nodes) if self.ranks else (),
            pool=self.pool,
            kept=None if self.kept is None else self.kept[below],
        )
