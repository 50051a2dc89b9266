"""Figures are sums over rounds; what is not defined is None."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoding.round import Round
from decoding.stats import Stats, acceptance_by_position, ratio
from tests.support.simulated import Machine


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    drafted = draw(st.integers(0, 6))
    accepted = draw(st.integers(0, drafted))
    emitted = max(accepted + draw(st.integers(0, 1)), 1)  # without a bonus: cut by the end
    return Round(
        index=0,
        tokens=(1,) * (drafted + 1),
        parents=tuple(range(-1, drafted)),
        accepted=tuple(range(1, accepted + 1)),
        emitted=(1,) * emitted,
        tested=min(accepted + 1, drafted, emitted),
        draft_seconds=0.25,
        verify_seconds=0.5,
        accept_seconds=0.125,
        total_seconds=1.0,
    )


@given(st.lists(rounds(), min_size=1, max_size=10))
def test_figures_are_sums_over_the_rounds(records: list[Round]) -> None:
    stats = Stats.of(records)
    emitted = sum(len(r.emitted) for r in records)
    accepted = [len(r.accepted) for r in records]
    tested = sum(r.tested for r in records)
    assert stats.passes == len(records)
    assert stats.drafted == sum(len(r.tokens) - 1 for r in records)
    assert stats.tokens_per_pass == pytest.approx(emitted / len(records))
    assert stats.tokens_per_second == pytest.approx(emitted / len(records))  # a second each
    assert stats.acceptance_rate == (sum(accepted) / tested if tested else None)
    assert stats.histogram == [accepted.count(i) for i in range(max(accepted) + 1)]
    assert sum(stats.histogram) == stats.passes
    assert stats.draft_seconds == 0.25 * len(records)
    assert stats.verify_seconds == 0.5 * len(records)
    assert stats.accept_seconds == 0.125 * len(records)


def test_before_the_first_round_no_ratio_is_defined() -> None:
    stats = Stats()
    assert stats.acceptance_rate is stats.tokens_per_pass is stats.tokens_per_second is None
    assert stats.histogram == []


def test_a_ratio_over_nothing_is_none() -> None:
    assert ratio(1.0, 0.0) is None
    assert ratio(0.0, 2.0) == 0.0


@given(st.lists(rounds(), max_size=20))
def test_positions_add_up_to_the_figures(records: list[Round]) -> None:
    stats = Stats.of(records)
    found = acceptance_by_position(records)
    assert sum(position.accepted for position in found) == stats.accepted
    assert sum(position.tested for position in found) == stats.tested
    for before, after in zip(found, found[1:], strict=False):
        assert after.tested <= before.accepted
        assert after.accepted <= after.tested <= after.rounds <= before.rounds


def test_acceptance_by_position_given_what_came_before_and_at_all() -> None:
    machine = Machine((0.9, 0.5))
    first, second, third = acceptance_by_position(machine.round(3) for _ in range(4000))
    assert first.conditional == first.unconditional == pytest.approx(0.9, abs=0.02)
    assert second.conditional == pytest.approx(0.5, abs=0.02)
    assert second.unconditional == pytest.approx(0.45, abs=0.02)
    assert third.unconditional == pytest.approx(0.225, abs=0.02)
    assert acceptance_by_position([machine.round(0)]) == []


def test_acceptance_at_all_never_rises_with_the_position() -> None:
    """Though deep drafts are made only where they are likely to be accepted."""
    sure, unsure = Machine((1.0,)), Machine((0.5,))
    rounds = [*(sure.round(6) for _ in range(10)), *(unsure.round(2) for _ in range(30))]
    found = [each.unconditional for each in acceptance_by_position(rounds)]
    assert found == sorted(found, key=lambda rate: -(rate or 0.0))
    assert found[5] == pytest.approx(10 / 40)


def test_a_position_behind_the_answers_end_was_not_rejected() -> None:
    whole = Machine((1.0,)).round(3)
    ended = replace(whole, accepted=(1,), emitted=(0,), tested=1)
    found = acceptance_by_position([whole, ended])
    assert [(each.rounds, each.accepted) for each in found] == [(2, 2), (1, 1), (1, 1)]
