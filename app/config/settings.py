"""Every setting a user can make: models, lanes, sampling, screen. Imports no torch.

Flags win over the environment (SPECCHAT_TOP_P=0.9), that over config.toml in the user's config
folder (top_p = 0.9), that over the defaults below.
"""

from __future__ import annotations

import math
import os
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from app.config.families import PUBLIC_FAMILIES
from app.config.model_options import DEVICE_WORDS, DEVICES, ModelOptions
from app.config.overrides import LaneSettings, complaint, parse_strategies, reject_bool
from app.config.presets import Presets
from app.config.servers import parse_servers
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import DEFAULT_STRATEGIES, EAGLE_1
from app.strategies.roles import ROLES
from app.text.numbers import whole_number
from app.text.suggestions import meant_by
from app.text.unicode import require_unicode
from decoding.errors import InputError, reason_for
from decoding.json_text import parse_json
from decoding.params import KVCacheDtype
from decoding.trees.static import parse_choices

MAX_THREADS = 1024
LARGEST_BIAS = 10_000  # of a logit; float16 ends at 65,504
# what belongs to certain models, and so not to those of another family
OF_MODELS = (
    *(*ROLES, "adapter", "draft_adapter"),
    *("chat_template", "medusa_choices", "eagle_choices"),
)
# arguments of a chat template that are set for every prompt
_TEMPLATE_ARGS = {"messages", "conversation", "chat_template", "add_generation_prompt", "tokenize"}


def config_file() -> Path:
    return platformdirs.user_config_path("specchat") / "config.toml"


class ModelSources(BaseModel):
    """A folder or hub id for each role."""

    target: str | None = Field(None, min_length=1)
    draft: str | None = Field(None, min_length=1)
    medusa: str | None = Field(None, min_length=1)
    eagle: str | None = Field(None, min_length=1)
    eagle1: str | None = Field(None, min_length=1)

    @property
    def sources(self) -> dict[str, str]:
        """Those that are named, by role."""
        return {name: getattr(self, name) for name in ROLES if getattr(self, name)}


assert ModelSources.model_fields.keys() == ROLES.keys()


