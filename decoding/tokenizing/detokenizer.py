"""Incremental detokenization that never emits an incomplete character."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a lane on a server needs none
    from transformers import PreTrainedTokenizerBase

REPLACED = "\N{REPLACEMENT CHARACTER}"  # bytes that are no character, or not yet
LONGEST_TOKEN = 256  # characters; no token of a common vocabulary is longer
CHARACTER = 4  # bytes, at most
MAX_SUFFIX = 8  # ids that may begin a character: at most 3 bytes, and ids without any between them
MAX_CONTEXT = 16  # ids; more would take longer to decode than a second call once in a while


def text_of(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """Decode `ids` as they are, without special tokens."""
    text = tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return str(text)


class Detokenizer:
    """Returns the text that each new id adds.

    A character whose bytes are spread over several tokens appears with the last of them. Ids are
    decoded together with a few earlier ones, because in many tokenizers leading spaces depend on
    the context. That text is kept, so that a token costs one call of `decode`.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []  # the context, and the ids after it that have no text yet
        self._text = ""  # what they decode to
        self._context = 0  # ids, and below characters, that were returned before
        self._returned = 0
        self._grown = 0  # how often the text grew since by what is no character

    def push(self, token: int) -> str:
        """Add a token, and return the text that it adds."""
        self._ids.append(token)
        before, self._text = self._text, self._decode(self._ids)
        if self._text.endswith(REPLACED):
            return self._incomplete(token, before)
        self._grown = 0
        if len(self._text) <= self._returned:  # such as a special token
            if len(self._ids) > MAX_CONTEXT:  # each of a long run would be decoded with all of them
                self._ids.pop()
            return ""
        added = self._text[self._returned :]
        if len(self._ids) > MAX_CONTEXT:  # `added` begins with a character: a new context can, too
            del self._ids[: self._context]
            self._text = self._decode(self._ids)
        self._context, self._returned = len(self._ids), len(self._text)
        return added

    def _incomplete(self, token: int, before: str) -> str:
        """Return what precedes a character that is not complete, or that never will be."""
        whole = len(self._text.rstrip(REPLACED))
        if whole > self._returned:  # the token ended a character, and began the next
            added = self._text[self._returned : whole]
            if len(self._ids) > MAX_CONTEXT:
                self._ids = self._ids[-CHARACTER:]
                self._text = self._decode(self._ids)
                whole = len(self._text.rstrip(REPLACED))
            self._context, self._returned, self._grown = len(self._ids) - 1, whole, 0
            return added
        if self._text == before and len(self._ids) > MAX_CONTEXT and not self._decode([token]):
            self._ids.pop()  # a special token within a character
        self._grown += self._text != before
        return self._give_up() if self._grown >= CHARACTER else ""

    def _give_up(self) -> str:
        """Return bytes that are no text. Only the last ones may still become a character: without
        that, each of a long run would be decoded with all of them."""
        starts = range(max(len(self._ids) - MAX_SUFFIX, 0), len(self._ids))
        start = next((i for i in starts if self._decode(self._ids[i:]) == REPLACED), None)
        if start is None:
            start, added = len(self._ids), self._text[self._returned :]
        else:
            added = self._text[self._returned : -1]
        self._ids = self._ids[start:]
        self._text = REPLACED if self._ids else ""
        self._context, self._returned, self._grown = 0, 0, len(self._text)
        return added

    def flush(self) -> str:
        """Return the text of a character that was never completed."""
        rest = self._text[self._returned :]
        self._context, self._returned = len(self._ids), len(self._text)
        return rest

    def preview(self, token: int) -> str:
        """Return the text of a token if it came next, without adding it."""
        text = self._decode([*self._ids, token])[len(self._text) :]
        return text.replace(REPLACED, "\N{WHITE SQUARE}")
