"""Keys and values in eight bits, with a scale for each token and head.

A quantized row depends only on the row itself. So every decoder reads the same keys and values,
whatever was drafted, and drafts stay exact, but for a slightly different target.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from decoding.params import KVCacheDtype


@dataclass(frozen=True, slots=True)
class KVQuantizer:
    """Quantizes rows to a `dtype` of eight bits. `largest` is the quantized value of a row's
    largest element."""

    dtype: torch.dtype
    largest: float

    def quantize(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Quantize rows [..., D] to int8 [..., D], the bits of `dtype`, and float32 scales [...,
        1]."""
        rows = rows.float()
        scales = rows.abs().amax(-1, keepdim=True).div_(self.largest).clamp_min_(1e-30)
        quantized = rows / scales
        if self.dtype is torch.int8:
            quantized.round_()
        return quantized.to(self.dtype).view(torch.int8), scales

    def dequantize(self, quantized: Tensor, scales: Tensor, dtype: torch.dtype) -> Tensor:
        """Return the rows [..., D] in `dtype`, as a temporary tensor."""
        return quantized.view(self.dtype).to(dtype).mul_(scales)


KV_QUANTIZERS: dict[KVCacheDtype, KVQuantizer | None] = {
    "none": None,
    "int8": KVQuantizer(torch.int8, 127.0),
    "fp8": KVQuantizer(torch.float8_e4m3fn, 448.0),
}
