"""Acceptance as it is served: the real decoder on real prompts, not the accuracy of training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from decoding.decoder import Decoder
from decoding.params import Params
from decoding.stats import Stats
from decoding.stopping import Stop


def served(decoder: Decoder, prompts: Iterable[Sequence[int]], params: Params, stop: Stop) -> Stats:
    """Generate behind each prompt and add up all rounds."""
    stats = Stats()
    for seed, prompt in enumerate(prompts):
        for record in decoder.generate(prompt, params, seed, stop):
            stats.add(record)
    return stats
