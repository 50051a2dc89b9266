"""Layers with a recurrent state instead of a row for each token: linear attention, state-space
models, short convolutions (Qwen3-Next, Granite 4, Nemotron-H, Falcon-H1, LFM2, Mamba 2).

A state is only known at the end of a pass, and can't be truncated at a rejected draft. So a round
starts with a copy of the states, and keeps the inputs of their layers. To roll back, the copy is
restored, and these layers alone (no attention, no MLP, no lm_head) run again over the rows that
stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.cache_utils import (
    Cache,
    DynamicCache,
    DynamicLayer,
    LinearAttentionCacheLayerMixin,
    LinearAttentionLayer,
)

from decoding.model.cache import LayerShape, TreeCache
from decoding.model.kv_precision import KVQuantizer


@dataclass(frozen=True, eq=False)
class Mixer:
    """A module that reads and writes a layer's state; `cache_name` is its parameter for the
    cache."""

    module: nn.Module
    cache_name: str

    def __call__(self, rows: Tensor, cache: Cache) -> None:
        self.module(rows, **{self.cache_name: cache})

    def record(self, module: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Keep the module's input in the cache; a forward pre-hook."""
        given = (*args, *kwargs.values())
        cache = next((each for each in given if isinstance(each, RecurrentCache)), None)
        if cache is not None:
            cache.record(self, args[0] if args else kwargs["hidden_states"])


@dataclass(eq=False)
class _Checkpoint:
    """The states after `length` rows, and the `inputs` of each mixer since, [1, n, H] per pass, up
    to `end` rows."""

    length: int
    end: int
    states: list[Tensor]
    inputs: dict[Mixer, list[Tensor]] = field(default_factory=dict)


class RecurrentCache(TreeCache):
    """A cache for chains, not trees. `layers` is None for a layer without keys and values; `states`
    is the number of states of each recurrent layer.

    `length` changes as in other caches. The states are brought to it before the next pass.
    """

    def __init__(
        self,
        layers: Sequence[LayerShape | None],
        states: Mapping[int, int],
        dtype: torch.dtype,
        devices: Sequence[torch.device],
        capacity: int = 256,
        quantizer: KVQuantizer | None = None,
    ) -> None:
        super().__init__(layers, dtype, devices, capacity, quantizer)
        self.layers = state_layers(len(layers), states)
        self._at = 0  # number of rows that the states include
        self._checkpoint: _Checkpoint | None = None

    def begin(self, rows: int) -> None:
        super().begin(rows)
        self._move_states()
        self._at += rows
        if self._checkpoint is not None and self._at > self._checkpoint.end:
            self._checkpoint = None

    def checkpoint(self, rows: int) -> None:
        self._move_states()
        states = self._states()
        old = self._checkpoint
        if old is not None and len(old.states) == len(states):
            torch._foreach_copy_(old.states, states)
            states = old.states
        else:
            states = [state.clone() for state in states]
        self._checkpoint = _Checkpoint(self.length, self.length + rows, states)

    def record(self, mixer: Mixer, rows: Tensor) -> None:
        """Keep a mixer's input, [1, n, H]."""
        if self._checkpoint is not None:
            self._checkpoint.inputs.setdefault(mixer, []).append(rows)

    def truncate(self, length: int) -> None:
        """Drop the rows from `length` on, or all if the states can't be rolled back that far."""
        super().truncate(length)
        known = self._at if self._checkpoint is None else self._checkpoint.length
        if length < known:
            self._length = 0

    def states(self) -> list[Tensor]:
        self._move_states()
        return [state.clone() for state in self._states()]

    def copy_rows(self, source: TreeCache, end: int, states: Sequence[Tensor] = ()) -> None:
        super().copy_rows(source, end, states)
        self.layers = deepcopy(source.layers)
        torch._foreach_copy_(self._states(), list(states))
        self._at, self._checkpoint = end, None

    @property
    def nbytes(self) -> int:
        """Bytes of keys, values and states, including copies and unused capacity."""
        held = [*self._states()]
        if self._checkpoint is not None:
            held += self._checkpoint.states
            held += [part for parts in self._checkpoint.inputs.values() for part in parts]
        return super().nbytes + sum(tensor.nbytes for tensor in held)

    def _move_states(self) -> None:
        """Bring the states to `length`."""
        if self._at == self.length:
            return
        saved, self._checkpoint = self._checkpoint, None
        if self.length == 0:
            for layer in self.layers:
                layer.reset()
            self._at = 0
            return
        if saved is None or not saved.length <= self.length <= self._at:
            raise RuntimeError(f"the states of {self._at} rows can't go back to {self.length}")
        if saved.length:
            torch._foreach_copy_(self._states(), saved.states)
        else:
            for layer in self.layers:
                layer.reset()
        rows = self.length - saved.length
        for mixer, parts in saved.inputs.items():
            kept = torch.cat(parts, 1)[:, :rows]
            saved.inputs[mixer] = [kept]
            if rows:
                mixer(kept, self)
        self._at, self._checkpoint = self.length, saved

    def _states(self) -> list[Tensor]:
        """The current states, which every pass writes in place."""
        kinds = (
            kind
            for layer in self.layers
            if isinstance(layer, LinearAttentionCacheLayerMixin)
            for kind in (layer.conv_states, layer.recurrent_states)
        )
        return [state for kind in kinds for state in kind.values() if state is not None]


def state_layers(count: int, states: Mapping[int, int]) -> list[Any]:
    """Make transformers' own cache layers, which hold the states of a model's recurrent layers."""
    return [
        LinearAttentionLayer(states[i]) if i in states else DynamicLayer() for i in range(count)
    ]


def recurrent_layers(config: Any) -> dict[int, int]:
    """Count the states of each recurrent layer, by layer."""
    try:
        layers = DynamicCache(config=config).layers
    except (AttributeError, KeyError, TypeError):  # kinds of layers that transformers doesn't know
        return {}
    return {
        index: layer.number_of_states
        for index, layer in enumerate(layers)
        if isinstance(layer, LinearAttentionCacheLayerMixin)
    }


class MixerFinder:
    """Finds the modules that write states to a cache: the innermost running ones when it
    happens."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._running: list[nn.Module] = []
        self._found: dict[nn.Module, None] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        hooks = []
        for module in self._model.modules():
            hooks.append(module.register_forward_pre_hook(self._enter))
            hooks.append(module.register_forward_hook(self._leave))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def note_state(self) -> None:
        """Note the module that writes a state now."""
        self._found[self._running[-1]] = None

    @property
    def mixers(self) -> list[Mixer]:
        return [Mixer(module, cache_argument(module)) for module in self._found]

    def _enter(self, module: nn.Module, args: object) -> None:
        self._running.append(module)

    def _leave(self, module: nn.Module, args: object, output: object) -> None:
        self._running.pop()


def cache_argument(module: nn.Module) -> str:
    """Return the name of a module's parameter for the cache: transformers has one for all since
    5.24."""
    parameters = signature(module.forward).parameters
    names = ("cache", "cache_params", "past_key_values")
    return next((name for name in names if name in parameters), names[-1])
