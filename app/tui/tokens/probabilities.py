"""Recorded probabilities of one token; None where the round has none."""

from __future__ import annotations

from app.engine.events import Prefilled, RoundFinished
from app.text.token_event import TokenEvent

Source = Prefilled | RoundFinished  # events with tokens


def target_p(token: TokenEvent, source: Source) -> tuple[float, float] | None:
    """Return the target's probability of a token before and after the sampling settings."""
    if isinstance(source, Prefilled):
        return source.probs.own_p if source.probs else None
    record, node = source.round, token.node
    if node <= 0:
        return record.own_p
    return (record.model_p[node], record.p[node]) if record.model_p else None


def entropy(token: TokenEvent, source: Source) -> float | None:
    """Return the target's entropy at the token's position: in bits, before sampling settings."""
    if isinstance(source, Prefilled):
        return source.probs.entropy if source.probs else None
    entropies = source.round.entropies
    return entropies[source.round.parent(token.node)] if entropies else None
