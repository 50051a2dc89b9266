"""The scoreboard as a report: a table, its sentences, a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.report.page import Report, Section
from app.report.plots import bench_figure
from app.report.verdict import FEW_TOKENS, INCREDIBLE, LaneScore
from app.text.plural import pluralize

RANGE = "low-high"  # of several runs
HEADING = ("", "tok/s", "speedup", RANGE, "runs", "tokens/pass", "passes", "text")


def scoreboard_report(
    title: str, scores: Sequence[LaneScore], sentences: Sequence[str], facts: str
) -> Report:
    """`sentences` interpret the scores; `facts` say what they were measured with."""
    runs = max((each.speed.count for each in scores if each.speed), default=0)
    of_runs = "; medians, the lowest and the highest" if runs > 1 else ""
    notes = [f"{pluralize(runs, 'run')} of this prompt{of_runs}. {facts}.", *_doubts(scores)]
    rows = [HEADING, *map(_row, scores)]
    said = [n for n, name in enumerate(HEADING) if runs > 1 or name != RANGE]
    table = [[row[n] for n in said] for row in rows]
    sections = [Section("Scoreboard", sentences, table), Section("How it was measured", notes)]
    return Report(title, sections, _document(scores), bench_figure)


def _row(score: LaneScore) -> tuple[str, ...]:
    speed, times = score.speed, score.speedup
    ranged = times and times.count > 1 and not score.is_baseline
    return (
        score.label,
        f"{speed.median:.1f}" if speed else "",
        f"{times.median:.2f}x{'?' if score.incredible else ''}" if times else "",
        f"{times.low:.2f}-{times.high:.2f}" if times and ranged else "",
        str(speed.count) if speed else "",
        f"{score.tokens_per_pass:.2f}" if score.tokens_per_pass else "",
        str(score.passes) if score.passes else "",
        _text(score),
    )


def _text(score: LaneScore) -> str:
    if score.is_baseline or not (score.on_target or score.remote):
        return "" if score.is_baseline else "another model's"
    if score.lossy:
        return "lossy"
    return {True: "the same", False: "another", None: ""}[score.same_text]


def _doubts(scores: Sequence[LaneScore]) -> list[str]:
    few = ", ".join(score.label for score in scores if score.few)
    doubts = [f"Over fewer than {FEW_TOKENS} tokens, mostly chance: {few}."] if few else []
    if any(score.incredible for score in scores):
        doubts.append(INCREDIBLE)
    return doubts


def _document(scores: Sequence[LaneScore]) -> dict[str, Any]:
    """The scores in the form that `bench_figure` needs."""
    return {
        "sweep": {},
        "contestants": [
            {
                "name": score.label,
                "strategy": score.strategy,
                "overrides": {},
                "speedup": score.speedup.median,
                "speedup_low": score.speedup.low,
                "speedup_high": score.speedup.high,
            }
            for score in scores
            if score.speedup
        ],
    }
