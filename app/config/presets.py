"""Named sets of settings: the built-in ones, and the user's own in presets.json.

The file is one JSON object: {"name": {"temperature": 0.7, "top_p": 0.95}, ...}. The settings are
those of decoding.params by name; those that a preset does not have stay as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import platformdirs
from pydantic import ValidationError

from app.config.overrides import LaneSettings, complaint
from decoding.errors import InputError
from decoding.json_text import parse_json

Preset = Mapping[str, Any]
MODEL = "model"  # the sampling that the model's authors recommend: known when there is a model
_OFF = {
    **{"top_p": 1.0, "top_k": 0, "min_p": 0.0},
    **{"repetition_penalty": 1.0, "presence_penalty": 0.0},
}
BUILT_IN: dict[str, Preset] = {
    "greedy": {"temperature": 0.0, **_OFF, "acceptance": "exact"},
    "usual sampling": {"temperature": 0.7, **_OFF, "top_p": 0.95, "acceptance": "exact"},
    "creative": {"temperature": 1.0, **_OFF, "min_p": 0.05, "acceptance": "exact"},
    "whole distribution": {"temperature": 1.0, **_OFF, "acceptance": "exact"},
    "Medusa's own": {
        **{"temperature": 0.7, **_OFF, "acceptance": "typical"},
        **{"epsilon": 0.09, "delta": 0.3},
    },
}


class Presets:
    """All presets, built-in ones first. Raises InputError if the file is not valid, and then never
    overwrites it; OSError if it can't be read or written."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or platformdirs.user_config_path("specchat") / "presets.json"

    def all(self) -> dict[str, Any]:
        """All presets by name, unchecked."""
        return {**BUILT_IN, **self._own()}

    def get(self, name: str) -> dict[str, Any]:
        """The checked settings of a preset. Raises InputError if it is unknown or wrong."""
        found = self.all()
        if name not in found:
            names = ", ".join(f"“{each}”" for each in found)
            raise InputError(
                f"there is no preset “{name}”; there are {names}; a set of models: --family"
            )
        try:
            return settings(found[name])
        except ValueError as error:
            raise InputError(f"the preset “{name}” in {self.path}: {error}") from error

    def save(self, name: str, values: Preset) -> None:
        """Save a preset, replacing any of that name."""
        self._write({**self._own(), _free(name): dict(values)}.items())

    def rename(self, name: str, other: str) -> None:
        own = self._own()
        if other != name and other in own:
            raise InputError(f"there is a “{other}” already")
        self._write((_free(other) if each == name else each, own[each]) for each in own)

    def delete(self, name: str) -> None:
        self._write((each, values) for each, values in self._own().items() if each != name)

    def _own(self) -> dict[str, Any]:
        try:
            found = parse_json(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise InputError(f"{self.path} is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise InputError(f"{self.path}: must be an object of presets by name")
        return found

    def _write(self, presets: Iterable[tuple[str, Any]]) -> None:
        """Replace the file atomically."""
        text = json.dumps(dict(presets), indent=2, ensure_ascii=False) + "\n"
        path = self.path.resolve()  # a link stays one
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                file.close()
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)
                raise


def settings(preset: object) -> dict[str, Any]:
    """Check a preset's settings. Raises ValueError."""
    if not isinstance(preset, dict):
        raise ValueError("must be an object of settings")
    if unknown := preset.keys() - LaneSettings.model_fields.keys():
        raise ValueError(f"there is no setting '{min(unknown)}'")
    try:
        return LaneSettings.model_validate(preset).model_dump(include=set(preset))
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{first['loc'][0]}: {complaint(first)}") from error


def _free(name: str) -> str:
    if name in (MODEL, *BUILT_IN):
        raise InputError(f"“{name}” comes along: take another name")
    return name
