"""The forward pass of any decoder-only model by transformers' own modules, with hooks for their
hidden states."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel
from transformers.cache_utils import Cache

from decoding.errors import InputError, describe, is_out_of_memory
from decoding.model.architecture import decoder_of, hook_inputs
from decoding.model.cache import LayerShape, TreeCache
from decoding.model.forward import ForwardOutput, Mask
from decoding.model.linears import Linear
from decoding.model.recurrent import MixerFinder, cache_argument, recurrent_layers, state_layers


class TransformersForward:
    """The forward pass of transformers' modules; implements `decoding.model.forward.Forward`.
    Raises InputError for models that don't run with this library's cache and attention."""

    linears: Sequence[tuple[str, Linear]] = ()

    def __init__(self, model: PreTrainedModel, device: torch.device) -> None:
        self._model = model
        self._config: Any = model.config.get_text_config(decoder=True)
        self._device = device
        self._aux_layers: tuple[int, ...] = ()
        self._captured: dict[int, Tensor] = {}
        self._features: Tensor | None = None
        parameters = inspect.signature(model.forward).parameters
        self._takes_positions = "position_ids" in parameters
        self._cache_name = cache_argument(model)
        self._hooks = [decoder_of(model).register_forward_hook(self._remember_features)]
        self._capturing: list[RemovableHandle] = []
        self._last_row = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}
        self.states: Mapping[int, int] = recurrent_layers(self._config)
        self.layers: Sequence[LayerShape | None]
        self.layers, self.devices, self.vocab_size = self._probe()
        assert self._features is not None
        self.width: int = self._features.shape[-1]  # of the features

    def __call__(
        self, tokens: Tensor, positions: Tensor, mask: Mask, cache: TreeCache, last_only: bool
    ) -> ForwardOutput:
        options = self._last_row if last_only else {}
        logits = self._run(tokens, positions, cache, attention_mask=mask, **options)[0]
        if last_only:
            logits = logits[-1:]
        assert self._features is not None
        if not self._aux_layers:
            return ForwardOutput(logits, self._features)
        captured = [self._captured[layer].to(self._device) for layer in self._aux_layers]
        return ForwardOutput(logits, self._features, torch.cat(captured, dim=-1))

    def capture_layers(self, layers: Sequence[int]) -> None:
        def remember(layer: int, hidden: Tensor) -> None:
            self._captured[layer] = hidden[0]

        for hook in self._capturing:
            hook.remove()
        self._captured.clear()
        self._capturing = hook_inputs(self._model, set(layers), remember) if layers else []
        self._aux_layers = tuple(layers)

    def lm_head(self, features: Tensor) -> Tensor:
        logits: Tensor = self._model.get_output_embeddings()(features)
        return logits.to(features.device)

    def remove_hooks(self) -> None:
        """Remove the hooks. The forward must not be called any more afterwards."""
        for hook in (*self._hooks, *self._capturing):
            hook.remove()

    def _run(self, tokens: Tensor, positions: Tensor, cache: Cache, **options: Any) -> Tensor:
        """Logits [1, n, V]."""
        options[self._cache_name] = cache
        if self._takes_positions:
            options["position_ids"] = positions[None]
        logits: Tensor = self._model(input_ids=tokens[None], use_cache=True, **options).logits
        return logits

    def _remember_features(self, module: object, args: object, output: Any) -> None:
        self._features = output[0][0].to(self._device)

    @torch.inference_mode()
    def _probe(self) -> tuple[list[LayerShape | None], list[torch.device], int]:
        """One pass of one token finds what the config may not tell: the shapes of each layer's
        rows, the width of the logits, and the modules with a state. It also warms the model up."""
        kind = self._config.model_type
        finder = MixerFinder(self._model)
        count = int(self._config.num_hidden_layers) if self.states else 0
        recorded = _RecordingCache(state_layers(count, self.states), finder.note_state)
        zero = torch.zeros(1, dtype=torch.long, device=self._device)
        try:
            with finder.watching() if self.states else nullcontext():
                logits = self._run(zero, zero, recorded)
        except InputError:
            raise
        except Exception as error:  # models may need more than the cache offers
            if is_out_of_memory(error):
                raise
            raise InputError(
                f"{kind} is not supported: it does not run with this cache and attention: "
                f"{describe(error)}"
            ) from error
        order = range(count) if self.states else sorted(recorded.shapes)
        if not order or (not self.states and list(order) != list(range(len(recorded.shapes)))):
            raise InputError(
                f"{kind}: not every layer keeps keys and values of its own, so "
                "drafts can't be rolled back; use a plain decoder-only model"
            )
        for mixer in finder.mixers:
            hook = mixer.module.register_forward_pre_hook(mixer.record, with_kwargs=True)
            self._hooks.append(hook)
        return (
            [recorded.shapes.get(i) for i in order],
            [recorded.devices.get(i, self._device) for i in order],
            int(logits.shape[-1]),
        )


class _RecordingCache(Cache):
    """Records the shape of what each layer would store. `on_state` is called when a state
    is written."""

    def __init__(self, layers: list[Any], on_state: Callable[[], None]) -> None:
        super().__init__(layers=layers)
        self.shapes: dict[int, LayerShape] = {}
        self.devices: dict[int, torch.device] = {}
        self._on_state = on_state

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: object, **kw: object
    ) -> tuple[Tensor, Tensor]:
        self.shapes[layer_idx] = LayerShape(
            key_states.shape[1], key_states.shape[-1], value_states.shape[-1]
        )
        self.devices[layer_idx] = key_states.device
        return key_states, value_states

    def update_conv_state(self, *args: Any, **kwargs: Any) -> Tensor:
        self._on_state()
        state: Tensor = super().update_conv_state(*args, **kwargs)
        return state

    def update_recurrent_state(self, *args: Any, **kwargs: Any) -> Tensor:
        self._on_state()
        state: Tensor = super().update_recurrent_state(*args, **kwargs)
        return state

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        return query_length, 0
