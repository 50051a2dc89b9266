"""The tables of `bench`."""

from __future__ import annotations

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
