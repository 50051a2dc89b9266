"""From logits to the distribution that is sampled, with transformers' own warpers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

HEAD = 1024  # of the likeliest tokens
NO_TOKEN = -1  # where the logits are not numbers
_NO_IDS = torch.empty(0, dtype=torch.long)  # these warpers look at none


def probabilities(logits: Tensor, sampling: SamplingParams) -> Tensor:
    """Warped distribution of each row, float32 [n, V], in `generate`'s order: temperature, top-k,
    top-p, min-p. At temperature 0 all mass lies on the argmax."""
    logits = logits.float()
    if sampling.greedy:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    for warp in _warpers(sampling):
        logits = warp(cast(torch.LongTensor, _NO_IDS), cast(torch.FloatTensor, logits))
    return logits.softmax(-1)


@lru_cache(maxsize=64)
def _warpers(sampling: SamplingParams) -> tuple[LogitsProcessor, ...]:
    """Called one by one: transformers' own list looks into their signatures at each call."""
    warpers: list[LogitsProcessor] = []
    if sampling.temperature != 1.0:
        warpers.append(TemperatureLogitsWarper(sampling.temperature))
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1.0:
        warpers.append(_TopP(sampling.top_p))
    if sampling.min_p > 0.0:
        warpers.append(MinPLogitsWarper(sampling.min_p))
    return tuple(warpers)


class _TopP(TopPLogitsWarper):
    """The same, without sorting a large vocabulary on a CPU where the likeliest tokens alone hold
    `top_p`: a sort takes longer there than many a small model's pass, and trees have many rows."""

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        by_sorting: Callable[..., torch.FloatTensor] = super().__call__
        if scores.device.type != "cpu" or scores.shape[-1] <= 4 * HEAD:
            return by_sorting(input_ids, scores)
        head = scores.topk(HEAD, dim=-1)
        mass = (head.values - scores.logsumexp(-1, keepdim=True)).exp()
        above = mass.cumsum(-1) - mass  # of all likelier tokens
        kept = head.values.masked_fill(above >= self.top_p, self.filter_value)
        warped = torch.full_like(scores, self.filter_value).scatter_(-1, head.indices, kept)
        wide = above[:, -1] < self.top_p  # the nucleus may be larger than the head
        if wide.any():
            warped[wide] = by_sorting(input_ids, scores[wide])
        return cast(torch.FloatTensor, warped)


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
    p = probabilities(logits, sampling)
    return checked(draw(p, noise.at(depths)), p)


def checked(tokens: Tensor, weights: Tensor) -> Tensor:
    """NO_TOKEN instead of a token [n] that won its row [n, V] as NaN or infinite: both win every
    argmax. On the device, as all that a round asks of it comes in one transfer."""
    won = weights.gather(-1, tokens[:, None])[:, 0]
    return torch.where(won.isfinite(), tokens, NO_TOKEN)
