"""Prompt lookup: copies the tokens after the last occurrence of the newest n-gram, without a model.

Saxena 2023 (github.com/apoorvumang/prompt-lookup-decoding), but with the most recent match instead
of the first, and also searching the generated tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.drafters.base import DraftContext, Needs
from decoding.trees.draft import Draft, DraftTree


class Lookup:
    """Looks up the longest n-gram (up to `max_ngram`) at the end of the sequence that occurred
    before, at its most recent occurrence."""

    needs: Needs = "none"
    default_gamma = 6
    note: str | None = None
    cache_bytes = 0

    def __init__(self, device: torch.device, max_ngram: int = 4) -> None:
        self._device = device
        self._max_ngram = max_ngram
        self._ids: list[int] = []  # the sequence
        self._indexed = 0  # so many of its ids have their n-grams in the table
        # n-gram -> index of the token that followed its most recent occurrence
        self._follows: dict[tuple[int, ...], int] = {}

    def start(self, ids: Sequence[int], first: int = 0, features: Tensor | None = None) -> None:
        if list(ids[: self._indexed]) != self._ids[: self._indexed]:  # else a next turn
            self._indexed = 0
            self._follows.clear()
        self._index(ids)

    def propose(self, context: DraftContext) -> Draft | None:
        copied = self.find(context.ids, context.gamma)
        if not copied:
            return None
        return Draft(DraftTree.of_chain([context.ids[-1], *copied], self._device))

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        self._index(ids)

    def find(self, ids: Sequence[int], gamma: int) -> list[int]:
        """Predict up to `gamma` tokens that follow `ids`, [] without a match. A match that reaches
        the end continues with its own copy, so that a repeating pattern is drafted at full
        length."""
        for n in range(min(self._max_ngram, len(ids) - 1), 0, -1):
            source = self._follows.get(tuple(ids[-n:]))
            if source is not None:
                text = list(ids[source : source + gamma])
                while len(text) < gamma:
                    text += text
                return text[:gamma]
        return []

    def _index(self, ids: Sequence[int]) -> None:
        """Add the n-grams that have a following token by now."""
        for follower in range(max(self._indexed, 1), len(ids)):
            for n in range(1, min(self._max_ngram, follower) + 1):
                self._follows[tuple(ids[follower - n : follower])] = follower
        self._ids[self._indexed :] = ids[self._indexed :]
        self._indexed = len(ids)
