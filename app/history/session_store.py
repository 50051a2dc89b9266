"""Conversations that are not kept: in memory, so that they can be undone and exported."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from pathlib import Path

from app.history.log import read_log
from app.history.recording import Recording


class _Log(BytesIO):
    def close(self) -> None:
        """Its bytes go with the store, not with who has written them."""


class SessionStore:
    """A `LogStore` for as long as the session lasts. Its paths are names, there are no files."""

    def __init__(self) -> None:
        self._logs: dict[Path, _Log] = {}

    def new_file(self, now: datetime) -> Path:
        path = Path(f"{now:%Y-%m-%d-%H%M%S}-{len(self._logs)}.jsonl")
        self._logs[path] = _Log()
        return path

    def claim(self, path: Path) -> None:
        """Nobody else sees it."""

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
