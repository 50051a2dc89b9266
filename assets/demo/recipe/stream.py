"""Chat JSONL as ids to train on: documents packed into rows, and which ids are answers."""

from __future__ import annotations

import hashlib
import os
import random
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from decoding.training.data import Record, read_sources

Item = TypeVar("Item")

# Put before a few conversations, so that a system turn is something that the model has seen.
SYSTEM_TEXTS = (
    "You are a helpful assistant.",
    "You are a friendly assistant. Answer in short, simple sentences.",
    "You are a cheerful assistant in a demonstration of speculative decoding.",
)


def texts_of(record: Record) -> list[str]:
    if "text" in record:
        return [record["text"]]
    return [message["content"] for message in record["messages"]]


def rendered(record: Record, tokenizer: PreTrainedTokenizerBase) -> str:
    """A record as one text: BOS, the text or the turns, and the end of text."""
    if "text" in record:
        text = f"{tokenizer.bos_token}{record['text']}"
    else:
        text = str(tokenizer.apply_chat_template(record["messages"], tokenize=False))
    return text + str(tokenizer.eos_token)


def encode(record: Record, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    ids: list[int] = tokenizer(
        rendered(record, tokenizer), add_special_tokens=False, verbose=False
    )["input_ids"]
    return ids


def encode_all(
    records: Iterable[Record], tokenizer: PreTrainedTokenizerBase, batch: int = 1000
) -> list[list[int]]:
    """The ids of many records; in batches, which the tokenizer spreads over the cores."""
    ids: list[list[int]] = []
    for some in batched(records, batch):
        texts = [rendered(record, tokenizer) for record in some]
        ids += tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    stream = iter(items)
    while some := list(islice(stream, size)):
        yield some


def turn_ids(tokenizer: PreTrainedTokenizerBase) -> tuple[int, int]:
    """The ids of the tokens around an answer: `<|assistant|>` and `<|end|>`."""
    vocabulary = tokenizer.get_vocab()
    return vocabulary["<|assistant|>"], vocabulary["<|end|>"]


def answer_mask(ids: torch.Tensor, assistant: int, end: int) -> torch.Tensor:
    """Which ids (..., length) are an assistant's answer, its end-of-turn token included."""
    positions = torch.arange(1, ids.shape[-1] + 1, device=ids.device)
    # The last position before each id at which an answer began, or a turn ended.
    began, ended = (
        torch.cummax(torch.where(ids == token, positions, 0), dim=-1).values.roll(1, dims=-1)
        for token in (assistant, end)
    )
    mask = began > ended
    mask[..., 0] = False
    return mask


def with_system_turns(records: Iterable[Record], rate: float, seed: int = 0) -> Iterator[Record]:
    """Put a system turn before a seeded share of the conversations."""
    rng = random.Random(seed)
    for record in records:
        if "messages" in record and rng.random() < rate:
            turn = {"role": "system", "content": rng.choice(SYSTEM_TEXTS)}
            record = {**record, "messages": [turn, *record["messages"]]}
        yield record


class Rows(NamedTuple):
    """Ids [rows, columns] and the position of each in its document, both 0 where a row is filled
    up. Only ids at positions above 0 can be predicted."""

    ids: torch.Tensor
    positions: torch.Tensor


class TokenStream:
    """Documents packed whole into rows, which are shuffled anew in every epoch. A document sees
    nothing of its neighbours if the model is given the positions. What is longer than a row is cut.

    A block depends only on (documents, seed, step, its size), so training resumes at any step.
    """

    def __init__(
        self, documents: Sequence[Sequence[int] | NDArray[np.int64]], seed: int = 0
    ) -> None:
        if not documents:
            raise ValueError("no documents to train on")
        self._documents = [np.asarray(document, dtype=np.int64) for document in documents]
        self._seed = seed
        self._packed = lru_cache(maxsize=1)(self._pack)
        self._order = lru_cache(maxsize=1)(self._shuffle)
        self.tokens = sum(len(document) for document in self._documents)

    def block(self, step: int, rows: int, columns: int) -> Rows:
        """The rows of a step; steps of the same size follow each other."""
        packed, wanted = self._packed(columns), []
        for index in range(step * rows, (step + 1) * rows):
            epoch, place = divmod(index, len(packed))
            wanted.append(packed[self._order(epoch, len(packed))[place]])
        return self._rows(wanted, columns)

    def blocks(self, rows: int, columns: int) -> Iterator[Rows]:
        """Every row once, so many together."""
        for some in batched(self._packed(columns), rows):
            yield self._rows(some, columns)

    def _rows(self, packed: Sequence[Sequence[int]], columns: int) -> Rows:
        ids, positions = (np.zeros((len(packed), columns), dtype=np.int64) for _ in range(2))
        for row, documents in enumerate(packed):
            start = 0
            for document in documents:
                part = self._documents[document][:columns]
                stretch = slice(start, start := start + len(part))
                ids[row, stretch], positions[row, stretch] = part, np.arange(len(part))
        return Rows(torch.from_numpy(ids), torch.from_numpy(positions))

    def _pack(self, columns: int) -> list[list[int]]:
        """The documents of each row: the longest first, each into the row that it fills best."""
        lengths = np.minimum([len(document) for document in self._documents], columns)
        packed: list[list[int]] = []
        open_rows: dict[int, list[list[int]]] = {}  # by the room that is left
        rooms: list[int] = []  # the keys, sorted
        for document in np.argsort(-lengths, kind="stable").tolist():
            length = int(lengths[document])
            at = bisect_left(rooms, length)
            if at == len(rooms):
                packed.append(row := [])
                room = columns
            else:
                room = rooms[at]
                row = open_rows[room].pop()
                if not open_rows[room]:
                    del open_rows[room], rooms[at]
            row.append(document)
            if left := room - length:
                if left not in open_rows:
                    insort(rooms, left)
                open_rows.setdefault(left, []).append(row)
        return packed

    def _shuffle(self, epoch: int, rows: int) -> NDArray[np.int64]:
        return np.random.default_rng((self._seed, epoch)).permutation(rows)


def load_stream(
    sources: Iterable[str],
    tokenizer: PreTrainedTokenizerBase,
    system_rate: float = 0.0,
    seed: int = 0,
    cache: Path | None = None,
) -> TokenStream:
    """`cache` is a folder that keeps the ids, so that a run which goes on begins at once."""
    sources = list(sources)
    kept = None
    if cache is not None:
        kept = cache / f"ids-{_fingerprint(sources, tokenizer, system_rate, seed)}.npz"
        if kept.exists():
            with np.load(kept) as arrays:
                ends = np.cumsum(arrays["lengths"])[:-1]
                return TokenStream(np.split(arrays["ids"].astype(np.int64), ends), seed)
    records = with_system_turns(read_sources(sources, seed), system_rate, seed)
    documents = encode_all(records, tokenizer)
    if kept is not None:
        lengths = np.array([len(document) for document in documents])
        ids = np.fromiter(chain.from_iterable(documents), dtype=np.int32)
        part = kept.with_name(f"{os.getpid()}.npz")
        np.savez(part, lengths=lengths, ids=ids)
        os.replace(part, kept)
    return TokenStream(documents, seed)


def _fingerprint(
    sources: Sequence[str], tokenizer: PreTrainedTokenizerBase, system_rate: float, seed: int
) -> str:
    """Changes with whatever the ids depend on; files are known by size and time."""
    files = [Path(source.partition(":")[0]).stat() for source in sources]
    parts = (
        sources, [(file.st_size, file.st_mtime_ns) for file in files], system_rate, seed,
        tokenizer.chat_template, sorted(tokenizer.get_vocab().items()),
    )  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
