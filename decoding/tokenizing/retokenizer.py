"""Incrementally converts one tokenizer's ids to another's."""

from __future__ import annotations

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

# The newest ids are encoded again each time, because later text can change their tokens: UNSETTLED
# of them, once there are more than MOST_UNSETTLED.
UNSETTLED, MOST_UNSETTLED = 16, 64
CONTEXT = 8  # ids decoded before a text, which may decide about its leading space
NOT_WHOLE = "\N{REPLACEMENT CHARACTER}"  # decoded from an incomplete character


class Retokenizer:
    """Converts between a target's ids and those of a draft model with another tokenizer.

    Special tokens with the same name in both are mapped to each other. The target's other special
    tokens are dropped; the draft model's end-of-sequence token becomes the target's.
    """

    def __init__(self, target: PreTrainedTokenizerBase, draft: PreTrainedTokenizerBase) -> None:
        self._target, self._draft = _Tokenizer(target), _Tokenizer(draft)
        ours, theirs = self._target.special, self._draft.special
        self._target.dropped = {ours[name] for name in ours.keys() - theirs.keys()}
        self._as_target = {theirs[name]: ours.get(name) for name in theirs}
        if draft.eos_token_id is not None and self._as_target.get(draft.eos_token_id) is None:
            self._as_target[draft.eos_token_id] = target.eos_token_id
        first = draft("")["input_ids"][:1]
        self._bos = first if first == [draft.bos_token_id] else []
        self.start()

    def start(self) -> None:
        """Begin another sequence."""
        self._settled = 0  # the number of target ids whose text is final in `_ids`
        self._context: list[int] = []  # the last of them
        self._ids: list[int] = []
        self._view: list[int] = []
        # The target's ids after the last complete character, and the complete part of their text
        self._begun: tuple[list[int], str] = ([], "")

    def to_draft(self, ids: Sequence[int]) -> list[int]:
        """Convert the target's `ids`, which extend those of the last call, to draft ids, up to the
        last complete character."""
        new = list(ids[self._settled :])
        whole, rest = self._target.read(self._context, new)
        self._begun = new[whole:], rest
        new = new[:whole]
        if len(new) > MOST_UNSETTLED:
            new = self._settle(new)
        self._view = self._ids + self._encoded(new, rest)
        return self._view

    def to_target(self, drafted: Sequence[int]) -> list[int]:
        """Convert the draft model's continuation of the ids of `to_draft` to ids that follow the
        target's. [] if the target's ids end in an incomplete character that the draft does not
        continue, or tokenizes differently."""
        end = next((i for i, token in enumerate(drafted) if token in self._as_target), len(drafted))
        context, tokens = self._draft.context(self._view), drafted[:end]
        whole, rest = self._draft.read(context, tokens)
        begun, before = self._begun
        text = self._draft.decode_after(context, tokens[:whole]) + rest
        ids = self._target.encode_after(before + text)
        if ids[: len(begun)] != begun:
            return []
        last = self._as_target[drafted[end]] if end < len(drafted) else None
        return ids[len(begun) :] if last is None else [*ids[len(begun) :], last]

    def _encoded(self, new: Sequence[int], rest: str = "") -> list[int]:
        text = self._target.decode_after(self._context, new) + rest
        if self._settled:
            return self._draft.encode_after(text)
        ids = self._draft.encode(text)
        return ids if ids[: len(self._bos)] == self._bos else self._bos + ids

    def _settle(self, new: list[int]) -> list[int]:
        """Move all but the newest ids to `_ids`, if possible up to the end of a word; returns the
        remaining ones."""
        latest = len(new) - UNSETTLED
        text = self._target.decode_after(self._context, new)
        cut, _ = self._target.read(self._context, new[:latest])
        for count in range(cut, len(new) - MOST_UNSETTLED, -1):
            before = self._target.decode_after(self._context, new[:count])
            following = text[len(before) : len(before) + 1]
            if following.isspace() and not before.endswith((" ", "\n", NOT_WHOLE)):
                cut = count
                break
        self._ids = self._ids + self._encoded(new[:cut])
        self._settled += cut
        self._context = self._target.context(new[:cut])
        return new[cut:]


class _Tokenizer:
    """A tokenizer for parts of a text."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        added = tokenizer.added_tokens_decoder
        self.special = {str(token): i for i, token in added.items() if token.special}
        self.dropped: set[int] = set()  # special tokens without text
        # At least one of these is not merged with the text after it.
        self._befores = [(before, self.encode(before)) for before in ("\n", "a")]

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def encode_after(self, text: str) -> list[int]:
        """Encode a continuation, without the leading space that some tokenizers add to a text."""
        for before, ids in self._befores:
            both = self.encode(before + text)
            if both[: len(ids)] == ids:
                return both[len(ids) :]
        return self.encode(text)

    def decode_after(self, context: Sequence[int], ids: Sequence[int]) -> str:
        return self._decode([*context, *ids])[len(self._decode(context)) :]

    def context(self, ids: Sequence[int]) -> list[int]:
        """The last few ids, starting at a complete character: some tokenizers decode nothing of a
        run of bytes that starts within one."""
        last = list(ids[-CONTEXT:])
        return next(
            (last[i:] for i in range(len(last)) if NOT_WHOLE not in self._decode(last[i:])), []
        )

    def read(self, context: Sequence[int], ids: Sequence[int]) -> tuple[int, str]:
        """How many of the `ids` end with a complete character, and the complete characters after
        them."""
        for count in range(len(ids), max(len(ids) - UNSETTLED, -1), -1):
            if not self.decode_after(context, ids[:count]).endswith(NOT_WHOLE):
                rest = self.decode_after([*context, *ids[:count]], ids[count:])
                return count, rest.rstrip(NOT_WHOLE)
        return len(ids), ""  # bytes that are no characters

    def _decode(self, ids: Sequence[int]) -> str:
        kept = [token for token in ids if token not in self.dropped]
        return str(self._tokenizer.decode(kept, clean_up_tokenization_spaces=False))
