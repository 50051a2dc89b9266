"""Tiny texts, a tokenizer and a model, made on the fly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from decoding.training.data import Record

if TYPE_CHECKING:  # every run of tests gets this module, and few need torch
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast


@pytest.fixture(scope="session")
def records() -> list[Record]:
    drinks = ["tea", "coffee", "cocoa", "milk"]
    chats: list[Record] = [
        {
            "messages": [
                {"role": "user", "content": f"Can I have a {drink}?"},
                {"role": "assistant", "content": f"One {drink}, here you are. That is ${i + 2}."},
                {"role": "user", "content": "Thank you!"},
                {"role": "assistant", "content": "You are welcome."},
            ],
            "kind": "even" if i % 2 == 0 else "odd",
        }
        for i, drink in enumerate(drinks)
    ]
    return [*chats, {"text": "There was a man with one dog."}]


@pytest.fixture(scope="session")
def data_file(records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "train.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tokenizer(records: list[Record]) -> PreTrainedTokenizerFast:
    from assets.demo.recipe.tokenizer import train_tokenizer

    return train_tokenizer([json.dumps(record) for record in records], vocab_size=320, context=128)


@pytest.fixture
def make_model(tokenizer: PreTrainedTokenizerFast) -> Callable[[], LlamaForCausalLM]:
    """Gives the same initial weights every time."""
    from assets.demo.recipe.pretrain import build_model

    return lambda: build_model(
        tokenizer, hidden=32, layers=2, mlp=48, heads=2, kv_heads=1, context=128
    ).eval()


@pytest.fixture
def model(make_model: Callable[[], LlamaForCausalLM]) -> LlamaForCausalLM:
    return make_model()