class FamilyEntry(ModelSources):
    """A family of the user: [families.NAME] in config.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str = Field(min_length=1)


class Settings(ModelSources, LaneSettings, BaseSettings):
    """All settings, checked. `load_settings` builds it."""

    model_config = SettingsConfigDict(
        env_prefix="SPECCHAT_", env_ignore_empty=True, extra="forbid", frozen=True
    )

    # the user's own, by name; a table of config.toml, so a variable for it is no JSON either
    families: Annotated[dict[str, FamilyEntry], NoDecode] = Field(default_factory=dict)
    family: str = "demo"
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    quantize: Literal["none", "int8", "nf4"] = "none"
    quantize_draft: Literal["none", "int8", "nf4"] | None = None
    kv_cache: KVCacheDtype = "none"
    adapter: str | None = Field(None, min_length=1)
    draft_adapter: str | None = Field(None, min_length=1)
    threads: int | Literal["auto"] = "auto"
    graphs: bool = True
    trust_remote_code: bool = False

    strategies: str = DEFAULT_STRATEGIES
    server: Annotated[tuple[str, ...], NoDecode] = ()  # in the environment: one address, no JSON
    server_model: str | None = Field(None, min_length=1)
    medusa_choices: str | None = None
    eagle_choices: str | None = None
    seed: int = Field(default_factory=lambda: secrets.randbelow(2**32), ge=0, lt=2**63)
    stop: Annotated[tuple[str, ...], NoDecode] = ()  # in the environment: one text, no JSON
    system: str | None = None
    ignore_eos: bool = False
    raw: bool = False
    chat_template: str | None = Field(None, min_length=1)
    template_arg: Annotated[tuple[str, ...], NoDecode] = ()
    logit_bias: Annotated[tuple[str, ...], NoDecode] = ()
    schedule: Literal["fair", "race"] = "race"
    keep: bool = True  # conversations on the screen are kept on disk
    # Checked where a screen opens, see app.cli.screen_settings: a headless run has none.
    theme: Annotated[object, NoDecode] = "specchat-dark"
    keys: Annotated[object, NoDecode] = Field(default_factory=dict)  # by action

    _flags: frozenset[str] = PrivateAttr(frozenset())  # names of those set by flags

    _reject_bool = field_validator("seed", mode="before")(reject_bool)

    @field_validator("strategies")
    @classmethod
    def _valid_strategies(cls, text: str) -> str:
        parse_strategies(text)
        return text

    @field_validator("families")
    @classmethod
    def _not_demo(cls, families: dict[str, FamilyEntry]) -> dict[str, FamilyEntry]:
        if "demo" in families:
            raise ValueError("demo is a built-in family: choose another name")
        return families

    @field_validator("family")
    @classmethod
    def _known_family(cls, name: str, info: ValidationInfo) -> str:
        known = dict.fromkeys(["demo", *info.data.get("families", ()), *PUBLIC_FAMILIES])
        if name not in known:
            raise ValueError(f"there is no family '{name}'; there are {', '.join(known)}")
        return name

    @field_validator("device")
    @classmethod
    def _known_device(cls, device: str) -> str:
        if not DEVICES.fullmatch(device):
            raise ValueError(f"must be {DEVICE_WORDS}, not '{device}'")
        return device

    @field_validator("medusa_choices", "eagle_choices")
    @classmethod
    def _valid_tree(cls, tree: str | None) -> str | None:
        if tree:
            parse_choices(tree)
        return tree

    @field_validator("threads", mode="before")
    @classmethod
    def _auto_or_count(cls, threads: object) -> object:
        if threads == "auto" or whole_number(str(threads), MAX_THREADS):
            return threads
        raise ValueError(f"must be auto or a number from 1 to {MAX_THREADS}, not '{threads}'")

    @field_validator("server")
    @classmethod
    def _valid_addresses(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        parse_servers(texts)
        return texts

    @field_validator("stop", "server", "template_arg", "logit_bias", mode="before")
    @classmethod
    def _as_tuple(cls, texts: object) -> object:
        return (texts,) if isinstance(texts, str) else texts

    @field_validator("stop")
    @classmethod
    def _no_empty_text(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        if not all(texts):
            raise ValueError("must not be empty text")
        return texts

    @field_validator(*ROLES, "adapter", "draft_adapter")
    @classmethod
    def _valid_source(cls, source: str | None) -> str | None:
        try:
            Path(source or "").expanduser().is_dir()
        except (OSError, RuntimeError, ValueError) as error:  # too long, an unknown user
            raise ValueError(f"no folder or hub id: {error}") from error
        return source

    @field_validator("logit_bias")
    @classmethod
    def _valid_logit_bias(cls, texts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for text in texts:
            token, value = _bias(text)
            if not token or not abs(value) <= LARGEST_BIAS:
                raise ValueError(
                    "must be ID=NUMBER or TEXT=NUMBER, such as ' the'=-5, a number from "
                    f"-{LARGEST_BIAS} to {LARGEST_BIAS}, not '{text}'"
                )
        if texts and info.data.get("server"):
            raise ValueError("acts on models that are loaded here: leave out --server")
        return texts

    @field_validator("template_arg")
    @classmethod
    def _valid_template_arg(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            name, equals, _ = text.partition("=")
            if not equals or not name.isidentifier():
                raise ValueError(f"must be NAME=VALUE, such as enable_thinking=false, not '{text}'")
            if name in _TEMPLATE_ARGS:
                raise ValueError(f"{name} is not the template's: it is set for every prompt")
        return texts

    @field_validator(
        *ROLES,
        *("adapter", "draft_adapter", "system", "stop", "template_arg", "logit_bias"),
        "server_model",
    )
    @classmethod
    def _valid_unicode(cls, value: Any) -> Any:
        for text in value if isinstance(value, tuple) else (value or "",):
            require_unicode(text, "the text")
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
        text = config_file().read_text("utf-8-sig") if config_file().exists() else ""
        return init_settings, env_settings, InitSettingsSource(settings_cls, tomllib.loads(text))

    @property
    def models(self) -> ModelOptions:
        """The models that are named; without a target, completed from the family."""
        options = self.load_options
        if self.target is None:
            known = {**self.public_families, **self.own_families}
            options = known.get(self.family, options)
        named = self._options(self.sources)
        return replace(
            options,
            target=named.target or options.target,
            drafters={**options.drafters, **named.drafters},
            adapter=self.adapter,
            draft_adapter=self.draft_adapter,
            chat_template=self.chat_template or options.chat_template,
            template_args=dict(map(_argument, self.template_arg)),
            logit_bias=dict(map(_bias, self.logit_bias)),
        )

    def _options(self, sources: Mapping[str, str]) -> ModelOptions:
        threads = None if self.threads == "auto" else self.threads
        drafters = {name: os.path.expanduser(source) for name, source in sources.items()}
        return ModelOptions(
            drafters.pop("target", None),
            drafters,
            medusa_choices=self.medusa_choices,
            eagle_choices=self.eagle_choices,
            device=self.device,
            dtype=self.dtype,
            quantize=self.quantize,
            quantize_draft=self.quantize_draft,
            kv_cache=self.kv_cache,
            threads=threads,
            graphs=self.graphs,
            trust_remote_code=self.trust_remote_code,
        )

    @property
    def load_options(self) -> ModelOptions:
        """How to load (device, dtype, ...), with no source named."""
        return self._options({})

    @property
    def own_families(self) -> dict[str, ModelOptions]:
        """The families of config.toml, by name."""
        return {name: self._options(each.sources) for name, each in self.families.items()}

    @property
    def public_families(self) -> dict[str, ModelOptions]:
        """The public families by name, without those that config.toml redefines."""
        families = {}
        for name, family in PUBLIC_FAMILIES.items():
            if name not in self.families:
                template = None if family.chat_template is None else str(family.chat_template)
                families[name] = replace(self._options(family.sources), chat_template=template)
        return families

    @property
    def lanes(self) -> tuple[LaneSpec, ...]:
        """Local lanes, then servers. With --server alone there are no local ones, and no model is
        loaded, whatever is set beside the flags. The default lanes have one more if a checkpoint is
        given that only it uses."""
        given = self._flags if "server" in self._flags else self.model_fields_set
        asks_for_models = {"family", "strategies", *ROLES} & given
        chosen = self.strategies
        if "strategies" not in self.model_fields_set and self.eagle1 and EAGLE_1.name in given:
            chosen += f",{EAGLE_1.name}"
        local = parse_strategies(chosen) if asks_for_models or not self.server else ()
        servers = parse_servers(self.server, self.server_model, [lane.name for lane in local])
        return (*local, *servers)


def _argument(text: str) -> tuple[str, Any]:
    """A template argument's name and value, parsed as JSON if possible (false is not a text)."""
    name, _, value = text.partition("=")
    try:
        return name, parse_json(value)
    except ValueError:
        return name, value


