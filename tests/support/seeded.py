"""Noise for what is tested without a decoder."""

from __future__ import annotations

import torch

from decoding.verification.noise import Noise


def seeded(seed: int, width: int) -> Noise:
    noise = Noise(width, torch.device("cpu"))
    noise.seed(seed)
    return noise
