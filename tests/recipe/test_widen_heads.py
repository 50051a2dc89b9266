"""EAGLE heads for a widened target."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from assets.demo.recipe.pretrain import widened as widened_target
from assets.demo.recipe.widen_heads import widen
from decoding import Decoder, Eagle, Params, Target

DEMO = Path("assets/demo")


def accepted(model: LlamaForCausalLM, heads: Path, prompt: list[int]) -> list[int]:
    target = Target(model)
    decoder = Decoder(target, Eagle.from_pretrained(heads, target))
    params = Params(gamma=4, max_new_tokens=40)
    return [len(each.accepted) for each in decoder.generate(prompt, params)]


@pytest.mark.parametrize("kind", ["eagle1", "eagle3"])
def test_widened_heads_draft_for_the_widened_target_as_those_of_the_narrow_one_did(
    kind: str, tmp_path: Path
) -> None:
    narrow = LlamaForCausalLM.from_pretrained(DEMO / "target", dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(DEMO / "target")
    larger = {"hidden_size": 320, "intermediate_size": narrow.config.intermediate_size + 64}
    wide = LlamaForCausalLM(LlamaConfig.from_dict(narrow.config.to_dict() | larger)).eval()
    weights = load_file(DEMO / "target/model.safetensors")
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    wide.load_state_dict(widened_target(weights, wide))
    widen(DEMO / kind, 320, tmp_path / kind)
    asked = "<|bos|><|user|>What is speculative decoding?<|end|><|assistant|>"
    prompt = tokenizer(asked, add_special_tokens=False)["input_ids"]
    before = accepted(narrow, DEMO / kind, prompt)
    assert accepted(wide, tmp_path / kind, prompt) == before and sum(before) > 20
