"""Text that a tokenizer can take."""

from __future__ import annotations

from decoding.errors import InputError


def require_unicode(text: str, where: str) -> None:
    """Bytes that are not UTF-8 arrive as lone surrogates (from the shell, from JSON's escapes);
    no tokenizer takes them. Raises InputError."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{where} holds bytes or escapes that are not Unicode text") from None
