"""The settings to draft with that a checkpoint's config may name: for Medusa `medusa_choices`; for
EAGLE what SGLang calls them, and speculators' `speculative_tokens` beside these; for a draft model
the `num_assistant_tokens` of its generation_config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from decoding.errors import InputError
from decoding.params import BOUNDS, LONGEST_DRAFT
from decoding.trees.static import Choices, checked_choices

CHOICES_KEY = "medusa_choices"
# of `EagleSettings`: their keys in a config, and the settings whose bounds they have
_EAGLE = {
    "gamma": ("speculative_num_steps", "gamma"),
    "top_k": ("speculative_eagle_topk", "eagle_top_k"),
    "total": ("speculative_num_draft_tokens", "eagle_total_tokens"),
}
SPECULATIVE_TOKENS = 3  # speculators requires some: its own default, which names nothing


@dataclass(frozen=True, slots=True)
class EagleSettings:
    """The depth, branches and verified nodes of EAGLE's tree; None: not named."""

    gamma: int | None = None
    top_k: int | None = None
    total: int | None = None


def medusa_choices(folder: Path, config: Mapping[str, Any]) -> Choices:
    """Medusa's tree; () if none is named. Raises InputError."""
    named = config.get(CHOICES_KEY)
    return checked_choices(named, f"{folder}: config.json: {CHOICES_KEY}") if named else ()


def eagle_settings(folder: Path, config: Mapping[str, Any]) -> EagleSettings:
    """Raises InputError."""
    found = {}
    for name, (key, setting) in _EAGLE.items():
        value = config.get(key)
        if name == "gamma" and value is None:
            key, value = "speculative_tokens", _speculative_tokens(config)
        if value is not None:
            try:
                if isinstance(value, bool) or not isinstance(value, int):
                    raise ValueError(f"{setting} must be a whole number, not {value!r}")
                BOUNDS[setting].check(setting, value)
            except ValueError as error:
                raise InputError(f"{folder}: config.json: {key}: {error}") from error
            found[name] = value
    return EagleSettings(**found)


def _speculative_tokens(config: Mapping[str, Any]) -> object:
    """What a config of speculators names; None if it is the default, or another's config."""
    methods = (config.get("speculators_config") or {}).get("proposal_methods") or [{}]
    tokens = methods[0].get("speculative_tokens")
    return None if tokens == SPECULATIVE_TOKENS else tokens


def assistant_tokens(generation_config: object) -> int | None:
    """Return the longest draft that a draft model's transformers.GenerationConfig names, if it
    does."""
    named = getattr(generation_config, "num_assistant_tokens", None)
    return named if isinstance(named, int) and 0 < named <= LONGEST_DRAFT else None


def with_choices(config: Mapping[str, Any], choices: Choices) -> dict[str, Any]:
    """Return a config that names this tree; with (), none."""
    others = {key: value for key, value in config.items() if key != CHOICES_KEY}
    return others | ({CHOICES_KEY: choices} if choices else {})


def with_eagle_settings(config: Mapping[str, Any], settings: EagleSettings) -> dict[str, Any]:
    """Return a config that names these settings and no others."""
    keys = {name: key for name, (key, _) in _EAGLE.items()}
    changed = {key: value for key, value in config.items() if key not in keys.values()}
    values = asdict(settings).items()
    changed |= {keys[name]: value for name, value in values if value is not None}
    speculators = config.get("speculators_config") or {}
    if methods := speculators.get("proposal_methods"):
        tokens = settings.gamma or SPECULATIVE_TOKENS
        methods = [each | {"speculative_tokens": tokens} for each in methods]
        changed["speculators_config"] = speculators | {"proposal_methods": methods}
    return changed
