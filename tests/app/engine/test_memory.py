"""What the figures say of memory: each model's own weights, in bytes."""

from __future__ import annotations

from dataclasses import replace

import torch

from app.engine.memory import weights
from app.models.loaded import LoadedModels
from decoding.checkpoints.dialects import EagleVersion
from decoding.checkpoints.medusa import MedusaWeights
from decoding.drafters.medusa_heads import MedusaHeads
from tests.support.eagle_drafts import config_for, head_for, weights_for

HEADS, BYTES = 3, 4  # float32


def test_every_drafter_counts_with_what_is_its_own(family: LoadedModels) -> None:
    target, size = family.target, family.target.hidden_size
    zeros = torch.zeros(HEADS, 1, size, size)
    medusa = MedusaHeads(MedusaWeights("v2", zeros, zeros[:, :, 0], None), target)
    eagles = {"eagle": head_for(target), "eagle1": head_for(target, "eagle1")}
    drafters = {**family.drafters, "medusa": medusa, **eagles}
    found = weights(replace(family, drafters=drafters))
    assert list(found) == ["target", "draft", "medusa", "eagle", "eagle1"]
    assert found["target"] == found["draft"] > 1000
    assert found["medusa"] == HEADS * (size * size + size) * BYTES
    versions: dict[str, EagleVersion] = {"eagle": "eagle3", "eagle1": "eagle1"}
    for strategy, version in versions.items():
        stored = weights_for(config_for(target, version)).tensors.values()
        assert found[strategy] == sum(tensor.numel() for tensor in stored) * BYTES
