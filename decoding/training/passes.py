"""Passes over a batch of left-padded prompts and then over its next tokens, for distillation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from decoding.model.architecture import window_of
from decoding.model.cache import BatchCache
from decoding.model.lean import LeanForward
from decoding.model.llama_shaped import is_llama_shaped
from decoding.model.recurrent import cache_argument
from decoding.model.target import Target


class PreallocatedLayer(DynamicLayer):
    """Keys and values with room for more: without it each token's would copy all those before."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._rooms: Sequence[Tensor] = ()

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        keys, values = self.keys, self.values
        if keys is None or values is None or not keys.numel():
            return super().update(key_states, value_states, *args, **kwargs)
        start = keys.shape[-2]
        end = start + key_states.shape[-2]
        if not self._rooms or end > self._rooms[0].shape[-2]:
            self._rooms = [_with_room(rows, end + end // 2) for rows in (keys, values)]
        for room, new in zip(self._rooms, (key_states, value_states), strict=True):
            room[..., start:end, :] = new
        keys, values = (room[..., :end, :] for room in self._rooms)
        self.keys, self.values = keys, values
        return keys, values

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        super().reorder_cache(beam_idx)
        self._rooms = ()

    @classmethod
    def joined(
        cls, parts: Sequence[tuple[PreallocatedLayer, Tensor]], rows: int
    ) -> PreallocatedLayer:
        """Return the last `rows` of the given sequences of each layer, one after the other."""
        joined = cls()
        keys = [_last(_rows(layer.keys)[chosen], rows) for layer, chosen in parts]
        values = [_last(_rows(layer.values)[chosen], rows) for layer, chosen in parts]
        joined.update(torch.cat(keys), torch.cat(values))
        return joined


def _rows(kept: Tensor | None) -> Tensor:
    assert kept is not None, "there was no pass yet"
    return kept


def _last(kept: Tensor, rows: int) -> Tensor:
    """The last `rows` of [..., rows, D], with zeros before them where there are fewer."""
    return functional.pad(kept[..., -rows:, :], (0, 0, max(rows - kept.shape[-2], 0), 0))


def _with_room(rows: Tensor, capacity: int) -> Tensor:
    room = rows.new_empty(*rows.shape[:-2], capacity, rows.shape[-1])
    room[..., : rows.shape[-2], :] = rows
    return room


class Passes:
    """Passes by transformers' modules."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._cache = DynamicCache(config=model.config)
        self._cache.layers = [
            PreallocatedLayer() if type(each) is DynamicLayer else each
            for each in self._cache.layers
        ]

    def __call__(self, ids: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        """The logits [B, V] after the last of the new `ids` [B, n], which have `positions`. `mask`
        [B, rows so far and new ones] is 0 where a row is padding."""
        given = {cache_argument(self._model): self._cache}
        logits: Tensor = self._model(
            input_ids=ids, attention_mask=mask, position_ids=positions, logits_to_keep=1, **given
        ).logits
        return logits[:, -1]

    def keep(self, sequences: Tensor) -> None:
        """Drop all but these of the batch."""
        # batch_select_indices is not implemented for layers with states
        self._cache.reorder_cache(cast(torch.LongTensor, sequences))

    @property
    def can_join(self) -> bool:
        """Whether every layer has the keys and values of all tokens. A window or a state, as of
        Mamba, is that of a batch whose sequences began together."""
        return all(isinstance(layer, PreallocatedLayer) for layer in self._cache.layers)

    def join(self, parts: Sequence[tuple[Passes, Tensor]], rows: int) -> None:
        """Become a batch of the given sequences of other ones, of which this may be one, with their
        last `rows`. Where there are fewer, padding comes before them."""
        layers: list[Any] = self._cache.layers
        for index in range(len(layers)):  # one by one, so that few rows are in memory twice
            of_layer = [(run._cache.layers[index], sequences) for run, sequences in parts]
            layers[index] = PreallocatedLayer.joined(cast(Any, of_layer), rows)


class LeanPasses(Passes):
    """The prompts' pass by transformers' modules, those of single tokens by a lean forward."""

    def __init__(self, model: PreTrainedModel, lean: LeanForward) -> None:
        super().__init__(model)
        self._lean = lean
        self._rows: BatchCache | None = None
        self._end = 0  # of the rows

    def __call__(self, ids: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        sequences, end = mask.shape
        self._end = end
        if self._rows is None:
            logits = super().__call__(ids, mask, positions)
            self._rows = self._make_rows(sequences)
            layers: list[Any] = self._cache.layers
            for rows, layer in zip(self._rows.rows(0, end), layers, strict=True):
                rows.keys.copy_(layer.keys)
                rows.values.copy_(layer.values)
            self._cache = DynamicCache()  # the rows are not needed twice
            return logits
        self._rows.reserve(end)
        additive = None
        if not mask.all():
            lowest = torch.finfo(self._model.dtype).min
            additive = torch.zeros(sequences, 1, 1, end, dtype=self._model.dtype)
            additive.masked_fill_(mask[:, None, None] == 0, lowest)
        new = self._rows.rows(end - 1, end)
        return self._lean.run(ids[:, 0], positions[:, 0], additive, new, end).logits

    def keep(self, sequences: Tensor) -> None:
        if self._rows is not None:
            self._rows.select(sequences)

    def join(self, parts: Sequence[tuple[Passes, Tensor]], rows: int) -> None:
        lean = [
            (run._rows, sequences, run._end)
            for run, sequences in parts
            if isinstance(run, LeanPasses) and run._rows is not None
        ]
        self._end = rows
        self._rows = self._make_rows(sum(len(sequences) for _, sequences, _ in lean))
        self._rows.take_last(rows, lean)

    def _make_rows(self, sequences: int) -> BatchCache:
        model, room = self._model, self._end + self._end // 2
        return BatchCache(self._lean.layers, sequences, room, model.dtype, model.device)


def lean_forward_of(model: PreTrainedModel) -> LeanForward | None:
    """Return the model's lean forward where it is known to be faster and has no windows: on a CPU.
    Else None. The model itself runs as before."""
    config = model.config.get_text_config(decoder=True)
    windowed = window_of(config) is not None
    if model.device.type != "cpu" or windowed or not is_llama_shaped(model):
        return None
    attention = str(model.config._attn_implementation)
    lean = Target(model).lean
    model.set_attn_implementation(attention)  # a target's does not take batches
    return lean
