"""The kept conversations: one file each, in the user's data folder."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import BinaryIO

import platformdirs
from filelock import BaseFileLock, FileLock, Timeout
from pydantic import TypeAdapter

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
from app.history.recording import Recording
from decoding.errors import InputError
from decoding.files import write_atomically
from decoding.json_text import parse_json

UNSENT = "unsent.json"
THEME = "theme.txt"  # chosen on the screen
RECENT = 30  # conversations whose prompts are offered again
_UNSENT = TypeAdapter(list[str])
UNDONE = ".undone"  # beside a conversation's log


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


@dataclass(frozen=True, slots=True)
class UndoneTurn:
    """What a turn that was undone has in the log, the number of turns with it, and its question."""

    log: str
    turns: int
    question: str


class Claim(FileLock):
    """A lock that leaves no file behind. The file is removed while the lock is held, which is safe:
    filelock checks after locking that the file still exists."""

    def release(self, force: bool = False) -> None:
        if self.is_locked and (force or self.lock_counter == 1):
            with suppress(OSError):  # where an open file can't be removed
                Path(self.lock_file).unlink()
        super().release(force)


class Store:
    """Lists, opens, renames and deletes conversations. All methods may raise OSError, and changing
    one that another window has open raises InputError."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or platformdirs.user_data_path("specchat") / "conversations"

    @property
    def empty(self) -> bool:
        """Whether there is no kept conversation."""
        return not any(self.folder.glob("*.jsonl"))

    @property
    def unused(self) -> bool:
        """Whether there is also none of which all turns were undone."""
        return self.empty and not any(self.folder.glob(f"*{UNDONE}"))

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

    def remembered(self, name: str) -> str:
        """Return a text that was kept for the next start, or an empty one."""
        path = self.folder / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def remember(self, name: str, text: str) -> None:
        """Keep a text for the next start."""
        if text:
            write_atomically(self.folder / name, text)  # a new file is private
        else:
            (self.folder / name).unlink(missing_ok=True)

    def unsent(self) -> list[str]:
        """Return the questions that waited when the app was left, and last what was in its
        prompt."""
        try:
            return _UNSENT.validate_json(self.remembered(UNSENT))
        except ValueError:  # there is none
            return []

    def keep_unsent(self, texts: Sequence[str]) -> None:
        """Keep unsent questions for the next start."""
        self.remember(UNSENT, json.dumps(texts, ensure_ascii=False) if texts else "")

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
            path.with_suffix(UNDONE).unlink(missing_ok=True)
        return data

    def keep_undone(self, path: Path, turns: Sequence[UndoneTurn]) -> None:
        """Keep turns that were cut off a log, the one that was undone last first. Without any,
        forget those that were kept before."""
        file = path.with_suffix(UNDONE)
        if turns:
            write_atomically(file, _KEPT.dump_json(Kept(_end_of_turns(path), list(turns))))
        else:
            file.unlink(missing_ok=True)

    def undone_whole(self) -> tuple[Path, list[UndoneTurn]] | None:
        """Return the newest conversation of which all turns were undone, and kept: its log, which
        isn't there, and its turns. None if there is no such conversation. Removes what was kept for
        logs that are gone for another reason."""
        for file in sorted(self.folder.glob(f"*{UNDONE}"), reverse=True):
            log = file.with_suffix(".jsonl")
            if not log.exists():
                if turns := self.undone(log):
                    return log, turns
                file.unlink(missing_ok=True)
        return None

    def undone(self, path: Path) -> list[UndoneTurn]:
        """The turns that were kept; none if others have followed since."""
        try:
            kept = _KEPT.validate_json(path.with_suffix(UNDONE).read_bytes())
            return kept.turns if kept.after == _end_of_turns(path) else []
        except (OSError, ValueError):  # there are none
            return []

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


@dataclass(frozen=True, slots=True)
class Kept:
    """Turns that were undone, and the line of the log that they come after."""

    after: str
    turns: list[UndoneTurn]


_KEPT = TypeAdapter(Kept)


def _end_of_turns(path: Path) -> str:
    """The line that ends the last turn, with its time; empty if all turns were cut off."""
    if not path.exists():
        return ""
    lines = complete_lines(path.read_bytes()).splitlines()
    return next((line.decode() for line in reversed(lines) if line.startswith(b'["end"')), "")


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
