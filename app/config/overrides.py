"""Checks the settings that a lane can override, and parses --strategies and --sweep."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal

from pydantic import BaseModel, Field, FiniteFloat, ValidationError, field_validator
from pydantic_core import ErrorDetails

from app.strategies.lane_spec import LaneSpec, unique_name
from app.strategies.registry import find_strategy
from app.strategies.settings import SETTINGS
from app.strategies.strategy import Strategy
from app.text.numbers import whole_number
from decoding.errors import InputError
from decoding.params import Params, with_settings

_NUMBERS = tuple(setting.name for setting in SETTINGS.values() if setting.kind is not str)


def reject_bool(value: object) -> object:
    """Raise ValueError for true and false, which pydantic would convert to 1 and 0."""
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


def _field(name: str) -> Any:
    setting = SETTINGS[name]
    bounds = setting.bounds
    return Field(setting.default, ge=bounds.least, gt=bounds.above, le=bounds.most)


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
    repetition_penalty: float = _field("repetition_penalty")
    presence_penalty: float = _field("presence_penalty")
    max_new_tokens: int = _field("max_new_tokens")

    _reject_bools = field_validator(*_NUMBERS, mode="before")(reject_bool)

    @field_validator("gamma", mode="before")
    @classmethod
    def _auto_or_length(cls, gamma: object) -> object:
        if gamma is None or gamma == "auto":
            return gamma
        most = int(SETTINGS["gamma"].bounds.most or 0)
        number = whole_number(str(gamma), most)
        if number is not None:
            return number
        raise ValueError(f"must be auto or a whole number from 0 to {most}, not '{gamma}'")

    @property
    def params(self) -> Params:
        return with_settings(Params(), {name: getattr(self, name) for name in SETTINGS})


assert LaneSettings.model_fields.keys() == SETTINGS.keys()


def complaint(error: ErrorDetails) -> str:
    """Return what a value should be, and what it is."""
    what = error["msg"].removeprefix("Value error, ")
    if error["type"] == "value_error":
        return what
    return f"{what[0].lower()}{what[1:]}, not {error['input']!r}"


CHECKPOINT = "checkpoint"


def parse_strategies(text: str) -> tuple[LaneSpec, ...]:
    """Return lanes from "ar,draft:gamma=2:temperature=0.8,draft:checkpoint=DIR": strategies, each
    with settings and a checkpoint of its own after ':'. Raises InputError."""
    lanes: list[LaneSpec] = []
    for item in text.split(","):
        written = item.strip()
        strategy, *own = (part.strip() for part in written.split(":"))
        found = find_strategy(strategy)
        if found.remote:
            raise InputError("a server's lane is asked for by its address: --server URL")
        try:
            checkpoint, own = _split_checkpoint(found, _with_whole_checkpoint(own))
            overrides = _parse_overrides(found, own)
        except InputError as error:
            raise InputError(f"strategy '{written}': {error}") from error
        spec = LaneSpec(found.name, "", overrides, checkpoint=checkpoint)
        name = unique_name(":".join((spec.stem, *own)), [lane.name for lane in lanes])
        lanes.append(replace(spec, name=name))
    return tuple(lanes)


def _with_whole_checkpoint(parts: Sequence[str]) -> list[str]:
    """What stood between colons, with those of a checkpoint put back: org/name:Q4_K_M."""
    whole: list[str] = []
    for part in parts:
        if "=" not in part and whole and whole[-1].startswith(f"{CHECKPOINT}="):
            whole[-1] += f":{part}"
        else:
            whole.append(part)
    return whole


def _split_checkpoint(strategy: Strategy, own: list[str]) -> tuple[str | None, list[str]]:
    """The source in checkpoint=DIR, None if not given, and the other settings."""
    begin = f"{CHECKPOINT}="
    named = [each.removeprefix(begin) for each in own if each.startswith(begin)]
    if not named:
        return None, own
    if strategy.role is None:
        raise InputError("it drafts without a checkpoint")
    if len(named) > 1 or not named[0]:
        raise InputError(f"give one folder or hub id after {begin}")
    return os.path.expanduser(named[0]), [each for each in own if not each.startswith(begin)]


def _parse_overrides(strategy: Strategy, own: list[str]) -> dict[str, Any]:
    """Values by name from ["gamma=2", "top-p=0.9"]."""
    overrides: dict[str, Any] = {}
    for setting in own:
        written, _, value = setting.partition("=")
        name = written.strip().replace("-", "_")
        if name not in strategy.settings:
            known = name in SETTINGS
            what = f"{written} does nothing there" if known else f"unknown setting '{written}'"
            own_names = (*strategy.settings, *([CHECKPOINT] if strategy.role else ()))
            raise InputError(f"{what}; its own may be {', '.join(own_names)}")
        if name in overrides:
            raise InputError(f"{name} is given twice")
        overrides[name] = _parse_value(name, value)
    return overrides


def _parse_value(name: str, text: str) -> Any:
    """The value of the setting `name`. Raises InputError."""
    try:
        return getattr(LaneSettings.model_validate({name: text.strip()}), name)
    except ValidationError as error:
        first = error.errors()[0]
        separator = " " if first["type"] == "value_error" else ": "
        raise InputError(f"{name}{separator}{complaint(first)}") from error


Sweep = dict[str, tuple[Any, ...]]  # the values of each setting, by its name


def parse_sweep(texts: Sequence[str]) -> Sweep:
    """Return values by name from ["gamma=1,2,4", "temperature=0,0.8"]. Raises InputError."""
    sweep: Sweep = {}
    for text in texts:
        written, _, values = text.partition("=")
        name = written.strip().replace("-", "_")
        if name not in SETTINGS:
            raise InputError(
                f"--sweep: unknown setting '{written}'; give one of {', '.join(SETTINGS)} with its "
                "values, such as gamma=1,2,4"
            )
        if name in sweep:
            raise InputError(f"--sweep: {name} is given twice")
        try:
            sweep[name] = parse_values(name, values)
        except InputError as error:
            raise InputError(f"--sweep: {error}") from error
    return sweep


def parse_values(name: str, text: str) -> tuple[Any, ...]:
    """Return those of the setting `name` in "0,0.8". Raises InputError."""
    values = tuple(_parse_value(name, each) for each in text.split(","))
    if len(set(values)) < len(values):
        raise InputError(f"a value of {name} is given twice")
    return values


def sweep_lanes(lanes: Sequence[LaneSpec], sweep: Sweep) -> tuple[LaneSpec, ...]:
    """Return each lane once per combination of the swept values, of those settings that act on it
    and that it does not override itself. Raises InputError for a setting that acts on no lane."""
    swept: dict[str, LaneSpec] = {}
    used: set[str] = set()
    for lane in lanes:
        strategy = find_strategy(lane.strategy)
        names = [n for n in sweep if n in strategy.settings and n not in lane.overrides]
        used.update(names)
        for values in product(*(sweep[name] for name in names)):
            own = dict(zip(names, values, strict=True))
            parts = (lane.name, *(f"{name}={_short(value)}" for name, value in own.items()))
            name = unique_name(":".join(parts), swept)
            swept[name] = replace(lane, name=name, overrides={**lane.overrides, **own})
    if idle := [name for name in sweep if name not in used]:
        raise InputError(f"--sweep: {idle[0]} changes nothing in any of the lanes")
    return tuple(swept.values())


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
