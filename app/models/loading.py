"""Loads one model or tokenizer from a folder or the hub; failures become one-line InputErrors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.quantizers.auto import AutoHfQuantizer
from transformers.utils.import_utils import is_protobuf_available, is_sentencepiece_available

from app.config.model_options import DEVICE_WORDS, DEVICES, ModelOptions
from app.models.adapter import merge_adapter
from app.models.checkpoint import Checkpoint, find_checkpoint
from app.models.hub import display_name
from app.models.model_config import (
    auto_class,
    clear_reason,
    gguf_arguments,
    load_config,
    quantized_with,
    require_generation_config,
    require_index,
    wrong_setting,
)
from app.models.quantizing import (
    computes_nf4_in_half,
    finish_dequantizing,
    load_quantized,
    pack_whole_blocks_only,
    quantization,
    require_bitsandbytes,
)
from app.progress import Progress, silent
from decoding.checkpoints.dialects import MERGED_HEADS
from decoding.checkpoints.headers import (
    UNFETCHED,
    is_lfs_pointer,
    packed_weight,
    read_tensor_types,
    weight_files,
)
from decoding.checkpoints.quantized import precision_of
from decoding.errors import InputError, is_out_of_memory
from decoding.model.self_test import self_test
from decoding.model.target import Target


def load_model(source: str, options: ModelOptions, progress: Progress = silent) -> Any:
    """Load a causal LM from whatever `find_checkpoint` finds. Raises InputError."""
    if options.quantize != "none":
        require_bitsandbytes()
    device = device_of(options.device)
    dtype = _dtype(options, device)
    kwargs: dict[str, Any] = {"dtype": dtype}
    checkpoint = find_checkpoint(source, options.adapter, progress)
    if options.quantize != "none":
        kwargs["quantization_config"] = quantization(source, checkpoint, options, dtype)
    if checkpoint.gguf_file is not None:
        kwargs |= gguf_arguments(source, checkpoint.gguf_file, load=True)
    if device != "cpu":
        kwargs["device_map"] = {"": device}

    config = load_config(source, checkpoint, options)
    auto = auto_class(source, config)
    require_generation_config(source, checkpoint.folder)
    if checkpoint.gguf_file is None:
        require_index(source, checkpoint.folder)
    if checkpoint.gguf_file is None and not precision_of(config.to_dict()):
        _refuse_other_weights(source, checkpoint.folder, config)
    try:
        if precision_of(config.to_dict()):
            model, report = load_quantized(checkpoint.folder, config, kwargs)
        else:
            with _no_bar(checkpoint):
                model, report = auto.from_pretrained(
                    checkpoint.folder,
                    trust_remote_code=options.trust_remote_code,
                    output_loading_info=True,
                    ignore_mismatched_sizes=True,  # else it is refused without a name
                    **kwargs,
                )
    except Exception as error:  # hub, file system and pickle raise many kinds
        if is_out_of_memory(error):
            raise InputError(_does_not_fit(source, device)) from error
        what = f"can't load the model {source}"
        if method := quantized_with(config):
            what += f", which is quantized with {method}"
        reason = (
            _unfetched(error, checkpoint.folder)
            or wrong_setting(error, checkpoint)
            or clear_reason(error)
        )
        raise InputError(f"{what}: {reason}") from error
    _refuse_other_tensors(source, report)
    if checkpoint.adapter is not None:
        model = merge_adapter(model, checkpoint.adapter)
    if quantized_with(config) and not hasattr(model, "hf_quantizer"):
        finish_dequantizing(model, dtype)
    _leave_text_alone(model)
    pack_whole_blocks_only(model)
    return model


def load_target(source: str, options: ModelOptions, progress: Progress = silent) -> Target:
    """Load a model, and test that it can be decoded exactly. Raises InputError."""
    model = load_model(source, options, progress)
    try:
        try:
            target = Target(model, options.graphs)
        except InputError:
            raise
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise InputError(
                f"{source}: no model can be built from its config.json: {clear_reason(error)}"
            ) from error
        try:
            self_test(target)
        except InputError as error:
            raise InputError(f"{source}: {error}") from error
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        # there was room for the weights alone
        raise InputError(_does_not_fit(source, device_of(options.device))) from error
    return target


def _unfetched(error: Exception, folder: Path) -> str | None:
    """Why weights can't be read, if one of the files is a Git LFS pointer; others may lie there
    that are not needed."""
    signs = ("deserializing header", "weights_only", "git-lfs")
    if any(sign in str(error) for sign in signs):
        for file in weight_files(folder):
            if is_lfs_pointer(file):
                return f"{file.name}: {UNFETCHED}"
    return None


def _does_not_fit(source: str, device: str) -> str:
    return f"{display_name(source)} does not fit into the memory of {device}: try --quantize nf4"


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
    load_config(source, checkpoint, options)
    folder, gguf = checkpoint.with_tokenizer, {}
    if checkpoint.gguf_file is not None and folder == checkpoint.folder:
        gguf = gguf_arguments(source, checkpoint.gguf_file)
    elif not (folder / "tokenizer.json").exists() and (folder / "tokenizer.model").exists():
        _require_sentencepiece(source)
    try:
        return AutoTokenizer.from_pretrained(
            folder, trust_remote_code=options.trust_remote_code, **gguf
        )
    except Exception as error:
        raise InputError(f"can't load the tokenizer of {source}: {clear_reason(error)}") from error


def _require_sentencepiece(source: str) -> None:
    """Raise InputError if the packages are missing: transformers would name others."""
    if not (is_sentencepiece_available() and is_protobuf_available()):
        raise InputError(
            f"{source} has only a SentencePiece tokenizer: pip install 'specchat[sentencepiece]'"
        )


def _no_bar(checkpoint: Checkpoint) -> AbstractContextManager[object]:
    """Hides the progress bar for a GGUF file's tensors, which has no switch: it would be drawn over
    the screen."""
    return nullcontext() if checkpoint.gguf_file is None else redirect_stderr(StringIO())


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


def device_of(wanted: str) -> str:
    if wanted == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    if not DEVICES.fullmatch(wanted):
        raise InputError(f"--device: must be {DEVICE_WORDS}, not '{wanted}'")
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
    if options.quantize == "nf4" and computes_nf4_in_half():
        return torch.bfloat16
    return torch.float32
