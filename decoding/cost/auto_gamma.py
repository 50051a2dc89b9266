"""`gamma` "auto": chooses for each round the draft length with the most expected tokens per second,
from the rounds before it.

A round with drafts of at most g tokens is expected to emit

    tau(g) = 1 + h(1) + h(1) h(2) + ... + h(1) ... h(g)

tokens, where h(i) is the probability that position i of the path is accepted given that those
before it were (Leviathan et al. 2023, 2211.17192, section 3, has one alpha for all positions).
Text is easy in some places and hard in others, and a round after a draft that was accepted in full
mostly begins in an easy one. Longer drafts leave fewer such rounds, for they hold what these
would have begun with; if that were neglected, each length would seem to be too short. So there is
an h for rounds after such a draft and one for all others, and the share of the former at a gamma
is that of a Markov chain with these two kinds of rounds as its states.

`CostModel` has the seconds. The choice depends only on past rounds, never on the tokens to come, so
the output stays exact; but it depends on their times, so above temperature 0 the same seed may
give another text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from decoding.cost.curve import robust_line
from decoding.cost.model import Cost, CostModel, fit_verify, overhead_seconds
from decoding.cost.rate import PRIOR_ACCEPTANCE, Rate
from decoding.round import Round

MAX_GAMMA = 16
WARM_UP = 8  # rounds with the drafter's default
PLAN_INTERVAL = 8  # rounds between two plans, which take up to a millisecond
WINDOW = 64  # recent rounds whose times count
MAX_AHEAD = 2  # levels beyond the deepest one with recent trials
PROBE_INTERVAL = 10  # rounds until another gamma is tried, to learn its cost
PAUSE_ROUNDS = 48  # without drafts while they do not pay; then
RETRY_ROUNDS = 4  # with drafts, in case they pay again


@dataclass(slots=True)
class Level:
    """One depth of the drafts. Over the rounds with at least this gamma: how often the draft
    `reached` it, and with how many `nodes`. Over those accepted up to the depth before it: how
    often it was `offered`, and over these how often it was accepted, in rounds `after_full`
    acceptance of a draft and in those `after_other` rounds."""

    reached: Rate = field(default_factory=Rate)
    nodes: Rate = field(default_factory=Rate)
    offered: Rate = field(default_factory=Rate)
    after_full: Rate = field(default_factory=Rate)
    after_other: Rate = field(default_factory=Rate)


class AutoGamma:
    """Chooses the gamma of each round: `choose` before it, `observe` after it.

    The weight of old trials decays, and a position without any is assumed to do as well as the one
    before it, so that it is tried again. Where the drafter stops by itself or the answer ends, a
    larger gamma would not have helped: the next position was not offered.
    """

    def __init__(self, verify_cost: Callable[[], Cost | None] = lambda: None) -> None:
        """`verify_cost` is called after the first round; it returns the measured seconds of a pass
        over n nodes, which are rescaled to the present rounds, or None."""
        self.costs: CostModel | None = None  # as in the last plan, once there is one
        self._measure = verify_cost
        self._measured: Cost | None = None
        self._levels = [Level() for _ in range(MAX_GAMMA)]
        self._drafts: deque[tuple[int, float]] = deque(maxlen=WINDOW)  # levels, seconds
        self._passes: deque[tuple[int, float]] = deque(maxlen=WINDOW)  # nodes, seconds
        self._overheads: deque[float] = deque(maxlen=WINDOW)
        self._rounds = 0
        # when the next plan is due, the best gamma, the largest one considered
        self._plan = (0, 0, 0)
        self._drafted = True  # in the last round
        self._was_full = False  # whether its draft was accepted in full
        self._paused = 0  # which round of a pause and the retry after it this is, from 1
        self._up = False

    def choose(self, default: int, ends_drafts: bool = False) -> int:
        """Choose the next round's gamma: from 0 (do not draft) to `MAX_GAMMA`. `default` is the
        drafter's own, which its tree may change. A drafter that knows the `costs` and
        `ends_drafts` where going on does not pay gets `MAX_GAMMA`."""
        default = min(default, MAX_GAMMA)
        if self._rounds < WARM_UP:
            return default
        due, best, most = self._plan
        if self._rounds >= due:
            speeds = self.speeds()
            best, most = max(range(len(speeds)), key=speeds.__getitem__), len(speeds) - 1
            self._plan = self._rounds + PLAN_INTERVAL, best, most
        cycle = PAUSE_ROUNDS + RETRY_ROUNDS
        if best == 0 or PAUSE_ROUNDS < self._paused < cycle:
            self._paused = self._paused % cycle + 1
            if self._paused == PAUSE_ROUNDS + 1:
                self._drafts.clear()  # old times do not matter any more
            return min(2, default) if self._paused > PAUSE_ROUNDS else 0
        self._paused = 0
        if ends_drafts:
            return MAX_GAMMA
        if self._rounds % PROBE_INTERVAL == 0:
            self._up = not self._up
            return min(best + MAX_AHEAD, most) if self._up else best // 2
        return best

    def observe(self, record: Round) -> None:
        """Learn from the round after `choose`; its gamma may have been smaller. The first call
        calls `verify_cost`, which may measure, outside of a round's time."""
        if not self._rounds:
            self._measured = self._measure()
        self._rounds += 1
        sizes, drafted = record.shape.level_sizes, record.shape.depth
        # after rounds without drafts a draft model has to catch up: not a typical time
        if drafted and self._drafted:
            self._drafts.append((drafted, record.draft_seconds))
        self._drafted = drafted > 0
        self._passes.append((len(record.tokens), record.verify_seconds))
        self._overheads.append(overhead_seconds(record))
        accepted = len(record.accepted)
        after_full = self._was_full and record.index > 0  # an answer's first round follows none
        for position, level in enumerate(self._levels, 1):
            rates = (level.reached, level.nodes, level.offered, level.after_full, level.after_other)
            for rate in rates:
                rate.decay()
            if position > record.gamma:
                continue
            reached = position <= drafted
            level.reached.add(reached)
            level.nodes.add(sizes[position] if reached else 0)
            if position <= accepted + 1:
                level.offered.add(reached)
                if reached:
                    rate = level.after_full if after_full else level.after_other
                    rate.add(position <= accepted)
        self._was_full = accepted == drafted > 0

    def speeds(self) -> list[float]:
        """Estimate the tokens per second with each gamma, from 0 up to what there is evidence
        for."""
        costs = self.costs = CostModel(
            robust_line(self._drafts or [(1, 0.0)], proportional=True),
            fit_verify(self._passes, self._measured),
            median(self._overheads),
        )
        tested = (i for i, level in enumerate(self._levels, 1) if level.offered.trials > 0.5)
        reach = max(tested, default=0)
        nodes, levels, drafts = 1.0, 0.0, 0.0
        reached, size, offered, accepted = 1.0, 1.0, 1.0, PRIOR_ACCEPTANCE
        # Of both kinds of rounds: tokens, how often a draft is accepted so far, and in full.
        taus, paths, ends = [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]
        speeds = [1 / costs.seconds(0, 1, drafting=0)]
        for level in self._levels[: reach + MAX_AHEAD]:
            offered = level.offered.estimate(offered)
            accepted = level.after_other.plus(level.after_full).estimate(accepted)
            for kind, rate in enumerate((level.after_other, level.after_full)):
                ends[kind] += paths[kind] * (1 - offered) if levels else 0.0
                paths[kind] *= offered * rate.estimate(accepted)
                taus[kind] += paths[kind]
            # Of rounds of each kind, the share whose draft is accepted in full.
            other_full, full_full = (end + path for end, path in zip(ends, paths, strict=True))
            share = other_full / (1 - full_full + other_full)  # of rounds after such a draft
            reached = level.reached.estimate(reached)
            size = level.nodes.estimate(size)
            drafts = drafts or reached  # the share of rounds that draft at all
            nodes, levels = nodes + size, levels + reached
            tau = (1 - share) * taus[0] + share * taus[1]
            speeds.append(tau / costs.seconds(levels, nodes, drafts))
        return speeds
