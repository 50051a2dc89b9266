"""Passes of a lean forward as CUDA graphs: captured once, then replayed with a single launch.

A graph has fixed addresses and shapes. So a pass gets permanent buffers, a tensor with the indices
of the cache rows to write, and a mask over the cache's whole capacity; a pass of 5 rows is padded
to 8. Only `CudaRecorder` needs a GPU: the tests use another recorder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from decoding.errors import is_out_of_memory
from decoding.model.attention import additive_mask
from decoding.model.cache import LayerShape, TreeCache
from decoding.model.clock import synchronize
from decoding.model.forward import ForwardOutput, Mask
from decoding.model.kernels import kernels_for
from decoding.model.lean import LeanForward
from decoding.model.linears import Linear

SIZES = (1, 2, 4, 8, 16, 32, 64)  # rows of a pass; in longer ones launching matters little
# Each time a cache grows its graphs are recorded anew, which takes as long as ten passes. So it
# has at least this capacity where attention skips what no row sees, and free rows cost no time.
MIN_CAPACITY = 1024
WARM_UPS = 2
TIMED = 3  # runs, of which the fastest counts

Work = Callable[[], None]
Made = TypeVar("Made")


class Recorder(Protocol):
    def __call__(self, work: Work, eager: Work) -> Work | None:
        """Make a replayable recording of `work` on the same memory; None if it is not faster than
        `eager`, which does the same without a graph. Raises RuntimeError if `work` can't be
        recorded."""


def recorder_for(device: torch.device) -> Recorder | None:
    """Return the recorder for a device, None if it has no graphs."""
    if device.type != "cuda" or not torch.cuda.is_available():
        return None
    return CudaRecorder(device)


class CudaRecorder:
    """Records the graphs of one model, which share their scratch memory as they run one after the
    other. So what a graph returns is only valid until another one runs."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool = torch.cuda.graph_pool_handle()
        # One for all graphs: in a pool, memory is shared within a stream only, and cuBLAS keeps
        # up to 32 MiB for every stream that it was ever called on.
        self._stream = torch.cuda.Stream(device)
        self._failed: list[torch.cuda.CUDAGraph] = []

    def __call__(self, work: Work, eager: Work) -> Work | None:
        own, current = self._stream, torch.cuda.current_stream(self._device)
        own.wait_stream(current)
        try:
            with torch.cuda.stream(own):
                for _ in range(WARM_UPS):  # libraries allocate, and choose their kernels
                    work()
        finally:  # also after a failure: what follows writes the same rows
            current.wait_stream(own)
        graph = torch.cuda.CUDAGraph()
        try:
            # `torch.cuda.graph` leaves its stream the current one if a capture fails
            with torch.cuda.stream(current):
                self._capture(graph, work)
        except RuntimeError:
            self._leave_pool(graph)
            raise
        # Attention in a graph covers the whole capacity, which without our kernels can cost more
        # than launching.
        if self._seconds(graph.replay) >= self._seconds(eager):
            return None
        return graph.replay

    def _capture(self, graph: torch.cuda.CUDAGraph, work: Work) -> None:
        # "thread_local": other threads may meanwhile do what a capture forbids
        with torch.cuda.graph(graph, self._pool, self._stream, capture_error_mode="thread_local"):
            work()

    def _leave_pool(self, graph: torch.cuda.CUDAGraph) -> None:
        """After a failed capture: its end did not tell the allocator, which would go on to take
        memory from the pool, and would refuse another capture there."""
        index = torch.cuda.current_device() if self._device.index is None else self._device.index
        try:
            torch._C._cuda_endAllocateToPool(index, self._pool)
        except (AttributeError, RuntimeError):  # the end did, as when memory ran out
            return
        self._failed.append(graph)  # the allocators may still ask it whether it is recording
        self._pool = torch.cuda.graph_pool_handle()

    def _seconds(self, work: Work) -> float:
        """Time of a run, including the host's time for launching."""
        best = float("inf")
        for _ in range(TIMED):
            synchronize(self._device)
            begun = time.perf_counter()
            work()
            synchronize(self._device)
            best = min(best, time.perf_counter() - begun)
        return best


class Recordable:
    """Tries to record with a recorder, until that fails for another reason than a lack of memory:
    then the driver does not support it."""

    def __init__(self, record: Recorder) -> None:
        self._record: Recorder | None = record

    def attempt(self, make: Callable[[Recorder], Made | None]) -> Made | None:
        """Return what `make` records; None if it failed, or if it is no longer tried."""
        if self._record is None:
            return None
        try:
            return make(self._record)
        except RuntimeError as error:
            if not is_out_of_memory(error):  # otherwise something smaller may fit
                self._record = None
            return None


