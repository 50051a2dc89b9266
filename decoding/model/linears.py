"""The linear maps of a lean forward. How a matrix lies in memory decides what a few rows cost on a
CPU, differently on each chip: so that is measured."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Linear:
    """x W^T + b for rows x [n, in]. Linears that read the same input are one matrix, and their
    modules in the library's model become views of it: there is no second copy of the weights, and
    the model stays as usable as it was."""

    def __init__(self, parts: Sequence[nn.Linear]) -> None:
        self._parts = parts
        self.bias: Tensor | None = None
        with torch.inference_mode(False), torch.no_grad():
            weight = _joined([part.weight for part in parts])
            biases = [part.bias for part in parts if part.bias is not None]
            if biases:
                self.bias = _joined(biases)
        self._place(weight.t())

    def __call__(self, x: Tensor) -> Tensor:
        """[n, in] -> [n, out]."""
        if self.bias is None:
            return torch.mm(x, self._columns)
        return torch.addmm(self.bias, x, self._columns)

    def add_to(self, residual: Tensor, x: Tensor) -> None:
        """The same, added to `residual` [n, out] in place."""
        residual.addmm_(x, self._columns)
        if self.bias is not None:
            residual.add_(self.bias)

    def _place(self, columns: Tensor) -> None:
        """`columns` [in, out], whatever its strides, holds the weights from now on."""
        self._columns = columns.detach()
        if len(self._parts) == 1 and self._parts[0].weight.data_ptr() == columns.data_ptr():
            return
        sizes = [part.out_features for part in self._parts]
        biases = [None] * len(sizes) if self.bias is None else self.bias.split(sizes)
        for part, weight, bias in zip(self._parts, columns.t().split(sizes), biases, strict=True):
            part.weight = nn.Parameter(weight, requires_grad=part.weight.requires_grad)
            if bias is not None:
                part.bias = nn.Parameter(bias, requires_grad=part.bias.requires_grad)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return tensors[0].detach() if len(tensors) == 1 else torch.cat(list(tensors))
