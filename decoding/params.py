"""Settings of decoding. They are immutable; a round reads them at its start, so that anything may
change between two rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

Acceptance = Literal["exact", "typical"]
Gamma = int | Literal["auto"] | None


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is drawn from logits, in Hugging Face's order of warpers.

    `temperature` 0 is greedy, and then nothing else here acts; so is anything below 1e-5, which
    float32 can't tell from 0. `top_k` 0, `top_p` 1 and `min_p` 0 are off.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature must be 0 or more, not {self.temperature}")
        if self.top_k < 0:
            raise ValueError(f"top_k must be 0 (off) or more, not {self.top_k}")
        if not 0.0 < self.top_p <= 1.0:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if not 0.0 <= self.min_p <= 1.0:
            raise ValueError(f"min_p must be between 0 and 1, not {self.min_p}")

    @property
    def greedy(self) -> bool:
        return self.temperature < 1e-5


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of one round.

    `gamma` is the longest draft path in tokens; None leaves it to the drafter's own default, and
    "auto" takes, round by round, what is expected to give the most tokens per second.
    `acceptance` "typical" is Medusa's rule with its `epsilon` and `delta`: lossy, it acts above
    temperature 0 and only on deterministic trees. `eagle_total_tokens` (root included) and
    `eagle_top_k` shape EAGLE's dynamic tree; None leaves them to the drafter's own tree.
    """

    sampling: SamplingParams = field(default_factory=SamplingParams)
    gamma: Gamma = None
    max_new_tokens: int = 256
    acceptance: Acceptance = "exact"
    epsilon: float = 0.09
    delta: float = 0.3
    eagle_total_tokens: int | None = None
    eagle_top_k: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.gamma, str):
            if self.gamma != "auto":
                raise ValueError(f"gamma must be a number or auto, not '{self.gamma}'")
        elif self.gamma is not None and self.gamma < 0:
            raise ValueError(f"gamma must be 0 or more, not {self.gamma}")
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be 1 or more, not {self.max_new_tokens}")
        if self.eagle_total_tokens is not None and self.eagle_total_tokens < 2:
            raise ValueError(f"eagle_total_tokens must be 2 or more, not {self.eagle_total_tokens}")
        if self.eagle_top_k is not None and self.eagle_top_k < 1:
            raise ValueError(f"eagle_top_k must be 1 or more, not {self.eagle_top_k}")
        for name in ("epsilon", "delta"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be above 0 and at most 1, not {getattr(self, name)}")


_SAMPLING = frozenset(each.name for each in fields(SamplingParams))


def flat(params: Params) -> dict[str, Any]:
    """All settings side by side, by their names on the command line."""
    values = asdict(params)
    return {**values.pop("sampling"), **values}


def with_settings(params: Params, values: Mapping[str, Any]) -> Params:
    """`params` with some settings changed, by the names of `flat`. Raises ValueError for a value
    that a setting can't have, TypeError for an unknown name."""
    if not values:  # asked every round
        return params
    sampling = {name: value for name, value in values.items() if name in _SAMPLING}
    others = {name: value for name, value in values.items() if name not in _SAMPLING}
    return replace(params, sampling=replace(params.sampling, **sampling), **others)
