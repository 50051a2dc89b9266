"""How a model's authors sample from it, as its generation_config.json says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.config.presets import MODEL, settings
from app.config.settings import ModelOptions
from app.models.checkpoint import find_checkpoint
from app.models.library import with_demo
from decoding.errors import InputError
from decoding.json_text import parse_json

_OFF = {
    **{"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0},
    **{"repetition_penalty": 1.0, "presence_penalty": 0.0},
}


def sampling_defaults(folder: Path) -> dict[str, Any]:
    """The settings of sampling in a folder's generation_config.json; those that it does not name
    are off. {} where it names none, or none that can be."""
    try:
        config = parse_json((folder / "generation_config.json").read_bytes())
        named = {name: config[name] for name in _OFF if config.get(name) is not None}
        return settings(_OFF | named | {"acceptance": "exact"}) if named else {}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def defaults_of_target(options: ModelOptions) -> dict[str, Any]:
    """Those of the target. Raises InputError where it has none."""
    source = str(with_demo(options).target)
    found = sampling_defaults(find_checkpoint(source, options.adapter).folder)
    if not found:
        raise InputError(
            f"the preset “{MODEL}”: {source} has no sampling settings in its generation_config.json"
        )
    return found
