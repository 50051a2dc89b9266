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


def test_a_stream_gives_every_document_once_an_epoch_and_whole() -> None:
    documents = [[1, 2], [3], [4, 5, 6], [7, 8], [9] * 6]
    stream = TokenStream(documents, seed=1)
    for epoch in (0, 1):  # rows of 4: the long one, cut, and [4 5 6 3], [1 2 7 8]
        rows = [stream.block(step, 1, 4) for step in range(3 * epoch, 3 * epoch + 3)]
        assert sorted(row.ids[0].tolist() for row in rows) == [
            [1, 2, 7, 8], [4, 5, 6, 3], [9, 9, 9, 9],
        ]  # fmt: skip
        assert sorted(row.positions[0].tolist() for row in rows) == [
            [0, 1, 0, 1], [0, 1, 2, 0], [0, 1, 2, 3],
        ]  # fmt: skip
    # Any step is the same whichever was asked for before, also over an epoch's edge.
    again = stream.block(1, rows=2, columns=4)
    whole = [stream.block(step, 1, 4).ids for step in (2, 3)]
    assert torch.equal(again.ids, torch.cat(whole))
    # A row that is not full ends with zeros, all at position 0.
    (rest,) = TokenStream([[5, 6]]).blocks(8, 4)
    assert (rest.ids.tolist(), rest.positions.tolist()) == ([[5, 6, 0, 0]], [[0, 1, 0, 0]])


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
