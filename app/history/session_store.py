"""Keeps conversations in memory for undo and export, if they are not, or can't be, kept on disk."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from pathlib import Path

from app.history.log import read_log
from app.history.recording import Recording


class _Log(BytesIO):
    def close(self) -> None:
        """Keep the bytes, which belong to the store and not to the writer."""


class SessionStore:
    """A `LogStore` in memory; its paths are only names."""

    def __init__(self) -> None:
        self._logs: dict[Path, _Log] = {}

    def __contains__(self, path: Path) -> bool:
        return path in self._logs

    def new_file(self, now: datetime) -> Path:
        path = Path(f"{now:%Y-%m-%d-%H%M%S}-{len(self._logs)}.jsonl")
        self._logs[path] = _Log()
        return path

    def claim(self, path: Path) -> None:
        """Needs no lock: other processes can't see it."""

    def append_to(self, path: Path) -> BytesIO:
        log = self._logs[path]
        log.seek(0, 2)
        return log

    def size(self, path: Path) -> int:
        return len(self._logs[path].getbuffer())

    def cut(self, path: Path, size: int) -> bytes:
        log = self._logs[path]
        end = log.getvalue()[size:]
        log.truncate(size)
        return end

    def open(self, path: Path) -> Recording:
        return read_log(self._logs[path].getvalue(), path)
