"""Suffix decoding against a brute force, and what it keeps between turns."""

from __future__ import annotations

from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st

from decoding.drafters import suffix
from decoding.drafters.suffix import Suffix

FEW_IDS = st.lists(st.integers(0, 2), min_size=2, max_size=60)
DEPTH, GAMMA = 6, 12


def drafter(ids: list[int]) -> Suffix:
    made = Suffix(torch.device("cpu"), DEPTH)
    made.start(ids)
    return made


def followers(ids: list[int], text: list[int]) -> Counter[int]:
    places = range(len(ids) - len(text))
    return Counter(ids[i + len(text)] for i in places if ids[i : i + len(text)] == text)


@given(FEW_IDS, st.integers(1, GAMMA))
def test_each_token_is_the_most_frequent_follower(ids: list[int], gamma: int) -> None:
    path = drafter(ids).find(gamma)
    assert bool(path) == bool(followers(ids, ids[-1:]))
    scores = []
    for length in range(max(len(path), 1), DEPTH):  # some suffix at least as long explains it
        text, probability, fits = ids[-length:], 1.0, len(ids) >= length
        for token in path if fits else ():
            counts = followers(ids, text)
            fits &= bool(counts) and counts[token] == max(counts.values())
            probability *= counts[token] / max(counts.total(), 1)
            text = [*text, token]
        scores.append(fits and probability >= 0.1)
    assert not path or any(scores)


@given(FEW_IDS, st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), max_size=5))
def test_token_by_token_or_at_once(ids: list[int], rounds: list[list[int]]) -> None:
    grown = drafter(ids)
    for emitted in rounds:
        ids = [*ids, *emitted]
        grown.observe(ids, len(emitted) - 1)
    assert grown.find(GAMMA) == drafter(ids).find(GAMMA)


def test_a_longer_match_drafts_further_and_the_frequent_wins() -> None:
    assert drafter([1, 2, 3, 4, 9, 1, 2, 3]).find(GAMMA) == [4, 9, 1]
    assert drafter([7, 1, 7, 2, 7, 2, 7]).find(1) == [2]


def test_the_next_turn_knows_the_answers_of_the_last() -> None:
    made = drafter([1, 2, 3])
    made.observe([1, 2, 3, 5, 6, 7, 8], 3)
    made.start([1, 2, 3, 9, 9, 5, 6, 7])  # another lane's answer leads: ours is still known
    assert made.find(GAMMA) == [8]


def test_another_prompt_and_the_same_once_more_begin_anew() -> None:
    for again in ([1, 2, 3], [4, 5, 6, 7]):
        made = drafter([1, 2, 3])
        made.observe([1, 2, 3, 5, 6, 7, 8, 4, 5, 6, 7], 3)
        made.start(again)
        assert made.find(GAMMA) == []


def test_memory_is_bounded() -> None:
    made = drafter([0])
    ids = [0]
    for i in range(3 * suffix.MAX_TOKENS):
        ids.append(i % 977)
        if i % 50 == 0:
            made.observe(ids, 0)
            assert made._count <= suffix.MAX_TOKENS
    made.observe(ids, 0)
    assert made.find(3) == [(ids[-1] + k) % 977 for k in range(1, 4)]
