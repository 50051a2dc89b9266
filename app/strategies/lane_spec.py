"""A lane as the user asks for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.strategies.strategy import DEFAULT_TREE


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that answers: the `url` up to /v1, and the model to ask it for (None: its own)."""

    url: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane as it was asked for. `overrides` are settings of its own, by name; the others are
    the run's. `tree` is the one to begin with, where its models have one of that name.
    `checkpoint`: what it drafts with; None: what was given to its strategy's role. `endpoint`:
    where a lane of the strategy "server" has its answers from."""

    strategy: str
    name: str  # unique among the lanes: "draft", "draft:gamma=2", "draft#2"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    tree: str = DEFAULT_TREE
    checkpoint: str | None = None
    endpoint: Endpoint | None = None

    @property
    def stem(self) -> str:
        """What its name begins with: its strategy, and the name of a checkpoint of its own."""
        return f"{self.strategy}:{Path(self.checkpoint).name}" if self.checkpoint else self.strategy


def unique_name(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, or followed by the first number that makes it unique: draft, draft#2, ..."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}#{count}"
    return name
