"""Facts about a model from its class and config: whether it can be run at all, the length of its
context, its attention windows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel

from decoding.errors import InputError
from decoding.model.recurrent import cache_argument

UNLIMITED = 1 << 30
MIN_CONTEXT = 16

_LAYER_TYPES = {
    *("full_attention", "sliding_attention", "chunked_attention"),
    *("linear_attention", "conv", "hybrid"),
    *("mlp", "moe"),  # neither rows nor a state
}


def require_supported(model: PreTrainedModel, config: Any) -> None:
    """Raise InputError for a model with which drafts can't be verified or rolled back."""
    kind = config.model_type
    if getattr(config, "is_encoder_decoder", False):
        raise InputError(
            f"{kind} is an encoder-decoder model, which is not supported; use a decoder-only model"
        )
    # Segment embeddings mark BERT and its kin, which are decoders only when configured so.
    if hasattr(config, "type_vocab_size") and getattr(config, "is_decoder", True) is False:
        raise InputError(
            f"{kind} is configured as an encoder, which is not supported; use a decoder-only model"
        )
    other = set(getattr(config, "layer_types", None) or []) - _LAYER_TYPES
    if other:
        raise InputError(
            f"{kind} has layers of type {', '.join(sorted(other))}, which are not supported; "
            "use a model with plain, sliding-window or linear attention"
        )
    if "local" in (getattr(config, "attention_layers", None) or []):
        raise InputError(
            f"{kind} windows its attention by the order of its rows, so a tree of drafts can't be "
            "verified; use a model with plain or sliding-window attention"
        )
    parameters = inspect.signature(model.forward).parameters
    recurrent = model._is_stateful and cache_argument(model) in parameters  # it needs no positions
    placed = "position_ids" in parameters or recurrent
    if getattr(config, "alibi", False) or not placed:
        raise InputError(
            f"{kind} takes no position ids (ALiBi, or positions counted by row), so a tree of "
            "drafts can't be verified; use a model with rotary positions"
        )


def context_of(config: Any) -> int:
    """Return the length of the longest sequence. Yarn extends it to `factor` times the original
    length (2309.00071), which published configs often still state. Longrope changes the frequencies
    of all rows beyond the original length, and dynamic rope beyond the stated one; cached rows
    can't follow, so the context ends there. Raises InputError for a length too short for the self
    test."""
    longest = getattr(config, "max_position_embeddings", None)
    longest = UNLIMITED if longest is None else int(longest)
    if longest < MIN_CONTEXT:
        raise InputError(f"config.json: max_position_embeddings is {longest}: too few to decode")
    given = getattr(config, "rope_parameters", None) or {}
    by_layer_type = [each for each in given.values() if isinstance(each, dict)]
    for rope in by_layer_type or [given]:
        kind, original = rope.get("rope_type"), rope.get("original_max_position_embeddings")
        if kind == "yarn" and original:
            longest = max(longest, int(original * (rope.get("factor") or 1)))
        elif kind == "longrope":
            outside = getattr(config, "original_max_position_embeddings", None)
            longest = min(longest, original or outside or longest)
    return longest


@dataclass(frozen=True, slots=True)
class Window:
    """Attention that reaches `size` positions back or, if `chunked`, to the beginning of its chunk
    of `size` positions. `layer_type`: the layers with a window, None for all."""

    size: int
    layer_type: str | None = None

    def hides(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return which keys are outside of the window, bool [n, m], for query positions [n] and key
        positions [m]."""
        if self.layer_type == "chunked_attention":
            return queries[:, None] // self.size != keys // self.size
        return queries[:, None] - keys >= self.size


def window_of(config: Any) -> Window | None:
    """Return the attention window that the config names, None if there is none. Classes need not
    apply it so: see `window_resized`."""
    size = getattr(config, "sliding_window", None)
    types = getattr(config, "layer_types", None)
    if types and "chunked_attention" in types:
        return Window(config.attention_chunk_size, "chunked_attention")
    if size is None:
        return None
    if types is None:
        return Window(size) if getattr(config, "use_sliding_window", True) else None
    return Window(size, "sliding_attention") if "sliding_attention" in types else None


@contextmanager
def window_resized(model: PreTrainedModel, window: Window, size: int) -> Iterator[None]:
    """Give the model, within a `with` block, a `window` of `size` positions: in its config, and
    where modules keep a copy."""
    name = "sliding_window"
    if window.layer_type == "chunked_attention":
        name = "attention_chunk_size"
    holders: list[Any] = [model.config.get_text_config(decoder=True)]
    for module in model.modules():
        holders += [module, vars(module).get("config")]
    resized = {
        id(holder): holder
        for holder in holders
        if holder is not None and vars(holder).get(name) == window.size
    }.values()
    for holder in resized:
        setattr(holder, name, size)
    try:
        yield
    finally:
        for holder in resized:
            setattr(holder, name, window.size)


def decoder_of(model: PreTrainedModel) -> nn.Module:
    """Return the text decoder without its lm_head."""
    decoder: nn.Module = model.get_decoder()
    if isinstance(decoder, nn.Linear):  # ModernBERT calls its lm_head so
        return model.base_model
    return cast(nn.Module, decoder.model) if hasattr(decoder, "lm_head") else decoder  # Llama 4


def layers_of(model: PreTrainedModel) -> tuple[str, nn.ModuleList]:
    """Return the name of the text decoder's list of layers, and the list: a vision tower may have
    as many. Raises InputError."""
    depth = model.config.get_text_config(decoder=True).num_hidden_layers
    of_text = set(decoder_of(model).modules())
    for name, module in model.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == depth and module in of_text:
            return name, module
    raise InputError(f"the layers of a {model.config.model_type} can't be told from its modules")


def hook_inputs(
    model: PreTrainedModel, layers: Iterable[int], remember: Callable[[int, Tensor], None]
) -> list[RemovableHandle]:
    """Add hooks that call `remember` in every pass with each of these `layers` and its input [B, n,
    H]. Not the model's own `output_hidden_states`: Mamba's begin with the first output."""
    _, modules = layers_of(model)

    def of_layer(layer: int) -> RemovableHandle:
        def hook(module: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            remember(layer, args[0] if args else kwargs["hidden_states"])

        return modules[layer].register_forward_pre_hook(hook, with_kwargs=True)

    return [of_layer(layer) for layer in layers]
