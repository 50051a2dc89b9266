"""The log on disk keeps its form, which `log.jsonl` has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.history.log import event_line
from app.history.parse_document import read_recording
from decoding.errors import InputError
from tests.support.conversation import LOADED, turn

LOG = Path(__file__).with_name("log.jsonl")


def test_a_log_is_read() -> None:
    recording = read_recording(LOG)
    written = [event_line(event) for event in recording.turns[0].events()]
    assert written == [event_line(event) for event in turn(0, "Count!", 1.0, 0)]
    assert [(lane.strategy, lane.overrides) for lane in recording.lanes] == [
        ("ar", {}),
        ("draft", {"gamma": 2}),
        ("medusa", {}),
    ]


def test_lines_are_written_as_before() -> None:
    _, loaded, *lines = LOG.read_bytes().splitlines(keepends=True)
    written = [event_line(event) for event in turn(0, "Count!", 1.0, 0)]
    assert sorted(filter(None, written)) == sorted(lines)
    assert event_line(LOADED) == loaded


@pytest.mark.parametrize("wrong", ['{"gamm": 2}', '{"gamma": -1}', '{"gamma": "two"}'])
def test_a_lanes_own_settings_are_settings(tmp_path: Path, wrong: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(LOG.read_text().replace('{"gamma":2}', wrong))
    with pytest.raises(InputError, match="line 2: not a recorded loaded"):
        read_recording(log)


@pytest.mark.parametrize(
    "damage",
    [
        lambda event, record: record["parents"].__setitem__(1, 7),
        lambda event, record: record.update(accepted=[99]),
        lambda event, record: record.update(accepted=[2, 1]),
        lambda event, record: record.update(tokens=[]),
        lambda event, record: record.update(emitted=[]),
        lambda event, record: record.update(tested=9),
        lambda event, record: record.update(gamma=10**9),
        lambda event, record: record.update(total_seconds=float("nan")),
        lambda event, record: record.update(verify_seconds=-1.0),
        lambda event, record: record.update(p=[0.5]),
        lambda event, record: event.update(at=float("inf")),
    ],
)
def test_a_round_that_cannot_be_is_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any], dict[str, Any]], None]
) -> None:
    """The screen and the statistics rely on what they read."""
    lines = LOG.read_text().splitlines()
    index, event = next(
        (index, event)
        for index, (name, event) in enumerate(map(json.loads, lines))
        if name == "round" and event["round"]["accepted"]
    )
    damage(event, event["round"])
    lines[index] = json.dumps(["round", event])
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=f"line {index + 1}: not a recorded round"):
        read_recording(log)
