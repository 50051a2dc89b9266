"""Where a chain of drafts ends, on machines and for draft models of known quality."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from decoding.cost.auto_gamma import MAX_GAMMA
from decoding.cost.chain_length import ChainLength
from decoding.cost.curve import Line
from decoding.cost.model import CostModel

COSTS = CostModel(Line(0.02, 0.1), Line(0.95, 0.05))  # of a plain round: 1


def drafts(rng: random.Random, sure: float, trust: float) -> Iterator[tuple[float, bool]]:
    """A draft's probability and whether it is right: half of the texts are easy. Right are so many
    of those that should be wrong, as `trust` says: 1 as the probabilities say."""
    easy = rng.random() < 0.5
    while True:
        p = rng.uniform(sure, 1.0) if easy else rng.uniform(0.1, 0.7)
        yield p, rng.random() < 1.0 - trust * (1.0 - p)


def speed(length: ChainLength | int, sure: float, trust: float = 1.0) -> float:
    """Tokens per plain round with chains of this length."""
    rng, tokens, seconds = random.Random(7), 0, 0.0
    for _ in range(3000):
        if isinstance(length, ChainLength):
            length.begin(COSTS)
        chain: list[bool] = []
        for p, right in drafts(rng, sure, trust):
            chain.append(right)
            going = length.goes_on(p) if isinstance(length, ChainLength) else len(chain) < length
            if not going or len(chain) == MAX_GAMMA:
                break
        accepted = [*chain, False].index(False)
        if isinstance(length, ChainLength):
            length.ended(accepted)
        tokens += accepted + 1
        seconds += COSTS.seconds(len(chain), len(chain) + 1)
    return tokens / seconds


@pytest.mark.parametrize("trust", [1.0, 0.2])
@pytest.mark.parametrize("sure", [0.95, 0.6])
def test_it_is_faster_than_any_fixed_length(sure: float, trust: float) -> None:
    best = max(speed(length, sure, trust) for length in range(1, MAX_GAMMA + 1))
    assert speed(ChainLength(), sure, trust) > 1.01 * best


def test_a_node_that_costs_much_does_not_hide_cheap_ones_behind_it() -> None:
    """The fifth row of a pass may need a larger kernel, which does eight as well."""
    costs = CostModel(Line(0.0, 0.02), lambda nodes: 1.0 if nodes <= 4 else 1.5)
    length, n = ChainLength(), 0
    for _ in range(50):
        length.begin(costs)
        n = 1
        while length.goes_on(0.99) and n < MAX_GAMMA:
            n += 1
        length.ended(n)
    assert n == MAX_GAMMA
