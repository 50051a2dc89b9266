"""The folder of kept conversations: one file each, in the user's data folder."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import platformdirs

from app.history.log import complete, name_line, read_log
from app.history.recording import Recording
from decoding.errors import InputError


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation as a list shows it."""

    path: Path
    title: str  # the name that it was given, else its first prompt
    turns: int
    changed: datetime


class Store:
    """Lists, opens, renames and deletes conversations. All of it may raise OSError."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or platformdirs.user_data_path("specchat") / "conversations"

    def new_path(self, now: datetime) -> Path:
        """A file name that sorts by time and that no other conversation has."""
        stem = now.strftime("%Y-%m-%d-%H%M%S")
        path, number = self.folder / f"{stem}.jsonl", 1
        while path.exists():
            number += 1
            path = self.folder / f"{stem}-{number}.jsonl"
        return path

    def entries(self) -> list[Entry]:
        """The newest first. What is no conversation, or holds no turn, is passed over."""
        found = []
        for path in self.folder.glob("*.jsonl"):
            # deleted meanwhile, or not one of ours
            with suppress(OSError, ValueError, LookupError, TypeError):
                found.append(_entry(path))
        return sorted(found, key=lambda entry: entry.changed, reverse=True)

    def open(self, path: Path) -> Recording:
        """Raises InputError where it cannot be understood."""
        return read_log(path.read_bytes(), path)

    def rename(self, path: Path, name: str) -> None:
        """It keeps its place among the others."""
        times = path.stat()
        with path.open("r+b") as file:
            file.truncate(len(complete(file.read())))
            file.seek(0, 2)
            file.write(name_line(name))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def delete(self, path: Path) -> None:
        path.unlink(missing_ok=True)


def _entry(path: Path) -> Entry:
    """Reads only the lines that a list needs: a conversation may be many megabytes."""
    title, name, ended = "", "", True
    runs: list[int] = []
    with path.open("rb") as file:
        for line in file:
            if line.startswith(b'["run"') and line.endswith(b"\n"):
                _, run = json.loads(line)
                title, ended = title or run["prompt"], False
                if run["run"] not in runs[-1:]:  # once more, with the same seed
                    runs.append(run["run"])
            elif line.startswith(b'["end"'):
                ended = True
            elif line.startswith(b'["refused"') and not ended:
                runs.pop()
            elif line.startswith(b'["name"') and line.endswith(b"\n"):
                _, name = json.loads(line)
    if not runs:
        raise InputError(f"{path}: nothing was recorded in it")
    return Entry(path, name or title, len(runs), datetime.fromtimestamp(path.stat().st_mtime))
