"""Penalties for tokens that were there before. At a node of a tree these are the committed ones and
those on its path, so that each node has the logits that it would have if its path were committed:
acceptance by them is as exact as without."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from decoding.device import upload
from decoding.params import SamplingParams
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape


def penalize(
    logits: Tensor,
    sampling: SamplingParams,
    ids: Sequence[int],
    prompt_length: int,
    tree: DraftTree | None = None,
) -> Tensor:
    """Logits [n, V] of a tree's nodes, or of one row, with the penalties that `sampling` has. `ids`
    are all that is committed: the prompt and the answer so far.

    Repetition (Keskar et al., 2019, 1909.05858, as `generate` has it): logits of tokens in the
    prompt or the answer are divided by the penalty where they are above 0, else multiplied.
    Presence (as serving engines have it): it is taken off the logits of tokens in the answer.
    """
    if not sampling.penalizes:
        return logits
    logits = logits.float()
    r, p = sampling.repetition_penalty, sampling.presence_penalty
    if r != 1.0:
        seen = _seen(logits, ids, tree)
        logits = torch.where(seen, torch.where(logits > 0, logits / r, logits * r), logits)
    if p != 0.0:
        logits = logits - p * _seen(logits, ids[prompt_length:], tree)
    return logits


def _seen(logits: Tensor, ids: Sequence[int], tree: DraftTree | None) -> Tensor:
    """bool [n, V]: the tokens among `ids` and on each node's path."""
    seen = torch.zeros(logits.shape, dtype=torch.bool, device=logits.device)
    if ids:
        seen[:, upload(ids, logits.device)] = True
    if tree is not None and len(tree) > 1:
        nodes, above = _paths(tree.shape)
        seen[upload(nodes, logits.device), tree.tokens[upload(above, logits.device)]] = True
    return seen


@lru_cache(maxsize=256)
def _paths(shape: TreeShape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Pairs of a node and one on its path, itself included, the root left out."""
    pairs = [(node, each) for node in range(1, len(shape)) for each in shape.path(node)]
    nodes, above = zip(*pairs, strict=True)
    return nodes, above
