"""From logits to the distribution that is sampled, with transformers' own warpers."""

from __future__ import annotations

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


def draw(weights: Tensor, generator: torch.Generator) -> Tensor:
    """One index a row from non-negative weights [n, V] (they need not sum to 1): [n].

    Exponential race (Gumbel's trick): argmax of w / e with e ~ Exp(1) is a draw with probability
    w / sum(w). It needs no device sync, where `torch.multinomial` checks its input on the host.
    """
    noise = torch.empty_like(weights).exponential_(generator=generator)
    # exponential_ may round to 0; 0/0 would win the argmax as NaN for a token of probability 0
    return (weights / noise.clamp_min_(torch.finfo(noise.dtype).tiny)).argmax(-1)


def pick(logits: Tensor, sampling: SamplingParams, generator: torch.Generator) -> Tensor:
    """The next token of each row: its argmax, or a draw from its warped distribution. [n]."""
    if sampling.greedy:
        return logits.argmax(-1)
    return draw(probabilities(logits, sampling), generator)
