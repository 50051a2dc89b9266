"""Loads one model or tokenizer from a folder or the hub; failures become one-line InputErrors."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, suppress
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
    BitsAndBytesConfig,
    GenerationConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
)
from transformers.quantizers.auto import AutoHfQuantizer
from transformers.utils.import_utils import (
    is_gguf_available,
    is_protobuf_available,
    is_sentencepiece_available,
)
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from app.config.model_options import ModelOptions
from app.models.adapter import merge_adapter
from app.models.checkpoint import Checkpoint, find_checkpoint
from app.models.download import Progress, silent
from app.models.hub import display_name
from decoding.checkpoints.dialects import MERGED_HEADS
from decoding.checkpoints.files import read_tensors, reason_of
from decoding.checkpoints.headers import packed_weight, read_tensor_types
from decoding.checkpoints.quantized import precision_of
from decoding.errors import InputError
from decoding.json_text import read_json
from decoding.model.rope import refuse_wrong_lengths, refuse_wrong_ropes
from decoding.model.self_test import self_test
from decoding.model.target import Target


def load_model(source: str, options: ModelOptions, progress: Progress = silent) -> Any:
    """Load a causal LM from whatever `find_checkpoint` finds. Raises InputError."""
    device = device_of(options.device)
    dtype = _dtype(options, device)
    kwargs: dict[str, Any] = {"dtype": dtype}
    checkpoint = find_checkpoint(source, options.adapter, progress)
    if options.quantize != "none":
        if find_spec("bitsandbytes") is None:
            raise InputError("--quantize needs bitsandbytes: pip install bitsandbytes")
        _refuse_quantizing(source, checkpoint)
        kwargs["quantization_config"] = _quantization(options, dtype)
    if checkpoint.gguf_file is not None:
        kwargs |= _gguf(source, checkpoint.gguf_file, load=True)
    if device != "cpu":
        kwargs["device_map"] = {"": device}

    config = _config(source, checkpoint, options)
    auto = _auto_class(source, config)
    _require_generation_config(source, checkpoint.folder)
    if checkpoint.gguf_file is None and not precision_of(config.to_dict()):
        _refuse_other_weights(source, checkpoint.folder, config)
    try:
        if precision_of(config.to_dict()):
            model, report = _load_quantized(checkpoint.folder, config, kwargs)
        else:
            with _no_bar(checkpoint):
                model, report = auto.from_pretrained(
                    checkpoint.folder,
                    trust_remote_code=options.trust_remote_code,
                    output_loading_info=True,
                    ignore_mismatched_sizes=True,  # else it is refused without a name
                    **kwargs,
                )
    except torch.cuda.OutOfMemoryError as error:
        raise InputError(
            f"{display_name(source)} does not fit into the memory of {device}: try --quantize nf4"
        ) from error
    except Exception as error:  # hub, file system and pickle raise many kinds
        what = f"can't load the model {source}"
        if method := _quantized_with(config):
            what += f", which is quantized with {method}"
        raise InputError(f"{what}: {_reason(error)}") from error
    _refuse_other_tensors(source, report)
    if checkpoint.adapter is not None:
        model = merge_adapter(model, checkpoint.adapter)
    if _quantized_with(config) and not hasattr(model, "hf_quantizer"):
        _finish_dequantizing(model, dtype)
    _leave_text_alone(model)
    _pack_whole_blocks_only(model)
    return model


def _load_quantized(folder: Path, config: Any, kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """A model written by `specchat heads quantize`, and transformers' loading report."""
    del config.quantization_config
    model_class: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    model, report = model_class.from_pretrained(
        None,
        config=config,
        state_dict=read_tensors(folder, lambda name: True),
        output_loading_info=True,
        **kwargs,
    )
    with suppress(OSError):  # it has none
        model.generation_config = GenerationConfig.from_pretrained(folder)
    return model, report


def load_target(source: str, options: ModelOptions, progress: Progress = silent) -> Target:
    """Load a model, and test that it can be decoded exactly. Raises InputError."""
    model = load_model(source, options, progress)
    try:
        target = Target(model, options.graphs)
    except InputError:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise InputError(
            f"{source}: no model can be run by its config.json: {_reason(error)}"
        ) from error
    self_test(target)
    return target


