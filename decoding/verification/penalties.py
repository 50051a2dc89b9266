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


class Penalties:
    """Penalizes the logits of one answer to a prompt of `prompt_length` tokens. Knows which tokens
    it has seen, so that a round only adds its own, however long the text is."""

    def __init__(self, prompt_length: int, device: torch.device) -> None:
        self._prompt_length = prompt_length
        self._length = 0  # of the ids seen so far
        self._text = _TokenSet(device)
        self._answer = _TokenSet(device)

    def apply(
        self,
        logits: Tensor,
        sampling: SamplingParams,
        ids: Sequence[int],
        drafted: DraftTree | Tensor | None = None,
    ) -> Tensor:
        """Apply the penalties of `sampling` to the logits [n, V] of a drafted tree's nodes, or to
        those [1, V] behind a drafted chain of tokens [k]. `ids` are the committed ones, the prompt
        and the answer so far; they only grow from call to call.

        Repetition (Keskar et al., 2019, 1909.05858, as in `generate`): logits of tokens in the
        prompt or the answer are divided by the penalty if positive, else multiplied. Presence (as
        in serving engines): subtracted from the logits of tokens in the answer.
        """
        if not sampling.penalizes:
            return logits
        self._see(ids)
        logits = logits.float()
        r, p = sampling.repetition_penalty, sampling.presence_penalty
        if r != 1.0:
            scaled = lambda x: torch.where(x > 0, x / r, x * r)  # noqa: E731
            logits = _where_seen(logits, self._text.tokens, drafted, scaled)
        if p != 0.0:
            logits = _where_seen(logits, self._answer.tokens, drafted, lambda x: x - p)
        return logits

    def _see(self, ids: Sequence[int]) -> None:
        self._text.add(ids[self._length :])
        self._answer.add(ids[max(self._length, self._prompt_length) :])
        self._length = len(ids)


class _TokenSet:
    """A growing set of tokens, as a tensor [n] in any order."""

    def __init__(self, device: torch.device) -> None:
        self.tokens = torch.empty(0, dtype=torch.long, device=device)
        self._known: set[int] = set()

    def add(self, ids: Sequence[int]) -> None:
        new = list(set(ids) - self._known)
        if new:
            self._known.update(new)
            self.tokens = torch.cat([self.tokens, upload(new, self.tokens.device)])


def _where_seen(
    logits: Tensor,
    known: Tensor,
    drafted: DraftTree | Tensor | None,
    change: Callable[[Tensor], Tensor],
) -> Tensor:
    """Apply `change` to the logits [n, V] of the tokens `known`, and of the drafted ones before
    each row. Only the columns of these tokens are computed: a vocabulary is many times as large."""
    columns = known
    if isinstance(drafted, DraftTree):
        columns = torch.cat([known, drafted.tokens[1:]])
    elif drafted is not None:
        columns = torch.cat([known, drafted])
    own = logits.index_select(1, columns)
    changed = change(own)
    if isinstance(drafted, DraftTree) and len(columns) > len(known):
        tokens, path = columns[len(known) :, None], drafted.tensors.mask[:, 1:]
        seen = path.float() @ (tokens == columns).float() > 0
        seen[:, : len(known)] = True
        seen[:, len(known) :] |= (tokens == known).any(1)
        changed = torch.where(seen, changed, own)
    return logits.index_copy(1, columns, changed)  # what stands twice has the same values
