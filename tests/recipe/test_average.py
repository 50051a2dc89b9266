from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from assets.demo.recipe.average import average, parse_part


def test_the_mean_is_heavy_by_share(
    make_model: Callable[[], LlamaForCausalLM], tmp_path: Path
) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for number, folder in enumerate(folders):
        model = make_model()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(number)
        model.save_pretrained(folder)
    average([parse_part(f"{folders[0]}=3"), parse_part(f"{folders[1]}=1")], tmp_path / "out")
    mixed = LlamaForCausalLM.from_pretrained(tmp_path / "out")
    assert all((parameter == 0.25).all() for parameter in mixed.parameters())


def test_models_of_other_tensors_are_refused(
    make_model: Callable[[], LlamaForCausalLM], tmp_path: Path
) -> None:
    model = make_model()
    model.save_pretrained(tmp_path / "a")
    del model.model.layers[1]
    model.save_pretrained(tmp_path / "b")
    with pytest.raises(ValueError, match="other tensors"):
        average([(tmp_path / "a", 1), (tmp_path / "b", 1)], tmp_path / "out")
