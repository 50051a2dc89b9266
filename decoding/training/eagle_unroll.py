"""Training-time test: EAGLE drafts from many rows of a text at once.

EAGLE-3, 2503.01840, section 3. A draft that begins at row i has the target's true features up to
row i only. Its step 0 reads the true feature of row i; step k the draft's own output of step k-1,
at position i + k, with token t_{i+k+1}. It sees the keys of true features up to row i, as the
draft's cache holds them when served, and those of its own steps 1 to k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from decoding.drafters.eagle_head import EagleHead
from decoding.training.shapes import COLUMNS, repeat_last

_BLOCK = 2**20  # attention scores at a time, which fit into a CPU's cache
_BLOCK_ELSEWHERE = 2**26  # on other devices, where every operation costs a launch
_TOGETHER = 2**22  # scores of all texts, padded to one size, that are computed at once and kept
_TOGETHER_ELSEWHERE = 2**25
_KEPT = 2**22  # scores of one text that are kept for the backward pass, rather than computed again


def unroll(
    head: EagleHead, ids: Tensor, features: Tensor, batch: Tensor, start: Tensor, steps: int
) -> Iterator[Tensor]:
    """Drafts that begin at the rows (batch, start) [M] (ordered) of texts ids [B, n] with their
    true features [B, n, F] -> at each step k the outputs [M, H], which guess what follows
    t_{start+k+1}; where the text ends before they mean nothing. There may be more after those M."""
    n = ids.shape[1]
    batch, start = repeat_last(batch), repeat_last(start)
    counts = batch.bincount(minlength=len(ids)).tolist()  # waits for the device, as the next does
    known = [rows.tolist() for rows in start.cpu().split(counts)]
    attention = [UnrolledAttention(start.split(counts), known) for _ in head.layers]
    # Under autocast fc returns bfloat16, but the residual stream must not.
    hidden = head.hidden(features).to(features.dtype)
    rows = torch.arange(n, device=ids.device)
    shifted, true = ids.roll(-1, dims=1), [layer.true_rows for layer in attention]
    out = head(shifted, hidden, rows, true)[batch, start]
    yield out
    for k in range(1, steps):
        tokens = ids[batch, (start + k + 1).clamp_max(n - 1)]
        own = [layer.own_rows for layer in attention]
        out = head(tokens[None], out[None], start + k, own)[0]
        yield out


class UnrolledAttention:
    """A layer's attention of each step: `true_rows` in step 0, `own_rows` in all others. `starts`
    are the rows at which drafts begin in each text, on the device and, `known`, off it."""

    def __init__(self, starts: Sequence[Tensor], known: Sequence[list[int]]) -> None:
        self._starts, self._known = starts, known
        self._counts = list(map(len, known))
        self._keys = self._values = torch.empty(0)  # of the texts [B, kv_heads, n, D]
        self._own: list[tuple[Tensor, Tensor]] = []  # of each step [kv_heads, 1, M, D]

    def true_rows(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """q [B, heads, n, D], k and v [B, kv_heads, n, D] -> [B, n, heads * D]."""
        self._keys, self._values = k, v
        grouped = q.shape[1] != k.shape[1]
        out = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)
        return out.transpose(1, 2).flatten(2)

    def own_rows(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """q [1, heads, M, D], k and v [1, kv_heads, M, D] -> [1, M, heads * D]."""
        self._own.append((k[0, :, None], v[0, :, None]))
        q = q[0].unflatten(0, (k.shape[1], -1)) * q.shape[-1] ** -0.5  # [kv_heads, group, M, D]
        own = torch.stack([(q * key).sum(-1) for key, _ in self._own], dim=-1)
        out, weights = self._of_all(q, own) if self._fits(q) else self._of_each(q, own)
        for weight, (_, value) in zip(weights.unbind(-1), self._own, strict=True):
            out = out + weight[..., None] * value
        return out.flatten(0, 1).transpose(0, 1).flatten(1)[None]

    def _fits(self, q: Tensor) -> bool:
        """Whether to take all texts at once. On a GPU the launches are what takes the time, on a
        CPU kernels for the shape of every text."""
        heads, most = q.shape[0] * q.shape[1], max(self._counts, default=0)
        scores = len(self._counts) * heads * most * self._keys.shape[2]
        return 0 < scores <= (_TOGETHER if q.device.type == "cpu" else _TOGETHER_ELSEWHERE)

    def _of_all(self, q: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
        """What all drafts get of the true rows, and the weights of their own. Each text has as many
        drafts here as the one with most; those added see its first row, and are dropped."""
        (places, starts), (texts, most) = self._padded, self._padded[1].shape

        def padded(x: Tensor) -> Tensor:  # [kv_heads, group, M, d] -> [B, kv_heads, group, most, d]
            room = x.new_zeros(*x.shape[:2], texts * most, x.shape[3])
            room = room.index_copy(2, places, x)
            return room.view(*x.shape[:2], texts, most, x.shape[3]).movedim(2, 0)

        def dense(x: Tensor) -> Tensor:
            return x.movedim(0, 2).flatten(2, 3).index_select(2, places)

        out, weights = _attend(padded(q), padded(own), starts, self._keys, self._values)
        return dense(out), dense(weights)

    @cached_property
    def _padded(self) -> tuple[Tensor, Tensor]:
        """The place of each draft [M] among those of all texts, as many of each text, and the row
        at which each of these begins [B, most]; the same in all steps."""
        most, starts = max(self._counts), torch.cat(list(self._starts))
        most += -most % COLUMNS
        places = torch.cat([
            torch.arange(text * most, text * most + count, device=starts.device)
            for text, count in enumerate(self._counts)
        ])  # fmt: skip
        rows = starts.new_zeros(len(self._counts) * most).index_copy(0, places, starts)
        return places, rows.view(-1, most)

    def _of_each(self, q: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
        """The same text by text: no padding, and on a CPU the scores stay in its cache."""
        parts = [
            part
            for text, (q_of, own_of) in enumerate(
                zip(q.split(self._counts, 2), own.split(self._counts, 2), strict=True)
            )
            for part in self._of_text(text, q_of, own_of)
        ]
        out, weights = (torch.cat(kind, dim=2) for kind in zip(*parts, strict=True))
        return out, weights

    def _of_text(self, text: int, q: Tensor, own: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """What the drafts of a text get of its true rows, and the weights of their own, in blocks
        of drafts. None of them sees a row behind its own, so that blocks cost half of the whole."""
        keys, values = self._keys[text], self._values[text]
        starts, known = self._starts[text], self._known[text]
        scores_of_draft = q.shape[0] * q.shape[1] * keys.shape[1]
        block = _BLOCK if q.device.type == "cpu" else _BLOCK_ELSEWHERE
        size = max(block // scores_of_draft, 1)
        attend = _attend
        if len(known) * scores_of_draft > _KEPT and torch.is_grad_enabled():
            attend = partial(checkpoint, _attend, use_reentrant=False, preserve_rng_state=False)
        for first in range(0, max(len(known), 1), size):
            rows = slice(first, first + size)
            seen = 1 + max(known[rows], default=0)
            yield attend(
                q[:, :, rows], own[:, :, rows], starts[rows], keys[:, :seen], values[:, :seen]
            )


def _attend(
    q: Tensor, own: Tensor, starts: Tensor, keys: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """q [..., kv_heads, group, m, D] of drafts that begin at the rows `starts` [..., m] of keys and
    values [..., kv_heads, n, D], with their scores over their own rows [..., m, k] -> what they get
    of the true rows [..., m, D], and the weights of their own [..., m, k]."""
    columns, shape = torch.arange(keys.shape[-2], device=q.device), q.shape[-3:-1]
    scores = (q.flatten(-3, -2) @ keys.mT).unflatten(-2, shape)
    scores = scores.masked_fill(columns > starts[..., None, None, :, None], float("-inf"))
    weight = torch.cat([scores, own], dim=-1).softmax(-1)
    true, mine = weight.split([len(columns), own.shape[-1]], dim=-1)
    return (true.flatten(-3, -2) @ values).unflatten(-2, shape), mine
