"""What measured answers say."""

from __future__ import annotations

import pytest

from app.report.advice_document import Candidate, Outcome, advice_document
from app.report.answer import Answer, Timing
from app.report.engines import Choice
from app.report.speedup_estimate import estimate_speedup
from app.strategies.lane_spec import LaneSpec
from decoding.cost.curve import BatchCosts, Curve
from decoding.params import Params
from decoding.stats import Stats


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


def test_a_speedup_that_can_be_is_advised_rather_than_one_above_tau() -> None:
    def candidate(name: str, seconds: float, passes: int) -> Candidate:
        stats = Stats(passes=passes, emitted=60, drafted=60, tested=60, decode_seconds=seconds)
        return Candidate(LaneSpec(name, name), Params(), [Answer(0, 60, seconds, (), stats)])

    def choice(each: Candidate) -> Choice:
        return Choice("model", each.strategy, 2, 1, 3, changed="measured: otherwise")

    def best(*drafting: Candidate) -> str:
        measured = [candidate("ar", 6.0, 60), *drafting]
        costs = BatchCosts({1: Curve(((1, 1.0),))}, measured=True)
        outcome = Outcome(measured, measured, [*map(choice, measured)], costs, 9, 1, 9.0)
        document = advice_document(outcome)
        pasted = [each for each in document["engines"] if each["configuration"]]
        assert pasted and all(each["note"].endswith("measured: otherwise") for each in pasted)
        (found,) = document["best"]
        return str(found["name"])

    disturbed, sound = candidate("medusa", 2.0, 30), candidate("draft", 2.5, 20)  # 3.0x, 2.4x
    assert best(disturbed, sound) == "draft"  # τ is 2 and 3
    assert best(disturbed) == "medusa"
    assert best(disturbed, candidate("draft", 7.0, 20)) == "medusa"  # which does not pay
