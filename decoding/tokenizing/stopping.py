"""Stop conditions: end-of-sequence ids and stop texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from decoding.errors import InputError


@dataclass(frozen=True, slots=True)
class Stop:
    """What ends an output: `eos` ids, which are part of it, and `texts`, which are removed from the
    text that `decode` makes of ids. Raises ValueError for an empty text."""

    eos: frozenset[int] = frozenset()
    texts: tuple[str, ...] = ()
    decode: Callable[[Sequence[int]], str] | None = None

    def __post_init__(self) -> None:
        if "" in self.texts:  # which every text contains
            raise ValueError("a stop text must not be empty")

    def cut(self, before: Sequence[int], emitted: Sequence[int]) -> int | None:
        """Count how many of `emitted` (that follow `before`) belong to the output; None if it does
        not end yet. The earliest stop of either kind counts. Raises ValueError for texts without
        `decode`."""
        end = next((i + 1 for i, token in enumerate(emitted) if token in self.eos), None)
        if self.texts:
            if self.decode is None:
                raise ValueError("stop texts need a function that decodes ids")
            # A stop text may begin in earlier tokens. A token adds at least one byte, unless it is
            # a special one, for which there is some room.
            reach = max(len(t.encode()) for t in self.texts) + 8
            tail, last = list(before[-reach:]), end or len(emitted)
            if self._found([*tail, *emitted[:last]]):
                ends = range(1, last + 1)
                return next((i for i in ends if self._found([*tail, *emitted[:i]])), last)
        return end

    def _found(self, ids: Sequence[int]) -> bool:
        assert self.decode is not None
        text = self.decode(ids).rstrip("\ufffd")  # a character whose last bytes are still to come
        return any(each in text for each in self.texts)

    def trim(self, text: str) -> str:
        """Cut `text` at the earliest stop text."""
        ends = [text.index(t) for t in self.texts if t in text]
        return text[: min(ends)] if ends else text


def eos_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return a `transformers` model's end-of-sequence ids, from its generation_config, else its
    config, else the tokenizer. Raises InputError if they are not ids."""
    for source in (model.generation_config, model.config.get_text_config(decoder=True), tokenizer):
        eos = getattr(source, "eos_token_id", None)
        if eos is not None and eos != []:
            ids = eos if isinstance(eos, (list, tuple)) else [eos]
            if not all(type(token) is int for token in ids):
                raise InputError(
                    f"the model's eos_token_id is {eos!r}: fix it in generation_config.json or "
                    "config.json, it must be a number or a list of numbers"
                )
            return frozenset(ids)
    return frozenset()
