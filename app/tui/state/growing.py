"""What is computed from a list that grows, without looking at what is known of it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from operator import is_
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


class Growing(Generic[Item, Value]):
    """A value to which each item of a list is added once. It begins anew where the list does not go
    on from what it was: the items are compared by identity, and not at all in the same list, which
    must only be appended to."""

    def __init__(self, begin: Callable[[], Value], add: Callable[[Value, Item], object]) -> None:
        self._begin, self._add = begin, add
        self._items: Sequence[Item] = ()  # kept, so that no other can get its id
        self._count = 0  # of the items that were added
        self._value = begin()

    def of(self, items: Sequence[Item]) -> Value:
        if not self._goes_on(items):
            self._value, self._count = self._begin(), 0
        self._items = items
        for item in items[self._count :]:
            self._add(self._value, item)
        self._count = len(items)
        return self._value

    def _goes_on(self, items: Sequence[Item]) -> bool:
        if not self._count or len(items) < self._count:
            return False  # what it begins with may have changed before the first item
        known = islice(self._items, self._count)
        return items is self._items or all(map(is_, known, items))


class Same:
    """Equal to another of the same object only, which it keeps from being freed: the id of an
    object that is gone may be another's."""

    __slots__ = ("_kept",)

    def __init__(self, kept: object) -> None:
        self._kept = kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other._kept is self._kept

    def __hash__(self) -> int:
        return id(self._kept)