def _refuse_other_weights(source: str, folder: Path, config: PreTrainedConfig) -> None:
    """Raise InputError for what transformers would build for hours, and for weights that it would
    take for numbers, although they are packed or need scales."""
    types = read_tensor_types(folder)
    layers = getattr(config.get_text_config(decoder=True), "num_hidden_layers", 0)
    if types and layers > len(types):
        raise InputError(
            f"{source}: its config.json has {layers} layers, and its weights are {len(types)} "
            "tensors in all"
        )
    packed = packed_weight(types)
    if packed is not None and not _is_known(getattr(config, "quantization_config", None)):
        raise InputError(
            f"{source}: {packed}, and config.json names no quantization that transformers knows"
        )


def _is_known(quantization: object) -> bool:
    try:
        return bool(AutoHfQuantizer.supports_quant_method(quantization))
    except (ValueError, TypeError, AttributeError):  # it names no method, or is none
        return False


def _refuse_other_tensors(source: str, report: Mapping[str, Any]) -> None:
    """Raise InputError unless the checkpoint's tensors are exactly the model's: transformers would
    initialize missing or mismatched ones randomly. Medusa heads may be among them."""
    wrong = {
        "lacks": sorted(report["missing_keys"]),
        "has another shape of": sorted(name for name, *_ in report["mismatched_keys"]),
        "has unknown tensors:": sorted(
            name for name in report["unexpected_keys"] if not MERGED_HEADS.match(name)
        ),
    }
    found = [
        f"{what} {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        for what, names in wrong.items()
        if names
    ]
    if found:
        raise InputError(
            f"the checkpoint {source} is not that of the model in its config.json: it "
            f"{', '.join(found)}"
        )


def load_tokenizer(
    source: str, options: ModelOptions, progress: Progress = silent
) -> PreTrainedTokenizerBase:
    checkpoint = find_checkpoint(source, options.adapter, progress)
    _config(source, checkpoint, options)
    folder, gguf = checkpoint.with_tokenizer, {}
    if checkpoint.gguf_file is not None and folder == checkpoint.folder:
        gguf = _gguf(source, checkpoint.gguf_file)
    elif not (folder / "tokenizer.json").exists() and (folder / "tokenizer.model").exists():
        _require_sentencepiece(source)
    try:
        return AutoTokenizer.from_pretrained(
            folder, trust_remote_code=options.trust_remote_code, **gguf
        )
    except Exception as error:
        raise InputError(f"can't load the tokenizer of {source}: {_reason(error)}") from error


def _require_sentencepiece(source: str) -> None:
    """Raise InputError if the packages are missing: transformers would name others."""
    if not (is_sentencepiece_available() and is_protobuf_available()):
        raise InputError(
            f"{source} has only a SentencePiece tokenizer: pip install 'specchat[sentencepiece]'"
        )


def _gguf(source: str, file: str, load: bool = False) -> dict[str, Any]:
    """Arguments that make transformers read a GGUF file, and `load` its weights. Raises InputError
    if the package is missing."""
    if not is_gguf_available():
        raise InputError(f"{source} is a GGUF file: pip install 'specchat[gguf]'")
    named: dict[str, Any] = {"gguf_file": file}
    config = getattr(transformers, "GgufConfig", None)
    if load and config is not None:  # newer versions dequantize only on request
        named["quantization_config"] = config(dequantize=True)
    return named


def _no_bar(checkpoint: Checkpoint) -> AbstractContextManager[object]:
    """Hides the progress bar for a GGUF file's tensors, which has no switch: it would be drawn over
    the screen."""
    return nullcontext() if checkpoint.gguf_file is None else redirect_stderr(StringIO())


def _quantized_with(config: PreTrainedConfig) -> str | None:
    """The quantization method in a checkpoint's config, if any."""
    quantized = getattr(config, "quantization_config", None)
    method = quantized.get("quant_method") if isinstance(quantized, dict) else None
    return None if method is None else str(method)


def _refuse_quantizing(source: str, checkpoint: Checkpoint) -> None:
    """Raise InputError for what can't be quantized while it is loaded."""
    if checkpoint.gguf_file is not None:
        raise InputError(f"{source} is a GGUF file, which --quantize can't take: leave one out")
    if checkpoint.adapter is not None:
        raise InputError(
            f"an adapter can't be merged into quantized weights: merge {checkpoint.adapter.name} "
            "first (merge_and_unload), or leave out --quantize"
        )


def _config(source: str, checkpoint: Checkpoint, options: ModelOptions) -> PreTrainedConfig:
    """The checkpoint's config, loaded on its own for a clear error message."""
    disable_progress_bar()  # progress bars would be drawn over the screen
    set_verbosity_error()
    named = {} if checkpoint.gguf_file is None else _gguf(source, checkpoint.gguf_file)
    try:
        refuse_wrong_ropes(_as_written(checkpoint))
        found = AutoConfig.from_pretrained(
            checkpoint.folder, trust_remote_code=options.trust_remote_code, **named
        )
        refuse_wrong_ropes(found.to_dict())
        refuse_wrong_lengths(found.get_text_config(decoder=True))
    except Exception as error:
        file = checkpoint.gguf_file or "config.json"
        raise InputError(f"can't read the {file} of {source}: {_reason(error)}") from error
    return found  # type: ignore[no-any-return]


