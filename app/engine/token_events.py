"""Turns an answer's rounds into token events: text and fate of each token, in display order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.text.token_event import TokenEvent
from decoding.round import Round, TokenFate, TokenProbs
from decoding.tokenizing.detokenizer import Detokenizer, text_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class TokenEvents:
    """Makes the token events of one answer. `shown` is the text of all events so far."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._detokenizer = Detokenizer(partial(text_of, tokenizer))
        self.shown = ""

    def first(self, token: int) -> TokenEvent:
        """Make the event of the prefill's token."""
        event = TokenEvent(token, self._detokenizer.push(token), TokenFate.FIRST, -1)
        self.shown = event.text
        return event

    def of_round(self, record: Round) -> list[TokenEvent]:
        """Make the events of a round's tokens: accepted drafts, then rejected ones, then the
        target's own. Must be called once for every round, in order."""
        push, preview = self._detokenizer.push, self._detokenizer.preview
        events = []
        for node in (*record.accepted, *record.rejected_path):
            fate, token = record.fate(node), record.tokens[node]
            text = preview(token) if fate.discarded else push(token)
            events.append(TokenEvent(token, text, fate, record.index, node))
        for token in record.emitted[len(record.accepted) :]:
            events.append(TokenEvent(token, push(token), record.fate(-1), record.index))
        self.shown += "".join(event.text for event in events if not event.fate.discarded)
        return events

    def close(self, events: list[TokenEvent], text: str) -> list[TokenEvent]:
        """Change the answer's last events so that all events add up to its `text`: append an
        incomplete character, remove a stop text."""
        rest = self._detokenizer.flush()
        surplus = max(len(self.shown) + len(rest) - len(text), 0)
        for i in reversed(range(len(events))):
            if not events[i].fate.discarded:
                piece = events[i].text + rest
                kept = max(len(piece) - surplus, 0)
                events[i] = replace(events[i], text=piece[:kept])
                surplus, rest = surplus - (len(piece) - kept), ""
        return events

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the text of each token if it came next, by id; of a special one its name. Must not
        be called before the first token, where many tokenizers drop a leading space."""
        return {token: self._text(token) for token in sorted({*ids})}

    def _text(self, token: int) -> str:
        text = self._detokenizer.preview(token)
        return text or str(self._tokenizer.convert_ids_to_tokens(token) or "")


def tokens_in(record: Round) -> set[int]:
    """Collect all token ids in a round's record, drafted or not."""
    pruned = (guess.token for guess in record.pruned)
    likely = (token for top in record.top for token, _, _ in top)
    return {*record.tokens, *record.chosen, *record.emitted, *pruned, *likely}


def tokens_at(probs: TokenProbs | None) -> set[int]:
    """Collect the ids of the candidates for a token."""
    return {token for token, _, _ in probs.top} if probs else set()
