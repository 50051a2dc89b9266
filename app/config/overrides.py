"""Checks the settings that a lane can override, and parses --strategies."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, FiniteFloat, ValidationError, field_validator
from pydantic_core import ErrorDetails

from app.strategies.registry import LaneSpec, find_strategy, unique_name
from app.strategies.settings import SETTINGS
from app.strategies.strategy import Strategy
from decoding.errors import InputError
from decoding.params import Params, SamplingParams


def _field(name: str) -> Any:
    setting = SETTINGS[name]
    return Field(setting.default, ge=setting.least, gt=setting.above, le=setting.most)


class LaneSettings(BaseModel):
    """Decoding settings of a run or of one lane; `Strategy.settings` names those that act on it."""

    gamma: int | Literal["auto"] | None = None
    eagle_total_tokens: int | None = _field("eagle_total_tokens")
    eagle_top_k: int | None = _field("eagle_top_k")
    acceptance: Literal["exact", "typical"] = "exact"
    epsilon: float = _field("epsilon")
    delta: float = _field("delta")
    temperature: FiniteFloat = _field("temperature")
    top_p: float = _field("top_p")
    top_k: int = _field("top_k")
    min_p: float = _field("min_p")
    max_new_tokens: int = _field("max_new_tokens")

    @field_validator("gamma", mode="before")
    @classmethod
    def _auto_or_length(cls, gamma: object) -> object:
        if gamma is None or gamma == "auto":
            return gamma
        most = SETTINGS["gamma"].most or 0
        if str(gamma).isdecimal() and int(str(gamma)) <= most:
            return int(str(gamma))
        raise ValueError(f"must be auto or a whole number from 0 to {most}, not '{gamma}'")

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


assert LaneSettings.model_fields.keys() == SETTINGS.keys()


def complaint(error: ErrorDetails) -> str:
    """Say what a value should be, and what it is."""
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
        found = find_strategy(strategy)
        try:
            overrides = _parse_overrides(found, own)
        except InputError as error:
            raise InputError(f"strategy '{written}': {error}") from error
        name = unique_name(":".join((found.name, *own)), [lane.name for lane in lanes])
        lanes.append(LaneSpec(found.name, name, overrides))
    return tuple(lanes)


def _parse_overrides(strategy: Strategy, own: list[str]) -> dict[str, Any]:
    """Values by name from ["gamma=2", "top-p=0.9"]."""
    overrides: dict[str, Any] = {}
    for setting in own:
        written, _, value = setting.partition("=")
        name = written.strip().replace("-", "_")
        if name not in strategy.settings:
            known = name in SETTINGS
            what = f"{written} does nothing there" if known else f"unknown setting '{written}'"
            raise InputError(f"{what}; its own may be {', '.join(strategy.settings)}")
        if name in overrides:
            raise InputError(f"{name} is given twice")
        try:
            overrides[name] = getattr(LaneSettings.model_validate({name: value.strip()}), name)
        except ValidationError as error:
            first = error.errors()[0]
            separator = " " if first["type"] == "value_error" else ": "
            raise InputError(f"{name}{separator}{complaint(first)}") from error
    return overrides
