"""The log on disk keeps its form, which `log.jsonl` has."""

from __future__ import annotations

from pathlib import Path

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
