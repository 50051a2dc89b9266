"""Models whose logits were multiplied by a factor."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, LlamaForCausalLM

from assets.demo.recipe.sharpen import sharpen
from decoding import Decoder, DraftModel, Eagle, Params, SamplingParams, Target

DEMO = Path("assets/demo")
FACTOR = 2.0


@pytest.fixture(scope="module")
def sharp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo family in float32, sharpened."""
    out = tmp_path_factory.mktemp("sharp")
    for part in ("target", "draft", "eagle1", "eagle3"):
        shutil.copytree(DEMO / part, out / part)
        path = out / part / "model.safetensors"
        tensors = {
            name: each.float() if each.dtype == torch.bfloat16 else each
            for name, each in load_file(path).items()
        }
        sharpen(tensors, FACTOR)
        save_file(tensors, path, metadata={"format": "pt"})
    return out


def load(folder: Path) -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)


def drafter_of(family: Path, part: str, target: Target) -> Eagle | DraftModel:
    if part == "draft":
        return DraftModel(Target(load(family / part)), target.vocab_size)
    return Eagle.from_pretrained(family / part, target)


@pytest.mark.parametrize("part", ["target", "draft"])
@torch.inference_mode()
def test_the_logits_grow_by_the_factor(sharp: Path, part: str) -> None:
    ids = torch.arange(40, 90)[None]
    before, after = load(DEMO / part)(ids).logits, load(sharp / part)(ids).logits
    torch.testing.assert_close(after, FACTOR * before, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("part", ["draft", "eagle1", "eagle3"])
def test_sampling_acts_as_at_a_lower_temperature(sharp: Path, part: str) -> None:
    """Also drafts and their probabilities are those of the family before."""
    tokenizer = AutoTokenizer.from_pretrained(DEMO / "target")
    asked = "<|bos|><|user|>Tell me a story about a fox.<|end|><|assistant|>"
    prompt = tokenizer(asked, add_special_tokens=False)["input_ids"]
    found = []
    for family, temperature in ((DEMO, 1.0), (sharp, FACTOR)):
        target = Target(load(family / "target"))
        decoder = Decoder(target, drafter_of(family, part, target))
        params = Params(SamplingParams(temperature), gamma=6, eagle_top_k=1, max_new_tokens=64)
        rounds = [(each.tokens, each.accepted) for each in decoder.generate(prompt, params, 3)]
        found.append(rounds)
    before, after = found
    assert after == before and sum(len(accepted) for _, accepted in before) > 20


def test_other_heads_are_refused() -> None:
    with pytest.raises(ValueError, match="neither a causal LM nor EAGLE"):
        sharpen(load_file(DEMO / "medusa/medusa_lm_head.safetensors"), FACTOR)
