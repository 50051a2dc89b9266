"""Conversations as rows of ids with the answers marked, for any tokenizer with a chat template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import PreTrainedTokenizerBase

from decoding.errors import InputError
from decoding.training.data import Record

IGNORED = -100  # what torch's cross entropy leaves out


@dataclass(frozen=True, slots=True)
class Example:
    """A tokenized conversation. `labels` equal `ids` in answers (end of turn included), else
    IGNORED."""

    ids: tuple[int, ...]
    labels: tuple[int, ...]


def encode_conversation(record: Record, tokenizer: PreTrainedTokenizerBase) -> Example:
    """Encode a record {"messages"} or {"text"}, see `data.require_lesson`; plain text is an answer
    from its second token."""
    if "text" in record:
        ids = tuple(tokenizer(record["text"])["input_ids"])
        return Example(ids, (IGNORED, *ids[1:]))
    messages = record["messages"]
    if not tokenizer.chat_template:
        raise InputError("the target's tokenizer has no chat template: give records with 'text'")
    ids = rendered(tokenizer, messages, False)
    labels = [IGNORED] * len(ids)
    for i, message in enumerate(messages):
        if message["role"] == "assistant":
            start = len(rendered(tokenizer, messages[:i], True))
            end = len(rendered(tokenizer, messages[: i + 1], False))
            labels[start:end] = ids[start:end]
    return Example(ids, tuple(labels))


def rendered(
    tokenizer: PreTrainedTokenizerBase, messages: Sequence[dict[str, str]], prompt: bool
) -> tuple[int, ...]:
    if not messages:
        return ()
    encoded: Any = tokenizer.apply_chat_template(
        list(messages), add_generation_prompt=prompt, return_dict=True
    )
    return tuple(encoded["input_ids"])


class Conversations(Dataset[Example]):
    """Encoded conversations, cut at `length` ids; those without answer tokens are left out."""

    def __init__(
        self, records: Iterable[Record], tokenizer: PreTrainedTokenizerBase, length: int
    ) -> None:
        self._examples = list(_with_answers(records, tokenizer, length))

    def __len__(self) -> int:
        return len(self._examples)

    def __getitem__(self, index: int) -> Example:
        return self._examples[index]


def _with_answers(
    records: Iterable[Record], tokenizer: PreTrainedTokenizerBase, length: int
) -> Iterator[Example]:
    for record in records:
        example = encode_conversation(record, tokenizer)
        example = Example(example.ids[:length], example.labels[:length])
        if any(label != IGNORED for label in example.labels):
            yield example


def collate(examples: Sequence[Example]) -> dict[str, Tensor]:
    """Right-padded `input_ids`, `attention_mask` and `labels` [batch, longest]."""
    longest = max(len(example.ids) for example in examples)

    def padded(rows: Iterable[Sequence[int]], value: int) -> Tensor:
        return torch.tensor([[*row, *[value] * (longest - len(row))] for row in rows])

    return {
        "input_ids": padded((e.ids for e in examples), 0),
        "attention_mask": padded(([1] * len(e.ids) for e in examples), 0),
        "labels": padded((e.labels for e in examples), IGNORED),
    }
