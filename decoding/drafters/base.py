"""The protocol of drafters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from decoding.cost.model import CostModel
from decoding.params import Params
from decoding.trees.draft import Draft
from decoding.trees.static import Choices
from decoding.verification.acceptance import Acceptance

Needs = Literal["none", "last_hidden", "all_hidden", "aux"]


@dataclass(frozen=True, slots=True)
class DraftContext:
    """The input of `Drafter.propose`.

    `ids`: everything committed so far; the last id is the root. `gamma`: the longest path to draft,
    at least 1. `params`: the settings of this round, including sampling. `generator`: for sampled
    drafts. `costs`: what rounds cost, with gamma "auto" once that is known. `prompt_length`: how
    many of the ids are the prompt's.
    """

    ids: Sequence[int]
    gamma: int
    params: Params
    generator: torch.Generator
    costs: CostModel | None = None
    prompt_length: int = 0


class Drafter(Protocol):
    """Proposes drafts for one sequence.

    `needs`: which of the target's hidden states the drafter uses as features: none; those after the
    final norm, of the last row before a draft ("last_hidden") or of every row ("all_hidden"); or
    the inputs of the captured layers, of every row ("aux"). `default_gamma`: the draft length if
    the user sets none.
    """

    needs: Needs
    default_gamma: int

    def start(self, ids: Sequence[int], first: int, features: Tensor | None) -> None:
        """Begin a new prompt. `features` [len(ids) - first, F] are those of its rows from `first`
        on: at least the last one; if `needs` is "all_hidden" or "aux", all but a prefix that the
        drafter has already seen."""

    def propose(self, context: DraftContext) -> Draft | None:
        """Propose a tree of drafted tokens below the root; None if there is nothing to propose."""

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        """Learn what a round committed: `ids` are all committed tokens now, `accepted` of the
        proposed ones were accepted."""

    @property
    def cache_bytes(self) -> int:
        """Bytes of the drafter's own keys and values; 0 if it has none."""

    @property
    def note(self) -> str | None:
        """A note for the user, such as a limit that was reached."""


class FeatureDrafter(Drafter, Protocol):
    """A drafter that `needs` features."""

    def prepare(self, features: Tensor, acceptance: Acceptance) -> None:
        """Take the features [rows, F] of `acceptance.rows`, before `observe`. If the acceptance is
        `padded`, the work for the next draft can be launched now."""


@runtime_checkable
class SelfEndingDrafter(Drafter, Protocol):
    """A drafter that ends each draft where going on does not pay, if it knows the `costs`."""

    def ends_drafts(self, params: Params) -> bool:
        """Return whether it ends drafts by itself with these settings."""


class TreeDrafter(Drafter, Protocol):
    """A drafter with a choice of trees."""

    def set_choices(self, choices: Choices) -> None:
        """Draft another tree of ranks from the next round on; (): the dynamic one, if it has
        one."""
