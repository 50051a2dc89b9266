"""The linear maps of a lean forward, with a variable memory layout of their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

# Numbers of rows for which layouts are measured; others use the next lower one.
ROWS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Layout:
    """`transposed`: the weights are stored as [in, out]. `packed`: those of `ROWS` for which a
    second copy in oneDNN's own format is used; (): there is none."""

    transposed: bool = False
    packed: tuple[int, ...] = ()


class Linear:
    """x W^T + b for rows x [n, in]. Linears with the same input are fused into one matrix, and
    their modules in the library's model become views of it: the weights are not copied, and the
    model stays usable. Only a packed copy is separate, and does not follow later changes of the
    weights."""

    def __init__(self, parts: Sequence[nn.Linear], movable: bool = True) -> None:
        """Not `movable`: the layout must not change, as something else relies on it."""
        self._parts = parts
        self._movable = movable
        self._packed: Tensor | None = None
        self._by_packed = [False] * (ROWS[-1] + 1)  # by number of rows, the last for all higher
        with torch.inference_mode(False), torch.no_grad():
            self._weight = _joined([part.weight for part in parts]).t()  # [in, out]
            biases = [part.bias for part in parts if part.bias is not None]
            self._bias = _joined(biases) if biases else None
            if len(parts) > 1:
                self._make_views()

    def __call__(self, x: Tensor) -> Tensor:
        """[n, in] -> [n, out]."""
        if self._packed is not None and self._by_packed[min(len(x), ROWS[-1])]:
            return _packed_linear(x, self._packed, self._bias)
        if self._bias is None:
            return torch.mm(x, self._weight)
        return torch.addmm(self._bias, x, self._weight)

    def add_to(self, residual: Tensor, x: Tensor) -> None:
        """The same, added to `residual` [n, out] in place."""
        if self._packed is not None and self._by_packed[min(len(x), ROWS[-1])]:
            residual.add_(_packed_linear(x, self._packed, self._bias))
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
        return 0 if self._packed is None else self._weight.nbytes

    def arrange(self, layout: Layout) -> None:
        """Change the layout of the weights."""
        self._packed = None
        with torch.inference_mode(False), torch.no_grad():
            if self._movable and layout.transposed != self._weight.is_contiguous():
                w = self._weight
                self._weight = w.contiguous() if layout.transposed else w.t().contiguous().t()
                self._make_views()
            if layout.packed:
                self._packed = _pack(self._weight.t().contiguous())
        below = [max(rows for rows in (0, *ROWS) if rows <= n) for n in range(ROWS[-1] + 1)]
        self._by_packed = [rows in layout.packed for rows in below]

    def _make_views(self) -> None:
        """Make the library's linears views of the fused weights."""
        sizes = [part.out_features for part in self._parts]
        biases = [None] * len(sizes) if self._bias is None else self._bias.split(sizes)
        weights = self._weight.t().split(sizes)
        for part, weight, bias in zip(self._parts, weights, biases, strict=True):
            part.weight = nn.Parameter(weight, requires_grad=part.weight.requires_grad)
            if bias is not None:
                part.bias = nn.Parameter(bias, requires_grad=part.bias.requires_grad)


def can_pack(dtype: torch.dtype) -> bool:
    """Whether oneDNN is available and has linears of this type for this CPU."""
    try:
        one = torch.ones(1, 1, dtype=dtype)
        _packed_linear(one, _pack(one), None)
    except (AttributeError, RuntimeError):
        return False
    return True


def _pack(weight: Tensor) -> Tensor:
    """`weight` [out, in] in oneDNN's own format. The format for one row is up to twice as slow for
    several (seen with AVX2); the one for many rows is good for few."""
    return torch.ops.mkldnn._reorder_linear_weight(  # type: ignore[no-any-return]
        weight, ROWS[-1]
    )


def _packed_linear(x: Tensor, packed: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(  # type: ignore[no-any-return]
        x, packed, bias, "none", [], ""
    )


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return tensors[0].detach() if len(tensors) == 1 else torch.cat(list(tensors))
