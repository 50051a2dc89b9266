"""Reads prompts from a JSONL file, all checked before any model is loaded."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.text.unicode import require_unicode
from decoding.errors import InputError

FIELDS = ("prompt", "messages", "turns", "input_ids")
ROLES = ("system", "user", "assistant", "tool")
MAX_BYTES = 64 * 2**20  # far more than can be answered: a wrong file, such as a model's

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt: user `turns` to answer one by one, following `history`; or `input_ids`."""

    turns: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    input_ids: tuple[int, ...] = ()
    id: str | int | None = None
    category: str | None = None


def read_requests(path: Path) -> list[Request]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"no file {path}: --prompts takes a JSONL file, or - for stdin") from None
    except (OSError, ValueError) as error:
        raise InputError(f"can't read {path}: {error}") from error
    return parse_requests(data, str(path))


def parse_requests(data: bytes, where: str) -> list[Request]:
    """Parse JSONL. Raises InputError with the file and line."""
    if len(data) > MAX_BYTES:
        raise InputError(f"{where} is larger than {MAX_BYTES >> 20} MiB: split it")
    # Bytes are split, not text: JSON may hold U+2028 and its like, where str.splitlines would cut.
    requests = [
        _parse(line, f"{where}:{number}")
        for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1)
        if line.strip()
    ]
    if not requests:
        raise InputError(f"{where} holds no prompts: give one JSON object a line")
    return requests


def _parse(line: bytes, where: str) -> Request:
    try:
        record = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error})") from error
    if not isinstance(record, dict):
        raise InputError(f'{where}: give a JSON object such as {{"prompt": "Hello"}}')
    given = [field for field in FIELDS if field in record]
    if len(given) != 1:
        found = " and ".join(given) if given else "none"
        raise InputError(f"{where}: give exactly one of {', '.join(FIELDS)}; found {found}")
    field, value = given[0], record[given[0]]
    if not isinstance(record.get("id"), (str, int, type(None))):
        raise InputError(f"{where}: id must be text or a number")
    if not isinstance(record.get("category"), (str, type(None))):
        raise InputError(f"{where}: category must be text")
    tags: dict[str, Any] = {"id": record.get("id"), "category": record.get("category")}
    if field == "prompt":
        return Request(turns=(_text(value, f"{where}: prompt"),), **tags)
    if not isinstance(value, list) or not value:
        raise InputError(f"{where}: {field} must be a list that is not empty")
    if field == "turns":
        return Request(turns=tuple(_text(turn, f"{where}: turns") for turn in value), **tags)
    if field == "input_ids":
        if any(not isinstance(i, int) or isinstance(i, bool) or i < 0 for i in value):
            raise InputError(f"{where}: input_ids must be whole numbers from 0")
        return Request(input_ids=tuple(value), **tags)
    messages = tuple(_message(message, f"{where}: messages") for message in value)
    if messages[-1]["role"] != "user":
        raise InputError(f"{where}: the last message must be the user's, it will be answered")
    return Request(turns=(messages[-1]["content"],), history=messages[:-1], **tags)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} must be text that is not empty")
    require_unicode(value, where)
    return value


def _message(value: object, where: str) -> Message:
    if not isinstance(value, dict) or value.get("role") not in ROLES:
        raise InputError(f"{where}: each needs a role ({', '.join(ROLES)}) and a content")
    return {"role": value["role"], "content": _text(value.get("content"), f"{where}: content")}
