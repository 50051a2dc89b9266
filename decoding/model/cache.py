"""A cache of the keys and values of one sequence, with spare capacity.

A round appends the rows of its tree to the committed ones, and then keeps those of the accepted
path. Rolling back only resets a length; the prefix is never copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from decoding.device import upload
from decoding.model.kv_precision import KVQuantizer


@dataclass(frozen=True, slots=True)
class LayerShape:
    """The shape of a layer's keys and values."""

    kv_heads: int
    key_dim: int
    value_dim: int


class Rows(Protocol):
    """One layer's view of the cache in a pass of n rows: `keys` and `values` [sequences, heads,
    rows, D] to attend to, valid once the pass's own rows are written."""

    @property
    def keys(self) -> Tensor: ...

    @property
    def values(self) -> Tensor: ...

    def write(self, kv: Tensor) -> None:
        """Write the pass's rows: `kv` [n, 2 * heads, D], keys first."""


class LayerRows(NamedTuple):
    """Contiguous rows: `new` [n, 2 * heads, D] receives those of the pass, `keys` and `values`
    [1, heads, length + n, D] end with them."""

    new: Tensor
    keys: Tensor
    values: Tensor

    def write(self, kv: Tensor) -> None:
        self.new.copy_(kv)


class LayerRowsAt(NamedTuple):
    """Rows given by a tensor of indices, `at` [n], so that no shape depends on their position.
    `store` [2 * heads, capacity, D]; `keys` and `values` cover the whole capacity."""

    store: Tensor
    at: Tensor
    keys: Tensor
    values: Tensor

    def write(self, kv: Tensor) -> None:
        self.store.index_copy_(1, self.at, kv.transpose(0, 1))


class BatchRows(NamedTuple):
    """n rows of each of several sequences, one sequence after the other: `new` [sequences, n, 2,
    heads, D]."""

    new: Tensor
    keys: Tensor
    values: Tensor

    def write(self, kv: Tensor) -> None:
        self.new.copy_(kv.view(self.new.shape))


class QuantizedRows(NamedTuple):
    """Rows stored quantized, with `scales`; `keys` and `values` dequantize on each access."""

    quantizer: KVQuantizer
    dtype: torch.dtype
    quantized: Rows
    scales: Rows

    def write(self, kv: Tensor) -> None:
        quantized, scales = self.quantizer.quantize(kv)
        self.quantized.write(quantized)
        self.scales.write(scales)

    @property
    def keys(self) -> Tensor:
        return self.quantizer.dequantize(self.quantized.keys, self.scales.keys, self.dtype)

    @property
    def values(self) -> Tensor:
        return self.quantizer.dequantize(self.quantized.values, self.scales.values, self.dtype)


def rows_of_layers(
    stores: Sequence[Tensor],
    of: Callable[[Tensor], Iterator[Rows]],
    dtype: torch.dtype,
    quantizer: KVQuantizer | None,
) -> Iterator[Rows]:
    """Yield each layer's `Rows`. `stores` holds one tensor, or with a quantizer the quantized rows
    and their scales."""
    if quantizer is None:
        (store,) = stores
        return of(store)
    return map(partial(QuantizedRows, quantizer, dtype), *map(of, stores))


