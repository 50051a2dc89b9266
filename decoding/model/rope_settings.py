"""Validates rope settings: transformers only warns, also about valid ones, and decodes anyway."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from decoding.errors import InputError

NEEDS = {  # by each kind
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "longrope": ("short_factor", "long_factor"),
}
_ABOVE = {
    "rope_theta": 0,
    "factor": 0,
    "attention_factor": 0,
    "low_freq_factor": 0,
    "high_freq_factor": 0,
    "original_max_position_embeddings": 1,
}
_UP_TO = {  # from 0, which mostly means that it is not set
    "beta_fast": math.inf,
    "beta_slow": math.inf,
    "mscale": math.inf,
    "mscale_all_dim": math.inf,
    "partial_rotary_factor": 1,
}


def validate_ropes(config: Mapping[str, Any]) -> None:
    """Raise InputError if rope settings in a config.json, of any part or kind of layer, make no
    positions."""
    for name, rope in _ropes(config):
        validate_rope(name, rope)


def validate_rope(name: str, rope: Mapping[str, Any]) -> None:
    """Raise InputError if these rope settings, called `name`, make no positions."""
    kind = rope.get("rope_type", rope.get("type", "default"))
    if not isinstance(kind, str):
        raise InputError(f"{name}: rope_type is {kind!r}, and must be a name")
    for key in NEEDS.get(kind, ()):
        # One that is not there is filled in, or named by others; yarn's factor also if null.
        if rope.get(key, key) is None and kind != "yarn":
            raise InputError(f"{name}: {key} is null, and a rope of type {kind} needs it")
    numbers = {key: value for key, value in rope.items() if value is not None}
    for key, least in _ABOVE.items():
        if key in numbers and not (_is_number(numbers[key]) and numbers[key] > least):
            raise InputError(f"{name}: {key} is {rope[key]!r}, and must be a number above {least}")
    for key, most in _UP_TO.items():
        if key in numbers and not (_is_number(numbers[key]) and 0 <= numbers[key] <= most):
            bounds = "0 or more" if most == math.inf else f"from 0 to {most}"
            raise InputError(f"{name}: {key} is {rope[key]!r}, and must be a number, {bounds}")
    for key in ("short_factor", "long_factor"):
        values = numbers.get(key, [])
        if not (isinstance(values, list) and all(_is_number(each) and each > 0 for each in values)):
            raise InputError(f"{name}: {key} must be a list of numbers above 0")
    for upper, lower, default in (
        ("beta_fast", "beta_slow", (32, 1)),
        ("high_freq_factor", "low_freq_factor", (math.inf, 0)),
    ):
        high, low = numbers.get(upper) or default[0], numbers.get(lower) or default[1]
        if high < low:  # equal ones are published: Kimi K2, Llama 4 Scout
            raise InputError(f"{name}: {upper} is {high}, and must not be less than {lower}, {low}")


def validate_longrope(config: Any) -> None:
    """Raise InputError where longrope's lists have another length than half of what is rotated of
    each head: a single number would stand for all."""
    for name, rope in _ropes({"rope_parameters": getattr(config, "rope_parameters", None)}):
        if rope.get("rope_type") == "longrope":
            width = getattr(config, "head_dim", config.hidden_size // config.num_attention_heads)
            pairs = (int(width * rope.get("partial_rotary_factor", 1.0)) + 1) // 2
            for key in ("short_factor", "long_factor"):
                if len(rope[key]) != pairs:
                    raise InputError(
                        f"{name}: {key} has length {len(rope[key])}, and must have {pairs}, half "
                        "of what is rotated of a head"
                    )


def _ropes(config: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            name = f"{parent}{key}"
            if key not in ("rope_parameters", "rope_scaling"):
                yield from _ropes(value, f"{name}.")
                continue
            yield name, value
            for layer_type, part in value.items():
                if isinstance(part, Mapping):
                    yield f"{name}.{layer_type}", part


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -math.inf < value < math.inf
    )
