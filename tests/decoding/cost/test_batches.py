"""What passes of several sequences at once cost."""

from __future__ import annotations

import pytest

from decoding.cost import batches, measure
from decoding.cost.batches import batch_costs
from decoding.model.architecture import MIN_CONTEXT
from decoding.model.target import Target
from decoding.params import KVCacheDtype
from tests.support.families import build


@pytest.mark.parametrize(
    ("family", "kv_cache", "measured"),
    [("llama", "none", True), ("llama", "int8", True), ("gpt2", "none", False)],
)
def test_every_size_is_measured_or_estimated(
    family: str, kv_cache: KVCacheDtype, measured: bool
) -> None:
    said: list[str] = []
    target = Target(build(family))
    target.kv_cache = kv_cache
    costs = batch_costs(target, (1, 3), 5.0, 12, said.append)
    assert costs.measured is measured and said
    for sequences in (1, 3):
        assert 0 < costs(sequences, 1) <= costs(sequences, 5.0) <= costs(sequences, 8)
    assert [size for size, _ in costs.curves[3].points] == [1, 4, 8]  # no more than are needed


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_short_context_is_not_exceeded(family: str) -> None:
    model = build(family)
    model.config.max_position_embeddings = MIN_CONTEXT
    target = Target(model)
    assert [size for size, _ in measure.verify_cost(target).points] == [1, 4, 8]
    assert measure.pass_seconds(target, 64) > 0
    assert batch_costs(target, (1, 2), 60.0, 12)(1, 8) > 0


def test_a_pass_that_was_disturbed_costs_no_more_than_a_larger_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = Target(build("llama"))
    alone = {1: 1.0, 4: 9.0, 8: 2.0}
    monkeypatch.setattr(measure, "pass_seconds", lambda target, nodes: alone[nodes])
    assert measure.verify_cost(target, (1, 4, 8)).points == ((1, 1.0), (4, 2.0), (8, 2.0))
    several = {(1, 1): 1.0, (1, 4): 1.5, (2, 1): 8.0, (2, 4): 9.0, (3, 1): 1.2, (3, 4): 2.0}
    monkeypatch.setattr(
        batches,
        "batch_pass_seconds",
        lambda target, lean, sequences, nodes, context: several[sequences, nodes],
    )
    costs = batch_costs(target, (1, 2, 3), 4.0, 12)
    assert costs.curves[2].points == ((1, 1.2), (4, 2.0)) == costs.curves[3].points
    assert costs.curves[1].points == ((1, 1.0), (4, 1.5))
