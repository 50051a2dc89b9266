"""Settings that a lane may have of its own, checked, and lanes as they are written."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from app.strategies.registry import ACTS_ON, STRATEGIES, LaneSpec, settings_of, unique_name
from decoding.errors import InputError
from decoding.params import Params, SamplingParams

MAX_GAMMA = 64


class LaneSettings(BaseModel):
    """The run's, or one lane's. `ACTS_ON` names the strategies that have a use for each."""

    gamma: int | Literal["auto"] | None = None
    eagle_total_tokens: int | None = Field(None, ge=2, le=1024)
    eagle_top_k: int | None = Field(None, ge=1, le=64)
    acceptance: Literal["exact", "typical"] = "exact"
    epsilon: float = Field(0.09, gt=0.0, le=1.0)
    delta: float = Field(0.3, gt=0.0, le=1.0)
    temperature: float = Field(0.0, ge=0.0, allow_inf_nan=False)
    top_p: float = Field(1.0, gt=0.0, le=1.0)
    top_k: int = Field(0, ge=0)
    min_p: float = Field(0.0, ge=0.0, le=1.0)
    max_new_tokens: int = Field(256, ge=1)

    @field_validator("gamma", mode="before")
    @classmethod
    def _auto_or_length(cls, gamma: object) -> object:
        if gamma is None or gamma == "auto":
            return gamma
        if str(gamma).isdecimal() and int(str(gamma)) <= MAX_GAMMA:
            return int(str(gamma))
        raise ValueError(f"must be auto or a whole number from 0 to {MAX_GAMMA}, not '{gamma}'")

    @property
    def params(self) -> Params:
        sampling = SamplingParams(self.temperature, self.top_k, self.top_p, self.min_p)
        return Params(
            sampling,
            self.gamma,
            self.max_new_tokens,
            self.acceptance,
            self.epsilon,
            self.delta,
            self.eagle_total_tokens,
            self.eagle_top_k,
        )


assert LaneSettings.model_fields.keys() == ACTS_ON.keys()


def complaint(error: ErrorDetails) -> str:
    """What a value should be, and what it is."""
    what = error["msg"].removeprefix("Value error, ")
    if error["type"] == "value_error":
        return what
    return f"{what[0].lower()}{what[1:]}, not {error['input']!r}"


def parse_strategies(text: str) -> tuple[LaneSpec, ...]:
    """Lanes from "ar,draft,draft:gamma=2:temperature=0.8": strategies, each with settings of its
    own after ':'. Raises InputError."""
    lanes: list[LaneSpec] = []
    for item in text.split(","):
        written = item.strip()
        strategy, *own = (part.strip() for part in written.split(":"))
        if strategy not in STRATEGIES:
            what = (
                f"unknown strategy '{strategy}'" if strategy else f"an empty strategy in '{text}'"
            )
            raise InputError(f"{what}; choose from {', '.join(STRATEGIES)}")
        try:
            overrides = _parse_overrides(strategy, own)
        except InputError as error:
            raise InputError(f"strategy '{written}': {error}") from error
        lanes.append(
            LaneSpec(strategy, unique_name(written, [lane.name for lane in lanes]), overrides)
        )
    return tuple(lanes)


def _parse_overrides(strategy: str, own: list[str]) -> dict[str, Any]:
    """Values by name from ["gamma=2", "top-p=0.9"]."""
    overrides: dict[str, Any] = {}
    for setting in own:
        written, _, value = setting.partition("=")
        name = written.strip().replace("-", "_")
        if strategy not in ACTS_ON.get(name, ()):
            what = f"{written} does nothing there" if name in ACTS_ON else "unknown setting"
            what += "" if name in ACTS_ON else f" '{written}'"
            raise InputError(f"{what}; its own may be {', '.join(settings_of(strategy))}")
        if name in overrides:
            raise InputError(f"{name} is given twice")
        try:
            overrides[name] = getattr(LaneSettings.model_validate({name: value.strip()}), name)
        except ValidationError as error:
            first = error.errors()[0]
            separator = " " if first["type"] == "value_error" else ": "
            raise InputError(f"{name}{separator}{complaint(first)}") from error
    return overrides
