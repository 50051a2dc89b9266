"""The record of a strategy, from which its lane, options, sliders and texts follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.strategies.settings import SETTINGS

if TYPE_CHECKING:
    from app.models.loaded import LoadedModels
    from decoding.drafters.base import Drafter
    from decoding.params import Params
    from decoding.trees.static import Choices

DEFAULT_TREE = "default"  # the one that a lane begins with
DYNAMIC_TREE = "dynamic"  # rebuilt each round from the likeliest guesses


@dataclass(frozen=True, slots=True)
class NamedTree:
    """A tree that a lane may draft, dynamic if `choices` is (). `depth`: its longest path."""

    choices: Choices
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One way to decode. Its functions import what they need when called, so that this module and
    the registry don't import torch."""

    name: str  # in options, settings and documents
    title: str  # of its lanes
    summary: str  # what it does, in one line
    explanation: str = ""  # more, for the help screen
    settings: tuple[str, ...]  # names of those that act on it (see `SETTINGS`)

    # The checkpoint that it needs besides the target: its role (see `ROLES`), the message if none
    # is given, and how to get one for a {target}.
    role: str | None = None
    missing: str = ""
    advice: str = ""

    # Makes the drafter from the loaded models; None: autoregressive decoding.
    build: Callable[[LoadedModels], Drafter] | None = None
    # The trees that a lane may choose from, by name, for a TreeDrafter.
    trees: Callable[[LoadedModels], Mapping[str, NamedTree]] | None = None
    # The lane's title, if it depends on the checkpoint.
    title_of: Callable[[LoadedModels], str] | None = None
    # Top-1 accuracy by level, as stated in the checkpoint; (): not stated.
    claimed: Callable[[LoadedModels], tuple[float, ...]] | None = None
    # Who proposed a drafted token, with {title}, {depth} and {length} of the draft.
    proposed_by: str = ""

    on_target: bool = True  # False: another model answers, and is not compared with the target
    remote: bool = False  # a server answers, in pieces of text; nothing is loaded for it
    samples_drafts: bool = False  # drafts are sampled, which changes the text at a given seed
    typical: bool = False  # offers typical acceptance, which is lossy
    one_pass: bool = False  # drafts all levels in one pass, however many are used

    def __post_init__(self) -> None:
        """Make an incomplete strategy fail at import."""
        if unknown := set(self.settings) - set(SETTINGS):
            raise ValueError(f"strategy {self.name}: no setting {', '.join(sorted(unknown))}")
        if self.role and not (self.missing and self.advice):
            raise ValueError(f"strategy {self.name}: say what to do where it has no {self.role}")
        if self.build and not self.proposed_by:
            raise ValueError(f"strategy {self.name}: say who proposed a token")

    @property
    def drafts(self) -> bool:
        return self.build is not None

    @property
    def is_baseline(self) -> bool:
        """The target alone, which the other lanes are compared with."""
        return self.on_target and not self.drafts

    def is_lossy(self, params: Params) -> bool:
        """Return whether its text with `params` does not follow the target's distribution."""
        return self.typical and params.acceptance == "typical" and not params.sampling.greedy
