"""A place has its noise whatever was drafted, so one seed is one text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.lookup import Lookup
from decoding.params import Params, SamplingParams
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape
from decoding.verification.noise import Noise, exponential
from tests.support.families import VOCAB, target
from tests.support.random_trees import RandomTrees
from tests.support.seeded import seeded

WARM = SamplingParams(temperature=1.0, top_p=0.95)
PROMPT = [3, 4, 5, 3, 4, 5, 3, 4]
NEW = 48


def rows(noise: Noise, count: int) -> list[list[float]]:
    return noise.ahead(count).tolist()


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), max_size=8))
def test_a_place_has_its_row_however_far_ahead_was_looked(
    rounds: list[tuple[int, int]],
) -> None:
    """Rounds look so far ahead, and commit so many of these places."""
    noise, text = seeded(5, 7), rows(seeded(5, 7), 120)
    place = 0
    for ahead, committed in rounds:
        assert rows(noise, ahead) == text[place : place + ahead]
        noise.advance(min(committed, ahead))
        place += min(committed, ahead)


@pytest.mark.parametrize("seed", [0, 2**63 - 1, 2**64 - 1])
def test_a_seed_has_up_to_64_bits_at_every_position(seed: int) -> None:
    noise = seeded(seed, 7)
    text = rows(noise, 4)
    noise.seed(seed, 3)
    assert rows(noise, 1) == text[3:]
    assert noise.generator.initial_seed() == 2**64 - 1 - (seed + 3) % 2**64


def test_nodes_that_are_equally_deep_share_a_row() -> None:
    noise = seeded(5, 7)
    noise.advance(2)
    tree = DraftTree(TreeShape((-1, 0, 0, 1, 0, 3)), torch.zeros(6))
    assert noise.at(tree).tolist() == [rows(noise, 4)[depth] for depth in (0, 1, 1, 2, 1, 3)]


def test_places_differ_and_so_do_seeds() -> None:
    text = rows(seeded(5, 7), 40)
    assert len({tuple(row) for row in text}) == 40
    assert rows(seeded(6, 7), 40)[0] not in text


def test_a_seed_begins_anew() -> None:
    noise = seeded(5, 7)
    before = rows(noise, 10), torch.rand(4, generator=noise.generator).tolist()
    noise.advance(9)
    noise.seed(5)
    assert (rows(noise, 10), torch.rand(4, generator=noise.generator).tolist()) == before


def test_drafts_are_drawn_without_knowing_the_noise() -> None:
    """What both streams give is not the same, and as far from it as chance is."""
    noise = seeded(5, 100)
    own, drafts = noise.ahead(40), exponential(torch.empty(40, 100), noise.generator)
    assert not set(own.flatten().tolist()) & set(drafts.flatten().tolist())
    both = torch.corrcoef(torch.stack([own.flatten(), drafts.flatten()]))
    assert abs(float(both[0, 1])) < 0.05


COLD = range(19, 27)  # greedy in between: these places use no noise


def answer(drafter: Drafter | None, seed: int, gammas: Sequence[int] = (0,)) -> list[int]:
    decoder = Decoder(target("llama"), drafter)
    decoder.start(PROMPT, Params(WARM), seed)
    sizes = cycle(gammas)
    while (count := len(decoder.generated)) < NEW:
        cold = count in COLD
        end = COLD.stop if cold else COLD.start if count < COLD.start else NEW
        gamma = min(next(sizes), end - count - 1)  # the settings change at one place for all
        if drafter and count == COLD.start:
            decoder._noise.ahead(20)  # as a longer draft would have asked for
        decoder.step(Params(SamplingParams() if cold else WARM, gamma=gamma))
    return decoder.generated


@pytest.mark.parametrize("gammas", [(1,), (3,), (8, 1, 0, 5)], ids=str)
@pytest.mark.parametrize("strategy", ["lookup", "trees"])
def test_at_one_seed_all_say_what_plain_sampling_says(
    strategy: str, gammas: tuple[int, ...]
) -> None:
    for seed in range(4):
        plain = answer(None, seed)
        drafter: Drafter = Lookup(torch.device("cpu"))
        if strategy == "trees":  # half of what they guess is right
            drafter = RandomTrees(VOCAB, seed, len(PROMPT), plain, nodes=16)
        assert answer(drafter, seed, gammas) == plain
    assert answer(None, 0) != answer(None, 1)
