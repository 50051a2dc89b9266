"""Sampling from logits, with transformers' warpers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import cast

import torch
from torch import Tensor
from transformers.generation.logits_process import (
    LogitsProcessor,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from decoding.params import SamplingParams
from decoding.trees.draft import DraftTree
from decoding.verification.noise import Noise

# Warping is first tried on so many of the likeliest tokens, then on more, then on all.
TOP_SIZES = (256, 4096)
NO_TOKEN = -1  # the logits are not finite
_NO_IDS = torch.empty(0, dtype=torch.long)  # an argument that these warpers ignore


def probabilities(logits: Tensor, sampling: SamplingParams) -> Tensor:
    """Compute the warped distribution of each row, float32 [n, V], in `generate`'s order:
    temperature, top-k, top-p, min-p. At temperature 0 all mass lies on the argmax."""
    logits = logits.float()
    if sampling.greedy:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    return _warped(logits, sampling, _top_sizes(logits, sampling))


def _warped(logits: Tensor, sampling: SamplingParams, sizes: Sequence[int]) -> Tensor:
    if sizes:
        ids, p, enough = _top(logits, sampling, sizes[0])
        warped = torch.zeros_like(logits).scatter_(-1, ids, p)
        if not enough.all():
            warped[~enough] = _warped(logits[~enough], sampling, sizes[1:])
        return warped
    for warp in _warpers(sampling):
        logits = warp(cast(torch.LongTensor, _NO_IDS), cast(torch.FloatTensor, logits))
    return logits.softmax(-1)


def _top_sizes(logits: Tensor, sampling: SamplingParams) -> list[int]:
    """The `TOP_SIZES` worth trying before all tokens are sorted. Only on a CPU, where sorting a
    large vocabulary for each node of a tree takes longer than a small model's pass; elsewhere the
    host would have to wait for the device to know whether they suffice."""
    if logits.device.type != "cpu" or (sampling.top_p == 1.0 and not sampling.top_k):
        return []
    return [size for size in TOP_SIZES if sampling.top_k < size < logits.shape[-1] / 4]


def _top(logits: Tensor, sampling: SamplingParams, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """The ids of each row's `size` likeliest tokens and their warped probabilities, both [n, size],
    and bool [n]: whether all other tokens of the row certainly have probability 0."""
    top = logits.topk(size)
    scores = top.values / sampling.temperature
    highest = scores[:, :1]
    if sampling.top_k:
        last = scores[:, sampling.top_k - 1, None]
        enough = scores[:, -1] < last[:, 0]  # otherwise more tokens may tie with the last one
        scores.masked_fill_(scores < last, -torch.inf)
        mass = scores.softmax(-1)
    else:
        weights = (logits / sampling.temperature).sub_(highest).exp_()
        mass = (scores - highest).exp_() / weights.sum(-1, keepdim=True)
    if sampling.top_p < 1.0:
        likelier = mass.cumsum(-1) - mass
        most = max(sampling.top_p, torch.finfo(mass.dtype).tiny)  # the likeliest always stays
        if not sampling.top_k:
            enough = likelier[:, -1] >= most
        scores.masked_fill_(likelier >= most, -torch.inf)
    if sampling.min_p > 0.0:
        scores.masked_fill_(scores < highest + math.log(sampling.min_p), -torch.inf)
    return top.indices, scores.softmax(-1), enough


@lru_cache(maxsize=64)
def _warpers(sampling: SamplingParams) -> tuple[LogitsProcessor, ...]:
    """To be called one by one: LogitsProcessorList inspects their signatures at each call. They
    take no numbers but Python's own."""
    warpers: list[LogitsProcessor] = []
    if sampling.temperature != 1.0:
        warpers.append(TemperatureLogitsWarper(float(sampling.temperature)))
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(int(sampling.top_k)))
    if sampling.top_p < 1.0:
        warpers.append(TopPLogitsWarper(sampling.top_p))
    if sampling.min_p > 0.0:
        warpers.append(MinPLogitsWarper(sampling.min_p))
    return tuple(warpers)


def exponential_race(weights: Tensor, noise: Tensor) -> Tensor:
    """Sample one index per row from non-negative weights [n, V], which need not sum to 1, with
    Exp(1) `noise` of the same shape: [n].

    Exponential race (Gumbel's trick): argmax of w / e with e ~ Exp(1) is a draw with probability
    w / sum(w). It needs no device sync, where `torch.multinomial` checks its input on the host.
    """
    return (weights / noise).argmax(-1)


def next_tokens(
    logits: Tensor, sampling: SamplingParams, noise: Noise, tree: DraftTree | None = None
) -> Tensor:
    """Choose the next token of each row [n, V], for the nodes of a tree or a single one: the
    argmax, or a sample of the warped distribution; NO_TOKEN if the logits are not finite. [n]."""
    if sampling.greedy:
        return mark_invalid(logits.argmax(-1), logits)
    logits, sizes = logits.float(), _top_sizes(logits, sampling)
    if sizes:
        ids, p, enough = _top(logits, sampling, sizes[0])
        if enough.all():
            won = mark_invalid(exponential_race(p, noise.at(tree, ids)), p)
            return torch.where(won < 0, won, ids.gather(-1, won.clamp_min(0)[:, None])[:, 0])
    p = _warped(logits, sampling, sizes[1:])
    return mark_invalid(exponential_race(p, noise.at(tree)), p)


def mark_invalid(tokens: Tensor, weights: Tensor) -> Tensor:
    """Put NO_TOKEN in place of each of the tokens [n] whose weight in its row [n, V] is NaN or
    infinite. Stays on the device, so that a round needs only one transfer."""
    won = weights.gather(-1, tokens[:, None])[:, 0]
    return torch.where(won.isfinite(), tokens, NO_TOKEN)
