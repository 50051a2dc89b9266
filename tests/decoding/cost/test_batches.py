"""What passes of several sequences at once cost."""

from __future__ import annotations

import pytest

from decoding.cost.batches import batch_costs
from decoding.model.target import Target
from decoding.params import KVCache
from tests.support.families import build


@pytest.mark.parametrize(
    ("family", "kv_cache", "measured"),
    [("llama", "none", True), ("llama", "int8", True), ("gpt2", "none", False)],
)
def test_every_size_is_measured_or_estimated(
    family: str, kv_cache: KVCache, measured: bool
) -> None:
    said: list[str] = []
    target = Target(build(family))
    target.kv_cache = kv_cache
    costs = batch_costs(target, (1, 3), 5.0, 12, said.append)
    assert costs.measured is measured and said
    for sequences in (1, 3):
        assert 0 < costs(sequences, 1) <= costs(sequences, 5.0) <= costs(sequences, 8)
    assert [size for size, _ in costs.curves[3].points] == [1, 4, 8]  # no more than are needed
