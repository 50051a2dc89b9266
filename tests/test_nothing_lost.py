"""A short part of `tests.kill_series` and of `tests.fuzz`, which run as long as one likes."""

from __future__ import annotations

import pytest

from tests import fuzz, kill_series


@pytest.mark.slow
def test_a_kill_loses_nothing_that_was_reported_as_written() -> None:
    scenarios = {"conversation": kill_series.conversation, "export": kill_series.export}
    assert kill_series.series(scenarios, kills=3, seed=7) == []


@pytest.mark.slow
def test_a_killed_distillation_or_training_goes_on() -> None:
    assert kill_series.series_of(("distill", "served", "train"), kills=1, seed=7) == []


def test_mutated_files_are_refused_in_words() -> None:
    findings = fuzz.run(list(fuzz.loaders()), inputs=2000, seed=7, seconds=10)
    assert not findings.failures, fuzz.report(findings)
    assert sum(findings.inputs.values()) > 50  # even on a busy machine