class BatchCache:
    """Keys and values of several sequences that are equally long, for layers of one shape on one
    device."""

    def __init__(
        self,
        layers: Sequence[LayerShape | None],
        sequences: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
        quantizer: KVQuantizer | None = None,
    ) -> None:
        shape = layers[0]
        assert shape is not None
        self._dtype, self._quantizer = dtype, quantizer
        parts = [(shape.key_dim, dtype)]
        if quantizer is not None:
            parts = [(shape.key_dim, torch.int8), (1, torch.float32)]
        sides = (len(layers), 2, sequences, shape.kv_heads, capacity)
        self._stores = [torch.zeros(*sides, dim, dtype=kind, device=device) for dim, kind in parts]

    def rows(self, start: int, end: int) -> Iterator[Rows]:
        """Yield, for each layer, where a pass writes the rows from `start` to `end` of every
        sequence."""

        def of(store: Tensor) -> Iterator[Rows]:
            new = store[..., start:end, :].permute(0, 2, 4, 1, 3, 5).unbind(0)
            keys, values = store[..., :end, :].unbind(1)
            return map(BatchRows, new, keys.unbind(0), values.unbind(0))

        return rows_of_layers(self._stores, of, self._dtype, self._quantizer)

    def reserve(self, rows: int) -> None:
        """Make room for `rows` rows in all of each sequence."""
        for index, store in enumerate(self._stores):
            capacity = store.shape[-2]
            if rows > capacity:
                grown = store.new_zeros(*store.shape[:-2], rows + rows // 2, store.shape[-1])
                grown[..., :capacity, :] = store
                self._stores[index] = grown

    def select(self, sequences: Tensor) -> None:
        """Drop all but these sequences."""
        self._stores = [store.index_select(2, sequences) for store in self._stores]

    def take_last(self, rows: int, parts: Sequence[tuple[BatchCache, Tensor, int]]) -> None:
        """Copy sequences of other caches, one after the other: of each part the cache, the
        `sequences` of it, and the number of rows that they have. Their last `rows` become the first
        ones here; where there are fewer, rows of zeros come before them."""
        for index, store in enumerate(self._stores):
            first = 0
            for cache, sequences, end in parts:
                own = min(rows, end)
                last = cache._stores[index][..., end - own : end, :].index_select(2, sequences)
                place = slice(first, first + len(sequences))
                store[:, :, place, :, rows - own : rows] = last
                first += len(sequences)


class TreeCache(Cache):
    """A `transformers` cache for batch size 1 that appends, selects and truncates rows in place;
    with a `quantizer` rows are quantized."""

    def __init__(
        self,
        layers: Sequence[LayerShape | None],
        dtype: torch.dtype,
        devices: Sequence[torch.device],
        capacity: int = 256,
        quantizer: KVQuantizer | None = None,
    ) -> None:
        super().__init__(layers=[])
        self._length = 0
        self.prompt_ids: tuple[int, ...] = ()  # a prompt whose rows are all here, the first ones
        self.capacity = 0
        self._dtype = dtype
        self._quantizer = quantizer
        self._count = len(layers)
        # Keys and values of one shape on one device share a tensor, [layers, 1, heads, rows, D], so
        # that operations on all layers are one kernel.
        self._groups: dict[tuple[torch.device, int, int], list[int]] = {}
        for layer, (shape, device) in enumerate(zip(layers, devices, strict=True)):
            if shape is None:
                continue
            for side, dim in enumerate((shape.key_dim, shape.value_dim)):
                group = self._groups.setdefault((device, shape.kv_heads, dim), [])
                group.append(2 * layer + side)
        self._stores: list[Tensor] = []
        self._sides: dict[int, Tensor] = {}  # of layer i keys (2i) and values, [1, heads, rows, D]
        # With a quantizer every group is followed by its scales, as a store of one column.
        self._scales: dict[int, Tensor] = {}
        self.reserve(capacity)

    @property
    def length(self) -> int:
        """The number of committed rows; later ones belong to the current pass."""
        return self._length

    def reserve(self, rows: int) -> None:
        """Make room for `rows` rows in all. Capacity doubles, so growing costs O(1) copies per row,
        also for a long prompt: with room for that alone, the first pass after it would move every
        row again. And a multiple of what masks are aligned to stays one."""
        if rows <= self.capacity:
            return
        capacity = self.capacity or rows
        while capacity < rows:
            capacity *= 2
        old, self._stores = self._stores, []
        for (device, heads, dim), group in self._groups.items():
            shape = (len(group), 1, heads, capacity)
            if self._quantizer is None:
                sides = self._grown((*shape, dim), self._dtype, device, old)
            else:
                sides = self._grown((*shape, dim), torch.int8, device, old)
                scales = self._grown((*shape, 1), torch.float32, device, old)
                self._scales |= zip(group, scales.unbind(0), strict=True)
            self._sides |= zip(group, sides.unbind(0), strict=True)
        self.capacity = capacity

    def _grown(
        self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device, old: list[Tensor]
    ) -> Tensor:
        """The next store, with the contents of its predecessor in `old`."""
        # zeros, because rows hidden by a mask must still be finite
        store = torch.zeros(shape, dtype=dtype, device=device)
        if old:
            store[..., : self.length, :] = old[len(self._stores)][..., : self.length, :]
        self._stores.append(store)
        return store

    def begin(self, rows: int) -> None:
        """Prepare for a pass of `rows` rows after the committed ones."""
        self.reserve(self.length + rows)

    def checkpoint(self, rows: int) -> None:
        """Prepare to roll back some of the next `rows` rows; keys and values need nothing for
        it."""

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: object, **kw: object
    ) -> tuple[Tensor, Tensor]:
        """Write the pass's rows after the committed ones; returns views that end with them."""
        start, end = self.length, self.length + key_states.shape[2]
        side = 2 * layer_idx
        if self._quantizer is not None:
            return (
                self._dequantized(side, key_states, start, end),
                self._dequantized(side + 1, value_states, start, end),
            )
        keys, values = self._sides[side], self._sides[side + 1]
        keys[:, :, start:end] = key_states
        values[:, :, start:end] = value_states
        return keys[:, :, :end], values[:, :, :end]

    def _dequantized(self, side: int, states: Tensor, start: int, end: int) -> Tensor:
        assert self._quantizer is not None
        kept, scales = self._sides[side], self._scales[side]
        kept[:, :, start:end], scales[:, :, start:end] = self._quantizer.quantize(states)
        return self._quantizer.dequantize(kept[:, :, :end], scales[:, :, :end], states.dtype)

    def append(self, rows: int) -> Iterator[Rows]:
        """Yield each layer's rows of a pass after the committed ones. For layers of one shape on
        one device."""
        of = partial(self._appended, end=self.length + rows)
        return rows_of_layers(self._stores, of, self._dtype, self._quantizer)

    def rows_at(self, at: Tensor) -> Iterator[Rows]:
        """Yield each layer's rows `at` [n] of a pass. For layers of one shape on one device."""
        of = partial(self._indexed, at=at)
        return rows_of_layers(self._stores, of, self._dtype, self._quantizer)

    def _appended(self, store: Tensor, end: int) -> Iterator[Rows]:
        new = self._pairs(store)[:, :, self.length : end].transpose(1, 2).unbind(0)
        seen = store[..., :end, :].unbind(0)
        return map(LayerRows, new, seen[::2], seen[1::2])

    def _indexed(self, store: Tensor, at: Tensor) -> Iterator[Rows]:
        sides = store.unbind(0)
        return map(LayerRowsAt, self._pairs(store).unbind(0), repeat(at), sides[::2], sides[1::2])

    def _pairs(self, store: Tensor) -> Tensor:
        """A store's keys and values side by side, [layers, 2 * heads, rows, D]."""
        return store.view(len(self), -1, self.capacity, store.shape[-1])

    def gather(self, rows: Tensor) -> None:
        """Move these rows of the last pass (0 = its first) to its beginning, without committing
        them."""
        start = self.length
        for store in self._stores:
            index = rows.to(store.device, non_blocking=True) + start
            store[..., start : start + len(rows), :] = store.index_select(-2, index)

    def commit(self, rows: int) -> None:
        """Commit the first `rows` rows of the last pass; drop the others."""
        self._length += rows

    def keep(self, rows: Sequence[int]) -> None:
        """Commit these rows of the last pass, in this order; drop the others. The first ones are
        already in place."""
        if self._stores and list(rows) != list(range(len(rows))):
            self.gather(upload(rows, self._stores[0].device))
        self.commit(len(rows))

    def truncate(self, length: int) -> None:
        """Drop the rows from `length` on; `self.length` is the number that are left."""
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot truncate {self._length} rows to {length}")
        self._length = length
        if length < len(self.prompt_ids):
            self.prompt_ids = ()

    def states(self) -> list[Tensor]:
        """Copy the recurrent states; there are none in a cache of only keys and values."""
        return []

    def copy_rows(self, source: TreeCache, end: int, states: Sequence[Tensor] = ()) -> None:
        """Copy the source's rows from this length up to `end`, and the `states` that it had
        there."""
        start = self.length
        if end > start:
            self.reserve(end)
            for mine, theirs in zip(self._stores, source._stores, strict=True):
                mine[..., start:end, :] = theirs[..., start:end, :]
            self._length = end

    # The interface for transformers' models

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.length

    def get_query_offset(self, layer_idx: int = 0) -> int:
        return self.length

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        return self.length + query_length, 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values, including unused capacity."""
        return sum(store.nbytes for store in self._stores)
