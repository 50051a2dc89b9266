"""Muon: momentum whose step is made nearly orthogonal, matrix by matrix.

Jordan et al. 2024, kellerjordan.github.io/posts/muon. torch.optim.Muon always computes in bfloat16,
which CPUs without AVX-512 only emulate, and takes one small matrix after the other; this one picks
the precision for the device and orthogonalizes all matrices of one shape together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.optim import Optimizer

from decoding.training.precision import has_fast_bfloat16
from decoding.training.sharding import full_tensor, shard_like

MOMENTUM = 0.95
STEPS = 5  # of Newton-Schulz
_A, _B, _C = 3.4445, -4.7750, 2.0315  # Jordan's quintic: singular values end in about [0.7, 1.2]


def orthogonalize(matrices: Tensor) -> Tensor:
    """[n, rows, columns] -> the nearest semi-orthogonal matrices, roughly, by Newton-Schulz."""
    dtype = torch.bfloat16 if has_fast_bfloat16(matrices.device) else torch.float32
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = (matrices.mT if tall else matrices).to(dtype).contiguous()
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C), x, beta=_A)
    return (x.mT if tall else x).to(matrices.dtype)


def orthogonalize_together(matrices: Tensor) -> Tensor:
    """`orthogonalize` of the same matrices in every process of the default group: each takes its
    part of the work, and all get all."""
    processes = distributed.get_world_size()
    parts = matrices.new_zeros(-(-len(matrices) // processes) * processes, *matrices.shape[1:])
    parts[: len(matrices)] = matrices
    own = orthogonalize(parts.chunk(processes)[distributed.get_rank()])
    distributed.all_gather_into_tensor(parts, own.contiguous())
    return parts[: len(matrices)]


class Muon(Optimizer):
    """For matrices, [..., rows, columns]; sharded ones are gathered for each step. It has the root
    mean square of AdamW's (0.2 * lr), so that one learning rate and one weight decay serve both
    (Liu et al. 2025, 2502.16982).

    `fused`: the rows of each of the matrices that a parameter consists of, which are
    orthogonalized one by one. Of the whole the singular values would end near one, and a small
    part, such as the keys in a fused qkv, would get what the others leave.

    `together`: every process of the default group holds all matrices and the same gradients, so
    they share the work of a step.
    """

    def __init__(
        self,
        matrices: Sequence[nn.Parameter],
        lr: float,
        weight_decay: float = 0.0,
        together: bool = False,
        fused: Mapping[Tensor, Sequence[int]] | None = None,
    ) -> None:
        self._fused = fused or {}
        self._orthogonalize = orthogonalize_together if together else orthogonalize
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            by_form: dict[tuple[int, ...], list[nn.Parameter]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    rows, columns = parameter.shape[-2:]
                    by_form[*self._fused.get(parameter, [rows]), columns].append(parameter)
            for (*sizes, columns), parameters in by_form.items():
                nesterov = (full_tensor(self._nesterov(p)) for p in parameters)
                momenta = [momentum.reshape(-1, sum(sizes), columns) for momentum in nesterov]
                parts = [
                    self._orthogonalize(part) * max(part.shape[1:]) ** 0.5
                    for part in torch.cat(momenta).split(sizes, dim=1)
                ]
                updates = torch.cat(parts, dim=1).split([len(m) for m in momenta])
                for parameter, update in zip(parameters, updates, strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    update = shard_like(update.view(parameter.shape), parameter)
                    parameter.add_(update, alpha=-0.2 * group["lr"])

    def _nesterov(self, parameter: nn.Parameter) -> Tensor:
        assert parameter.grad is not None
        state = self.state[parameter]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(parameter)
        momentum: Tensor = state["momentum_buffer"]
        momentum.lerp_(parameter.grad, 1 - MOMENTUM)
        return parameter.grad.lerp(momentum, MOMENTUM)
