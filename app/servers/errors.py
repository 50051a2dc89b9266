"""Errors of servers, and the API key, which must never be shown."""

from __future__ import annotations

import os

from app.text.terminal_text import shortened
from decoding.errors import InputError

KEYS = ("SPECCHAT_SERVER_KEY", "OPENAI_API_KEY")  # environment variables, the first one wins
QUOTED = 200  # characters of a server's error message


class ServerError(InputError):
    """A server failed, in one line. `status` is the HTTP status, None without a response."""

    def __init__(self, line: str, status: int | None = None) -> None:
        super().__init__(line)
        self.status = status


def api_key() -> str | None:
    """Return the key from the environment, its only source; it is never stored. Raises InputError
    for an invalid key, without quoting it."""
    for name in KEYS:
        if key := os.environ.get(name, "").strip():
            if not (key.isascii() and key.isprintable()) or " " in key:
                raise InputError(f"{name} has characters that no key has")
            return key
    return None


def quoted(text: str, key: str | None) -> str:
    """Return a server's text for an error line: short, safe for a terminal, and without the key."""
    if key:
        text = text.replace(key, "…")
    return shortened(text, QUOTED)
