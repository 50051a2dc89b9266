"""The tree size with the highest speed: static for Medusa's heads, round by round for EAGLE."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from decoding.cost.curve import Line
from decoding.cost.model import Cost, CostModel
from decoding.cost.rate import Rate
from decoding.trees.static import Choices

MAX_NODES = 64  # of a tree whose size is chosen by its expected yield, root included


def optimal_tree(
    accuracy: Sequence[Sequence[float]],
    costs: CostModel,
    kept: Choices = (),
    tolerance: float = 1.0,
) -> Choices:
    """Build the tree that yields the most tokens per unit of time for these heads on this machine.

    `accuracy[h][r]`: how often head h's guess of rank r is right. A node's value is the product of
    the accuracies along its path, as if heads erred independently. Nodes are added by value, and
    the size with the best tau / seconds is taken. This is done for the first head alone, the first
    two, and so on, because each head costs time.

    A tree counts as fast if the fastest one is at most `tolerance` times faster. If `kept` (an
    earlier choice, with the path of every node) is fast, it is returned; else the deepest fast tree
    is: gamma can shorten it for hard text, but nothing lengthens it for easy text.
    """
    alone = 1.0 / costs.seconds(0, 1, drafting=0)
    grown = [_fastest(accuracy[:heads], costs) for heads in range(1, len(accuracy) + 1)]
    enough = max(alone, *(speed for speed, _ in grown)) / tolerance
    if kept and _speed(kept, accuracy, costs) >= enough:
        return kept
    return next((tree for speed, tree in reversed(grown) if speed >= enough), ())


def _speed(tree: Choices, accuracy: Sequence[Sequence[float]], costs: CostModel) -> float:
    """Tokens per unit of time."""
    worth = sum(math.prod(accuracy[h][rank] for h, rank in enumerate(path)) for path in tree)
    return (1.0 + worth) / costs.seconds(max(map(len, tree)), len(tree) + 1)


def _fastest(accuracy: Sequence[Sequence[float]], costs: CostModel) -> tuple[float, Choices]:
    """Tokens per unit of time, and the tree, which uses each of these heads."""
    heap: list[tuple[float, tuple[int, ...]]] = []

    def offer(value: float, path: tuple[int, ...]) -> None:
        head = len(path) - 1
        if head < len(accuracy) and path[-1] < len(accuracy[head]):
            heapq.heappush(heap, (-value * accuracy[head][path[-1]], path))

    offer(1.0, (0,))
    value_of: dict[tuple[int, ...], float] = {(): 1.0}
    nodes: list[tuple[int, ...]] = []
    tau, best, best_size, deep = 1.0, 0.0, 0, False
    while heap and len(nodes) + 1 < MAX_NODES:
        negative, path = heapq.heappop(heap)
        value = value_of[path] = -negative
        nodes.append(path)
        tau += value
        deep = deep or len(path) == len(accuracy)
        speed = tau / costs.seconds(len(accuracy), len(nodes) + 1)
        if deep and speed > best:
            best, best_size = speed, len(nodes)
        offer(value, (*path, 0))
        offer(value_of[path[:-1]], (*path[:-1], path[-1] + 1))
    return best, tuple(sorted(nodes[:best_size]))


@dataclass(slots=True)
class TreeSizer:
    """Chooses the size of each round's tree by its expected tokens and the cost of passes.

    A round with a tree of n nodes gives 1 + the sum of its nodes' probabilities in tokens and takes
    d + v(n) seconds (Sequoia, 2402.12374, offline; here online, from the draft's own scores). The
    draft's probabilities are calibrated by the recent ratio of accepted to expected drafts.
    """

    verify_cost: Cost
    draft_seconds: float = 0.0  # running mean of a draft, and below of a level
    level_seconds: float = 0.0
    _accepted: Rate = field(default_factory=Rate)  # accepted drafts over expected ones
    # How often a draft below this level was accepted, over the probability of its nodes that were
    # run: drafters are the less calibrated the further they guess.
    _reached: list[Rate] = field(default_factory=list)
    _hoped: list[float] = field(default_factory=list)  # these probabilities in the last tree
    _speed: float = 0.0  # expected tokens per second of the last tree
    _expected: float = 0.0  # accepted drafts of the last tree, uncalibrated

    def rows_that_pay(self, level: int, likely: list[float]) -> int:
        """Choose how many nodes of a level, from the likeliest down, to run for another level
        below; 0 if it is not worth its time. `likely`: their probabilities, the highest first."""
        # What is below a node is no likelier than it. It must be worth the time to verify it and
        # that of its parent's row in a level, which is to the level as a node is to a pass.
        node = (self.verify_cost(16) - self.verify_cost(8)) / 8
        row = node * self.level_seconds / self.verify_cost(1)
        least = self._speed * (node + row) / self._calibration
        rows = max(sum(probability > least for probability in likely), 1)
        hoped = sum(likely[:rows])
        reached = self._calibration
        while len(self._reached) <= level:
            self._reached.append(Rate())
        for rate in self._reached[: level + 1]:
            reached = rate.estimate(reached)
        pays = reached * hoped > self._speed * (self.level_seconds + node)
        self._hoped = [*self._hoped[:level], hoped] if pays else self._hoped[:level]
        return rows if pays else 0

    def best_size(self, likely: list[float]) -> int:
        """Choose how many of the nodes to verify, given their probabilities from the highest
        down."""
        costs = CostModel(Line(self.draft_seconds, 0.0), self.verify_cost)
        best, size, tokens = 0.0, 1, 1.0
        calibration = self._calibration
        for n, probability in enumerate(likely, 1):
            tokens += calibration * probability
            speed = tokens / costs.seconds(0, n + 1)
            if speed > best:
                best, size = speed, n
        self._speed = best
        self._expected = sum(likely[:size])
        return size

    def drafted(self, seconds: float, level_seconds: float) -> None:
        """Record the time of a draft, and that of each of its levels."""
        part = 0.1 if self.draft_seconds else 1.0
        self.draft_seconds += part * (seconds - self.draft_seconds)
        self.level_seconds += part * (level_seconds - self.level_seconds)

    def accepted(self, count: int) -> None:
        """Record how many drafts of the last tree were accepted."""
        if not self._expected:
            return
        self._accepted.decay()
        self._accepted.add(count, self._expected)
        self._expected = 0.0
        for rate in self._reached:
            rate.decay()
        for level, hoped in enumerate(self._hoped):
            self._reached[level].add(count > level + 1, hoped)
        self._hoped = []

    @property
    def _calibration(self) -> float:
        return min(max(self._accepted.estimate(1.0), 0.2), 1.5)
