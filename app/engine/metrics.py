"""Computes a lane's metrics from its running sums, for live lanes and replays alike."""

from __future__ import annotations

from app.engine.events import Metrics
from decoding.stats import Stats, ratio

BESIDE = 0.5  # least share of a lane's decoding time for which the baseline must run beside it


def metrics_of(stats: Stats, tokens: int, passes: int, baseline: float | None) -> Metrics:
    """Compute a lane's metrics. `tokens` includes the prefill's, `passes` are the target's;
    `baseline` is the tok/s of the autoregressive lane in the same run."""
    speed = stats.tokens_per_second
    return Metrics(
        tokens=tokens,
        passes=passes,
        tokens_per_second=speed,
        speedup=ratio(speed, baseline) if speed is not None and baseline is not None else None,
        acceptance_rate=stats.acceptance_rate,
        tokens_per_pass=stats.tokens_per_pass,
        histogram=tuple(stats.histogram),
        draft_seconds=stats.draft_seconds,
        verify_seconds=stats.verify_seconds,
        accept_seconds=stats.accept_seconds,
        decode_seconds=stats.decode_seconds,
        draft_acceptance_rate=ratio(stats.accepted, stats.drafted),
    )


def concurrent_baseline_speed(baseline: Stats, lane: Stats) -> float | None:
    """Return the tok/s of the autoregressive lane so far, now that `lane` has ended: in a race that
    is the time in which both ran. What the machine does later would count against only one of them.

    None if it has decoded for much less time than `lane`, as one after the other.
    """
    beside = baseline.decode_seconds >= BESIDE * lane.decode_seconds
    return baseline.tokens_per_second if beside else None
