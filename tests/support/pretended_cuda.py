"""CUDA devices on a machine that has none: tensors that say they lie on cuda:0 and are computed on
the CPU. Within `PretendedCuda()` every call of torch is seen before torch's own bindings, which
would ask for a driver.

Refused as by a GPU: tensors of two devices in one operation (but for scalars), a generator of
another device, events that are read before anything was waited for. Counted, with the library's
line that asked: whatever makes the host wait, such as values that are read, copies from memory that
is not pinned, boolean masks. Kernels are counted as the CPU dispatches them; their numerics,
streams, memory and time are not seen.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from decoding.model.graphs import Recorder

LIBRARY = str(Path(__file__).parents[2] / "decoding")
CPU = torch.device("cpu")

# What a CUDA build reads back to the host before it can go on.
WAITING = {
    "_local_scalar_dense",
    "_unique2",
    "bincount",
    "equal",
    "is_nonzero",
    "masked_select",
    "multinomial",
    "nonzero",
    "repeat_interleave.Tensor",
}
NO_KERNEL = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
NO_KERNEL |= {"_reshape_alias", "_unsafe_view"}


def line() -> str:
    """The innermost line of the library that is being run, outside of `decoding.device`."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(LIBRARY) and Path(file).name != "device.py":
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "elsewhere"


@dataclass
class Ledger:
    """`waits` of the host, `uploads` and those copies from or to memory that is `pageable` (which
    are waits too), by line; `kernels`."""

    waits: Counter[str] = field(default_factory=Counter)
    uploads: Counter[str] = field(default_factory=Counter)
    pageable: Counter[str] = field(default_factory=Counter)
    kernels: int = 0


class OnDevice(Tensor):
    """`held`, a CPU tensor, said to lie on `home`."""

    held: Tensor
    home: torch.device

    @staticmethod
    def __new__(cls, held: Tensor, home: torch.device) -> OnDevice:
        made: OnDevice = Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), dtype=held.dtype, device=home
        )
        made.held, made.home = held, home
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{func}: a tensor of a pretended device outside of PretendedCuda()")

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise RuntimeError(f"{func}: called past PretendedCuda()")


