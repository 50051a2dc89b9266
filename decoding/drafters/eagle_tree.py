"""Which of EAGLE's guesses go on, and which are verified.

A plan is asked once a level for the nodes that are run next, and once at the end for those that
the target verifies. Both are indices into what was guessed, level by level: the pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from decoding.cost.curve import Line
from decoding.cost.model import Cost, CostModel
from decoding.trees.draft import CandidatePool
from decoding.trees.shape import TreeShape
from decoding.trees.static import Choices, build_tree

MAX_NODES = 64  # of a tree whose size is chosen by what it is expected to yield


@dataclass(frozen=True, slots=True, eq=False)
class SelectedNodes:
    """`guesses` [n-1] of the pool, in its order, the tree that they and the root make, and each
    node's rank (the root's is 0)."""

    guesses: Tensor
    shape: TreeShape
    ranks: tuple[int, ...]


class TreePlan(Protocol):
    """How a tree is grown. `width`: guesses of each node that is run."""

    width: int

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        """Which of a level's guesses [n] are run, by what is known of their summed
        log-probabilities `scores` [n]; None: the tree is deep enough."""

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        """The guesses to verify, in the pool's order."""


class DynamicPlan:
    """EAGLE-2: every level runs its `width` most likely guesses; the `count` most likely of all
    are verified."""

    def __init__(self, width: int, count: int) -> None:
        self.width = width
        self.count = count

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        return scores.topk(self.width).indices

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        return prune(pool, self.count)


class CostAwarePlan(DynamicPlan):
    """The same, as deep and as large as pays on this machine: see `TreeSizer`."""

    def __init__(self, width: int, sizer: TreeSizer) -> None:
        super().__init__(width, MAX_NODES - 1)
        self._sizer = sizer

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        best = scores.topk(self.width)
        pays = self._sizer.another_level_pays(float(best.values[0].exp()))
        return best.indices if pays else None

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        likely = pool.scores.topk(min(self.count, len(pool.scores))).values.exp().tolist()
        return prune(pool, self._sizer.best_size(likely))


class StaticPlan:
    """The same paths of ranks every round; only nodes that have children are run."""

    def __init__(self, choices: Choices, device: torch.device) -> None:
        tree = build_tree(choices)
        self.width = tree.width
        self._frontiers: list[Tensor] = []
        row_of, offset = {0: 0}, 0  # of each node that is run: its row in its level
        pool_index = []
        for level in range(max(tree.shape.depths)):
            nodes = [n for n, depth in enumerate(tree.shape.depths) if depth == level + 1]
            index = {
                n: row_of[tree.shape.parents[n]] * self.width + tree.ranks[n - 1] for n in nodes
            }
            pool_index += [offset + index[n] for n in nodes]
            offset += len(row_of) * self.width
            inner = [n for n in nodes if tree.shape.children[n]]
            row_of = {n: row for row, n in enumerate(inner)}
            self._frontiers.append(torch.tensor([index[n] for n in inner], device=device))
        self._kept = SelectedNodes(
            torch.tensor(pool_index, device=device), tree.shape, (0, *tree.ranks)
        )

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        return self._frontiers[level] if len(self._frontiers[level]) else None

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        return self._kept


def prune(pool: CandidatePool, count: int) -> SelectedNodes:
    """The `count` most likely nodes of the pool. Ties go to the earlier one: log p can be exactly
    0, and no child may stay without its parent. One transfer from the device."""
    order = pool.scores.sort(descending=True, stable=True).indices[: max(count, 1)]
    keep = order.sort().values
    # every kept node but the first level's has its parent among the kept
    parents = torch.searchsorted(keep, pool.parents[keep]) + 1
    parents = parents.masked_fill(pool.parents[keep] < 0, 0)
    of_guesses, of_nodes = torch.stack([keep, parents]).tolist()
    ranks = (0, *(guess % pool.width for guess in of_guesses))
    return SelectedNodes(keep, TreeShape((-1, *of_nodes)), ranks)


@dataclass(slots=True)
class TreeSizer:
    """How large a tree pays, by what it is expected to yield and what passes cost.

    A round with a tree of n nodes gives 1 + the sum of its nodes' probabilities in tokens and takes
    d + v(n) seconds (Sequoia, 2402.12374, offline; here online, from the draft's own scores). The
    draft's probabilities are scaled by how many drafts were accepted for each one expected, lately.
    """

    verify_cost: Cost
    draft_seconds: float = 0.0  # running means, of a draft and of a level of it
    level_seconds: float = 0.0
    _expected: float = 1.0
    _accepted: float = 1.0
    _speed: float = 0.0  # tokens per second expected of the last tree
    _of_last: float = 0.0  # drafts expected to be accepted, unscaled

    def another_level_pays(self, likely: float) -> bool:
        """Whether a level below nodes of which the most likely has probability `likely` can pay for
        itself and one more node to verify. What its other nodes add was seen to be about half as
        much again."""
        node = (self.verify_cost(16) - self.verify_cost(8)) / 8
        return 1.5 * likely * self._calibration > self._speed * (self.level_seconds + node)

    def best_size(self, likely: list[float]) -> int:
        """How many nodes to verify, of the most likely ones with these probabilities."""
        costs = CostModel(Line(self.draft_seconds, 0.0), self.verify_cost)
        best, size, tokens = 0.0, 1, 1.0
        for n, probability in enumerate(likely, 1):
            tokens += self._calibration * probability
            speed = tokens / costs.seconds(0, n + 1)
            if speed > best:
                best, size = speed, n
        self._speed = best
        self._of_last = sum(likely[:size])
        return size

    def drafted(self, seconds: float, levels: int) -> None:
        """A draft of `levels` levels took `seconds`."""
        part = 0.1 if self.draft_seconds else 1.0
        self.draft_seconds += part * (seconds - self.draft_seconds)
        self.level_seconds += part * (seconds / levels - self.level_seconds)

    def accepted(self, count: int) -> None:
        """`count` drafts of the last tree were accepted."""
        if not self._of_last:
            return
        self._expected = 0.98 * self._expected + 0.02 * self._of_last
        self._accepted = 0.98 * self._accepted + 0.02 * count
        self._of_last = 0.0

    @property
    def _calibration(self) -> float:
        return min(max(self._accepted / max(self._expected, 0.05), 0.2), 1.5)
