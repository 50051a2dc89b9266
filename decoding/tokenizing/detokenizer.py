"""Incremental detokenization that never emits an incomplete character."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a lane on a server needs none
    from transformers import PreTrainedTokenizerBase

LONGEST_TOKEN = 256  # characters; no token of a common vocabulary is longer


def text_of(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """Decode `ids` as they are, without special tokens."""
    text = tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return str(text)


class Detokenizer:
    """Returns the text that each new id adds.

    A character whose bytes are spread over several tokens appears with the last of them. Ids are
    decoded together with a few earlier ones, because in many tokenizers leading spaces depend on
    the context.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._start = 0  # context from here on
        self._read = 0  # ids before this one are already in the text

    def push(self, token: int) -> str:
        """Add a token, and return the text that it adds."""
        self._ids.append(token)
        known = self._decode(self._ids[self._start : self._read])
        text = self._decode(self._ids[self._start :])
        if text.endswith("\N{REPLACEMENT CHARACTER}") or len(text) <= len(known):
            return ""
        self._start, self._read = self._read, len(self._ids)
        return text[len(known) :]

    def flush(self) -> str:
        """Return the text of a character that was never completed."""
        known = self._decode(self._ids[self._start : self._read])
        rest = self._decode(self._ids[self._start :])[len(known) :]
        self._start = self._read = len(self._ids)
        return rest

    def preview(self, token: int) -> str:
        """Return the text of a token if it came next, without adding it."""
        context = self._ids[self._start :]
        text = self._decode([*context, token])[len(self._decode(context)) :]
        return text.replace("\N{REPLACEMENT CHARACTER}", "\N{WHITE SQUARE}")
