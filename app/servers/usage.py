"""The counts that a server reports for an answer: tokens and drafts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from decoding.stats import Stats


@dataclass(frozen=True, slots=True)
class Drafting:
    """Sums over target passes, as in `decoding.stats.Stats`. None: not reported. `tested` is only
    known if the server reports the accepted length of each draft."""

    drafted: int
    accepted: int
    passes: int | None = None
    tested: int | None = None
    histogram: tuple[int, ...] = ()  # [i]: passes with i accepted tokens


@dataclass(frozen=True, slots=True)
class Usage:
    """`tokens` of the answer, including the first and the end-of-sequence token; None: not
    reported, so that pieces of text are counted. `seconds`: from the first piece to the end; 0 if
    it is the only one. `first_tokens` are those of the first piece, which took none of them."""

    seconds: float
    tokens: int | None = None
    prompt_tokens: int | None = None
    drafting: Drafting | None = None
    first_tokens: int = 1


def with_reported_counts(stats: Stats, usage: Usage | None) -> Stats:
    """Return the sums over an answer's pieces, corrected by what the server reported at its end.
    Passes are only those reported: a piece is not a target pass."""
    found = replace(stats, passes=0, histogram=[])
    if usage is None:
        return found
    found.decode_seconds = usage.seconds
    if usage.tokens is not None:
        found.emitted = max(usage.tokens - 1, 0)
        found.untimed = min(usage.first_tokens - 1, found.emitted)
    if drafting := usage.drafting:
        found.drafted, found.accepted = drafting.drafted, drafting.accepted
        found.tested = drafting.tested or 0
        found.histogram = list(drafting.histogram)
        # Passes without drafts may not be counted, but every pass emits one token of its own.
        found.passes = max(drafting.passes or 0, found.emitted - found.accepted)
    return found