def tensors_in(values: Iterable[Any]) -> list[Tensor]:
    """Of arguments, also of lists of tensors among them."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += tensors_in(value)
    return found


def plain(value: Any) -> Any:
    return value.held if isinstance(value, OnDevice) else value


def unwrapped(value: Any) -> Any:
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return type(value)(map(unwrapped, value))
    return plain(value)


def home(value: Tensor) -> torch.device:
    return value.home if isinstance(value, OnDevice) else CPU


def as_device(value: Any) -> torch.device | None:
    if value is None:
        return None
    device = torch.device(value)
    return torch.device("cuda", device.index or 0) if device.type == "cuda" else device


class Generator(torch.Generator):
    """On the CPU, whatever it says."""

    def __new__(cls, device: Any = CPU) -> Generator:
        made = super().__new__(cls)
        made.home = as_device(device)  # type: ignore[attr-defined]
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        found: torch.device = self.home  # type: ignore[attr-defined]
        return found


class PretendedCuda(TorchFunctionMode):
    """Within it `device="cuda"`, and "cuda:1" beside it, are devices; `ledger` has what was done
    since `reset`."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.waited = 0  # how often, in all
        self.recorder: Recorder | None = None  # of CUDA graphs
        self._kernels = _Kernels(self)
        self._special: dict[Any, Callable[..., Any]] = {
            Tensor.to: self._to,
            Tensor.cpu: lambda x: self._to(x, "cpu"),
            Tensor.cuda: lambda x, device="cuda": self._to(x, device),
            Tensor.copy_: self._copy,
            Tensor.pin_memory: lambda x: self._pinned(x.clone()),
            Tensor.is_pinned: lambda x: hasattr(x, "pinned"),
            Tensor.__getitem__: self._getitem,
            Tensor.__setitem__: self._setitem,
            Tensor.__iter__: lambda x: iter([self._getitem(x, i) for i in range(len(plain(x)))]),
            torch.tensor: self._tensor,
            torch._has_compatible_shallow_copy_type: lambda a, b: type(a) is type(b),
        }
        reads = ("tolist", "item", "numpy", "__int__", "__float__", "__bool__", "__index__")
        self._reads = {getattr(Tensor, name) for name in reads}
        self._patches = (
            patch("torch.Generator", Generator),
            patch("torch.accelerator.synchronize", lambda device=None: self.wait()),
            patch("torch.cuda.Event", lambda **_: Event(self)),
            patch("torch.cuda.current_stream", lambda device=None: Stream(self)),
            patch("decoding.model.target.recorder_for", self._recorder_for),
        )

    def _recorder_for(self, device: torch.device) -> Recorder | None:
        return self.recorder

    def __enter__(self) -> Self:
        for each in self._patches:
            each.start()
        self._cudnn = torch.backends.cuda.cudnn_sdp_enabled()
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        super().__exit__(kind, value, traceback)  # type: ignore[no-untyped-call]
        torch.backends.cuda.enable_cudnn_sdp(self._cudnn)
        for each in self._patches:
            each.stop()

    def reset(self) -> None:
        self.ledger = Ledger()

    def wait(self, pageable: bool = False) -> None:
        self.waited += 1
        self.ledger.waits[line()] += 1
        if pageable:
            self.ledger.pageable[line()] += 1

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in ("__get__", "__set__"):
            return self._attribute(func, args)
        if func in self._special:
            return self._special[func](*args, **kwargs)
        tensors = tensors_in((*args, *kwargs.values()))
        homes = {home(t) for t in tensors if isinstance(t, OnDevice) or t.dim()}
        where = as_device(kwargs.get("device")) or next(iter(homes), CPU)
        if where == CPU and homes <= {CPU}:
            if any(getattr(t, "unread", -1) == self.waited for t in tensors):
                raise RuntimeError(f"{func.__name__}: a copy that was not waited for")
            return func(*args, **kwargs)
        if func in self._reads:
            self.wait(pageable=True)
            return func(*map(plain, args), **kwargs)
        self._refuse_mixed(func, homes)
        return self._compute(func, args, kwargs, where)

    def _attribute(self, func: Any, args: tuple[Any, ...]) -> Any:
        tensor, name = args[0], func.__self__.__name__
        if isinstance(tensor, OnDevice) and name in ("device", "is_cuda", "is_cpu"):
            return {"device": tensor.home, "is_cuda": True, "is_cpu": False}[name]
        found = func(*map(plain, args))
        wrapped = isinstance(tensor, OnDevice) and isinstance(found, Tensor)
        return OnDevice(found, tensor.home) if wrapped else found

    def _compute(self, func: Any, args: Any, kwargs: dict[str, Any], where: torch.device) -> Any:
        generator = kwargs.get("generator")
        if generator is not None and generator.device != where:
            raise RuntimeError(f"a generator on {generator.device} for a tensor on {where}")
        first = args[0] if args else None
        kwargs = {name: unwrapped(value) for name, value in kwargs.items()}
        if "device" in kwargs:
            kwargs["device"] = CPU
        with self._kernels:
            made = func(*unwrapped(args), **kwargs)

        def wrap(value: Any) -> Any:
            if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
                return type(value)(map(wrap, value))
            if not isinstance(value, Tensor):
                return value
            return first if value is plain(first) else OnDevice(value, where)  # as `add_` does

        return wrap(made)

    @staticmethod
    def _refuse_mixed(func: Any, homes: set[torch.device]) -> None:
        if len(homes) > 1:
            found = ", ".join(sorted(map(str, homes)))
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found {found} "
                f"({func.__name__})"
            )

    def _tensor(self, data: Any, *, device: Any = None, **kwargs: Any) -> Tensor:
        pinned = kwargs.pop("pin_memory", False)
        made = torch.tensor(data, **kwargs)
        return self._to(self._pinned(made) if pinned else made, device or CPU)

    def _pinned(self, tensor: Tensor) -> Tensor:
        tensor.pinned = True  # type: ignore[attr-defined]
        return tensor

    def _to(self, tensor: Tensor, *args: Any, copy: bool = False, **kwargs: Any) -> Tensor:
        parsed = torch._C._nn._parse_to(*args, **kwargs)
        device, dtype, non_blocking, _ = parsed
        to = as_device(device) or home(tensor)
        made = tensor
        if to != home(tensor):
            self._transfer(tensor, to, non_blocking)
            fresh = plain(tensor).clone()
            if to == CPU and non_blocking:
                fresh.unread = self.waited
            made = fresh if to == CPU else OnDevice(fresh, to)
        if (dtype is None or dtype == plain(made).dtype) and not copy:
            return made
        arguments: dict[str, Any] = {"dtype": dtype or plain(made).dtype, "copy": copy}
        if not isinstance(made, OnDevice):
            return made.to(**arguments)
        return self._compute(Tensor.to, (made,), arguments, to)  # type: ignore[no-any-return]

    def _transfer(self, tensor: Tensor, to: torch.device, non_blocking: bool) -> None:
        if CPU not in (to, home(tensor)):
            self.ledger.kernels += 1  # between two devices, in the order of their streams
        elif to == CPU:
            if not non_blocking:
                self.wait(pageable=True)
        else:
            self.ledger.uploads[line()] += 1
            if not (non_blocking and hasattr(tensor, "pinned")):
                self.wait(pageable=not hasattr(tensor, "pinned"))

    def _copy(self, tensor: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
        if home(source) != home(tensor):
            self._transfer(source, home(tensor), non_blocking)
        plain(tensor).copy_(plain(source))
        self.ledger.kernels += isinstance(tensor, OnDevice)
        return tensor

    def _getitem(self, tensor: Tensor, index: Any) -> Tensor:
        self._check_index(tensor, index)
        if not isinstance(tensor, OnDevice):
            return tensor[index]
        with self._kernels:
            return OnDevice(tensor.held[unwrapped(index)], tensor.home)

    def _setitem(self, tensor: Tensor, index: Any, value: Any) -> None:
        self._check_index(tensor, index)
        if isinstance(value, Tensor) and plain(value).dim() and home(value) != home(tensor):
            self._transfer(value, home(tensor), False)
        if not isinstance(tensor, OnDevice):
            tensor[index] = plain(value)
            return
        with self._kernels:
            tensor.held[unwrapped(index)] = plain(value)

    def _check_index(self, tensor: Tensor, index: Any) -> None:
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            if isinstance(part, list):
                if isinstance(tensor, OnDevice):
                    self.wait(pageable=True)
            elif isinstance(part, Tensor) and home(part) != home(tensor) and plain(part).dim():
                if home(part) != CPU:
                    self._refuse_mixed(Tensor.__getitem__, {home(part), home(tensor)})
                self.wait(pageable=True)


class _Kernels(TorchDispatchMode):
    """Counts what a function of a device runs, and what of it the host must wait for."""

    def __init__(self, cuda: PretendedCuda) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._cuda = cuda

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = kind_of(func)
        self._cuda.ledger.kernels += kind in ("kernel", "index")
        indexed = kind == "index" and isinstance(args[1], (list, tuple))
        masked = indexed and any(t.dtype == torch.bool for t in tensors_in(args[1]))
        if masked or kind == "wait":
            self._cuda.wait()
        return func(*args, **(kwargs or {}))


@cache
def kind_of(func: Any) -> Literal["wait", "index", "kernel", "none"]:
    """Of an operation: what the host waits for, what it waits for where an index is a mask, other
    kernels, or nothing that runs: a view."""
    name = func._schema.name.removeprefix("aten::")
    if name in WAITING or f"{name}.{func._overloadname}" in WAITING:
        return "wait"
    if name in ("index", "index_put", "index_put_", "_index_put_impl_"):
        return "index"
    return "none" if func.is_view or name in NO_KERNEL else "kernel"


class Stream:
    """The only one of a device."""

    def __init__(self, cuda: PretendedCuda) -> None:
        self._cuda = cuda

    def synchronize(self) -> None:
        self._cuda.wait()


class Event:
    """In the stream's past once the host has waited for anything after it."""

    def __init__(self, cuda: PretendedCuda) -> None:
        self._cuda = cuda

    def record(self, stream: object = None) -> None:
        self._time, self._waited = time.perf_counter(), self._cuda.waited

    def synchronize(self) -> None:
        self._cuda.wait()

    def elapsed_time(self, end: Event) -> float:
        if self._cuda.waited in (self._waited, end._waited):
            raise RuntimeError("device not ready: this event may not have been reached")
        return 1000 * (end._time - self._time)
