"""What a strategy is: one record, from which its lane, options, sliders and words follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.strategies.settings import SETTINGS

if TYPE_CHECKING:
    from app.models.loaded import LoadedModels
    from decoding.drafters.base import Drafter
    from decoding.trees.static import Choices

DEFAULT_TREE = "default"  # the one that a lane begins with
DYNAMIC_TREE = "dynamic"  # another shape each round, of the likeliest guesses


@dataclass(frozen=True, slots=True)
class NamedTree:
    """A tree that a lane may draft: static, or with `choices` () dynamic. `depth`: its longest
    path."""

    choices: Choices
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One way to decode. Its functions import what they need when they are called: this module and
    the registry stay free of torch."""

    name: str  # in options, settings and documents
    title: str  # of its lanes
    summary: str  # what it does, in one line
    explanation: str = ""  # for the help screen, where the line does not suffice
    settings: tuple[str, ...]  # those that act on it, by name (see `SETTINGS`)

    # What it needs besides the target: the role of a checkpoint (see `ROLES`), the line that is
    # said where none was given, and how to get one for a {target}.
    role: str | None = None
    missing: str = ""
    advice: str = ""

    # Makes what drafts in it from the loaded models; None: the model decodes token by token.
    build: Callable[[LoadedModels], Drafter] | None = None
    # The trees that a lane may choose from, by name, for a TreeDrafter.
    trees: Callable[[LoadedModels], Mapping[str, NamedTree]] | None = None
    # The lane's title where that depends on the checkpoint.
    title_of: Callable[[LoadedModels], str] | None = None
    # How often the likeliest guess of each level is right, as the checkpoint says; (): it doesn't.
    claimed: Callable[[LoadedModels], tuple[float, ...]] | None = None
    # Who proposed a drafted token, of a {title}d lane: {depth} levels below the root of {length}.
    proposed_by: str = ""

    on_target: bool = True  # False: another model answers, and is not compared with the target
    remote: bool = False  # a server answers, in pieces of text: nothing is loaded for it
    samples_drafts: bool = False  # drafts are drawn: other text at the same seed
    typical: bool = False  # offers Medusa's lossy rule of acceptance
    one_pass: bool = False  # all levels of a draft are guessed at once, however many are used

    def __post_init__(self) -> None:
        """A half-made strategy fails when the app is imported."""
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
        """The target alone: what the others are compared with."""
        return self.on_target and not self.drafts
