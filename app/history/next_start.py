"""What a session keeps for the next start, beside the conversations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from decoding.files import write_atomically

UNSENT = "unsent.json"
THEME = "theme.txt"  # chosen on the screen
_UNSENT = TypeAdapter(list[str])


class NextStart:
    """Texts in a `folder`, by name. All methods may raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def remembered(self, name: str) -> str:
        """Return a text that was kept for the next start, or an empty one."""
        path = self._folder / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def remember(self, name: str, text: str) -> None:
        """Keep a text for the next start."""
        if text:
            write_atomically(self._folder / name, text)  # a new file is private
        else:
            (self._folder / name).unlink(missing_ok=True)

    def unsent(self) -> list[str]:
        """Return the texts that were put away and the questions that waited when the app was left,
        and last what was in its prompt, which may be nothing."""
        try:
            return _UNSENT.validate_json(self.remembered(UNSENT))
        except ValueError:  # there is none
            return []

    def keep_unsent(self, texts: Sequence[str]) -> None:
        """Keep unsent questions for the next start."""
        self.remember(UNSENT, json.dumps(texts, ensure_ascii=False) if texts else "")
