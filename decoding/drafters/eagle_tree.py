"""Selects which of EAGLE's guesses are expanded, and which are verified.

A plan selects, after each level, the nodes to run next, and at the end those that the target
verifies. Both are indices into the pool of all guesses, level by level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from decoding.cost.tree_size import MAX_NODES, TreeSizer
from decoding.device import download, upload
from decoding.trees.draft import CandidatePool
from decoding.trees.shape import TreeShape, chain, tree_shape
from decoding.trees.static import Choices, build_tree
from decoding.trees.tensors import TreeTensors


@dataclass(frozen=True, slots=True, eq=False)
class SelectedNodes:
    """Indices `guesses` [n-1] into the pool, in its order, and the tree that they form with the
    root, with `ranks` or `shape_on_device` as in `Draft`."""

    guesses: Tensor
    shape: TreeShape | TreeTensors
    ranks: tuple[int, ...] = ()
    shape_on_device: Sequence[Tensor] = ()


class TreePlan(Protocol):
    """Controls the growth of a tree. `width`: the number of guesses per expanded node."""

    width: int

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        """Select the guesses of a level to run next, from their summed log-probabilities `scores`
        [n]; None if the tree is deep enough."""

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        """Select the guesses to verify, in the pool's order."""


class DynamicPlan:
    """EAGLE-2: every level runs its `width` most likely guesses; the `count` most likely of all
    are verified."""

    def __init__(self, width: int, count: int) -> None:
        self.width = width
        self.count = count

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        return scores.topk(self.width).indices

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        if self.width > 1:
            if pool.tokens.device.type == "cuda":  # `prune` is a sync
                return prune_on_device(pool, self.count)
            return prune(pool, self.count)
        # A chain keeps its first nodes: scores only decrease along it.
        nodes = min(max(self.count, 1), pool.levels)
        guesses = torch.arange(nodes, device=pool.tokens.device)
        return SelectedNodes(guesses, chain(nodes), (0,) * (nodes + 1))


class CostAwarePlan(DynamicPlan):
    """EAGLE-2's tree, as deep and as large as pays on this machine: see `TreeSizer`."""

    def __init__(self, width: int, sizer: TreeSizer) -> None:
        super().__init__(width, MAX_NODES - 1)
        self._sizer = sizer

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        best = scores.topk(self.width)
        if scores.device.type == "cuda":  # waiting for the scores would take longer than a level
            return best.indices
        rows = self._sizer.rows_that_pay(level, best.values.exp().tolist())
        return best.indices[:rows] if rows else None

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        return prune(pool, self.count, self._sizer.best_size)


class StaticPlan:
    """The same paths of ranks every round; only nodes with children are run."""

    def __init__(self, choices: Choices, device: torch.device) -> None:
        tree = build_tree(choices)
        self.width = tree.width
        self._frontiers: list[Tensor] = []
        row_of, offset = {0: 0}, 0  # the row of each expanded node in its level
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
            self._frontiers.append(upload([index[n] for n in inner], device))
        self._kept = SelectedNodes(upload(pool_index, device), tree.shape, (0, *tree.ranks))

    def frontier(self, level: int, scores: Tensor) -> Tensor | None:
        return self._frontiers[level] if len(self._frontiers[level]) else None

    def keep(self, pool: CandidatePool) -> SelectedNodes:
        return self._kept


def prune(
    pool: CandidatePool, count: int, choose: Callable[[list[float]], int] | None = None
) -> SelectedNodes:
    """Select the `count` most likely nodes of the pool, or as many of them as `choose` returns for
    their probabilities. Ties go to the earlier node: log p can be exactly 0, and a child must not
    be kept without its parent. One transfer from the device."""
    order = pool.scores.sort(descending=True, stable=True).indices[: max(count, 1)]
    # float32 holds every index exactly
    columns = (order, pool.parents[order], pool.scores[order])
    guesses, parents, scores = download(torch.stack([column.float() for column in columns]))
    if choose is not None:
        order = order[: choose([math.exp(score) for score in scores])]
    kept = sorted(zip(map(int, guesses[: len(order)]), map(int, parents), strict=False))
    node_of = {-1: 0} | {guess: node for node, (guess, _) in enumerate(kept, 1)}
    shape = tree_shape((-1, *(node_of[parent] for _, parent in kept)))
    ranks = (0, *(guess % pool.width for guess, _ in kept))
    return SelectedNodes(order.sort().values, shape, ranks)


def prune_on_device(pool: CandidatePool, count: int) -> SelectedNodes:
    """Select as `prune` does, without a transfer: the tree's shape stays on the device."""
    order = pool.scores.sort(descending=True, stable=True).indices[: max(count, 1)]
    guesses = order.sort().values
    above = pool.parents[guesses]
    # Each parent is the root or one of the guesses, which are sorted.
    nodes = torch.where(above < 0, 0, torch.searchsorted(guesses, above) + 1)
    root = nodes.new_zeros(1)
    parents = torch.cat([root, nodes])
    reached = torch.eye(len(parents), device=parents.device)
    reached.scatter_(1, parents[:, None], 1.0)  # ancestors up to one level above
    levels = 1
    while levels < pool.levels:  # squaring doubles the levels
        reached = (reached @ reached).clamp_(max=1.0)
        levels *= 2
    mask = reached > 0
    tree = TreeTensors(parents, mask.sum(-1) - 1, mask, pool.levels)
    ranks = torch.cat([root, guesses % pool.width])
    return SelectedNodes(guesses, tree, shape_on_device=(parents, ranks))
