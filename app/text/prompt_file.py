"""Reads prompts from a JSONL file, all checked before any model is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from app.text.unicode import require_unicode
from decoding.errors import InputError
from decoding.jsonl import Located, Record, jsonl_lines, parse_jsonl

FIELDS = ("prompt", "messages", "turns", "input_ids")
ROLES = ("system", "user", "assistant", "tool")

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
    return _requests(jsonl_lines(path), str(path))


def parse_requests(data: bytes, where: str) -> list[Request]:
    """Parse JSONL. Raises InputError with the file and line."""
    return _requests(parse_jsonl(BytesIO(data), where), where)


def _requests(records: Iterable[Located], where: str) -> list[Request]:
    requests = [parse_request(record, line) for line, record in records]
    if not requests:
        raise InputError(f"{where} holds no prompts: give one JSON object a line")
    return requests


def parse_request(record: Record, where: str, answered: bool = False) -> Request:
    """Check one record. `answered`: `messages` may end with answers, which are left out. Raises
    InputError."""
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
    if answered:  # the last answers are not read: they may be empty
        while value and isinstance(value[-1], dict) and value[-1].get("role") == "assistant":
            value = value[:-1]
    messages = [_message(message, f"{where}: messages") for message in value]
    while answered and messages and messages[-1]["role"] != "user":
        messages.pop()
    if not messages or messages[-1]["role"] != "user":
        raise InputError(f"{where}: the last message must be the user's, it will be answered")
    last = messages.pop()
    return Request(turns=(last["content"],), history=tuple(messages), **tags)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} must be text that is not empty")
    require_unicode(value, where)
    return value


def _message(value: object, where: str) -> Message:
    if not isinstance(value, dict) or value.get("role") not in ROLES:
        raise InputError(f"{where}: each needs a role ({', '.join(ROLES)}) and a content")
    return {"role": value["role"], "content": _text(value.get("content"), f"{where}: content")}
