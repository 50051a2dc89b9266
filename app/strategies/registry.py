"""The strategies, the settings that act on each of them, and what a lane is asked to be."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.engine.events import DEFAULT_TREE

STRATEGIES = {
    "ar": "Autoregressive",
    "draft": "Draft model",
    "drafter": "Draft alone",
    "medusa": "Medusa",
    "eagle": "EAGLE",
    "eagle1": "EAGLE-1",
    "lookup": "Prompt lookup",
}
WHAT = {
    "ar": "The target alone, token by token: what the others are compared with",
    "draft": "A smaller model drafts a chain",
    "drafter": "The draft model alone answers: another text, its own speed",
    "medusa": "Heads on the target guess the next tokens, a tree of guesses",
    "eagle": "A layer on the target's own states drafts a tree",
    "eagle1": "An EAGLE-1 or 2 draft, beside EAGLE-3",
    "lookup": "Drafts what followed the same words before: no model at all",
}
DEFAULT_STRATEGIES = "ar,draft,medusa,eagle"
MEDUSA = ("medusa",)
EAGLE = ("eagle", "eagle1")
DRAFTING = ("draft", *MEDUSA, *EAGLE, "lookup")
ALL = tuple(STRATEGIES)

# The settings that a lane may have of its own, and the strategies that each of them acts on.
ACTS_ON: Mapping[str, tuple[str, ...]] = {
    "gamma": DRAFTING,
    "temperature": ALL,
    "top_p": ALL,
    "top_k": ALL,
    "min_p": ALL,
    "max_new_tokens": ALL,
    "eagle_total_tokens": EAGLE,
    "eagle_top_k": EAGLE,
    "acceptance": MEDUSA,
    "epsilon": MEDUSA,
    "delta": MEDUSA,
}


def settings_of(strategy: str) -> list[str]:
    """The settings that act on a strategy."""
    return [name for name, strategies in ACTS_ON.items() if strategy in strategies]


def unique_name(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, or with the first number behind it that makes it unique: draft, draft#2, ..."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}#{count}"
    return name


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane as it was asked for. `overrides` are settings of its own, by name; the others are
    the run's. `tree` is the one to begin with, where its models have one of that name."""

    strategy: str
    name: str  # unique among the lanes: "draft", "draft:gamma=2", "draft#2"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    tree: str = DEFAULT_TREE
