"""Logits beyond the tokenizer's tokens are padding."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from app.config.model_options import ModelOptions
from app.engine.lane import Lane
from app.models.load_models import load_models
from app.strategies.lane_spec import LaneSpec
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from tests.conftest import FamilyFolders


@pytest.mark.parametrize("temperature", [0.0, 8.0])
def test_what_no_tokenizer_knows_is_not_said(
    family_folders: FamilyFolders, tmp_path: Path, temperature: float
) -> None:
    shutil.copytree(family_folders.target, tmp_path / "padded")
    model = AutoModelForCausalLM.from_pretrained(family_folders.target, dtype=torch.float32)
    known = model.config.vocab_size
    model.resize_token_embeddings(known + 40, mean_resizing=False)
    with torch.no_grad():  # the likeliest of all
        model.lm_head.weight[known:] = 3 * model.lm_head.weight[:40]
    model.save_pretrained(tmp_path / "padded")
    padded = str(tmp_path / "padded")
    models = load_models(ModelOptions(padded, {"draft": padded}, threads=1))
    assert models.target.vocab_size == known + 40
    params = Params(SamplingParams(temperature), max_new_tokens=40)
    for strategy in ("ar", "draft", "draft-only", "lookup"):
        lane = Lane(LaneSpec(strategy, strategy), models)
        lane.generate([0, 2, 40, 41, 42, 3], params, 1, Stop())
        assert len(lane.ids) == 40 and max(lane.ids) < known
