"""Text that would take a terminal over, and what is left of it."""

from __future__ import annotations

import re

TITLE = "\x1b]0;PWN\x07"
HOSTILE = f"a{TITLE}\x1b[31mb\x9b5mc\x7fd\u202ee"

# With \n, which is nobody's escape
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def obeyed(text: str) -> set[str]:
    """The characters in `text` that a terminal would obey."""
    return set(_OBEYED.findall(text))
