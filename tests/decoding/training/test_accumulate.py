"""Batches that are accumulated to a step teach what one large batch does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from decoding.training.conversations import IGNORED, Example, collate
from decoding.training.draft import DraftTrainingModel
from decoding.training.draft_attach import attach_draft
from decoding.training.eagle_attach import attach_eagle
from decoding.training.eagle_model import EagleTrainingModel
from decoding.training.medusa import MedusaTrainingModel, train_medusa
from decoding.training.medusa_attach import attach_medusa
from decoding.training.train_config import TrainConfig
from decoding.training.training_model import TrainingModel

VOCAB = 40
EXAMPLES = [
    Example(tuple(ids), (*[IGNORED] * 3, *ids[3:]))
    for n in range(32)
    for ids in [random.Random(n).choices(range(2, VOCAB), k=5 + n)]  # the last are the longest
]


@pytest.fixture
def target() -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=4,
        num_attention_heads=4, max_position_embeddings=64,
    )  # fmt: skip
    model: LlamaForCausalLM = LlamaForCausalLM(config).eval()
    return model


def model_for(kind: str, target: LlamaForCausalLM) -> TrainingModel:
    if kind == "medusa":
        return MedusaTrainingModel(target, attach_medusa(target, 3))
    if kind == "medusa, joint":
        heads = attach_medusa(target, 2, own_lm_heads=True)
        return MedusaTrainingModel(target, heads, joint=True, qat=None)
    if kind == "draft":
        return DraftTrainingModel(target, attach_draft(target, 2))
    if kind == "eagle1":
        return EagleTrainingModel(target, attach_eagle(target, "eagle1"))
    known = torch.arange(0, VOCAB, 2) if kind == "eagle3, half of the vocabulary" else None
    return EagleTrainingModel(target, attach_eagle(target, "eagle3", known, [1, 2, 3]), steps=5)


KINDS = ["medusa", "medusa, joint", "draft", "eagle1", "eagle3", "eagle3, half of the vocabulary"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_of_a_step_is_that_of_one_batch(
    kind: str, target: LlamaForCausalLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("decoding.training.eagle_model._NOISE", 0.0)
    model = model_for(kind, target).train()

    def gradient(size: int) -> list[Tensor]:
        model.zero_grad()
        batches = [collate(EXAMPLES[i : i + size]) for i in range(0, len(EXAMPLES), size)]
        model.begin_step([batch["labels"] for batch in batches])
        for batch in batches:
            (model(**batch)["loss"] / len(batches)).backward()
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    whole, parts = gradient(32), gradient(8)
    assert len(whole) > 1 and any(bool(grad.any()) for grad in whole)
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_training_accumulates_to_the_same_heads(
    target: LlamaForCausalLM, tmp_path: Path, without_fast_bfloat16: None
) -> None:
    data: Any = EXAMPLES
    found = []
    for size, accumulate in ((32, 1), (8, 4)):
        config = TrainConfig(
            steps=2, lr=1e-2, batch_size=size, accumulate=accumulate, evaluate_every=2
        )
        work = tmp_path / str(size)
        heads = train_medusa(target, attach_medusa(target, 2), data, data[:4], config, work)
        found.append(heads.weights)
    torch.testing.assert_close(*found, atol=1e-5, rtol=1e-3)
