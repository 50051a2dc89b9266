"""Tokenizes conversations, with labels for the answers, using the tokenizer's chat template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import PreTrainedTokenizerBase

from decoding.errors import InputError, reason_for
from decoding.model.prefix import common_prefix_length
from decoding.tokenizing.reasoning import OPEN, split_reasoning
from decoding.training.data import Record, digest
from decoding.training.shapes import columns_for

IGNORED = -100  # the label that torch's cross entropy ignores


@dataclass(frozen=True, slots=True)
class Example:
    """A tokenized conversation. `labels` equal `ids` in answers (end of turn included), else
    IGNORED."""

    ids: tuple[int, ...]
    labels: tuple[int, ...]

    @classmethod
    def of_answer(cls, prompt: Sequence[int], answer: Sequence[int]) -> Example:
        return cls((*prompt, *answer), (*[IGNORED] * len(prompt), *answer))


def encode_conversation(
    record: Record, tokenizer: PreTrainedTokenizerBase, vocabulary: str = ""
) -> Example:
    """Encode a record {"messages"} or {"text"}, see `data.require_lesson`; plain text is an answer
    from its second token.

    Records of the target's own answers may contain the generated `ids` (see `distill`), because
    encoding their text can give others. They are used if their `vocabulary` is this tokenizer's.
    Else the answers after the `given_messages` are learned: those may be another model's.
    """
    if "text" in record:
        ids = tuple(tokenizer(record["text"])["input_ids"])
        return Example(ids, (IGNORED, *ids[1:]))
    messages = record["messages"]
    if not tokenizer.chat_template:
        raise InputError("the target's tokenizer has no chat template: give records with 'text'")
    if vocabulary and record.get("vocabulary") == vocabulary and _ids_match_text(record, tokenizer):
        return _of_ids(record["ids"], record["answers"])
    ids = rendered(tokenizer, messages, False)
    learned = len(messages) > record.get("given_messages", 0)
    if learned and _loses_reasoning(tokenizer, messages[-1], ids):
        return _with_reasoning(record, tokenizer, ids)
    labels = [IGNORED] * len(ids)
    for i, message in enumerate(messages, 1):
        if message["role"] == "assistant" and i > record.get("given_messages", 0):
            answered = ids if i == len(messages) else rendered(tokenizer, messages[:i], False)
            # Templates may rewrite earlier turns, for instance without their reasoning. Such
            # answers differ from what was generated, and are not learned.
            if ids[: len(answered)] == answered:
                start = _start_of_answer(tokenizer, messages[: i - 1], answered)
                end = _end_of_answer(tokenizer, answered, start)
                labels[start:end] = answered[start:end]
    if record.get("finish_reason") == "length" and messages[-1]["role"] == "assistant":
        end = _end_of_open(tokenizer, messages, ids)
        return Example(ids[:end], tuple(labels[:end]))
    return Example(ids, tuple(labels))


def _loses_reasoning(
    tokenizer: PreTrainedTokenizerBase, last: Mapping[str, str], ids: Sequence[int]
) -> bool:
    """Whether a template leaves out the reasoning of the `last` answer. Most do so for earlier ones
    only, DeepSeek-R1's for all."""
    if last["role"] != "assistant":
        return False
    reasoning, _ = split_reasoning(last["content"])
    return bool(reasoning) and str(reasoning) not in str(tokenizer.decode(list(ids)))


def _with_reasoning(
    record: Record, tokenizer: PreTrainedTokenizerBase, without: Sequence[int]
) -> Example:
    """The last answer as the model gave it: after its prompt, which may open the reasoning, and
    with the end of turn that the template puts after answers."""
    *before, last = record["messages"]
    prompt = rendered(tokenizer, before, True)
    text = last["content"]
    _, opened, after = str(tokenizer.decode(list(prompt))).rpartition(OPEN)
    if opened and not after.strip():
        text = text.lstrip().removeprefix(OPEN).removeprefix(after)
    answer = list(tokenizer(text, add_special_tokens=False)["input_ids"])
    end = _end_of_answer(tokenizer, without, 0)
    if record.get("finish_reason") != "length" and without[end - 1] in special_ids(tokenizer):
        answer.append(without[end - 1])
    return Example.of_answer(prompt, answer)


