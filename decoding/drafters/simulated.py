"""A drafter of known quality, for measuring a machine without one: what would heads bring here that
are right in eight of ten cases? It is told the answer, and spoils it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.device import upload
from decoding.drafters.base import DraftContext, Needs
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import chain


class Simulated:
    """Drafts chains of what `answer` says next, where each token behind right ones is right with
    probability `acceptance`. Costs nothing, and is of use for greedy decoding alone."""

    needs: Needs = "none"
    note: str | None = None
    cache_bytes = 0

    def __init__(
        self, device: torch.device, acceptance: float, seed: int = 0, default_gamma: int = 4
    ) -> None:
        self.default_gamma = default_gamma
        self.answer: Sequence[int] = ()  # the target's to the prompt of the next `start`
        self._device = device
        self._acceptance = acceptance
        self._draws = torch.Generator().manual_seed(seed)
        self._prompt = 0

    def start(self, ids: Sequence[int], first: int = 0, features: Tensor | None = None) -> None:
        self._prompt = len(ids)

    def propose(self, context: DraftContext) -> Draft | None:
        said = len(context.ids) - self._prompt
        drafted = list(self.answer[said : said + context.gamma])
        if not drafted:
            return None
        right = torch.rand(len(drafted), generator=self._draws) < self._acceptance
        spoiled = [token if kept else not token for token, kept in zip(drafted, right, strict=True)]
        tokens = upload([context.ids[-1], *map(int, spoiled)], self._device)
        return Draft(DraftTree(chain(len(drafted)), tokens))

    def observe(self, ids: Sequence[int], accepted: int, features: Tensor | None = None) -> None:
        pass
