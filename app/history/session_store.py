"""Keeps conversations in memory for undo and export, if they are not, or can't be, kept on disk."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from pathlib import Path

from app.history.log import cut_log, read_log, size_of
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
        return size_of(self._logs[path].getvalue())

    def cut(self, path: Path, size: int, present: int | None = None) -> bytes:
        log = self._logs[path]
        kept, cut = cut_log(log.getvalue(), size)
        log.seek(0)
        log.truncate()
        log.write(kept)
        return cut

    def open(self, path: Path) -> Recording:
        return read_log(self._logs[path].getvalue(), path)
