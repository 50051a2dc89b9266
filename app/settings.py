"""What a user may choose, before anything is loaded: models, lanes, sampling. No torch in here.

Flags win over the environment (SPECCHAT_TOP_P=0.9), that over config.toml in the user's config
folder (top_p = 0.9), that over the defaults below.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from decoding.errors import InputError
from decoding.params import Params, SamplingParams

STRATEGIES = {
    "ar": "Autoregressive",
    "draft": "Draft model",
    "drafter": "Draft alone",
    "medusa": "Medusa",
    "eagle": "EAGLE",
    "eagle1": "EAGLE-1",
    "lookup": "Prompt lookup",
}
DEFAULT_STRATEGIES = "ar,draft,medusa,eagle"
DRAFTING = ("draft", "medusa", "eagle", "eagle1", "lookup")
MOST_GAMMA = 64


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane as it was asked for. `pins` are settings of its own, by name; the others are the
    run's."""

    strategy: str
    name: str  # unique among the lanes: "draft", "draft:gamma=2", "draft#2"
    pins: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What to load and where. `target` None is the demo family that comes with the package."""

    target: str | None = None
    draft: str | None = None
    medusa: str | None = None
    eagle: str | None = None
    eagle1: str | None = None  # an EAGLE-1 or 2 draft beside it, to compare
    medusa_choices: str | None = None  # None: grown for these heads on this machine
    eagle_choices: str | None = None  # None: the dynamic tree
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
        env_prefix="SPECCHAT_", env_ignore_empty=True, extra="forbid", frozen=True
    )

    preset: Literal["demo"] = "demo"
    target: str | None = Field(None, min_length=1)
    draft: str | None = Field(None, min_length=1)
    medusa: str | None = Field(None, min_length=1)
    eagle: str | None = Field(None, min_length=1)
    eagle1: str | None = Field(None, min_length=1)
    device: str = Field("auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    quantize: Literal["none", "int8", "nf4"] = "none"
    threads: int | Literal["auto"] = "auto"
    trust_remote_code: bool = False

    strategies: str = DEFAULT_STRATEGIES
    gamma: int | Literal["auto"] | None = None
    medusa_choices: str | None = None
    eagle_choices: str | None = None
    eagle_total_tokens: int | None = Field(None, ge=2, le=1024)
    eagle_top_k: int | None = Field(None, ge=1, le=64)
    acceptance: Literal["exact", "typical"] = "exact"
    epsilon: float = Field(0.09, gt=0.0, le=1.0)
    delta: float = Field(0.3, gt=0.0, le=1.0)
    temperature: float = Field(0.0, ge=0.0, allow_inf_nan=False)
    top_p: float = Field(1.0, gt=0.0, le=1.0)
    top_k: int = Field(0, ge=0)
    min_p: float = Field(0.0, ge=0.0, le=1.0)
    seed: int | None = Field(None, ge=0, lt=2**63)
    max_new_tokens: int = Field(256, ge=1)
    stop: Annotated[tuple[str, ...], NoDecode] = ()  # in the environment: one text, no JSON
    system: str | None = None
    ignore_eos: bool = False
    raw: bool = False
    schedule: Literal["fair", "race"] = "fair"
    keep: bool = True  # conversations on the screen are kept on disk
    theme: str = "specchat-dark"
    keys: Annotated[dict[str, str], NoDecode] = Field(default_factory=dict)  # by action

    @field_validator("strategies")
    @classmethod
    def _known(cls, text: str) -> str:
        parse_strategies(text)
        return text

    @field_validator("threads", mode="before")
    @classmethod
    def _auto_or_number(cls, threads: object) -> object:
        if threads == "auto" or str(threads).isdecimal() and int(str(threads)) > 0:
            return threads
        raise ValueError(f"must be auto or a number from 1, not '{threads}'")

    @field_validator("gamma", mode="before")
    @classmethod
    def _auto_or_length(cls, gamma: object) -> object:
        if gamma is None or gamma == "auto":
            return gamma
        if str(gamma).isdecimal() and int(str(gamma)) <= MOST_GAMMA:
            return int(str(gamma))
        raise ValueError(f"must be auto or a whole number from 0 to {MOST_GAMMA}, not '{gamma}'")

    @field_validator("stop", mode="before")
    @classmethod
    def _one_or_more(cls, texts: object) -> object:
        return (texts,) if isinstance(texts, str) else texts

    @field_validator("stop")
    @classmethod
    def _not_empty(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        if not all(texts):
            raise ValueError("must not be empty text")
        return texts

    @field_validator("theme")
    @classmethod
    def _a_theme(cls, name: str) -> str:
        from app.tui.themes import check  # Textual, which the headless commands do without

        check(name)
        return name

    @field_validator("keys", mode="before")
    @classmethod
    def _keys_of_actions(cls, keys: object) -> object:
        from app.tui.keymap import checked

        return checked(keys)

    @field_validator("target", "draft", "medusa", "eagle", "eagle1", "system", "stop")
    @classmethod
    def _is_unicode(cls, value: Any) -> Any:
        for text in value if isinstance(value, tuple) else (value or "",):
            refuse_broken_text(text, "the text")
        return value

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
        places = (self.target, self.draft, self.medusa, self.eagle, self.eagle1)
        target, draft, medusa, eagle, eagle1 = (p and os.path.expanduser(p) for p in places)
        return ModelOptions(
            target,
            draft,
            medusa,
            eagle,
            eagle1,
            self.medusa_choices,
            self.eagle_choices,
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


def load_settings(flags: dict[str, Any]) -> Settings:
    """Settings from all sources; flags that are None were not given. Raises InputError naming the
    first setting that is wrong and what it may be."""
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise InputError(_first_error(error, given)) from error
    except (OSError, ValueError) as error:  # a file that can't be read, broken TOML
        raise InputError(f"can't read the settings in {config_file()}: {error}") from error


def _first_error(error: ValidationError, given: dict[str, Any]) -> str:
    """Where the wrong value came from, and what it should be."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    if name in given:
        source = "--" + name.replace("_", "-")
    elif os.environ.get("SPECCHAT_" + name.upper()):
        source = "SPECCHAT_" + name.upper()
    else:
        source = f"{name} in {config_file()}"
    if first["type"] == "extra_forbidden":
        return f"{source}: there is no such setting; the settings are those of specchat run --help"
    what = first["msg"].removeprefix("Value error, ")
    if first["type"] != "value_error":
        what = f"{what[0].lower()}{what[1:]}, not {first['input']!r}"
    return f"{source}: {what}"


