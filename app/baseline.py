"""The comparison of a lane's answer with the autoregressive one's, by the target itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.document import Answer
from app.family import Family
from app.lane import Lane, first_divergence


class Baseline:
    """The autoregressive lane's answer; implements `app.document.Reference`."""

    def __init__(self, lane: Lane, prompt_ids: Sequence[int], family: Family, greedy: bool) -> None:
        self.speed = lane.stats.tokens_per_second
        self._ids, self._prompt = lane.ids, list(prompt_ids)
        self._family, self._greedy = family, greedy

    def compare(self, lane: Answer) -> dict[str, Any]:
        """Whether the greedy ids are the same; else where they part, and how far apart the target's
        logits of both tokens are there. A draft model alone is another model: not compared."""
        if not self._greedy or lane.spec.strategy == "drafter":
            return {}
        at = first_divergence(lane.ids, self._ids)
        gap = None
        if at is not None and at < min(len(lane.ids), len(self._ids)):
            before = self._prompt + self._ids[:at]
            gap = self._family.logit_gap(before, lane.ids[at], self._ids[at])
        return {"matches_ar": at is None, "first_divergence": at, "divergence_gap": gap}
