"""What a model's generation_config.json says of sampling: settings, and what is ignored here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.config.model_options import ModelOptions
from app.config.presets import MODEL, NO_WARPING, validate_preset
from app.models.checkpoint import find_checkpoint
from app.models.library import with_demo
from decoding.errors import InputError
from decoding.json_text import read_json

if TYPE_CHECKING:  # transformers is slow to import
    from transformers import GenerationConfig

_DEFAULTS = {"temperature": 1.0, **NO_WARPING}


def sampling_defaults(folder: Path) -> dict[str, Any]:
    """Return the sampling settings in a folder's generation_config.json, with defaults for those
    that it does not name. {} if it names none, or invalid ones."""
    try:
        config = read_json(folder / "generation_config.json")
        named = {name: config[name] for name in _DEFAULTS if config.get(name) is not None}
        return validate_preset(_DEFAULTS | named | {"acceptance": "exact"}) if named else {}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def defaults_of_target(options: ModelOptions) -> dict[str, Any]:
    """Return the target's `sampling_defaults`. Raises InputError if it has none."""
    source = str(with_demo(options).target)
    found = sampling_defaults(find_checkpoint(source, options.adapter).folder)
    if not found:
        raise InputError(
            f"the preset “{MODEL}”: {source} has no sampling settings that are "
            "valid in its generation_config.json"
        )
    return found


def ignored_settings(config: GenerationConfig | None) -> tuple[str, ...]:
    """Return what a model's config asks for beside the settings of sampling that has no effect
    here, though it changes what `generate` answers; the repetition penalty has one only if it is
    asked for, as by the preset "model"."""
    neutral = {
        "repetition_penalty": 1.0,
        "no_repeat_ngram_size": 0,
        "encoder_repetition_penalty": 1.0,
        "bad_words_ids": None,
        "suppress_tokens": None,
        "begin_suppress_tokens": None,
        "sequence_bias": None,
        "forced_bos_token_id": None,
        "forced_eos_token_id": None,
        "min_length": 0,
        "min_new_tokens": None,
        "exponential_decay_length_penalty": None,
        "guidance_scale": 1.0,
        "watermarking_config": None,
        "num_beams": 1,
        "stop_strings": None,
        "typical_p": 1.0,
        "epsilon_cutoff": 0.0,
        "eta_cutoff": 0.0,
        "top_h": None,
    }
    return tuple(
        name for name, off in neutral.items() if getattr(config, name, off) not in (off, None)
    )
