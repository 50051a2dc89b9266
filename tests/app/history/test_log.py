"""The log on disk keeps its form: conversations of earlier versions are read, and go on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.events import RunRejected
from app.history.document import conversation_document
from app.history.log import event_line, read_event
from app.history.parse_document import read_recording
from decoding.errors import InputError
from tests.support.conversation import LOADED, turn

OLD = Path(__file__).with_name(
    "old_log.jsonl"
)  # of 0.1.0 before strategies and fields were renamed


def test_an_old_log_is_read() -> None:
    recording = read_recording(OLD)
    written = [event_line(event) for event in recording.turns[0].events()]
    assert written == [event_line(event) for event in turn(0, "Count!", 1.0, 0)]
    assert [(lane.strategy, lane.overrides) for lane in recording.lanes] == [
        ("ar", {}),
        ("draft", {"gamma": 2}),
        ("medusa", {}),
        ("draft-only", {}),
    ]


def test_lines_are_written_as_before() -> None:
    _, old_loaded, *lines = OLD.read_bytes().splitlines(keepends=True)
    written = [event_line(event) for event in turn(0, "Count!", 1.0, 0)]
    assert sorted(filter(None, written)) == sorted(lines)
    line = event_line(LOADED)
    assert line
    old, new = json.loads(old_loaded)[1], json.loads(line)[1]
    del old["prompts"]  # examples, no longer written
    assert new == old | {"lanes": old["lanes"][:3]}


def test_a_renamed_field_keeps_its_name_on_disk() -> None:
    refused = RunRejected("Hi", "too long", suggests_new_conversation=True)
    line = event_line(refused)
    assert line and b'"begin_anew":true' in line
    assert read_event(*json.loads(line)) == refused


def test_the_exported_lanes_keep_their_keys() -> None:
    lanes = conversation_document(read_recording(OLD))["replay"]["lanes"]
    assert lanes[1]["pins"] == {"gamma": 2} and "overrides" not in lanes[1]


@pytest.mark.parametrize("wrong", ['{"gamm": 2}', '{"gamma": -1}', '{"gamma": "two"}'])
def test_a_lanes_own_settings_are_settings(tmp_path: Path, wrong: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(OLD.read_text().replace('{"gamma":2}', wrong))
    with pytest.raises(InputError, match="line 2: not a recorded loaded"):
        read_recording(log)