def refuse_broken_text(text: str, where: str) -> None:
    """Bytes that are not UTF-8 arrive as lone surrogates (from the shell, from JSON's escapes);
    no tokenizer takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{where} holds bytes or escapes that are not Unicode text") from None


def parse_strategies(text: str) -> tuple[LaneSpec, ...]:
    """Lanes from "ar,draft,draft:gamma=2": strategies, each with settings of its own after ':'."""
    lanes: list[LaneSpec] = []
    seen: dict[str, int] = {}
    for item in text.split(","):
        written = item.strip()
        strategy, *own = (part.strip() for part in written.split(":"))
        if strategy not in STRATEGIES:
            what = (
                f"unknown strategy '{strategy}'" if strategy else f"an empty strategy in '{text}'"
            )
            raise InputError(f"{what}; choose from {', '.join(STRATEGIES)}")
        pins: dict[str, Any] = {}
        for setting in own:
            key, _, value = setting.partition("=")
            if key != "gamma":
                raise InputError(
                    f"strategy '{written}': unknown setting '{key}'; a lane's own setting is "
                    f"gamma, as in draft:gamma=4"
                )
            if value != "auto" and not (value.isdecimal() and int(value) <= MOST_GAMMA):
                raise InputError(
                    f"strategy '{written}': gamma must be auto or a whole number from 0 to "
                    f"{MOST_GAMMA}"
                )
            pins["gamma"] = value if value == "auto" else int(value)
        if pins and strategy not in DRAFTING:
            raise InputError(f"strategy '{written}': {strategy} drafts nothing, so it has no gamma")
        seen[written] = seen.get(written, 0) + 1
        name = written if seen[written] == 1 else f"{written}#{seen[written]}"
        lanes.append(LaneSpec(strategy, name, pins))
    return tuple(lanes)
