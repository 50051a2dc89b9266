"""Plots of the results of `bench` and `advise`, drawn by matplotlib (the extra `report`)."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from app.strategies.lane_spec import stem, without_temperature
from app.strategies.registry import STRATEGIES
from decoding.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

# Okabe and Ito's palette, safe for most kinds of colour blindness; markers help where it is not.
COLOURS = ("#0072B2", "#56B4E9", "#CC79A7", "#D55E00", "#E69F00", "#009E73", "#F0E442")
GREY = "#777777"  # the target alone, and peers
MARKERS = "osD^vP*"
NEEDED = ("matplotlib", "jinja2")


def require_plots() -> None:
    """Raise InputError if the libraries are missing."""
    if any(find_spec(name) is None for name in NEEDED):
        raise InputError("plots need matplotlib: pip install 'specchat[report]'")


def bench_figure(document: Row) -> Figure:
    """Speedups with their range over the repeats, and a plot over each swept setting."""
    rows = [row for row in document["contestants"] if row["speedup"] is not None]
    swept = [
        name
        for name, values in document["sweep"].items()
        if sum(isinstance(value, int | float) for value in values) > 1
    ]
    figure, axes = _figure([1 + len(swept)], max(3.0, 0.9 + 0.35 * len(rows)))
    _bars(axes[0][0], rows, "Speedup over autoregressive decoding")
    for axis, name in zip(axes[0][1:], swept, strict=True):
        _lines_over(axis, name, rows)
    return figure


def advice_figure(document: Row) -> Figure:
    """Return a row for each temperature: final measurements, screening, larger batches."""
    temperatures = [best["temperature"] for best in document["best"]]
    figure, axes = _figure([3] * len(temperatures), 5.0)
    for (measured, screened, batches), temperature in zip(axes, temperatures, strict=True):

        def of(rows: Sequence[Row], temperature: float = temperature) -> list[Row]:
            """The rows at the temperature, which is removed from their names."""
            at = [row for row in rows if row["temperature"] == temperature]
            return [
                {**row, "name": without_temperature(row["name"])}
                for row in at
                if row["speedup"] is not None
            ]

        rows = of(document["measured"])
        _bars(measured, rows, f"Measured at temperature {temperature:g}")
        _lines_over(screened, "gamma", of(document["screened"]), spread=False)
        screened.set_title("Screened: a first look at all settings")
        _batch_lines(batches, rows, document["batches"]["measured"])
    return figure


def write_figure(figure: Figure, kind: str) -> bytes:
    """`figure` as "svg" or "png"."""
    import matplotlib

    file = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "specchat"}):
        metadata = {"Date": None} if kind == "svg" else {}
        figure.savefig(file, format=kind, dpi=120, metadata=metadata)
    return file.getvalue()


def _figure(columns: Sequence[int], height: float) -> tuple[Figure, list[list[Axes]]]:
    """One row of axes for each of `columns`."""
    from matplotlib.figure import Figure

    size = (max(columns) * 5.2, height * len(columns))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(columns), max(columns), squeeze=False)
    return figure, [list(row) for row in grid]


def _bars(axis: Axes, rows: Sequence[Row], title: str) -> None:
    ordered = sorted(rows, key=lambda row: row["speedup"])
    for y, row in enumerate(ordered):
        below = max(row["speedup"] - row["speedup_low"], 0.0)
        above = max(row["speedup_high"] - row["speedup"], 0.0)
        axis.barh(y, row["speedup"], color=_colour(row), alpha=0.75)
        if below or above:
            axis.errorbar(
                row["speedup"], y, xerr=[[below], [above]], color="black", capsize=3, fmt="none"
            )
    axis.set_yticks(range(len(ordered)), [_label(row["name"]) for row in ordered], fontsize=8)
    axis.axvline(1.0, color="grey", linewidth=1)
    axis.set_xlim(left=0.0)
    axis.set_xlabel("speedup, batch size 1")
    axis.set_title(title)


def _lines_over(axis: Axes, name: str, rows: Sequence[Row], spread: bool = True) -> None:
    """A line for each strategy with the same checkpoint and other settings."""
    lines: defaultdict[tuple[str, str | None, tuple[str, ...]], list[Row]] = defaultdict(list)
    for row in rows:
        if isinstance(row["overrides"].get(name), int | float):
            told = {name}
            if name == "gamma" and "temperature" in row:  # the heading has it
                told.add("temperature")
            own = (f"{key}={value}" for key, value in row["overrides"].items() if key not in told)
            lines[str(row["strategy"]), row["checkpoint"], tuple(own)].append(row)
    for number, ((strategy, checkpoint, others), points) in enumerate(lines.items()):
        label = ":".join((stem(strategy, checkpoint), *others))
        points.sort(key=lambda row: row["overrides"][name])
        axis.errorbar(
            [row["overrides"][name] for row in points],
            [row["speedup"] for row in points],
            yerr=[
                [max(row["speedup"] - row["speedup_low"], 0.0) for row in points],
                [max(row["speedup_high"] - row["speedup"], 0.0) for row in points],
            ]
            if spread
            else None,
            color=_colour(points[0]), marker=MARKERS[number % len(MARKERS)], capsize=3,
            label=_label(label),
        )  # fmt: skip
    axis.axhline(1.0, color="grey", linewidth=1)
    axis.set_ylim(bottom=0.0)
    axis.set_xlabel("γ, gamma" if name == "gamma" else name)
    axis.set_ylabel("speedup")
    axis.set_title(f"Speedup over {name}")
    _legend(axis)


def _batch_lines(axis: Axes, rows: Sequence[Row], measured: bool) -> None:
    for number, row in enumerate(row for row in rows if row["batch_speedups"]):
        sizes = [int(size) for size in row["batch_speedups"]]
        axis.plot(
            sizes, list(row["batch_speedups"].values()), color=_colour(row),
            marker=MARKERS[number % len(MARKERS)], label=_label(row["name"]),
        )  # fmt: skip
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    axis.axhline(1.0, color="grey", linewidth=1)
    axis.set_ylim(bottom=0.0)
    axis.set_xlabel("batch size")
    axis.set_ylabel("speedup")
    axis.set_title("Larger batches" if measured else "Larger batches (estimated)")
    _legend(axis)


def _legend(axis: Axes) -> None:
    """Draw the legend below the plot, where it hides nothing."""
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)


def _colour(row: Row) -> str:
    """A strategy's colour, the same in all plots."""
    drafting = [name for name, strategy in STRATEGIES.items() if strategy.drafts]
    if row["strategy"] not in drafting:
        return GREY
    return COLOURS[drafting.index(row["strategy"]) % len(COLOURS)]


def _label(name: str) -> str:
    """A lane's name, in two lines if it is long."""
    name = name.replace("eagle_top_k", "top_k").replace("eagle_total_tokens", "total")
    return name if len(name) <= 24 else name.replace(":", "\n", 1)
