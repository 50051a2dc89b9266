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

from dataclasses import dataclass

from decoding.round import Round

MOST = 16  # levels
MEMORY = 0.98  # what a round still counts when the next one is over
DOUBT = 1.0  # rounds' worth of belief that a position does as well as the one before it
HOPE = 0.6  # of position 1, before there is anything to go by
AHEAD = 2  # levels beyond the deepest one that was tested lately: no further on mere hope
PROBE = 16  # every so many rounds another gamma is tried: costs are seen by comparing
RETRY = 64  # rounds without drafts; the last two have one: what made them not pay may be over
HICCUP = 3.0  # times what was expected; what took longer counts as that


@dataclass(slots=True)
class RunningLine:
    """Least squares y = a + b x of points that count less the older they are, a and b at least 0.

    Until the points spread in x, b leans on `share` of the steepest slope: 1 has y proportional to
    x, 0 has it constant.
    """

    share: float
    weight: float = 0.0
    x: float = 0.0  # means
    y: float = 0.0
    xx: float = 0.0  # sums of squares and products about them
    xy: float = 0.0

    def add(self, x: float, y: float) -> None:
        if self.weight >= 2:
            y = min(y, HICCUP * self.at(x))
        self.fade()
        self.weight += 1
        off = x - self.x
        self.x += off / self.weight
        self.y += (y - self.y) / self.weight
        self.xx += off * (x - self.x)
        self.xy += off * (y - self.y)

    def fade(self) -> None:
        self.weight *= MEMORY
        self.xx *= MEMORY
        self.xy *= MEMORY

    @property
    def slope(self) -> float:
        steepest = self.y / self.x if self.x else 0.0
        slope = (self.xy + self.share * steepest) / (self.xx + 1)
        return min(max(slope, 0.0), steepest)

    def at(self, x: float) -> float:
        return self.y + self.slope * (x - self.x)


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
    before it; so it is tried again. Where a drafter ends its tree by itself, or has nothing to
    propose, more gamma would not have given more, and that is how it is counted.
    """

    def __init__(self, first: int) -> None:
        """`first`: to begin with, the drafter's own default."""
        self._opening = [first, 1, min(2 * first, MOST)]
        self._levels = [Level() for _ in range(MOST)]
        self._draft = RunningLine(share=1.0)  # seconds by levels
        self._verify = RunningLine(share=0.0)  # seconds by nodes
        self._rest = RunningLine(share=0.0)
        self._rounds = 0
        self._drafted = True  # in the last round
        self._rested = 0  # rounds in which drafting was not believed to pay
        self._up = False

    def choose(self) -> int:
        """From 0 (do not draft) to `MOST`."""
        if self._opening:
            return self._opening.pop(0)
        speeds = self.speeds()
        best = max(range(len(speeds)), key=speeds.__getitem__)
        if best == 0:
            self._rested += 1
            return int(self._rested % RETRY >= RETRY - 2)
        self._rested = 0
        if self._rounds % PROBE == 0:
            self._up = not self._up
            return min(best + AHEAD, MOST) if self._up else best // 2
        return best

    def observe(self, record: Round) -> None:
        """Take the round into account that was made with what `choose` said, or with less."""
        self._rounds += 1
        sizes = record.level_sizes
        drafted = len(sizes) - 1
        # A draft model that sat out some rounds has to catch up: that says nothing about the next.
        if drafted and self._drafted:
            self._draft.add(drafted, record.draft_seconds)
        else:
            self._draft.fade()
        self._drafted = drafted > 0
        self._verify.add(len(record.tokens), record.verify_seconds)
        self._rest.add(1, record.total_seconds - record.draft_seconds - record.verify_seconds)
        accepted, cut = len(record.accepted), record.cut
        for place, level in enumerate(self._levels, 1):
            level.fade()
            if place > record.gamma:
                continue
            there = place <= drafted
            level.asked += 1
            level.there += there
            level.nodes += sizes[place] if there else 0
            if place <= accepted or (place == accepted + 1 and not cut):
                level.reached += 1
                level.went_on += place <= accepted

    def speeds(self) -> list[float]:
        """Expected tokens per second of each gamma from 0 on, as far as there is any evidence."""
        tau, nodes, levels = 1.0, 1.0, 0.0
        path, goes_on = 1.0, HOPE
        there, size = 1.0, 1.0
        tested = (i for i, level in enumerate(self._levels, 1) if level.reached > 0.5)
        reach = max(tested, default=0)
        rest = self._rest.y
        start = self._draft.at(0)  # of every round that drafts
        found = [1 / (self._verify.at(1) + rest)]
        for place, level in enumerate(self._levels[: reach + AHEAD], 1):
            goes_on = (level.went_on + DOUBT * goes_on) / (level.reached + DOUBT)
            there = (level.there + DOUBT * there) / (level.asked + DOUBT)
            size = (level.nodes + DOUBT * size) / (level.asked + DOUBT)
            if place == 1:
                start *= there
            path *= goes_on
            tau, nodes, levels = tau + path, nodes + size, levels + there
            draft = start + self._draft.slope * levels
            found.append(tau / (draft + self._verify.at(nodes) + rest))
        return found
