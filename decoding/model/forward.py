"""The protocol of forward passes, by transformers' modules or by the lean ones here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from decoding.model.cache import LayerShape, TreeCache
from decoding.model.linears import Linear

Mask = Tensor | dict[str, Tensor | None] | None


@dataclass(frozen=True, slots=True, eq=False)
class ForwardOutput:
    """The result of a forward pass: `logits` [rows, V], `features` [n, H] (the hidden states after
    the final norm), and `aux_hidden_states` [n, T * H] (the concatenated inputs of the captured
    layers, None if there are none). After a prefill `logits` has only the last row."""

    logits: Tensor
    features: Tensor
    aux_hidden_states: Tensor | None = None

    def copy_of(self, rows: int, last_only: bool = False) -> ForwardOutput:
        """Copy the first `rows` rows; with `last_only` the logits of only the last of them."""
        aux = self.aux_hidden_states
        return ForwardOutput(
            self.logits[rows - 1 if last_only else 0 : rows].clone(),
            self.features[:rows].clone(),
            None if aux is None else aux[:rows].clone(),
        )


class Forward(Protocol):
    """A forward pass of a model. `layers`, `states` and `devices` describe the cache that it needs
    (a layer has rows, states, both or neither), `vocab_size` is the width of the logits, `linears`
    are those with a variable layout, each with its kind."""

    layers: Sequence[LayerShape | None]
    states: Mapping[int, int]
    devices: list[torch.device]
    vocab_size: int

    @property
    def linears(self) -> Sequence[tuple[str, Linear]]: ...

    def __call__(
        self, tokens: Tensor, positions: Tensor, mask: Mask, cache: TreeCache, last_only: bool
    ) -> ForwardOutput:
        """Run `tokens` [n] at `positions` [n] after the cache's rows. Their rows are written, but
        not committed. `mask` as made by `Target.mask`. `last_only`: logits of the last row only."""

    def capture_layers(self, layers: Sequence[int]) -> None:
        """Return the inputs of these layers from now on."""

    def lm_head(self, features: Tensor) -> Tensor:
        """Compute the logits [..., V] of features [..., H] without the final scale or softcap that
        some models add."""
