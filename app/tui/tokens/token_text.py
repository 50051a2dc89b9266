"""The text of one lane in pieces: each token in its ink, wrapped, and where it stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

from app.engine.events import Prefilled, RoundFinished
from app.text.terminal_text import one_line, shortened, visible
from app.tui.tokens.lens import ColorBy
from app.tui.tokens.lens import ink as lens_ink
from app.tui.tokens.probabilities import Source
from app.tui.tokens.wrapping import TokenStyle, Wrapper
from decoding.round import TokenEvent

RenderMode = Literal["colour", "glyphs", "plain"]
NEXT_MODE: dict[RenderMode, RenderMode] = {"colour": "glyphs", "glyphs": "plain", "plain": "colour"}

GLYPHS = {  # what opens a group, and all that closes it
    TokenStyle.ACCEPTED: "‹›",
    TokenStyle.REJECTED: "~~",
    TokenStyle.DROPPED: "~~",
    TokenStyle.STEP1: "‹›¹",
    TokenStyle.STEP2: "‹›²",
    TokenStyle.STEP3: "‹›³",
    TokenStyle.STEP4: "‹›⁴",
    TokenStyle.TINT: "‹›",
}
NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """How tokens are shown; `show_rejected`: those that were drafted in vain as well."""

    mode: RenderMode = "colour"
    show_rejected: bool = True
    color_by: ColorBy = "fate"


class Piece(NamedTuple):
    """Some text in one ink; `token` where it is one of the model's, and what brought it: then the
    ink is the lens's."""

    text: str
    ink: TokenStyle = TokenStyle.TEXT
    token: TokenEvent | None = None
    source: Source | None = None

    @property
    def ghost(self) -> bool:
        return self.token is not None and self.token.fate.ghost


