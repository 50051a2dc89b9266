"""Repetition and presence penalties. For a node of a tree the earlier tokens are the committed ones
and those on its path, so that its logits are those it would have if the path were committed, and
acceptance stays exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
        logits = _where_seen(logits, ids, tree, lambda x: torch.where(x > 0, x / r, x * r))
    if p != 0.0:
        logits = _where_seen(logits, ids[prompt_length:], tree, lambda x: x - p)
    return logits


def _where_seen(
    logits: Tensor,
    ids: Sequence[int],
    tree: DraftTree | None,
    change: Callable[[Tensor], Tensor],
) -> Tensor:
    """`logits` [n, V] after `change` of those of the tokens among `ids` and on each node's path.
    Only the columns of these tokens are computed: a vocabulary is many times as large."""
    tokens = logits.new_empty(0, dtype=torch.long) if tree is None else tree.tokens[1:]
    known = upload(list(set(ids)), logits.device) if ids else tokens[:0]
    columns = torch.cat([known, tokens])
    own = logits.index_select(1, columns)
    changed = change(own)
    if tree is not None and len(tokens):
        path = tree.tensors.mask[:, 1:].float()
        seen = path @ (tokens[:, None] == columns).float() > 0
        seen |= torch.cat([torch.ones_like(known).bool(), (tokens[:, None] == known).any(1)])
        changed = torch.where(seen, changed, own)
    return logits.index_copy(1, columns, changed)  # what stands twice has the same values
