"""The levels of EAGLE's tree as CUDA graphs: whatever their number, one launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from decoding.drafters.eagle_forward import EagleForward
from decoding.drafters.eagle_tree import TreePlan
from decoding.model.cache import TreeCache
from decoding.model.graphs import Recordable, Recorder, Work
from decoding.trees.draft import CandidatePool

# A recording takes as long as about a dozen runs. So after the first, only a tree that comes up as
# often as this is recorded: the last rounds of an answer have other depths.
OFTEN = 8

# Runs a level's nodes: the level, their tokens [n], the hidden states before them [n, H], and which
# of the rows drafted so far (their own are the last) each of them sees, bool [n, m]. Returns the
# next hidden states [n, H].
RunLevel = Callable[[int, Tensor, Tensor, Tensor], Tensor]


class LevelBuffers:
    """The inputs of a tree's levels, at fixed addresses."""

    def __init__(self, hidden: Tensor, gamma: int, forward: EagleForward, cache: TreeCache) -> None:
        self.hidden = torch.empty_like(hidden)
        self._forward, self._cache, self._capacity = forward, cache, cache.capacity
        self._table = forward.rope.table_up_to(cache.capacity)  # a graph has its address
        self._positions, self._rows = (
            torch.empty(size, dtype=torch.long, device=hidden.device)
            for size in (gamma, cache.capacity)
        )
        self._prefix = hidden.new_empty(cache.capacity)  # of an additive mask
        self._lowest = torch.finfo(hidden.dtype).min

    def fill(self, hidden: Tensor) -> None:
        """Set the inputs for a tree after the cache's rows."""
        first = self._cache.length
        self.hidden.copy_(hidden)
        for numbers in (self._positions, self._rows):
            torch.arange(first, first + len(numbers), out=numbers)
        self._prefix.fill_(self._lowest)
        self._prefix[:first].zero_()

    def run(self, level: int, tokens: Tensor, hidden: Tensor, tree_mask: Tensor) -> Tensor:
        """Run a level, as a `RunLevel` whose shapes do not depend on the number of rows before the
        tree."""
        nodes, drafted = tree_mask.shape
        rows = self._rows[:drafted]
        own = self._prefix.new_zeros(nodes, drafted).masked_fill_(~tree_mask, self._lowest)
        mask = self._prefix.expand(nodes, -1).index_copy(1, rows, own)[None, None]
        position = self._positions[level : level + 1]
        written = self._cache.rows_at(rows[drafted - nodes :])
        return self._forward.run(tokens, hidden, position, mask, written, self._capacity)


@dataclass(slots=True, eq=False)
class RecordedLevels:
    buffers: LevelBuffers
    pool: CandidatePool | None = None
    replay: Work | None = None


@dataclass(slots=True, eq=False)
class PlannedLevels:
    """The levels of one plan at one gamma. `rows`: how many of the cache's they write. `recorded`
    is None before they are recorded (`tried`), and where a graph does not pay."""

    rows: int
    uses: int = 0
    tried: bool = False
    recorded: RecordedLevels | None = None


class LevelGraphs:
    """Graphs by plan and gamma, for the cache's present capacity. A plan's graphs are freed with
    it, so the caller must keep the plans that come up again."""

    def __init__(self, record: Recorder, forward: EagleForward, cache: TreeCache) -> None:
        self._recordable = Recordable(record)
        self._forward, self._cache, self._capacity = forward, cache, cache.capacity
        self._planned: WeakKeyDictionary[TreePlan, dict[int, PlannedLevels]] = WeakKeyDictionary()
        self._uses = 0

    def pool(
        self,
        plan: TreePlan,
        gamma: int,
        hidden: Tensor,
        grow: Callable[[Tensor, RunLevel], CandidatePool],
        eager: Callable[[], CandidatePool],
    ) -> CandidatePool:
        """Return what `grow` returns for `hidden` [1, H]. `eager` does the same without a graph:
        also the first time, which tells how many rows there will be."""
        of_plan = self._planned.setdefault(plan, {})
        levels = of_plan.get(gamma)
        if levels is None:
            pool = eager()
            # each expanded node but the root has a row
            of_plan[gamma] = PlannedLevels(len(pool.tokens) // pool.width - 1)
            return pool
        self._cache.reserve(self._cache.length + levels.rows)
        if self._cache.capacity != self._capacity:  # the cache was reallocated
            self._capacity = self._cache.capacity
            for known in self._planned.values():
                for each in known.values():
                    each.tried, each.recorded = False, None
        levels.uses += 1
        self._uses += 1
        if not levels.tried:
            if self._uses > 1 and levels.uses < OFTEN:
                return eager()
            levels.tried = True
            levels.recorded = self._recordable.attempt(
                lambda record: self._recording(record, gamma, hidden, grow, eager)
            )
        recorded = levels.recorded
        if recorded is None or recorded.replay is None:
            return eager()
        recorded.buffers.fill(hidden)
        recorded.replay()
        assert recorded.pool is not None
        return recorded.pool.copy()

    def _recording(
        self,
        record: Recorder,
        gamma: int,
        hidden: Tensor,
        grow: Callable[[Tensor, RunLevel], CandidatePool],
        eager: Callable[[], CandidatePool],
    ) -> RecordedLevels | None:
        made = RecordedLevels(LevelBuffers(hidden, gamma, self._forward, self._cache))
        made.buffers.fill(hidden)

        def work() -> None:
            made.pool = grow(made.buffers.hidden, made.buffers.run)

        def plainly() -> None:
            eager()

        made.replay = record(work, plainly)
        return None if made.replay is None else made