def _as_written(checkpoint: Checkpoint) -> dict[str, Any]:
    """The config.json as it stands: transformers' errors about its settings are those of its code.
    {} if there is none that can be read, which transformers says well."""
    try:
        config = read_json(checkpoint.folder / "config.json")
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _require_generation_config(source: str, folder: Path) -> None:
    """Raise InputError if it can't be read: transformers would ignore it, and answers would not
    end."""
    if (folder / "generation_config.json").exists():
        try:
            GenerationConfig.from_pretrained(folder)
        except Exception as error:
            raise InputError(
                f"can't read the generation_config.json of {source}: {_reason(error)}"
            ) from error


def _auto_class(source: str, config: PreTrainedConfig) -> Any:
    """The auto class of transformers that loads this model. Raises InputError unless it is a
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


def _finish_dequantizing(model: PreTrainedModel, dtype: Any) -> None:
    """Convert what transformers has dequantized, to bfloat16, whatever precision was asked for."""
    if dtype == "auto":
        return
    for parameter in model.parameters():
        if parameter.dtype in (torch.bfloat16, torch.float16):
            parameter.data = parameter.data.to(dtype)
    model.config.dtype = dtype


def _leave_text_alone(model: PreTrainedModel) -> None:
    """Drop the parts of a multimodal model that text does not need, to save their memory."""
    base, decoder = model.base_model, model.get_decoder()
    parts = dict(base.named_children())
    if decoder is base or decoder not in parts.values():
        return
    used = {*decoder.modules(), model.get_input_embeddings(), model.get_output_embeddings()}
    for name, part in parts.items():
        if used.isdisjoint(part.modules()):
            setattr(base, name, nn.Identity())


def _quantization(options: ModelOptions, dtype: Any) -> BitsAndBytesConfig:
    if options.quantize == "int8":
        # With a threshold, an outlier in one row takes that column out of all rows: results would
        # depend on the other tokens in the batch, and each layer would wait for the device.
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)
    compute = torch.bfloat16 if dtype == "auto" else dtype
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute
    )


def _pack_whole_blocks_only(model: PreTrainedModel) -> None:
    """On CPUs that multiply bfloat16, bitsandbytes packs 4 bits in blocks of 32 outputs and 64
    inputs, and a layer of another size fails; such a layer computes as on other CPUs. A version
    without this switch decides for itself."""
    layer: Any
    for layer in model.modules():
        if getattr(layer, "support_avx512bf16_for_cpu", False):
            whole = not (layer.out_features % 32 or layer.in_features % 64)
            layer.support_avx512bf16_for_cpu = whole


def device_of(wanted: str) -> str:
    if wanted == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    kind, _, index = wanted.partition(":")
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: torch sees no CUDA GPU here; use --device cpu")
    if kind == "cuda" and index and int(index) >= torch.cuda.device_count():
        raise InputError(f"--device {wanted}: there are {torch.cuda.device_count()} GPUs")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise InputError("--device mps: torch sees no Apple GPU here; use --device cpu")
    return wanted


def _dtype(options: ModelOptions, device: str) -> Any:
    if options.dtype != "auto":
        return getattr(torch, options.dtype)
    if device != "cpu":
        return "auto"
    if options.quantize == "nf4" and _computes_nf4_in_half():
        return torch.bfloat16
    return torch.float32


def _computes_nf4_in_half() -> bool:
    """Whether bitsandbytes computes 4 bits in bfloat16 on this processor, whatever it is told. One
    that doesn't say so is told float32."""
    from bitsandbytes import functional

    return bool(getattr(functional, "has_avx512bf16", bool)())


def ignored_settings(target: Target) -> tuple[str, ...]:
    """The logits processors in the model's generation_config, which have no effect here."""
    wanted: GenerationConfig | None = target.model.generation_config
    neutral = {
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
    }
    return tuple(
        name for name, off in neutral.items() if getattr(wanted, name, off) not in (off, None)
    )


def _reason(error: Exception) -> str:
    """The error's first sentence, or a clearer one for some of transformers' messages."""
    text = str(error)
    if isinstance(error, pickle.UnpicklingError) or "weights_only" in text:
        return reason_of(error)
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
