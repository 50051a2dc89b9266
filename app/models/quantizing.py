"""Quantized weights: by bitsandbytes while a model is loaded, by `specchat heads quantize`, and by
others, which transformers dequantizes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import BitsAndBytesConfig, GenerationConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from app.config.model_options import ModelOptions
from app.models.checkpoint import Checkpoint
from decoding.checkpoints.files import read_tensors
from decoding.errors import InputError


def require_bitsandbytes() -> None:
    """Raise InputError if the package is missing."""
    if find_spec("bitsandbytes") is None:
        raise InputError("--quantize needs bitsandbytes: pip install bitsandbytes")


def quantization(
    source: str, checkpoint: Checkpoint, options: ModelOptions, dtype: Any
) -> BitsAndBytesConfig:
    """Return how bitsandbytes quantizes the checkpoint while it is loaded. Raises InputError for
    one that it can't."""
    if checkpoint.gguf_file is not None:
        raise InputError(f"{source} is a GGUF file, which --quantize can't take: leave one out")
    if checkpoint.adapter is not None:
        raise InputError(
            f"an adapter can't be merged into quantized weights: merge {checkpoint.adapter.name} "
            "first (merge_and_unload), or leave out --quantize"
        )
    if options.quantize == "int8":
        # With a threshold, an outlier in one row takes that column out of all rows: results would
        # depend on the other tokens in the batch, and each layer would wait for the device.
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)
    compute = torch.bfloat16 if dtype == "auto" else dtype
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute
    )


def pack_whole_blocks_only(model: PreTrainedModel) -> None:
    """On CPUs that multiply bfloat16, bitsandbytes packs 4 bits in blocks of 32 outputs and 64
    inputs, and a layer of another size fails; such a layer computes as on other CPUs. A version
    without this switch decides for itself."""
    layer: Any
    for layer in model.modules():
        if getattr(layer, "support_avx512bf16_for_cpu", False):
            whole = not (layer.out_features % 32 or layer.in_features % 64)
            layer.support_avx512bf16_for_cpu = whole


def load_quantized(folder: Path, config: Any, kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a model written by `specchat heads quantize`, and transformers' loading report."""
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


def finish_dequantizing(model: PreTrainedModel, dtype: Any) -> None:
    """Convert what transformers has dequantized, to bfloat16, whatever precision was asked for."""
    if dtype == "auto":
        return
    for parameter in model.parameters():
        if parameter.dtype in (torch.bfloat16, torch.float16):
            parameter.data = parameter.data.to(dtype)
    model.config.dtype = dtype


def computes_nf4_in_half() -> bool:
    """Return whether bitsandbytes computes 4 bits in bfloat16 on this processor, whatever it is
    told. One that doesn't say so is told float32."""
    from bitsandbytes import functional

    return bool(getattr(functional, "has_avx512bf16", bool)())
