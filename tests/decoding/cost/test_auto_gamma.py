"""The gamma that is chosen round by round, on machines whose best gamma is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import pytest

from decoding.cost.auto_gamma import (
    MAX_AHEAD,
    MAX_GAMMA,
    PAUSE_ROUNDS,
    PLAN_INTERVAL,
    RETRY_ROUNDS,
    WARM_UP,
    AutoGamma,
)
from decoding.cost.model import Cost
from tests.support.simulated import Machine, Text

MACHINES = {
    "cheap and good": Machine((0.9,), level=0.02),
    "cheap and bad": Machine((0.3,), level=0.02),
    "the demo's": Machine((0.85,), level=0.2, node=0.02),
    "falls with the position": Machine((0.9, 0.7, 0.4, 0.2), level=0.1),
    "rises with the position": Machine((0.5, 0.8, 0.95), level=0.1),
    "all heads at once": Machine((0.8, 0.6, 0.4), level=0.0, start=0.15, node=0.05),
    "every node is dear": Machine((0.8,), level=0.05, node=0.3),
    "proposes now and then": Machine((0.8,), level=0.0, node=0.15, proposes=0.4),
    "hiccups": Machine((0.85,), level=0.2, node=0.02, hiccups=0.03),
    "as dear as the target": Machine((0.9,), level=1.0),
    "never right": Machine((0.02,), level=0.1),
}


def play(
    auto: AutoGamma, machine: Machine, rounds: int, default: int = 4
) -> tuple[float, list[int]]:
    """Tokens per second, hiccups left out, and the gammas."""
    tokens, seconds, gammas = 0, 0.0, []
    for _ in range(rounds):
        gammas.append(auto.choose(default))
        record = machine.round(gammas[-1])
        auto.observe(record)
        tokens += len(record.emitted)
        if record.verify_seconds < 10:
            seconds += record.total_seconds
    return tokens / seconds, gammas


@pytest.mark.parametrize("name", MACHINES)
def test_it_is_nearly_as_fast_as_the_best_fixed_gamma(name: str) -> None:
    machine = MACHINES[name].anew()
    best = max(machine.speed(gamma) for gamma in range(MAX_GAMMA + 1))
    auto = AutoGamma()
    play(auto, machine, 50)
    speed, _ = play(auto, machine, 2000)
    assert speed > 0.95 * best, f"{speed / best:.3f} of what gamma could give"


@pytest.mark.parametrize("name", ["as dear as the target", "never right"])
def test_it_stops_drafting_where_that_does_not_pay(name: str) -> None:
    auto, machine = AutoGamma(), MACHINES[name].anew()
    play(auto, machine, 100)
    _, gammas = play(auto, machine, 500)
    assert gammas.count(0) > 400
    assert any(gammas)  # and looks now and then whether it does by now


def test_pauses_and_retries_are_as_long_as_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AutoGamma, "speeds", lambda auto: [1.0, 0.5])
    auto, cycle = AutoGamma(), PAUSE_ROUNDS + RETRY_ROUNDS
    _, gammas = play(auto, MACHINES["never right"].anew(), WARM_UP + 3 * cycle)
    runs = [(drafts, len(list(rounds))) for drafts, rounds in groupby(map(bool, gammas))]
    assert runs[1:] == 3 * [(False, PAUSE_ROUNDS), (True, RETRY_ROUNDS)]


@pytest.mark.parametrize("early", ["never right", "as dear as the target"])
def test_it_comes_back_when_drafting_pays_again(early: str) -> None:
    auto, machine = AutoGamma(), MACHINES["the demo's"].anew()
    play(auto, MACHINES[early].anew(), 300)
    play(auto, machine, 400)
    speed, gammas = play(auto, machine, 400)
    best = max(machine.speed(gamma) for gamma in range(MAX_GAMMA + 1))
    assert speed > 0.95 * best and gammas.count(0) < 20


def test_drafts_that_are_cheap_again_are_noticed_at_the_first_retry() -> None:
    auto, dear = AutoGamma(), MACHINES["as dear as the target"]
    cheap = dear.anew(level=0.05)
    play(auto, dear.anew(), 300)
    play(auto, cheap, 2 * (PAUSE_ROUNDS + RETRY_ROUNDS))
    _, gammas = play(auto, cheap, 50)
    assert 0 not in gammas


def test_longer_drafts_are_not_believed_to_find_as_many_easy_beginnings() -> None:
    """In text with easy and hard places, rounds behind an accepted draft begin in easy ones. If
    that is neglected, gamma 1 seems to be 13% worse beside gamma 4 than it is, and 6 12% better."""
    text, now, tried = Text((0.97, 0.3), level=0.2, node=0.03), 4, (1, 2, 3, 4, 6)
    real = {}
    for gamma in tried:
        rounds = [text.round(gamma) for _ in range(8000)]
        tokens = sum(len(record.emitted) for record in rounds)
        real[gamma] = tokens / sum(record.total_seconds for record in rounds)
    auto, expected = AutoGamma(), dict.fromkeys(tried, 0.0)
    for turn in range(4000):
        auto.observe(text.round(now))
        if turn % 20 == 0 and turn > 200:
            for gamma, speed in enumerate(auto.speeds()):
                if gamma in expected:
                    expected[gamma] += speed / real[gamma]
    for gamma in tried:
        assert expected[gamma] / expected[now] == pytest.approx(1.0, abs=0.07), gamma


def test_the_first_round_of_an_answer_is_behind_no_other() -> None:
    """Where every answer is one round, longer drafts take nothing from the next ones."""
    text = Text((0.97, 0.3), level=0.2, node=0.03)
    one, many = AutoGamma(), AutoGamma()
    for _ in range(500):
        record = text.round(4)
        one.observe(record)
        many.observe(replace(record, index=0))
    assert many.speeds()[6] > 1.03 * one.speeds()[6]


def test_it_looks_beside_the_best_now_and_then() -> None:
    auto, machine = AutoGamma(), Machine((1.0,), level=0.0)
    play(auto, machine, 100)
    _, gammas = play(auto, machine, 100)
    assert gammas.count(MAX_GAMMA) > 80 and min(gammas) < MAX_GAMMA


def test_it_goes_deeper_only_behind_what_was_tested() -> None:
    auto, machine = AutoGamma(), Machine((1.0,), level=0.0)
    _, gammas = play(auto, machine, 60, default=2)
    assert all(gamma <= max(gammas[:i]) + MAX_AHEAD for i, gamma in enumerate(gammas) if i)
    assert gammas[-1] == MAX_GAMMA


def test_a_draft_model_that_catches_up_is_not_believed_to_be_slow() -> None:
    machine = MACHINES["the demo's"].anew()
    auto = AutoGamma()
    play(auto, machine, 100)
    before = auto.speeds()
    slow = replace(machine, level=0.4)
    for _ in range(40):
        auto.observe(machine.round(0))
        auto.observe(slow.round(2))
    assert auto.speeds()[2] > 0.9 * before[2]


def test_slow_rounds_at_the_start_do_not_mislead_it() -> None:
    machine = MACHINES["the demo's"].anew()
    auto = AutoGamma()
    for _ in range(3):
        auto.observe(replace(machine, level=4.0, rest=3.0).round(auto.choose(4)))
    _, gammas = play(auto, machine, 40)
    assert 0 not in gammas


def test_what_passes_cost_is_asked_once_and_believed() -> None:
    machine = Machine((0.8,), level=0.0, node=0.5)
    asked = []

    def measured() -> Cost:
        asked.append(1)
        return lambda nodes: 0.1 * (1.0 + machine.node * (nodes - 1))  # on a faster machine

    auto = AutoGamma(measured)
    assert not asked
    play(auto, machine, WARM_UP)
    assert asked == [1]
    without = AutoGamma()
    play(without, machine, WARM_UP)
    assert without.speeds()[0] < 0.5 * machine.speed(0) < auto.speeds()[0]


def test_the_plan_is_not_worked_out_anew_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out = []
    speeds = AutoGamma.speeds

    def pluralize(auto: AutoGamma) -> list[float]:
        worked_out.append(1)
        return speeds(auto)

    monkeypatch.setattr(AutoGamma, "speeds", pluralize)
    play(AutoGamma(), MACHINES["the demo's"].anew(), WARM_UP + 10 * PLAN_INTERVAL)
    assert len(worked_out) == 10
