"""What chance has a say in: the target's own draws, and what is drafted."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

# Rows drawn at a time: what a generator gives depends on how much it is asked for at once.
BLOCK = 8


class Noise:
    """Two streams of random numbers, fixed by one seed.

    The first belongs to the places of the text: each has one row of noise, drawn in their order;
    the nodes of a tree that are equally deep share one. What the target says at a place then
    depends on that row and the tokens before it alone, so a seed fixes a text whatever was drafted:
    strategies that don't sample their drafts (lookup, Medusa, EAGLE) say at one seed, token for
    token, what plain sampling says. And it is a row a place, not a row a node, that is drawn.

    The second, `generator`, is for drafts that are sampled and for their tests.
    """

    def __init__(self, width: int, device: torch.device) -> None:
        self.generator = torch.Generator(device)
        self._places = torch.Generator(device)
        self._rows = torch.empty(0, width, device=device)  # of the next places, as far as needed

    def seed(self, seed: int) -> None:
        self._places.manual_seed(seed)
        self.generator.manual_seed(~seed)  # not the same, or drafts would know the noise
        self._rows = self._rows[:0]

    def at(self, depths: Sequence[int]) -> Tensor:
        """Exp(1) noise of the places at these depths, 0 the next token's: [len(depths), width]."""
        while len(self._rows) <= max(depths):
            block = self._rows.new_empty(BLOCK, self._rows.shape[1])
            self._rows = torch.cat([self._rows, exponential(block, self._places)])
        if tuple(depths) == tuple(range(len(depths))):
            return self._rows[: len(depths)]
        return self._rows.index_select(0, torch.tensor(depths, device=self._rows.device))

    def advance(self, places: int) -> None:
        """So many tokens were sampled."""
        self._rows = self._rows[places:]


def exponential(like: Tensor, generator: torch.Generator) -> Tensor:
    """Exp(1) noise of the shape and on the device of `like`."""
    noise = torch.empty_like(like).exponential_(generator=generator)
    # it may round to 0, and 0/0 would win an argmax as NaN for a token of probability 0
    return noise.clamp_min_(torch.finfo(noise.dtype).tiny)