def _start_of_answer(
    tokenizer: PreTrainedTokenizerBase, before: Sequence[dict[str, str]], answered: Sequence[int]
) -> int:
    """The start of the answer to the messages `before`; the end if it changed the ids before it."""
    prompt = rendered(tokenizer, before, True)
    start = common_prefix_length(prompt, answered)
    if start < len(prompt):
        # A prompt may end in ids that answers do not repeat, such as an opened <think>.
        unprompted = rendered(tokenizer, before, False)
        if common_prefix_length(unprompted, answered) < len(unprompted):
            return len(answered)
    return start


def _end_of_answer(tokenizer: PreTrainedTokenizerBase, answered: Sequence[int], start: int) -> int:
    """The end of the answer that begins at `start`, with its end of turn: the newline that
    templates put behind that is said by no model."""
    end = len(answered)
    while end > start and str(tokenizer.decode(answered[end - 1])).isspace():
        end -= 1
    return end if end > start and answered[end - 1] in special_ids(tokenizer) else len(answered)


def special_ids(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Also those without a name, such as that of an end token."""
    unnamed = (id for id, token in tokenizer.added_tokens_decoder.items() if token.special)
    return {*tokenizer.all_special_ids, *unnamed}


def _ids_match_text(record: Record, tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a record has ids that still match its answers, which may have been edited."""
    if "ids" not in record:  # reasoning was dropped
        return False
    said = (turn["content"] for turn in record["messages"] if turn["role"] == "assistant")
    for start, end in record["answers"]:
        ids, is_last = record["ids"][start:end], end == len(record["ids"])
        # An end may be an ordinary token, which is not in the text either.
        ends = not is_last or record.get("finish_reason") == "stop"
        texts = [
            tokenizer.decode(each, skip_special_tokens=True)
            for each in ((ids, ids[:-1]) if ends else (ids,))
        ]
        if not any(text in texts for text in said):  # goes on behind the answer before
            return False
    return True


def _of_ids(ids: Sequence[int], answers: Sequence[Sequence[int]]) -> Example:
    """`answers` has the start and end of each answer in `ids`."""
    labels = [IGNORED] * len(ids)
    for start, end in answers:
        labels[start:end] = ids[start:end]
    return Example(tuple(ids), tuple(labels))


def _end_of_open(
    tokenizer: PreTrainedTokenizerBase, messages: Sequence[dict[str, str]], ids: Sequence[int]
) -> int:
    """The end of a cut-off answer in `ids`, without the end of turn, which the template added."""
    try:
        unfinished = rendered(tokenizer, messages, False, continue_final_message=True)
    except ValueError:  # the template changes the answer, so that its end can't be found
        unfinished = rendered(tokenizer, messages[:-1], True)
    return common_prefix_length(unfinished, ids)


def rendered(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[dict[str, str]],
    prompt: bool,
    **options: Any,
) -> tuple[int, ...]:
    """Return the ids of a conversation in the chat template. Raises InputError where that takes no
    such conversation: some have no system prompt, or want user and assistant in turn."""
    if not messages:
        return ()
    try:
        encoded: Any = tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=prompt, return_dict=True, **options
        )
    except Exception as error:  # templates are code
        roles = ", ".join(message["role"] for message in messages)
        raise InputError(
            f"the model's chat template can't take a conversation of {roles[:80]}, which begins "
            f"'{messages[0]['content'][:60]}': {reason_for(error)}"
        ) from error
    return tuple(encoded["input_ids"])


def vocabulary_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return a digest of a tokenizer's vocabulary."""
    return digest(sorted(tokenizer.get_vocab().items()))


class Conversations(Dataset[Example]):
    """Encoded conversations, truncated to `length` ids; those without answer tokens are dropped."""

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
    vocabulary = vocabulary_digest(tokenizer)
    for record in records:
        example = encode_conversation(record, tokenizer, vocabulary)
        example = Example(example.ids[:length], example.labels[:length])
        if any(label != IGNORED for label in example.labels):
            yield example


def collate(examples: Sequence[Example], limit: int = 0) -> dict[str, Tensor]:
    """Right-padded `input_ids`, `attention_mask` and `labels` [batch, longest]; with a `limit`
    [batch, `columns_for` the longest]."""
    columns = max(len(example.ids) for example in examples)
    if limit:
        columns = columns_for(columns, limit)

    def padded(rows: Iterable[Sequence[int]], value: int) -> Tensor:
        return torch.tensor([[*row, *[value] * (columns - len(row))] for row in rows])

    return {
        "input_ids": padded((e.ids for e in examples), 0),
        "attention_mask": padded(([1] * len(e.ids) for e in examples), 0),
        "labels": padded((e.labels for e in examples), IGNORED),
    }
