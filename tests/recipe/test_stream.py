"""Ids to train on: each document once an epoch, answers marked."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from assets.demo.recipe.stream import (
    TokenStream,
    answer_mask,
    encode,
    load_stream,
    turn_ids,
    with_system_turns,
)
from decoding.training.data import Record


def test_a_stream_gives_every_document_once_an_epoch() -> None:
    stream = TokenStream([[1, 2], [3], [4, 5, 6]], seed=1)
    first, second = stream.take(0, 6), stream.take(6, 6)
    assert sorted(first) == sorted(second) == [1, 2, 3, 4, 5, 6]
    # Any stretch is the same however it is read, also back over an epoch's edge.
    whole = stream.take(0, 12).tolist()
    assert stream.take(4, 5).tolist() == whole[4:9]
    assert stream.block(1, rows=2, columns=2).tolist() == [whole[4:6], whole[6:8]]


def test_the_answer_mask_covers_answers_and_their_end(
    tokenizer: PreTrainedTokenizerFast, records: list[Record]
) -> None:
    ids = torch.tensor([encode(records[0], tokenizer)])
    assistant, end = turn_ids(tokenizer)
    answers = tokenizer.decode(ids[answer_mask(ids, assistant, end)])
    assert answers == "One tea, here you are. That is $2.<|end|>You are welcome.<|end|>"


def test_system_turns_go_before_a_share_of_the_conversations(records: list[Record]) -> None:
    assert list(with_system_turns(records, 0.0)) == records
    roles = [r["messages"][0]["role"] for r in with_system_turns(records, 1.0) if "messages" in r]
    assert roles == ["system"] * 4


def test_a_loaded_stream_holds_all_ids(
    data_file: Path, tokenizer: PreTrainedTokenizerFast, records: list[Record]
) -> None:
    stream = load_stream([f"{data_file}:2"], tokenizer)
    assert stream.tokens == 2 * sum(len(encode(record, tokenizer)) for record in records)
