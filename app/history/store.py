"""The kept conversations: one file each, in the user's data folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import BinaryIO

import platformdirs
from filelock import BaseFileLock, Timeout

from app.history.log import (
    complete_lines,
    cut_log,
    is_name_line,
    last_lines,
    name_line,
    name_of,
    read_log,
    size_of,
)
from app.history.next_start import NextStart
from app.history.recording import Recording
from app.history.undone_turns import UndoneTurns
from decoding.errors import InputError
from decoding.files import Claim, write_atomically
from decoding.json_text import parse_json

RECENT = 30  # conversations whose prompts are offered again


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation in a list."""

    path: Path
    title: str  # the name that it was given, else its first prompt
    turns: int
    changed: datetime
    prompts: tuple[str, ...] = ()
    name: str = ""  # empty if it was given none


@dataclass(frozen=True, slots=True)
class Renaming:
    """Another name for a conversation; an empty one is none."""

    path: Path
    before: str
    after: str


class Store:
    """Lists, opens, renames and deletes conversations. Beside them are the turns that were
    `undone`, and what is kept for the `next_start`. All methods may raise OSError, and changing a
    conversation that another window has open raises InputError."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or platformdirs.user_data_path("specchat") / "conversations"
        self.undone = UndoneTurns(self.folder)
        self.next_start = NextStart(self.folder)

    @property
    def empty(self) -> bool:
        """Whether there is no kept conversation."""
        return not any(self.folder.glob("*.jsonl"))

    @property
    def unused(self) -> bool:
        """Whether there is also none of which all turns were undone."""
        return self.empty and self.undone.empty

    def new_file(self, now: datetime) -> Path:
        """Create an empty file whose name sorts by time. Creating it here keeps two windows that
        start in the same second from using the same one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = now.strftime("%Y-%m-%d-%H%M%S")
        for number in count(1):
            path = self.folder / (f"{stem}.jsonl" if number == 1 else f"{stem}-{number}.jsonl")
            with suppress(FileExistsError):
                path.touch(0o600, exist_ok=False)  # conversations are private
                return path
        raise AssertionError

    def claim(self, path: Path) -> BaseFileLock:
        """Lock a conversation until the lock is released or this process ends. Raises InputError if
        another window holds it. Within one process a claim may be repeated."""
        file = self.folder / ".open" / f"{path.stem}.lock"
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = Claim(file, timeout=0, is_singleton=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise InputError("That conversation is open in another window") from error
        return lock

    def entries(self) -> list[Entry]:
        """List all conversations, newest first. Other files, and logs without a turn, are
        skipped."""
        return _entries(self.folder.glob("*.jsonl"))

    def entry(self, path: Path) -> Entry:
        """Return a conversation as it is listed. Raises InputError if nothing was recorded in it,
        and OSError."""
        return _entry(path)

    def prompts(self) -> list[str]:
        """List the prompts of the newest conversations, the last one at the end."""
        newest = sorted(self.folder.glob("*.jsonl"))[-RECENT:]  # the names begin with the time
        return [prompt for entry in reversed(_entries(newest)) for prompt in entry.prompts]

    def append_to(self, path: Path) -> BinaryIO:
        """Open a conversation's file to append to it, without buffering. A last line that was never
        finished is cut off."""
        path.touch(0o600)  # of a conversation that was cut to nothing there is none
        file = path.open("a+b", buffering=0)
        _cut_unfinished_line(file)
        return file

    def size(self, path: Path) -> int:
        """Return the `size_of` a conversation's log."""
        return size_of(path.read_bytes())

    def cut(self, path: Path, size: int, present: int | None = None) -> bytes:
        """Shorten the file to an earlier `size`, and return what was cut off; its name stays. An
        empty file is not kept. Where its `present` size is known, only what is cut off is read: a
        log may have many megabytes."""
        if size and present is not None and (cut := _end(path, size, present)) is not None:
            os.truncate(path, path.stat().st_size - len(cut))
            return cut
        data = path.read_bytes()
        kept, cut = cut_log(data, size)
        if not kept:
            path.unlink()
        elif data.startswith(kept):
            os.truncate(path, len(kept))  # which a full disk allows
        else:
            write_atomically(path, kept)  # with a name that was given later
        return cut

    def open(self, path: Path) -> Recording:
        """Read a conversation. Raises InputError if it is not a log."""
        return read_log(path.read_bytes(), path)

    def rename(self, path: Path, name: str) -> None:
        """Rename it without changing its position in the list; an empty name takes its name
        away."""
        times = path.stat()
        with self._held(path), path.open("r+b") as file:
            _cut_unfinished_line(file)
            file.seek(0, os.SEEK_END)
            file.write(name_line(name))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def delete(self, path: Path) -> bytes:
        """Delete it, and return what was in it; nothing if somebody else was faster."""
        with self._held(path):
            data = path.read_bytes() if path.exists() else b""
            path.unlink(missing_ok=True)
            self.undone.forget(path)
        return data

    def restore(self, entry: Entry, data: bytes) -> None:
        """Undo a deletion, also of its position in the list."""
        self.bring_back(entry.path, data)
        os.utime(entry.path, (entry.changed.timestamp(),) * 2)

    def bring_back(self, path: Path, data: bytes) -> None:
        """Write a log that is gone."""
        if path.exists():
            raise FileExistsError(errno.EEXIST, "another window has brought it back")
        write_atomically(path, data)  # after a full disk it can be tried again

    @contextmanager
    def _held(self, path: Path) -> Iterator[None]:
        """A claim as a context: `with self.claim(path)` would acquire the lock twice."""
        lock = self.claim(path)
        try:
            yield
        finally:
            lock.release()


def _end(path: Path, size: int, present: int) -> bytes | None:
    """What follows an earlier size of a log of a `present` one; None if a name was given since."""
    with path.open("rb") as file:
        file.seek(size)  # or later, after lines that name it
        return last_lines(file.read(), present - size)


def _cut_unfinished_line(file: BinaryIO) -> None:
    """Cut off a last line that a crash has left without its end. Where there is none, only the last
    byte is read: a log may have many megabytes."""
    if file.seek(0, os.SEEK_END):
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(len(complete_lines(file.read())))


def _entries(paths: Iterable[Path]) -> list[Entry]:
    found = []
    for path in paths:
        with suppress(Exception):  # deleted meanwhile, or not one of ours: it may hold anything
            found.append(_entry(path))
    return sorted(found, key=lambda entry: entry.changed, reverse=True)


def _entry(path: Path) -> Entry:
    """Reads only the lines that a list needs: a log may have many megabytes."""
    title, name, ended = "", "", True
    runs: list[int] = []
    prompts: list[str] = []
    with path.open("rb") as file:
        for line in file:
            if line.startswith(b'["run"') and line.endswith(b"\n"):
                _, run = parse_json(line)
                title, ended = title or str(run["prompt"]), False
                if runs and runs[-1] in (run["run"], run.get("replaces")):
                    runs[-1] = run["run"]  # the same draws again, or another answer
                else:
                    runs.append(run["run"])
                    prompts.append(str(run["prompt"]))
            elif line.startswith(b'["end"'):
                ended = True
            elif line.startswith(b'["refused"') and not ended:
                runs.pop()
                prompts.pop()
            elif is_name_line(line) and line.endswith(b"\n"):
                name = name_of(parse_json(line)[1])
    if not runs:
        raise InputError(f"{path}: nothing was recorded in it")
    changed = datetime.fromtimestamp(path.stat().st_mtime)
    return Entry(path, name or title, len(runs), changed, tuple(prompts), name)
