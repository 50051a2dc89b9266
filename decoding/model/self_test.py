"""Tests that a model computes the same logits for a row however it is run, which verification
relies on.

Model classes make masks, positions and states in too many ways for a list of supported ones, so
each model is tested once when it is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import DynamicCache

from decoding.errors import InputError, describe, is_out_of_memory
from decoding.model.architecture import Window, window_resized
from decoding.model.cache import TreeCache
from decoding.model.recurrent import cache_argument
from decoding.model.target import Target
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape, chain

# Largest root mean square of the differences of a row's logits, relative to their standard
# deviation. Rounding is far below, a wrong mask or position far above.
LIMIT, LIMIT_HALF = 0.01, 0.2

_PROMPT = 3
_TREE = TreeShape((-1, 0, 0, 2))  # a root, two children, and a child of the second
_PATH = (0, 2, 3)
_CHAIN, _BEGINNING = chain(3), (0, 1)  # for models that only verify chains
_WINDOW, _WINDOWED = 3, 6  # a window, and the rows of a prompt that is longer


@torch.inference_mode()
def self_test(target: Target) -> None:
    """Compare a short prefill with passes of one row, a tree with one of its paths, and the logits
    after that path was kept. Six passes, and four if rows can be beyond an attention window. Raises
    InputError.

    The context ends with the window that a config names where its class does not apply it, or not
    to all rows."""
    kind = target.config.model_type
    try:
        _compare(target)
        _compare_window(target)
    except InputError:
        raise
    except Exception as error:  # models may need more than the cache offers
        if is_out_of_memory(error):
            raise
        raise InputError(
            f"{kind} is not supported: it can't run several rows in one pass with this cache: "
            f"{describe(error)}"
        ) from error


def _compare(target: Target) -> None:
    shape, kept = (_CHAIN, _BEGINNING) if target.recurrent else (_TREE, _PATH)
    count = _PROMPT + len(shape) + 1
    ids = _ids(target, count)
    prompt, nodes, last = ids[:_PROMPT], ids[_PROMPT:-1], ids[-1:]
    path = [nodes[i] for i in kept]

    at_once, one_by_one = target.new_cache(), target.new_cache()
    rows = _run(target, at_once, prompt)
    at_once.commit(_PROMPT)
    singles = []
    for token in prompt[:-1]:
        singles.append(_run(target, one_by_one, [token]))
        one_by_one.commit(1)
    chained = _run(target, one_by_one, [*prompt[-1:], *path, *last])
    if not torch.cat([rows, chained]).max(-1).values.isfinite().all():
        raise InputError(
            f"the logits of this {target.config.model_type} model are not numbers (NaN or "
            "infinite): its weights are damaged, or too large for "
            f"{str(target.dtype).removeprefix('torch.')}"
        )
    _require(target, rows, torch.cat([*singles, chained[:1]]), "rows one by one and at once")
    tree = _run(target, at_once, nodes, shape)
    _require(target, tree[list(kept)], chained[1:-1], "a tree and its paths")
    at_once.keep(kept)
    after = _run(target, at_once, last)
    _require(target, after, chained[-1:], "what follows an accepted path and the same text")


def _compare_window(target: Target) -> None:
    """Run a prompt and one more row with a window that is shorter, and compare with transformers'
    own masks and cache. Some classes only inherit the name of a window: then the cache of
    `generate` forgets rows that their masks show. The source can't tell it: remote code has masks
    of its own, and a module may apply a window in one of its classes."""
    window = target.window
    if window is None or window.size >= target.context:
        return
    *prompt, last = _ids(target, _WINDOWED + 1)
    target.window = replace(window, size=_WINDOW)
    try:
        cache = target.new_cache()
        rows = _run(target, cache, prompt)
        cache.commit(len(prompt))
        found = torch.cat([rows, _run(target, cache, [last])])
    finally:
        target.window = window
    if _difference(found, _run_class(target, window, prompt, last)) > _limit(target):
        target.context, target.window = window.size, None


def _run_class(target: Target, window: Window, prompt: Sequence[int], last: int) -> Tensor:
    """Logits of all rows of a prompt and of one more by the class itself, float32 [n, V]."""
    logits = []
    with target.as_loaded() as model, window_resized(model, window, _WINDOW):
        cache = DynamicCache(config=model.config)
        for tokens in (prompt, [last]):
            ids = torch.tensor([tokens], device=target.device)
            options: dict[str, Any] = {cache_argument(model): cache}
            logits.append(model(input_ids=ids, use_cache=True, **options).logits[0].float())
    return torch.cat(logits)


def _ids(target: Target, count: int) -> list[int]:
    return [(i + 1) * (target.vocab_size - 1) // count for i in range(count)]


def _run(
    target: Target, cache: TreeCache, tokens: Sequence[int], shape: TreeShape | None = None
) -> Tensor:
    """Logits of all rows, float32 [n, V]."""
    tree = DraftTree(shape or chain(len(tokens) - 1), torch.tensor(tokens, device=target.device))
    return target.forward(cache, tree).logits.float()


def _require(target: Target, found: Tensor, expected: Tensor, what: str) -> None:
    if _difference(found, expected) > _limit(target):
        why = (
            "its recurrent layers lose their state"
            if target.recurrent
            else "it makes masks, positions or states of its own"
        )
        raise InputError(
            f"{target.config.model_type} computes different logits for {what}: {why}, so drafts "
            "can't be verified exactly; use another kind of model"
        )


def _difference(found: Tensor, expected: Tensor) -> float:
    """The largest root mean square of the differences in a row, relative to its deviation."""
    spread = expected.std(-1).clamp_min(torch.finfo(torch.float32).tiny)
    return float(((found - expected).square().mean(-1).sqrt() / spread).max())


def _limit(target: Target) -> float:
    return LIMIT if target.dtype == torch.float32 else LIMIT_HALF