def _bias(text: str) -> tuple[str, float]:
    """A token and its logit bias, NaN if that is not a number."""
    token, _, value = text.rpartition("=")
    try:
        return token, float(value)
    except ValueError:
        return token, math.nan


def load_settings(flags: dict[str, Any]) -> Settings:
    """Load the settings from all sources. Flags that are None were not given. Like flags, a
    `preset` wins over environment and file, and a `family` over the models that these name, as one
    in the environment over those in the file. Raises InputError with the first wrong setting and
    its valid values."""
    given = {name: value for name, value in flags.items() if value is not None}
    names = frozenset(given)
    given = {**_of_other_models(given), **given}
    if (preset := given.pop("preset", None)) is not None:
        given = {**Presets().get(preset), **given}
    if config_file().is_dir():  # pydantic-settings would ignore it silently
        raise InputError(f"can't read the settings in {config_file()}: it is a folder")
    try:
        settings = Settings(**given)
    except ValidationError as error:
        raise InputError(_first_error(error, given)) from error
    except RecursionError as error:
        raise InputError(f"{config_file()} is nested too deeply") from error
    except (OSError, ValueError) as error:  # a file that can't be read, broken TOML
        raise InputError(
            f"can't read the settings in {config_file()}: {reason_for(error)}"
        ) from error
    settings._flags = names
    return settings


def _of_other_models(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of settings that are replaced where a family is chosen: what sources below it
    name are other models. Raises InputError if the same source names a target, too."""
    variables = {name for name in ("family", *OF_MODELS) if _variable(name)}
    if "family" in flags:
        beside, forms = set(flags), ("--family", "--target")
    elif "family" in variables and "target" not in flags:
        beside = variables
        forms = (str(_variable("family")), _variable("target") or "SPECCHAT_TARGET")
    else:
        return {}
    if "target" in beside:
        raise InputError(f"a family has a target of its own: give one of {' and '.join(forms)}")
    fields = Settings.model_fields
    return {name: fields[name].get_default() for name in OF_MODELS if name not in beside}


def _first_error(error: ValidationError, given: dict[str, Any]) -> str:
    """Where the first wrong value came from, and what it should be."""
    first = error.errors()[0]
    name, *inside = map(str, first["loc"])
    source = _flag(name) if name in given else source_of(name)
    if name == "families" and inside:  # a table of tables: which line of it
        where = f"{'.'.join((name, *inside))} in {config_file()}"
        if first["type"] == "extra_forbidden":
            return f"{where}: a family has only {', '.join(FamilyEntry.model_fields)}"
        return f"{where}: {complaint(first) if first['type'] != 'missing' else 'it must be given'}"
    if first["type"] == "extra_forbidden":
        others = "the settings are those of specchat --help"
        if name == "preset":  # which --help lists, too
            others = "a preset is chosen with --preset"
        elif near := meant_by(_flag(name), [*map(_flag, Settings.model_fields)]):
            others = f"perhaps {near[0].removeprefix('--').replace('-', '_')}"
        return f"{source}: there is no such setting; {others}"
    return f"{source}: {complaint(first)}"


def source_of(name: str) -> str:
    """Return where a setting without a flag came from: environment or config.toml."""
    return _variable(name) or f"{name} in {config_file()}"


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _variable(name: str) -> str | None:
    """The environment variable that a setting has, in any case, as pydantic-settings takes it; None
    if none is set."""
    variable = f"specchat_{name}"
    given = [each for each, value in os.environ.items() if value and each.lower() == variable]
    return given[-1] if given else None  # the last of several is the one that counts
