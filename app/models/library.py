"""Named families of models: the demo, those of config.toml, and public ones on the hub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.config.model_options import ModelOptions
from app.config.settings import Settings
from app.models.assets import assets
from app.models.hub import display_name
from app.strategies.roles import ROLES


@dataclass(frozen=True, slots=True)
class ModelLibrary:
    """Families by name, `public` ones apart because they may need a download, and `load_options`
    (device, dtype, ...) for any other target."""

    families: Mapping[str, ModelOptions]
    load_options: ModelOptions
    public: Mapping[str, ModelOptions] = field(default_factory=dict)


def demo() -> ModelOptions:
    """Return the demo family, with those of its drafters that are installed."""
    folders = {name: assets() / "demo" / role.demo for name, role in ROLES.items()}
    target = str(folders.pop("target"))
    drafters = {name: str(folder) for name, folder in folders.items() if folder.is_dir()}
    return ModelOptions(target, drafters)


def title_of(target: str) -> str:
    """Return a short name for a target: demo, a folder's last part, or a hub id."""
    return "demo" if is_demo(target) else display_name(target)


def is_demo(source: str) -> bool:
    return source == demo().target


def with_demo(options: ModelOptions) -> ModelOptions:
    """Fill in the demo's models if `options` name no target."""
    if options.target is not None:
        return options
    defaults = demo()
    drafters = {**defaults.drafters, **options.drafters}
    return replace(options, target=defaults.target, drafters=drafters)


def library(settings: Settings) -> ModelLibrary:
    return ModelLibrary(
        {"demo": with_demo(settings.load_options), **settings.own_families},
        settings.load_options,
        settings.public_families,
    )
