"""From logits to the distribution that is sampled, with transformers' own warpers."""

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
from decoding.verification.noise import Noise

# Of the likeliest tokens: how many are looked at first, and how many where these are too few.
HEADS = (256, 4096)
NO_TOKEN = -1  # where the logits are not numbers
_NO_IDS = torch.empty(0, dtype=torch.long)  # these warpers look at none


def probabilities(logits: Tensor, sampling: SamplingParams) -> Tensor:
    """Warped distribution of each row, float32 [n, V], in `generate`'s order: temperature, top-k,
    top-p, min-p. At temperature 0 all mass lies on the argmax."""
    logits = logits.float()
    if sampling.greedy:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    return _warped(logits, sampling, _sizes(logits, sampling))


def _warped(logits: Tensor, sampling: SamplingParams, sizes: Sequence[int]) -> Tensor:
    if sizes:
        ids, p, enough = _head(logits, sampling, sizes[0])
        warped = torch.zeros_like(logits).scatter_(-1, ids, p)
        if not enough.all():
            warped[~enough] = _warped(logits[~enough], sampling, sizes[1:])
        return warped
    for warp in _warpers(sampling):
        logits = warp(cast(torch.LongTensor, _NO_IDS), cast(torch.FloatTensor, logits))
    return logits.softmax(-1)


def _sizes(logits: Tensor, sampling: SamplingParams) -> list[int]:
    """Of the heads that are worth looking at instead of sorting all. On a CPU only: there a sort of
    a large vocabulary takes longer than many a small model's pass, and trees have many rows;
    elsewhere the host would have to wait for the answer whether a head is enough."""
    if logits.device.type != "cpu" or (sampling.top_p == 1.0 and not sampling.top_k):
        return []
    return [size for size in HEADS if sampling.top_k < size < logits.shape[-1] / 4]


def _head(logits: Tensor, sampling: SamplingParams, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """The ids of each row's `size` likeliest tokens and their warped probabilities, both [n, size],
    and for which rows [n] it is certain that all others have none."""
    head = logits.topk(size)
    scores = head.values / sampling.temperature
    highest = scores[:, :1]
    if sampling.top_k:
        last = scores[:, sampling.top_k - 1, None]
        enough = scores[:, -1] < last[:, 0]  # else others may be as likely as the last one
        scores.masked_fill_(scores < last, -torch.inf)
        mass = scores.softmax(-1)
    else:
        weights = (logits / sampling.temperature).sub_(highest).exp_()
        mass = (scores - highest).exp_() / weights.sum(-1, keepdim=True)
    if sampling.top_p < 1.0:
        likelier = mass.cumsum(-1) - mass
        if not sampling.top_k:
            enough = likelier[:, -1] >= sampling.top_p
        scores.masked_fill_(likelier >= sampling.top_p, -torch.inf)
    if sampling.min_p > 0.0:
        scores.masked_fill_(scores < highest + math.log(sampling.min_p), -torch.inf)
    return head.indices, scores.softmax(-1), enough


@lru_cache(maxsize=64)
def _warpers(sampling: SamplingParams) -> tuple[LogitsProcessor, ...]:
    """Called one by one: transformers' own list looks into their signatures at each call."""
    warpers: list[LogitsProcessor] = []
    if sampling.temperature != 1.0:
        warpers.append(TemperatureLogitsWarper(sampling.temperature))
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1.0:
        warpers.append(TopPLogitsWarper(sampling.top_p))
    if sampling.min_p > 0.0:
        warpers.append(MinPLogitsWarper(sampling.min_p))
    return tuple(warpers)


def draw(weights: Tensor, noise: Tensor) -> Tensor:
    """One index a row from non-negative weights [n, V] (they need not sum to 1), by Exp(1) `noise`
    of the same shape: [n].

    Exponential race (Gumbel's trick): argmax of w / e with e ~ Exp(1) is a draw with probability
    w / sum(w). It needs no device sync, where `torch.multinomial` checks its input on the host.
    """
    return (weights / noise).argmax(-1)


def pick(
    logits: Tensor, sampling: SamplingParams, noise: Noise, depths: Sequence[int] = (0,)
) -> Tensor:
    """The next token of each row [n, V], n nodes at these depths of a tree: its argmax, or a draw
    from its warped distribution; NO_TOKEN where there is none. [n]."""
    if sampling.greedy:
        return checked(logits.argmax(-1), logits)
    logits, own, sizes = logits.float(), noise.at(depths), _sizes(logits, sampling)
    if sizes:  # where the likeliest tokens are enough, the others take no part in the race
        ids, p, enough = _head(logits, sampling, sizes[0])
        if enough.all():
            won = checked(draw(p, own.gather(-1, ids)), p)
            return torch.where(won < 0, won, ids.gather(-1, won.clamp_min(0)[:, None])[:, 0])
    p = _warped(logits, sampling, sizes[1:])
    return checked(draw(p, own), p)


def checked(tokens: Tensor, weights: Tensor) -> Tensor:
    """NO_TOKEN instead of a token [n] that won its row [n, V] as NaN or infinite: both win every
    argmax. On the device, as all that a round asks of it comes in one transfer."""
    won = weights.gather(-1, tokens[:, None])[:, 0]
    return torch.where(won.isfinite(), tokens, NO_TOKEN)
