"""What a strategy is: something that proposes a tree of tokens and sees what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import torch
from torch import Tensor

from decoding.params import SamplingParams
from decoding.tree import Draft

Needs = Literal["none", "last", "final"]


class Drafter(Protocol):
    """Proposes drafts for one sequence.

    `needs`: which of the target's hidden states (after the final norm) the drafter wants: none,
    that of the last row before a draft, or those of every row. `default_gamma`: draft length where
    the user sets none.
    """

    needs: Needs
    default_gamma: int

    def start(self, ids: Sequence[int], first: int, features: Tensor | None) -> None:
        """A new prompt. `features` [len(ids) - first, H] of its rows from `first` on: at least the
        last one, or where `needs` is "final" all but a beginning that the drafter has seen."""

    def propose(
        self,
        ids: Sequence[int],
        gamma: int,
        sampling: SamplingParams,
        generator: torch.Generator,
    ) -> Draft | None:
        """A draft behind `ids` (everything committed; the last id is the root), paths of at most
        `gamma` >= 1 tokens. None: nothing to propose this time."""

    def observe(self, ids: Sequence[int], accepted: int, features: Tensor | None) -> None:
        """After the round: `ids` are now committed, `accepted` of the proposed tokens stayed,
        `features` [accepted + 1, H] belong to the root and the accepted path."""

    @property
    def note(self) -> str | None:
        """Something that the user should know, such as a limit that was reached."""
