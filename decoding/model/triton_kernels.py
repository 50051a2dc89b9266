"""Triton kernels for passes over a few rows on a GPU. torch would do the same in more launches, or
read more: its attention with a mask neither splits a long prefix among the multiprocessors nor
skips what no row sees.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = 64  # rows of keys and values at a time
PROGRAMS = 512  # about four for each multiprocessor of a large GPU, as half of a cache may be empty

Launch = TypeVar("Launch", bound=Callable[..., Tensor])


def on_its_device(launch: Launch) -> Launch:
    """Make a function launch on its arguments' device, as torch does: Triton launches on the
    current one."""

    @wraps(launch)
    def there(first: Tensor, *others: Any) -> Tensor:
        with torch.cuda.device_of(first):
            return launch(first, *others)

    return cast(Launch, there)


# What changes from pass to pass is not compiled in.
@triton.jit(do_not_specialize=["rows", "folded", "length"])
def _attend(
    q, k, v, mask, out, lse, rows, folded, length, scale, lowest, part_length,
    q_head, q_row, k_head, k_row, v_head, v_row, mask_row,
    GROUP: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr,
    BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """One part of the prefix for `BLOCK` queries of one key head."""
    head, part = tl.program_id(1), tl.program_id(2)
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dim = tl.arange(0, WIDTH)
    inside, wide = row < folded, dim < DIM
    node = row % rows
    query = node * q_row + (head * GROUP + row // rows) * q_head
    queries = tl.load(
        q + query[:, None] + dim[None, :], mask=inside[:, None] & wide[None, :], other=0.0
    )
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    sums = tl.zeros([BLOCK, WIDTH], tl.float32)
    first = part * part_length
    end = tl.minimum(first + part_length, length)
    while first < end:
        at = first + tl.arange(0, TILE)
        there = at < length
        added = tl.load(
            mask + node[:, None] * mask_row + at[None, :],
            mask=inside[:, None] & there[None, :],
            other=float("-inf"),
        ).to(tl.float32)
        if tl.max(tl.max(added, 1), 0) > lowest:  # some row sees some of it
            keys = tl.load(
                k + head * k_head + at[None, :] * k_row + dim[:, None],
                mask=there[None, :] & wide[:, None],
                other=0.0,
            )
            scores = tl.dot(queries, keys) * scale + added
            higher = tl.maximum(best, tl.max(scores, 1))
            weights = tl.exp(scores - higher[:, None])
            shrunk = tl.exp(best - higher)
            values = tl.load(
                v + head * v_head + at[:, None] * v_row + dim[None, :],
                mask=there[:, None] & wide[None, :],
                other=0.0,
            )
            total = total * shrunk + tl.sum(weights, 1)
            sums = sums * shrunk[:, None] + tl.dot(weights.to(values.dtype), values)
            best = higher
        first += TILE
    seen = total > 0
    of_part = (part * tl.num_programs(1) + head) * folded + row
    tl.store(
        out + of_part[:, None] * DIM + dim[None, :],
        tl.where(seen[:, None], sums / tl.where(seen, total, 1.0)[:, None], 0.0),
        mask=inside[:, None] & wide[None, :],
    )
    tl.store(lse + of_part, tl.where(seen, best + tl.log(total), float("-inf")), mask=inside)


@triton.jit(do_not_specialize=["rows", "count"])
def _merge(
    parts, lse, out, rows, count,
    GROUP: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """The parts of one query, each weighted by its share of exp(scores)."""
    row, head = tl.program_id(0), tl.program_id(1)
    folded, heads = tl.num_programs(0), tl.num_programs(1)
    part, dim = tl.arange(0, PARTS), tl.arange(0, WIDTH)
    there, wide = part < count, dim < DIM
    of_part = (part * heads + head) * folded + row
    logs = tl.load(lse + of_part, mask=there, other=float("-inf"))
    best = tl.max(logs, 0)
    weights = tl.exp(logs - tl.where(best == float("-inf"), 0.0, best))
    total = tl.sum(weights, 0)
    of_parts = tl.load(
        parts + of_part[:, None] * DIM + dim[None, :],
        mask=there[:, None] & wide[None, :],
        other=0.0,
    )
    mean = tl.sum(of_parts * weights[:, None], 0) / tl.where(total > 0, total, 1.0)
    query = (row % rows) * (heads * GROUP) + head * GROUP + row // rows
    tl.store(out + query * DIM + dim, mean.to(out.dtype.element_ty), mask=wide)


@on_its_device
def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float) -> Tensor:
    """Compute attention in parts of the prefix, as in Flash-Decoding (Dao et al. 2023), with a
    mask.

    query [1, H, n, D], key and value [1, K, L, D], additive mask [1, 1, m, L] of which the first n
    rows are those of the queries; all contiguous in their last dimension. Returns [1, n, H, D]. A
    row that sees nothing gets finite numbers.
    """
    _, heads, rows, dim = query.shape
    kv_heads, length = key.shape[1], key.shape[2]
    group = heads // kv_heads
    folded = group * rows
    block = 16 if folded <= 16 else 32 if folded <= 32 else 64
    blocks = triton.cdiv(folded, block)
    tiles = triton.cdiv(length, TILE)
    most = max(PROGRAMS // (kv_heads * blocks), 1)
    part_length = triton.cdiv(tiles, min(tiles, most)) * TILE
    count = triton.cdiv(length, part_length)
    width = max(triton.next_power_of_2(dim), 16)
    parts = query.new_empty((count, kv_heads, folded, dim), dtype=torch.float32)
    lse = query.new_empty((count, kv_heads, folded), dtype=torch.float32)
    _attend[blocks, kv_heads, count](
        query, key, value, mask, parts, lse, rows, folded, length, scale,
        torch.finfo(mask.dtype).min, part_length, query.stride(1), query.stride(2), key.stride(1),
        key.stride(2), value.stride(1), value.stride(2), mask.stride(-2),
        GROUP=group, DIM=dim, WIDTH=width, BLOCK=block, TILE=TILE,
        num_warps=4, num_stages=2,
    )  # fmt: skip
    out = query.new_empty((1, rows, heads, dim))
    _merge[folded, kv_heads](
        parts, lse, out, rows, count,
        GROUP=group, DIM=dim, WIDTH=width, PARTS=triton.next_power_of_2(count), num_warps=2,
    )  # fmt: skip
    return out


@triton.jit
def _rotate(
    qkv, partner, cos, sin, queries, store, at, columns, query_columns, cos_row, head_stride,
    DIM: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    there = column < columns
    other = tl.load(partner + column, mask=there, other=0)
    turned = tl.load(qkv + row * columns + column, mask=there).to(tl.float32)
    turned *= tl.load(cos + row * cos_row + column, mask=there).to(tl.float32)
    beside = tl.load(qkv + row * columns + other, mask=there).to(tl.float32)
    turned += beside * tl.load(sin + row * cos_row + column, mask=there).to(tl.float32)
    turned = turned.to(queries.dtype.element_ty)
    tl.store(queries + row * query_columns + column, turned, mask=column < query_columns)
    kept = column - query_columns
    place = (kept // DIM) * head_stride + tl.load(at + row) * DIM + kept % DIM
    tl.store(store + place, turned, mask=there & (kept >= 0))


@on_its_device
def rotate(
    qkv: Tensor, partner: Tensor, cos: Tensor, sin: Tensor, store: Tensor, at: Tensor, heads: int
) -> Tensor:
    """Rotate positions into queries and keys: qkv * cos + qkv[:, partner] * sin, all [n, columns],
    `partner` [columns]. The keys and values go to the rows `at` [n] of `store` [2K, capacity, D],
    contiguous. Returns the queries of the `heads`, [n, H, D]."""
    rows, columns = qkv.shape
    dim = store.shape[-1]
    queries = qkv.new_empty(rows, heads, dim)
    _rotate[rows, triton.cdiv(columns, 512)](
        qkv, partner, cos, sin, queries, store, at, columns, heads * dim, cos.stride(0),
        store.stride(0), DIM=dim, BLOCK=512, num_warps=4,
    )  # fmt: skip
    return queries


@triton.jit
def _silu_times(gate_up, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    there = column < columns
    gate = tl.load(gate_up + row * 2 * columns + column, mask=there).to(tl.float32)
    up = tl.load(gate_up + (row * 2 + 1) * columns + column, mask=there).to(tl.float32)
    gated = gate / (1.0 + tl.exp(-gate)) * up
    tl.store(out + row * columns + column, gated.to(out.dtype.element_ty), mask=there)


@on_its_device
def silu_times(gate_up: Tensor) -> Tensor:
    """Compute silu(gate) * up of [n, 2I], gates first: [n, I]."""
    rows, columns = gate_up.shape[0], gate_up.shape[1] // 2
    out = gate_up.new_empty(rows, columns)
    _silu_times[rows, triton.cdiv(columns, 512)](gate_up, out, columns, BLOCK=512, num_warps=4)
    return out


@triton.jit
def _rms_norm(x, weight, out, columns, row_stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    there = column < columns
    value = tl.load(x + row * row_stride + column, mask=there, other=0.0).to(tl.float32)
    length = tl.sum(value * value, 0) / columns
    scaled = value * tl.rsqrt(length + eps)
    scaled *= tl.load(weight + column, mask=there, other=0.0).to(tl.float32)
    tl.store(out + row * columns + column, scaled.to(out.dtype.element_ty), mask=there)


@on_its_device
def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Compute x / sqrt(mean(x^2) + eps) * weight over the last dimension; x [n, size], weight
    [size]."""
    rows, columns = x.shape
    out = x.new_empty(rows, columns)
    block = triton.next_power_of_2(columns)
    _rms_norm[rows,](
        x, weight, out, columns, x.stride(0), eps,
        BLOCK=block, num_warps=min(max(block // 512, 1), 16),
    )  # fmt: skip
    return out
