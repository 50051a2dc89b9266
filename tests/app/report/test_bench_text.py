"""The tables of `bench`."""

from __future__ import annotations

import pytest

from app.report.answer import Answer
from app.report.bench_document import Contest
from app.report.bench_text import figure_cells
from app.strategies.lane_spec import LaneSpec
from decoding.params import Params, SamplingParams
from decoding.stats import Stats


def test_a_text_that_is_not_the_targets_is_called_so() -> None:
    typical = Params(SamplingParams(1.0), acceptance="typical")
    params = {
        "ar": typical, "medusa": typical, "medusa:temperature=0": Params(acceptance="typical"),
        "draft-only": Params(),
    }  # fmt: skip
    specs = {name: LaneSpec(strategy=name.partition(":")[0], name=name) for name in params}
    answers = {name: [Answer.of(0, [1, 2], Stats())] for name in params}
    contest = Contest(params, specs, (), [None], [answers])
    same = {row["name"]: figure_cells(row, 1)[-1] for row in contest.rows()}
    assert same == {
        "ar": "", "medusa": "lossy", "medusa:temperature=0": "", "draft-only": "other model",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "times"), [("lookup", "1.20x?"), ("ar", "1.20x"), (None, "1.20x?")]
)
def test_a_speedup_that_can_not_be_is_doubted(strategy: str | None, times: str) -> None:
    """Also of a lane that found nothing to draft, as in the text of `run`. None: a simulated
    drafter."""
    row = {
        "strategy": strategy, "tokens_per_second": 90.0, "speedup": 1.2, "speedup_low": 1.1,
        "speedup_high": 1.3, "matches_ar": 1, "acceptance_rate": None, "tokens_per_pass": 1.0,
    }  # fmt: skip
    assert figure_cells(row, 1)[1] == times
