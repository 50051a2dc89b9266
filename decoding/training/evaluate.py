"""Measures drafters on the target's own answers, through the real decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.medusa import Medusa, MedusaHeads
from decoding.model.target import Target
from decoding.params import Params
from decoding.stats import Stats
from decoding.tokenizing.stopping import Stop
from decoding.trees.static import Choices

RANKS = 10  # guesses a head is measured at


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """`accuracy` [heads, RANKS]: how often a head's guess of that rank is the target's token that
    far ahead. `served`: the rounds of a decoder that drafts with the heads."""

    accuracy: Tensor
    served: Stats


def answer_prompts(
    target: Target,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    params: Params,
    stop: Stop,
    seed: int = 0,
) -> tuple[Stats, list[list[int]]]:
    """The stats of all rounds, and each prompt's answer. Prompt i is sampled with `seed + i`."""
    decoder = Decoder(target, drafter)
    stats, answers = Stats(), []
    for i, prompt in enumerate(prompts):
        for record in decoder.generate(prompt, params, seed + i, stop):
            stats.add(record)
        answers.append(decoder.generated)
    return stats, answers


def evaluate_medusa(
    target: Target,
    heads: MedusaHeads,
    choices: Choices,
    prompts: Sequence[Sequence[int]],
    params: Params,
    stop: Stop,
    seed: int = 0,
) -> Report:
    """Answer each prompt with the heads, and measure them along the answers."""
    served, answers = answer_prompts(target, Medusa(heads, choices), prompts, params, stop, seed)
    hits, counts = torch.zeros(heads.count, RANKS), torch.zeros(heads.count, 1)
    for prompt, answer in zip(prompts, answers, strict=True):
        _count(target, heads, prompt, answer, hits, counts)
    return Report(hits / counts.clamp_min(1), served)


@torch.inference_mode()
def _count(
    target: Target,
    heads: MedusaHeads,
    prompt: Sequence[int],
    answer: Sequence[int],
    hits: Tensor,
    counts: Tensor,
) -> None:
    """Add up each head's correct guesses at every position that the target continued."""
    ids = [*prompt, *answer][: target.context]
    features = target.prefill(target.new_cache(), ids, keep_features=True).features
    first = len(prompt) - 1  # the row whose logits began the answer
    guesses = heads.guesses(features[first:], min(RANKS, heads.vocab)).cpu()
    said = torch.tensor(ids)
    for k in range(heads.count):
        wanted = said[first + 2 + k :]
        if len(wanted):
            found = guesses[k, : len(wanted)] == wanted[:, None]
            hits[k, : found.shape[1]] += found.sum(0)
            counts[k] += len(wanted)
