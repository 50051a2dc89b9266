"""Prompt lookup against a brute force; common prefixes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from decoding.drafters.base import DraftContext
from decoding.drafters.lookup import Lookup
from decoding.model.prefix import common_prefix_length
from decoding.params import Params

FEW_IDS = st.lists(st.integers(0, 3), min_size=1, max_size=30)


def brute_force(ids: list[int], gamma: int, max_ngram: int) -> list[int]:
    """The longest ending that stood somewhere before, its most recent place, then a copy token by
    token; the copy may read what it has written itself."""
    for n in range(min(max_ngram, len(ids) - 1), 0, -1):
        for end in range(len(ids) - 1, n - 1, -1):
            if ids[end - n : end] == ids[-n:]:
                text = list(ids)
                for i in range(gamma):
                    text.append(text[end + i])
                return text[len(ids) :]
    return []


def context(ids: list[int]) -> DraftContext:
    return DraftContext(ids, 5, Params(), torch.Generator())


def lookup_over(ids: list[int], max_ngram: int = 4) -> Lookup:
    lookup = Lookup(torch.device("cpu"), max_ngram)
    lookup.start(ids)
    return lookup


@given(FEW_IDS, st.integers(1, 8), st.integers(1, 5))
def test_find_equals_the_brute_force(ids: list[int], gamma: int, max_ngram: int) -> None:
    assert lookup_over(ids, max_ngram).find(ids, gamma) == brute_force(ids, gamma, max_ngram)


@given(FEW_IDS, st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), max_size=5))
def test_what_is_generated_is_searched_as_well(ids: list[int], rounds: list[list[int]]) -> None:
    lookup = lookup_over(ids)
    for emitted in rounds:
        ids = ids + emitted
        lookup.observe(ids, len(emitted) - 1)
        assert lookup.find(ids, 4) == brute_force(ids, 4, 4)


@given(FEW_IDS, FEW_IDS)
def test_a_new_prompt_forgets_the_old_one(old: list[int], new: list[int]) -> None:
    lookup = lookup_over(old)
    lookup.start(new)
    assert lookup.find(new, 4) == brute_force(new, 4, 4)


@pytest.mark.parametrize(
    "ids, drafted",
    [
        ([1, 2, 3, 1, 2], [3, 1, 2, 3, 1]),
        ([7, 7], [7, 7, 7, 7, 7]),
        ([1, 2, 9, 1, 2, 8, 1, 2], [8, 1, 2, 8, 1]),  # the most recent of two
        ([5, 1, 2, 9, 1, 2, 8, 5, 1, 2], [9, 1, 2, 8, 5]),  # the longer of two
    ],
    ids=["period", "repeated token", "recent", "longest"],
)
def test_examples(ids: list[int], drafted: list[int]) -> None:
    lookup = lookup_over(ids)
    draft = lookup.propose(context(ids))
    assert draft is not None and draft.q is None
    assert draft.tree.tokens.tolist() == [ids[-1], *drafted]
    assert draft.tree.shape.is_chain


@pytest.mark.parametrize("ids", [[1], [1, 2, 3]], ids=str)
def test_nothing_found_is_nothing_proposed(ids: list[int]) -> None:
    assert lookup_over(ids).propose(context(ids)) is None


@given(FEW_IDS, FEW_IDS, FEW_IDS)
def test_common_prefix(start: list[int], a: list[int], b: list[int]) -> None:
    length = common_prefix_length(start + a, start + b)
    assert length >= len(start)
    assert (start + a)[:length] == (start + b)[:length]
    rest_a, rest_b = (start + a)[length:], (start + b)[length:]
    assert not rest_a or not rest_b or rest_a[0] != rest_b[0]


@pytest.mark.parametrize("a, b", [([], []), ([1], []), ([], [1])], ids=str)
def test_nothing_in_common(a: list[int], b: list[int]) -> None:
    assert common_prefix_length(a, b) == 0
