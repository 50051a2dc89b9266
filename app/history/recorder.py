"""Appends a conversation to its log as it happens, with at most one write per drain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from filelock import BaseFileLock

from app.engine.events import (
    Event,
    LanesChanged,
    Loaded,
    LoadFailed,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
    Timed,
)
from app.history.log import cut_log, event_line, header, left_line
from app.history.recording import LeftWith, Recording
from app.history.session_store import SessionStore


class LogStore(Protocol):
    """Where logs are: on disk (`Store`), or in memory (`SessionStore`). May raise OSError."""

    def new_file(self, now: datetime) -> Path: ...

    def claim(self, path: Path) -> BaseFileLock | None: ...

    def append_to(self, path: Path) -> BinaryIO: ...

    def size(self, path: Path) -> int: ...

    def cut(self, path: Path, size: int, present: int | None = None) -> bytes: ...

    def open(self, path: Path) -> Recording: ...


class Recorder:
    """Takes every event that the screen takes. A conversation's file is created with its first
    turn.

    Events are written without buffering, so that a crash of the app loses none. After a failed
    write, `problem` says why, and the conversation goes on in memory: undo and exports need it.
    Where its file can't be read any more, it goes on there from the last turn.
    """

    def __init__(self, store: LogStore, settings: dict[str, Any]) -> None:
        self.store = store
        self.path: Path | None = None
        self.problem: str | None = None
        self.size = 0  # of the file, as `LogStore.size`
        self._settings = self._before = settings
        self._loaded: Loaded | None = None
        self._loaded_written = False  # into this file
        self._headed = self._in_turn = False
        self._turn_at = 0  # the size of the file before the last turn
        self._turn: list[bytes] = []  # its lines, after one of the models; empty if unknown
        self._unsaved = SessionStore()  # conversations that could not be written
        self._file: BinaryIO | None = None
        self._lock: BaseFileLock | None = None

    def record(self, events: Iterable[Event]) -> None:
        """Append events to the log."""
        if not (data := b"".join(self._lines(events))):
            return
        try:
            self._write(data)
        except OSError as error:
            since = " from here on" if self._turn_at else ""
            self.problem = f"This conversation is not saved{since}: {error.strerror or error}"
            self._move_to_memory(data)

    def store_of(self, path: Path) -> LogStore:
        """Return where a conversation of this session is."""
        return self._unsaved if path in self._unsaved else self.store

    def cut(self, path: Path, size: int) -> bytes:
        """Shorten a conversation of this session to an earlier `LogStore.size`, and return what was
        cut off. Raises OSError."""
        store = self.store_of(path)
        if path != self.path:
            return store.cut(path, size)
        self._close_file()  # another file may take its place
        cut = store.cut(path, size, self.size)
        self.size, self._turn = size, []
        return cut

    def _lines(self, events: Iterable[Event]) -> list[bytes]:
        lines: list[bytes] = []
        for event in events:
            if isinstance(event, Loaded):
                self._loaded, self._loaded_written = event, False
            elif isinstance(event, LanesChanged) and self._loaded:
                self._loaded, self._loaded_written = event.after(self._loaded), False
            elif isinstance(event, LoadFailed) and event.kept:
                self._settings = self._before  # the previous models are back
            elif isinstance(event, RunStarted | RunContinued):
                self._in_turn = True
                self._turn_at = self.size
                lines += self._heading()
                if isinstance(event, RunStarted):
                    self._turn = self._loaded_lines()
            if isinstance(event, Timed) and self._in_turn and (line := event_line(event)):
                lines.append(line)
                if self._turn:
                    self._turn.append(line)
            if isinstance(event, RunFinished | RunRejected):
                self._in_turn = False  # what is refused before it begins leaves nothing behind
        return lines

    def begin(self, changed: Mapping[str, Any] | None = None) -> None:
        """Start a new conversation with the next turn; some settings may have `changed`."""
        self.close()
        if changed:
            self._before, self._settings = self._settings, {**self._settings, **changed}
        self.path, self.problem, self._in_turn, self.size = None, None, False, 0
        self._headed, self._turn = False, []

    def go_on(self, path: Path, size: int) -> None:
        """Continue the conversation in this file, which has this `LogStore.size`, with the next
        turn. Raises InputError, and changes nothing, if another window has it open."""
        claim = self.store_of(path).claim(path)
        self.begin()
        self.path, self._lock, self.size = path, claim, size
        self._headed = True

    def leave(self, left: LeftWith) -> None:
        """Keep the settings that the conversation is left with, if there is one."""
        if self.path is not None and self._headed:
            with suppress(OSError):
                self._write(left_line(left))

    def close(self) -> None:
        """Close the file, and let other windows open it."""
        self._close_file()
        if self._lock is not None:
            self._lock.release()
        self._lock, self._loaded_written = None, False

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def _heading(self) -> list[bytes]:
        """The lines before the first turn that this recorder writes to the file."""
        lines: list[bytes] = []
        if not self._headed:
            lines.append(self._header())
            self._headed = True
        if not self._loaded_written and (loaded := self._loaded_lines()):
            lines += loaded
            self._loaded_written = True
        return lines

    def _header(self) -> bytes:
        return header(datetime.now().astimezone().isoformat(timespec="seconds"), self._settings)

    def _loaded_lines(self) -> list[bytes]:
        line = event_line(self._loaded) if self._loaded else None
        return [line] if line else []

    def _write(self, data: bytes) -> None:
        if self.path is None:
            self.path = self.store.new_file(datetime.now().astimezone())
            self._lock = self.store.claim(self.path)
        if self._file is None:
            self._file = self.store_of(self.path).append_to(self.path)
        rest = memoryview(data)
        while rest:  # a nearly full disk takes only a part
            rest = rest[self._file.write(rest) :]
        self.size += len(data)

    def _move_to_memory(self, data: bytes) -> None:
        """With what was written before, and then `data`. The file keeps the turns that are
        whole."""
        saved: bytes | None = b""
        self._close_file()
        if self.path is not None:
            saved = None
            with suppress(OSError):  # without what was written of the last lines
                saved, _ = cut_log(self.path.read_bytes(), self.size)
            with suppress(OSError):
                self.store.cut(self.path, self._turn_at)
        self.close()
        self.path = self._unsaved.new_file(datetime.now())
        if saved is None:  # the disk is gone, and the turns before this one with it
            data, self.size = b"".join([self._header(), *self._turn]), 0
            self._headed, self._in_turn = True, self._in_turn and bool(self._turn)
        else:
            self._unsaved.append_to(self.path).write(saved)
        self._write(data)
