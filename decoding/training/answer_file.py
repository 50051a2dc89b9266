"""The output file of a distillation, which can be continued after an interruption."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from decoding.errors import InputError
from decoding.jsonl import Record, jsonl_lines
from decoding.tokenizing.reasoning import split_reasoning

Message = dict[str, str]
Conversation = tuple[list[Message], list[str]]  # the history, and the user turns to answer
_BEGIN = b'{"messages": ['  # every line starts with this


def lines_so_far(out: Path, made_by: str, total: int) -> list[bytes]:
    """Return the complete lines of a file of at most `total` answers, without one that was cut by a
    kill. Raises InputError if it holds anything but answers with the mark `made_by`."""
    if not out.exists():
        return []
    mark = f'"made_by": "{made_by}"'.encode()
    lines = out.read_bytes().splitlines(keepends=True)
    *whole, rest = [*lines, b""] if not lines or lines[-1].endswith(b"\n") else lines
    ours = len(whole) <= total and all(mark in line for line in whole)
    if not ours or rest[: len(_BEGIN)] != _BEGIN[: len(rest)]:
        raise InputError(
            f"{out} holds something other than answers to these prompts, of this target and with "
            "these settings: choose a new file"
        )
    return whole


def keep_only(out: Path, lines: Sequence[bytes]) -> None:
    """Truncate the file to the `lines` that it begins with; create it if there is none."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("ab") as file:
        file.truncate(sum(map(len, lines)))


def drop_reasoning(record: Record, answer: str) -> None:
    """Leave the reasoning in `answer`, the whole last one, out of a record, and with it the ids:
    an answer goes on from its reasoning. If that is all, the conversation ends unanswered."""
    reasoning, text = split_reasoning(answer)
    if reasoning is None:
        return
    record["reasoning"] = "dropped"
    record.pop("ids", None)
    record.pop("answers", None)
    *before, _ = record["messages"]
    record["messages"] = before
    if text:
        before.append({"role": "assistant", "content": text})
    else:
        record["finish_reason"] = "length"


def statistics(out: Path) -> str:
    """Return how many tokens were generated, and how many conversations were cut off or repeat
    others, or have reasoning: `4,000 tokens, 12 cut off, 3 repeated, 300 with reasoning
    (dropped)`."""
    records = [record for _, record in jsonl_lines(out)]
    tokens = sum(record.get("tokens", 0) for record in records)
    cut = sum(record["finish_reason"] == "length" for record in records)
    repeated = len(records) - len({json.dumps(record["messages"]) for record in records})
    counted = f"{tokens:,} tokens, " if tokens else ""  # servers may not count
    dropped = sum("reasoning" in record for record in records)
    kept = sum(map(_has_reasoning, records))
    reasoned = f", {dropped or kept} with reasoning" if dropped or kept else ""
    return f"{counted}{cut} cut off, {repeated} repeated{reasoned}{' (dropped)' if dropped else ''}"


def _has_reasoning(record: Record) -> bool:
    answers = (each["content"] for each in record["messages"] if each["role"] == "assistant")
    return any(split_reasoning(text)[0] for text in answers)
