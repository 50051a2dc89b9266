"""Attention within the documents of packed rows, for CPUs.

A mask that keeps documents apart costs as much as attention over the whole row: with rows of 1,024
tokens and documents of 120, a third of a training step. Here documents of about the same length are
attended to together, by plain matrix products: torch's flash attention for CPUs, made for long
sequences, takes up to five times as long for the gradient of short ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface

DOCUMENTS = "documents"  # the name for `set_attn_implementation`
# Documents are filled up to one of these lengths, longer ones to a multiple of the last.
LENGTHS = (16, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024)
# Groups are filled up to a multiple of so many places: each new shape of a product costs about ten
# such products, and megabytes of the cache that oneDNN keeps of them.
PLACES = 256


def lengths_of(positions: Tensor) -> list[int]:
    """The lengths of the documents in packed rows, row by row, from the position [rows, columns] of
    each id in its document of two or more. What fills up a row, all at position 0, is one more."""
    starts = positions == 0
    starts[:, 1:] &= positions[:, :-1] != 0
    starts[:, 0] = True
    places = starts.flatten().nonzero().flatten()
    return places.diff(append=places.new_tensor([positions.numel()])).tolist()


def groups_of(lengths: list[int]) -> tuple[list[Tensor], Tensor]:
    """Places in the flat rows of documents with these lengths: for each group of similar ones
    [documents, length], and where each place is found in all the groups, one after another.

    A document is filled up by whatever follows: causal attention never looks ahead. Places that
    fill up a group are found nowhere."""
    total = sum(lengths)
    members: dict[int, list[tuple[int, int]]] = defaultdict(list)  # start, length
    for start, length in zip(accumulate(lengths, initial=0), lengths, strict=False):
        at = bisect_left(LENGTHS, length)
        size = LENGTHS[at] if at < len(LENGTHS) else -(-length // LENGTHS[-1]) * LENGTHS[-1]
        members[size].append((start, length))
    groups, found, before = [], torch.empty(total, dtype=torch.long), 0
    for size, documents in members.items():
        documents += [(0, 0)] * (-len(documents) % max(PLACES // size, 1))
        starts, sizes = torch.tensor(documents).T[..., None]
        places, own = starts + torch.arange(size), torch.arange(size) < sizes
        found[places[own]] = before + own.flatten().nonzero().flatten()
        before += places.numel()
        groups.append(places.clamp_(max=total - 1))
    return groups, found


@lru_cache
def ahead(length: int, dtype: torch.dtype) -> Tensor:
    """-inf where a key comes after the query, else 0, [length, length]."""
    return torch.full((length, length), -torch.inf, dtype=dtype).triu(1)


class CausalAttention(torch.autograd.Function):
    """`query` [n, kv heads, heads per kv head * length, size], `key` and `value` [n, kv heads,
    length, size] -> as `query`. Keeps the probabilities, which flash attention computes anew."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        length = key.shape[-2]
        scores = (query * scale) @ key.mT
        scores.unflatten(-2, (-1, length)).add_(ahead(length, query.dtype))
        shares = scores.softmax(-1)
        ctx.save_for_backward(query, key, value, shares)
        ctx.scale = scale
        return shares @ value

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, shares = ctx.saved_tensors
        scores = torch._softmax_backward_data(grad @ value.mT, shares, -1, shares.dtype)
        scores *= ctx.scale
        return scores @ key, scores.mT @ query, shares.mT @ grad, None


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    position_ids: Tensor,
    scaling: float,
    **_: Any,
) -> tuple[Tensor, None]:
    """Causal attention of `query` [rows, heads, columns, size] to the same document's `key` and
    `value` [rows, kv heads, columns, size], as transformers' attention functions do it; returns
    [rows, columns, heads, size]."""
    groups, found = groups_of(lengths_of(position_ids))
    heads = [query.shape[1], key.shape[1], value.shape[1]]
    query, key = query.to(value.dtype), key.to(value.dtype)  # RoPE has left autocast's bfloat16
    rows = torch.cat([query, key, value], 1).transpose(1, 2).flatten(0, 1)  # [places, heads, size]
    # Selected and split once: the gradient of each selection is as large as all rows.
    places = torch.cat([group.flatten() for group in groups])
    parts = rows.index_select(0, places).split([group.numel() for group in groups])
    outs = []
    with torch.autocast("cpu", enabled=False):  # it would compute softmax in float32
        for group, part in zip(groups, parts, strict=True):
            q, k, v = part.unflatten(0, group.shape).transpose(1, 2).split(heads, dim=1)
            per_kv_head = q.unflatten(1, (heads[1], -1)).flatten(2, 3)
            out: Tensor = CausalAttention.apply(per_kv_head, k, v, scaling)  # type: ignore[no-untyped-call]
            outs.append(out.view(q.shape).transpose(1, 2).flatten(0, 1))
    together = torch.cat(outs).index_select(0, found)
    return together.unflatten(0, (query.shape[0], -1)), None


# Not compiled, because every block has other lengths.
AttentionInterface.register(DOCUMENTS, torch.compiler.disable(attend))
