"""Named sets of settings: the built-in ones, and the user's own in presets.json.

The file is one JSON object: {"name": {"temperature": 0.7, "top_p": 0.95}, ...}. The settings are
those of decoding.params by name; a preset leaves the others unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError

from app.config.overrides import LaneSettings, complaint
from app.text.terminal_text import shortened
from decoding.errors import InputError, reason_for
from decoding.files import write_atomically
from decoding.json_text import parse_json

Preset = Mapping[str, Any]
NAME_CHARACTERS = 30  # in a message
MODEL = "model"  # the sampling that the model's authors recommend, from its generation_config.json
NO_WARPING = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
}
BUILT_IN: dict[str, Preset] = {
    "greedy": {"temperature": 0.0, **NO_WARPING, "acceptance": "exact"},
    "usual sampling": {"temperature": 0.7, **NO_WARPING, "top_p": 0.95, "acceptance": "exact"},
    "creative": {"temperature": 1.0, **NO_WARPING, "min_p": 0.05, "acceptance": "exact"},
    "whole distribution": {"temperature": 1.0, **NO_WARPING, "acceptance": "exact"},
    "Medusa's own": {
        "temperature": 0.7,
        **NO_WARPING,
        "acceptance": "typical",
        "epsilon": 0.09,
        "delta": 0.3,
    },
}


@dataclass(frozen=True, slots=True)
class PresetChange:
    """What was done, in words, and the user's own presets before and after it."""

    what: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


class Presets:
    """All presets, built-in ones first. Raises InputError if the file can't be read or is not
    valid, which is then never overwritten; OSError if it can't be written."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or platformdirs.user_config_path("specchat") / "presets.json"
        self.changes: list[PresetChange] = []  # in order, for undo

    def all(self) -> dict[str, Any]:
        """Return all presets by name, unchecked."""
        return {**BUILT_IN, **self._own()}

    def get(self, name: str) -> dict[str, Any]:
        """Return the checked settings of a preset. Raises InputError if it is unknown or wrong."""
        found = self.all()
        if name not in found:
            names = ", ".join(f"“{each}”" for each in found)
            raise InputError(
                f"there is no preset “{name}”; there are {names}; a set of models: --family"
            )
        try:
            return validate_preset(found[name])
        except ValueError as error:
            raise InputError(f"the preset “{name}” in {self.path}: {error}") from error

    def save(self, name: str, values: Preset) -> None:
        """Save a preset, replacing any of that name."""
        own, _ = self._own(), _require_custom(name)
        self._change("saving the preset", name, own, {**own, name: dict(values)})

    def rename(self, name: str, other: str) -> None:
        own = self._own()
        if other != name and other in own:
            raise InputError(f"there is a “{other}” already")
        _require_custom(other)
        after = {other if each == name else each: values for each, values in own.items()}
        self._change("renaming the preset to", other, own, after)

    def delete(self, name: str) -> None:
        own = self._own()
        after = {each: values for each, values in own.items() if each != name}
        self._change("deleting the preset", name, own, after)

    def take_back(self) -> None:
        """Undo the last change. Raises InputError if the presets have changed elsewhere since."""
        last = self.changes[-1]
        self._replace(last.after, last.before)
        self.changes.pop()

    def do_again(self, change: PresetChange) -> None:
        """Redo a change that was undone. Raises InputError if the presets have changed elsewhere
        since."""
        self._replace(change.before, change.after)
        self.changes.append(change)

    def _change(self, what: str, name: str, before: Preset, after: Preset) -> None:
        self._write(after)
        if after != before:
            what = f"{what} “{shortened(name, NAME_CHARACTERS)}”"
            self.changes.append(PresetChange(what, before, after))

    def _replace(self, old: Preset, new: Preset) -> None:
        """Replace the presets in which `old` and `new` differ, in the order of `new`; another
        window may have changed others."""
        own = self._own()
        changed = {name for name in {**old, **new} if old.get(name) != new.get(name)}
        for name in changed:
            if own.get(name) != old.get(name):
                raise InputError(f"“{name}” was changed elsewhere since")
        kept = {name: values for name, values in own.items() if name not in changed}
        again = {name: new[name] for name in new if name in changed or name in kept}
        self._write({**again, **kept})

    def _own(self) -> dict[str, Any]:
        try:
            found = parse_json(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            why = reason_for(error)
            raise InputError(f"can't read the presets in {self.path}: {why}") from error
        except ValueError as error:
            raise InputError(f"{self.path} is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise InputError(f"{self.path}: must be an object of presets by name")
        return found

    def _write(self, presets: Mapping[str, Any]) -> None:
        write_atomically(self.path, json.dumps(presets, indent=2, ensure_ascii=False) + "\n")


def validate_preset(preset: object) -> dict[str, Any]:
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


def _require_custom(name: str) -> str:
    """The name of a preset of the user's own. Raises InputError for a built-in one."""
    if name in (MODEL, *BUILT_IN):
        raise InputError(f"“{name}” is built in: choose another name")
    return name
