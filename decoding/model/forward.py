"""What a forward pass is, whoever runs it: transformers' own modules, or our lean ones."""

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
    """What a forward pass gives: `logits` [rows, V], `features` [n, H], the hidden states after the
    final norm, and `aux_hidden_states` [n, T * H], the inputs of the captured layers side by
    side (None where none is captured). After a prefill `logits` holds the last row alone."""

    logits: Tensor
    features: Tensor
    aux_hidden_states: Tensor | None = None

    def copy_of(self, rows: int, last_only: bool = False) -> ForwardOutput:
        """The first `rows` rows in memory of their own; of the logits only the last of these."""
        aux = self.aux_hidden_states
        return ForwardOutput(
            self.logits[rows - 1 if last_only else 0 : rows].clone(),
            self.features[:rows].clone(),
            None if aux is None else aux[:rows].clone(),
        )


class Forward(Protocol):
    """`layers`, `states` and `devices` say what a cache needs (a layer has rows, states, both or
    neither), `vocab_size` is the width of the logits, `linears` are those whose layout is ours to
    choose, each with its kind."""

    layers: Sequence[LayerShape | None]
    states: Mapping[int, int]
    devices: list[torch.device]
    vocab_size: int

    @property
    def linears(self) -> Sequence[tuple[str, Linear]]: ...

    def __call__(
        self, tokens: Tensor, positions: Tensor, mask: Mask, cache: TreeCache, last_only: bool
    ) -> ForwardOutput:
        """`tokens` [n] at `positions` [n] after the cache's rows; theirs are written, not
        committed. `mask` as `Target` draws it. `last_only`: logits of the last row alone."""

    def capture_layers(self, layers: Sequence[int]) -> None:
        """Give the inputs of these layers from now on."""

    def lm_head(self, features: Tensor) -> Tensor:
        """[..., H] -> [..., V], without the final scale or softcap that some models add."""
