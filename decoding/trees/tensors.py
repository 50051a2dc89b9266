"""The shape of a draft tree on the device that verifies it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from decoding.device import upload
from decoding.trees.shape import TreeShape


@dataclass(frozen=True, slots=True, eq=False)
class TreeTensors:
    """`parents` [n] (the root's is 0), `depths` [n] (the root's is 0) and `seen` bool [n, n]: row i
    sees column j if j is i or an ancestor of i. `deepest` is an upper bound of the depths."""

    parents: Tensor
    depths: Tensor
    seen: Tensor
    deepest: int

    def __len__(self) -> int:
        return len(self.parents)


@lru_cache(maxsize=64)
def tree_tensors(shape: TreeShape, device: torch.device) -> TreeTensors:
    """The tensors of a shape, cached: a static tree is uploaded once."""
    numbers = upload(((0, *shape.parents[1:]), shape.depths), device)
    parents, depths = numbers.unbind(0)
    return TreeTensors(parents, depths, upload(ancestors(shape), device), shape.depth)


def ancestors(shape: TreeShape) -> Tensor:
    """bool [n, n]: whether node j is i or an ancestor of i."""
    seen = np.eye(len(shape), dtype=bool)  # numpy: a tenth of torch's time a row
    for node, parent in enumerate(shape.parents[1:], 1):
        seen[node] |= seen[parent]
    return torch.from_numpy(seen)
