"""The log file of a conversation: one JSON array per line, append-only.

["conversation", {log_version, version, created, settings, ...}] comes first, then ["loaded", ...]
and the events of the turns, ["name", "..."] whenever the user gives it another name, and
["left", {...}] if settings were changed after the last run. A line that a crash cut short is left
out when the file is read, and cut off before it is appended to.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from app.engine.events import (
    Event,
    Finished,
    Loaded,
    Prefilled,
    RoundFinished,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.history.recording import NO_METRICS, LeftWith, Recording
from app.report.document import envelope
from app.strategies.registry import find_strategy
from decoding.errors import InputError
from decoding.json_text import parse_json
from decoding.params import LONGEST_DRAFT
from decoding.round import Round

LOG_VERSION = 1
KINDS: dict[str, type[Any]] = {
    "loaded": Loaded,
    "run": RunStarted,
    "continued": RunContinued,
    "prefilled": Prefilled,
    "round": RoundFinished,
    "finished": Finished,
    "end": RunFinished,
    "refused": RunRejected,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
_CODECS: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(kind) for name, kind in KINDS.items()}
_LEFT = TypeAdapter(LeftWith)
assert set(KINDS.values()) <= set(get_args(Event))


def header(created: str, settings: dict[str, Any]) -> bytes:
    """Make the first line of a log."""
    facts = {"log_version": LOG_VERSION, **envelope(created=created, settings=settings)}
    return _line("conversation", json.dumps(facts).encode())


def name_line(name: str) -> bytes:
    return _line("name", json.dumps(name).encode())


def is_name_line(line: bytes) -> bool:
    return line.startswith(b'["name"')


def left_line(left: LeftWith) -> bytes:
    return _line("left", _LEFT.dump_json(left))


def event_line(event: Event) -> bytes | None:
    """Make an event's line, None if it is not recorded. Metrics are left out: they follow from the
    rounds; and the lanes' own settings: they are in the line of the models."""
    name = _NAMES.get(type(event))
    if name is None:
        return None
    value = _CODECS[name].dump_python(
        event, mode="json", exclude={"metrics", "overrides"}, exclude_defaults=True
    )
    return _line(name, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _line(name: str, value: bytes) -> bytes:
    return b'["%s", %s]\n' % (name.encode(), value)


def read_event(name: str, value: dict[str, Any]) -> Event:
    """Read an event from its line. Raises pydantic's ValidationError, InputError for an unknown
    strategy."""
    if name == "round":
        value = value | {"metrics": NO_METRICS}
    elif name == "loaded":
        for lane in value["lanes"]:
            find_strategy(lane["strategy"])
    event: Event = _CODECS[name].validate_python(value)
    if isinstance(event, RoundFinished):
        _require_sound(event.round)
    at = getattr(event, "at", 0.0)
    if not (math.isfinite(at) and at >= 0):
        raise ValueError(f"at {at} is no time")
    return event


def _require_sound(record: Round) -> None:
    """Raise ValueError for what no round can be, and nothing that reads one expects."""
    nodes = len(record.shape)  # raises if it is no tree
    path = zip((0, *record.accepted), record.accepted, strict=False)
    times = (
        *(record.draft_seconds, record.verify_seconds),
        *(record.accept_seconds, record.total_seconds),
    )
    by_node = (
        *(record.chosen, record.ranks, record.p, record.scores, record.model_p, record.q),
        *(record.draws, record.entropies, record.top, record.tempered_p, record.thresholds),
    )
    problems = {
        "tokens": len(record.tokens) != nodes,
        "accepted": not all(
            before < node < nodes and record.parents[node] == before for before, node in path
        ),
        "emitted": len(record.emitted) < len(record.accepted),
        "tested": not 0 <= record.tested <= record.shape.depth,
        "seconds": not all(math.isfinite(each) and each >= 0 for each in times),
        "probabilities": not all(len(each) in (0, nodes) for each in by_node),
        "gamma": not 0 <= record.gamma <= LONGEST_DRAFT,
    }
    if wrong := [name for name, found in problems.items() if found]:
        raise ValueError(f"round {record.index}: wrong {', '.join(wrong)}")


def complete_lines(data: bytes) -> bytes:
    """Drop an unfinished last line."""
    return data[: data.rfind(b"\n") + 1]


def size_of(data: bytes) -> int:
    """Return the size of a log's complete lines, without those that name it: a name may be given at
    any time, and is no part of what is undone."""
    lines = complete_lines(data).splitlines(keepends=True)
    return sum(len(line) for line in lines if not is_name_line(line))


def cut_log(data: bytes, size: int) -> tuple[bytes, bytes]:
    """Cut a log to what it was at an earlier `size_of`, but with its present name; returns also
    what is cut off. Of one that is cut off as a whole nothing stays."""
    if not size:
        return b"", data
    kept, cut, renamed = list[bytes](), list[bytes](), b""
    for line in data.splitlines(keepends=True):
        if is_name_line(line) and size <= 0:
            renamed = line
        elif size > 0:
            kept.append(line)
            size -= 0 if is_name_line(line) else len(line)
        else:
            cut.append(line)
    return b"".join([*kept, renamed]), b"".join(cut)


def last_lines(end: bytes, size: int) -> bytes | None:
    """Return the last lines of a log, as many as have the `size`. `end` is its end, from any byte
    before them on. None if one of them names the log, or no number of whole lines has that size."""
    lines = end.splitlines(keepends=True)
    first = len(lines)
    while size > 0 and first:
        first -= 1
        if is_name_line(lines[first]):
            return None
        size -= len(lines[first])
    return None if size else b"".join(lines[first:])


def is_log(data: bytes) -> bool:
    return data.startswith(b'["conversation"')


def name_of(value: object) -> str:
    """Return the name in a "name" line; an empty one if it is not a string."""
    return value if isinstance(value, str) else ""


def read_log(data: bytes, where: Path) -> Recording:
    """Read the recording in a log. Raises InputError naming the first line that is not
    understood."""
    recording: Recording | None = None
    for number, (name, value) in enumerate(_lines(complete_lines(data), where), 1):
        try:
            if recording is None:
                recording = _begin(name, value, where)
            elif name == "name":
                recording.name = name_of(value)
            elif name == "left":
                recording.left = _LEFT.validate_python(value)
            elif name in KINDS:
                recording.add(read_event(name, value))
        except InputError:
            raise
        except (ValidationError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{where}, line {number}: not a recorded {name}") from error
    if recording is None or recording.loaded is None or not recording.turns:
        raise InputError(f"{where}: nothing was recorded in it")
    return recording


def _lines(data: bytes, where: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(data.splitlines(), 1):
        try:
            name, value = parse_json(line)
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}, line {number}: not a line of a conversation") from error
        yield str(name), value


def _begin(name: str, value: dict[str, Any], where: Path) -> Recording:
    if value["log_version"] != LOG_VERSION:
        raise InputError(
            f"{where}: recorded by specchat {value['version']} in another format "
            f"({value['log_version']}, this one reads {LOG_VERSION})"
        )
    created = str(value["created"])
    try:
        datetime.fromisoformat(created)
    except ValueError as error:
        raise InputError(f"{where} is damaged: created: {error}") from error
    return Recording(created, dict(value["settings"]))
