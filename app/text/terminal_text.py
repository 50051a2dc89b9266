"""Model text made safe for a terminal: it may hold anything, also escape sequences."""

from __future__ import annotations

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


def visible(text: str) -> str:
    """`text` with tabs as spaces and nothing in it that a terminal would obey; keeps newlines."""
    return text.translate(SAFE)


def one_line(text: str) -> str:
    """Like `visible`, for a place that must not break the line. A joiner at the end would swallow
    the next token's first character, so it goes."""
    return visible(text).replace("\n", "↵").rstrip("\u200d")


def shortened(text: str, length: int) -> str:
    """The beginning of `text` on one line, in at most `length` characters."""
    return cut(" ".join(visible(text).split()), length)


def cut(text: str, length: int) -> str:
    """The beginning of `text` in at most `length` characters."""
    text = text.strip()
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
