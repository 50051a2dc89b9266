"""Seeded randomness in two streams: one row of Exp(1) noise per text position for the target's own
draws, and a generator for sampled drafts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.device import upload

# Rows drawn at a time: what a generator gives depends on how much it is asked for at once.
BLOCK = 8


class Noise:
    """Two streams of random numbers, fixed by one seed.

    The first belongs to the positions of the text: each has one row of noise, drawn in order, which
    the nodes of a tree at that depth share. What the target draws at a position then depends on
    that row and on the tokens before it alone, so a seed fixes the text whatever was drafted:
    strategies that don't sample their drafts (lookup, Medusa, EAGLE) give, token for token, what
    plain sampling gives at the same seed. It also takes one row per position, not one per node.

    The second, `generator`, is for drafts that are sampled and for their tests.
    """

    def __init__(self, width: int, device: torch.device) -> None:
        self.generator = torch.Generator(device)
        self._position_noise = torch.Generator(device)
        self._rows = torch.empty(0, width, device=device)  # of the next positions, as far as needed

    def seed(self, seed: int) -> None:
        self._position_noise.manual_seed(seed)
        self.generator.manual_seed(~seed)  # not the same, or drafts would know the noise
        self._rows = self._rows[:0]

    def at(self, depths: Sequence[int]) -> Tensor:
        """Exp(1) noise of the positions at these depths, 0 the next token's; [n, width]."""
        while len(self._rows) <= max(depths):
            block = self._rows.new_empty(BLOCK, self._rows.shape[1])
            self._rows = torch.cat([self._rows, exponential(block, self._position_noise)])
        if tuple(depths) == tuple(range(len(depths))):
            return self._rows[: len(depths)]
        return self._rows.index_select(0, upload(depths, self._rows.device))

    def advance(self, positions: int) -> None:
        """`positions` tokens were committed: their noise is used up."""
        self._rows = self._rows[positions:]


def exponential(like: Tensor, generator: torch.Generator) -> Tensor:
    """Exp(1) noise of the shape and on the device of `like`."""
    noise = torch.empty_like(like).exponential_(generator=generator)
    # it may round to 0, and 0/0 would win an argmax as NaN for a token of probability 0
    return noise.clamp_min_(torch.finfo(noise.dtype).tiny)
