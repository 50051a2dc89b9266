"""Checks that text is valid Unicode."""

from __future__ import annotations

from decoding.errors import InputError


def require_unicode(text: str, where: str) -> None:
    """Raise InputError for lone surrogates (shell bytes that are not UTF-8, JSON escapes), as
    tokenizers fail on them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{where} holds bytes or escapes that are not Unicode text") from None
