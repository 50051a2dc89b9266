"""What happens is in the file at once, and a crash costs a half-written line at most."""

from __future__ import annotations

import errno
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from app.engine.events import (
    Finished,
    LanesChanged,
    LoadFailed,
    Loading,
    RoundFinished,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.history.document import conversation_document
from app.history.parse_document import read_document
from app.history.recorder import Recorder
from app.history.recording import RecordedTurn
from app.history.store import Store
from decoding.errors import InputError
from tests.support.conversation import LANES, LOADED, SETTINGS, bare, events, turn


def told(turn: RecordedTurn) -> list[object]:
    return [bare(event) for event in turn.events()]


def test_everything_comes_back(store: Store, recorder: Recorder) -> None:
    for event in events():  # a drain may bring one event or many
        recorder.record([event])
    assert recorder.path
    found = store.open(recorder.path)
    assert found.settings == SETTINGS and found.loaded == LOADED
    assert [told(each) for each in found.turns] == [
        turn(0, "Count!", 200.0, 0),  # the first answers were replaced
        turn(1, "And on?\nPlease.", 7.0, 1),
    ]
    times = [event.at for event in found.turns[0].events()]  # type: ignore[union-attr]
    assert times[0] == 200.0 and times == sorted(times)


def test_an_answer_that_was_drawn_anew_replaces_the_last_one(
    store: Store, recorder: Recorder
) -> None:
    started, *rest = turn(1, "And on?", 9.0, 5)
    assert isinstance(started, RunStarted)
    recorder.record([LOADED, *turn(0, "Count!", 1.0, 0), *turn(1, "And on?", 3.0, 1)])
    recorder.record([replace(started, replaces=1), *rest])
    assert recorder.path
    found = store.open(recorder.path)
    assert [each.started.run for each in found.turns] == [0, 5]
    assert [each.run for each in found.past()] == [0, 5]


@pytest.mark.parametrize("crash", [False, True])
def test_an_answer_that_was_stopped_and_goes_on_is_one_answer(
    store: Store, recorder: Recorder, crash: bool
) -> None:
    whole: Any = turn(0, "Count!", 1.0, 0)
    started, first, step, last, *others, end = whole
    ended = others.pop(0)
    stop: list[Any] = [Finished("ar", "stopped", at=1.035), RunFinished(0, True, at=1.036)]
    recorder.record([LOADED, started, first, step, *others, *stop])
    assert recorder.path
    assert store.open(recorder.path).turns[0].stopped
    rest = [
        replace(last, at=7.0),
        *([] if crash else [replace(ended, at=7.01), replace(end, at=7.02)]),
    ]
    recorder.record([RunContinued(0, ("ar",), at=6.0), *rest])
    recorder.record([replace(ended, at=9.0)] if not crash else [])  # outside of a turn
    found = store.open(recorder.path)
    exported = read_document(json.loads(json.dumps(conversation_document(found))), Path("x"))
    for recording in (found, exported):
        (made,) = recording.turns
        lane = made.lanes["ar"]
        assert lane.ids == [4, 7, 5] and made.stopped is crash
        assert lane.finished == ("stopped" if crash else "stop")
        ends = [e.reason for e in made.events() if isinstance(e, Finished) and e.lane == "ar"]
        assert ends == ["stopped", "stopped" if crash else "stop"]


def test_it_goes_on_after_what_it_was_though_the_clock_started_anew(
    store: Store, recorder: Recorder
) -> None:
    whole: Any = turn(0, "Count!", 1000.0, 0)
    started, first, step, last, ended, *_ = whole
    stop: list[Any] = [Finished("ar", "stopped", at=1000.04), RunFinished(0, True, at=1000.05)]
    recorder.record([LOADED, replace(started, lanes=("ar",)), first, step, *stop])
    for begun in (7.0, 3.0):  # the machine was started again, twice
        recorder.record([RunContinued(0, ("ar",), at=begun), replace(last, at=begun + 0.1)])
        recorder.record([replace(ended, at=begun + 0.12), RunFinished(0, False, at=begun + 0.2)])
    assert recorder.path
    found = store.open(recorder.path)
    exported = read_document(json.loads(json.dumps(conversation_document(found))), Path("x"))
    for recording in (found, exported):
        told: Any = [*recording.turns[0].events()]
        order = [type(event) for event in told]
        went_on = [RoundFinished, Finished]
        assert order == [*map(type, whole[:3]), Finished, *went_on, *went_on, RunFinished]
        times = [event.at - told[0].at for event in told]
        expected = [0.0, 0.02, 0.03, 0.04, 0.15, 0.17, 0.35, 0.37, 0.45]
        assert times == pytest.approx(expected)
    assert found.turns[0].ended == exported.turns[0].ended


def test_lanes_that_change_in_the_middle_of_a_conversation(
    store: Store, recorder: Recorder
) -> None:
    first, second = turn(0, "Count!", 1.0, 0), turn(1, "And on?", 5.0, 1)
    ar, draft, _medusa = LANES
    third = replace(ar, name="ar#2")
    recorder.record(
        [LOADED, *first[:3], LanesChanged((ar, replace(draft, overrides={"gamma": 3}), third))]
    )
    recorder.record([*first[3:], *second])
    assert recorder.path
    found = store.open(recorder.path)
    assert [told(each) for each in found.turns] == [first, second]
    exported = read_document(json.loads(json.dumps(conversation_document(found))), Path("x"))
    for recording in (found, exported):
        assert [lane.name for lane in recording.lanes] == ["ar", "draft:gamma=2", "ar#2"]
        overrides = [each.lanes["draft:gamma=2"].info.overrides for each in recording.turns]
        assert overrides == [{"gamma": 2}, {"gamma": 3}]
        assert recording.turns[1].answers == found.turns[1].answers


@pytest.mark.parametrize("failed", [False, True])
def test_other_models_are_in_the_heading_of_what_follows(
    store: Store, recorder: Recorder, failed: bool
) -> None:
    recorder.record([LOADED])
    recorder.begin({"target": "/other"})
    recorder.begin()  # while they are loaded
    recorder.record([LOADED, *([LoadFailed("no folder /other", kept=True)] if failed else [])])
    recorder.record(turn(0, "One", 1.0, 0))
    assert recorder.path
    assert store.open(recorder.path).settings["target"] == (None if failed else "/other")


def test_a_file_begins_with_the_first_turn(store: Store, recorder: Recorder) -> None:
    recorder.record([Loading("target", 0.5), LOADED])
    recorder.record([RunRejected("too long", "no")])
    assert recorder.path is None and not store.folder.exists()
    recorder.record(turn(0, "One", 1.0, 0))
    first = recorder.path
    recorder.begin()
    recorder.record([RunRejected("too long", "no")])
    assert recorder.path is None
    recorder.record(turn(0, "Two", 9.0, 0))
    assert first and recorder.path and first != recorder.path
    assert {entry.title for entry in store.entries()} == {"One", "Two"}


def test_one_write_a_drain(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr(recorder, "_write", written.append)
    recorder.record(turn(0, "Count!", 1.0, 0))
    recorder.record([])
    assert len(written) == 1 and written[0].count(b"\n") == 2 + 10


@pytest.mark.parametrize("lost", [1, 20, 2000])
def test_a_line_that_was_cut_short_is_left_out(store: Store, recorder: Recorder, lost: int) -> None:
    whole = turn(0, "Count!", 1.0, 0)
    recorder.record(whole)
    path = recorder.path
    assert path
    os.truncate(path, path.stat().st_size - lost)  # the power went
    found = store.open(path)
    (cut,) = found.turns
    assert cut.stopped and isinstance(list(cut.events())[-1], RunFinished)
    known = [event for event in told(cut) if event in whole]
    assert known == whole[: len(known)] and (len(known) == len(whole) - 1 or lost > 100)

    again = Recorder(store, SETTINGS)  # another day
    again.record([LOADED])
    again.go_on(path, store.size(path))
    again.record(turn(1, "And on?", 3.0, 1))
    assert [told(each) for each in store.open(path).turns][1] == turn(1, "And on?", 3.0, 1)
    assert again.size == store.size(path)


def test_a_long_log_is_not_read_to_go_on_with_it(
    store: Store, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, size = Recorder(store, SETTINGS), store.size(kept)
    with monkeypatch.context() as patch:
        patch.delattr(Path, "read_bytes")
        recorder.go_on(kept, size)
        recorder.record(turn(1, "And on?", 9.0, 1))
    assert len(store.open(kept).turns) == 2 and recorder.size == store.size(kept)


def test_a_turn_that_broke_is_no_turn(store: Store, recorder: Recorder) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    begun, first = turn(1, "And on?", 2.0, 1)[:2]
    recorder.record([begun, first, RunRejected("And on?", "out of memory")])
    assert recorder.path and len(store.open(recorder.path).turns) == 1
    for at in (3.0, 4.0):  # the engine has counted the broken one; this is asked twice
        recorder.record(turn(2, "Further", at, 2))
    turns = store.open(recorder.path).turns
    assert [(each.started.turn, each.started.prompt) for each in turns] == [
        (0, "Count!"),
        (1, "Further"),
    ]
    assert store.entries()[0].turns == 2


def test_a_question_that_never_began_leaves_nothing(recorder: Recorder) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    before = recorder.size
    recorder.record([RunRejected("And on?", "no lane is on")])
    assert recorder.size == before


def test_other_models_may_go_on(store: Store, kept: Path) -> None:
    recorder = Recorder(store, SETTINGS)
    other = LOADED.lanes[0]
    recorder.record([type(LOADED)("other", "cuda:0", "bfloat16", 1, 64, (other,))])
    recorder.go_on(kept, store.size(kept))
    recorder.record([RunStarted(1, 1, "More", 2, 42, ("ar",)), RunFinished(1, False)])
    found = store.open(kept)
    assert found.loaded and found.loaded.target == "other"
    assert list(found.turns[0].lanes) == ["ar", "draft:gamma=2"]
    assert list(found.turns[1].lanes) == ["ar"]


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    recorder = Recorder(Store(tmp_path / "file" / "conversations"), SETTINGS)
    recorder.record([LOADED, *turn(0, "Count!", 1.0, 0)])
    assert recorder.problem and "not saved" in recorder.problem


def test_after_a_failed_write_it_goes_on_in_memory(store: Store, recorder: Recorder) -> None:
    resource = pytest.importorskip("resource")
    recorder.record([LOADED, *turn(0, "Count!", 1.0, 0)])
    saved, second = recorder.path, turn(1, "And on?", 20.0, 1)
    assert saved
    whole = saved.read_bytes()
    recorder.record(second[:4])
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (recorder.size + 9, room[1]))  # a part of a line
    try:
        recorder.record(second[4:5])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, room)
    problem = recorder.problem
    assert problem == "This conversation is not saved from here on: File too large"
    recorder.record(second[5:])
    assert recorder.path and recorder.path != saved and recorder.problem is problem
    found = recorder.store_of(recorder.path).open(recorder.path)
    assert [list(each.answers) for each in found.turns] == [["ar", "draft:gamma=2"]] * 2
    assert saved.read_bytes() == whole and len(store.entries()) == 1


class Gone:
    """A file on a disk that is gone."""

    def write(self, data: bytes) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def close(self) -> None:
        pass


def lose_the_disk(recorder: Recorder, patch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    recorder._file = Gone()  # type: ignore[assignment]
    patch.setattr(Store, "cut", gone)
    patch.setattr(Path, "read_bytes", gone)


def test_where_the_disk_is_gone_it_goes_on_in_memory_from_this_turn(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.record([LOADED, *turn(0, "Count!", 1.0, 0)])
    second = turn(1, "And on?", 20.0, 1)
    recorder.record(second[:4])
    fewer = LanesChanged(LOADED.lanes[:1])  # the next turn has one lane less
    with monkeypatch.context() as patch:
        lose_the_disk(recorder, patch)
        recorder.record([fewer, *second[4:]])
    assert recorder.problem and recorder.path
    store = recorder.store_of(recorder.path)
    (found,) = store.open(recorder.path).turns
    assert (found.started.prompt, list(found.answers)) == ("And on?", ["ar", "draft:gamma=2"])
    begun, *rest, ended = turn(2, "Further!", 40.0, 2)
    assert isinstance(begun, RunStarted)
    recorder.record([replace(begun, lanes=("ar",)), *rest[:4], ended])
    assert [len(each.lanes) for each in store.open(recorder.path).turns] == [2, 1]
    assert recorder.size == store.size(recorder.path)


def test_of_an_answer_that_went_on_where_the_disk_is_gone_nothing_is_left(
    store: Store, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning was in the file, which another session has written."""
    recorder.record([LOADED, *turn(0, "Count!", 1.0, 0)])
    path, size = recorder.path, recorder.size
    assert path
    recorder.go_on(path, size)
    first, *_, last = turn(0, "Count!", 1.0, 0)
    assert isinstance(first, RunStarted) and isinstance(last, RunFinished)
    recorder.record([RunContinued(first.run, first.lanes, at=20.0)])
    with monkeypatch.context() as patch:
        lose_the_disk(recorder, patch)
        recorder.record([replace(last, at=30.0)])
    recorder.record(turn(1, "And on?", 40.0, 1))
    assert recorder.path
    (found,) = recorder.store_of(recorder.path).open(recorder.path).turns
    assert found.started.prompt == "And on?"


def test_undo_in_a_conversation_with_a_name_where_the_disk_is_full(
    store: Store, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    recorder.record([LOADED, *turn(0, "Count!", 1.0, 0)])
    assert recorder.path
    store.rename(recorder.path, "Numbers")
    one = recorder.size
    recorder.close()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "append_to", full)
        recorder.record(turn(1, "And on?", 20.0, 1))
    path = recorder.path
    assert recorder.size == recorder.store_of(path).size(path)
    recorder.cut(path, one)
    found = recorder.store_of(path).open(path)
    assert (found.title, len(found.turns), recorder.size) == ("Numbers", 1, one)


def test_a_name_that_comes_back_is_written_before_the_turn_is_gone(
    store: Store, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.record([LOADED, *turn(0, "Count!", 1.0, 0)])
    path, one = recorder.path, recorder.size
    assert path
    recorder.record(turn(1, "And on?", 20.0, 1))
    store.rename(path, "Numbers")
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.delattr(os, "replace")  # the power goes
        with pytest.raises(AttributeError):
            recorder.cut(path, one)
    assert path.read_bytes() == before
    recorder.cut(path, one)
    recorder.record(turn(1, "Once more?", 30.0, 1))  # into the new file
    found = store.open(path)
    prompts = [each.started.prompt for each in found.turns]
    assert (found.title, prompts) == ("Numbers", ["Count!", "Once more?"])
    assert recorder.size == store.size(path)


def test_broken_files_are_named_and_passed_over(store: Store, kept: Path) -> None:
    entries = store.entries()
    whole = kept.read_bytes()
    for data, line in (
        (b"no JSON\n", 1),
        (b'["run", {"turn": 0, "prompt": "x"}]\n', 1),
        (whole.replace(b'"parents":[-1', b'"parents":["x"'), 5),
    ):
        broken = store.folder / "broken.jsonl"
        broken.write_bytes(data)
        with pytest.raises(InputError, match=f"broken.jsonl, line {line}: "):
            store.open(broken)
    for data in (b"no JSON\n", b'["run", {"prompt": "x"}]\n', b'["run", 1]\n', b'["run"\n', b""):
        broken.write_bytes(data)
        assert store.entries() == entries
    broken.write_bytes(whole.replace(b'"log_version": 1', b'"log_version": 99'))
    with pytest.raises(InputError, match="another format"):
        store.open(broken)


def test_writing_costs_next_to_nothing(recorder: Recorder) -> None:
    """A drain of four busy lanes brings about thirty rounds; 15 drains a second."""
    import time

    steps = [event for event in events() if isinstance(event, RoundFinished)] * 5
    recorder.record(turn(0, "Count!", 1.0, 0)[:6])
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        recorder.record(steps)
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.02


HOLDER = """
import sys
from dataclasses import replace
from pathlib import Path
from app.history.store import Store
held = Store(Path(sys.argv[1]).parent).claim(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_another_window_that_has_it_open_is_not_disturbed(store: Store, kept: Path) -> None:
    window = Popen([sys.executable, "-c", HOLDER, str(kept)], stdin=PIPE, stdout=PIPE, text=True)
    assert window.stdin and window.stdout and window.stdout.readline() == "held\n"
    before, recorder = kept.read_bytes(), Recorder(store, SETTINGS)
    acts = (
        lambda: recorder.go_on(kept, 0),
        lambda: store.delete(kept),
        lambda: store.rename(kept, "Mine"),
    )
    for act in acts:
        with pytest.raises(InputError, match="open in another window"):
            act()
    assert kept.read_bytes() == before and recorder.path is None
    window.kill()  # whatever its end, it holds nothing then
    window.communicate()
    recorder.go_on(kept, store.size(kept))
    assert recorder.path == kept
