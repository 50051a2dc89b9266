"""Statistics of past rounds for the forecast: counts, moments, sorted samples. Apart from the
samples, memory grows with distinct tree sizes, not with rounds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from math import sqrt
from operator import mul
from typing import Self

from decoding.cost.curve import Median
from decoding.cost.model import overhead_seconds
from decoding.round import Round

Ends = Counter[tuple[int, int]]  # rounds by the number of accepted tokens and their gamma
Samples = dict[int, list[float]]  # in order, by size
UNTIMED = 0  # in place of nodes
Scaled = tuple[float, Sequence[float]]  # a factor, and what it is to be multiplied with


@dataclass(slots=True)
class Moments:
    """The mean of so many values and the sum of their squared distances from it, added up as
    Welford did (1962): nothing cancels out."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        off = value - self.mean
        self.mean += off / self.count
        self.squares += off * (value - self.mean)

    def include(self, other: Moments, factor: float = 1.0) -> None:
        """Add another's values, each multiplied by `factor`."""
        count = self.count + other.count
        if count:
            off = factor * other.mean - self.mean
            self.squares += factor**2 * other.squares + off**2 * self.count * other.count / count
            self.mean += off * other.count / count
            self.count = count

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        few = self.count < 2
        return 0.0 if few else sqrt(self.squares / (self.count - 1) / self.count)


@dataclass(slots=True)
class Trees:
    """The trees of the rounds with one gamma. `truncated[g]`: the trees by levels and nodes if no
    more than g levels are drafted, g up to gamma. `full`: those with gamma levels, by their nodes
    and those of the last level; only gamma limited them."""

    count: int = 0
    truncated: defaultdict[int, Counter[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    full: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, gamma: int, sizes: Sequence[int]) -> None:
        """Add a tree with these level `sizes`, the root's included."""
        self.count += 1
        nodes = [*accumulate(sizes)]
        depth = len(nodes) - 1
        for g in range(gamma + 1):
            levels = min(g, depth)
            self.truncated[g][levels, nodes[levels]] += 1
        if depth == gamma:
            self.full[nodes[-1], sizes[-1]] += 1

    def at(self, gamma: int, g: int) -> Counter[tuple[int, int]]:
        """Return the trees by levels and nodes, made with `gamma`, truncated or continued to
        `g`."""
        if g <= gamma:
            return self.truncated[g]
        found = Counter({tree: n for tree, n in self.truncated[gamma].items() if tree[0] < gamma})
        for (nodes, last), count in self.full.items():
            found[g, nodes + last * (g - gamma)] += count
        return found


@dataclass(slots=True)
class RoundStatistics:
    """What is counted and timed in the rounds of some answers, added in their order. `drafting` is
    that of rounds with a draft and a gamma above 0."""

    rounds: int = 0
    emitted: int = 0
    ends: Ends = field(default_factory=Counter)
    # of these, the rounds after one whose draft was accepted in full, gamma tokens
    ends_after_full: Ends = field(default_factory=Counter)
    was_full: bool = False  # whether the last round's draft was accepted in full
    trees: defaultdict[int, Trees] = field(default_factory=lambda: defaultdict(Trees))
    # by the levels and nodes of a tree, on which a modelled time depends
    took: defaultdict[tuple[int, int], Moments] = field(
        default_factory=lambda: defaultdict(Moments)
    )
    plain: Moments = field(default_factory=Moments)  # without a draft, and what asking for it took
    passes: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    drafting: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    # drafting over the target's pass, by levels and nodes; or in seconds, where a pass took none
    paces: defaultdict[tuple[int, int], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    overheads: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, rounds: Iterable[Round]) -> Self:
        found = cls()
        for record in rounds:
            found.add(record)
        return found

    def add(self, record: Round) -> None:
        nodes, depth = len(record.tokens), record.shape.depth
        self.rounds += 1
        self.emitted += len(record.emitted)
        end = len(record.accepted), record.gamma
        self.ends[end] += 1
        if self.was_full and record.index > 0:
            self.ends_after_full[end] += 1
        self.was_full = 0 < record.gamma == len(record.accepted)
        self.took[depth, nodes].add(record.total_seconds)
        insort(self.passes[nodes], record.verify_seconds)
        insort(self.overheads, overhead_seconds(record))
        if not record.drafted:
            self.plain.add(record.total_seconds - record.draft_seconds)
        if record.gamma > 0:
            self.trees[record.gamma].add(record.gamma, record.shape.level_sizes)
        if record.gamma > 0 and record.drafted:
            insort(self.drafting[depth], record.draft_seconds)
            if record.verify_seconds:
                insort(self.paces[depth, nodes], record.draft_seconds / record.verify_seconds)
            else:
                insort(self.paces[depth, UNTIMED], record.draft_seconds)

    @property
    def asked(self) -> Counter[int]:
        """The number of rounds with each gamma above 0."""
        return Counter({gamma: trees.count for gamma, trees in self.trees.items()})


def medians_by_size(samples: Sequence[Samples]) -> list[Median]:
    """Return the medians of all samples together, by size."""
    sizes = dict.fromkeys(size for each in samples for size in each)
    found: list[Median] = []
    for size in sizes:
        parts = [(1.0, each[size]) for each in samples if size in each]
        found.append((size, median_of(parts), sum(len(part) for _, part in parts)))
    return found


def median_of(parts: Sequence[Scaled]) -> float:
    """Find the median of all values together, by bisection: sorting would take as long as there are
    values. There must be one."""
    count = sum(len(values) for _, values in parts)
    return (_at_rank(parts, (count - 1) // 2) + _at_rank(parts, count // 2)) / 2


def _at_rank(parts: Sequence[Scaled], rank: int) -> float:
    """The value before which there are `rank` others in order."""
    parts = [part for part in parts if part[1]]
    if len(parts) == 1:
        factor, values = parts[0]
        return factor * values[rank]

    def up_to(factor: float, each: float) -> int:
        """The number of values that are not above this one."""
        value = factor * each
        return sum(bisect_right(them, value, key=partial(mul, by)) for by, them in parts)

    found = []
    for factor, values in parts:
        first = bisect_left(values, rank + 1, key=partial(up_to, factor))
        found += [factor * values[first]] if first < len(values) else []
    return min(found)
