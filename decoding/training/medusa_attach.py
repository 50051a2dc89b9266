"""Makes untrained Medusa heads for a target of any architecture, and changes trained ones."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import PreTrainedModel

from decoding.checkpoints.medusa import MedusaWeights
from decoding.errors import ParameterError
from decoding.model.output_head import scaled_lm_head


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


def continue_medusa(
    weights: MedusaWeights,
    target: PreTrainedModel,
    heads: int | None = None,
    layers: int | None = None,
    own_lm_heads: bool = False,
) -> MedusaWeights:
    """Change the number of trained heads and of their layers; None: as many as there are.

    The first heads stay, and new ones are untrained. New layers change nothing yet. Lm_heads of a
    part of the target's tokens get its other rows, and rows beyond its tokens are cut. With
    `own_lm_heads` each head gets a copy of the lm_head that they shared. The tree is cut to fewer
    heads, and left out where heads are added, which it would not use. Raises InputError for fewer
    layers than there are.
    """
    count, depth = heads or weights.heads, layers or weights.layers
    if depth < weights.layers:
        raise ParameterError(
            "layers", f" {depth}: these heads have {weights.layers} each, give as many or more"
        )
    kept = min(count, weights.heads)

    def grown(old: Tensor) -> Tensor:
        new = old.new_zeros(count, depth, *old.shape[2:])
        new[:kept, : weights.layers] = old[:kept]
        return new

    lm_heads = weights.lm_heads
    token_map, vocab = weights.token_map, target.get_output_embeddings().weight.shape[0]
    whole = token_map is None and lm_heads is not None and lm_heads.shape[1] == vocab
    if lm_heads is not None and (count > kept or not whole):
        known = torch.arange(lm_heads.shape[1]) if token_map is None else token_map.long()
        inside = known < vocab
        own, lm_heads = lm_heads, copies_of_lm_head(target, count, lm_heads.dtype).clone()
        lm_heads[:kept, known[inside]] = own[:kept, inside]
    elif lm_heads is not None:
        lm_heads = lm_heads[:kept]
    elif own_lm_heads:
        lm_heads = copies_of_lm_head(target, count, weights.weights.dtype)
    return MedusaWeights(
        "v2" if lm_heads is None else "v0.1",
        grown(weights.weights),
        grown(weights.biases),
        lm_heads,
        accuracy=weights.accuracy[:count] if count == kept else (),
        choices=tuple(dict.fromkeys(path[:count] for path in weights.choices))
        if count == kept
        else (),
    )


def copies_of_lm_head(
    target: PreTrainedModel, heads: int, precision: torch.dtype = torch.float32
) -> Tensor:
    """Return a copy of the target's lm_head, with its scale, for all heads: [heads, V, H], each the
    same memory."""
    return scaled_lm_head(target).to(precision, copy=True).expand(heads, -1, -1)
