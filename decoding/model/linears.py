"""The linear maps of a lean forward, with a variable memory layout of their weights."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

# Numbers of rows for which layouts are measured; others use the next lower one.
ROWS = (1, 2, 4, 8, 16)

# Up to this many weights, one thread is faster for an fp16 copy.
SERIAL = 1 << 18


class Layout(NamedTuple):
    """The memory layout of a linear. `transposed`: the weights are stored as [in, out].
    `packed_rows`: those of `ROWS` for which a packed copy is used; (): there is none. It is in
    oneDNN's own format, or in `fp16`."""

    transposed: bool = False
    packed_rows: tuple[int, ...] = ()
    fp16: bool = False


class Linear:
    """The map x W^T + b for rows x [n, in]. Linears with the same input are fused into one matrix,
    and their modules in transformers' model become views of it: the weights are not copied, and the
    model stays usable. Only a packed copy is separate, and does not follow later changes of the
    weights."""

    def __init__(self, parts: Sequence[nn.Linear], transposable: bool = True) -> None:
        """Not `transposable`: the stored weights keep their order, as something else relies on
        it."""
        self._parts = parts
        self._transposable = transposable
        self._packed: Callable[[Tensor], Tensor] | None = None
        self._fp16 = False
        self._by_packed = [False] * (ROWS[-1] + 1)  # by number of rows, the last for all higher
        with torch.inference_mode(False), torch.no_grad():
            self._weight = _joined([part.weight for part in parts]).t()  # [in, out]
            biases = [part.bias for part in parts if part.bias is not None]
            self._bias = _joined(biases) if biases else None
            if len(parts) > 1:
                self._make_views()

    def __call__(self, x: Tensor) -> Tensor:
        """Compute x W^T + b, [n, in] -> [n, out]."""
        if self._packed is not None and self._by_packed[min(x.shape[0], ROWS[-1])]:
            return self._packed(x)
        if self._bias is None:
            return torch.mm(x, self._weight)
        return torch.addmm(self._bias, x, self._weight)

    def add_to(self, residual: Tensor, x: Tensor) -> None:
        """Add x W^T + b to `residual` [n, out], in place."""
        if self._packed is not None and self._by_packed[min(x.shape[0], ROWS[-1])]:
            residual.add_(self._packed(x))
            return
        residual.addmm_(x, self._weight)
        if self._bias is not None:
            residual.add_(self._bias)

    @property
    def inputs(self) -> int:
        return self._weight.shape[0]

    @property
    def nbytes(self) -> int:
        return self._weight.nbytes

    @property
    def packed_nbytes(self) -> int:
        return 0 if self._packed is None else self.copy_nbytes(self._fp16)

    def copy_nbytes(self, fp16: bool) -> int:
        """Return the bytes of a packed copy."""
        return 2 * self._weight.numel() if fp16 else self._weight.nbytes

    @property
    def bytes_per_row(self) -> int:
        """The bytes that a pass over one row reads."""
        return self.packed_nbytes if self._by_packed[1] else self._weight.nbytes

    @property
    def fits_fp16(self) -> bool:
        """Whether float16 represents the weights exactly, up to a power of two."""
        return fp16_exponent(self._weight) is not None

    def set_layout(self, layout: Layout) -> None:
        """Change the layout of the weights."""
        self._packed = None
        with torch.inference_mode(False), torch.no_grad():
            if self._transposable and layout.transposed != self._weight.is_contiguous():
                w = self._weight
                self._weight = w.contiguous() if layout.transposed else w.t().contiguous().t()
                self._make_views()
            self._fp16 = layout.fp16
            if layout.packed_rows:
                pack = _fp16 if layout.fp16 else _packed
                self._packed = pack(self._weight.t().contiguous(), self._bias)
        if self._packed is None:
            layout = Layout()
        below = [max(rows for rows in (0, *ROWS) if rows <= n) for n in range(ROWS[-1] + 1)]
        self._by_packed = [rows in layout.packed_rows for rows in below]

    def _make_views(self) -> None:
        """Make transformers' linears views of the fused weights."""
        sizes = [part.out_features for part in self._parts]
        biases = [None] * len(sizes) if self._bias is None else self._bias.split(sizes)
        weights = self._weight.t().split(sizes)
        for part, weight, bias in zip(self._parts, weights, biases, strict=True):
            part.weight = nn.Parameter(weight, requires_grad=part.weight.requires_grad)
            if bias is not None:
                part.bias = nn.Parameter(bias, requires_grad=part.bias.requires_grad)


def can_pack(dtype: torch.dtype, fp16: bool = False) -> bool:
    """Return whether torch has packed linears of this type for this CPU."""
    one = torch.ones(1, 1, dtype=dtype)
    try:
        packed = (_fp16 if fp16 else _packed)(one, None)
        return packed is not None and packed(one) is not None
    except (AttributeError, RuntimeError, TypeError):  # also of another torch's signature
        return False


def _packed(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    """x W^T + b by a copy of `weight` [out, in] in oneDNN's own format. The format for one row is
    up to twice as slow for several (seen with AVX2); the one for many rows is good for few."""
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS[-1])
    linear = torch.ops.mkldnn._linear_pointwise
    return lambda x: linear(x, packed, bias, "none", [], "")


def _fp16(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor] | None:
    """x W^T + b, computed in float32 by a copy of `weight` [out, in] in float16, which takes half
    the time to read. None unless the copy holds the same numbers, up to a power of two."""
    exponent = fp16_exponent(weight)
    if exponent is None:
        return None
    scaled = weight.float() * 2.0**exponent
    factor = torch.full((), 2.0**-exponent)  # multiplying by a number takes three times as long
    wide_bias, dtype = None if bias is None else bias.float(), weight.dtype
    linear: Any
    packed: tuple[Any, ...]
    if torch.get_num_threads() > 1 and weight.numel() > SERIAL:
        packed = (torch.ops.quantized.linear_prepack_fp16(scaled),)
        linear = torch.ops.quantized.linear_dynamic_fp16
    else:  # a third of the overhead, one thread; both warn once that they may be removed
        with warnings.catch_warnings(action="ignore"):
            packed = torch.fbgemm_pack_gemm_matrix_fp16(scaled), None
            linear = torch.fbgemm_linear_fp16_weight_fp32_activation
            linear(scaled[:1], *packed)

    def product(x: Tensor) -> Tensor:
        out: Tensor = linear(x.float(), *packed)
        if exponent:
            out.mul_(factor)
        if wide_bias is not None:
            out.add_(wide_bias)
        return out if dtype == torch.float32 else out.to(dtype)

    return product


def fp16_exponent(weight: Tensor) -> int | None:
    """Find the k for which `weight` * 2^k is exact in float16, as for nearly all weights that are
    or were float16 or bfloat16; else None."""
    _, above = math.frexp(float(weight.abs().max()))
    for exponent in (0, 16 - above):
        scaled = (part.float() * 2.0**exponent for part in weight.split(64))
        if all(part.equal(part.half().float()) for part in scaled):
            return exponent
    return None


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return tensors[0].detach() if len(tensors) == 1 else torch.cat(list(tensors))
