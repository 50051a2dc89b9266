"""At which batch size drafting stops paying."""

from __future__ import annotations

import pytest

from app.report.batches import RoundCost, Throughput, batch_throughputs, stops_paying

PLAIN = RoundCost(tokens=1.0, nodes=1.0, verify=1.0, draft=0.0, rest=0.0)
DRAFTED = RoundCost(tokens=3.0, nodes=4.0, verify=1.0, draft=0.2, rest=0.0)


def test_a_batch_of_drafts_stops_paying_where_passes_begin_to_cost() -> None:
    # as on a GPU: up to 16 tokens the weights take the time, then each token
    def passes(sequences: int, nodes: float) -> float:
        return max(sequences * nodes, 16) / 16

    found = batch_throughputs(DRAFTED, PLAIN, True, passes, (1, 4, 16))
    assert [each.plain for each in found.values()] == pytest.approx([1.0, 4.0, 16.0])
    assert found[1].speedup == found[4].speedup == pytest.approx(3.0 / 1.2)
    assert found[16].drafting == pytest.approx(16 * 3.0 / (4.0 + 0.2))
    assert stops_paying(found) == 16 and stops_paying({1: Throughput(1.5, 1.0)}) is None
    disturbed = {1: 1.6, 2: 0.4, 4: 1.4, 8: 0.9, 16: 0.8}
    assert stops_paying({n: Throughput(each, 1.0) for n, each in disturbed.items()}) == 8


def test_a_draft_that_no_model_makes_takes_each_sequence_as_long() -> None:
    found = batch_throughputs(DRAFTED, PLAIN, False, lambda sequences, nodes: 1.0, (1, 10))
    assert found[1].speedup == pytest.approx(3.0 / 1.2)
    assert found[10].speedup == pytest.approx(3.0 / (1.0 + 10 * 0.2))


def test_passes_are_brought_into_line_with_those_of_the_rounds() -> None:
    """What is measured alone may be off by as much for each number of nodes."""
    slow = RoundCost(tokens=3.0, nodes=4.0, verify=4.0, draft=0.0, rest=0.0)
    found = batch_throughputs(slow, PLAIN, True, lambda sequences, nodes: float(sequences), (1, 2))
    assert [each.speedup for each in found.values()] == pytest.approx([3 / 4, 3 / 4])
    assert stops_paying(found) == 1


def test_no_batch_gives_more_than_a_round_has_tokens() -> None:
    def passes(sequences: int, nodes: float) -> float:
        return 1.0 if nodes == 1 and sequences == 1 else 4.0 if nodes == 1 else 0.5

    found = batch_throughputs(DRAFTED, PLAIN, False, passes, (1, 2, 4))
    assert max(each.speedup for each in found.values()) <= DRAFTED.tokens
