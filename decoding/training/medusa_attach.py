"""Makes untrained Medusa heads for a target of any architecture."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import PreTrainedModel

from decoding.checkpoints.medusa import MedusaWeights
from decoding.model.target import scaled_lm_head


def attach_medusa(
    target: PreTrainedModel, heads: int = 4, layers: int = 1, own_lm_heads: bool = False
) -> MedusaWeights:
    """Untrained heads with the target's own prediction: residuals of zero before (a copy of) the
    target's lm_head."""
    hidden = target.get_output_embeddings().weight.shape[1]
    return MedusaWeights(
        "v0.1" if own_lm_heads else "v2",
        torch.zeros(heads, layers, hidden, hidden),
        torch.zeros(heads, layers, hidden),
        copies_of_lm_head(target, heads) if own_lm_heads else None,
    )


def copies_of_lm_head(
    target: PreTrainedModel, heads: int, precision: torch.dtype = torch.float32
) -> Tensor:
    """A copy of the target's lm_head, with its scale, for all heads: [heads, V, H], each the same
    memory."""
    return scaled_lm_head(target).to(precision, copy=True).expand(heads, -1, -1)
