"""The specification of a lane."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.strategies.registry import STRATEGIES
from app.strategies.strategy import DEFAULT_TREE
from decoding.params import Params, with_settings


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server: its `url` up to /v1, and the model to request (None: its first)."""

    url: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """A lane as requested. `overrides` are settings by name that replace the run's. `tree` is the
    one to begin with, if the models have one of that name. `checkpoint` is its drafter's (None: the
    one given for the strategy's role). `endpoint` is the server of a "server" lane."""

    strategy: str
    name: str  # unique among the lanes: "draft", "draft:gamma=2", "draft#2"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    tree: str = DEFAULT_TREE
    checkpoint: str | None = None
    endpoint: Endpoint | None = None

    @property
    def stem(self) -> str:
        return stem(self.strategy, self.checkpoint)

    def effective_params(self, run: Params) -> Params:
        """Return the run's settings with the lane's overrides; typical acceptance is Medusa's
        rule, all other lanes are exact."""
        params = with_settings(run, self.overrides)
        if not STRATEGIES[self.strategy].typical and params.acceptance != "exact":
            params = replace(params, acceptance="exact")
        return params


def stem(strategy: str, checkpoint: str | None) -> str:
    """Return the beginning of a lane's name: the strategy, and the name of a checkpoint of its
    own."""
    return f"{strategy}:{Path(checkpoint).name}" if checkpoint else strategy


def without_temperature(name: str) -> str:
    """Return a lane's name without the temperature in it."""
    return re.sub(r":temperature=[^:#]*", "", name, count=1)


def unique_name(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, with a number if it is taken: draft, draft#2, ..."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}#{count}"
    return name
