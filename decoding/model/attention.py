"""Our attention, registered through transformers' AttentionInterface.

transformers' SDPA path expands keys and values to all query heads (`repeat_kv`) if there is a mask
and more than one query row, which copies the whole prefix in each layer and round. Here the query
heads of a group become additional query *rows* of their key head, so that keys and values are read
in place.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from decoding.errors import InputError
from decoding.model.kernels import kernels_for

NAME = "specchat"

MASK_ALIGNMENT = 16

# Arguments that change the mathematics and that this attention does not implement.
_REFUSED = ("position_bias", "sinks", "head_mask")

# Query rows of a key head, for the kernel: it reads the prefix once for every 64 of them.
MAX_KERNEL_ROWS = 512

# Maximum number of attention scores in memory at once, where they are materialized.
_SCORES = 1 << 27


def folded_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Compute attention with the query heads of a group folded into rows of their key head: query
    [1, H, n, D], key and value [1, K, L, D], additive mask [1, 1, n or n*H/K, L]; `s_aux` [H]: each
    head's sink, as in gpt-oss.

    A mask that has H/K times n rows is already folded (see `additive_mask`). None with more than
    one query row means plain causal and needs L == n. Returns [1, n, H, D].
    """
    for name in _REFUSED:
        if kwargs.get(name) is not None:
            raise InputError(f"this model's attention uses '{name}', which is not supported")
    rows = query.shape[2]
    if softcap is None and s_aux is None:
        return attend(query, key, value, attention_mask, scaling), None
    if attention_mask is None and rows > 1:
        attention_mask = causal_mask(rows, query.dtype, query.device)
    folded, mask = _fold(query, key.shape[1], attention_mask)
    sinks = None
    if s_aux is not None:
        sinks = s_aux.view(1, key.shape[1], -1, 1).repeat_interleave(rows, 2)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    # as many rows at a time as there is room for
    step = max(_SCORES // (key.shape[1] * key.shape[2]), 1)
    parts = []
    for start in range(0, folded.shape[2], step):
        part = slice(start, start + step)
        scores = folded[:, :, part] @ key.mT * scale
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        if mask is not None:
            scores = scores + mask[:, :, part]
        weights = _softmax(scores, None if sinks is None else sinks[:, :, part])
        parts.append(weights.to(query.dtype) @ value)
    return _unfold(torch.cat(parts, 2), rows), None


def _softmax(scores: Tensor, sinks: Tensor | None) -> Tensor:
    """float32 exp(s_j) / (sum_i exp(s_i) + exp(sink)): the sink's share goes to no row."""
    if sinks is None:
        return scores.softmax(-1, dtype=torch.float32)
    scores, sinks = scores.float(), sinks.float()
    highest = torch.maximum(scores.amax(-1, keepdim=True), sinks)
    weights = (scores - highest).exp_()
    return weights / (weights.sum(-1, keepdim=True) + (sinks - highest).exp_())


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float | None = None
) -> Tensor:
    """Compute `folded_attention` without sinks, by torch's own attention; also for several
    sequences with a common mask: [B, H, n, D] and [B, K, L, D]."""
    rows = query.shape[2]
    if mask is None and rows > 1:
        out = scaled_dot_product_attention(
            query,
            key,
            value,
            is_causal=True,
            scale=scale,
            enable_gqa=query.shape[1] != key.shape[1],
        )
        return out.transpose(1, 2).contiguous()
    if mask is not None and query.is_cuda and _fits_kernel(query, key, value, mask):
        kernels = kernels_for(query)
        if kernels is not None:
            scale = query.shape[-1] ** -0.5 if scale is None else scale
            fused: Tensor = kernels.attend(query, key, value, mask, scale)
            return fused
    folded, mask = _fold(query, key.shape[1], mask)
    out = scaled_dot_product_attention(folded, key, value, attn_mask=mask, scale=scale)
    return _unfold(out, rows)


def _fits_kernel(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> bool:
    """Whether `triton_kernels.attend` can compute this: a few rows of one sequence, and one mask
    for all heads."""
    few = query.shape[1] * query.shape[2] <= MAX_KERNEL_ROWS * key.shape[1]
    contiguous = all(each.stride(-1) == 1 for each in (query, key, value, mask))
    alone = len(query) == 1 and mask.shape[1] == 1
    return few and contiguous and alone and key.shape == value.shape


def _fold(query: Tensor, kv_heads: int, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """[B, H, n, D] -> [B, K, H/K * n, D], head of a group slowest, and the mask likewise."""
    sequences, heads, rows, dim = query.shape
    group = heads // kv_heads
    if mask is not None:
        if group > 1 and mask.shape[-2] == rows:
            mask = mask.repeat(1, 1, group, 1)
        elif mask.shape[-2] > group * rows:
            # keys that were cached compressed and expanded to more heads since (MLA)
            mask = mask[:, :, : group * rows]
    return query.reshape(sequences, kv_heads, group * rows, dim), mask


def _unfold(out: Tensor, rows: int) -> Tensor:
    """[B, K, H/K * n, D] -> [B, n, H, D]."""
    sequences, *_, dim = out.shape
    return out.reshape(sequences, -1, rows, dim).transpose(1, 2).contiguous()


def additive_mask(past: int, tree_mask: Tensor, dtype: torch.dtype, group_size: int) -> Tensor:
    """Make an additive mask [1, 1, group_size * n, past + m], head of a group slowest: rows see the
    whole prefix, and the columns after it where `tree_mask`, bool [n, m], is true.

    Rows start at multiples of 16 elements: otherwise CUDA's memory-efficient kernel would copy the
    mask to aligned rows, in every layer.
    """
    rows, own = tree_mask.shape
    columns = past + own
    width = -(-columns // MASK_ALIGNMENT) * MASK_ALIGNMENT
    mask = torch.zeros(group_size, rows, width, dtype=dtype, device=tree_mask.device)
    mask[..., past:columns].masked_fill_(~tree_mask, torch.finfo(dtype).min)
    return mask.view(1, 1, group_size * rows, -1)[..., :columns]


def causal_mask(rows: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Make an additive mask [1, 1, rows, rows] where row i sees columns up to i."""
    lowest = torch.finfo(dtype).min
    return torch.full((1, 1, rows, rows), lowest, dtype=dtype, device=device).triu_(1)


def library_mask(*args: Any, dtype: torch.dtype, **kwargs: Any) -> Tensor | None:
    """Make the mask of a call that brings none of its own, such as transformers' `generate`:
    additive, or None where it is plain causal (see `folded_attention`)."""
    mask = sdpa_mask(*args, **kwargs)
    if mask is None:
        return None
    lowest = torch.finfo(dtype).min
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, lowest)


AttentionInterface.register(NAME, folded_attention)
AttentionMaskInterface.register(NAME, library_mask)
