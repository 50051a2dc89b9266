"""Names of models in the Hugging Face cache."""

from __future__ import annotations

from pathlib import Path


def shown_as(place: str) -> str:
    """A folder's last part; the hub id of a folder in the cache; an id as it is. Absolute ones are
    not looked for: a disk may be slow."""
    path = Path(place)
    return hub_id(place) or (path.name if path.is_absolute() or path.is_dir() else place)


def hub_id(place: str) -> str | None:
    """Of a folder in the cache."""
    path = Path(place)
    repo = path.parent.parent.name
    if path.parent.name != "snapshots" or not repo.startswith("models--"):
        return None
    return repo.removeprefix("models--").replace("--", "/")
