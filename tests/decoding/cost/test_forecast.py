"""What another gamma would give, told from rounds of one gamma, on machines that are known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import median, stdev
from typing import Any

import pytest

from decoding.cost import forecast as forecasts
from decoding.cost import round_statistics
from decoding.cost.curve import Curve, line_through, robust_line
from decoding.cost.forecast import MIN_LIMIT, MIN_ROUNDS, Forecast, break_even
from decoding.cost.model import fit_verify
from decoding.cost.round_statistics import Moments, RoundStatistics, median_of
from decoding.round import Round
from tests.support.simulated import Machine, Text, slower

ROUNDS = 3000


def forecast(
    rounds: Sequence[Round],
    gamma: int,
    run: Sequence[Round] = (),
    others: Sequence[Round] = (),
    **known: Any,
) -> Forecast | None:
    """From `rounds`, the last of which are the `run`; all of them, if it is empty."""
    begun = len(rounds) - len(run) if run else 0
    return forecasts.forecast(
        RoundStatistics.of(rounds[begun:]),
        gamma,
        before=RoundStatistics.of(rounds[:begun]),
        others=[RoundStatistics.of(others)],
        **known,
    )


def survival(rounds: Sequence[Round], most: int, run: Sequence[Round] = ()) -> list[float]:
    return forecasts.survival(RoundStatistics.of(rounds).ends, most, RoundStatistics.of(run).ends)


def table(machine: Machine) -> list[tuple[float, float]]:
    """What passes cost, measured on a machine that was twice as fast then."""
    return [(n, 0.5 * (1.0 + machine.node * (n - 1))) for n in (1, 4, 16, 64)]


@pytest.mark.parametrize("gamma", [3, 6])
@pytest.mark.parametrize(
    "machine",
    [
        Machine((0.85,), level=0.2, node=0.02),
        Machine((0.9, 0.7, 0.5), level=0.05, node=0.1),
        Machine((0.8,), level=0.0, node=0.1, proposes=0.4),
        Machine((0.85,), level=0.2, node=0.05, hiccups=0.01),
        Machine((0.3,), level=0.6),
    ],
    ids=["steady", "falls", "proposes now and then", "hiccups", "does not pay"],
)
def test_every_gamma_is_told_from_rounds_of_one(machine: Machine, gamma: int) -> None:
    machine = machine.anew()
    rounds = [machine.round(gamma) for _ in range(ROUNDS)]
    found = forecast(rounds, gamma, pass_costs=table(machine))
    assert found is not None and len(found.speeds) == MIN_LIMIT + 1
    ratios = [speed / machine.speed(g) for g, speed in enumerate(found.speeds)]
    level = sum(ratios) / len(ratios)  # hiccups cost every gamma the same share
    assert ratios == pytest.approx([level] * len(ratios), rel=0.05)
    assert machine.hiccups or level == pytest.approx(1.0, rel=0.03)
    seconds = sum(record.total_seconds for record in rounds)
    emitted = sum(len(record.emitted) for record in rounds)
    assert found.now == pytest.approx(emitted / seconds, rel=0.01)
    best = max(range(MIN_LIMIT + 1), key=machine.speed)
    assert machine.speed(found.best) > 0.98 * machine.speed(best)


@pytest.mark.parametrize("gamma", [2, 4])
def test_rounds_that_begin_in_easy_text_are_not_promised_to_longer_drafts(gamma: int) -> None:
    """Where easy and hard places of a text take turns, gamma 8 seems to be 11 to 16% faster than it
    is if all rounds are taken for alike."""
    text = Text((0.97, 0.3), level=0.2, node=0.03)
    tried = range(1, 9)
    real = {}
    for g in tried:
        rounds = [text.round(g) for _ in range(4 * ROUNDS)]
        seconds = sum(record.total_seconds for record in rounds)
        real[g] = sum(len(record.emitted) for record in rounds) / seconds
    rounds = [text.round(gamma) for _ in range(4 * ROUNDS)]
    found = forecast(rounds, gamma, pass_costs=table(text))
    assert found is not None
    assert [found.speeds[g] / real[g] for g in tried] == pytest.approx([1.0] * 8, abs=0.085)


def test_an_answer_whose_drafts_all_went_well_does_not_decide_for_another() -> None:
    """After full drafts all was accepted there; here no draft is accepted whole."""
    easy = Counter({(4, 4): 16, (3, 4): 1, (1, 4): 1})
    before = RoundStatistics(ends=easy, ends_after_full=Counter({(4, 4): 15, (3, 4): 1}))
    hard = RoundStatistics(ends=Counter({(0, 4): 24, (1, 4): 12, (2, 4): 1}))
    taus = forecasts.tokens_per_round(before, hard, 4)
    assert taus == sorted(taus)
    assert taus[4] < 3.0


def test_rounds_of_several_gammas_are_one_sample() -> None:
    """Those with a small gamma are censored: taking them as failures would be too low."""
    machine = Machine((0.9, 0.6))
    rounds = [machine.round(gamma) for gamma in (1, 2, 5) for _ in range(ROUNDS)]
    path = survival(rounds, MIN_LIMIT)
    assert path[:3] == pytest.approx([0.9, 0.54, 0.324], rel=0.05)


def test_where_a_drafter_ends_its_draft_itself_more_gamma_gives_nothing() -> None:
    machine = Machine((0.9,))
    rounds = [replace(machine.round(3), gamma=8) for _ in range(200)]
    path = survival(rounds, MIN_LIMIT)
    assert path[2] > 0.5 and path[3:8] == [0.0] * 5


def test_a_path_that_ended_with_the_answer_would_not_have_gone_on() -> None:
    whole = [Machine((1.0,)).round(4) for _ in range(20)]
    ended = replace(whole[0], accepted=(1,), emitted=(0,), tested=1)
    path = survival([*whole, *[ended] * 20], MIN_LIMIT)
    assert path[:4] == [1.0, 0.5, 0.5, 0.5]


def test_behind_what_was_tested_often_enough_the_last_rate_stays() -> None:
    machine = Machine((0.9, 0.5))
    rounds = [machine.round(2) for _ in range(ROUNDS)]
    path = survival(rounds, MIN_LIMIT)
    rates = [after / before for before, after in zip(path[1:], path[2:], strict=False)]
    assert rates == pytest.approx([0.5] * len(rates), abs=0.03)


def test_a_few_rounds_that_all_went_well_promise_no_endless_luck() -> None:
    path = survival([Machine((1.0,)).round(4) for _ in range(MIN_ROUNDS)], MIN_LIMIT)
    assert path[3] == 1.0 and path[15] < 0.4


@pytest.mark.parametrize(("drafted", "now"), [(24, 24), (24, 3), (3, 24)])
def test_the_curve_goes_as_far_as_gamma_does(drafted: int, now: int) -> None:
    machine = Machine((0.97,), level=0.01)
    rounds = [machine.round(drafted) for _ in range(ROUNDS)]
    found = forecast(rounds, now)
    assert found is not None and (len(found.speeds), found.gamma) == (25, now)
    assert found.now == pytest.approx(machine.speed(now), rel=0.05)
    best = max(range(25), key=machine.speed)
    assert best > MIN_LIMIT and machine.speed(found.best) > 0.98 * machine.speed(best)


def test_the_error_is_that_of_the_mean_over_so_many_rounds() -> None:
    machine = Machine((0.7,))
    few, many = ([machine.round(4) for _ in range(count)] for count in (50, 5000))
    rough, fine = forecast(few, 4), forecast(many, 4)
    assert rough is not None and fine is not None and len(fine.errors) == 5
    assert fine.errors[0] == 0.0  # a round without drafts has one token
    assert rough.errors[4] == pytest.approx(10 * fine.errors[4], rel=0.3)
    samples = [forecast([machine.round(4) for _ in range(50)], 4) for _ in range(200)]
    spread = stdev(each.speeds[4] for each in samples if each is not None)
    assert spread == pytest.approx(rough.errors[4], rel=0.3)


def test_what_is_recommended_is_no_guess() -> None:
    machine = Machine((0.9,), level=0.01)
    found = forecast([machine.round(3) for _ in range(ROUNDS)], 3)
    assert found is not None and found.best > found.seen == found.best_seen == 3


def test_longer_drafts_than_there_were_are_a_guess() -> None:
    machine = Machine((0.5,))
    rounds = [machine.round(4) for _ in range(90)]
    few, enough = (
        [machine.round(9) for _ in range(count)] for count in (MIN_ROUNDS - 1, MIN_ROUNDS)
    )
    seen = [found.seen for more in ([], few, enough) if (found := forecast(rounds + more, 4))]
    assert seen == [4, 4, 9]  # however few of them were accepted so far


def test_too_few_rounds_say_nothing() -> None:
    machine = Machine((0.8,))
    rounds = [machine.round(4) for _ in range(MIN_ROUNDS - 1)]
    undrafted = [machine.round(0) for _ in range(100)]
    assert forecast([*rounds, *undrafted], 4) is None
    assert forecast([*rounds, *undrafted, machine.round(4)], 4) is not None


def test_a_drafter_that_never_has_anything_to_propose() -> None:
    rounds = [Machine((0.8,), proposes=0.0).round(4) for _ in range(20)]
    found = forecast(rounds, 4, limit=6)
    assert found is not None and found.speeds == pytest.approx([1 / 1.02] * 7)


def test_without_a_measurement_other_lanes_passes_say_what_theirs_cost() -> None:
    machine = Machine((0.85,), level=0.1, node=0.1)
    rounds = [machine.round(4) for _ in range(ROUNDS)]
    plain = [machine.round(0) for _ in range(50)]
    alone, beside = forecast(rounds, 4), forecast(rounds, 4, others=plain)
    assert alone is not None and beside is not None
    assert alone.speeds[0] == pytest.approx(1 / 1.42, rel=0.01)  # a pass of 5 nodes: all it knows
    for gamma in range(9):
        assert beside.speeds[gamma] == pytest.approx(machine.speed(gamma), rel=0.04)


@pytest.mark.parametrize("busy", ["the autoregressive lane", "the lane that drafts"])
def test_no_drafts_are_as_fast_as_the_rounds_without(busy: str) -> None:
    """Whoever was disturbed: forecast and measured tok/s are by one clock."""
    disturbed, calm = Machine((0.8,), hiccups=0.2), Machine((0.8,))
    first, second = (disturbed, calm) if busy.startswith("the auto") else (calm, disturbed)
    plain = [first.round(0) for _ in range(200)]
    rounds = [second.round(4) for _ in range(200)]
    found = forecast(rounds, 4, others=plain, pass_costs=table(calm))
    assert found is not None
    for records, said in ((plain, found.speeds[0]), (rounds, found.now)):
        seconds = sum(record.total_seconds for record in records)
        assert said == pytest.approx(sum(len(r.emitted) for r in records) / seconds, rel=0.02)


@pytest.mark.parametrize("before", [0.2, 8.0])
def test_what_earlier_runs_took_is_no_matter(before: float) -> None:
    machine = Machine((0.8,), level=0.2, node=0.05)
    run = [machine.round(4) for _ in range(ROUNDS)]
    session = [*(slower(machine.round(2), before) for _ in range(ROUNDS)), *run]
    waited = [slower(machine.round(0), 5.0) for _ in range(200)]  # after the run was over
    found = forecast(
        session, 4, run=run, alone=machine.speed(0), others=waited, pass_costs=table(machine)
    )
    assert found is not None
    for gamma, speed in enumerate(found.speeds):
        assert speed == pytest.approx(machine.speed(gamma), rel=0.05)


@pytest.mark.parametrize("before", [1.0, 1.7])
def test_which_gamma_was_run_last_is_no_matter(before: float) -> None:
    """Drafting has a start that one gamma can't tell, and trees grow narrower than they began."""

    def tree(record: Round) -> Round:
        """Of four nodes on the first two levels, then of one; the rest of the chain's nodes."""
        wide = [0] * 3 * min(2, record.shape.depth)
        nodes = len(record.tokens) + len(wide)
        return replace(
            record,
            tokens=(0,) * nodes,
            parents=record.parents + tuple(range(len(wide) // 3)) * 3,
            verify_seconds=1.0 + machine.node * (nodes - 1),
        )

    machine = Machine((0.9,), start=0.4, level=0.05, node=0.05)
    found = {}
    for last in (2, 8):
        runs = {g: [tree(machine.round(g)) for _ in range(400)] for g in (8, 2)}
        other = [slower(each, before) for each in runs[10 - last]]
        all_rounds = [*other, *runs[last]]
        told = forecast(all_rounds, last, run=runs[last], pass_costs=table(machine))
        assert told is not None
        found[last] = [speed / told.speeds[2] for speed in told.speeds[1:9]]
        assert told.best_seen >= 7
    assert found[2] == pytest.approx(found[8], rel=0.06)


def test_at_the_gamma_that_was_run_it_is_what_was_measured() -> None:
    easy, hard = Machine((0.9,), level=0.1), Machine((0.4,), level=0.1)
    session, run = [hard.round(4) for _ in range(400)], [easy.round(4) for _ in range(12)]
    found = forecast([*session, *run], 4, run=run, speed=2.5, alone=0.9)
    assert found is not None and found.speeds[0] == 0.9
    assert found.now == pytest.approx(2.5)
    path = survival([*session, *run], MIN_LIMIT, run)
    middle = survival(session, MIN_LIMIT)[3], survival(run, MIN_LIMIT)[3]
    assert middle[0] < path[3] < middle[1] and path[0] > 0.7
    seldom = Machine((0.4,), level=0.1, proposes=0.3)  # other trees than those of the run
    session = [seldom.round(4) for _ in range(400)]
    other = forecast([*session, *run], 4, run=run, speed=2.5, alone=0.9)
    assert other is not None and other.now == pytest.approx(2.5)


def test_costs_measured_while_the_machine_was_busy_promise_nothing_that_cannot_be() -> None:
    """With g drafts a pass gives g + 1 tokens at most, in no less time than one of the target
    alone: what the passes' costs say of the sizes between is believed only if they fit the run."""
    machine = Machine((0.9,), level=0.2, node=0.1)
    run = [machine.round(4) for _ in range(ROUNDS)]
    alone = machine.speed(0)
    kinked = [(1, 0.2), (4, 0.22), (8, 1.0), (64, 7.0)]  # the larger passes were disturbed
    flat = [(1, 1.0), (64, 1.0)]
    for costs in (kinked, flat):
        found = forecast(run, 4, alone=alone, pass_costs=costs)
        assert found is not None and found.now == pytest.approx(machine.speed(4), rel=0.05)
        for gamma, speed in enumerate(found.speeds):
            assert speed <= (gamma + 1) * alone
        for gamma in (1, 2, 3):
            assert found.speeds[gamma] == pytest.approx(machine.speed(gamma), rel=0.1)
        assert found.doubtful
    agreeing = forecast(run, 4, alone=alone, pass_costs=table(machine))
    assert agreeing is not None and not agreeing.doubtful
    assert agreeing.speeds[2] == pytest.approx(machine.speed(2), rel=0.05)


def test_the_error_is_larger_where_rounds_took_unequally_long() -> None:
    machine = Machine((0.8,), level=0.1)
    calm = [machine.round(4) for _ in range(60)]
    shaken = [slower(each, 1.0 + at % 2 * 3) for at, each in enumerate(calm)]
    steady, uneven = forecast(calm, 4), forecast(shaken, 4)
    assert steady is not None and uneven is not None
    errors = [found.errors[4] / found.now for found in (steady, uneven)]
    assert errors[1] ** 2 - errors[0] ** 2 == pytest.approx((0.6 / 60**0.5) ** 2, rel=0.1)


def test_heads_that_guess_all_at_once_take_as_long_for_less() -> None:
    machine = Machine((0.8,), level=0.0, start=0.4)
    rounds = [machine.round(3) for _ in range(ROUNDS)]
    found = forecast(rounds, 3, at_once=True)
    assert found is not None
    assert found.speeds[1] == pytest.approx(machine.speed(1), rel=0.02)


def test_a_tree_costs_its_nodes_of_the_levels_that_are_left() -> None:
    """Two children of the root, two of the first of them: 3 nodes at gamma 1, 5 at gamma 2."""
    rounds = [
        replace(
            Machine((0.5,)).round(2), tokens=(0,) * 5, parents=(-1, 0, 0, 1, 1), verify_seconds=5.0
        )
        for _ in range(20)
    ]
    rounds = [replace(r, draft_seconds=0.0, total_seconds=5.0) for r in rounds]
    found = forecast(rounds, 2, pass_costs=[(1, 1.0), (11, 11.0)])
    path = survival(rounds, MIN_LIMIT)
    assert found is not None
    assert found.speeds[1] == pytest.approx((1 + path[0]) / 3.0)
    assert found.speeds[2] == pytest.approx((1 + path[0] + path[1]) / 5.0)
    assert found.speeds[3] == pytest.approx((1 + sum(path[:3])) / 7.0)


def test_break_even() -> None:
    assert break_even(1.5, 1) == pytest.approx(0.5)  # 1 + alpha tokens in one and a half rounds
    assert break_even(1.75, 2) == pytest.approx(0.5)
    assert break_even(2.5, 1) is None
    assert break_even(0.9, 4) == pytest.approx(0.0, abs=1e-6)
    machine = Machine((0.8,), level=0.25)
    found = forecast([machine.round(4) for _ in range(ROUNDS)], 4)
    assert found is not None and found.break_even is not None
    even = replace(machine, alpha=(found.break_even,))
    assert even.speed(4) == pytest.approx(even.speed(0), rel=0.01)


def test_a_curve_goes_on_along_its_last_line() -> None:
    curve = Curve(((1, 2.0), (4, 2.0), (8, 6.0)))
    assert [curve(n) for n in (0, 1, 2, 4, 5, 8, 10)] == [2.0, 2.0, 2.0, 2.0, 3.0, 6.0, 8.0]
    assert Curve(((1, 2.0),))(9) == 2.0


def test_a_pass_never_costs_nothing_however_the_machine_changed() -> None:
    slow_alone = [(1, 9.0)] * 50 + [(5, 2.0)] * 20 + [(9, 2.2)] * 3
    verify = fit_verify(slow_alone, Curve(((1, 1.0), (16, 1.6))))
    assert verify(9) > 1.5


def test_a_line_is_not_moved_by_hiccups() -> None:
    points = [(x, 1.0 + 2.0 * x) for x in (1, 2, 3) for _ in range(9)]
    line = robust_line([*points, (2, 90.0), (3, 70.0), (5, 500.0)])
    assert (line.start, line.slope) == pytest.approx((1.0, 2.0))
    assert robust_line([(4, 8.0)], proportional=True)(1) == 2.0
    assert robust_line([(4, 8.0)])(1) == 8.0
    assert robust_line([(1, 3.0), (2, 2.0)]).slope == 0.0
    assert line_through([(1, 3.0, 1), (2, 2.0, 1)], rising=False).slope == -1.0
    with pytest.raises(ValueError, match="needs points"):
        robust_line([])


def test_what_is_taken_in_round_by_round_is_what_is_taken_in_at_once() -> None:
    machine = Machine((0.8, 0.5), hiccups=0.1, proposes=0.8)
    rounds = [machine.round(gamma) for gamma in (4, 0, 9) for _ in range(40)]
    growing = RoundStatistics()
    for count, record in enumerate(rounds, 1):
        growing.add(record)
        once = RoundStatistics.of(reversed(rounds[:count]))
        one, other = (forecasts.forecast(each, 4) for each in (growing, once))
        assert (one is None) is (other is None) is (count < MIN_ROUNDS)
        if one and other:
            assert one.speeds == pytest.approx(other.speeds)
            assert one.errors == pytest.approx(other.errors)


def test_medians_of_scaled_samples_together() -> None:
    numbers = random.Random(5)
    for count in (1, 2, 7, 100):
        values = [
            [numbers.choice((1.0, 2.0, numbers.random())) for _ in range(count)] for _ in "ab"
        ]
        one, other = map(sorted, values)
        scaled = [*one, *(3.0 * each for each in other)]
        assert median_of([(1.0, one), (3.0, other)]) == median(scaled)
        assert median_of([(1.0, one), (3.0, [])]) == median(one)


def test_moments_of_several_samples() -> None:
    together, alone = Moments(), Moments()
    for values in ([1.0, 2.0], [5.0], []):
        part = Moments()
        for value in values:
            part.add(value)
            alone.add(2.0 * value)
        together.include(part, 2.0)
    assert together.count == alone.count
    assert together.mean == pytest.approx(alone.mean)
    assert together.squares == pytest.approx(alone.squares)
    assert together.error == pytest.approx(stdev([2.0, 4.0, 10.0]) / 3**0.5)


def test_no_round_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for four times a second: what it does depends on how unequal rounds were."""
    work = []
    for count in (500, 5000):
        machine = Machine((0.8,))
        run, before = (
            RoundStatistics.of(machine.round(gamma % 17) for gamma in range(count))
            for _ in range(2)
        )
        compared: list[float] = []

        def counted(by: float, each: float, compared: list[float] = compared) -> float:
            compared.append(each)
            return by * each

        monkeypatch.setattr(round_statistics, "mul", counted)
        forecasts.forecast(run, 4, before=before, others=[before], pass_costs=table(machine))
        work.append(len(compared))
    assert 0 < work[1] < 4 * work[0]  # bisection, of ten times as many
