"""One-line descriptions of errors."""

from __future__ import annotations

from decoding.errors import InputError


def describe(error: BaseException) -> str:
    """Describe an error in one line; an InputError already is one."""
    if isinstance(error, InputError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
