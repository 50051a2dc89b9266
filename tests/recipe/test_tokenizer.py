from __future__ import annotations

from typing import Any

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from assets.demo.recipe.stream import encode
from assets.demo.recipe.tokenizer import SPECIAL_TOKENS
from decoding.training.data import Record


@pytest.mark.parametrize(
    "text", ["plain", "  two  spaces\n\ttab", "naïve 東京 🙂👩‍👩‍👧", "\x00\x7f\ufffd"]
)
def test_any_text_round_trips(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_digits_stand_alone(tokenizer: PreTrainedTokenizerFast) -> None:
    assert len(tokenizer("2024")["input_ids"]) == 4


def test_special_tokens_are_single_ids(tokenizer: PreTrainedTokenizerFast) -> None:
    for i, token in enumerate(SPECIAL_TOKENS):
        assert tokenizer(token)["input_ids"] == [i]


@pytest.mark.parametrize("system", [False, True])
def test_a_prompt_is_a_prefix_of_the_training_ids(
    tokenizer: PreTrainedTokenizerFast, records: list[Record], system: bool
) -> None:
    messages = records[0]["messages"]
    if system:
        messages = [{"role": "system", "content": "Be kind. 🙂"}, *messages]
    whole = encode({"messages": messages}, tokenizer)
    for turn, message in enumerate(messages):
        if message["role"] == "user":
            prompt: Any = tokenizer.apply_chat_template(
                messages[: turn + 1], add_generation_prompt=True
            )
            ids = prompt["input_ids"]
            assert ids == whole[: len(ids)]
            assert ids.count(tokenizer.bos_token_id) == 1
    assert whole[-1] == tokenizer.eos_token_id


def test_a_rendered_template_gets_no_second_bos(
    tokenizer: PreTrainedTokenizerFast, records: list[Record]
) -> None:
    text = tokenizer.apply_chat_template(records[0]["messages"], tokenize=False)
    assert tokenizer(text)["input_ids"].count(tokenizer.bos_token_id) == 1


def test_an_unknown_role_is_refused(tokenizer: PreTrainedTokenizerFast) -> None:
    with pytest.raises(Exception, match="unknown role: tool"):
        tokenizer.apply_chat_template([{"role": "tool", "content": "x"}], tokenize=False)


def test_a_saved_folder_loads_the_same(
    tokenizer: PreTrainedTokenizerFast, records: list[Record], tmp_path: str
) -> None:
    tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert encode(records[0], again) == encode(records[0], tokenizer)
