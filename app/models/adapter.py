"""Merges PEFT adapters into the model when it is loaded."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.models.download import weights_among
from decoding.checkpoints.headers import packed_weight, read_tensor_types
from decoding.errors import InputError, reason_for


def merge_adapter(model: Any, folder: Path) -> Any:
    """Return the model with an adapter merged into its weights. Raises InputError."""
    if find_spec("peft") is None:
        raise InputError(f"{folder.name} is a PEFT adapter: pip install 'specchat[peft]'")
    from peft import PeftConfig, PeftModelForCausalLM

    if not weights_among([path.name for path in folder.iterdir()]):
        raise InputError(f"the adapter {folder.name} has no weights (adapter_model.safetensors)")
    if packed := packed_weight(read_tensor_types(folder)):
        raise InputError(f"the adapter {folder.name} does not fit: {packed}, and no float")
    try:
        config = PeftConfig.from_pretrained(str(folder))
        if config.is_prompt_learning:
            raise InputError(
                f"the adapter {folder.name} ({config.peft_type}) changes the prompt, not the "
                "weights: it can't be merged"
            )
        config.inference_mode = True
        with warnings.catch_warnings(action="ignore"):
            wrapped = PeftModelForCausalLM(model, config)
            loaded = wrapped.load_adapter(str(folder), "default")
            other = [*loaded.missing_keys, *loaded.unexpected_keys]
            if other:  # peft would go on with what fits
                raise InputError(
                    f"the adapter {folder.name} does not fit: it lacks, or has besides, {other[0]}"
                    + (f" and {len(other) - 1} more" if len(other) > 1 else "")
                )
            return wrapped.merge_and_unload(safe_merge=True)
    except InputError:
        raise
    except Exception as error:  # other shapes, another kind of model, a broken file
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = " ".join(lines[:2]) or type(error).__name__
        if "weights_only" in reason:
            reason = reason_for(error)
        raise InputError(f"the adapter {folder.name} can't be merged: {reason}") from error
