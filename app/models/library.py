"""Named families of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.config.settings import ModelOptions, Settings
from app.models.assets import assets
from app.models.hub import shown_as
from app.strategies.roles import ROLES


@dataclass(frozen=True, slots=True)
class ModelLibrary:
    """What may be chosen by name, and how anything else would be loaded."""

    families: Mapping[str, ModelOptions]
    bare: ModelOptions


def demo() -> ModelOptions:
    """The family that comes with the package, as far as it is there."""
    options = {
        name: str(folder)
        for name, role in ROLES.items()
        if (folder := assets() / "demo" / role.demo).is_dir() or name == "target"
    }
    return replace(ModelOptions(), **options)  # type: ignore[arg-type]


def title_of(target: str) -> str:
    """A short name: the demo, a folder's last part, a hub id."""
    return "demo" if target == demo().target else shown_as(target)


def with_demo(options: ModelOptions) -> ModelOptions:
    """`options` with the demo's models where no target is named."""
    if options.target is not None:
        return options
    family, named = demo(), {name: getattr(options, name) for name in ROLES}
    places = {name: place or getattr(family, name) for name, place in named.items()}
    return replace(options, **places)


def library(settings: Settings) -> ModelLibrary:
    return ModelLibrary({"demo": with_demo(settings.bare), **settings.own_families}, settings.bare)
