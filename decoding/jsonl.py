"""Reads JSONL from untrusted files, which may be gzipped."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from decoding.errors import InputError, reason_for
from decoding.json_text import parse_json

Record = dict[str, Any]
Located = tuple[str, Record]  # a record after its FILE:LINE
MAX_LINE = 64 * 2**20  # bytes; only other kinds of files, such as a model's, have longer lines


def jsonl_lines(path: Path) -> Iterator[Located]:
    """Yield the objects of a file. Raises InputError."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from parse_jsonl(file, str(path))
    except FileNotFoundError:
        raise InputError(f"no file {path}: give a JSONL file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"can't read {path}: {reason_for(error)}") from error


def parse_jsonl(file: BufferedIOBase, where: str) -> Iterator[Located]:
    """Yield the JSON object of each line; empty lines are skipped. Raises InputError with the
    line."""
    number = 0
    # Bytes, not text: JSON may contain U+2028 and others, at which str.splitlines would split.
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise InputError(f"{where}:{number} is larger than {MAX_LINE >> 20} MiB: no JSONL file")
        line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if number == 1 and line.lstrip().startswith(b"["):
            raise InputError(
                f"{where} holds a JSON array: give one object a line, as jq -c '.[]' makes them"
            )
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
