"""Prefills a prompt: reuses cached rows, and copies those of another decoder on the same target."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from decoding.errors import InputError
from decoding.model.cache import TreeCache
from decoding.model.clock import synchronize
from decoding.model.prefix import common_prefix_length
from decoding.model.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class PrefilledPrompt:
    """A prefilled prompt that several decoders on the same target can share.

    `cache` holds its rows (and may grow after them), `states` are those of recurrent layers at its
    end. `logits` [1, V] belong to its last row, `features` [len(ids) - first, H] and
    `aux_hidden_states` [len(ids) - first, T * H] to the rows from `first` on: the last few, or all
    computed (not reused) ones if a drafter needs them (`complete`). `copied`: another decoder has
    computed all this, in `seconds`.
    """

    ids: tuple[int, ...]
    cache: TreeCache
    states: Sequence[Tensor]
    logits: Tensor
    first: int
    features: Tensor
    aux_hidden_states: Tensor | None
    complete: bool
    seconds: float
    copied: bool = False

    def without_features(self) -> PrefilledPrompt:
        """Make a copy for decoders that draft without features: these would take the memory of a
        layer or more as long as the answer lasts."""
        aux = self.aux_hidden_states
        return replace(
            self,
            first=len(self.ids) - 1,
            features=self.features[-1:].clone(),
            aux_hidden_states=None if aux is None else aux[-1:].clone(),
            complete=False,
        )


def require_room(context: int, name: str, tokens: int, advice: str = "shorten it") -> None:
    """Raise InputError for a prompt longer than the model's context."""
    if tokens > context:
        raise InputError(
            f"{name} has {tokens} tokens, the model's context holds {context}: {advice}"
        )


def require_known_ids(vocab_size: int, name: str, ids: Sequence[int]) -> None:
    """Raise InputError for a token id that the model does not have. Its embedding would fail, and
    on a GPU with it everything after."""
    ends = min(ids, default=0), max(ids, default=0)
    unknown = next((token for token in ends if not 0 <= token < vocab_size), None)
    if unknown is not None:
        raise InputError(
            f"{name} has the token id {unknown}, the model's ids are 0 to {vocab_size - 1}: use "
            "the model's own tokenizer"
        )


def prefill(
    target: Target,
    cache: TreeCache,
    cached: Sequence[int],
    prompt: Sequence[int],
    *,
    every_row: bool = False,
    shared: PrefilledPrompt | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> PrefilledPrompt:
    """Fill `cache`, which holds the rows of the ids `cached`, with those of `prompt`.

    `every_row`: a drafter needs the features of all rows that it has not seen. `shared` is used if
    it is the same prompt and has everything needed. Raises InterruptedError when `cancelled()`
    between two chunks; the cache then holds a prefix of the prompt.
    """
    begun = time.perf_counter()
    keep = every_row or target.keeps_features
    # The last token is always run: the first token is sampled from its logits.
    common = min(common_prefix_length(cached, prompt), len(prompt) - 1)
    if keep:  # and the row before the first new token, whose feature drafters pair with that token
        common = max(common - 1, 0)
    cache.truncate(common)
    common = cache.length
    if (
        shared is not None
        and shared.ids == tuple(prompt) == shared.cache.prompt_ids  # not since replaced
        and (not every_row or (shared.complete and shared.first <= common))
    ):
        cache.copy_rows(shared.cache, len(prompt), shared.states)
        cache.prompt_ids = shared.ids
        return replace(shared, cache=cache, copied=True)
    try:
        result = target.prefill(cache, prompt[common:], cancelled, keep)
    except BaseException:  # cancelled, interrupted, or out of memory
        if every_row:  # the drafter would miss the features of these rows
            cache.truncate(0)
        raise
    synchronize(target.device)
    cache.prompt_ids = tuple(prompt)
    return PrefilledPrompt(
        ids=tuple(prompt),
        cache=cache,
        states=cache.states(),
        logits=result.logits,
        first=len(prompt) - len(result.features),
        features=result.features,
        aux_hidden_states=result.aux_hidden_states,
        complete=keep,
        seconds=time.perf_counter() - begun,
    )
