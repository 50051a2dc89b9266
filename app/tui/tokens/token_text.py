"""The text of one lane: spans with a style for each token, wrapped to lines, with their offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

from app.engine.events import Prefilled, RoundFinished
from app.text.plural import pluralize
from app.text.terminal_text import cut, one_line, visible
from app.text.token_event import TokenEvent
from app.tui.tokens.lens import FATE_STYLES, ColorBy, token_style
from app.tui.tokens.probabilities import Source
from app.tui.tokens.wrapping import TokenStyle, Wrapper
from decoding.round import TokenFate
from decoding.tokenizing.reasoning import CLOSE

RenderMode = Literal["colour", "glyphs", "plain"]
NEXT_MODE: dict[RenderMode, RenderMode] = {"colour": "glyphs", "glyphs": "plain", "plain": "colour"}

GLYPHS = {  # opening and closing glyph of a group
    TokenStyle.ACCEPTED: "‹›",
    TokenStyle.REJECTED: "~~",
    TokenStyle.DROPPED: "~~",
    TokenStyle.STEP1: "‹›¹",
    TokenStyle.STEP2: "‹›²",
    TokenStyle.STEP3: "‹›³",
    TokenStyle.STEP4: "‹›⁴",
    TokenStyle.TINT: "‹›",
}
NOT_KEPT = (TokenStyle.REJECTED, TokenStyle.DROPPED, TokenStyle.GLYPH, TokenStyle.MARK)
PROMPT_CHARACTERS = 300
NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """How tokens are shown; `show_rejected`: also rejected drafts; `fold_reasoning`: finished
    reasoning before the answer as one line."""

    mode: RenderMode = "colour"
    show_rejected: bool = True
    fold_reasoning: bool = True
    color_by: ColorBy = "fate"


class Span(NamedTuple):
    """Some text in one style. `token`: the model's token in it and its event; then the style
    depends on the display options."""

    text: str
    style: TokenStyle = TokenStyle.TEXT
    token: TokenEvent | None = None
    source: Source | None = None

    @property
    def rejected(self) -> bool:
        return self.token is not None and self.token.fate.discarded


class TokenText:
    """Keeps all spans, and wraps them as they arrive. An offset is the index of a character among
    all that were fed to the wrapper; each span has a range of offsets."""

    def __init__(self) -> None:
        self.options = DisplayOptions()
        self.hint = ""  # shown while there is no text
        self.spans: list[Span] = []
        self.wrapper = Wrapper(80)
        self.stale = False  # `rewrap_turn` is due: reasoning has ended, and is folded
        # The index of the first span of each turn, which begins a line. A lane that was added later
        # has no earlier turns.
        self._turns: dict[int, int] = {}
        self._folds: dict[int, int] = {}  # reasoning: from its first span to the one after its last
        self._tail = ""  # the end of the answer so far
        self._ranges: list[tuple[int, int]] = []  # the offsets of each span, end excluded
        self._glyphs = ""  # the pair of glyphs of the open group
        self._held = ""  # spaces that may be the last of the group

    @property
    def has_reasoning(self) -> bool:
        """Whether there is reasoning that has ended, and can be folded."""
        return bool(self._folds)

    # What comes in

    def begin_turn(self, turn: int, prompt: str, follows: str | None) -> None:
        """`rewrap_turn` is due after it."""
        if replaced := [each for each in self._turns if each >= turn]:
            del self.spans[self._turns[replaced[0]] :]
            for each in replaced:
                del self._turns[each]
        elif self.spans:
            self._add(Span("\n\n"))
        begin = len(self.spans)
        self._turns[turn] = begin
        self._folds = {first: end for first, end in self._folds.items() if end <= begin}
        self._tail = ""
        after = f"  (after {follows})" if follows else ""
        lines = cut(visible(prompt), PROMPT_CHARACTERS).replace("\n", "\n  ")
        self.spans.append(Span(f"› {lines}{after}\n", TokenStyle.PROMPT))

    def add_first(self, event: Prefilled) -> None:
        self.add_token(event.first, event)

    def add_round(self, event: RoundFinished, changes: Sequence[str]) -> None:
        """Add a round; `changes` of settings before it are shown as a mark, which is not wrapped
        and not part of the answer."""
        if changes:
            mark = f"⟨{' · '.join(changes)}⟩".replace(" ", NO_BREAK_SPACE)
            self._add(Span(f" {mark}", TokenStyle.MARK))
        for token in event.tokens:
            self.add_token(token, event)

    def add_token(self, token: TokenEvent, source: Source | None = None) -> None:
        """Add a token; without a `source` it only has a fate. One of the answer may have no text of
        its own: the end, or a part of a character."""
        if token.text or not token.fate.discarded:
            self._add(Span(token.text, FATE_STYLES[token.fate], token, source))
            if not token.fate.discarded:
                self._look_for_reasoning(token.text)

    def _look_for_reasoning(self, text: str) -> None:
        """Fold the reasoning if it ends in `text`, the newest part of the answer."""
        self._tail = (self._tail + text)[-len(CLOSE) - len(text) :]
        first = self._begin + 1  # after the prompt
        if CLOSE in self._tail and first not in self._folds:
            self._folds[first] = len(self.spans)
            self.stale = self.options.fold_reasoning

    def renew_sources(self, first: Prefilled, rounds: Sequence[RoundFinished]) -> None:
        """Replace the last turn's events by those with probabilities. `rewrap_turn` is due after
        it."""
        for index in range(self._begin, len(self.spans)):
            if token := self.spans[index].token:
                source = first if token.round < 0 else rounds[token.round]
                self.spans[index] = self.spans[index]._replace(source=source)

    def rejected_in(self, number: int) -> int | None:
        """Return the span of the rejected draft in a round of the last turn, or of the token
        emitted instead if rejected ones are not shown."""
        found = None
        for index in range(self._begin, len(self.spans)):
            token = self.spans[index].token
            if token is not None and token.round == number and self.is_shown(index):
                found = index
                if token.fate is TokenFate.REJECTED:
                    break
        return found

    def add_note(self, text: str, error: bool) -> None:
        """Add a line of its own to the text, unless it is the last one already: a lane reports its
        end again when it can be compared."""
        mark, style = ("✗ ", TokenStyle.ERROR) if error else ("· ", TokenStyle.NOTE)
        note = Span(f"\n{mark}{visible(text)}", style)
        if self.spans[-1:] != [note]:
            self._add(note)

    def end_turn(self) -> None:
        """End the turn: close an open group of glyphs."""
        self._add(Span("", TokenStyle.TEXT))

    def clear(self) -> None:
        """`rewrap` is due after it."""
        self.spans.clear()
        self._turns.clear()
        self._folds.clear()

    @property
    def answer(self) -> str:
        """The last turn's answer as the model wrote it."""
        spans = self.spans[self._begin :]
        return "".join(span.text for span in spans if span.token and not span.rejected)

    # Tokens and offsets

    def kept_text(self) -> tuple[str, list[int]]:
        """Return all that is shown but rejected drafts, glyphs and marks, which may be within a
        word; and the offset of each of its characters."""
        text, offsets = list[str](), list[int]()
        for index in range(len(self.wrapper)):
            line = self.wrapper[index]
            at = line.start
            for run, style in (*line.runs, ("\n" if line.hard else "", TokenStyle.TEXT)):
                if style not in NOT_KEPT:
                    text.append(run)
                    offsets += range(at, at + len(run))
                at += len(run)
        return "".join(text), offsets

    @property
    def _begin(self) -> int:
        return next(reversed(self._turns.values()), 0)

    def is_shown(self, index: int) -> bool:
        """Return whether span number `index` is a token of the last turn that is shown."""
        if not self._begin <= index < len(self.spans):
            return False
        span = self.spans[index]
        return span.token is not None and not self._hides(span) and not self._folded(index)

    def next_token(self, index: int, step: int) -> int | None:
        """Return the nearest token of the last turn after span `index`, or before it: `step` is 1
        or -1."""
        if step > 0:
            indices = range(max(index + 1, self._begin), len(self.spans))
        else:
            indices = range(index - 1, self._begin - 1, -1)
        return next((each for each in indices if self.is_shown(each)), None)

    def index_of(self, token: TokenEvent) -> int | None:
        """Return the span of a token of the last turn, if it is shown."""
        indices = range(len(self.spans) - 1, self._begin - 1, -1)
        found = next((each for each in indices if self.spans[each].token is token), None)
        return found if found is not None and self.is_shown(found) else None

    def first_of_round(self, number: int) -> int | None:
        """Return the first token of a round of the last turn that is shown."""
        for index in range(self._begin, len(self.spans)):
            token = self.spans[index].token
            if token is not None and token.round == number and self.is_shown(index):
                return index
        return None

    def range_of(self, index: int) -> tuple[int, int]:
        """Return the offset of a span's first character, and the one after its last."""
        return self._ranges[index]

    def span_at(self, offset: int) -> int | None:
        """Return the span that has character number `offset`."""
        index = bisect_right(self._ranges, offset, key=itemgetter(0)) - 1
        return index if index >= 0 and offset < self._ranges[index][1] else None

    # Wrapping

    def rewrap(self, width: int) -> None:
        """Wrap everything again: the width, the display options or the text has changed."""
        self.wrapper = Wrapper(width)
        self._flow_from(0)
        if not self.spans:
            self.wrapper.feed(visible(self.hint), TokenStyle.NOTE)

    def rewrap_turn(self) -> None:
        """Wrap the last turn again: its text has changed, and that before it has not."""
        begin = self._begin
        self.wrapper.cut(self._ranges[begin - 1][1] if begin else 0)
        self._flow_from(begin)

    def _flow_from(self, begin: int) -> None:
        del self._ranges[begin:]
        self._glyphs = self._held = ""
        self.stale = False
        for index in range(begin, len(self.spans)):
            self._flow(index)

    def _add(self, span: Span) -> None:
        self.spans.append(span)
        self._flow(len(self.spans) - 1)

    def _folded(self, index: int) -> bool:
        return self.options.fold_reasoning and any(
            first <= index < end for first, end in self._folds.items()
        )

    def _fold_line(self, index: int) -> str:
        """The line in place of folded reasoning, at its first span."""
        if index not in self._folds:
            return ""
        spans = self.spans[index : self._folds[index]]
        count = sum(span.token is not None and not span.rejected for span in spans)
        return f"▸ thought for {pluralize(count, 'token')}"

    def _hides(self, span: Span) -> bool:
        if self.options.mode == "plain":
            return span.rejected or span.style is TokenStyle.MARK
        return span.rejected and not self.options.show_rejected

    def _flow(self, index: int) -> None:
        span = self.spans[index]
        text, style = span.text, span.style
        hidden = self._hides(span) or bool(span.token and not text)
        if span.token is not None and span.source is not None:
            style = token_style(self.options.color_by, span.token, span.source)
        if self._folded(index):
            text, style = self._fold_line(index), TokenStyle.NOTE
            hidden = not text
        elif hidden:
            text = ""
        elif span.rejected:
            text = one_line(text)
        elif style is not TokenStyle.PROMPT:
            text = visible(text)
        if self.options.mode == "glyphs" and not hidden:
            start = self._flow_with_glyphs(text, style)
        else:
            start = self.wrapper.fed
            self.wrapper.feed(text, style)
        self._ranges.append((start, self.wrapper.fed))

    def _flow_with_glyphs(self, text: str, style: TokenStyle) -> int:
        """Put glyphs around the words of a group, with spaces at its ends outside; spaces alone are
        no group. Returns the offset of the first word."""
        glyphs = GLYPHS.get(style, "")
        feed = self.wrapper.feed
        if glyphs != self._glyphs and text.isspace():
            glyphs = ""
        if glyphs != self._glyphs:
            if self._glyphs:
                feed(self._glyphs[1:], TokenStyle.GLYPH)
            feed(self._held, _outside(self._glyphs))
            self._held = ""
            if glyphs:
                words = text.lstrip()
                feed(text[: len(text) - len(words)], _outside(glyphs))
                feed(glyphs[0], TokenStyle.GLYPH)
                text = words
            self._glyphs = glyphs
        start = self.wrapper.fed + len(self._held)
        text = self._held + text
        words = text.rstrip() if glyphs else text
        self._held = text[len(words) :]
        feed(words, style)
        return start


def _outside(glyphs: str) -> TokenStyle:
    """The style of a group's spaces outside its glyphs; those of rejected drafts are not kept."""
    return TokenStyle.GLYPH if glyphs == GLYPHS[TokenStyle.REJECTED] else TokenStyle.TEXT
