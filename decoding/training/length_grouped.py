"""Batches of conversations of similar length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain

from torch.utils.data import Sampler

_POOL = 50  # batches whose conversations are sorted by length


class LengthGrouped(Sampler[int]):
    """Shuffled indices such that like lengths share a batch, and batches come in any order; the
    same in the same epoch, so that a resumed run goes on where it was."""

    def __init__(self, lengths: Sequence[int], batch_size: int) -> None:
        self._lengths = lengths
        self._batch_size = batch_size
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        rng = random.Random(self._epoch)
        size, indices = self._batch_size, rng.sample(range(len(self)), len(self))
        batches = []
        for start in range(0, len(indices), _POOL * size):
            pool = sorted(indices[start : start + _POOL * size], key=self._lengths.__getitem__)
            batches += [pool[i : i + size] for i in range(0, len(pool), size)]
        rng.shuffle(batches)
        batches.sort(key=len, reverse=True)  # a batch that is not full must come last
        return chain.from_iterable(batches)
