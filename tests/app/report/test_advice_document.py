"""What is advised from measured answers."""

from __future__ import annotations

from app.report.advice_document import Candidate, Outcome, advice_document
from app.report.answer import Answer
from app.report.engines import ServingConfig
from app.strategies.lane_spec import LaneSpec
from decoding.cost.curve import BatchCosts, Curve
from decoding.params import Params, SamplingParams
from decoding.stats import Stats


def test_a_speedup_that_can_be_is_advised_rather_than_one_above_tau() -> None:
    def candidate(name: str, seconds: float, passes: int) -> Candidate:
        stats = Stats(passes=passes, emitted=60, drafted=60, tested=60, decode_seconds=seconds)
        return Candidate(LaneSpec(name, name), Params(), [Answer(0, 60, seconds, (), stats)])

    def config(each: Candidate) -> ServingConfig:
        return ServingConfig("model", each.strategy, 2, 1, 3, changed="measured: otherwise")

    def best(*drafting: Candidate) -> str:
        measured = [candidate("ar", 6.0, 60), *drafting]
        costs = BatchCosts({1: Curve(((1, 1.0),))}, measured=True)
        outcome = Outcome(measured, measured, [*map(config, measured)], costs, 9, 1, 9.0)
        document = advice_document(outcome)
        pasted = [each for each in document["engines"] if each["configuration"]]
        assert pasted and all(each["note"].endswith("measured: otherwise") for each in pasted)
        (found,) = document["best"]
        return str(found["name"])

    disturbed, sound = candidate("medusa", 2.0, 30), candidate("draft", 2.5, 20)  # 3.0x, 2.4x
    assert best(disturbed, sound) == "draft"  # τ is 2 and 3
    assert best(disturbed) == "medusa"
    assert best(disturbed, candidate("draft", 7.0, 20)) == "medusa"  # which does not pay


def test_typical_acceptance_is_a_kind_of_its_own_where_it_is_lossy() -> None:
    def candidate(acceptance: str, temperature: float) -> Candidate:
        params = Params(SamplingParams(temperature), acceptance=acceptance)  # type: ignore[arg-type]
        return Candidate(LaneSpec("medusa", acceptance), params)

    exact, typical = candidate("exact", 0.7), candidate("typical", 0.7)
    assert exact.kind != typical.kind and typical.lossy and not exact.lossy
    assert candidate("exact", 0.0).kind == candidate("typical", 0.0).kind  # exact when greedy
    plain = Candidate(LaneSpec("ar", "ar"), exact.params)
    measured = [plain, typical]
    costs = BatchCosts({1: Curve(((1, 1.0),))}, measured=True)
    serving = [ServingConfig("model", each.strategy, 2) for each in measured]
    document = advice_document(Outcome(measured, measured, serving, costs, 9, 1, 9.0))
    assert [row["lossy"] for row in document["measured"]] == [False, True]
    assert [row["lossy"] for row in document["screened"]] == [False, True]
