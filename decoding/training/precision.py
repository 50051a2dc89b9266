"""Where bfloat16 arithmetic pays."""

from __future__ import annotations

import torch


def has_fast_bfloat16(device: torch.device | str) -> bool:
    """Whether matrix products in bfloat16 are worth it on `device`: on every GPU, and on CPUs with
    AVX-512. On others torch falls back to loops that are some fifty times slower than float32."""
    if torch.device(device).type != "cpu":
        return True
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
