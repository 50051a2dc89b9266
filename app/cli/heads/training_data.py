"""Reads the conversations and prompts that the `heads` commands get as files.

A sample of a file, FILE:0.5, is always the same, whatever --seed is: features, answers and
evaluations of it serve runs of every seed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli.terminal import say
from decoding.errors import InputError
from decoding.training.processes import is_first_process

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from app.text.prompt_file import Request
    from decoding.training.conversations import Conversations
    from decoding.training.data import Record


def records_of(sources: list[str]) -> list[Record]:
    """Conversations to learn from. Raises InputError."""
    from decoding.training.data import read_sources

    records = list(read_sources(sources))
    if not records:
        raise InputError(f"{', '.join(sources)} holds no records")
    return records


def requests_of(sources: list[str]) -> list[Request]:
    """Prompts, or conversations whose last answer is generated again. Raises InputError."""
    from app.text.prompt_file import parse_request
    from decoding.training.data import DataSource

    requests = [
        parse_request(record, line, answered=True)
        for source in sources
        for line, record in DataSource.parse(source).lines()
    ]
    if not requests:
        raise InputError(f"{', '.join(sources)} holds no prompts: give one JSON object a line")
    return requests


def conversations_of(
    data: list[str],
    held_out: list[str] | None,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    length: int,
) -> tuple[Conversations, Conversations, Sequence[Record]]:
    """Training and evaluation conversations, and the evaluation records. Without `held_out` every
    20th different prompt is for evaluation. Cut at `length` tokens and the model's context; prints
    how many of the former have no answer there."""
    from decoding.model.architecture import context_of
    from decoding.training.conversations import Conversations

    records = records_of(data)
    keys = [json.dumps(_prompt_of(record), sort_keys=True) for record in records]
    length = min(length, context_of(model.config.get_text_config(decoder=True)))
    if held_out:
        measured, prompts = records_of(held_out), set(keys)
        both = sum(json.dumps(_prompt_of(record), sort_keys=True) in prompts for record in measured)
        if both and is_first_process():
            say(f"{both:,} of {len(measured):,} prompts of --held-out are in --data too")
        tested = Conversations(measured, tokenizer, length)
    else:
        # What is asked several times, by FILE:REPEAT or in a file, must not be on both sides,
        # also where it was answered otherwise.
        different: dict[str, Record] = {}
        for key, record in zip(keys, records, strict=True):
            different.setdefault(key, record)
        for first in range(20):  # others, where none of them is answered within the length
            apart = dict(list(different.items())[first::20])
            measured = list(apart.values())
            tested = Conversations(measured, tokenizer, length)
            if len(tested):
                break
        records = [r for key, r in zip(keys, records, strict=True) if key not in apart]
    learned = Conversations(records, tokenizer, length)
    if not (len(learned) and len(tested)):
        raise InputError(
            f"--data holds no answers to learn from within {length:,} tokens, or none are left to "
            "measure on: give --held-out FILE for these"
        )
    lost, total = len(records) - len(learned), len(records)
    if lost and is_first_process():
        say(
            f"{lost:,} of {total:,} conversations hold no answer within {length:,} tokens: left out"
        )
    return learned, tested, measured


def _prompt_of(record: Record) -> object:
    """What comes before the first answer; all of it where nothing does."""
    if "text" in record:
        return record["text"]
    messages = record["messages"]
    answers = (i for i, message in enumerate(messages) if message["role"] == "assistant")
    return messages[: next(answers, 0) or len(messages)]
