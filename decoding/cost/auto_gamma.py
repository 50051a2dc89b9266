"""`gamma` "auto": before each round the draft length that is expected to give the most tokens per
second, from what the rounds before it showed.

A round with drafts of at most g tokens is expected to emit, where h(i) is the probability that
position i of the path is accepted given that those before it were,

    tau(g) = 1 + h(1) + h(1) h(2) + ... + h(1) ... h(g)

tokens (Leviathan et al. 2023, 2211.17192, section 3, has one alpha for all positions), and to take

    d(levels drafted) + v(nodes verified) + r

seconds. The g with the largest quotient is taken. It depends on rounds that are over, never on the
tokens of the one to come, so the output stays exact; but on their times as well, so at a
temperature above 0 the same seed need not draw the same text again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from decoding.cost.curve import robust_line
from decoding.round import Round

Cost = Callable[[float], float]

MOST = 16  # levels
OPENING = 8  # rounds as the drafter has them by default, to see what they cost
PLAN = 8  # rounds until it is worked out anew: that takes a good part of a millisecond
MEMORY = 0.99  # what a round's acceptance still counts when the next one is over
WINDOW = 64  # rounds whose times are remembered; of these the medians
DOUBT = 2.0  # rounds' worth of belief that a position does as well as the one before it
HOPE = 0.6  # of position 1, before there is anything to go by
AHEAD = 2  # levels beyond the deepest one that was tested lately: no further on mere hope
PROBE = 10  # every so many rounds another gamma is tried: costs are seen by comparing
REST = 48  # rounds without drafts where these do not pay; then
RETRY = 4  # rounds with: what made them not pay may be over


@dataclass(slots=True)
class Level:
    """Fading sums of one depth of the drafts: over the rounds whose gamma reached it, whether it
    was there and with how many nodes, and over those whose path came so far, whether it went on."""

    asked: float = 0.0
    there: float = 0.0
    nodes: float = 0.0
    reached: float = 0.0
    went_on: float = 0.0

    def fade(self) -> None:
        self.asked *= MEMORY
        self.there *= MEMORY
        self.nodes *= MEMORY
        self.reached *= MEMORY
        self.went_on *= MEMORY


class AutoGamma:
    """Chooses the gamma of each round: `choose` before it, `observe` after it.

    A position that is not tested any more is forgotten, and then believed to do as well as the one
    before it; so it is tried again. Where a drafter ends its tree by itself or has nothing to
    propose, and where the answer ends within the path, more gamma would not have given more, and
    that is how it is counted.
    """

    def __init__(self, first: int, verify_cost: Callable[[], Cost | None] = lambda: None) -> None:
        """`first`: to begin with, the drafter's own default. `verify_cost`, asked behind the first
        round: the seconds of a pass over n nodes, if they were measured; what they take now may be
        a multiple of that."""
        self._first = min(first, MOST)
        self._ask_cost = verify_cost
        self._cost: Cost | None = None
        self._levels = [Level() for _ in range(MOST)]
        self._drafts: deque[tuple[int, float]] = deque(maxlen=WINDOW)  # levels, seconds
        self._passes: deque[tuple[int, float]] = deque(maxlen=WINDOW)  # nodes, seconds
        self._ratios: deque[float] = deque(maxlen=WINDOW)  # of these seconds to what was measured
        self._rests: deque[float] = deque(maxlen=WINDOW)
        self._rounds = 0
        self._plan = (0, 0, 0)  # the round in which it is due again; the best gamma, the most
        self._drafted = True  # in the last round
        self._rested = 0  # rounds for which drafting was not believed to pay
        self._up = False

    def choose(self) -> int:
        """From 0 (do not draft) to `MOST`."""
        if self._rounds < OPENING:
            return self._first
        due, best, most = self._plan
        if self._rounds >= due:
            speeds = self.speeds()
            best, most = max(range(len(speeds)), key=speeds.__getitem__), len(speeds) - 1
            self._plan = self._rounds + PLAN, best, most
        if best == 0 or self._rested > REST:
            self._rested = (self._rested + 1) % (REST + RETRY)
            if self._rested == REST + 1:
                self._drafts.clear()  # how long drafts took before does not matter any more
            return min(2, self._first) if self._rested > REST else 0
        self._rested = 0
        if self._rounds % PROBE == 0:
            self._up = not self._up
            return min(best + AHEAD, most) if self._up else best // 2
        return best

    def observe(self, record: Round) -> None:
        """Take the round into account that was made with what `choose` said, or with less. The
        first time `verify_cost` is asked, which may measure: not within a round's time."""
        if not self._rounds:
            self._cost = self._ask_cost()
        self._rounds += 1
        sizes = record.shape.level_sizes
        drafted = len(sizes) - 1
        # A draft model that sat out some rounds has to catch up: that says nothing about the next.
        if drafted and self._drafted:
            self._drafts.append((drafted, record.draft_seconds))
        self._drafted = drafted > 0
        self._passes.append((len(record.tokens), record.verify_seconds))
        if self._cost is not None:
            self._ratios.append(record.verify_seconds / self._cost(len(record.tokens)))
        self._rests.append(record.total_seconds - record.draft_seconds - record.verify_seconds)
        accepted = len(record.accepted)
        for place, level in enumerate(self._levels, 1):
            level.fade()
            if place > record.gamma:
                continue
            there = place <= drafted
            level.asked += 1
            level.there += there
            level.nodes += sizes[place] if there else 0
            if place <= accepted + 1:
                level.reached += 1
                level.went_on += place <= accepted

    def speeds(self) -> list[float]:
        """Expected tokens per second of each gamma from 0 on, as far as there is any evidence."""
        draft = robust_line(self._drafts or [(1, 0.0)], proportional=True)
        verify, rest = self._verify(), median(self._rests)
        tested = (i for i, level in enumerate(self._levels, 1) if level.reached > 0.5)
        reach = max(tested, default=0)
        tau, nodes, levels, drafts = 1.0, 1.0, 0.0, 0.0
        path, goes_on = 1.0, HOPE
        there, size = 1.0, 1.0
        found = [1 / (verify(1) + rest)]
        for level in self._levels[: reach + AHEAD]:
            goes_on = (level.went_on + DOUBT * goes_on) / (level.reached + DOUBT)
            there = (level.there + DOUBT * there) / (level.asked + DOUBT)
            size = (level.nodes + DOUBT * size) / (level.asked + DOUBT)
            drafts = drafts or there  # of the rounds, how many draft at all
            path *= goes_on
            tau, nodes, levels = tau + path, nodes + size, levels + there
            seconds = drafts * draft.start + levels * draft.slope + verify(nodes) + rest
            found.append(tau / seconds)
        return found

    def _verify(self) -> Cost:
        """Seconds of a pass by its nodes."""
        cost = self._cost
        if cost is None:
            return robust_line(self._passes)
        ratio = median(self._ratios)
        return lambda nodes: ratio * cost(nodes)
