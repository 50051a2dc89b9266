"""The shape of a draft tree. Node 0 is the root: the last committed token. No torch in here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache


@dataclass(frozen=True)
class TreeShape:
    """Parents of the nodes, parents before children; `parents[0]` is -1. Siblings stand in the
    order of their drafter's guesses, the most likely one first."""

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
        """Of each node; the root's is 0."""
        depths = [0]
        for parent in self.parents[1:]:
            depths.append(depths[parent] + 1)
        return tuple(depths)

    @cached_property
    def depth(self) -> int:
        """Of the deepest node: how many levels were drafted."""
        return max(self.depths)

    @cached_property
    def level_sizes(self) -> tuple[int, ...]:
        """How many nodes there are at each depth, the root's 1 first."""
        counts = Counter(self.depths)
        return tuple(counts[depth] for depth in range(self.depth + 1))

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


@lru_cache(maxsize=1024)
def tree_shape(parents: tuple[int, ...]) -> TreeShape:
    """The same object for the same parents, so that what was derived from them is kept."""
    return TreeShape(parents)


@lru_cache(maxsize=256)
def chain(gamma: int) -> TreeShape:
    """A root followed by `gamma` drafted tokens, one after the other."""
    return tree_shape(tuple(range(-1, gamma)))
