"""Projects a strategy's speed to larger batches, and finds the size at which it stops paying. Plain
numbers, no models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any

from decoding.cost.curve import BatchCosts
from decoding.stats import Stats

_ASSUMED = (
    "drafting by a model or a head grows like the target's passes, other drafting with B; "
    "acceptance is taken to stay the same"
)
ESTIMATED = (
    "estimated, not measured: a batch of B sequences is taken to cost what one pass over B times "
    f"as many tokens cost here; {_ASSUMED}"
)
MEASURED = (
    "from passes over B sequences that were measured here, all after the context of a mean round; "
    f"{_ASSUMED}"
)
MEASURED_LIMITS = "leaves out what an engine's scheduler and kernels do better or worse"
ESTIMATED_LIMITS = (
    f"{MEASURED_LIMITS}, and the reading of B caches, which grows with the context in both cases; "
    "nothing is claimed beyond the largest measured pass"
)
CLEARLY = 1.1  # faster or slower
FAR = 1.5  # times as much


@dataclass(frozen=True, slots=True)
class RoundCost:
    """A strategy's mean round at batch size 1: its tokens (τ), the nodes that its pass verifies
    (root included), and the seconds of its parts."""

    tokens: float
    nodes: float
    verify: float
    draft: float
    rest: float


@dataclass(frozen=True, slots=True)
class DraftingContestant:
    """A contestant that drafts, and the baseline that it is compared with."""

    name: str
    baseline: str
    own: RoundCost
    plain: RoundCost
    by_model: bool


@dataclass(frozen=True, slots=True)
class Throughput:
    """Tokens per second over all sequences of a batch, with drafts and by the target alone."""

    drafting: float
    plain: float

    @property
    def speedup(self) -> float:
        return self.drafting / self.plain


def round_cost(stats: Stats) -> RoundCost:
    """Return the cost of the mean round."""
    passes = stats.passes
    draft, verify = stats.draft_seconds / passes, stats.verify_seconds / passes
    return RoundCost(
        stats.emitted / passes,
        stats.nodes_per_pass or 1.0,
        verify,
        draft,
        max(stats.decode_seconds / passes - verify - draft, 0.0),
    )


def batch_throughputs(
    own: RoundCost,
    plain: RoundCost,
    by_model: bool,
    passes: Callable[[int, float], float],
    batches: Iterable[int],
) -> dict[int, Throughput]:
    """Estimated throughput for each batch size. `passes(B, n)`: seconds of a target pass over B
    sequences with n tokens each, which is scaled to the measured rounds. `by_model`: drafts come
    from a model or head, whose passes the batch shares."""
    found = {}
    for batch in batches:
        growth = passes(batch, 1) / passes(1, 1)
        alone = plain.verify * growth + plain.rest
        verify = own.verify * passes(batch, own.nodes) / passes(1, own.nodes)
        whole = verify + own.draft * (growth if by_model else batch) + own.rest
        # A larger pass is never cheaper, whatever the noisy measurements say.
        found[batch] = Throughput(
            batch * min(own.tokens / whole, own.tokens / alone), batch * plain.tokens / alone
        )
    return found


def stops_paying(throughputs: Mapping[int, Throughput]) -> int | None:
    """Return the smallest of the batch sizes from which on drafting is no faster; None if it still
    is at the largest. One that is slower between two that are not was measured badly."""
    batches = sorted(throughputs, reverse=True)
    slower = list(takewhile(lambda batch: throughputs[batch].speedup <= 1.0, batches))
    return slower[-1] if slower else None


def disagree(speedups: Iterable[float]) -> bool:
    """Return whether drafting clearly pays in a larger batch, though it clearly did not in a
    smaller one, or pays far more there: the measurements were disturbed. `speedups` from the
    smallest batch to the largest."""
    found = list(speedups)
    least = accumulate(found, min)
    return any(
        (worst < 1 / CLEARLY and each > CLEARLY) or each > FAR * worst
        for worst, each in zip(least, found, strict=True)
    )


def method_of(costs: BatchCosts) -> dict[str, Any]:
    """Return how the costs were obtained, and what they leave out."""
    return {
        "measured": costs.measured,
        "method": MEASURED if costs.measured else ESTIMATED,
        "limits": MEASURED_LIMITS if costs.measured else ESTIMATED_LIMITS,
    }


def batches_document(
    drafting: Sequence[DraftingContestant], costs: BatchCosts, sizes: Sequence[int], context: int
) -> dict[str, Any]:
    """Return the throughput of each of `drafting` in batches of these sizes, after `context`
    tokens."""
    rows = []
    known = [size for size in sizes if size in costs.curves]
    for each in drafting:
        found = batch_throughputs(each.own, each.plain, each.by_model, costs, known)
        rows.append(
            {
                "name": each.name,
                "baseline": each.baseline,
                "stops_paying_at": stops_paying(found),
                "sizes": [
                    {
                        "sequences": size,
                        "tokens_per_second": throughput.drafting,
                        "baseline_tokens_per_second": throughput.plain,
                        "speedup": throughput.speedup,
                    }
                    for size, throughput in found.items()
                ],
            }
        )
    return {
        **method_of(costs),
        "context": context,
        "contestants": rows,
        "left_out": [size for size in sizes if size not in known],
    }
