"""How large a tree pays: a static one for Medusa's heads, and EAGLE's round by round."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from decoding.cost.acceptance import Rate
from decoding.cost.curve import Line
from decoding.cost.model import Cost, CostModel
from decoding.trees.static import Choices


def optimal_tree(
    accuracy: Sequence[Sequence[float]],
    costs: CostModel,
    max_nodes: int = 64,
    kept: Choices = (),
    alike: float = 1.0,
) -> Choices:
    """The tree that yields the most tokens per unit of time for these heads on this machine.

    `accuracy[h][r]`: how often head h's guess of rank r is right. A node is worth the product of
    the accuracies along its path (heads err independently: an approximation); nodes are added from
    the most valuable down, and the size with the best tau / seconds is taken. So it is done with
    one head, two heads, and so on: each of them has to be asked.

    A tree counts as fast if the fastest one is at most `alike` times faster. If `kept` (an earlier
    choice, with the path of every node) is fast, it is returned; else the deepest fast tree is:
    gamma can shorten it for hard text, but nothing lengthens it for easy text.
    """
    alone = 1.0 / costs.seconds(0, 1, drafting=0)
    grown = [_fastest(accuracy[:heads], costs, max_nodes) for heads in range(1, len(accuracy) + 1)]
    enough = max(alone, *(speed for speed, _ in grown)) / alike
    if kept and _speed(kept, accuracy, costs) >= enough:
        return kept
    return next((tree for speed, tree in reversed(grown) if speed >= enough), ())


def _speed(tree: Choices, accuracy: Sequence[Sequence[float]], costs: CostModel) -> float:
    """Tokens per unit of time."""
    worth = sum(math.prod(accuracy[h][rank] for h, rank in enumerate(path)) for path in tree)
    return (1.0 + worth) / costs.seconds(max(map(len, tree)), len(tree) + 1)


def _fastest(
    accuracy: Sequence[Sequence[float]], costs: CostModel, max_nodes: int
) -> tuple[float, Choices]:
    """Tokens per unit of time, and the tree, which has a node of each of these heads."""
    heap: list[tuple[float, tuple[int, ...]]] = []

    def offer(value: float, path: tuple[int, ...]) -> None:
        head = len(path) - 1
        if head < len(accuracy) and path[-1] < len(accuracy[head]):
            heapq.heappush(heap, (-value * accuracy[head][path[-1]], path))

    offer(1.0, (0,))
    parents: dict[tuple[int, ...], float] = {(): 1.0}
    nodes: list[tuple[int, ...]] = []
    tau, best, best_size, deep = 1.0, 0.0, 0, False
    while heap and len(nodes) < max_nodes:
        value, path = heapq.heappop(heap)
        nodes.append(path)
        parents[path] = -value
        tau -= value
        deep = deep or len(path) == len(accuracy)
        speed = tau / costs.seconds(len(accuracy), len(nodes) + 1)
        if deep and speed > best:
            best, best_size = speed, len(nodes)
        offer(-value, (*path, 0))
        offer(parents[path[:-1]], (*path[:-1], path[-1] + 1))
    return best, tuple(sorted(nodes[:best_size]))


@dataclass(slots=True)
class TreeSizer:
    """How large a tree pays, by what it is expected to yield and what passes cost.

    A round with a tree of n nodes gives 1 + the sum of its nodes' probabilities in tokens and takes
    d + v(n) seconds (Sequoia, 2402.12374, offline; here online, from the draft's own scores). The
    draft's probabilities are scaled by how many drafts were accepted for each one expected, lately.
    """

    verify_cost: Cost
    draft_seconds: float = 0.0  # running means, of a draft and of a level of it
    level_seconds: float = 0.0
    _accepted: Rate = field(default_factory=Rate)  # drafts, for each one expected
    _speed: float = 0.0  # tokens per second expected of the last tree
    _of_last: float = 0.0  # drafts expected to be accepted, unscaled

    def another_level_pays(self, likely: float) -> bool:
        """Whether a level below nodes of which the most likely has probability `likely` can pay for
        itself and one more node to verify. What its other nodes add was seen to be about half as
        much again."""
        node = (self.verify_cost(16) - self.verify_cost(8)) / 8
        return 1.5 * likely * self._calibration > self._speed * (self.level_seconds + node)

    def best_size(self, likely: list[float]) -> int:
        """How many nodes to verify, of the most likely ones with these probabilities."""
        costs = CostModel(Line(self.draft_seconds, 0.0), self.verify_cost)
        best, size, tokens = 0.0, 1, 1.0
        for n, probability in enumerate(likely, 1):
            tokens += self._calibration * probability
            speed = tokens / costs.seconds(0, n + 1)
            if speed > best:
                best, size = speed, n
        self._speed = best
        self._of_last = sum(likely[:size])
        return size

    def drafted(self, seconds: float, levels: int) -> None:
        """A draft of `levels` levels took `seconds`."""
        part = 0.1 if self.draft_seconds else 1.0
        self.draft_seconds += part * (seconds - self.draft_seconds)
        self.level_seconds += part * (seconds / levels - self.level_seconds)

    def accepted(self, count: int) -> None:
        """`count` drafts of the last tree were accepted."""
        if not self._of_last:
            return
        self._accepted.fade()
        self._accepted.add(count, self._of_last)
        self._of_last = 0.0

    @property
    def _calibration(self) -> float:
        return min(max(self._accepted.estimate(1.0), 0.2), 1.5)
