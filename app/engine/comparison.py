"""Compares a lane's answer with the autoregressive lane's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from app.report.document import LaneResult
from app.strategies.registry import STRATEGIES
from decoding.params import Params, SamplingParams
from decoding.stats import ratio

if TYPE_CHECKING:
    from app.engine.lane import Lane


class Baseline:
    """The autoregressive lane's answer; implements `app.report.document.Reference`."""

    def __init__(self, lane: Lane, prompt_ids: Sequence[int], params: Params) -> None:
        self._lane, self._prompt, self._params = lane, list(prompt_ids), params

    def speedup(self, lane: LaneResult) -> float | None:
        own, base = lane.stats.tokens_per_second, self._lane.stats.tokens_per_second
        return None if own is None or base is None else ratio(own, base)

    def compare(self, lane: LaneResult) -> dict[str, Any]:
        """Compare a lane's answer with this one, as `compare` does; {} unless both lanes are on the
        target and greedy, with the same penalties. A server's answer has no ids, so its text is
        compared."""
        rules = {self._rule(lane), self._rule(self._lane)}
        if None in rules or len(rules) > 1:
            return {}
        if lane.spec.endpoint is not None:
            return {"same_text": lane.text == self._lane.text}
        if not STRATEGIES[lane.spec.strategy].on_target:
            return {}
        return compare(lane, self._lane, self._prompt, greedy=rules == {SamplingParams()})

    def _rule(self, lane: LaneResult) -> SamplingParams | None:
        return lane.spec.effective_params(self._params).sampling.greedy_rule


def sampling_rule(lane: Lane, own: Params) -> SamplingParams | None:
    """Return the rule that chooses a lane's next tokens under its `own` settings: lanes with the
    same rule and seed should give the same tokens. None if they depend on more than the target's
    draws: on sampled drafts, or typical acceptance. None in half precision as well, where rounding
    differs between batch shapes and equal draws soon diverge."""
    if own.sampling.greedy:
        return own.sampling.greedy_rule
    alone = not lane.strategy.samples_drafts and own.acceptance == "exact"
    return own.sampling if alone and lane.models.dtype == "float32" else None


def compare(
    lane: LaneResult,
    base: Lane,
    prompt_ids: Sequence[int],
    cancelled: Callable[[], bool] = lambda: False,
    greedy: bool = True,
) -> dict[str, Any]:
    """Compare two answers: whether they have the same ids, else the index of the first difference,
    and how far apart the target's logits of the two tokens are there. That gap is None if one
    answer has no token there, if `cancelled()`, where it can't be computed (it takes a second
    cache), and for draws and penalized logits, where it is no sign of a tie."""
    at = first_divergence(lane, base)
    gap = None
    if greedy and at is not None and at < min(len(lane.ids), len(base.ids)):
        before = [*prompt_ids, *base.ids[:at]]
        with suppress(Exception):  # the answers stay what they are
            gap = base.models.logit_gap(before, lane.ids[at], base.ids[at], cancelled)
    return {"matches_ar": at is None, "first_divergence": at, "divergence_gap": gap}


def first_divergence(lane: LaneResult, reference: LaneResult) -> int | None:
    """Find the index of the first token that differs or that only one side has; None if there is
    none. An answer cut off by the length limit is only compared up to its end."""
    for i, (a, b) in enumerate(zip(lane.ids, reference.ids, strict=False)):
        if a != b:
            return i
    shorter, longer = sorted((lane, reference), key=lambda each: len(each.ids))
    cut = shorter.finished == "length" or len(shorter.ids) == len(longer.ids)
    return None if cut else len(shorter.ids)
