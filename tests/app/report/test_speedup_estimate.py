"""What measured answers say of a speedup, and how sure that is."""

from __future__ import annotations

import pytest

from app.report.answer import Timing
from app.report.speedup_estimate import estimate_speedup


def answers(*seconds: float, prompts: int = 100) -> list[Timing]:
    return [Timing(index % prompts, 10, each) for index, each in enumerate(seconds)]


def test_a_speedup_is_all_tokens_over_all_seconds() -> None:
    estimate = estimate_speedup(answers(1, 1, 2), answers(2, 2, 4))
    assert estimate is not None and estimate.ratio == pytest.approx(2.0)
    assert (estimate.low, estimate.high) == pytest.approx((2.0, 2.0))


def test_few_answers_have_a_range_many_an_interval() -> None:
    few = estimate_speedup(answers(1, 2), answers(2, 2))
    assert few is not None and few.interval == "range"
    assert (few.low, few.high) == pytest.approx((1.0, 2.0))
    many = estimate_speedup(answers(*[1, 2] * 20), answers(*[2] * 40))
    assert many is not None and many.interval == "95% bootstrap"
    assert 1.0 < many.low < many.ratio < many.high < 2.0


def test_a_repeat_of_a_prompt_is_not_another_prompt() -> None:
    own = [
        Timing(index // 8, 10, 1.0 + index // 8) for index in range(48)
    ]  # 6 prompts, 8 times each
    alone = [Timing(index, 10, each.seconds) for index, each in enumerate(own)]  # 48 prompts
    base = answers(*[4.0] * 48)
    repeated, other = estimate_speedup(own, base), estimate_speedup(alone, base)
    assert repeated is not None and other is not None and repeated.ratio == other.ratio
    assert repeated.high - repeated.low > 2 * (other.high - other.low)


def test_where_nothing_was_decoded_there_is_no_speedup() -> None:
    assert estimate_speedup([Timing(0, 0, 0.0)], [Timing(0, 5, 1.0)]) is None
