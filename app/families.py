"""Named families of models."""

from __future__ import annotations

from dataclasses import replace

from app.assets import assets
from app.settings import ModelOptions


def demo() -> ModelOptions:
    """The family that comes with the package, as far as it is there."""

    def folder(name: str) -> str | None:
        place = assets() / "demo" / name
        return str(place) if place.is_dir() else None

    return ModelOptions(
        str(assets() / "demo" / "target"),
        folder("draft"),
        folder("medusa"),
        folder("eagle3"),
        folder("eagle1"),
    )


def with_demo(options: ModelOptions) -> ModelOptions:
    """`options` with the demo's models where no target is named."""
    if options.target is not None:
        return options
    family = demo()
    return replace(
        options,
        target=family.target,
        draft=options.draft or family.draft,
        medusa=options.medusa or family.medusa,
        eagle=options.eagle or family.eagle,
        eagle1=options.eagle1 or family.eagle1,
    )
