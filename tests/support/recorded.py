"""CUDA graphs without CUDA: the operations of a pass are written down with the very tensors that
they read and wrote, and done again with these. As in a graph, nothing is asked of Python twice: a
number that should have changed has not, and memory that was given back is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Step = tuple[Any, tuple[Any, ...], dict[str, Any], list[Tensor]]


class Steps(TorchDispatchMode):
    """Writes down what is done."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.taken: list[Step] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten._local_scalar_dense.default:
            raise RuntimeError("a value is read while a graph is recorded")
        result = func(*args, **(kwargs or {}))
        self.taken.append((func, args, kwargs or {}, tensors_of(result)))
        return result


def tensors_of(values: Any) -> list[Tensor]:
    return [value for value in tree_leaves(values) if isinstance(value, Tensor)]


def record(work: Callable[[], None], eager: Callable[[], None]) -> Callable[[], None]:
    """As `decoding.model.graphs.Recorder`. What it returns always pays."""
    work()  # what is prepared once is not a part of the recording
    with Steps() as steps:
        work()

    def replay() -> None:
        for func, args, kwargs, before in steps.taken:
            read = {tensor.untyped_storage().data_ptr() for tensor in tensors_of((args, kwargs))}
            now = tensors_of(func(*args, **kwargs))
            for old, new in zip(before, now, strict=True):
                assert old.shape == new.shape
                if new.untyped_storage().data_ptr() not in read:  # neither a view nor in place
                    old.copy_(new)

    return replay
