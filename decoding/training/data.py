"""Reads JSONL, and chat JSONL for training.

A training record is `{"messages": [{"role", "content"}, ...]}` (OpenAI chat form) or
`{"text": ...}`; other fields are metadata. Files may be gzipped.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import math
import random
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from decoding.errors import InputError, reason_for
from decoding.json_text import parse_json

Record = dict[str, Any]
Located = tuple[str, Record]  # a record after its FILE:LINE
SHAREGPT_ROLES = {
    "system": "system",
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model"), "assistant"),
}
MAX_LINE = 64 * 2**20  # bytes; only other kinds of files, such as a model's, have longer lines
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
        """The records, of which the `seed` fixes the sample. Raises InputError."""
        records = [
            (line, in_chat_form(record, line)) for line, record in jsonl_lines(self.path)
            if self.where is None or str(record.get(self.where[0])) == self.where[1]
        ]  # fmt: skip
        whole, part = divmod(self.repeat, 1)
        for _ in range(int(whole)):
            yield from records
        yield from random.Random(seed).sample(records, round(part * len(records)))


def read_sources(sources: Iterable[str], seed: int = 0) -> Iterator[Record]:
    """The records of several `FILE[:REPEAT[:KEY=VALUE]]`. Raises InputError, also for those without
    text to train on."""
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


def jsonl_lines(path: Path) -> Iterator[Located]:
    """The objects of a file. Raises InputError."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from parse_jsonl(file, str(path))
    except FileNotFoundError:
        raise InputError(f"no file {path}: give a JSONL file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"can't read {path}: {reason_for(error)}") from error


def parse_jsonl(file: BufferedIOBase, where: str) -> Iterator[Located]:
    """One JSON object per line; empty lines are skipped. Raises InputError with the line."""
    number = 0
    # Bytes, not text: JSON may contain U+2028 and others, at which str.splitlines would split.
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise InputError(f"{where}:{number} is larger than {MAX_LINE >> 20} MiB: no JSONL file")
        line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if line.strip():
            yield f"{where}:{number}", _parse(line, f"{where}:{number}")


def _parse(line: bytes, where: str) -> Record:
    try:
        record = parse_json(line.decode())
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8; save the file as UTF-8") from error
    except ValueError as error:
        why = str(error)
        if isinstance(error, JSONDecodeError):  # whose own line would be 1, behind that of `where`
            why = f"{error.msg} at character {error.pos + 1}"
        raise InputError(f"{where}: not valid JSON: {why}") from error
    if not isinstance(record, dict):
        raise InputError(f'{where}: give a JSON object such as {{"prompt": "Hello"}}')
    return record


def digest(content: object) -> str:
    """A short digest of the repr."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]
