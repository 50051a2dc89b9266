"""Acceptance rates, as estimated for gamma "auto", EAGLE's trees and the forecast: shrunk towards a
prior that counts as `PRIOR_WEIGHT` trials."""

from __future__ import annotations

from dataclasses import dataclass

PRIOR_WEIGHT = 2.0
PRIOR_ACCEPTANCE = 0.6  # of a draft's first token before any data
DECAY = 0.99  # of a trial's weight with every round, because text and settings change


@dataclass(slots=True)
class Rate:
    """Successes per trial."""

    successes: float = 0.0
    trials: float = 0.0

    def add(self, successes: float, trials: float = 1.0) -> None:
        self.successes += successes
        self.trials += trials

    def decay(self) -> None:
        """Reduce the weight of all trials so far by one round's decay."""
        self.successes *= DECAY
        self.trials *= DECAY

    def plus(self, other: Rate) -> Rate:
        """Return the rate of both's trials together."""
        return Rate(self.successes + other.successes, self.trials + other.trials)

    def estimate(self, prior: float) -> float:
        """Return the rate, shrunk towards the `prior`."""
        return (self.successes + PRIOR_WEIGHT * prior) / (self.trials + PRIOR_WEIGHT)
