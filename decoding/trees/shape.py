"""The shape of a draft tree. Node 0 is the root: the last committed token. No torch in here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache


@dataclass(frozen=True)
class TreeShape:
    """Parents of the nodes, parents before children; `parents[0]` is -1. Siblings are in the order
    of the drafter's guesses, the most likely one first."""

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
        """The depth of each node; the root's is 0."""
        depths = [0]
        for parent in self.parents[1:]:
            depths.append(depths[parent] + 1)
        return tuple(depths)

    @cached_property
    def depth(self) -> int:
        """The depth of the deepest node: the number of drafted levels."""
        return max(self.depths)

    @cached_property
    def level_sizes(self) -> tuple[int, ...]:
        """The number of nodes at each depth, from the root's 1."""
        counts = Counter(self.depths)
        return tuple(counts[depth] for depth in range(self.depth + 1))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents[1:], 1):
            children[parent].append(node)
        return tuple(map(tuple, children))

    def path(self, node: int) -> tuple[int, ...]:
        """List the nodes from the root (excluded) down to `node`."""
        nodes: list[int] = []
        while node > 0:
            nodes.append(node)
            node = self.parents[node]
        return tuple(reversed(nodes))


@lru_cache(maxsize=1024)
def tree_shape(parents: tuple[int, ...]) -> TreeShape:
    """Return the shape with these parents from a cache, with its derived properties."""
    return TreeShape(parents)


@lru_cache(maxsize=256)
def chain(gamma: int) -> TreeShape:
    """Return the shape of a root followed by `gamma` drafted tokens, one after the other."""
    return tree_shape(tuple(range(-1, gamma)))
