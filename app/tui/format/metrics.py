"""Formats a lane's metrics: acceptance, time, speed, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import mean

from textual.content import Content

from app.engine.events import Memory
from app.text.plural import pluralize
from app.text.units import format_bytes
from app.tui.format.bars import TIME_GLYPHS, bar, shares, time_bar
from app.tui.format.numbers import percent, seconds
from app.tui.format.round_labels import pass_name
from decoding.round import Round
from decoding.stats import Position

AXIS_CELLS = 6  # narrower plots have no axis
WINDOW = 8  # rounds in a moving average


def accepted_lines(rounds: Sequence[Round], width: int) -> Content:
    """How many rounds had 0, 1, 2, ... accepted tokens."""
    lengths = [len(record.accepted) for record in rounds]
    most = max((max(len(r.accepted), r.shape.depth) for r in rounds), default=0)
    counts = [lengths.count(length) for length in range(most + 1)]
    top = max(counts)
    cells = max(4, width - 14)
    rows = [_heading("accepted in a round")]
    for length, count in enumerate(counts):
        rows.append(
            Content.assemble(
                (f"{length:2} ", "$foreground"),
                (bar(count / top, cells), "$accepted"),
                (f" {count:4}", "$foreground"),
                (f" {percent(count / len(rounds))}", "$quiet"),
            )
        )
    return Content("\n").join(rows)


def position_lines(positions: Sequence[Position], over: int | None, width: int) -> Content:
    """Conditional and unconditional acceptance at each draft position, side by side, each on an
    axis from 0 to 1; ± is two standard errors of the unconditional one. `over`: the number of
    rounds, if they are the session's and not only the last answer's."""
    cells = max(3, (width - 29) // 2)
    column = cells + 5
    given, at_all = "α if reached", "α at all"
    rows = [_heading(f"pos {given:<{column}}  {at_all:<{column + 5}} tested")]
    if over is not None:
        rows.insert(0, _heading(f"by position, over {over} rounds of the session"))
    for number, position in enumerate(positions, 1):
        conditional, unconditional = position.conditional, position.unconditional
        error = "" if unconditional is None else f"±{2 * binomial_error(position):.0%}"
        rows.append(
            Content.assemble(
                (f"{number:3} ", "$foreground"),
                (bar(conditional or 0.0, cells), "$accepted"),
                (f" {percent(conditional)}  ", "$foreground"),
                (bar(unconditional or 0.0, cells), "$primary"),
                (f" {percent(unconditional)}", "$foreground"),
                (f" {error:<5}{position.tested:6}", "$quiet"),
            )
        )
    if positions and cells >= AXIS_CELLS:
        axis = f"0{'1':>{cells - 1}}"
        rows.append(_heading(f"    {axis:<{column}}  {axis}"))
    return Content("\n").join(rows)


def binomial_error(position: Position) -> float:
    """The standard error of the share of rounds that accepted this position."""
    rate, rounds = position.unconditional or 0.0, position.rounds
    return sqrt(rate * (1 - rate) / rounds) if rounds else 0.0


def time_lines(rounds: Sequence[Round], drafts: bool, width: int) -> Content:
    """The parts of a mean round's time. `drafts`: the lane has a drafter."""
    verify = pass_name(sum(record.drafted for record in rounds))
    parts = {
        "draft": mean(record.draft_seconds for record in rounds) * drafts,
        verify: mean(record.verify_seconds for record in rounds),
        "accept": mean(record.accept_seconds for record in rounds),
    }
    total = mean(record.total_seconds for record in rounds)
    parts["other"] = max(total - sum(parts.values()), 0.0)
    percents = shares(tuple(parts.values()), 100)
    named = [
        f"{glyph} {name} {seconds(value)} {share}%"
        for glyph, (name, value), share in zip(TIME_GLYPHS, parts.items(), percents, strict=True)
        if value
    ]
    rows = [
        _heading(f"a round takes {seconds(total)}"),
        Content.styled(time_bar(tuple(parts.values()), width, TIME_GLYPHS), "$primary"),
        *(Content(row) for row in flow(named, "   ", width)),
    ]
    return Content("\n").join(rows)


def flow(items: Sequence[str], between: str, width: int) -> list[str]:
    """The items in rows, as many in each as fit."""
    rows: list[str] = []
    for item in items:
        if rows and len(rows[-1] + between + item) <= width:
            rows[-1] += between + item
        else:
            rows.append(item)
    return rows


def history(rounds: Sequence[Round]) -> tuple[list[float], list[float]]:
    """Tokens per pass and per second along the answer, as moving averages over `WINDOW` rounds.
    There must be a round."""
    taus, speeds = [], []
    for end in range(min(WINDOW, len(rounds)), len(rounds) + 1):
        last = rounds[max(0, end - WINDOW) : end]
        emitted = sum(len(record.emitted) for record in last)
        spent = sum(record.total_seconds for record in last)
        taus.append(emitted / len(last))
        speeds.append(emitted / spent if spent else 0.0)
    return taus, speeds


def range_line(name: str, values: Sequence[float], rounds: int, decimals: int) -> Content:
    low, high = (f"{value:.{decimals}f}" for value in (min(values), max(values)))
    between = low if low == high else f"{low} to {high}"
    window = min(WINDOW, rounds)
    each = f"{pluralize(window, 'round')} per point"
    return _heading(f"{name} {between}, {each}")


def memory_lines(
    memory: Memory | None, weights: Mapping[str, int], lane: str, width: int
) -> Content:
    """Memory of the process, the models, and the lane's keys and values."""
    if memory is None:
        return Content("")
    used = f"memory: process {format_bytes(memory.process)}"
    if memory.device is not None:
        used += f", GPU {format_bytes(memory.device)}"
    models = [f"{name} {format_bytes(count)}" for name, count in weights.items()]
    caches = [f"this lane {format_bytes(memory.caches[lane])}"] if lane in memory.caches else []
    caches.append(f"all lanes {format_bytes(sum(memory.caches.values()))}")
    rows = flow(["weights:", *models], "  ", width) + flow(["keys, values:", *caches], "  ", width)
    return Content("\n").join([_heading(used), *map(Content, rows)])


def _heading(text: str) -> Content:
    return Content.styled(text, "$quiet")
