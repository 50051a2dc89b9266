"""Computes a lane's metrics from its running sums, for live lanes and replays alike."""

from __future__ import annotations

from app.engine.events import Metrics
from decoding.stats import Stats, ratio


def metrics_of(stats: Stats, tokens: int, passes: int, baseline: Stats | None) -> Metrics:
    """`tokens` includes the prefill's, `passes` are the target's; `baseline` has the sums so far of
    the autoregressive lane in the same run."""
    speed = stats.tokens_per_second
    base = baseline.tokens_per_second if baseline is not None else None
    return Metrics(
        tokens=tokens,
        passes=passes,
        tokens_per_second=speed,
        speedup=ratio(speed, base) if speed is not None and base is not None else None,
        acceptance_rate=stats.acceptance_rate,
        tokens_per_pass=stats.tokens_per_pass,
        histogram=tuple(stats.histogram),
        draft_seconds=stats.draft_seconds,
        verify_seconds=stats.verify_seconds,
        accept_seconds=stats.accept_seconds,
        decode_seconds=stats.decode_seconds,
        draft_acceptance_rate=ratio(stats.accepted, stats.drafted),
    )
