"""Decoding settings. They are immutable and read at the start of a round, so that they may be
replaced between two rounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, Literal, get_args

AcceptanceRule = Literal["exact", "typical"]
Gamma = int | Literal["auto"] | None
KVCacheDtype = Literal["none", "int8", "fp8"]  # what a target's keys and values are quantized to


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a setting may be: a number, `whole` or not, between two ends (None: unbounded; `above`
    is exclusive), or one of the `others`."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    whole: bool = False
    others: tuple[object, ...] = ()

    def __str__(self) -> str:
        low = f"above {self.above:g}" if self.least is None else f"{self.least:g} or more"
        return low if self.most is None else f"{low}, at most {self.most:g}"

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError for a value that the setting can't have."""
        if value in self.others:
            return
        if not _is_number(value):
            other = " or auto" if "auto" in self.others else ""
            raise ValueError(f"{name} must be a number{other}, not {value!r}")
        fits = (
            -math.inf < value < math.inf  # an integer may be too large for a float
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
        )
        if not fits:
            raise ValueError(f"{name} must be {self}, not {value}")
        if self.whole and not isinstance(value, Integral):
            raise ValueError(f"{name} must be a whole number, not {value}")


def _is_number(value: object) -> bool:
    """NumPy's are numbers, too."""
    return isinstance(value, Real) and not isinstance(value, bool)


LONGEST_DRAFT = 64
BOUNDS = {
    "temperature": Bounds(least=0),
    "top_k": Bounds(least=0, whole=True),
    "top_p": Bounds(above=0, most=1),
    "min_p": Bounds(least=0, most=1),
    "repetition_penalty": Bounds(least=0.01, most=10),
    "presence_penalty": Bounds(least=-2, most=2),
    "gamma": Bounds(least=0, most=LONGEST_DRAFT, whole=True, others=(None, "auto")),
    "max_new_tokens": Bounds(least=1, whole=True),
    "epsilon": Bounds(above=0, most=1),
    "delta": Bounds(above=0, most=1),
    "eagle_total_tokens": Bounds(least=2, most=1024, whole=True, others=(None,)),
    "eagle_top_k": Bounds(least=1, most=64, whole=True, others=(None,)),
}


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is sampled from logits, in Hugging Face's order: penalties, then warpers.

    `temperature` 0, or below 1e-5, is greedy; then only the penalties act. `top_k` 0, `top_p` 1,
    `min_p` 0, `repetition_penalty` 1 and `presence_penalty` 0 are off.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0

    def __post_init__(self) -> None:
        _check(self)

    @property
    def penalizes(self) -> bool:
        return self.repetition_penalty != 1.0 or self.presence_penalty != 0.0

    @property
    def greedy(self) -> bool:
        return self.temperature < 1e-5

    @property
    def greedy_rule(self) -> SamplingParams | None:
        """If greedy, only the settings that act then: equal rules give equal tokens."""
        if not self.greedy:
            return None
        return SamplingParams(
            repetition_penalty=self.repetition_penalty, presence_penalty=self.presence_penalty
        )


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of one round.

    `gamma` is the longest draft path in tokens; None is the drafter's default, and "auto" chooses,
    round by round, the length with the most expected tokens per second.
    `acceptance` "typical" is Medusa's rule with its `epsilon` and `delta`: lossy, it acts above
    temperature 0 and only on deterministic trees. `eagle_total_tokens` (root included) and
    `eagle_top_k` shape EAGLE's dynamic tree; None leaves them to the drafter's own tree.
    """

    sampling: SamplingParams = field(default_factory=SamplingParams)
    gamma: Gamma = None
    max_new_tokens: int = 256
    acceptance: AcceptanceRule = "exact"
    epsilon: float = 0.09
    delta: float = 0.3
    eagle_total_tokens: int | None = None
    eagle_top_k: int | None = None

    def __post_init__(self) -> None:
        if self.acceptance not in get_args(AcceptanceRule):
            raise ValueError(f"acceptance must be exact or typical, not '{self.acceptance}'")
        _check(self)

    def same_tokens(self, other: Params) -> bool:
        """Return whether exact strategies give the same tokens with these settings and with
        `other`: greedy, with the same penalties and the same length limit."""
        rule = self.sampling.greedy_rule
        alike = rule is not None and rule == other.sampling.greedy_rule
        return alike and self.max_new_tokens == other.max_new_tokens


def _check(settings: SamplingParams | Params) -> None:
    for each in fields(settings):
        if each.name in BOUNDS:
            BOUNDS[each.name].check(each.name, getattr(settings, each.name))


_SAMPLING = frozenset(each.name for each in fields(SamplingParams))


def flat(params: Params) -> dict[str, Any]:
    """Return all settings side by side, by their names on the command line."""
    values = asdict(params)
    return {**values.pop("sampling"), **values}


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `flat`: the sampling settings get a mapping of their own."""
    sampling = {name: value for name, value in values.items() if name in _SAMPLING}
    others = {name: value for name, value in values.items() if name not in _SAMPLING}
    return {**others, "sampling": sampling}


def with_settings(params: Params, values: Mapping[str, Any]) -> Params:
    """Change some settings of `params`, by the names of `flat`. Raises ValueError for an invalid
    value, TypeError for an unknown name."""
    if not values:  # the common case, once a round
        return params
    others = nested(values)
    sampling = replace(params.sampling, **others.pop("sampling"))
    return replace(params, sampling=sampling, **others)
