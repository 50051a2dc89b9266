"""Reads a recorded conversation from a file: exported JSON, or the log itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.history.document import REPLAY_VERSION
from app.history.log import is_log, read_event, read_log
from app.history.recording import Recording
from app.report.document import SCHEMA_VERSION
from decoding.errors import InputError, describe
from decoding.json_text import parse_json, read_bounded
from decoding.params import nested
from decoding.round import TokenFate

Json = dict[str, Any]


def read_recording(path: Path) -> Recording:
    """Read a recording from a file. Raises InputError: one line that says what is wrong with the
    file."""
    try:
        data = read_bounded(path)
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror or error}") from error
    if is_log(data):
        return read_log(data, path)
    try:
        document = parse_json(data)
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    return read_document(document, path)


def read_document(document: Any, where: Path) -> Recording:
    """Read the recording that a document was exported from. Raises InputError."""
    replay = document.get("replay") if isinstance(document, dict) else None
    if not isinstance(replay, dict) or not isinstance(document.get("runs"), list):
        raise InputError(
            f"{where} is not an exported conversation; specchat exports one with ctrl+p, "
            "Export as JSON"
        )
    versions = (document.get("schema_version"), replay.get("replay_version"))
    if versions != (SCHEMA_VERSION, REPLAY_VERSION):
        raise InputError(
            f"{where} was exported by specchat {document.get('version')} in another format "
            f"({versions[0]}.{versions[1]}, this one reads {SCHEMA_VERSION}.{REPLAY_VERSION})"
        )
    if not document["runs"]:
        raise InputError(f"{where}: there is no turn in it")
    try:
        return _recording(document, replay)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{where} is damaged: {place}: {first['msg']}") from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{where} is damaged: {describe(error)}") from error


def _recording(document: Json, replay: Json) -> Recording:
    texts = {int(token): str(text) for token, text in replay["texts"].items()}
    datetime.fromisoformat(str(replay["created"]))  # raises if it is not a time
    recording = Recording(str(replay["created"]), dict(document["settings"]), str(replay["name"]))
    recording.add(read_event("loaded", document | replay))
    for run in document["runs"]:
        lanes = [lane for lane in run["lanes"] if lane["available"]]
        names = [lane["lane"] for lane in lanes]
        count = len(run["prompt_ids"])
        recording.add(read_event("run", run | {"prompt_tokens": count, "lanes": names}))
        for name, record in recording.turns[-1].lanes.items():  # they may change between turns
            overrides = next(lane["overrides"] for lane in lanes if lane["lane"] == name)
            record.info = replace(record.info, overrides=overrides)
        for lane in lanes:
            for kind, value in _lane_events(lane, run, texts):
                recording.add(read_event(kind, {**value, "lane": lane["lane"]}))
        if run["end_seconds"] is not None:
            recording.add(read_event("end", run | {"at": run["end_seconds"]}))
    return recording


def _lane_events(lane: Json, run: Json, texts: dict[int, str]) -> list[tuple[str, Json]]:
    events: list[tuple[str, Json]] = []
    settings = [nested(own) for own in run["settings"]]
    if first := lane["first"]:
        token = {"id": first["id"], "text": first["text"], "fate": TokenFate.FIRST, "round": -1}
        probs = first.get("probs")
        more = {
            "first": token,
            "at": first["seconds"],
            "probs": probs,
            "sampled": first["sampled"],
            "params": _chosen(settings, first.get("settings")),
        }
        known = _tokens(probs["top"]) if probs else set()
        events.append(("prefilled", {**lane, **more, "texts": _only(known, texts)}))
    for record in lane["rounds"]:
        events.append(("round", _step(record, settings, texts)))
    for finish in lane["finishes"]:
        events.append(("finished", finish | {"at": finish["seconds"]}))
    return events


def _step(record: Json, settings: list[Json], texts: dict[int, str]) -> Json:
    pruned = [each["token"] for each in record.get("pruned", ())]
    known = {*record["tokens"], *record["emitted"], *record.get("chosen", ()), *pruned}
    known |= {token for top in record.get("top", ()) for token in _tokens(top)}
    return {
        "round": record,
        "tokens": [
            {"id": token, "text": text, "fate": fate, "round": record["index"], "node": node}
            for token, text, fate, node in record["shown"]
        ],
        "texts": _only(known, texts),
        "params": _chosen(settings, record["settings"]),
        "tree": record["tree"],
        "at": record["start_seconds"] + record["total_seconds"],
    }


def _chosen(settings: list[Json], index: int | None) -> Json | None:
    return None if index is None else settings[index]


def _tokens(top: list[Any]) -> set[int]:
    return {token for token, _, _ in top}


def _only(known: set[int], texts: dict[int, str]) -> dict[int, str]:
    return {token: texts[token] for token in known if token in texts}
