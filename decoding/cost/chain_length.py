"""Where a draft model's chain ends: decided token by token, by the model's own probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field

from decoding.cost.auto_gamma import MAX_GAMMA
from decoding.cost.model import CostModel
from decoding.cost.rate import PRIOR_ACCEPTANCE, Rate

AHEAD = 8  # further drafts that are weighed: one more node may cost much, and the next ones little


@dataclass(slots=True)
class ChainLength:
    """Decides after each token of a greedy chain whether to draft another one.

    Further drafts pay if the tokens that they may win, per second that they take, are more than
    those per second of the rounds so far: this maximizes the ratio of the sums of both. They can be
    accepted only if the chain is, the probability of which is the draft model's own, corrected by
    how many drafts failed for each one that should have.
    """

    _failures: Rate = field(default_factory=Rate)  # of tested drafts, over the expected ones
    _accepted: Rate = field(default_factory=Rate)  # of tested drafts
    # tokens, over the time of a round in rounds without a draft
    _speedup: Rate = field(default_factory=Rate)
    _costs: CostModel | None = None
    _times: list[float] = field(default_factory=list)  # of a round by its drafts, in the same unit
    _chain: list[float] = field(default_factory=list)  # the probability of each draft
    _path: float = 1.0  # that all of them are accepted

    def begin(self, costs: CostModel) -> None:
        """Begin a chain of at most `MAX_GAMMA` drafts, in a round with these costs."""
        if costs is not self._costs:
            plain = costs.seconds(0, 1, drafting=0)
            sizes = range(MAX_GAMMA + AHEAD + 1)
            self._times = [costs.seconds(n, n + 1, drafting=n > 0) / plain for n in sizes]
            self._costs = costs
        self._chain, self._path = [], 1.0

    def goes_on(self, probability: float) -> bool:
        """Return whether another draft pays after one of this `probability`."""
        self._chain.append(probability)
        self._path *= 1.0 - min(self._failures.estimate(1.0) * (1.0 - probability), 1.0)
        n = len(self._chain)
        mean, speedup = self._accepted.estimate(PRIOR_ACCEPTANCE), self._speedup.estimate(1.0)
        path, won = self._path, 0.0
        for time in self._times[n + 1 :][:AHEAD]:
            path *= mean
            won += path
            if won > speedup * (time - self._times[n]):
                return True
        return False

    def ended(self, accepted: int) -> None:
        """Learn how many drafts of the chain were `accepted`, if there is one."""
        if not self._chain:
            return
        n, tested = len(self._chain), self._chain[: accepted + 1]
        for rate in (self._failures, self._accepted, self._speedup):
            rate.decay()
        self._failures.add(accepted < n, sum(1.0 - probability for probability in tested))
        self._accepted.add(accepted, len(tested))
        self._speedup.add(accepted + 1, self._times[n])
        self._chain = []
