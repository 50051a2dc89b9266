"""Assembles a server's answer from the chunks of its stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.servers.errors import ServerError
from app.servers.protocol import Chunk
from app.servers.usage import Usage
from decoding.tokenizing.detokenizer import LONGEST_TOKEN


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of an answer, its number of tokens (1 if not known), and the time of its arrival by
    `time.perf_counter`."""

    text: str
    tokens: int
    at: float


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended."""

    reason: Literal["stop", "length"]
    usage: Usage
    note: str | None = None


class AnswerStream:
    """An answer as it arrives."""

    def __init__(self, most: int) -> None:
        self.pieces = 0
        self.done = False
        self.overlong = False
        self._most = most  # tokens
        self._characters = 0
        self._counted = 0  # tokens so far, by the server
        self._first_tokens = 1  # of the first piece
        self._first_at = self._last_at = 0.0
        self._ended: tuple[Literal["stop", "length"], float] | None = None
        self._last = Chunk()
        self._thinking = False
        self._after_tag = False  # and no text since
        self._line_ended = False  # with the last text

    @property
    def finished(self) -> bool:
        """Whether the text is complete; counts may follow."""
        return self._ended is not None

    def add(self, chunk: Chunk, now: float) -> Piece | None:
        """Add a chunk, and return its piece of text, if there is any."""
        last = self._last
        self._last = Chunk(
            tokens=last.tokens if chunk.tokens is None else chunk.tokens,
            prompt_tokens=chunk.prompt_tokens or last.prompt_tokens,
            drafting=chunk.drafting or last.drafting,
        )
        text = self._text(chunk)
        if chunk.finish:
            self._ended = (chunk.finish, now)
        if not text:
            return None
        self.pieces += 1
        self._characters += len(text)
        self._first_at = self._first_at or now
        self._last_at = now
        tokens = 1
        if chunk.tokens is not None:
            counted = min(chunk.tokens, 2 * self._most)
            tokens, self._counted = max(counted - self._counted, 0), counted
        if self.pieces == 1:
            self._first_tokens = max(tokens, 1)
        # Some servers ignore max_tokens. A piece has at least one token.
        self.overlong = (
            max(self.pieces, self._counted + 1) > 2 * self._most
            or self._characters > LONGEST_TOKEN * self._most
        )
        return Piece(text, tokens, now)

    def _text(self, chunk: Chunk) -> str:
        """The chunk's text; reasoning in a field of its own is put between the models' tags."""
        found = ""
        if chunk.reasoning:
            if not self._thinking:
                self._thinking, self._after_tag, found = True, True, "<think>\n"
            found += self._after(chunk.reasoning)
        if chunk.text:
            if self._thinking:
                found += "</think>\n\n" if self._line_ended else "\n</think>\n\n"
                self._thinking, self._after_tag = False, True
            found += self._after(chunk.text)
        return found

    def _after(self, text: str) -> str:
        """Text without the ends of lines after a tag: some engines send them, others do not."""
        if self._after_tag:
            text = text.lstrip("\n")
        self._after_tag = self._after_tag and not text
        self._line_ended = text.endswith("\n") if text else self._line_ended
        return text

    def ending(self) -> Ending:
        """Return how the answer ended. Raises ServerError if the stream broke off."""
        note = None
        if self._ended is None and self.overlong:
            self._ended = ("length", self._last_at)
            note = "the server went on beyond the longest answer, and was stopped"
        if self._ended is None and not self.done:
            raise ServerError("the connection ended in the middle of the answer")
        reason, ended_at = self._ended or ("stop", self._last_at)
        tokens = self._last.tokens
        if tokens is None:
            note = note or "the server counts no tokens: its pieces of text are counted"
        # What comes in one piece, as through a proxy that buffers, tells no speed.
        seconds = ended_at - self._first_at if self.pieces > 1 else 0.0
        last = self._last
        usage = Usage(seconds, tokens, last.prompt_tokens, last.drafting, self._first_tokens)
        return Ending(reason, usage, note)
