"""How often drafts are accepted: the estimate behind gamma "auto", EAGLE's trees and the forecast.

A few rounds prove little, so a rate is estimated as if `PRIOR_WEIGHT` trials more had gone as
expected before there was any.
"""

from __future__ import annotations

from dataclasses import dataclass

PRIOR_WEIGHT = 2.0
PRIOR_ACCEPTANCE = 0.6  # of a draft's first token before any data
DECAY = 0.99  # weight of a round, a round later, where text and settings may change meanwhile


@dataclass(slots=True)
class Rate:
    """Successes per trial."""

    successes: float = 0.0
    trials: float = 0.0

    def add(self, successes: float, trials: float = 1.0) -> None:
        self.successes += successes
        self.trials += trials

    def fade(self) -> None:
        """Another round has gone by."""
        self.successes *= DECAY
        self.trials *= DECAY

    def estimate(self, prior: float) -> float:
        return (self.successes + PRIOR_WEIGHT * prior) / (self.trials + PRIOR_WEIGHT)
