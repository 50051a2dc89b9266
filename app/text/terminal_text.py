"""Makes text from models, files and users safe for a terminal: it may contain escape sequences.

All output goes through `app.cli.terminal`, all drawing through `app.tui.drawn_text`, and exports
through `harmless`, so that other code need not care.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

REPLACEMENT = "\ufffd"

# Visible symbols for control characters. Bidirectional controls could make the screen lie; lone
# surrogates cannot be encoded.
SAFE: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), REPLACEMENT),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), REPLACEMENT),
    **dict.fromkeys(range(0xD800, 0xE000), REPLACEMENT),
    0x2028: "\n",
    0x2029: "\n",
    ord("\t"): "    ",
    ord("\n"): "\n",
    ord("\r"): None,
}
_IN_FILES = {**SAFE, ord("\t"): "\t"}
_DRAWN = dict.fromkeys(SAFE) | dict.fromkeys(range(0xD800, 0xE000), REPLACEMENT)


def visible(text: str) -> str:
    """`text` with tabs as spaces and without control sequences; keeps newlines."""
    return text.translate(SAFE)


def harmless(text: str) -> str:
    """Like `visible`, for a text file, which keeps its tabs."""
    return text.translate(_IN_FILES)


def drawable(text: str) -> str:
    """`text` without control sequences; its drawn width does not change."""
    return text if text.isprintable() else text.translate(_DRAWN)


def as_json(document: dict[str, Any]) -> str:
    """Return a document in one line. JSON escapes control characters, except for this one."""
    return json.dumps(document, allow_nan=False).replace("\x7f", "\\u007f")


def one_line(text: str) -> str:
    """Like `visible`, without line breaks. A joiner at the end is removed, as it would swallow the
    first character of the next token."""
    return visible(text).replace("\n", "↵").rstrip("\u200d")


def token_name(token: int, texts: Mapping[int, str]) -> str:
    """Return a token's text with visible spaces; its number if the text is unknown or empty (a
    special token)."""
    return one_line(texts.get(token, "")).replace(" ", "·") or f"#{token}"


def shortened(text: str, length: int) -> str:
    """Return the beginning of `text` on one line, in at most `length` characters."""
    return cut(" ".join(visible(text).split()), length)


def cut(text: str, length: int) -> str:
    """Return the beginning of `text` in at most `length` characters."""
    text = text.strip()
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
