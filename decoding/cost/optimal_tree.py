"""The static tree that suits some heads and a machine."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from decoding.cost.model import CostModel
from decoding.trees.static import Choices


def optimal_tree(
    accuracy: Sequence[Sequence[float]],
    costs: CostModel,
    max_nodes: int = 64,
) -> Choices:
    """The tree that yields the most tokens per unit of time for these heads on this machine.

    `accuracy[h][r]`: how often head h's guess of rank r is right. A node is worth the product of
    the accuracies along its path (heads err independently: an approximation); nodes are added from
    the most valuable down, and the size with the best tau / seconds is taken.
    """
    heap: list[tuple[float, tuple[int, ...]]] = []

    def offer(value: float, path: tuple[int, ...]) -> None:
        head = len(path) - 1
        if head < len(accuracy) and path[-1] < len(accuracy[head]):
            heapq.heappush(heap, (-value * accuracy[head][path[-1]], path))

    offer(1.0, (0,))
    parents: dict[tuple[int, ...], float] = {(): 1.0}
    nodes: list[tuple[int, ...]] = []
    tau, best, best_size = 1.0, 1.0 / costs.seconds(0, 1, drafting=0), 0
    while heap and len(nodes) < max_nodes:
        value, path = heapq.heappop(heap)
        nodes.append(path)
        parents[path] = -value
        tau -= value
        speed = tau / costs.seconds(0, len(nodes) + 1)
        if speed > best:
            best, best_size = speed, len(nodes)
        offer(-value, (*path, 0))
        offer(parents[path[:-1]], (*path[:-1], path[-1] + 1))
    return tuple(sorted(nodes[:best_size]))
