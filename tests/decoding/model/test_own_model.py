"""A model that a `Target` was made of stays what it was for everybody else."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from decoding.decoder import Decoder
from decoding.model.target import Target
from decoding.params import Params
from tests.support.families import build

PROMPT = [5, 9, 5, 9, 5, 9, 3, 5, 9]
NEW = 12
WINDOWS = ["llama", "qwen2-window", "gemma2", "gemma3", "mistral"]


def answers(model: Any, assistant: Any) -> list[list[int]]:
    """As `generate` gives them: plain, assisted, by prompt lookup, and a padded batch."""
    prompt = torch.tensor([PROMPT])
    usual = {"do_sample": False, "max_new_tokens": NEW, "pad_token_id": 0, "eos_token_id": None}
    batch = torch.tensor([[0, 0, *PROMPT[2:]], PROMPT])
    found = [
        model.generate(prompt, **usual),
        model.generate(prompt, assistant_model=assistant, **usual),
        model.generate(prompt, prompt_lookup_num_tokens=3, **usual),
        model.generate(batch, attention_mask=(batch != 0).long(), **usual),
    ]
    return [row for ids in found for row in ids.tolist()]


@pytest.mark.parametrize("family", WINDOWS)
def test_generate_answers_as_before(family: str) -> None:
    model, assistant = build(family), build("llama")
    before = answers(model, assistant)
    target = Target(model)
    decoder = Decoder(target)
    for _ in decoder.generate(PROMPT, Params(max_new_tokens=NEW)):
        pass
    assert decoder.generated == before[0][len(PROMPT) :]
    assert answers(model, assistant) == before