class Buffers:
    """The inputs of a pass of `size` rows, at fixed addresses."""

    def __init__(self, size: int, group_size: int, capacity: int, like: Tensor) -> None:
        self.tokens, self.positions, self.rows = (
            torch.zeros(size, dtype=torch.long, device=like.device) for _ in range(3)
        )  # `rows`: those of the cache that are written
        full = torch.ones(size, capacity, dtype=torch.bool, device=like.device)
        self.mask = additive_mask(0, full, like.dtype, group_size)
        self._sees = self.mask.unflatten(2, (group_size, size))[0, 0]
        self._lowest = torch.finfo(like.dtype).min

    def fill(self, tokens: Tensor, positions: Tensor, mask: Tensor | None, past: int) -> None:
        """Set the inputs for a pass after `past` rows. Padding rows keep their old values."""
        rows = len(tokens)
        self.tokens[:rows] = tokens
        self.positions[:rows] = positions
        torch.arange(past, past + len(self.rows), out=self.rows)
        self._sees.fill_(self._lowest)
        seen = self._sees[:, :rows, : past + rows]
        if mask is None:
            seen.zero_()
        else:
            seen.copy_(mask.unflatten(2, (-1, rows))[0, 0])


@dataclass(slots=True, eq=False)
class RecordedPass:
    """A pass with its buffers and its graph. `keeps`: objects that must live as long as the graph,
    which has their addresses."""

    buffers: Buffers
    keeps: object
    output: ForwardOutput | None = None
    replay: Work | None = None


@dataclass(slots=True)
class Recordings:
    """The recorded passes for a cache of this capacity, by size; None where a graph does not
    pay."""

    capacity: int
    passes: dict[int, RecordedPass | None] = field(default_factory=dict)


class GraphForward:
    """`lean` with short passes replayed. Implements `decoding.model.forward.Forward`."""

    states: Mapping[int, int] = {}

    def __init__(self, lean: LeanForward, group_size: int, record: Recorder) -> None:
        """`group_size`: query heads per key-value head; a mask has every row for each of them."""
        self.layers: Sequence[LayerShape | None] = lean.layers
        self.devices = lean.devices
        self.vocab_size = lean.vocab_size
        self.lean = lean
        self._group_size = group_size
        skips = kernels_for(lean.rope.table_up_to(1)) is not None
        self._min_capacity = min(MIN_CAPACITY, lean.rope.context) if skips else 0
        self._recordable = Recordable(record)
        self._recordings: WeakKeyDictionary[TreeCache, Recordings] = WeakKeyDictionary()

    def __call__(
        self, tokens: Tensor, positions: Tensor, mask: Mask, cache: TreeCache, last_only: bool
    ) -> ForwardOutput:
        rows = len(tokens)
        size = next((size for size in SIZES if size >= rows), None)
        # Several rows without a mask are the start of a prompt; several masks are for windows.
        if size is None or isinstance(mask, dict) or (mask is None and rows > 1):
            return self.lean(tokens, positions, mask, cache, last_only)
        cache.reserve(max(cache.length + size, self._min_capacity))
        made = self._recordings.get(cache)
        if made is None or made.capacity != cache.capacity:  # the cache was reallocated
            made = self._recordings[cache] = Recordings(cache.capacity)
        if size not in made.passes:
            made.passes[size] = self._recordable.attempt(
                lambda record: self._recorded(record, size, tokens, positions, mask, cache)
            )
        known = made.passes[size]
        if known is None or known.replay is None:
            return self.lean(tokens, positions, mask, cache, last_only)
        known.buffers.fill(tokens, positions, mask, cache.length)
        known.replay()
        assert known.output is not None
        return known.output.copy_of(rows, last_only)

    @property
    def linears(self) -> Sequence[tuple[str, Linear]]:
        return self.lean.linears

    def capture_layers(self, layers: Sequence[int]) -> None:
        self.lean.capture_layers(layers)
        self._recordings.clear()

    def lm_head(self, features: Tensor) -> Tensor:
        return self.lean.lm_head(features)

    def _recorded(
        self,
        record: Recorder,
        size: int,
        tokens: Tensor,
        positions: Tensor,
        mask: Tensor | None,
        cache: TreeCache,
    ) -> RecordedPass | None:
        lean, capacity = self.lean, cache.capacity
        table = lean.rope.table_up_to(capacity)
        made = RecordedPass(Buffers(size, self._group_size, capacity, like=table), table)
        buffers = made.buffers
        buffers.fill(tokens, positions, mask, cache.length)

        def work() -> None:
            rows = cache.rows_at(buffers.rows)
            made.output = lean.run(buffers.tokens, buffers.positions, buffers.mask, rows, capacity)

        def eager() -> None:
            lean(tokens, positions, mask, cache, False)

        made.replay = record(work, eager)
        return None if made.replay is None else made
