"""Seeded randomness in two streams: one row of Exp(1) noise per text position for the target's own
draws, and a generator for sampled drafts."""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.trees.draft import DraftTree

# Rows drawn at a time. It must be fixed: the numbers depend on how many are drawn at once.
BLOCK = 8


class Noise:
    """Two streams of random numbers, fixed by one seed.

    The first has one row of noise for each position of the text, drawn in order and shared by all
    nodes of a tree at that depth. The target's draw at a position then depends only on that row and
    on the tokens before it, so a seed fixes the text whatever was drafted: strategies that don't
    sample their drafts (lookup, Medusa, EAGLE) give the same tokens as plain sampling with the same
    seed. It also needs one row per position instead of one per node.

    The second, `generator`, is for sampled drafts and for their acceptance tests.
    """

    def __init__(self, width: int, device: torch.device) -> None:
        self.generator = torch.Generator(device)
        self._position_noise = torch.Generator(device)
        self._rows = torch.empty(0, width, device=device)  # for the next positions

    def seed(self, seed: int, position: int = 0) -> None:
        """Begin both streams anew, after so many drawn tokens (`position`). `seed`: up to 64
        bits."""
        self._position_noise.manual_seed(seed)
        # Drafts must not be correlated with the noise, nor with those before the position.
        self.generator.manual_seed(~(seed + position) % 2**64)
        self._rows = self._rows[:0]
        for _ in range(position // BLOCK):
            self.ahead(BLOCK)
            self.advance(BLOCK)
        self.ahead(position % BLOCK)
        self.advance(position % BLOCK)

    def ahead(self, positions: int) -> Tensor:
        """Return Exp(1) noise of the next positions, [positions, width]."""
        while len(self._rows) < positions:
            block = self._rows.new_empty(BLOCK, self._rows.shape[1])
            self._rows = torch.cat([self._rows, exponential(block, self._position_noise)])
        return self._rows[:positions]

    def at(self, tree: DraftTree | None, ids: Tensor | None = None) -> Tensor:
        """Return the noise of each node's next position (None: of the next one), [n, width]; with
        `ids` [n, k] that of these tokens only."""
        if tree is None or tree.is_chain:
            rows = self.ahead(1 if tree is None else len(tree))
            return rows if ids is None else rows.gather(-1, ids)
        tensors = tree.tensors
        rows = self.ahead(tensors.max_depth + 1)
        if ids is not None:
            return rows[tensors.depths[:, None], ids]
        return rows.index_select(0, tensors.depths)

    def advance(self, positions: int) -> None:
        """Drop the noise of `positions` committed tokens."""
        self._rows = self._rows[positions:]


def exponential(like: Tensor, generator: torch.Generator) -> Tensor:
    """Draw Exp(1) noise of the shape and on the device of `like`."""
    noise = torch.empty_like(like).exponential_(generator=generator)
    # it can round to 0, and 0/0 = NaN would win the argmax for a token of probability 0
    return noise.clamp_min_(torch.finfo(noise.dtype).tiny)
