"""Names of models in the Hugging Face cache."""

from __future__ import annotations

from pathlib import Path


def display_name(source: str) -> str:
    """A short name: the hub id of a folder in the cache, another folder's last part, an id itself.
    Absolute paths are not looked up on disk, which may be slow."""
    path = Path(source)
    return hub_id(source) or (path.name if path.is_absolute() or path.is_dir() else source)


def hub_id(source: str) -> str | None:
    """The hub id of a folder in the Hugging Face cache; None for any other."""
    path = Path(source)
    repo = path.parent.parent.name
    if path.parent.name != "snapshots" or not repo.startswith("models--"):
        return None
    return repo.removeprefix("models--").replace("--", "/")
