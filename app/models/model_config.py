"""Reads a model's configs, which decide how it is loaded; errors become one-line InputErrors."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import transformers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    GenerationConfig,
    PreTrainedConfig,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
)
from transformers.utils.import_utils import is_gguf_available
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from app.config.model_options import ModelOptions
from app.models.checkpoint import Checkpoint
from decoding.errors import InputError, reason_for
from decoding.json_text import read_json
from decoding.model.rope_settings import validate_longrope, validate_ropes

_SIZE = re.compile(r"^n(um)?_|_(size|dim|heads|layers)$")


def load_config(source: str, checkpoint: Checkpoint, options: ModelOptions) -> PreTrainedConfig:
    """Return the checkpoint's config, loaded on its own for a clear error message."""
    disable_progress_bar()  # progress bars would be drawn over the screen
    set_verbosity_error()
    named = {} if checkpoint.gguf_file is None else gguf_arguments(source, checkpoint.gguf_file)
    try:
        validate_ropes(_as_written(checkpoint))
        found = AutoConfig.from_pretrained(
            checkpoint.folder, trust_remote_code=options.trust_remote_code, **named
        )
        validate_ropes(found.to_dict())
        validate_longrope(found.get_text_config(decoder=True))
    except Exception as error:
        file = checkpoint.gguf_file or "config.json"
        reason = wrong_setting(error, checkpoint) or clear_reason(error)
        raise InputError(f"can't read the {file} of {source}: {reason}") from error
    return found  # type: ignore[no-any-return]


def _as_written(checkpoint: Checkpoint) -> dict[str, Any]:
    """The config.json as it stands: transformers' errors about its settings are those of its code.
    {} if there is none that can be read, which transformers says well."""
    try:
        config = read_json(checkpoint.folder / "config.json")
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def wrong_setting(error: Exception, checkpoint: Checkpoint) -> str | None:
    """Return what in config.json an error of transformers is about, where that is known: a size of
    zero, or a name, such as an activation's, that its tables lack."""
    written = _as_written(checkpoint)
    parts = [written, *(part for part in written.values() if isinstance(part, dict))]
    settings = [setting for part in parts for setting in part.items()]
    if isinstance(error, ZeroDivisionError):
        for name, value in settings:
            if type(value) is int and value == 0 and _SIZE.search(name):
                return f"{name} in config.json is 0: fix it, or download the file again"
    if isinstance(error, KeyError) and error.args:
        for name, value in settings:
            if isinstance(value, str) and value == error.args[0]:
                return f"{name} in config.json is '{value}', which transformers does not know"
    return None


def require_index(source: str, folder: Path) -> None:
    """Raise InputError if the list of a checkpoint's files of weights can't be read."""
    for file in ("model.safetensors", "pytorch_model.bin"):
        if (folder / file).exists():
            return
        name = f"{file}.index.json"
        if not (folder / name).exists():
            continue
        try:
            index = read_json(folder / name)
        except (OSError, ValueError) as error:
            raise InputError(
                f"can't read the {name} of {source}: {reason_for(error)}: copy or download it again"
            ) from error
        files = index.get("weight_map") if isinstance(index, dict) else None
        if not files or not isinstance(files, dict):
            raise InputError(
                f"the {name} of {source} has no weight_map, which names each tensor's file: copy "
                "or download it again"
            )
        return


def gguf_arguments(source: str, file: str, load: bool = False) -> dict[str, Any]:
    """Arguments that make transformers read a GGUF file, and `load` its weights. Raises InputError
    if the package is missing."""
    if not is_gguf_available():
        raise InputError(f"{source} is a GGUF file: pip install 'specchat[gguf]'")
    named: dict[str, Any] = {"gguf_file": file}
    config = getattr(transformers, "GgufConfig", None)
    if load and config is not None:  # newer versions dequantize only on request
        named["quantization_config"] = config(dequantize=True)
    return named


def require_generation_config(source: str, folder: Path) -> None:
    """Raise InputError if it can't be read: transformers would ignore it, and answers would not
    end."""
    if (folder / "generation_config.json").exists():
        try:
            GenerationConfig.from_pretrained(folder)
        except Exception as error:
            raise InputError(
                f"can't read the generation_config.json of {source}: {clear_reason(error)}"
            ) from error


def auto_class(source: str, config: PreTrainedConfig) -> Any:
    """Return the auto class of transformers that loads this model. Raises InputError unless it is a
    decoder-only language model."""
    if hasattr(config, "auto_map"):
        return AutoModelForCausalLM
    kind = config.model_type
    if config.is_encoder_decoder:
        what = "an encoder-decoder model; specchat runs decoder-only models"
    elif type(config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        return AutoModelForImageTextToText  # the names in its checkpoint are those of all parts
    elif type(config) in MODEL_FOR_CAUSAL_LM_MAPPING:
        return AutoModelForCausalLM
    elif config.sub_configs or hasattr(config, "vision_config"):
        what = "a multimodal model; specchat runs those alone that answer images with text"
    else:
        what = "no language model that goes on with a text"
    raise InputError(f"{source}: {kind} is {what}")


def quantized_with(config: PreTrainedConfig) -> str | None:
    """Return the quantization method in a checkpoint's config, if any."""
    quantized = getattr(config, "quantization_config", None)
    method = quantized.get("quant_method") if isinstance(quantized, dict) else None
    return None if method is None else str(method)


def clear_reason(error: Exception) -> str:
    """Return the error's first sentence, or a clearer one for some of transformers' messages."""
    text = str(error)
    known = ("weights_only", "deserializing header")
    if isinstance(error, pickle.UnpicklingError) or any(each in text for each in known):
        return reason_for(error)
    if "above report" in text:
        return "its tensors can't be converted to those of the model"
    if "backend tokenizer" in text:
        return "it has no tokenizer.json, nor another file that transformers makes one from"
    if "tiktoken" in text:  # to which transformers turns for a tokenizer.model that is not its own
        return f"it is no SentencePiece model, and transformers says: {text.splitlines()[0]}"
    if isinstance(error, KeyError):  # its text is the key alone, or a sentence in quotes
        key = str(error.args[0]) if error.args else text
        return key if " " in key else f"{text} is missing there, or unknown to transformers"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    whole = next((i for i, line in enumerate(lines) if not line.endswith(":")), 0)
    silent = f"the library gives no reason but {type(error).__name__}"
    return " ".join(lines[: whole + 1]) or silent
