"""One token as it is shown."""

from __future__ import annotations

from dataclasses import dataclass

from decoding.round import TokenFate


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """A token of an answer, or one that was drafted for it.

    `text` is what the token adds to the decoded output; it is empty while a character's bytes are
    still incomplete and for special tokens. For rejected and dropped tokens, which never enter the
    output, it is how they would have looked. `node` is the index in the round's tree, -1 for tokens
    that were not drafted (first, bonus, correction).
    """

    id: int
    text: str
    fate: TokenFate
    round: int
    node: int = -1
