"""What goes wrong with a server, and the key that must never be seen."""

from __future__ import annotations

import os

from app.text.terminal_text import shortened
from decoding.errors import InputError

KEYS = ("SPECCHAT_SERVER_KEY", "OPENAI_API_KEY")  # environment variables, the first one wins
QUOTED = 200  # characters of what a server says of its error


class ServerError(InputError):
    """A server did not answer as it should, in one line. `status`: of HTTP; None where there was no
    whole answer."""

    def __init__(self, line: str, status: int | None = None) -> None:
        super().__init__(line)
        self.status = status


def api_key() -> str | None:
    """From the environment, and from nowhere else: it is never kept. Raises InputError without
    quoting it."""
    for name in KEYS:
        if key := os.environ.get(name, "").strip():
            if not (key.isascii() and key.isprintable()) or " " in key:
                raise InputError(f"{name} has characters that no key has")
            return key
    return None


def quoted(text: str, key: str | None) -> str:
    """What a server said, for an error line: short, harmless, and without the key."""
    if key:
        text = text.replace(key, "…")
    return shortened(text, QUOTED)
