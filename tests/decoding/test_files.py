"""A file is replaced as a whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from decoding.files import remove_partial, write_atomically


@pytest.mark.parametrize(("content", "written"), [("ä\n", "ä\n".encode()), (b"\xff\n", b"\xff\n")])
def test_text_and_bytes_replace_what_was_there(
    tmp_path: Path, content: str | bytes, written: bytes
) -> None:
    path = tmp_path / "new" / "file"
    for _ in range(2):
        write_atomically(path, content)
        assert path.read_bytes() == written and os.listdir(path.parent) == ["file"]


def test_what_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space") as failed:
        write_atomically(path, b"new")
    assert failed.value.filename == str(path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]


def test_what_a_killed_write_leaves_can_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only that: other hidden files stay."""
    (tmp_path / ".mine.tmp").touch()
    with monkeypatch.context() as killed:
        killed.setattr(os, "replace", lambda *paths: None)
        write_atomically(tmp_path / "file", "new")
    assert len(os.listdir(tmp_path)) == 2
    remove_partial(tmp_path)
    assert os.listdir(tmp_path) == [".mine.tmp"]


def test_who_may_read_it_stays_as_it_was(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        for name, private, mode in (("a", True, 0o600), ("b", False, 0o640)):
            write_atomically(tmp_path / name, "new", private=private)
            assert (tmp_path / name).stat().st_mode & 0o777 == mode
            (tmp_path / name).chmod(0o644)
            write_atomically(tmp_path / name, "newer", private=private)
            assert (tmp_path / name).stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(mask)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"
