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


class Recorder:
    """As `decoding.model.graphs.Recorder`. What it returns always pays. The recordings share their
    scratch memory: a replay overwrites what others have made."""

    def __init__(self) -> None:
        self._made: list[list[Tensor]] = []  # by each recording

    def __call__(self, work: Callable[[], None], eager: Callable[[], None]) -> Callable[[], None]:
        work()  # what is prepared once is not a part of the recording
        with Steps() as steps:
            work()
        own = [tensor for step in steps.taken for tensor in made_by(step)]
        self._made.append(own)

        def replay() -> None:
            for made in self._made:
                for tensor in made if made is not own else ():
                    tensor.zero_()
            for step in steps.taken:
                func, args, kwargs, before = step
                now, made = tensors_of(func(*args, **kwargs)), made_by(step)
                for old, new in zip(before, now, strict=True):
                    assert old.shape == new.shape
                    if any(old is each for each in made):
                        old.copy_(new)

        return replay


def made_by(step: Step) -> list[Tensor]:
    """Results of a step that are neither views nor in place."""
    _, args, kwargs, results = step
    read = {tensor.untyped_storage().data_ptr() for tensor in tensors_of((args, kwargs))}
    return [result for result in results if result.untyped_storage().data_ptr() not in read]
