"""Training may round to bfloat16; what is measured may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM

from decoding.training import eagle_model, features, losses, medusa
from decoding.training.conversations import IGNORED, Example
from decoding.training.draft import train_draft
from decoding.training.draft_attach import attach_draft
from decoding.training.eagle import train_eagle
from decoding.training.eagle_attach import attach_eagle
from decoding.training.features import cache_features
from decoding.training.medusa import train_medusa
from decoding.training.medusa_attach import attach_medusa
from decoding.training.train_config import TrainConfig
from tests.support.families import build

DATA: Any = [
    Example((3, 1, 4, 1, 5, 9, 2, n), (IGNORED, IGNORED, 4, 1, 5, 9, 2, n)) for n in (6, 7)
]


def train(kind: str, target: Any, work: Path) -> None:
    config = TrainConfig(steps=1, evaluate_every=1, batch_size=2)
    if kind == "medusa":
        train_medusa(target, attach_medusa(target, 2), DATA, DATA, config, work)
    elif kind == "eagle":
        head = attach_eagle(target, "eagle3", aux_layers=[0, 1, 2])
        train_eagle(target, head, DATA, DATA, config, work)
    else:
        train_draft(target, attach_draft(target, 1), DATA, DATA, config, work)


@pytest.fixture
def fast_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)


@pytest.mark.parametrize("configured", ["no", "bf16"])  # for accelerate
@pytest.mark.parametrize("kind", ["medusa", "eagle", "draft"])
def test_an_evaluation_computes_as_what_is_served(
    kind: str, configured: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fast_bfloat16: None
) -> None:
    seen = set()
    token_loss = losses.token_loss

    def spy(*arguments: Any) -> Any:
        seen.add((torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")))
        return token_loss(*arguments)

    for module in (medusa, eagle_model, losses):
        monkeypatch.setattr(module, "token_loss", spy)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", configured)
    train(kind, build("llama"), tmp_path)
    assert seen == {(True, True), (False, False)}


def test_features_on_disk_are_as_precise_as_the_target(
    model: LlamaForCausalLM, tmp_path: Path, fast_bfloat16: None
) -> None:
    kept = cache_features(model, DATA, (), tmp_path)
    _, final = features.features_of(model, torch.tensor([DATA[0].ids]), ())
    torch.testing.assert_close(kept[0].final, final[0], atol=1e-5, rtol=1e-5)
