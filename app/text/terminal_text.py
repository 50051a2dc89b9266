"""Text of models, files and users made safe for a terminal: it may hold anything, also escape
sequences.

What the app prints goes through `app.cli.terminal`, what the screen draws through
`app.tui.drawn_text`, and exports are made `harmless`: nobody else need think of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

REPLACEMENT = "\ufffd"

# Visible symbols for control characters, which then do nothing. Characters that reorder
# the line (bidirectional controls) could make the screen lie; lone surrogates cannot be written.
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
    """`text` with tabs as spaces and nothing in it that a terminal would obey; keeps newlines."""
    return text.translate(SAFE)


def harmless(text: str) -> str:
    """Like `visible`, for a file of text: it may be shown on a terminal one day, but keeps its
    tabs."""
    return text.translate(_IN_FILES)


def drawable(text: str) -> str:
    """`text` without what a terminal would obey; what is drawn is as wide as before."""
    return text if text.isprintable() else text.translate(_DRAWN)


def as_json(document: dict[str, Any]) -> str:
    """A document in one line. JSON escapes control characters, except for this one."""
    return json.dumps(document, allow_nan=False).replace("\x7f", "\\u007f")


def one_line(text: str) -> str:
    """Like `visible`, for a place that must not break the line. A joiner at the end would swallow
    the next token's first character, so it goes."""
    return visible(text).replace("\n", "↵").rstrip("\u200d")


def token_name(token: int, texts: Mapping[int, str]) -> str:
    """A token's text with its spaces made visible; its number where the text is not known, or
    where it has none of its own (a special token)."""
    return one_line(texts.get(token, "")).replace(" ", "·") or f"#{token}"


def shortened(text: str, length: int) -> str:
    """The beginning of `text` on one line, in at most `length` characters."""
    return cut(" ".join(visible(text).split()), length)


def cut(text: str, length: int) -> str:
    """The beginning of `text` in at most `length` characters."""
    text = text.strip()
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
