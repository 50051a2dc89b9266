"""The model backend that all strategies share: prefill a prompt, verify a tree."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache

from decoding.device import upload
from decoding.errors import InputError
from decoding.model import attention
from decoding.model.architecture import (
    UNLIMITED,
    context_of,
    layer_modules,
    refuse_unsupported,
    sliding_window,
)
from decoding.model.attention import additive_mask
from decoding.model.cache import LayerShape, TreeCache
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape, chain

PREFILL_CHUNK = 512
# Launching a pass takes longer than computing 512 rows, and only the first chunk needs no mask.
PREFILL_CHUNK_CUDA = 2048

Mask = Tensor | dict[str, Tensor | None] | None


@dataclass(frozen=True, slots=True, eq=False)
class ForwardOutput:
    """What a forward pass gives: `logits` [rows, V], `features` [n, H], the hidden states after the
    final norm, and `aux_hidden_states` [n, T * H], the inputs of the captured layers side by
    side (None where none is captured). After a prefill `logits` holds the last row alone."""

    logits: Tensor
    features: Tensor
    aux_hidden_states: Tensor | None = None


class Target:
    """A decoder-only model, run with our masks, positions and cache. Batch size 1.

    Raises InputError for models whose cache cannot be rolled back (recurrent layers) and whose
    positions are not given by position ids (ALiBi).
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model.eval()
        self.config: Any = model.config.get_text_config(decoder=True)
        refuse_unsupported(model, self.config)
        ours = self._set_attention()
        self.window, self._mixed = sliding_window(self.config)
        self.dtype: torch.dtype = model.dtype
        self.device = torch.device(model.get_input_embeddings().weight.device)  # type: ignore[arg-type]
        if self.device.type == "cuda":
            # cuDNN's attention makes a plan for every new length, and each pass here has another.
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.context = context_of(self.config)
        # A drafter of some lane wants every row's features: shared prefills keep them all.
        self.keeps_features = False
        self.aux_layers: tuple[int, ...] = ()
        self._captured: dict[int, Tensor] = {}
        self._features: Tensor | None = None
        model.get_decoder().register_forward_hook(self._remember_features)
        self._last_row = (
            {"logits_to_keep": 1}
            if "logits_to_keep" in inspect.signature(model.forward).parameters
            else {}
        )
        self._layers, self._devices, self.vocab_size = self._probe()
        self._fold = self._group_size() if ours else 1
        self._block = lru_cache(maxsize=64)(self._draw_block)

    @property
    def nbytes(self) -> int:
        return int(self.model.get_memory_footprint())

    @property
    def prefill_chunk(self) -> int:
        """Rows of a prompt that are run at a time."""
        return PREFILL_CHUNK_CUDA if self.device.type == "cuda" else PREFILL_CHUNK

    def new_cache(self, capacity: int = 256) -> TreeCache:
        return TreeCache(self._layers, self.dtype, self._devices, capacity)

    @property
    def hidden(self) -> int:
        """Width of the features."""
        return int(self.config.hidden_size)

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self._layers)

    def capture_layers(self, layers: Sequence[int]) -> None:
        """From now on every pass also gives the inputs of these layers (0 is the first), in this
        order: Hugging Face's `hidden_states[i]`. Raises InputError for layers that don't exist."""
        if self.aux_layers:
            raise RuntimeError("the layers of a target are captured once")
        modules = layer_modules(self.model.get_decoder(), self.depth)
        for layer in layers:
            if not 0 <= layer < len(modules):
                raise InputError(
                    f"the draft reads the input of layer {layer}, the target has layers 0 to "
                    f"{len(modules) - 1}: it was made for another model"
                )
        for layer in dict.fromkeys(layers):

            def remember(
                module: object, args: tuple[Any, ...], kwargs: dict[str, Any], layer: int = layer
            ) -> None:
                self._captured[layer] = (args[0] if args else kwargs["hidden_states"])[0]

            modules[layer].register_forward_pre_hook(remember, with_kwargs=True)
        self.aux_layers = tuple(layers)

    def logits(self, features: Tensor) -> Tensor:
        """[n, H] -> [n, V], as the model itself computes them: final scale or softcap included."""
        return logits_of(self.model, features)

    def lm_head(self, features: Tensor) -> Tensor:
        """[n, H] -> [n, V], without the final scale or softcap that some models add: these keep the
        order of the tokens."""
        logits: Tensor = self.model.get_output_embeddings()(features)
        return logits.to(features.device)

    @torch.inference_mode()
    def prefill(
        self,
        cache: TreeCache,
        ids: Sequence[int],
        cancelled: Callable[[], bool] = lambda: False,
        keep_features: bool = False,
    ) -> ForwardOutput:
        """Append `ids` (one or more) to the cache's rows, in chunks, and commit them.

        `features` and `aux_hidden_states` are those of all new rows with `keep_features`, else of
        the last chunk. Raises InterruptedError between two chunks when `cancelled()`; the rows so
        far stay.
        """
        cache.reserve(cache.length + len(ids))
        chunks: list[ForwardOutput] = []
        for start in range(0, len(ids), self.prefill_chunk):
            if cancelled():
                raise InterruptedError
            part = upload(ids[start : start + self.prefill_chunk], self.device)
            chunk = self._run(cache, part, chain(len(part) - 1), **self._last_row)
            cache.length += len(part)
            chunks = [*chunks, chunk] if keep_features else [chunk]
        last = chunks[-1]
        if len(chunks) == 1:
            return ForwardOutput(last.logits[-1:], last.features, last.aux_hidden_states)
        aux = [c.aux_hidden_states for c in chunks if c.aux_hidden_states is not None]
        return ForwardOutput(
            last.logits[-1:],
            torch.cat([chunk.features for chunk in chunks]),
            torch.cat(aux) if aux else None,
        )

    @torch.inference_mode()
    def forward(self, cache: TreeCache, tree: DraftTree) -> ForwardOutput:
        """Run the tree's nodes after the cache's rows. The rows are written, but only `cache.keep`
        commits them."""
        cache.reserve(cache.length + len(tree))
        return self._run(cache, tree.tokens, tree.shape)

    def _run(
        self, cache: TreeCache, tokens: Tensor, shape: TreeShape, **kwargs: int
    ) -> ForwardOutput:
        past = cache.length
        if shape.is_chain:
            positions = torch.arange(past, past + len(shape), device=self.device)
        else:
            positions = upload(shape.depths, self.device) + past
        logits = self.model(
            input_ids=tokens[None],
            position_ids=positions[None],
            attention_mask=self._mask(past, shape, positions),
            past_key_values=cache,
            use_cache=True,
            **kwargs,
        ).logits[0]
        assert self._features is not None
        if not self.aux_layers:
            return ForwardOutput(logits, self._features)
        captured = [self._captured[layer].to(self.device) for layer in self.aux_layers]
        return ForwardOutput(logits, self._features, torch.cat(captured, dim=-1))

    def _mask(self, past: int, shape: TreeShape, positions: Tensor) -> Mask:
        """None where every row sees all rows before it, else additive [1, 1, fold * n, past + n].

        A tree's rows see the whole prefix, their ancestors and themselves. Windows compare
        positions, not rows: siblings share a position, and rows are never dropped from the cache.
        """
        rows = len(shape)
        window = self.window if self.window is not None else UNLIMITED
        windowed = past + rows > window
        if not windowed and (rows == 1 or (past == 0 and shape.is_chain)):
            return None
        full = additive_mask(past, self._block(shape), self._fold)
        if not windowed:
            return full
        keys = torch.cat([torch.arange(past, device=self.device), positions])
        far = positions[:, None] - keys >= window
        near = additive_mask(past, self._block(shape), self._fold) if self._mixed else full
        near.unflatten(2, (-1, rows)).masked_fill_(far, torch.finfo(self.dtype).min)
        return {"full_attention": full, "sliding_attention": near} if self._mixed else near

    def _draw_block(self, shape: TreeShape) -> Tensor:
        """The tree's own part of the mask, [n, n]."""
        seen = ancestors(shape)
        lowest = torch.finfo(self.dtype).min
        block = torch.zeros(seen.shape, dtype=self.dtype).masked_fill(~seen, lowest)
        return upload(block, self.device)

    def _set_attention(self) -> bool:
        """Use our attention where the model's class takes one; others keep their own eager one."""
        ours = bool(getattr(self.model, "_supports_attention_backend", False))
        self.model.set_attn_implementation(attention.NAME if ours else "eager")
        return ours

    def _group_size(self) -> int:
        """How many query heads are folded into a mask's rows: the group of a key head, counted from
        what the cache holds (the config may say otherwise); 1, and each layer folds for itself,
        where layers differ."""
        kv_heads = {layer.kv_heads for layer in self._layers}
        if len(kv_heads) > 1:
            return 1
        return max(int(self.config.num_attention_heads) // kv_heads.pop(), 1)

    def _remember_features(self, module: object, args: object, output: Any) -> None:
        self._features = output[0][0].to(self.device)

    @torch.inference_mode()
    def _probe(self) -> tuple[list[LayerShape], list[torch.device], int]:
        """One pass of one token tells what the config may not: the shapes of each layer's rows and
        the width of the logits. It also warms the model up."""
        seen = _RecordingCache()
        zero = torch.zeros((1, 1), dtype=torch.long, device=self.device)
        try:
            logits = self.model(
                input_ids=zero, position_ids=zero, past_key_values=seen, use_cache=True
            ).logits
        except InputError:
            raise
        except Exception as error:  # models are free to want more than a cache offers
            raise InputError(
                f"{self.config.model_type} does not run with specchat's cache and attention: "
                f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            ) from error
        if not seen.shapes or sorted(seen.shapes) != list(range(len(seen.shapes))):
            raise InputError(
                f"{self.config.model_type}: not every layer keeps keys and values of its own, so "
                "drafts can't be rolled back; use a plain decoder-only model"
            )
        order = sorted(seen.shapes)
        return (
            [seen.shapes[i] for i in order],
            [seen.devices[i] for i in order],
            int(logits.shape[-1]),
        )


def ancestors(shape: TreeShape) -> Tensor:
    """bool [n, n]: row i sees column j when j is i or an ancestor of i."""
    seen = np.eye(len(shape), dtype=bool)  # numpy: a tenth of torch's time a row
    for node, parent in enumerate(shape.parents[1:], 1):
        seen[node] |= seen[parent]
    return torch.from_numpy(seen)


class _RecordingCache(Cache):
    """Notes the shape of what each layer would store."""

    def __init__(self) -> None:
        super().__init__(layers=[])
        self.shapes: dict[int, LayerShape] = {}
        self.devices: dict[int, torch.device] = {}

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: object, **kw: object
    ) -> tuple[Tensor, Tensor]:
        self.shapes[layer_idx] = LayerShape(
            key_states.shape[1], key_states.shape[-1], value_states.shape[-1]
        )
        self.devices[layer_idx] = key_states.device
        return key_states, value_states

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        return query_length, 0


def logits_of(model: PreTrainedModel, features: Tensor) -> Tensor:
    """States after the final norm [..., H] -> logits [..., V] as the model itself computes them,
    the final scale or softcap of some families included. On the features' device, wherever the
    lm_head lies."""
    config: Any = model.config.get_text_config(decoder=True)
    logits: Tensor = model.get_output_embeddings()(features.to(model.dtype)).to(features.device)
    if scale := getattr(config, "logit_scale", None):  # Cohere
        logits = logits * scale
    if divisor := getattr(config, "logits_scaling", None):  # Granite
        logits = logits / divisor
    if cap := getattr(config, "final_logit_softcapping", None):  # Gemma 2
        logits = torch.tanh(logits / cap) * cap
    return logits
