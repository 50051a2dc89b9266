"""The shape of a draft tree on the device that verifies it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from decoding.device import upload
from decoding.trees.shape import TreeShape

LONGEST_CACHED = 256  # longer chains are parts of a prompt, whose masks would fill the memory


@dataclass(frozen=True, slots=True, eq=False)
class TreeTensors:
    """`parents` [n] and `depths` [n], both 0 for the root, and the tree mask, `mask` bool [n, n]:
    node i attends to node j if j is i or an ancestor of i. `max_depth`: an upper bound of the
    depths."""

    parents: Tensor
    depths: Tensor
    mask: Tensor
    max_depth: int


def tree_tensors(shape: TreeShape, device: torch.device) -> TreeTensors:
    """Upload a shape to a device. Shapes of drafts are cached, so that a static tree is uploaded
    once."""
    if shape.is_chain and len(shape) > LONGEST_CACHED:
        depths = torch.arange(len(shape), device=device)
        mask = torch.ones(len(shape), len(shape), dtype=torch.bool, device=device).tril_()
        return TreeTensors((depths - 1).clamp_min_(0), depths, mask, shape.depth)
    return _uploaded(shape, device)


@lru_cache(maxsize=64)
def _uploaded(shape: TreeShape, device: torch.device) -> TreeTensors:
    parents, depths = upload(((0, *shape.parents[1:]), shape.depths), device).unbind(0)
    return TreeTensors(parents, depths, upload(_tree_mask(shape), device), shape.depth)


def _tree_mask(shape: TreeShape) -> Tensor:
    if shape.is_chain:
        return torch.ones(len(shape), len(shape), dtype=torch.bool).tril_()
    mask = np.eye(len(shape), dtype=bool)  # numpy: a tenth of torch's time a row
    for node, parent in enumerate(shape.parents[1:], 1):
        mask[node] |= mask[parent]
    return torch.from_numpy(mask)
