"""What a user may choose, before anything is loaded: models, lanes, sampling. No torch in here.

Flags win over the environment (SPECCHAT_TOP_P=0.9), that over config.toml in the user's config
folder (top_p = 0.9), that over the defaults below.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from decoding.errors import InputError
from decoding.params import Params, SamplingParams

STRATEGIES = ("ar", "draft", "drafter", "lookup")
DEFAULT_STRATEGIES = "ar,draft,lookup"
DRAFTING = ("draft", "lookup")
MOST_GAMMA = 64


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane as it was asked for. `gamma` None leaves the draft length to the run's settings."""

    strategy: str
    name: str  # unique among the lanes: "draft", "draft:gamma=2", "draft#2"
    gamma: int | None = None


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What to load and where. `target` None is the demo family that comes with the package."""

    target: str | None = None
    draft: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    quantize: str = "none"
    threads: int | None = None  # None: chosen for this machine
    trust_remote_code: bool = False


def config_file() -> Path:
    return platformdirs.user_config_path("specchat") / "config.toml"


class Settings(BaseSettings):
    """Every setting, checked. Build it with `load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix="SPECCHAT_", extra="forbid", frozen=True, hide_input_in_errors=True
    )

    preset: Literal["demo"] = "demo"
    target: str | None = None
    draft: str | None = None
    device: str = Field("auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    quantize: Literal["none", "int8", "nf4"] = "none"
    threads: int | Literal["auto"] = "auto"
    trust_remote_code: bool = False

    strategies: str = DEFAULT_STRATEGIES
    gamma: int | None = Field(None, ge=0, le=MOST_GAMMA)
    temperature: float = Field(0.0, ge=0.0, allow_inf_nan=False)
    top_p: float = Field(1.0, gt=0.0, le=1.0)
    top_k: int = Field(0, ge=0)
    min_p: float = Field(0.0, ge=0.0, le=1.0)
    seed: int | None = Field(None, ge=0, lt=2**63)
    max_new_tokens: int = Field(256, ge=1)
    stop: tuple[str, ...] = ()
    system: str | None = None
    ignore_eos: bool = False
    raw: bool = False
    schedule: Literal["fair", "race"] = "fair"

    @field_validator("strategies")
    @classmethod
    def _known(cls, text: str) -> str:
        parse_strategies(text)
        return text

    @field_validator("threads")
    @classmethod
    def _at_least_one(cls, threads: int | str) -> int | str:
        if isinstance(threads, int) and threads < 1:
            raise ValueError("must be 1 or more, or auto")
        return threads

    @field_validator("stop")
    @classmethod
    def _not_empty(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        if any(not text for text in texts):
            raise ValueError("must not be empty text")
        return texts

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (
            init_settings,
            env_settings,
            TomlConfigSettingsSource(settings_cls, toml_file=config_file()),
        )

    @property
    def models(self) -> ModelOptions:
        threads = None if self.threads == "auto" else self.threads
        return ModelOptions(
            self.target,
            self.draft,
            self.device,
            self.dtype,
            self.quantize,
            threads,
            self.trust_remote_code,
        )

    @property
    def lanes(self) -> tuple[LaneSpec, ...]:
        return parse_strategies(self.strategies)

    @property
    def params(self) -> Params:
        sampling = SamplingParams(self.temperature, self.top_k, self.top_p, self.min_p)
        return Params(sampling, self.gamma, self.max_new_tokens)


def load_settings(flags: dict[str, Any]) -> Settings:
    """Settings from all sources; flags that are None were not given. Raises InputError naming the
    first setting that is wrong and what it may be."""
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        flag = "--" + name.replace("_", "-")
        source = flag if name in given else f"{name} (SPECCHAT_{name.upper()} or {config_file()})"
        what = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            what = "no such setting"
        raise InputError(f"{source}: {what[0].lower()}{what[1:]}") from error
    except ValueError as error:  # broken TOML, or a value in the environment that can't be read
        raise InputError(f"can't read the settings ({config_file()}): {error}") from error


def parse_strategies(text: str) -> tuple[LaneSpec, ...]:
    """Lanes from "ar,draft,draft:gamma=2": strategies, each with settings of its own after ':'."""
    lanes: list[LaneSpec] = []
    seen: dict[str, int] = {}
    for item in text.split(","):
        written = item.strip()
        strategy, *own = (part.strip() for part in written.split(":"))
        if strategy not in STRATEGIES:
            what = f"unknown strategy '{strategy}'" if strategy else "an empty strategy"
            raise InputError(f"strategies '{text}': {what}; choose from {', '.join(STRATEGIES)}")
        gamma: int | None = None
        for setting in own:
            key, _, value = setting.partition("=")
            if key != "gamma":
                raise InputError(
                    f"strategy '{written}': unknown setting '{key}'; a lane's own setting is "
                    f"gamma, as in draft:gamma=4"
                )
            if not value.isdecimal() or int(value) > MOST_GAMMA:
                raise InputError(
                    f"strategy '{written}': gamma must be a whole number from 0 to {MOST_GAMMA}"
                )
            gamma = int(value)
        if gamma is not None and strategy not in DRAFTING:
            raise InputError(f"strategy '{written}': {strategy} drafts nothing, so it has no gamma")
        seen[written] = seen.get(written, 0) + 1
        name = written if seen[written] == 1 else f"{written}#{seen[written]}"
        lanes.append(LaneSpec(strategy, name, gamma))
    return tuple(lanes)
