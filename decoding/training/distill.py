"""Self-distillation data: the target's own answers to prompts, as chat JSONL.

Output records are `{"messages", "finish_reason"}` with the number of `given_messages` before the
first turn to answer, that of generated `tokens`, the `ids` of the conversation, the ranges of the
`answers` in them, a digest of their `vocabulary`, and `made_by`, a digest of the target, the
prompts and the settings. The same call again continues after the last record.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from decoding.errors import InputError
from decoding.model.architecture import context_of
from decoding.params import Params
from decoding.tokenizing.reasoning import CLOSE, OPEN, Reasoning
from decoding.tokenizing.stopping import eos_ids
from decoding.training.answer_file import Conversation as Conversation
from decoding.training.answer_file import drop_reasoning, keep_only, lines_so_far
from decoding.training.conversations import rendered, special_ids, vocabulary_digest
from decoding.training.data import Record, digest
from decoding.training.features import target_digest
from decoding.training.generation import Request, generate, random_numbers
from decoding.training.log import Progress
from decoding.training.passes import lean_forward_of


def answer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    conversations: Sequence[Conversation],
    params: Params,
    batch_size: int = 64,
    seed: int = 0,
    first: int = 0,
    reasoning: Reasoning = "keep",
    report_tokens: Callable[[int], None] = lambda tokens: None,
) -> Iterator[Record]:
    """Answer all open user turns of the conversations from the `first` on, and yield their records
    in order. Up to `batch_size` turns are answered at a time. Calls `report_tokens` at each pass
    with the number of its new tokens. At a temperature above 0 an answer depends on the `seed` and
    the conversation's index.

    A conversation ends early if an answer was cut off (finish_reason "length") or a turn does not
    fit in the context: a first prompt without room stays unanswered. With `reasoning` dropped an
    answer that is nothing else is left out.
    """
    talk = _Talk(model, tokenizer, params, reasoning)
    unread = iter(range(first, len(conversations)))
    waiting, asked = deque[Request](), dict[Request, _Open]()
    finished, following = dict[int, Record](), first

    def ask(opened: _Open) -> None:
        request = talk.next_request(opened)
        if request is None:
            finished[opened.index] = opened.record
            return
        asked[request] = opened
        if opened.record["tokens"]:  # before those of later conversations, as records are in order
            waiting.appendleft(request)
        else:
            waiting.append(request)

    def fill() -> None:
        """Prepare as many requests as may be taken at once."""
        while len(waiting) < batch_size and (index := next(unread, None)) is not None:
            generator = torch.Generator().manual_seed(seed * 1_000_003 + index)
            ask(_Open.of(index, conversations[index], generator))

    def next_records() -> Iterator[Record]:
        nonlocal following
        while following in finished:
            yield finished.pop(following)
            following += 1

    fill()
    eos = eos_ids(model, tokenizer)
    lean = lean_forward_of(model)
    for request in generate(model, waiting, eos, params, batch_size, lean, report_tokens):
        opened = asked.pop(request)
        talk.take_answer(opened, request)
        ask(opened)
        fill()
        yield from next_records()
    yield from next_records()  # where no last one had room for an answer


@dataclass(slots=True, eq=False)
class _Open:
    """A conversation's `record` so far, and the user `turns` that are still to be answered."""

    index: int
    record: Record
    turns: deque[str]
    generator: torch.Generator

    @classmethod
    def of(cls, index: int, conversation: Conversation, generator: torch.Generator) -> _Open:
        history, turns = conversation
        record: Record = {
            "messages": list(history),
            "finish_reason": "stop",
            "given_messages": len(history),
            "tokens": 0,
            "ids": [],
            "answers": [],
        }
        return cls(index, record, deque(turns), generator)


class _Talk:
    """Puts the turns of conversations to the target, and its answers into their records."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        params: Params,
        reasoning: Reasoning,
    ) -> None:
        self._tokenizer, self._params, self._reasoning = tokenizer, params, reasoning
        self._eos = eos_ids(model, tokenizer)
        self._special = self._eos | special_ids(tokenizer)
        if reasoning == "drop":
            self._special -= {tokenizer.get_vocab().get(mark) for mark in (OPEN, CLOSE)}
        self._limit = context_of(model.config.get_text_config(decoder=True))

    def next_request(self, opened: _Open) -> Request | None:
        """Put the conversation's next turn; None if it is at its end."""
        record = opened.record
        if not opened.turns or record["finish_reason"] != "stop":
            return None
        messages = [*record["messages"], {"role": "user", "content": opened.turns.popleft()}]
        prompt = list(rendered(self._tokenizer, messages, prompt=True))
        if len(prompt) >= self._limit:
            if not record["tokens"]:  # no room for any answer
                record |= {"messages": messages, "finish_reason": "length"}
            return None
        record["messages"] = messages
        params = self._params
        numbers = random_numbers(params.sampling, params.max_new_tokens, opened.generator)
        return Request(prompt, numbers)

    def take_answer(self, opened: _Open, request: Request) -> None:
        record, prompt, ids = opened.record, request.prompt, request.answer
        text = self._tokenizer.decode([token for token in ids if token not in self._special])
        record["tokens"] += len(ids)
        record["messages"] = [*record["messages"], {"role": "assistant", "content": text}]
        record["finish_reason"] = "stop" if ids[-1] in self._eos else "length"
        if self._reasoning == "drop":
            began = str(self._tokenizer.decode(prompt)).rstrip().endswith(OPEN)
            drop_reasoning(record, f"{OPEN if began else ''}{text}")
        if "ids" not in record:
            return
        # Earlier answers were encoded again; those whose ids changed must not be learned.
        encoded = record["ids"]
        record["answers"] = [
            *([a, b] for a, b in record["answers"] if encoded[a:b] == prompt[a:b]),
            [len(prompt), len(prompt) + len(ids)],
        ]
        record["ids"] = prompt + ids


def distill(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    conversations: Iterable[Conversation],
    out: Path,
    params: Params,
    batch_size: int = 64,
    seed: int = 0,
    reasoning: Reasoning = "keep",
) -> int:
    """Answer each conversation's open turns, and append the records to `out`; returns the number of
    records in it.

    Prompts of similar length are answered together, so the output is sorted by length. Raises
    InputError if `out` holds anything but the first of the same answers, and then does not change
    it; and for penalties, which do not act here.
    """
    if params.sampling.penalizes:
        raise InputError("answers are distilled without penalties: leave them out")
    open_turns = sorted(conversations, key=_characters)
    sampling = params.sampling
    temperature, top_p = sampling.temperature, sampling.top_p
    made = [target_digest(model), open_turns, params.max_new_tokens, temperature]
    made += [seed] if temperature else []
    made += [top_p] if top_p < 1 else []
    made += [sampling.top_k, sampling.min_p] if sampling.top_k or sampling.min_p else []
    made += [tokenizer.chat_template, sorted(eos_ids(model, tokenizer))]
    made_by = digest(made + ([reasoning] if reasoning == "drop" else []))
    lines = lines_so_far(out, made_by, len(open_turns))
    keep_only(out, lines)
    marks = {"vocabulary": vocabulary_digest(tokenizer), "made_by": made_by}
    progress = Progress(len(lines), len(open_turns))
    records = answer(
        model, tokenizer, open_turns, params, batch_size, seed, len(lines), reasoning,
        progress.add_tokens,
    )  # fmt: skip
    with out.open("a", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record | marks) + "\n")
            file.flush()
            progress.add(1, 0)
    return len(open_turns)


def _characters(conversation: Conversation) -> int:
    history, turns = conversation
    return sum(len(message["content"]) for message in history) + sum(map(len, turns))
