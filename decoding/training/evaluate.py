"""Measures drafters on the target's own answers, through the real decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.model.target import Target
from decoding.params import Params
from decoding.round import Round
from decoding.stats import Stats
from decoding.tokenizing.stopping import Stop

RANKS = 10  # top guesses per head that are measured


@dataclass(frozen=True, slots=True)
class Answer:
    """The target's answer `ids` to a `prompt`, and its rounds."""

    prompt: Sequence[int]
    ids: Sequence[int]
    rounds: Sequence[Round]


def answer_prompts(
    target: Target,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    params: Params,
    stop: Stop,
    seed: int = 0,
    progress: Callable[[int], None] = lambda prompt: None,
    confidences: bool = False,
) -> list[Answer]:
    """Answer each prompt with the drafter; `progress` gets the index of the next one. Prompt i is
    sampled with `seed + i`. With `confidences` the rounds have the drafter's own probabilities."""
    decoder, answers = Decoder(target, drafter), []
    decoder.record_probabilities = confidences
    for i, prompt in enumerate(prompts):
        progress(i)
        rounds = [
            record.without_probabilities()
            for record in decoder.generate(prompt, params, seed + i, stop)
        ]
        answers.append(Answer(prompt, list(decoder.generated), rounds))
    return answers


def stats_of(answers: Iterable[Answer]) -> Stats:
    """Statistics over all rounds of the answers."""
    return Stats.of(record for answer in answers for record in answer.rounds)


@torch.inference_mode()
def medusa_accuracy(target: Target, heads: MedusaHeads, answers: Iterable[Answer]) -> Tensor:
    """[heads, RANKS]: how often a head's guess of that rank is the target's token at its position,
    along the answers."""
    hits, counts = torch.zeros(heads.count, RANKS), torch.zeros(heads.count, 1)
    for answer in answers:
        ids = [*answer.prompt, *answer.ids][: target.context]
        features = target.prefill(target.new_cache(), ids, keep_features=True).features
        first = len(answer.prompt) - 1  # the row whose logits began the answer
        guesses = heads.guesses(features[first:], min(RANKS, heads.vocab)).cpu()
        tokens = torch.tensor(ids)
        for k in range(heads.count):
            wanted = tokens[first + 2 + k :]
            if len(wanted):
                found = guesses[k, : len(wanted)] == wanted[:, None]
                hits[k, : found.shape[1]] += found.sum(0)
                counts[k] += len(wanted)
    return hits / counts.clamp_min(1)
