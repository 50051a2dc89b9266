"""Chat JSONL as ids to train on: documents in one endless row, and which ids are answers."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from decoding.training.data import Record, read_sources

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


def batched(records: Iterable[Record], size: int) -> Iterator[list[Record]]:
    stream = iter(records)
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


class TokenStream:
    """Documents in one endless row, shuffled anew in every epoch; any stretch can be read.

    What `take` gives depends only on (documents, seed, start), so training resumes at any step.
    """

    def __init__(
        self, documents: Sequence[Sequence[int] | NDArray[np.int64]], seed: int = 0
    ) -> None:
        if not documents:
            raise ValueError("no documents to train on")
        self._documents = [np.asarray(document, dtype=np.int64) for document in documents]
        self._seed = seed
        self._cached: tuple[int, NDArray[np.int64]] = (-1, np.empty(0, dtype=np.int64))
        self.tokens = sum(len(document) for document in self._documents)

    def take(self, start: int, count: int) -> NDArray[np.int64]:
        pieces: list[NDArray[np.int64]] = []
        while count > 0:
            epoch, offset = divmod(start, self.tokens)
            piece = self._epoch(epoch)[offset : offset + count]
            pieces.append(piece)
            start, count = start + len(piece), count - len(piece)
        return np.concatenate(pieces)

    def block(self, step: int, rows: int, columns: int) -> torch.Tensor:
        """The (rows, columns) ids of a step; steps of the same size follow each other."""
        size = rows * columns
        return torch.from_numpy(self.take(step * size, size).reshape(rows, columns))

    def _epoch(self, epoch: int) -> NDArray[np.int64]:
        if self._cached[0] != epoch:
            order = np.random.default_rng((self._seed, epoch)).permutation(len(self._documents))
            self._cached = (epoch, np.concatenate([self._documents[i] for i in order]))
        return self._cached[1]


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
