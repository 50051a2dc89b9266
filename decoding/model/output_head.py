"""The logits of states after the final norm: the lm_head and, in some families, what follows it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel


def logits_of(model: PreTrainedModel, features: Tensor) -> Tensor:
    """Compute the logits [..., V] of states after the final norm [..., H] as the model itself does,
    including the final scale or softcap of some families. On the features' device, wherever the
    lm_head is."""
    logits: Tensor = model.get_output_embeddings()(features.to(model.dtype)).to(features.device)
    return scaled_logits(model.config.get_text_config(decoder=True), logits)


def scaled_lm_head(model: PreTrainedModel) -> Tensor:
    """Return the rows [V, H] of the lm_head with the model's final scale, float32 on the CPU: a
    start for a drafter's own. No rows can express a softcap."""
    rows = model.get_output_embeddings().weight.detach().float().cpu()
    return _scaled(model.config.get_text_config(decoder=True), rows)


def _scaled(config: Any, logits: Tensor) -> Tensor:
    if scale := getattr(config, "logit_scale", None):  # Cohere
        logits = logits * scale
    if divisor := getattr(config, "logits_scaling", None):  # Granite
        logits = logits / divisor
    return logits


def scaled_logits(config: Any, logits: Tensor) -> Tensor:
    """Apply the final scale or softcap of some families to an lm_head's output."""
    logits = _scaled(config, logits)
    if cap := getattr(config, "final_logit_softcapping", None):  # Gemma 2
        logits = torch.tanh(logits / cap) * cap
    return logits
