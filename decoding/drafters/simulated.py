"""A drafter with a chosen acceptance rate: what would heads bring on this machine that are right in
eight of ten cases? It knows the answer, and makes random mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.drafters.base import DraftContext, Needs
from decoding.trees.draft import Draft, DraftTree


class Simulated:
    """Drafts chains of the next tokens of `answer`, where each token after correct ones is correct
    with probability `acceptance`. Costs nothing, and only works for greedy decoding."""

    needs: Needs = "none"
    default_gamma = 4
    note: str | None = None
    cache_bytes = 0

    def __init__(self, device: torch.device, acceptance: float) -> None:
        self.answer: Sequence[int] = ()  # the target's answer to the prompt of the next `start`
        self._device = device
        self._acceptance = acceptance
        self._draws = torch.Generator().manual_seed(0)
        self._prompt = 0

    def start(self, ids: Sequence[int], first: int = 0, features: Tensor | None = None) -> None:
        self._prompt = len(ids)

    def propose(self, context: DraftContext) -> Draft | None:
        position = len(context.ids) - self._prompt
        drafted = list(self.answer[position : position + context.gamma])
        if not drafted:
            return None
        right = torch.rand(len(drafted), generator=self._draws) < self._acceptance
        # A mistake is any other id: 0, or 1 in its place.
        tokens = [
            token if kept else int(token == 0) for token, kept in zip(drafted, right, strict=True)
        ]
        return Draft(DraftTree.of_chain([context.ids[-1], *tokens], self._device))

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        pass
