"""Forecasts the tokens per second with another gamma, from past rounds.

A round with a accepted tokens would have accepted min(a, g) with drafts of at most g <= gamma
tokens: exact for these g. If all gamma tokens were accepted, only a >= gamma is known: the round is
censored. So the probability h(i) that position i is accepted is estimated over the rounds that
reached it and had gamma >= i (Kaplan and Meier 1958), and stays constant after the last position
with enough of them. A path that ended with the answer or the drafter's proposal is not censored: no
gamma would have extended it. With S(j) = h(1) ... h(j), the probability of accepting j tokens,

    tau(g) = 1 + S(1) + ... + S(g)                        tokens in a round, bonus included
    seconds(g) = d(levels) + v(nodes) + r                 fitted to the times of one run
    tau(g) / seconds(g)                                   tokens per second

With one h = alpha everywhere tau is (1 - alpha^(g+1)) / (1 - alpha): Leviathan et al. 2023
(2211.17192), section 3. But a round after one that accepted all of its gamma tokens mostly begins
in an easy place of the text, and longer drafts leave fewer such rounds, for they hold what these
would have begun with. So S is estimated for both kinds of rounds, and their shares at another g are
those of a Markov chain: S(g) is how often a round is followed by one of the first kind. For trees
S(j) holds for trees of the present gamma; one made for a smaller g might use its nodes better
(Sequoia, 2402.12374), so these values are slightly low.

What an earlier run accepted says something about the next, and so do the trees that it drafted
with another gamma. What its rounds took does not, because the machine may have been busier: only
how long drafting took beside the target's pass. So times are those of one run, as its speed is.
What passes took when they were measured at the start is used for its proportions alone, and only if
the run, whose ends are known (rounds without drafts, and with its gamma), has about the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, hypot

from decoding.cost.curve import Curve, line_through
from decoding.cost.model import CostModel, verify_through
from decoding.cost.rate import PRIOR_ACCEPTANCE, Rate
from decoding.cost.round_statistics import (
    UNTIMED,
    Ends,
    Moments,
    RoundStatistics,
    median_of,
    medians_by_size,
)

MIN_LIMIT = 16  # the largest gamma of a forecast is at least this
MIN_ROUNDS = 8  # that reached a position, to estimate its acceptance
TOLERANCE = 1.3  # how far modelled times may be from measured ones


@dataclass(frozen=True, slots=True)
class Forecast:
    """`speeds[g]` in tokens per second, g from 0 (no drafts). `break_even`: the acceptance rate
    alpha, equal at all positions, from which the present `gamma` is faster than no drafts; None if
    1 would not be enough. Speeds above gamma `seen` are extrapolated: too few rounds drafted that
    far. `errors[g]`: the standard error of `speeds[g]` due to the acceptance and to how unequally
    long rounds took, for g up to `seen`. `doubtful`: a round without drafts did not take what it
    should beside one with them, so what others take is a straight line between the two.
    """

    speeds: tuple[float, ...]
    gamma: int
    break_even: float | None
    seen: int
    errors: tuple[float, ...] = ()
    doubtful: bool = False

    @property
    def best(self) -> int:
        """The gamma with the highest speed; 0: drafting does not pay."""
        return max(range(len(self.speeds)), key=self.speeds.__getitem__)

    @property
    def best_seen(self) -> int:
        """The fastest gamma that is not extrapolated."""
        return max(range(min(self.seen + 1, len(self.speeds))), key=self.speeds.__getitem__)

    @property
    def now(self) -> float:
        return self.speeds[self.gamma]


def forecast(
    run: RoundStatistics,
    gamma: int,
    *,
    before: RoundStatistics | None = None,
    speed: float | None = None,
    alone: float | None = None,
    others: Sequence[RoundStatistics] = (),
    pass_costs: Sequence[tuple[float, float]] = (),
    at_once: bool = False,
    limit: int | None = None,
) -> Forecast | None:
    """Forecast a decoder's speed from its `run` and its rounds `before`, for each gamma up to the
    present one, theirs and `MIN_LIMIT`, or up to `limit` if the drafter can go no further. None if
    too few rounds drafted.

    It is of the run: the times are its own, the acceptance is shrunk towards that of all rounds. At
    the run's gamma it agrees with the measured `speed`, at 0 with `alone` (tokens per second);
    without these, with the mean of the rounds.

    Pass times of other sizes are estimated from the measured `pass_costs` (nodes, seconds), or else
    from `others`, rounds of other decoders on the same target. `at_once`: the drafter makes all
    levels in one pass (Medusa), so that a shallower draft takes as long.
    """
    before = before or RoundStatistics()
    asked = before.asked + run.asked  # by gamma
    if asked.total() < MIN_ROUNDS:
        return None
    most = max(MIN_LIMIT, gamma, *asked) if limit is None else limit
    ends = before.ends + run.ends
    tau = tokens_per_round(before, run, most)
    costs = _costs(run, before, others, pass_costs, at_once)
    seconds = _seconds(run, before, costs, asked, most)
    drafted = [(min(g, most), count) for (_, g), count in run.ends.items()]
    slower = Moments()
    for (levels, nodes), times in run.took.items():
        slower.include(times, 1 / costs.seconds(levels, nodes, drafting=nodes > 1))
    # Its own trees may have been others than those of all rounds, which `seconds` are of.
    spent = sum(count * seconds[g] for g, count in drafted)
    expected = sum(count * tau[g] for g, count in drafted) / spent
    took = sum(times.count * times.mean for times in run.took.values())
    factor = (speed or run.emitted / took) / expected
    plain = Moments()
    for each in (run, *others):
        plain.include(each.plain)
    measured = plain.count >= MIN_ROUNDS
    without = alone or (1 / plain.mean if measured else factor / seconds[0])
    ran = sum(count * g for g, count in drafted) / run.rounds
    seconds, agree = _between(seconds, factor / without, ran)
    speeds = [factor * tokens / time for tokens, time in zip(tau, seconds, strict=True)]
    speeds[0] = without
    now = min(gamma, most)
    even = break_even(tau[now] / speeds[now] * speeds[0], now)
    seen = max(g for g in asked if sum(asked[h] for h in asked if h >= g) >= MIN_ROUNDS)
    unequal = slower.error / slower.mean
    errors = tuple(
        speeds[g] * hypot(standard_error(ends, g) / tau[g], unequal)
        for g in range(min(seen, most) + 1)
    )
    return Forecast(tuple(speeds), now, even, seen, errors, not agree)


def tokens_per_round(before: RoundStatistics, run: RoundStatistics, most: int) -> list[float]:
    """Estimate tau(g) for g from 0 to `most`."""
    ends, after_full = before.ends + run.ends, before.ends_after_full + run.ends_after_full
    kinds = (ends - after_full, run.ends - run.ends_after_full), (after_full, run.ends_after_full)
    # Other answers can't tell how often drafts follow full ones in this one.
    if any(sum(n for (_, g), n in own.items() if g) < MIN_ROUNDS for _, own in kinds):
        return [*accumulate(survival(ends, most, run.ends), initial=1.0)]
    # A position that was never tested would be after accepted ones, as all of these rounds are.
    beyond = _last_rate(after_full, most)
    paths = [survival(some, most, of_run, beyond) for some, of_run in kinds]
    taus = [[*accumulate(path, initial=1.0)] for path in paths]
    shares = [0.0, *(s / (1.0 - t + s) if s else 0.0 for s, t in zip(*paths, strict=True))]
    return [
        (1.0 - share) * tau_after_other + share * tau_after_full
        for share, tau_after_other, tau_after_full in zip(shares, *taus, strict=True)
    ]


def _between(seconds: list[float], plain: float, ran: float) -> tuple[list[float], bool]:
    """Correct the modelled seconds of rounds by gamma, which are right at the gamma that `ran`, so
    that those without drafts take the measured `plain`; and say whether they were about right
    there. No round with drafts is quicker than one without."""
    wrong = plain / seconds[0]
    if not ran:
        return seconds, True
    below = int(ran)
    there = seconds[below] + (ran - below) * (seconds[ceil(ran)] - seconds[below])
    agree = 1 / TOLERANCE <= wrong <= TOLERANCE
    if agree:
        parts = [min(g / ran, 1.0) for g in range(len(seconds))]
        times = [time * (wrong + (1.0 - wrong) * x) for time, x in zip(seconds, parts, strict=True)]
    else:
        times = [plain + (there - plain) * g / ran for g in range(len(seconds))]
    least = min(plain, there)
    return [max(time, least) for time in times], agree


def standard_error(ends: Ends, gamma: int) -> float:
    """Estimate the standard error of tau(gamma): that of the mean of min(a, gamma) over the rounds
    with at least this gamma."""
    lengths = Moments()
    for (accepted, asked), count in ends.items():
        if asked >= max(gamma, 1):
            lengths.include(Moments(count, min(accepted, gamma)))
    return lengths.error


def survival(
    ends: Ends, most: int, run: Ends | None = None, beyond: float | None = None
) -> list[float]:
    """Estimate S(j), the probability that j tokens are accepted, for j from 1 to `most`. Taken from
    at least `MIN_ROUNDS` rounds with gamma > 0, and shrunk from those of the `run` towards all.
    After the last position that was tested often enough h is `beyond`; None: as there."""
    beyond = _last_rate(ends, most) if beyond is None else beyond
    alive, path = 1.0, []
    for rate, of_run in zip(_rates(ends, most), _rates(run or Counter(), most), strict=True):
        tested = rate.trials >= MIN_ROUNDS
        alive *= of_run.estimate(rate.successes / rate.trials) if tested else beyond
        path.append(alive)
    return path


def _last_rate(ends: Ends, most: int) -> float:
    """Estimate h at the last position that was tested often enough, with the prior: never
    certain."""
    tested = [rate for rate in _rates(ends, most) if rate.trials >= MIN_ROUNDS]
    return tested[-1].estimate(PRIOR_ACCEPTANCE) if tested else 0.0


def _rates(ends: Ends, most: int) -> list[Rate]:
    """Count h(i) by position, from the rounds that reached it."""
    rates = [Rate() for _ in range(most)]
    for (accepted, gamma), count in ends.items():
        for position in range(1, min(accepted + 1, gamma, most) + 1):
            rates[position - 1].add(count * (position <= accepted), count)
    return rates


def break_even(slowdown: float, gamma: int) -> float | None:
    """Find the alpha with 1 + alpha + ... + alpha^gamma = `slowdown`, the time of a round over that
    of one without drafts. None if it is above 1."""
    if slowdown > gamma + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(30):
        alpha = (low + high) / 2
        if sum(alpha**power for power in range(gamma + 1)) < slowdown:
            low = alpha
        else:
            high = alpha
    return high


def _costs(
    run: RoundStatistics,
    before: RoundStatistics,
    others: Sequence[RoundStatistics],
    pass_costs: Sequence[tuple[float, float]],
    at_once: bool,
) -> CostModel:
    """Fit the costs of rounds to medians. What drafting took in rounds `before` is taken as if the
    machine had been as busy as in the run: in proportion to the passes."""
    passes = medians_by_size([run.passes, *(() if pass_costs else (o.passes for o in others))])
    verify = verify_through(passes, Curve(tuple(pass_costs)) if pass_costs else None)
    drafting = {levels: [(1.0, seconds)] for levels, seconds in run.drafting.items()}
    for (levels, nodes), paces in before.paces.items():
        scale = 1.0 if nodes == UNTIMED else verify(nodes)
        drafting.setdefault(levels, []).append((scale, paces))
    made = [
        (levels, median_of(parts), sum(len(values) for _, values in parts))
        for levels, parts in drafting.items()
    ]
    line = line_through(made or [(1, 0.0, 1)], proportional=not at_once)
    return CostModel(line, verify, median_of([(1.0, run.overheads)]))


def _seconds(
    run: RoundStatistics, before: RoundStatistics, costs: CostModel, asked: Counter[int], most: int
) -> list[float]:
    """Estimate the seconds of a round with each gamma g, by index, from the drafts with the least
    gamma from g on that there are."""
    often = [g for g, count in asked.items() if count >= MIN_ROUNDS] or [*asked]
    expected = []
    for g in range(most + 1):
        gamma = min((each for each in often if each >= g), default=max(often))
        trees = before.trees[gamma].at(gamma, g) + run.trees[gamma].at(gamma, g)
        taken = (
            count * costs.seconds(levels, nodes, drafting=levels > 0)
            for (levels, nodes), count in trees.items()
        )
        expected.append(sum(taken) / asked[gamma])
    return expected
