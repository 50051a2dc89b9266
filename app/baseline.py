"""The comparison of a lane's answer with the autoregressive one's, by the target itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.document import Answer
from app.family import Family
from app.lane import Lane, first_divergence
from decoding.params import Params, with_settings


class Baseline:
    """The autoregressive lane's answer; implements `app.document.Reference`."""

    def __init__(
        self, lane: Lane, prompt_ids: Sequence[int], family: Family, params: Params
    ) -> None:
        self.speed = lane.stats.tokens_per_second
        self._lane, self._prompt = lane, list(prompt_ids)
        self._family, self._params = family, params

    def compare(self, lane: Answer) -> dict[str, Any]:
        """Whether the greedy ids are the same; else where they part, and how far apart the target's
        logits of both tokens are there. A draft model alone is another model: not compared."""
        if lane.spec.strategy == "drafter" or not (self._greedy(lane) and self._greedy(self._lane)):
            return {}
        ids = self._lane.ids
        at = first_divergence(lane, self._lane)
        gap = None
        if at is not None and at < min(len(lane.ids), len(ids)):
            gap = self._family.logit_gap(self._prompt + ids[:at], lane.ids[at], ids[at])
        return {"matches_ar": at is None, "first_divergence": at, "divergence_gap": gap}

    def _greedy(self, lane: Answer) -> bool:
        return with_settings(self._params, lane.spec.pins).sampling.greedy
