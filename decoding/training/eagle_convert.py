"""Changes EAGLE heads: other draft vocabularies, layers to read, or targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from decoding.checkpoints.eagle import EagleWeights, draft_tokens, offsets_to
from decoding.errors import InputError
from decoding.model.output_head import scaled_lm_head
from decoding.training.eagle_attach import require_layers


def with_draft_vocabulary(
    weights: EagleWeights, target: PreTrainedModel, draft_vocab: Tensor | None
) -> EagleWeights:
    """Give an EAGLE-3 head the target's ids `draft_vocab` int64 [n] (None: all).

    Its lm_head keeps the rows of tokens that it knows. New rows are the target's; for a head of
    another width these go through the linear map that fits the known rows best. Raises InputError
    for EAGLE-1.
    """
    config, tensors = weights.config, dict(weights.tensors)
    if config.version == "eagle1":
        raise InputError("EAGLE-1 asks the target's own lm_head: it has no draft vocabulary")
    lm_head = tensors["lm_head.weight"]
    rows = _completed(lm_head, known_tokens(weights), scaled_lm_head(target))
    tensors.pop("d2t", None)
    if draft_vocab is not None:
        rows = rows[draft_vocab]
        tensors["d2t"] = offsets_to(draft_vocab)
    tensors["lm_head.weight"] = rows.to(lm_head.dtype)
    return replace(weights, config=replace(config, draft_vocab=len(rows)), tensors=tensors)


def with_vocabulary(weights: EagleWeights, target: PreTrainedModel) -> EagleWeights:
    """Fit a head to a target with fewer or more tokens than it was made for; the ids that both have
    must be of the same tokens. Rows beyond the target's are cut, and those that are missing, in an
    embedding of its own and in an lm_head of all tokens, become as in `with_draft_vocabulary`."""
    config, tensors = weights.config, dict(weights.tensors)
    lm_head = scaled_lm_head(target)
    vocab = len(lm_head)
    if (own := tensors.get("embed_tokens.weight")) is not None:
        table: Any = target.get_input_embeddings().weight
        known = torch.arange(min(len(own), vocab))
        rows = _completed(own[known], known, table.detach().float().cpu()[:vocab])
        tensors["embed_tokens.weight"] = rows.to(own.dtype)
    draft_vocab = vocab
    if config.version == "eagle3":
        known = known_tokens(weights)
        inside, own = known < vocab, tensors["lm_head.weight"]
        rows, known = own[inside], known[inside]
        if "d2t" in tensors:
            tensors["d2t"] = offsets_to(known)
        else:
            rows = _completed(rows, known, lm_head).to(own.dtype)
        tensors["lm_head.weight"], draft_vocab = rows, len(rows)
    return replace(
        weights, config=replace(config, vocab=vocab, draft_vocab=draft_vocab), tensors=tensors
    )


def known_tokens(weights: EagleWeights) -> Tensor:
    """Return the target's id of each row of an EAGLE-3 head's lm_head, int64 [rows]."""
    d2t = weights.tensors.get("d2t")
    return torch.arange(weights.config.draft_vocab) if d2t is None else draft_tokens(d2t)


def with_aux_layers(
    weights: EagleWeights, target: PreTrainedModel, aux_layers: Sequence[int]
) -> EagleWeights:
    """Let an EAGLE-3 head read the inputs of other layers, as many as before: its fc keeps its
    weights. Raises InputError."""
    before, chosen = weights.config.aux_layers, tuple(sorted(set(aux_layers)))
    require_layers(chosen, target)
    if len(chosen) != len(before):
        raise InputError(
            f"aux layers {list(chosen)}: the head reads layers {list(before)}, give as many"
        )
    return replace(weights, config=replace(weights.config, aux_layers=chosen))


def without_fc_bias(weights: EagleWeights) -> EagleWeights:
    """Leave out the bias in an EAGLE-1 head's fc."""
    tensors = {name: tensor for name, tensor in weights.tensors.items() if name != "fc.bias"}
    return replace(weights, config=replace(weights.config, fc_bias=False), tensors=tensors)


def _completed(own: Tensor, known: Tensor, rows: Tensor) -> Tensor:
    """The target's `rows` [V, H], through the linear map that fits best if a head has another
    width, with the head's `own` [n, h] in the places `known`: float32 [V, h]."""
    own = own.float()
    rows = rows.clone() if rows.shape[1] == own.shape[1] else rows @ _best_map(rows[known], own)
    rows[known] = own
    return rows


def _best_map(rows: Tensor, others: Tensor) -> Tensor:
    """The least-squares solution [H, h] of rows [n, H] @ map = others [n, h], the smallest one if
    there are several."""
    inverse: Tensor = torch.linalg.pinv(rows.T @ rows, hermitian=True)
    return inverse @ (rows.T @ others)
