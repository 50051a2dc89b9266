"""What a drafter is: something that proposes a tree of tokens and sees what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from decoding.params import Params
from decoding.trees.draft import Draft
from decoding.trees.static import Choices

Needs = Literal["none", "last", "final", "aux"]


@dataclass(frozen=True, slots=True)
class DraftContext:
    """What a drafter is asked for in one round.

    `ids`: everything committed so far; the last id is the root. `gamma`: the longest path wanted,
    at least 1. `params`: the settings of this round, sampling among them. `generator`: for drafts
    that are sampled.
    """

    ids: Sequence[int]
    gamma: int
    params: Params
    generator: torch.Generator


class Drafter(Protocol):
    """Proposes drafts for one sequence.

    `needs`: which of the target's hidden states the drafter wants as features: none, the one after
    the final norm of the last row before a draft ("last") or of every row ("final"), or the inputs
    of the layers that it captures, of every row ("aux"). `default_gamma`: draft length where the
    user sets none.
    """

    needs: Needs
    default_gamma: int

    def start(self, ids: Sequence[int], first: int, features: Tensor | None) -> None:
        """A new prompt. `features` [len(ids) - first, F] of its rows from `first` on: at least the
        last one, or where `needs` is "final" or "aux" all but a beginning that the drafter has
        seen."""

    def propose(self, context: DraftContext) -> Draft | None:
        """A tree of drafted tokens that follow the root. None: nothing to propose this time."""

    def observe(self, ids: Sequence[int], accepted: int, features: Tensor | None) -> None:
        """After the round: `ids` are now committed, `accepted` of the proposed tokens stayed,
        `features` [accepted + 1, F] belong to the root and the accepted path."""

    @property
    def cache_bytes(self) -> int:
        """Of its own keys and values; 0 for those that have none."""

    @property
    def note(self) -> str | None:
        """Something that the user should know, such as a limit that was reached."""


class TreeDrafter(Drafter, Protocol):
    """A drafter whose tree may be chosen."""

    def set_choices(self, choices: Choices) -> None:
        """Another tree of ranks from the next round on; (): the dynamic one, where it has one."""
