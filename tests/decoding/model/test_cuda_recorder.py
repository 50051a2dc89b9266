"""What recording CUDA graphs does to the state of torch: with its own context managers, on a CUDA
of a few lines."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import pytest
import torch

from decoding.model.graphs import CudaRecorder

Pool = tuple[int, int]


class Stream:
    def __init__(self, device: torch.device) -> None:
        self.device = device

    def wait_stream(self, other: Stream) -> None:
        pass


class Cuda:
    """Its `current` stream, the streams of `captures`, and the pools that the allocator takes
    memory from. A capture in which `forbid` was called can't be ended."""

    def __init__(self) -> None:
        self.current = self.default = Stream(torch.device("cuda:0"))
        self.captures: list[Stream] = []
        self.open: list[Pool] = []
        self.pools = 0
        self.forbidden = False

    def new_pool(self) -> Pool:
        self.pools += 1
        return (0, self.pools)

    def forbid(self) -> None:
        self.forbidden = True
        raise RuntimeError("operation not permitted when stream is capturing")

    def end_allocate(self, device: int, pool: Pool) -> None:
        if pool not in self.open:
            raise RuntimeError("not currently recording to mempool_id")
        self.open.remove(pool)


class Using:
    """`torch.cuda.stream`."""

    def __init__(self, cuda: Cuda, stream: Stream) -> None:
        self._cuda, self._stream = cuda, stream

    def __enter__(self) -> None:
        self._before, self._cuda.current = self._cuda.current, self._stream

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._cuda.current = self._before


class Graph:
    """`torch.cuda.CUDAGraph`: a failed end leaves the allocator as it is."""

    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda

    def capture_begin(self, pool: Pool, **kwargs: Any) -> None:
        if pool in self._cuda.open:
            raise RuntimeError("beginAllocateToPool: already recording to mempool_id")
        self._pool = pool
        self._cuda.open.append(pool)
        self._cuda.captures.append(self._cuda.current)

    def capture_end(self) -> None:
        if self._cuda.forbidden:
            self._cuda.forbidden = False
            raise RuntimeError("operation failed due to a previous error during capture")
        self._cuda.open.remove(self._pool)

    def replay(self) -> None:
        pass


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    made = Cuda()
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: Graph(made))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: made.current)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: Using(made, stream))
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", made.new_pool)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda device: None)
    monkeypatch.setattr(torch._C, "_host_emptyCache", lambda: None, raising=False)
    monkeypatch.setattr(torch._C, "_cuda_endAllocateToPool", made.end_allocate, raising=False)
    return made


def nothing() -> None:
    pass


def test_all_graphs_of_a_model_are_recorded_on_one_stream(cuda: Cuda) -> None:
    """On several they would not share memory."""
    record = CudaRecorder(torch.device("cuda:0"))
    for _ in range(3):
        record(nothing, nothing)
    assert len(cuda.captures) == 3
    assert len(set(cuda.captures)) == 1
    assert cuda.captures[0] is not cuda.default


def test_a_failed_capture_leaves_nothing_behind(cuda: Cuda) -> None:
    def work() -> None:
        if cuda.open:  # in a capture
            cuda.forbid()

    record = CudaRecorder(torch.device("cuda:0"))
    with pytest.raises(RuntimeError, match="capture"):
        record(work, nothing)
    assert cuda.current is cuda.default
    assert not cuda.open
    record(nothing, nothing)  # and another one can be made


def test_memory_that_runs_out_in_a_capture_is_no_failure_of_it(cuda: Cuda) -> None:
    def work() -> None:
        if cuda.open:
            raise torch.OutOfMemoryError("CUDA out of memory")

    record = CudaRecorder(torch.device("cuda:0"))
    with pytest.raises(torch.OutOfMemoryError):
        record(work, nothing)
    assert cuda.current is cuda.default
    record(nothing, nothing)
    assert cuda.pools == 1
