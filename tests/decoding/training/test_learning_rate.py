"""The learning rate rises from the first step on, which learns something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from torch import nn
from torch.optim import SGD
from transformers import get_cosine_schedule_with_warmup

from decoding.training.conversations import Example
from decoding.training.medusa import train_medusa
from decoding.training.medusa_attach import attach_medusa
from decoding.training.train_config import TrainConfig
from decoding.training.trainer import rate_factor
from tests.support.families import build

DATA: Any = [Example.of_answer((3, 1), (4, 1, 5, 9, 2, n)) for n in (6, 7, 8, 9)]


def test_it_rises_to_its_height_within_the_warm_up() -> None:
    shares = [rate_factor(step, warmup=4, steps=8) for step in range(8)]
    assert shares[:5] == [0.25, 0.5, 0.75, 1, 1]
    assert shares == sorted(shares[:4]) + sorted(shares[4:], reverse=True) and shares[-1] > 0


@pytest.mark.parametrize("warmup", [0, 3])
def test_after_the_warm_up_it_is_that_of_transformers(warmup: int) -> None:
    weight = nn.Parameter()
    theirs: Any = get_cosine_schedule_with_warmup(SGD([weight], 1), warmup, 20).lr_lambdas[0]
    for step in range(warmup, 21):
        assert rate_factor(step, warmup=warmup, steps=20) == pytest.approx(theirs(step))


@pytest.mark.parametrize("warmup", [0.0, 0.05, 1.0])
def test_a_training_of_one_step_learns(warmup: float, tmp_path: Path) -> None:
    target: Any = build("llama")
    config = TrainConfig(steps=1, warmup=warmup, batch_size=4, evaluate_every=1)
    heads = train_medusa(target, attach_medusa(target, 2), DATA, DATA, config, tmp_path)
    assert heads.weights.any()
