"""Formats the scoreboard: a bar and numbers for each lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from app.report.spread import Spread
from app.report.verdict import LaneScore, ranking, winner
from app.tui.format.bars import bar
from app.tui.format.numbers import ordinal
from app.tui.themes import lane_color

MIN_BAR = 12
RANGE_COLUMNS = 70  # cells of a row from which the ranges are shown
EXACT_BELOW = 20.0  # tok/s; lower speeds are shown with a decimal
LONGEST_TITLE = 18


def bar_rows(scores: Sequence[LaneScore], places: Mapping[int, int], width: int) -> list[Content]:
    """Return a row for each lane. Columns without room beside the bar are left out, the last one
    first. `places`: the lanes' ranks by number, from 0."""
    if not scores:
        return []
    best = winner(scores)
    speeds = [each.speed.median for each in scores if each.speed]
    decimals = int(min(speeds, default=0.0) < EXACT_BELOW)
    columns = [  # the first is what the bars show
        [speedup_text(each, ranges=width >= RANGE_COLUMNS) for each in scores],
        [f"{e.speed.median:.{decimals}f} tok/s" if e.speed else "" for e in scores],
        [passes_text(each) for each in scores],
        [same_text(each) for each in scores],
        [place_text(each, places, best) for each in scores],
    ]
    labels = [f"{each.label} lossy" if each.lossy else each.label for each in scores]
    names = [set_cell_size(label, LONGEST_TITLE) for label in labels]
    names = [name.rstrip() for name in names]
    name_width = max(map(cell_len, names))
    widths = [max(map(cell_len, column)) for column in columns]
    shown = [n for n, cells in enumerate(widths) if cells]
    while len(shown) > 1 and _bar_cells(width, name_width, widths, shown) < MIN_BAR:
        shown.pop()
    cells = max(_bar_cells(width, name_width, widths, shown), 1)
    known = [each for each in scores if each.speed]
    rank = ranking(known)
    top = max(map(rank, known), default=0.0)
    rows = []
    for index, score in enumerate(scores):
        color = lane_color(score.number)
        share = rank(score) / top if score.speed and top else 0.0
        parts: list[Content | tuple[str, str]] = [
            (f"{names[index]:<{name_width}} ", f"bold {color}"),
            (bar(share, cells), color),
        ]
        for column in shown:
            text = columns[column][index]
            parts.append((f"  {text:>{widths[column]}}", _style(score, column, best)))
        rows.append(Content.assemble(*parts))
    return rows


def speedup_text(score: LaneScore, ranges: bool) -> str:
    if score.speedup is None:
        return ""
    known = score.speedup
    if score.is_baseline or not ranges:
        known = replace(known, count=1)
    return range_text(known, "?" if score.incredible else "")


def range_text(spread: Spread, doubt: str = "") -> str:
    """Return the median, with the range if there is more than one value."""
    text = f"{spread.median:.1f}×{doubt}"
    return text if spread.count == 1 else f"{text} ({spread.low:.1f}-{spread.high:.1f})"


def passes_text(score: LaneScore) -> str:
    if not score.passes or score.left_out:
        return ""
    return f"{score.passes} {'pass' if score.passes == 1 else 'passes'}"


def same_text(score: LaneScore) -> str:
    if score.lossy:
        return "lossy"
    if not (score.on_target or score.remote):
        return "other model"
    if score.is_baseline:
        return ""
    if score.same_text is None:
        return "sampled" if score.sampled else ""
    return "same text" if score.same_text else "other text"


def place_text(score: LaneScore, places: Mapping[int, int], best: LaneScore | None) -> str:
    place = places.get(score.number)
    star = " ★" if score is best and score.done else ""
    return f"{'' if place is None else ordinal(place)}{star}".strip()


def _bar_cells(width: int, name: int, widths: Sequence[int], shown: Sequence[int]) -> int:
    return width - name - 1 - sum(widths[column] + 2 for column in shown)


def _style(score: LaneScore, column: int, best: LaneScore | None) -> str:
    if column == 1:
        return "$foreground"
    if column == 0:
        return "$quiet" if score.few or score.incredible else "bold $foreground"
    if column == 4:
        return "bold $success" if score is best else "$foreground"
    return "$quiet"
