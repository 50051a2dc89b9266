"""Muon for matrices and AdamW for the rest, as one optimizer for the Trainer. Small heads need
several times fewer steps than with AdamW alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from decoding.training.muon import Muon

BETAS = (0.9, 0.95)  # of AdamW beside Muon


class MuonAndAdamW(Optimizer):
    """`matrices` by Muon at `muon_lr`, see there for `fused` ones; `others` by AdamW at `lr`."""

    def __init__(
        self,
        matrices: Sequence[nn.Parameter],
        others: Sequence[nn.Parameter],
        muon_lr: float,
        lr: float,
        fused: Mapping[Tensor, Sequence[int]] | None = None,
    ) -> None:
        self._parts: tuple[Optimizer, ...] = (
            Muon(matrices, muon_lr, fused=fused),
            AdamW(others, lr=lr, betas=BETAS, weight_decay=0.0),
        )
        super().__init__([group for part in self._parts for group in part.param_groups], {})
        self._share_state()

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Tensor | None:  # type: ignore[override]
        for part in self._parts:
            part.step()
        return None

    def __setstate__(self, state: dict[str, Any]) -> None:  # of `load_state_dict`
        super().__setstate__(state)
        self._share_state()

    def _share_state(self) -> None:
        for part, group in zip(self._parts, self.param_groups, strict=True):
            part.param_groups, part.state = [group], self.state


def optimizer_of(
    model: nn.Module,
    lr: float,
    muon_lr: float,
    apart: Sequence[str] = ("lm_head", "embedding", "bias"),
    fused: Mapping[Tensor, Sequence[int]] | None = None,
) -> Optimizer | None:
    """Muon for the matrices of `model` whose names contain none of `apart`, AdamW for the rest;
    None (the Trainer's own AdamW) if `muon_lr` is 0. `fused`: the rows of the matrices that a
    parameter consists of."""
    if not muon_lr:
        return None
    learned = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    matrices = [p for name, p in learned if p.ndim >= 2 and not any(a in name for a in apart)]
    taken = {id(p) for p in matrices}
    others = [p for _, p in learned if id(p) not in taken]
    return MuonAndAdamW(matrices, others, muon_lr, lr, fused)