class TokenText:
    """Keeps all pieces and wraps them as they come. A place is the number of a character among
    all that were fed to the wrapper; each piece knows at which places it stands."""

    def __init__(self, hint: str) -> None:
        self.options = DisplayOptions()
        self.hint = hint
        self.pieces: list[Piece] = []
        self.wrapper = Wrapper(80)
        self._turns: list[int] = []  # where in the pieces each turn begins
        self._spans: list[tuple[int, int]] = []  # the first place of each piece, and the one behind
        self._glyphs = ""  # the pair of glyphs that is open
        self._held = ""  # spaces that may turn out to be the last of the group

    # What comes in

    def begin_turn(self, turn: int, prompt: str, follows: str | None) -> None:
        """`rewrap` is due after it."""
        if turn < len(self._turns):
            del self.pieces[self._turns[turn] :]
            del self._turns[turn:]
        self._turns.append(len(self.pieces))
        head = "\n\n" if self.pieces else ""
        after = f"  (after {follows})" if follows else ""
        self.pieces.append(Piece(f"{head}› {shortened(prompt, 300)}{after}\n", TokenStyle.PROMPT))

    def add_first(self, event: Prefilled) -> None:
        self._add_token(event.first, event)

    def add_round(self, event: RoundFinished, changes: Sequence[str]) -> None:
        """`changes` of settings that this round was made with: a mark, never broken, nor a part
        of the answer."""
        if changes:
            mark = f"⟨{' · '.join(changes)}⟩".replace(" ", NO_BREAK_SPACE)
            self._add(Piece(f" {mark}", TokenStyle.MARK))
        for token in event.tokens:
            self._add_token(token, event)

    def _add_token(self, token: TokenEvent, source: Source) -> None:
        if token.text:
            self._add(Piece(token.text, token=token, source=source))

    def add_note(self, text: str, error: bool) -> None:
        mark, ink = ("✗ ", TokenStyle.ERROR) if error else ("· ", TokenStyle.NOTE)
        self._add(Piece(f"\n{mark}{visible(text)}", ink))

    def end_turn(self) -> None:
        """Nothing follows: a group of glyphs that is still open ends here."""
        self._add(Piece("", TokenStyle.TEXT))

    def clear(self) -> None:
        """`rewrap` is due after it."""
        self.pieces.clear()
        self._turns.clear()

    @property
    def answer(self) -> str:
        """The last turn's answer as the model wrote it."""
        pieces = self.pieces[self._begin :]
        return "".join(piece.text for piece in pieces if piece.token and not piece.ghost)

    # Tokens and places

    @property
    def _begin(self) -> int:
        return self._turns[-1] if self._turns else 0

    def seen(self, index: int) -> bool:
        """Whether piece number `index` is a token of the last turn that is shown."""
        if not self._begin <= index < len(self.pieces):
            return False
        piece = self.pieces[index]
        return piece.token is not None and not self._hides(piece)

    def next_token(self, index: int, step: int) -> int | None:
        """The nearest token of the last turn after piece `index`, or before it: `step` is 1 or
        -1."""
        if step > 0:
            places = range(max(index + 1, self._begin), len(self.pieces))
        else:
            places = range(index - 1, self._begin - 1, -1)
        return next((place for place in places if self.seen(place)), None)

    def first_of_round(self, number: int) -> int | None:
        """The first token of a round of the last turn that is shown."""
        for index in range(self._begin, len(self.pieces)):
            token = self.pieces[index].token
            if token is not None and token.round == number and self.seen(index):
                return index
        return None

    def span(self, index: int) -> tuple[int, int]:
        """The place of a piece's first character, and the one behind its last."""
        return self._spans[index]

    def piece_at(self, place: int) -> int | None:
        """The piece that has character number `place`."""
        index = bisect_right(self._spans, place, key=itemgetter(0)) - 1
        return index if index >= 0 and place < self._spans[index][1] else None

    # Wrapping

    def rewrap(self, width: int) -> None:
        """Wrap everything again: the width, the look or what stood there has changed."""
        self.wrapper = Wrapper(width)
        self._spans.clear()
        self._glyphs = self._held = ""
        for piece in self.pieces:
            self._flow(piece)
        if not self.pieces:
            self.wrapper.feed(visible(self.hint), TokenStyle.NOTE)

    def _add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self._flow(piece)

    def _hides(self, piece: Piece) -> bool:
        if self.options.mode == "plain":
            return piece.ghost or piece.ink is TokenStyle.MARK
        return piece.ghost and not self.options.show_rejected

    def _flow(self, piece: Piece) -> None:
        text, ink = piece.text, piece.ink
        if piece.token is not None and piece.source is not None:
            ink = lens_ink(self.options.color_by, piece.token, piece.source)
        if self._hides(piece):
            text = ""
        elif piece.ghost:
            text = one_line(text)
        elif ink is not TokenStyle.PROMPT:
            text = visible(text)
        if self.options.mode == "glyphs" and not self._hides(piece):
            start = self._flow_with_glyphs(text, ink)
        else:
            start = self.wrapper.fed
            self.wrapper.feed(text, ink)
        self._spans.append((start, self.wrapper.fed))

    def _flow_with_glyphs(self, text: str, ink: TokenStyle) -> int:
        """Glyphs stand around the words of a group, the spaces at its ends stay outside, and spaces
        alone begin none. The place where the words begin."""
        glyphs = GLYPHS.get(ink, "")
        feed = self.wrapper.feed
        if glyphs != self._glyphs and text.isspace():
            glyphs = ""
        if glyphs != self._glyphs:
            if self._glyphs:
                feed(self._glyphs[1:], TokenStyle.TEXT)
            feed(self._held, TokenStyle.TEXT)
            self._held = ""
            if glyphs:
                words = text.lstrip()
                feed(text[: len(text) - len(words)] + glyphs[0], TokenStyle.TEXT)
                text = words
            self._glyphs = glyphs
        start = self.wrapper.fed + len(self._held)
        text = self._held + text
        words = text.rstrip() if glyphs else text
        self._held = text[len(words) :]
        feed(words, ink)
        return start
