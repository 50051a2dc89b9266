"""Reads chat JSONL for training.

A training record is `{"messages": [{"role", "content"}, ...]}` (OpenAI chat form) or
`{"text": ...}`; other fields are metadata. Files may be gzipped.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from decoding.errors import InputError
from decoding.jsonl import Located, jsonl_lines
from decoding.jsonl import Record as Record

SHAREGPT_ROLES = {
    "system": "system",
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model"), "assistant"),
}
MOST_REPEATS = 1000  # of a file: more would fill the memory


@dataclass(frozen=True)
class DataSource:
    """A file, its number of repeats (below 1: a sample), and a metadata filter."""

    path: Path
    repeat: float = 1.0
    where: tuple[str, str] | None = None

    @classmethod
    def parse(cls, text: str) -> DataSource:
        """Parse `FILE[:REPEAT[:KEY=VALUE]]`."""
        path, _, rest = text.partition(":")
        repeat, _, where = rest.partition(":")
        key, _, value = where.partition("=")
        try:
            times = float(repeat or 1)
        except ValueError:
            times = math.nan
        if not 0 < times <= MOST_REPEATS:
            raise InputError(
                f"'{text}': give FILE, or FILE:REPEAT with a number above 0, at most {MOST_REPEATS}"
            )
        return cls(Path(path), times, (key, value) if where else None)

    def lines(self, seed: int = 0) -> Iterator[Located]:
        """Yield the records, of which the `seed` fixes the sample. Raises InputError."""
        records = [
            (line, in_chat_form(record, line)) for line, record in jsonl_lines(self.path)
            if self.where is None or str(record.get(self.where[0])) == self.where[1]
        ]  # fmt: skip
        whole, part = divmod(self.repeat, 1)
        for _ in range(int(whole)):
            yield from records
        yield from random.Random(seed).sample(records, round(part * len(records)))


def read_sources(sources: Iterable[str], seed: int = 0) -> Iterator[Record]:
    """Yield the records of several `FILE[:REPEAT[:KEY=VALUE]]`. Raises InputError, also for those
    without text to train on."""
    for source in sources:
        for line, record in DataSource.parse(source).lines(seed):
            require_lesson(record, line)
            yield record


def require_lesson(record: Record, where: str) -> None:
    """Raise InputError unless the record has text to train on."""
    if "text" in record:
        _require_text(record["text"], f"{where}: text")
        return
    messages = record.get("messages")
    if messages is None:
        raise InputError(
            f"{where}: neither text nor messages to learn from (it has "
            f"{', '.join(sorted(record)) or 'nothing'}); let the target answer prompts first"
        )
    if not isinstance(messages, list) or not messages:
        raise InputError(f"{where}: messages must be a list that is not empty")
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise InputError(f"{where}: messages: each needs a role and a content")
        _require_text(message.get("content"), f"{where}: messages: content")


def _require_text(value: object, where: str) -> None:
    try:
        str.encode(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{where} must be text") from None
    except UnicodeEncodeError:
        raise InputError(f"{where} holds escapes that are not Unicode text") from None


def in_chat_form(record: Record, where: str) -> Record:
    """Convert ShareGPT's form, `{"conversations": [{"from", "value"}, ...]}`, and
    Daring-Anteater's, which has a separate `system` prompt, to `messages`; other records are
    unchanged. Raises InputError."""
    turns = record.get("conversations")
    if turns is None or "messages" in record:
        return record
    if not isinstance(turns, list):
        raise InputError(f"{where}: conversations must be a list")
    system = record.get("system")
    messages = [{"role": "system", "content": system}] if system else []
    for turn in turns:
        speaker = turn.get("from") if isinstance(turn, dict) else None
        role = SHAREGPT_ROLES.get(str(speaker).lower())
        if role is None or not isinstance(turn.get("value"), str):
            raise InputError(
                f"{where}: a turn of conversations is not "
                f'{{"from": "human" or "gpt", "value": TEXT}}: {str(turn)[:60]}'
            )
        messages.append({"role": role, "content": turn["value"]})
    others = {k: v for k, v in record.items() if k not in ("conversations", "system")}
    return others | {"messages": messages}


def digest(content: object) -> str:
    """Return a short digest of the repr."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]
