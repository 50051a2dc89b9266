"""The cache against a plain list, whatever is done to it in whatever order."""

from __future__ import annotations

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from torch import Tensor

from decoding.model.cache import LayerShape, TreeCache

LAYERS = (LayerShape(2, 4, 4), LayerShape(1, 3, 5))  # layers may differ, keys and values too


def new_cache(capacity: int = 1) -> TreeCache:
    return TreeCache(LAYERS, torch.float32, [torch.device("cpu")] * len(LAYERS), capacity)


def rows(layer: int, side: int, numbers: list[int]) -> Tensor:
    """Rows that carry their own number: [1, heads, n, dim]."""
    shape = LAYERS[layer]
    dim = (shape.key_dim, shape.value_dim)[side]
    column = torch.tensor(numbers, dtype=torch.float32)[:, None]
    heads = torch.arange(shape.kv_heads, dtype=torch.float32)[:, None, None]
    return (column + torch.arange(dim) / 10 + heads / 100 + layer / 1000)[None]


def write(cache: TreeCache, numbers: list[int]) -> list[tuple[Tensor, Tensor]]:
    """One pass: every layer's rows, not committed yet."""
    cache.begin(len(numbers))
    return [
        cache.update(rows(layer, 0, numbers), rows(layer, 1, numbers), layer)
        for layer in range(len(LAYERS))
    ]


def assert_holds(views: list[tuple[Tensor, Tensor]], numbers: list[int]) -> None:
    for layer, (keys, values) in enumerate(views):
        assert torch.equal(keys, rows(layer, 0, numbers))
        assert torch.equal(values, rows(layer, 1, numbers))


class CacheAgainstList(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cache, self.other = new_cache(), new_cache()
        self.model: list[int] = []
        self.other_model: list[int] = []
        self.next = 0

    def fresh(self, count: int) -> list[int]:
        self.next += count
        return list(range(self.next - count, self.next))

    @rule(count=st.integers(1, 6), data=st.data())
    def a_round(self, count: int, data: st.DataObject) -> None:
        """Append a tree, keep a path: increasing rows that begin with the root."""
        numbers = self.fresh(count)
        assert_holds(write(self.cache, numbers), self.model + numbers)
        others = data.draw(st.sets(st.integers(1, count - 1))) if count > 1 else set()
        kept = [0, *sorted(others)]
        self.cache.keep(kept)
        self.model += [numbers[i] for i in kept]

    @rule(count=st.integers(1, 6))
    def a_pass_that_came_to_nothing(self, count: int) -> None:
        write(self.cache, self.fresh(count))
        self.cache.keep([])

    @rule(data=st.data())
    def go_back(self, data: st.DataObject) -> None:
        length = data.draw(st.integers(0, len(self.model)))
        self.cache.truncate(length)
        del self.model[length:]

    @rule(room=st.integers(0, 60))
    def make_room(self, room: int) -> None:
        self.cache.reserve(room)
        assert self.cache.capacity >= room

    @rule(count=st.integers(1, 6))
    def the_other_cache_grows(self, count: int) -> None:
        numbers = self.fresh(count)
        write(self.other, numbers)
        self.other.keep(range(count))
        self.other_model += numbers

    @precondition(lambda self: self.other_model)
    @rule(data=st.data())
    def take_over(self, data: st.DataObject) -> None:
        end = data.draw(st.integers(0, len(self.other_model)))
        self.cache.copy_rows(self.other, end)
        self.model += self.other_model[len(self.model) : end]

    @invariant()
    def both_hold_the_same(self) -> None:
        assert self.cache.length == len(self.model) == self.cache.get_seq_length()
        numbers = self.fresh(1)
        assert_holds(write(self.cache, numbers), self.model + numbers)


TestCacheAgainstList = CacheAgainstList.TestCase
TestCacheAgainstList.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def test_room_at_least_doubles_so_that_rows_are_copied_rarely() -> None:
    cache, moves = new_cache(capacity=4), 0
    for number in range(500):
        before = cache.capacity
        write(cache, [number])
        cache.keep([0])
        moves += cache.capacity != before
    assert moves <= 7


def test_a_long_prompt_leaves_room_for_what_follows() -> None:
    cache = new_cache(capacity=16)
    cache.reserve(100)
    places = [store.data_ptr() for store in cache._stores]
    write(cache, list(range(100)))
    cache.keep(range(100))
    write(cache, [100])
    assert [store.data_ptr() for store in cache._stores] == places
    assert cache.capacity % 16 == 0


@pytest.mark.parametrize("length", [-1, 4])
def test_truncate_only_goes_back(length: int) -> None:
    cache = new_cache()
    write(cache, [1, 2, 3])
    cache.keep([0, 1, 2])
    with pytest.raises(ValueError, match="cannot truncate 3 rows"):
        cache.truncate(length)


def test_reserved_rows_stay_where_they_are() -> None:
    cache = new_cache(capacity=64)
    places = [t.data_ptr() for t in cache._stores]
    for count in (3, 5, 7):
        write(cache, list(range(count)))
        cache.keep([0, 2])
    assert [t.data_ptr() for t in cache._stores] == places
    assert cache.nbytes == sum(t.nbytes for t in cache._stores)
