"""From logits to the distribution that is sampled, with transformers' own warpers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from decoding.noise import Noise
from decoding.params import SamplingParams


def probabilities(logits: Tensor, sampling: SamplingParams) -> Tensor:
    """Warped distribution of each row, float32 [n, V], in `generate`'s order: temperature, top-k,
    top-p, min-p. At temperature 0 all mass lies on the argmax."""
    logits = logits.float()
    if sampling.greedy:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    warpers = LogitsProcessorList()
    if sampling.temperature != 1.0:
        warpers.append(TemperatureLogitsWarper(sampling.temperature))
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1.0:
        warpers.append(TopPLogitsWarper(sampling.top_p))
    if sampling.min_p > 0.0:
        warpers.append(MinPLogitsWarper(sampling.min_p))
    no_ids = torch.empty(0, dtype=torch.long, device=logits.device)
    warped = warpers(cast(torch.LongTensor, no_ids), cast(torch.FloatTensor, logits))
    return warped.softmax(-1)


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
    from its warped distribution. [n]."""
    if sampling.greedy:
        return logits.argmax(-1)
    return draw(probabilities(logits, sampling), noise.at(depths))
