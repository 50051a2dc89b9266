"""What a watched round knows of one of its tokens; None where it was not watched."""

from __future__ import annotations

from app.engine.events import Prefilled, RoundFinished
from decoding.round import TokenEvent

Source = Prefilled | RoundFinished  # what brings tokens


def parent(token: TokenEvent, source: RoundFinished) -> int:
    """The node that a round's token stands behind, or would have."""
    record = source.round
    if token.node > 0:
        return record.parents[token.node]
    return record.accepted[-1] if record.accepted else 0


def target_p(token: TokenEvent, source: Source) -> tuple[float, float] | None:
    """The target's probability of it before temperature and cuts, and after them."""
    if isinstance(source, Prefilled):
        return source.belief.own_p if source.belief else None
    record, node = source.round, token.node
    if node <= 0:
        return record.own_p
    return (record.model_p[node], record.p[node]) if record.model_p else None


def entropy(token: TokenEvent, source: Source) -> float | None:
    """How unsure the target was of its place: in bits, before temperature and cuts."""
    if isinstance(source, Prefilled):
        return source.belief.entropy if source.belief else None
    entropies = source.round.entropies
    return entropies[parent(token, source)] if entropies else None
