"""What another gamma would give: expected tokens per second, from rounds that were made.

A round whose path was accepted up to a tokens would, with drafts of at most g <= gamma tokens, have
been accepted up to min(a, g): for these g the rounds answer exactly. Beyond, a round that gamma
ended while everything was accepted says only that a is at least gamma; it is censored. So the
chance h(i) that a path goes on at position i is counted over the rounds that came so far and were
allowed to go on (Kaplan and Meier 1958), and after the last position with enough of them it stays
as it was there. A path that ended with the answer, or because the drafter had no more to propose,
would not have gone on with any gamma. Then, with S(j) = h(1) ... h(j), the probability that a path
reaches j,

    tau(g) = 1 + S(1) + ... + S(g)                        tokens in a round, bonus included
    seconds(g) = d(levels) + v(nodes) + r                 as the rounds' own times have it
    tau(g) / seconds(g)                                   tokens per second

With one h = alpha everywhere tau is (1 - alpha^(g+1)) / (1 - alpha): Leviathan et al. 2023
(2211.17192), section 3. For trees S(j) is what the paths of these trees reached: a tree that were
made for g from the start might spend its nodes better (Sequoia, 2402.12374), so there the values
below the present gamma are a little low.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from statistics import fmean, median, stdev

from decoding.cost.acceptance import PRIOR_ACCEPTANCE, Rate
from decoding.cost.curve import Curve, robust_line
from decoding.cost.model import CostModel, fit_verify, rest_seconds
from decoding.round import Round

MIN_LIMIT = 16  # speeds are given up to this gamma at least
MIN_ROUNDS = 8  # that reached a position, to say how often it is accepted


@dataclass(frozen=True, slots=True)
class Forecast:
    """`speeds[g]` in tokens per second, g from 0 (no drafts) on. `break_even` is the acceptance
    rate alpha, the same at every position, from which drafting as now (`gamma`) is faster than not
    at all; None where even 1 would not do. Above gamma `seen` it is a guess: too few rounds were
    asked for drafts that long. `errors[g]` is the standard error of `speeds[g]` that comes from the
    acceptance, for g up to `seen`; times are taken as they are."""

    speeds: tuple[float, ...]
    gamma: int
    break_even: float | None
    seen: int
    errors: tuple[float, ...] = ()

    @property
    def best(self) -> int:
        """The gamma with the highest speed; 0: drafting does not pay."""
        return max(range(len(self.speeds)), key=self.speeds.__getitem__)

    @property
    def best_seen(self) -> int:
        """The same among those that are no guess."""
        return max(range(min(self.seen + 1, len(self.speeds))), key=self.speeds.__getitem__)

    @property
    def now(self) -> float:
        return self.speeds[self.gamma]


def forecast(
    rounds: Sequence[Round],
    gamma: int,
    *,
    others: Sequence[Round] = (),
    pass_costs: Sequence[tuple[float, float]] = (),
    at_once: bool = False,
    limit: int | None = None,
) -> Forecast | None:
    """From a lane's `rounds`, for each gamma up to the present one and those that they had, at
    least up to `MIN_LIMIT`; or up to `limit`, where the drafter can go no further. None while too
    few rounds drafted.

    Passes of other sizes cost what they cost in `others` (rounds of other lanes on the same target)
    and, scaled to these, what was measured (`pass_costs`: nodes, seconds); where neither is known,
    the same. `at_once`: the drafter makes all its levels in one go (Medusa), so that a shallower
    draft takes as long.
    """
    asked = [record for record in rounds if record.gamma > 0]
    gammas = sorted((record.gamma for record in asked), reverse=True)
    if len(gammas) < MIN_ROUNDS:
        return None
    most = max(MIN_LIMIT, gamma, gammas[0]) if limit is None else limit
    seconds = _seconds(asked, rounds, others, pass_costs, at_once, most)
    tau, speeds = 1.0, [1 / seconds[0]]
    for depth, alive in enumerate(survival(asked, most), 1):
        tau += alive
        speeds.append(tau / seconds[depth])
    now = min(gamma, most)
    even = break_even(seconds[now] / seconds[0], now)
    seen = gammas[MIN_ROUNDS - 1]
    errors = tuple(standard_error(asked, g) / seconds[g] for g in range(min(seen, most) + 1))
    return Forecast(tuple(speeds), now, even, seen, errors)


def standard_error(asked: Sequence[Round], gamma: int) -> float:
    """Of tau(gamma): of the mean of min(a, gamma) over the rounds that were asked for as much."""
    kept = [min(len(record.accepted), gamma) for record in asked if record.gamma >= gamma]
    return stdev(kept) / sqrt(len(kept)) if len(kept) > 1 else 0.0


def survival(asked: Sequence[Round], most: int) -> list[float]:
    """S(j), j from 1 to `most`, of at least `MIN_ROUNDS` rounds that were asked for a draft."""
    rates = [Rate() for _ in range(most)]
    ends = Counter((len(record.accepted), record.gamma) for record in asked)
    for (accepted, gamma), count in ends.items():
        for position in range(1, min(accepted + 1, gamma, most) + 1):
            rates[position - 1].add(count * (position <= accepted), count)
    alive, goes_on, found = 1.0, 0.0, []
    for rate in rates:
        if rate.trials >= MIN_ROUNDS:
            alive *= rate.successes / rate.trials
            # for later positions: nothing is certain, however often it was seen
            goes_on = rate.estimate(PRIOR_ACCEPTANCE)
        else:
            alive *= goes_on
        found.append(alive)
    return found


def break_even(slowdown: float, gamma: int) -> float | None:
    """The alpha at which 1 + alpha + ... + alpha^gamma tokens make up for a round that takes
    `slowdown` times as long as one without drafts. None: there is none up to 1."""
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


def _seconds(
    asked: Sequence[Round],
    rounds: Sequence[Round],
    others: Sequence[Round],
    pass_costs: Sequence[tuple[float, float]],
    at_once: bool,
    most: int,
) -> list[float]:
    """[g]: expected seconds of a round with gamma g. Parts are medians; interruptions are
    spread over all, so that together they take as long as the rounds did. Of gamma 0 there may be
    rounds, of the autoregressive lane above all: then it is what these took, their own
    interruptions included, and agrees with the speed that is shown for them."""
    passes = [(len(r.tokens), r.verify_seconds) for r in (*rounds, *others)]
    verify = fit_verify(passes, Curve(tuple(pass_costs)) if pass_costs else None)
    made = [(r.shape.depth, r.draft_seconds) for r in asked if r.drafted]
    line = robust_line(made or [(1, 0.0)], proportional=not at_once)
    costs = CostModel(line, verify, median(map(rest_seconds, asked)))
    modelled, totals = 0.0, [0.0] * (most + 1)
    shapes = Counter((record.shape.level_sizes, record.gamma) for record in asked)
    for (sizes, gamma), count in shapes.items():
        levels, nodes = len(sizes) - 1, list(accumulate(sizes))
        modelled += count * costs.seconds(levels, nodes[-1], drafting=levels > 0)
        if levels == gamma:  # only gamma kept it from going deeper
            nodes += [nodes[-1] + sizes[-1] * more for more in range(1, most - levels + 1)]
        for g in range(most + 1):
            levels = min(g, len(nodes) - 1)
            totals[g] += count * costs.seconds(levels, nodes[levels], drafting=levels > 0)
    scale = sum(record.total_seconds for record in asked) / modelled
    plain = [r.total_seconds - r.draft_seconds for r in (*rounds, *others) if not r.drafted]
    known = len(plain) >= MIN_ROUNDS
    alone = fmean(plain) if known else scale * (verify(1) + costs.rest)
    return [alone, *(scale * total / len(asked) for total in totals[1:])]
