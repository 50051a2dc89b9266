"""What is measured of a machine."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from decoding.cost import measure
from decoding.cost.measure import reading_seconds


def test_reading_a_large_model_takes_no_memory_for_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu, ones, sizes = torch.device("cpu"), torch.ones, list[int]()

    def noted(size: int, **options: Any) -> torch.Tensor:
        sizes.append(4 * size)
        return ones(size, **options)

    monkeypatch.setattr(torch, "ones", noted)
    monkeypatch.setattr(measure, "LARGEST_READ", 1 << 20)
    once, often = reading_seconds(1 << 20, cpu), reading_seconds(100 << 20, cpu)
    assert often > 5 * once
    assert reading_seconds(0, cpu) > 0
    assert max(sizes) == 1 << 20
