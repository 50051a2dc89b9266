"""Turns that were undone, kept beside the logs of their conversations until they are redone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from app.history.log import complete_lines
from decoding.files import write_atomically

UNDONE = ".undone"  # in place of a log's suffix


@dataclass(frozen=True, slots=True)
class UndoneTurn:
    """What a turn that was undone has in the log, the number of turns with it, and its question."""

    log: str
    turns: int
    question: str


@dataclass(frozen=True, slots=True)
class _Kept:
    """Turns that were undone, and the line of the log that they come after."""

    after: str
    turns: list[UndoneTurn]


_KEPT = TypeAdapter(_Kept)


class UndoneTurns:
    """The undone turns of the conversations in a `folder`. All methods may raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def empty(self) -> bool:
        """Whether none were kept."""
        return not any(self._folder.glob(f"*{UNDONE}"))

    def keep(self, path: Path, turns: Sequence[UndoneTurn]) -> None:
        """Keep turns that were cut off a log, the one that was undone last first. Without any,
        forget those that were kept before."""
        if turns:
            kept = _KEPT.dump_json(_Kept(_end_of_turns(path), list(turns)))
            write_atomically(path.with_suffix(UNDONE), kept)
        else:
            self.forget(path)

    def newest_whole(self) -> tuple[Path, list[UndoneTurn]] | None:
        """Return the newest conversation of which all turns were undone, and kept: its log, which
        isn't there, and its turns. None if there is no such conversation. Removes what was kept for
        logs that are gone for another reason."""
        for file in sorted(self._folder.glob(f"*{UNDONE}"), reverse=True):
            log = file.with_suffix(".jsonl")
            if not log.exists():
                if turns := self.of(log):
                    return log, turns
                file.unlink(missing_ok=True)
        return None

    def of(self, path: Path) -> list[UndoneTurn]:
        """Return the turns that were kept; none if others have followed since."""
        try:
            kept = _KEPT.validate_json(path.with_suffix(UNDONE).read_bytes())
            return kept.turns if kept.after == _end_of_turns(path) else []
        except (OSError, ValueError):  # there are none
            return []

    def forget(self, path: Path) -> None:
        """Forget the turns that were kept of a conversation, if there are any."""
        path.with_suffix(UNDONE).unlink(missing_ok=True)


def _end_of_turns(path: Path) -> str:
    """The line that ends the last turn, with its time; empty if all turns were cut off."""
    if not path.exists():
        return ""
    lines = complete_lines(path.read_bytes()).splitlines()
    return next((line.decode() for line in reversed(lines) if line.startswith(b'["end"')), "")
