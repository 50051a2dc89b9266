"""What a server says of an answer: its tokens, and what became of its drafts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from decoding.stats import Stats


@dataclass(frozen=True, slots=True)
class Drafting:
    """Sums over target passes, as `decoding.stats.Stats` has them. None: the server does not say.
    `tested` is known only where the server says of each draft how far it was accepted."""

    drafted: int
    accepted: int
    passes: int | None = None
    tested: int | None = None
    histogram: tuple[int, ...] = ()  # [i]: passes with i accepted tokens


@dataclass(frozen=True, slots=True)
class Usage:
    """`tokens` of the answer, the first one and the end token among them; None: the server does
    not say, and pieces of text are counted. `seconds`: from the first piece to the end."""

    seconds: float
    tokens: int | None = None
    prompt_tokens: int | None = None
    drafting: Drafting | None = None


def settled(stats: Stats, usage: Usage | None) -> Stats:
    """The sums over the pieces of an answer, corrected by what the server said at its end. A piece
    is no target pass: there are passes only where the server says so."""
    found = replace(stats, passes=0, histogram=[])
    if usage is None:
        return found
    found.decode_seconds = usage.seconds
    if usage.tokens is not None:
        found.emitted = max(usage.tokens - 1, 0)
    if drafting := usage.drafting:
        found.drafted, found.accepted = drafting.drafted, drafting.accepted
        found.tested = drafting.tested or 0
        found.histogram = list(drafting.histogram)
        # A pass that drafts nothing may not be counted; every pass gives a token of its own.
        found.passes = max(drafting.passes or 0, found.emitted - found.accepted)
    return found
