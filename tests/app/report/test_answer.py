"""Answers that are compared."""

from __future__ import annotations

from collections.abc import Sequence

from app.report.answer import Answer, same_ids
from decoding.stats import Stats


def answer(ids: Sequence[int], cut: bool = False) -> Answer:
    return Answer.of(0, ids, Stats(), cut)


def test_an_answer_that_was_cut_is_compared_as_far_as_it_goes() -> None:
    whole, early = answer([1, 2, 3, 4]), answer([1, 2], cut=True)
    assert same_ids(whole, answer((1, 2, 3, 4)))
    assert same_ids(early, whole) and same_ids(whole, early)
    assert same_ids(early, answer([1, 2, 3], cut=True))  # its last round brought more
    assert not same_ids(whole, answer([1, 2, 3, 4, 5], cut=True))  # the other one ended
    assert not same_ids(answer([1, 2]), whole)
    assert not same_ids(answer([1, 9], cut=True), whole)
