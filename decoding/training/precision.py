"""Whether a device has fast bfloat16 arithmetic."""

from __future__ import annotations

import torch


def has_fast_bfloat16(device: torch.device | str) -> bool:
    """Return whether matrix products in bfloat16 are fast on `device`: on every GPU, and on CPUs
    with AVX-512. Elsewhere torch's fallback is some fifty times slower than float32."""
    if torch.device(device).type != "cpu":
        return True
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
