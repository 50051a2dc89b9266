"""A training whose weights are no longer numbers ends, and leaves none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from decoding.errors import InputError
from decoding.training.conversations import IGNORED, Example
from decoding.training.medusa import MedusaTrainingModel, train_medusa
from decoding.training.medusa_attach import attach_medusa
from decoding.training.train_config import TrainConfig, checkpoints
from tests.support.families import build

DATA: Any = [
    Example((3, 1, 4, 1, 5, 9, 2, n), (IGNORED, IGNORED, 4, 1, 5, 9, 2, n)) for n in (6, 7)
]


@pytest.mark.parametrize("evaluate_every", [2, 25])  # 25: logged every second step
def test_a_loss_that_is_no_number(
    evaluate_every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = 2 * evaluate_every - 2  # good steps
    logits, steps = MedusaTrainingModel._logits, 0

    def broken(model: MedusaTrainingModel, k: int, x: Tensor) -> Tensor:
        nonlocal steps
        steps += model.training and k == 0
        return logits(model, k, x) * (torch.nan if steps > last else 1)

    monkeypatch.setattr(MedusaTrainingModel, "_logits", broken)
    target: Any = build("llama")
    config = TrainConfig(
        steps=4 * evaluate_every, lr=0.25, evaluate_every=evaluate_every, batch_size=2
    )
    with pytest.raises(InputError, match=r"at step .* no longer a number.* rate below 0.25"):
        train_medusa(target, attach_medusa(target, 2), DATA, DATA, config, tmp_path)
    assert [*checkpoints(tmp_path)] == [evaluate_every]
