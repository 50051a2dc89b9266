"""Batches of conversations of similar length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain

from torch.utils.data import Sampler

_POOL = 50  # batches whose conversations are sorted by length


class LengthGrouped(Sampler[int]):
    """Shuffled indices in which similar lengths share a batch, and batches are in random order. An
    epoch's order is fixed by the seed, so that a resumed run continues where it was.

    All batches have the same size, so that several processes can divide them; the remaining
    examples have their turn in another epoch."""

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int = 0) -> None:
        self._seed = seed
        self._lengths = lengths
        self._batch_size = min(batch_size, len(lengths))
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths) // self._batch_size * self._batch_size

    def __iter__(self) -> Iterator[int]:
        rng = random.Random(f"{self._seed}, {self._epoch}")
        size, indices = self._batch_size, rng.sample(range(len(self._lengths)), len(self))
        batches = []
        for start in range(0, len(indices), _POOL * size):
            pool = sorted(indices[start : start + _POOL * size], key=self._lengths.__getitem__)
            batches += [pool[i : i + size] for i in range(0, len(pool), size)]
        rng.shuffle(batches)
        return chain.from_iterable(batches)
