"""Repetition and presence penalties. For a node of a tree the earlier tokens are the committed ones
and those on its path, so that its logits are those it would have if the path were committed, and
acceptance stays exact."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.device import upload
from decoding.params import SamplingParams
from decoding.trees.draft import DraftTree


def penalize(
    logits: Tensor,
    sampling: SamplingParams,
    ids: Sequence[int],
    prompt_length: int,
    tree: DraftTree | None = None,
) -> Tensor:
    """Apply the penalties of `sampling` to the logits [n, V] of a tree's nodes, or of one row.
    `ids` are the committed ones: the prompt and the answer so far.

    Repetition (Keskar et al., 2019, 1909.05858, as in `generate`): logits of tokens in the prompt
    or the answer are divided by the penalty if positive, else multiplied. Presence (as in serving
    engines): subtracted from the logits of tokens in the answer.
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
        path = tree.tensors.mask.float()
        path[:, 0] = 0.0  # the root is one of the ids
        on_path = torch.zeros(logits.shape, device=logits.device)
        seen |= on_path.scatter_add_(1, tree.tokens.expand(len(tree), -1), path) > 0
    return seen
