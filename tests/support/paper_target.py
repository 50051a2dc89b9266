"""A target without a network: each sequence of ids has random logits of its own.

As fast as the sampling that it is there to test, and strict: logits depend on *every* id before,
so a wrong row kept in a cache changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import torch
from torch import Tensor

from decoding.model.forward import ForwardOutput
from decoding.params import SamplingParams
from decoding.trees.draft import DraftTree

Ids = tuple[int, ...]


class PaperCache:
    """Rows are the ids themselves."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.length = 0

    def write(self, ids: Sequence[int]) -> None:
        self.rows[self.length :] = ids

    def committed(self) -> Ids:
        return tuple(self.rows[: self.length])

    def checkpoint(self, rows: int) -> None:
        pass

    def states(self) -> list[Tensor]:
        return []

    def gather(self, rows: Tensor) -> None:
        self.write([self.rows[self.length + i] for i in rows.tolist()])

    def commit(self, rows: int) -> None:
        self.length += rows

    def truncate(self, length: int) -> None:
        assert 0 <= length <= self.length
        self.length = length

    def copy_rows(self, source: PaperCache, end: int, states: Sequence[Tensor]) -> None:
        self.write(source.rows[self.length : end])
        self.length = max(self.length, end)


class PaperTarget:
    """`noise` 0 is the target; a draft model is the same with noise in its logits."""

    device = torch.device("cpu")
    context = 1 << 30
    recurrent = False

    def __init__(self, vocab_size: int, seed: int, noise: float = 0.0, width: int = 0) -> None:
        self.vocab_size = vocab_size
        self._seed, self._noise, self._width = seed, noise, width or vocab_size
        self.logits: Callable[[Ids], Tensor] = cache(self._logits)

    def _logits(self, ids: Ids) -> Tensor:
        number = sum((token + 1) * 97**i for i, token in enumerate(reversed(ids)))
        generator = torch.Generator().manual_seed((self._seed * 7919 + number) % (1 << 62))
        logits = 1.5 * torch.randn(self._width, generator=generator)
        return logits + self._noise * torch.randn(self._width, generator=generator)

    keeps_features = False

    def new_cache(self) -> PaperCache:
        return PaperCache()

    def prefill(
        self,
        cache: PaperCache,
        ids: Sequence[int],
        cancelled: Callable[[], bool] = lambda: False,
        keep_features: bool = False,
    ) -> ForwardOutput:
        cache.write(ids)
        cache.commit(len(ids))
        return ForwardOutput(self.logits(cache.committed())[None], torch.zeros(len(ids), 1))

    def forward(self, cache: PaperCache, tree: DraftTree) -> ForwardOutput:
        tokens = tree.tokens.tolist()
        before = cache.committed()
        cache.write(tokens)
        paths = [
            before + tuple(tokens[i] for i in (0, *tree.shape.path(node)))
            for node in range(len(tree))
        ]
        return ForwardOutput(
            torch.stack([self.logits(path) for path in paths]), torch.zeros(len(tree), 1)
        )

    def joint(self, prompt: Ids, count: int, sampling: SamplingParams) -> dict[Ids, float]:
        """Probability of every continuation of `count` tokens."""
        return {
            ids: _probability(self, prompt, ids, sampling)
            for ids in product(range(self.vocab_size), repeat=count)
        }


def _probability(target: PaperTarget, prompt: Ids, ids: Ids, sampling: SamplingParams) -> float:
    result = 1.0
    for i, token in enumerate(ids):
        logits = target.logits(prompt + ids[:i]).tolist()
        result *= warped(penalized(logits, prompt, ids[:i], sampling), sampling)[token]
    return result


def penalized(
    logits: list[float], prompt: Ids, answer: Ids, sampling: SamplingParams
) -> tuple[float, ...]:
    """One row's logits with both penalties, written down from their definitions."""
    row = []
    for token, logit in enumerate(logits):
        if token in prompt + answer:
            factor = sampling.repetition_penalty
            logit = logit / factor if logit > 0 else logit * factor
        row.append(logit - sampling.presence_penalty * (token in answer))
    return tuple(row)


@cache
def warped(logits: tuple[float, ...], sampling: SamplingParams) -> list[float]:
    """One row's distribution, written down from the definitions: temperature, then the `top_k`
    largest, then the fewest that hold `top_p`, then those of at least `min_p` times the largest."""
    order = sorted(range(len(logits)), key=lambda i: -logits[i])
    weights = [2.718281828459045 ** (logits[i] / sampling.temperature) for i in order]
    if sampling.top_k:
        weights = weights[: sampling.top_k]
    total, held = sum(weights), 0.0
    for count, weight in enumerate(weights, 1):
        held += weight
        if held >= sampling.top_p * total:
            weights = weights[:count]
            break
    weights = [w for w in weights if w >= sampling.min_p * weights[0]]
    kept = dict(zip(order, weights, strict=False))
    return [kept.get(i, 0.0) / sum(weights) for i in range(len(logits))]
