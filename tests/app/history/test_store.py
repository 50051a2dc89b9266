"""The folder of conversations: listed, renamed, deleted."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from app.engine.events import RunStarted
from app.history.recorder import Recorder
from app.history.store import Store
from app.history.undone_turns import UndoneTurn
from tests.support.conversation import SETTINGS, turn


def test_an_empty_store(store: Store) -> None:
    assert store.entries() == []


def test_the_newest_comes_first(store: Store, recorder: Recorder) -> None:
    for age, prompt in enumerate(("new", "older", "oldest")):
        recorder.begin()
        recorder.record(turn(0, prompt, 1.0, 0))
        assert recorder.path
        os.utime(recorder.path, (1e9 - age, 1e9 - age))
    assert [entry.title for entry in store.entries()] == ["new", "older", "oldest"]


def test_a_name_stays(store: Store, kept: Path) -> None:
    os.utime(kept, (1e9, 1e9))
    (before,) = store.entries()
    store.rename(kept, "Numbers")
    (entry,) = store.entries()
    assert (entry.title, entry.turns, entry.changed) == ("Numbers", 1, before.changed)
    assert store.open(kept).title == "Numbers"
    recorder = Recorder(store, SETTINGS)
    recorder.go_on(kept, store.size(kept))
    recorder.record(turn(1, "And on?", 9.0, 1))
    (entry,) = store.entries()
    assert (entry.title, entry.turns) == ("Numbers", 2)


def test_a_name_is_given_while_it_is_recorded(store: Store, recorder: Recorder) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    assert recorder.path
    store.rename(recorder.path, "Numbers")
    recorder.record(turn(1, "And on?", 2.0, 1))
    found = store.open(recorder.path)
    assert (found.title, len(found.turns)) == ("Numbers", 2)


def test_a_name_is_no_part_of_what_is_cut_off(store: Store, recorder: Recorder) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    assert recorder.path
    path, one = recorder.path, recorder.size
    store.rename(path, "Numbers")
    recorder.record(turn(1, "And on?", 2.0, 1))
    assert recorder.size == store.size(path) > one
    two = recorder.size
    cut = store.cut(path, one)
    found = store.open(path)
    assert (found.title, len(found.turns), store.size(path)) == ("Numbers", 1, one)
    with store.append_to(path) as file:
        file.write(cut)
    found = store.open(path)
    assert (found.title, len(found.turns), store.size(path)) == ("Numbers", 2, two)


def test_turns_that_were_undone_go_with_their_conversation(
    store: Store, recorder: Recorder
) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    assert recorder.path
    path = recorder.path
    cut = UndoneTurn("a line\n", 2, "And on?")
    store.undone.keep(path, [cut])
    store.rename(path, "Numbers")
    assert store.undone.of(path) == [cut] and len(store.entries()) == 1
    file = path.with_suffix(".undone")
    assert file.stat().st_mode & 0o077 == 0  # it is private
    recorder.record(turn(1, "Something else", 9.0, 1))
    assert store.undone.of(path) == []
    file.write_bytes(b"[broken")
    assert store.undone.of(path) == []
    recorder.close()
    store.delete(path)
    assert not file.exists()


def test_of_conversations_that_were_undone_whole_the_newest_is_found(
    store: Store, recorder: Recorder
) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    assert recorder.path
    cut = UndoneTurn("a line\n", 1, "Count!")
    store.undone.keep(recorder.path, [cut])
    latest = recorder.path.rename(store.folder / "9999-3.jsonl")
    removed = recorder.path.with_suffix(".undone").rename(latest.with_suffix(".undone"))
    latest.unlink()  # by hand: the turn before those that were undone is gone
    for name in ("9999-2", "9999-1"):
        store.undone.keep(store.folder / f"{name}.jsonl", [cut])
    assert store.undone.newest_whole() == (store.folder / "9999-2.jsonl", [cut])
    assert not removed.exists()


def test_only_what_is_cut_off_is_read(
    store: Store, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    assert recorder.path
    path, one = recorder.path, recorder.size
    store.rename(path, "Numbers")
    before = path.read_bytes()
    recorder.record(turn(1, "And on?", 2.0, 1))
    whole = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.delattr(Path, "read_bytes")
        assert before + store.cut(path, one, recorder.size) == whole
    assert path.read_bytes() == before and store.size(path) == one


def test_what_does_not_end_in_whole_lines_is_cut_off_as_a_whole(
    store: Store, recorder: Recorder
) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    assert recorder.path
    path, one = recorder.path, recorder.size
    recorder.record(turn(1, "And on?", 2.0, 1))
    with path.open("ab") as file:
        file.write(b'["run", {"at"')  # another program's, or of a full disk
    store.cut(path, one, recorder.size)
    assert path.stat().st_size == store.size(path) == one


def test_another_answer_is_no_turn_of_its_own(store: Store, recorder: Recorder) -> None:
    recorder.record(turn(0, "Count!", 1.0, 0))
    run, *others = turn(1, "Count!", 2.0, 0)
    assert isinstance(run, RunStarted)
    recorder.record([replace(run, replaces=0), *others])
    (entry,) = store.entries()
    assert (entry.turns, entry.prompts) == (1, ("Count!",))
    assert recorder.path and len(store.open(recorder.path).turns) == 1


def test_a_cut_line_does_not_swallow_the_name(store: Store, kept: Path) -> None:
    with kept.open("ab") as file:
        file.write(b'["run", {"at"')
    store.rename(kept, "Numbers")
    assert store.open(kept).title == "Numbers"


def test_the_prompts_of_all_conversations_the_newest_last(store: Store, recorder: Recorder) -> None:
    for age, prompt in enumerate(("new", "old")):
        recorder.begin()
        recorder.record(turn(0, prompt, 1.0, 0) + turn(1, f"{prompt} too", 2.0, 1))
        assert recorder.path
        os.utime(recorder.path, (1e9 - age, 1e9 - age))
    assert store.prompts() == ["old", "old too", "new", "new too"]


def test_delete(store: Store, kept: Path) -> None:
    store.delete(kept)
    store.delete(kept)  # somebody else was faster
    assert store.entries() == []


def test_restoring_can_be_tried_again_after_a_full_disk(
    store: Store, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry,) = store.entries()
    content = store.delete(kept)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space"):
            store.restore(entry, content)
    store.restore(entry, content)
    assert store.entries() == [entry] and kept.stat().st_mode & 0o077 == 0
    with pytest.raises(FileExistsError):
        store.restore(entry, b"another")


def test_names_of_files_are_never_used_twice(store: Store, kept: Path) -> None:
    now = datetime(2026, 11, 21, 10, 30, 5)
    assert (store.new_file(now).name, store.new_file(now).name) == (
        "2026-11-21-103005.jsonl",
        "2026-11-21-103005-2.jsonl",
    )


def test_a_claim_leaves_no_file_behind(store: Store, kept: Path) -> None:
    outer = store.claim(kept)
    store.rename(kept, "Another")
    lock = store.folder / ".open" / f"{kept.stem}.lock"
    assert lock.exists()
    outer.release()
    assert not lock.exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_only_the_user_can_read_what_was_said(tmp_path: Path) -> None:
    path = Store(tmp_path).new_file(datetime.now())
    assert path.stat().st_mode & 0o777 == 0o600
