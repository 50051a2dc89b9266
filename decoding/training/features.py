"""What EAGLE learns from: a target's hidden states, made as training goes or kept on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from transformers import PreTrainedModel

from decoding import attention


def features_of(
    target: PreTrainedModel, ids: Tensor, taps: Sequence[int]
) -> tuple[Tensor | None, Tensor]:
    """ids [B, n], right-padded -> the inputs of the tapped layers side by side [B, n, T * H] (None
    without taps), and the states after the final norm [B, n, H]."""
    with torch.no_grad(), _plain_attention(target):
        # No mask: padding lies behind all rows that count, and causal rows don't see it.
        out = target.get_decoder()(input_ids=ids, use_cache=False, output_hidden_states=bool(taps))
    tapped = torch.cat([out.hidden_states[i] for i in taps], dim=-1) if taps else None
    return tapped, out.last_hidden_state


@contextmanager
def _plain_attention(target: PreTrainedModel) -> Iterator[None]:
    """Decoding's attention takes one sequence at a time and leaves masks to its caller."""
    if target.config._attn_implementation != attention.NAME:
        yield
        return
    target.set_attn_implementation("sdpa")
    try:
        yield
    finally:
        target.set_attn_implementation(attention.NAME)
