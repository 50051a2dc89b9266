"""The shipped demo family loads offline and its parts fit each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

ASSETS = Path(__file__).parents[2] / "assets"
MEGABYTE = 2**20


@pytest.mark.parametrize(("part", "megabytes"), [("target", 45), ("draft", 5)])
def test_a_part_loads_and_answers(part: str, megabytes: int) -> None:
    folder = ASSETS / "demo" / part
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    end, end_of_text = tokenizer.convert_tokens_to_ids(["<|end|>", "<|endoftext|>"])
    assert model.generation_config.eos_token_id == [end, end_of_text]
    assert model.config.vocab_size == len(tokenizer)
    assert sum(f.stat().st_size for f in folder.iterdir()) < megabytes * MEGABYTE
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "What can you do?"}],
        add_generation_prompt=True, return_tensors="pt",
    )  # fmt: skip
    ids = model.generate(**prompt, max_new_tokens=160, do_sample=False)[0]
    assert ids[-1] == end


def test_the_draft_speaks_the_targets_tokens() -> None:
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        target, draft = (
            (ASSETS / "demo" / part / name).read_text() for part in ("target", "draft")
        )
        assert target == draft


def test_the_demo_prompts_are_well_formed() -> None:
    lines = (ASSETS / "prompts" / "demo.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) >= 20
    assert all(("prompt" in r) != ("turns" in r) and r["category"] for r in records)
